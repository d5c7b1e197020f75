-- What was learned. The short columns come first: reading a node then never touches the pages of a long text.
CREATE TABLE behaviors (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    kind TEXT NOT NULL,
    scope TEXT NOT NULL,
    status TEXT NOT NULL,
    live INTEGER NOT NULL,             -- 1 if active or pending
    conditions TEXT NOT NULL,          -- JSON: [[key, [value, ...]], ...]
    words TEXT NOT NULL,               -- stems of the name and the tags, with spaces between them
    injected INTEGER NOT NULL,
    confirmed INTEGER NOT NULL,
    overridden INTEGER NOT NULL,
    last_used REAL,
    priority INTEGER NOT NULL,
    confidence REAL NOT NULL,
    created_at REAL,
    updated_at REAL,
    superseded_by TEXT,
    supersedes TEXT NOT NULL,          -- JSON: [id, ...]
    tags TEXT NOT NULL,                -- JSON: [tag, ...]
    summary TEXT NOT NULL,
    provenance TEXT NOT NULL,          -- JSON object
    canonical TEXT NOT NULL,
    variants TEXT NOT NULL,            -- JSON: [text, ...]
    extra TEXT NOT NULL,
    blocks TEXT NOT NULL,              -- what it refuses, as JSON: ["run npm install", "edit dist/**", ...]
    inferred TEXT NOT NULL,            -- conditions that its own words speak of: they never exclude it
    section TEXT NOT NULL              -- the file and heading under which it stood; empty if there was none
);
CREATE INDEX behaviors_standing ON behaviors (id, live, kind);
CREATE INDEX behaviors_by_name ON behaviors (name);
CREATE INDEX behaviors_by_section ON behaviors (section, live, id) WHERE section <> '';
-- A hook reads all blocks from this index.
CREATE INDEX behaviors_blocking ON behaviors (status, id, blocks) WHERE blocks <> '[]';

-- What may give a live behavior a seed: a value of a condition, a word, or nothing at all.
CREATE TABLE triggers (
    trigger TEXT NOT NULL,
    behavior INTEGER NOT NULL REFERENCES behaviors (number) ON DELETE CASCADE,
    weight INTEGER NOT NULL,           -- how much the trigger says for the behavior, in hundredths
    PRIMARY KEY (trigger, behavior)
) WITHOUT ROWID;
CREATE INDEX triggers_by_behavior ON triggers (behavior);

-- Ends are ids, not numbers: an edge may lead to a behavior in the other scope's file.
CREATE TABLE edges (
    source TEXT NOT NULL,
    target TEXT NOT NULL,
    kind TEXT NOT NULL,
    weight REAL NOT NULL,
    created_at REAL,
    last_activated REAL,
    PRIMARY KEY (source, target, kind)
) WITHOUT ROWID;
CREATE INDEX edges_by_target ON edges (target);

-- What each tier of a behavior costs when it is rendered.
CREATE TABLE line_costs (
    behavior INTEGER NOT NULL REFERENCES behaviors (number) ON DELETE CASCADE,
    format TEXT NOT NULL,
    encoding TEXT NOT NULL,
    tier INTEGER NOT NULL,
    renderer INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    chars INTEGER NOT NULL,
    PRIMARY KEY (behavior, format, encoding, tier)
) WITHOUT ROWID;

-- What happened, in the order in which it was written. Nothing in it is ever changed. When a rule was told goes after a
-- while: how often is counted with the rule.
CREATE TABLE events (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    time REAL NOT NULL,
    kind TEXT NOT NULL,
    behavior TEXT,
    session TEXT NOT NULL,
    detail TEXT NOT NULL               -- JSON object
);
CREATE INDEX events_by_behavior ON events (behavior, number);
CREATE INDEX events_by_kind ON events (kind, number);
CREATE TRIGGER events_are_not_changed BEFORE UPDATE ON events
BEGIN
    SELECT RAISE(ABORT, 'an event cannot be changed');
END;
CREATE TRIGGER events_are_not_removed BEFORE DELETE ON events WHEN OLD.kind <> 'injected'
BEGIN
    SELECT RAISE(ABORT, 'an event cannot be removed');
END;

-- What each session has spent and shown. The agent is empty for the session itself.
CREATE TABLE sessions (
    session TEXT NOT NULL,
    agent TEXT NOT NULL,
    state TEXT NOT NULL,               -- JSON object
    updated_at REAL NOT NULL,
    PRIMARY KEY (session, agent)
) WITHOUT ROWID;
CREATE INDEX sessions_by_age ON sessions (updated_at);

CREATE TABLE calibrations (
    model TEXT PRIMARY KEY,
    ratio REAL NOT NULL,
    spread REAL NOT NULL,
    samples REAL NOT NULL
) WITHOUT ROWID;

CREATE TABLE windows (
    model TEXT PRIMARY KEY,
    tokens INTEGER NOT NULL,
    at REAL NOT NULL
) WITHOUT ROWID;

CREATE TABLE meta (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;
