-- Where the project with this name is: limits go by place, people by name.
CREATE TABLE spend_projects (
    place TEXT PRIMARY KEY,            -- the repository's folder, or the project's own
    scope TEXT NOT NULL UNIQUE         -- the first of its name has the name alone
) WITHOUT ROWID;

-- Limits per period, any number for one scope. Sums are of the period that is on.
CREATE TABLE spend_limits (
    scope TEXT NOT NULL,               -- '*' is everything in this file
    period TEXT NOT NULL,              -- day, week, month, session, subagent, total; or a plan's window, as in 300m
    unit TEXT NOT NULL,                -- usd (micro-dollars), tokens or percent
    given INTEGER NOT NULL,
    base INTEGER NOT NULL,
    amount INTEGER NOT NULL,
    state TEXT NOT NULL,
    warned INTEGER NOT NULL,
    spent INTEGER NOT NULL CHECK (spent >= 0),
    reserved INTEGER NOT NULL CHECK (reserved >= 0),
    zone TEXT NOT NULL,                -- IANA name of the time zone
    starts REAL NOT NULL,              -- when the period began, or the limit was set in it
    ends REAL,                         -- NULL: never
    PRIMARY KEY (scope, period, unit)
) WITHOUT ROWID;

ALTER TABLE reservations ADD COLUMN tokens INTEGER NOT NULL DEFAULT 0;
ALTER TABLE reservations ADD COLUMN charged_tokens INTEGER NOT NULL DEFAULT 0;
ALTER TABLE spend_entries ADD COLUMN tokens INTEGER NOT NULL DEFAULT 0;

-- What entries that are older than 90 days came to.
CREATE TABLE spend_days (
    day INTEGER NOT NULL,              -- days since 1970, in UTC
    scope TEXT NOT NULL,
    amount INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    PRIMARY KEY (day, scope)
) WITHOUT ROWID;
DROP TRIGGER spend_entries_are_not_removed;
CREATE TRIGGER spend_entries_are_not_removed BEFORE DELETE ON spend_entries
WHEN NOT EXISTS (SELECT 1 FROM spend_days WHERE day = CAST(OLD.time / 86400 AS INTEGER) AND scope = OLD.scope)
BEGIN
    SELECT RAISE(ABORT, 'an entry cannot be removed');
END;
