"""What was read of the agents' files, so that next time only what is new is read: a cache in its own file.

One row per file: by what it is known again, up to which byte it was read, and its requests as JSON, with their costs by
the prices that ``prices`` names. The file may be deleted at any time. Each row stands alone, so two commands that
write at the same time, or one that is killed, leave rows that are old at most: then the rest of a file is read again.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Callable, Iterable
from contextlib import closing, suppress
from typing import Any, NamedTuple, Self

from brim.errors import StoreError
from brim.store.database import APPLICATION, Database, connect
from brim.store.project import check_ours, make_file
from brim.tracking.sessions import SessionFile

FILE = "usage.db"
"""The name of the index in the user's folder."""

VERSION = 2
"""What the rows mean. A file of another version is emptied."""

_TABLE = """
CREATE TABLE files (
    path TEXT PRIMARY KEY,
    inode INTEGER NOT NULL,
    size INTEGER NOT NULL,
    modified INTEGER NOT NULL,
    read_to INTEGER NOT NULL,
    read_check INTEGER NOT NULL,
    format TEXT NOT NULL,
    prices TEXT NOT NULL,
    found TEXT NOT NULL,
    row_check INTEGER NOT NULL
) WITHOUT ROWID
"""
_TIMEOUT = 2.0


class Indexed(NamedTuple):
    """What is known of one file."""

    path: str
    inode: int
    size: int
    modified: int
    """When it was changed, in nanoseconds."""
    read_to: int
    """The byte up to which it was read."""
    read_check: int
    """A sum of what stood before that byte."""
    format: str
    prices: str
    """Names the prices in force for the costs in ``found``."""
    found: Any
    """The usage in it: a JSON value."""

    @classmethod
    def of(cls, row: tuple[Any, ...]) -> Self:
        """Return a row as it was written; a ``ValueError`` if a bit of it has changed since."""
        if _check(row[:-1]) != row[-1]:
            raise ValueError("the row is not as it was written")
        return cls._make((*row[:8], json.loads(row[8])))

    def values(self) -> tuple[object, ...]:
        """Return the row as it is written: with the usage as JSON, and with a checksum."""
        values = (*self[:-1], json.dumps(self.found, separators=(",", ":")))
        return (*values, _check(values))

    def is_of(self, file: SessionFile) -> bool:
        """Whether this is all of *file*: nothing was written to it since."""
        return file.stamp == (self.inode, self.size, self.modified) and file.format in ("", self.format)


def load_index(path: str, wanted: Iterable[str], on_problem: Callable[[str], object]) -> dict[str, Indexed]:
    """Return the rows of the *wanted* files in the index at *path*; none if it is missing, damaged or of another brim.

    A damaged file is put aside, so that a new one can be made; *on_problem* is told in a sentence.
    """
    if not os.path.lexists(path):
        return {}
    try:
        with _opened(path) as database:
            if not _is_current(database):
                return {}
            rows = database.rows_in("SELECT * FROM files WHERE path IN ({})", wanted)
        return {row[0]: Indexed.of(row) for row in rows}
    except (StoreError, ValueError, TypeError, RecursionError) as error:
        if not isinstance(error, StoreError) or error.reason == "damaged":
            _put_aside(path)
            on_problem(f"{path}: the index was damaged and is rebuilt; your sessions aren't affected")
        elif error.reason not in ("busy", "missing"):
            on_problem(f"{error}; going on without the index")
        return {}


def save_index(path: str, rows: Iterable[Indexed]) -> bool:
    """Write *rows* into the index at *path*, take out what is gone from the disk; return whether that was possible.

    It is only a cache: a disk that is full or read-only, or another process that writes, is no reason to fail.
    """
    try:
        if not os.path.lexists(path):
            make_file(path)
        with _opened(path) as database:
            if database.readonly:
                return False
            with database.writing():
                if not _is_current(database):
                    _begin_again(database)
                known = [each for (each,) in database.rows("SELECT path FROM files")]
                gone = [(each,) for each in known if not os.path.lexists(each)]
                database.run_many("DELETE FROM files WHERE path = ?", gone)
                every = "INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
                database.run_many(every, [row.values() for row in rows])
        return True
    except StoreError:
        return False


def _check(values: Iterable[object]) -> int:
    return zlib.crc32("\0".join(map(str, values)).encode("utf-8", "replace"))


def _opened(path: str) -> closing[Database]:
    check_ours(path)
    return closing(connect(path, timeout=_TIMEOUT))


def _is_current(database: Database) -> bool:
    application, version = database.row(
        "SELECT application_id, user_version FROM pragma_application_id, pragma_user_version"
    )
    if application != APPLICATION and (application or database.row("SELECT 1 FROM sqlite_master")):
        raise StoreError(f"{database.path}: is a database of another program, so it is not touched", "refused")
    return (application, version) == (APPLICATION, VERSION)


def _begin_again(database: Database) -> None:
    for (name,) in database.rows("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"):
        quoted = name.replace('"', '""')
        database.run(f'DROP TABLE "{quoted}"')
    database.run(_TABLE)
    database.run(f"PRAGMA application_id = {APPLICATION}")
    database.run(f"PRAGMA user_version = {VERSION}")


def _put_aside(path: str) -> None:
    """Remove the index at *path*; a folder, a link or another user's file stays."""
    with suppress(StoreError, OSError):
        check_ours(path)
        for part in (path, path + "-wal", path + "-shm", path + "-journal"):
            with suppress(FileNotFoundError):
                os.unlink(part)
