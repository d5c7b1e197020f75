"""Remembers what reports found in the agents' files, so that next time only changed files are read.

It's a cache in its own file, which may be deleted at any time: the requests themselves are in the
index. It has one row per session file: its stamp, and what a report found in it. The table
``threads`` has what ``brim context`` knows. Rows don't depend on each other, so two commands that
write at the same time, or one that is killed, at worst leave old rows, and those files are read
again.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass

from brim.config.own_folder import check_ours, make_file
from brim.config.places import user_folder
from brim.database import APPLICATION, Database, connect, statements, version_of
from brim.errors import StoreError
from brim.sessions.session_files import Stamp

VERSION = 12
"""What the rows mean. A file of another version is emptied."""

_TABLES = os.path.join(os.path.dirname(__file__), "data", "index.sql")
_TIMEOUT = 2.0


@dataclass(frozen=True)
class FileFindings:
    """What a report found in one version of a file, as JSON."""

    stamp: Stamp
    json: str


def findings_cache(environ: Mapping[str, str]) -> str:
    """Return the file in which brim remembers what reports found."""
    return os.path.join(user_folder(environ), "cache", "reports.db")


def load_findings(
    path: str, files: Iterable[str], on_problem: Callable[[str], object]
) -> dict[str, FileFindings]:
    """Return what the cache at *path* has of *files*.

    Nothing is known if the cache is missing or of another brim. A damaged one is put aside, so that
    a new one can be made; *on_problem* is told in a sentence.
    """
    if not os.path.lexists(path):
        return {}
    try:
        with open_index(path) as database:
            rows = database.rows_in("SELECT * FROM files WHERE path IN ({})", files)
        return {row[0]: _findings_of(*row) for row in rows}
    except (StoreError, ValueError, TypeError) as error:
        if not isinstance(error, StoreError) or error.reason == "damaged":
            put_aside(path)
            on_problem(f"{path}: the cache was damaged and is rebuilt")
        elif error.reason not in ("busy", "missing"):
            on_problem(f"{error}; going on without the cache")
        return {}


def _findings_of(*row: object) -> FileFindings:
    """Return the findings in a *row*; a ``ValueError`` if the row is damaged."""
    _, inode, size, modified, json, row_check = row
    if _check(row[:-1]) != row_check:
        raise ValueError("the row is not as it was written")
    return FileFindings(Stamp(inode, size, modified), str(json))  # type: ignore[arg-type]


def save_findings(path: str, findings: Mapping[str, FileFindings]) -> bool:
    """Write *findings* by file into the cache at *path*; return whether that was possible.

    What is gone from the disk is taken out. It's only a cache: a disk that is full or read-only, or
    another process that writes, doesn't make it fail.
    """
    try:
        os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
        with open_index(path, make=True) as database, database.writing():
            forget_gone(database, "files")
            for file, one in findings.items():
                row = (file, *one.stamp, one.json)
                insert = "INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?, ?)"
                database.run(insert, (*row, _check(row)))
        return True
    except (StoreError, OSError):
        return False


def _check(values: Iterable[object]) -> int:
    return zlib.crc32("\0".join(map(str, values)).encode("utf-8", "replace"))


def open_index(path: str, *, make: bool = False) -> Database:
    """Open the index at *path*.

    With *make*, a missing one is made, and one of another version emptied.

    A ``StoreError`` if it can't be used.
    """
    if make and not os.path.lexists(path):
        make_file(path)
    check_ours(path)
    database = connect(path, timeout=_TIMEOUT)
    try:
        if version_of(database) != VERSION:
            if not make:
                raise StoreError(f"{path}: of another version", "missing")
            with database.writing():
                if version_of(database) != VERSION:  # another process may have been faster
                    _begin_again(database)
    except StoreError:
        database.close()
        raise
    return database


def forget_gone(database: Database, table: str) -> None:
    """Take files that are gone from the disk out of *table*."""
    paths = [path for (path,) in database.rows(f"SELECT path FROM {table}")]  # noqa: S608 - one of ours
    gone = [(path,) for path in paths if not os.path.lexists(path)]
    database.run_many(f"DELETE FROM {table} WHERE path = ?", gone)  # noqa: S608


def _begin_again(database: Database) -> None:
    for (name,) in database.rows(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
    ):
        quoted = name.replace('"', '""')
        database.run(f'DROP TABLE "{quoted}"')
    for statement in statements(_TABLES):
        database.run(statement)
    database.run(f"PRAGMA application_id = {APPLICATION}")
    database.run(f"PRAGMA user_version = {VERSION}")


def put_aside(path: str) -> None:
    """Remove the index at *path*; a folder, a link or another user's file stays."""
    with suppress(StoreError, OSError):
        check_ours(path)
        for part in (path, path + "-wal", path + "-shm", path + "-journal"):
            with suppress(FileNotFoundError):
                os.unlink(part)
