CREATE TABLE files (
    path TEXT PRIMARY KEY,
    inode INTEGER NOT NULL,
    size INTEGER NOT NULL,
    modified INTEGER NOT NULL,
    findings TEXT NOT NULL,
    row_check INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE threads (
    path TEXT PRIMARY KEY,
    read_to INTEGER NOT NULL,
    read_check INTEGER NOT NULL,
    state BLOB NOT NULL,
    ends REAL NOT NULL,
    ratios TEXT NOT NULL,
    hidden TEXT NOT NULL
) WITHOUT ROWID;
