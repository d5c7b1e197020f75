-- Who may spend. Amounts are micro-dollars; spent and reserved are sums over the scope and everything below it.
CREATE TABLE spend_scopes (
    scope TEXT PRIMARY KEY,            -- project/job/agent
    original INTEGER,                     -- the limit as it was set; NULL is no limit
    base INTEGER,                      -- as original, or as it was raised to
    amount INTEGER,                    -- what is in force
    state TEXT NOT NULL,               -- open, asked, wrapping_up or stopped
    warned INTEGER NOT NULL,
    spent INTEGER NOT NULL CHECK (spent >= 0),
    reserved INTEGER NOT NULL CHECK (reserved >= 0)
) WITHOUT ROWID;

-- One row per request, kept so that the same request is never counted twice.
CREATE TABLE reservations (
    request_id TEXT PRIMARY KEY,
    scope TEXT NOT NULL,
    amount INTEGER NOT NULL CHECK (amount >= 0),
    charged INTEGER NOT NULL CHECK (charged >= 0),
    state TEXT NOT NULL,               -- open, settled, released or expired
    purpose TEXT NOT NULL,
    overrun INTEGER NOT NULL,
    made_at REAL NOT NULL,
    lease_end REAL NOT NULL,
    tokens INTEGER NOT NULL,
    charged_tokens INTEGER NOT NULL,
    model TEXT NOT NULL,               -- empty if it isn't known
    branch TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX reservations_open ON reservations (lease_end) WHERE state = 'open';

-- Every movement of money, in order: the sum of a scope's amounts, and of those below it, is what it has spent.
CREATE TABLE spend_entries (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    time REAL NOT NULL,
    request_id TEXT NOT NULL,
    scope TEXT NOT NULL,
    kind TEXT NOT NULL,                -- settled, expired, corrected, released or recorded
    amount INTEGER NOT NULL,
    tokens INTEGER NOT NULL
);
CREATE INDEX spend_entries_by_request ON spend_entries (request_id);
CREATE TRIGGER spend_entries_are_not_changed BEFORE UPDATE ON spend_entries
BEGIN
    SELECT RAISE(ABORT, 'an entry cannot be changed');
END;
CREATE TRIGGER spend_entries_are_not_removed BEFORE DELETE ON spend_entries
WHEN NOT EXISTS (SELECT 1 FROM spend_days WHERE day = CAST(OLD.time / 86400 AS INTEGER) AND scope = OLD.scope)
BEGIN
    SELECT RAISE(ABORT, 'an entry cannot be removed');
END;

-- What entries that are older than 90 days came to.
CREATE TABLE spend_days (
    day INTEGER NOT NULL,              -- days since 1970, in UTC
    scope TEXT NOT NULL,               -- of the project, the session and the agent
    model TEXT NOT NULL,               -- empty if it isn't known
    branch TEXT NOT NULL,
    amount INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    PRIMARY KEY (day, scope, model, branch)
) WITHOUT ROWID;

-- The keys of a team's people, for a proxy that asks for them. Only a hash of a key is kept.
CREATE TABLE team_keys (
    hash TEXT PRIMARY KEY,             -- SHA-256, in hexadecimal digits
    ending TEXT NOT NULL,              -- its last characters, by which a person knows it
    scope TEXT NOT NULL,               -- what a request with it counts against
    made_at REAL NOT NULL,
    revoked_at REAL                    -- NULL while it's valid
) WITHOUT ROWID;

-- Who set which limit, and what was answered when it was reached.
CREATE TABLE spend_answers (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    time REAL NOT NULL,
    scope TEXT NOT NULL,
    answer TEXT NOT NULL,              -- limit, continue, raise, wrap_up or stop
    amount INTEGER                     -- the limit from then on; NULL is no limit
);

-- Limits per period, any number for one scope. Sums are of the period that is on.
CREATE TABLE spend_limits (
    scope TEXT NOT NULL,               -- '*' is everything in this file
    period TEXT NOT NULL,              -- day, week, month, session, subagent or total
    unit TEXT NOT NULL,                -- usd (micro-dollars) or tokens
    original INTEGER NOT NULL,
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
