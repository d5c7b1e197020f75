-- What a rule refuses, as JSON: ["run npm install", "edit dist/**", ...]. A hook reads all of them from the index.
ALTER TABLE behaviors ADD COLUMN blocks TEXT NOT NULL DEFAULT '[]';
CREATE INDEX behaviors_blocking ON behaviors (status, id, blocks) WHERE blocks <> '[]';
