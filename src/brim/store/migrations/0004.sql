-- How much a term says for a behavior, in hundredths.
ALTER TABLE triggers ADD COLUMN weight INTEGER NOT NULL DEFAULT 100;

-- The conditions that a behavior's own words speak of, in JSON as in conditions. They never exclude it.
ALTER TABLE behaviors ADD COLUMN inferred TEXT NOT NULL DEFAULT '[]';
