"""Opens the files with rules and sessions, and checks that their tables are brim's own."""

from __future__ import annotations

import json
import os
from functools import cache
from typing import Any

from brim.config.own_folder import check_ours, make_file
from brim.database import (
    ALL,
    APPLICATION,
    ERRORS,
    HEADER,
    JOURNAL,
    TIMEOUT,
    Closing,
    Database,
    closed_on_error,
    connect,
    in_words,
    log_ahead,
    statements,
    version_of,
)
from brim.errors import StoreError
from brim.files import sha256_hex

__all__ = [
    "ALL",
    "APPLICATION",
    "ERRORS",
    "HEADER",
    "JOURNAL",
    "TIMEOUT",
    "Closing",
    "Database",
    "closed_on_error",
    "connect",
    "fold_log",
    "has_tables",
    "in_words",
    "log_ahead",
    "make_tables",
    "open_database",
    "statements",
    "version_of",
]

FILE = "brim.db"
"""The name of the database in a ``.brim`` folder."""

DATA = os.path.join(os.path.dirname(__file__), "data")
TABLES = os.path.join(DATA, "schema.sql")
"""The statements that make brim's tables."""
RECORDED = os.path.join(DATA, "schema.json")
"""The rows that ``SCHEMA`` returns in a file with these tables: ``python -m
tests.store.test_schema`` writes it."""
VERSION = 1
"""The version of the tables. A file of another version is refused, never changed."""
SCHEMA = "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY name"
"""Lists everything in a file's schema."""
STATISTICS = (
    ("table", "sqlite_stat1", "sqlite_stat1", "CREATE TABLE sqlite_stat1(tbl,idx,stat)"),
    (
        "table",
        "sqlite_stat4",
        "sqlite_stat4",
        "CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)",
    ),
)
"""Tables that SQLite may add on its own."""
RESTORE = "'brim rules restore' brings a project's rules back"


def open_database(
    path: str, *, create: bool = True, timeout: float = TIMEOUT, readonly: bool = False
) -> Database:
    """Open brim's file *path*.

    With *create*, a missing file is made; without it, or with *readonly*, that's an error. A file
    that is damaged, of another version or another program's is refused and left as it is.
    """
    create = create and not readonly
    if create and not os.path.lexists(path):
        make_file(path)
    check_ours(path)
    database = connect(path, timeout=timeout, readonly=readonly, remedy=RESTORE)
    with closed_on_error(database):
        if not has_tables(database):
            if not create:
                raise StoreError(f"{path}: is empty; 'brim learn' fills it", "missing")
            make_tables(database)
    return database


def fold_log(path: str) -> Database:
    """Move the log of the file *path* into the file, unless another process is using it, and return
    the open file.

    A process that is about to end shouldn't close it: closing removes the log, and creating it
    again makes the next writer wait for the disk.
    """
    database = open_database(path, create=False, timeout=0.0)
    with closed_on_error(database):
        database.row("PRAGMA wal_checkpoint(TRUNCATE)")
    return database


def has_tables(database: Database) -> bool:
    """Whether *database* has brim's tables, and nothing else; False if it is empty.

    Raise if it has others: the file may have come with a project, and a foreign trigger or view
    could do anything.
    """
    with database.reading():
        version = version_of(database)
        schema = [list(row) for row in database.rows(SCHEMA) if row not in STATISTICS]
    if version > 0 and version != VERSION:
        versions = f"version {version} of the file; this one reads {VERSION}"
        remedy = "install the brim that wrote it, or move the file away to begin a new one"
        raise StoreError(
            f"{database.path}: is of another version of brim ({versions}): {remedy}", "version"
        )
    if version == 0 and not schema:
        return False
    if version != VERSION or schema != _recorded_schema():
        text = "holds tables, views or triggers that brim didn't make, so it isn't used; nothing was changed"
        raise StoreError(f"{database.path}: {text}: {RESTORE}", "damaged")
    return True


@cache
def _recorded_schema() -> Any:
    with open(RECORDED, encoding="utf-8") as file:
        return json.load(file)


def make_tables(database: Database) -> None:
    """Make brim's tables in an empty file. Several processes may do this at once."""
    log_ahead(database)
    with database.writing():
        if version_of(database) == VERSION:  # another process was faster
            return
        for statement in statements(TABLES):
            database.run(statement)
        database.run(f"PRAGMA application_id = {APPLICATION}")
        database.run(f"PRAGMA user_version = {VERSION}")


def project_key(project: str) -> str:
    """Return the key of the folder *project* in the user's database."""
    return sha256_hex(os.fsencode(os.path.realpath(project)))[:32]
