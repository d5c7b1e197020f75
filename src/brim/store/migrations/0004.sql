-- What a rule refuses, as JSON: ["run npm install", "edit dist/**", ...]. A hook reads all of them from the index.
ALTER TABLE behaviors ADD COLUMN blocks TEXT NOT NULL DEFAULT '[]';
CREATE INDEX behaviors_blocking ON behaviors (status, id, blocks) WHERE blocks <> '[]';
-- What a request was made with: sums of old entries are kept per model and branch.
ALTER TABLE reservations ADD COLUMN model TEXT NOT NULL DEFAULT '';
ALTER TABLE reservations ADD COLUMN branch TEXT NOT NULL DEFAULT '';
DROP TRIGGER spend_entries_are_not_removed;
ALTER TABLE spend_days RENAME TO spend_days_before;
CREATE TABLE spend_days (
    day INTEGER NOT NULL,              -- days since 1970, in UTC
    scope TEXT NOT NULL,               -- of the project, the session and the agent
    model TEXT NOT NULL,               -- empty if it isn't known
    branch TEXT NOT NULL,
    amount INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    PRIMARY KEY (day, scope, model, branch)
) WITHOUT ROWID;
INSERT INTO spend_days SELECT day, scope, '', '', amount, tokens FROM spend_days_before;
DROP TABLE spend_days_before;
CREATE TRIGGER spend_entries_are_not_removed BEFORE DELETE ON spend_entries
WHEN NOT EXISTS (SELECT 1 FROM spend_days WHERE day = CAST(OLD.time / 86400 AS INTEGER) AND scope = OLD.scope)
BEGIN
    SELECT RAISE(ABORT, 'an entry cannot be removed');
END;
-- How much a term says for a behavior, in hundredths.
ALTER TABLE triggers ADD COLUMN weight INTEGER NOT NULL DEFAULT 100;

-- The conditions that a behavior's own words speak of, in JSON as in conditions. They never exclude it.
ALTER TABLE behaviors ADD COLUMN inferred TEXT NOT NULL DEFAULT '[]';

-- The file and heading under which it stood among other rules; empty if there was none.
ALTER TABLE behaviors ADD COLUMN section TEXT NOT NULL DEFAULT '';
CREATE INDEX behaviors_by_section ON behaviors (section, live, id) WHERE section <> '';

-- When a rule was told goes after a while: how often is counted with the rule.
DROP TRIGGER events_are_not_removed;
CREATE TRIGGER events_are_not_removed BEFORE DELETE ON events WHEN OLD.kind <> 'injected'
BEGIN
    SELECT RAISE(ABORT, 'an event cannot be removed');
END;
