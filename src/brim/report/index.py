"""Remembers what was read of the agents' files, so that next time only new lines are read.

It's a cache in its own file, which may be deleted at any time. It has one row per session file: its
stamp, how far it was read, its requests as JSON, priced by the version in ``prices``, and what a
report found in it (empty until one reads it). The table ``threads`` has what ``brim context``
knows. Rows don't depend on each other, so two commands that write at the same time, or one that is
killed, at worst leave old rows, and those files are read again.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any

from brim.errors import StoreError
from brim.store.database import APPLICATION, Database, connect, statements, version_of
from brim.store.project import check_ours, make_file
from brim.tracking.sessions import FileUsage, Scan, Stamp

VERSION = 9
"""What the rows mean. A file of another version is emptied."""

_TABLES = os.path.join(os.path.dirname(__file__), "data", "index.sql")
_TIMEOUT = 2.0


def load_index(
    path: str, wanted: Iterable[str], on_problem: Callable[[str], object]
) -> dict[str, tuple[Scan, str]]:
    """Return what the index at *path* has of the *wanted* files, each with the name of the prices
    of its costs.

    Nothing is known if the index is missing or of another brim.

    A damaged file is put aside, so that a new one can be made; *on_problem* is told in a sentence.
    """
    if not os.path.lexists(path):
        return {}
    try:
        with open_index(path) as database:
            rows = database.rows_in("SELECT * FROM files WHERE path IN ({})", wanted)
        return {row[0]: _scan_of(*row) for row in rows}
    except (StoreError, ValueError, TypeError, RecursionError) as error:
        if not isinstance(error, StoreError) or error.reason == "damaged":
            put_aside(path)
            on_problem(
                f"{path}: the index was damaged and is rebuilt; your sessions aren't affected"
            )
        elif error.reason not in ("busy", "missing"):
            on_problem(f"{error}; going on without the index")
        return {}


def _scan_of(*row: Any) -> tuple[Scan, str]:
    """Return the scan in a *row*, and its prices; a ``ValueError`` if the row is damaged."""
    _, *stamp, read_to, check, format, prices, found, findings, row_check = row
    if _check(row[:-1]) != row_check:
        raise ValueError("the row is not as it was written")
    usage = FileUsage.from_row(json.loads(found))
    return Scan(usage, Stamp(*stamp), format, read_to, check, findings=findings), prices


def save_index(path: str, scans: Mapping[str, Scan], prices: str) -> bool:
    """Write *scans* by path into the index at *path*, with the name of their prices.

    Return whether that was possible.

    What is gone from the disk is taken out.

    It is only a cache: a disk that is full or read-only, or another process that writes, doesn't
    make it fail.
    """
    try:
        with open_index(path, make=True) as database, database.writing():
            forget_gone(database, "files")
            every = "INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
            for file, scan in scans.items():
                found = json.dumps(scan.usage.to_row(), separators=(",", ":"))
                row = (
                    file,
                    *scan.stamp,
                    scan.offset,
                    scan.check,
                    scan.format,
                    prices,
                    found,
                    scan.findings,
                )
                database.run(every, (*row, _check(row)))
        return True
    except StoreError:
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
    known = [each for (each,) in database.rows(f"SELECT path FROM {table}")]  # noqa: S608 - one of ours
    gone = [(each,) for each in known if not os.path.lexists(each)]
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
