CREATE TABLE files (
    path TEXT PRIMARY KEY,
    inode INTEGER NOT NULL,
    size INTEGER NOT NULL,
    modified INTEGER NOT NULL,
    read_to INTEGER NOT NULL,
    tail_crc INTEGER NOT NULL,
    format TEXT NOT NULL,
    agent TEXT NOT NULL,
    project TEXT NOT NULL,
    broken INTEGER NOT NULL,
    state TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE requests (
    key TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    agent TEXT NOT NULL,
    project TEXT NOT NULL,
    session TEXT NOT NULL,
    sub_agent TEXT NOT NULL,
    model TEXT NOT NULL,
    branch TEXT NOT NULL,
    agent_type TEXT NOT NULL,
    skill TEXT NOT NULL,
    mcp TEXT NOT NULL,
    time REAL,
    input INTEGER NOT NULL,
    output INTEGER NOT NULL,
    cache_read INTEGER NOT NULL,
    write_5m INTEGER NOT NULL,
    write_1h INTEGER NOT NULL,
    fresh INTEGER NOT NULL,
    details TEXT NOT NULL,
    reported INTEGER,
    cost INTEGER,
    estimated_cost INTEGER NOT NULL,
    final INTEGER NOT NULL
) WITHOUT ROWID;

CREATE INDEX requests_of_session ON requests (session, time);

CREATE INDEX requests_by_time ON requests (time);

CREATE TABLE copies (
    session TEXT NOT NULL,
    key TEXT NOT NULL,
    PRIMARY KEY (session, key)
) WITHOUT ROWID;

CREATE TABLE totals (
    session TEXT PRIMARY KEY,
    cost INTEGER,
    tokens TEXT NOT NULL,
    until REAL
) WITHOUT ROWID;

CREATE TABLE sums (
    scope TEXT NOT NULL,
    quarter INTEGER NOT NULL,
    cost INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    PRIMARY KEY (scope, quarter)
) WITHOUT ROWID;

CREATE TABLE facts (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;
