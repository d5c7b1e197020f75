"""The file of the index: opening it, putting a damaged one aside, copies and restoring.

The index can be made again from the agents' files, except for the requests of files that agents
have deleted. So it's copied daily, and a missing or damaged index begins as its newest copy.
"""

from __future__ import annotations

import os
import re
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from brim.files import data_file

VERSION = 1
"""The version of the tables. A newer one is left alone."""
APPLICATION = 0x6272696D
"""``brim`` in ASCII: the application id in SQLite's header."""
MEMORY = ":memory:"
NAME = "index.db"
FOLDER_OF_COPIES = "backups"
COPY_NAME = r"index-[0-9]{4}-[0-9]{2}-[0-9]{2}\.db"
COPIES = 3
"""How many daily copies are there at most."""
DAY = 86_400.0
PARTS = ("", "-wal", "-shm", "-journal")
"""The files that a database consists of."""
TABLES = ("files", "requests", "copies", "totals", "sums", "facts")


class NotOurIndex(Exception):
    """The file is another program's, or of a newer brim; it's left as it is."""


@dataclass(frozen=True)
class OpenedIndex:
    """An open database, and what should be told about it."""

    database: sqlite3.Connection
    problem: str = ""
    is_in_memory: bool = False


def open_in_memory(problem: str = "") -> OpenedIndex:
    """Return an index that ends with the process."""
    database = sqlite3.connect(MEMORY, isolation_level=None, check_same_thread=False)
    _make_tables(database)
    return OpenedIndex(database, problem, is_in_memory=True)


def open_index(path: str, *, patience: float) -> OpenedIndex:
    """Open the index at *path*; one that is missing or damaged is made again.

    *patience* is how long to wait for another process that writes, in seconds. If the file can't be
    used, the index is in memory, and ``problem`` says why.
    """
    problem = ""
    for _ in range(2):
        try:
            return OpenedIndex(_open(path, patience), problem)
        except NotOurIndex as error:
            return open_in_memory(f"{path}: {error}. It isn't used; what is counted isn't kept.")
        except (sqlite3.OperationalError, OSError) as error:
            return open_in_memory(f"{path}: {_reason(error)}. What is counted now isn't kept.")
        except sqlite3.DatabaseError:
            put_aside(path)
            problem = f"{path}: the index was damaged and is rebuilt from your agents' files"
    return open_in_memory(problem)


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)


def _open(path: str, patience: float) -> sqlite3.Connection:
    if not os.path.lexists(path):
        os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
        _restore(path)
    database = _connect(path, patience)
    try:
        _prepare(database)
    except BaseException:
        database.close()
        raise
    return database


def _connect(path: str, patience: float) -> sqlite3.Connection:
    if os.path.islink(path) or (os.path.lexists(path) and not os.path.isfile(path)):
        raise NotOurIndex("is not a regular file")
    return sqlite3.connect(path, timeout=patience, isolation_level=None, check_same_thread=False)


def _prepare(database: sqlite3.Connection) -> None:
    """Check the tables of *database*, or make them in a new one."""
    version = _pragma(database, "user_version")
    if version > VERSION:
        raise NotOurIndex("a newer brim made the index")
    if version == 0:
        if database.execute("SELECT 1 FROM sqlite_master").fetchone() is not None:
            raise NotOurIndex("another program made the file")
        _pragma(database, "journal_mode = WAL")
        with writing(database):
            if _pragma(database, "user_version") == 0:  # another process may have been faster
                _make_tables(database)
    elif _pragma(database, "application_id") != APPLICATION:
        raise NotOurIndex("another program made the file")
    _pragma(database, "synchronous = NORMAL")
    for table in TABLES:
        database.execute(f"SELECT 1 FROM {table} LIMIT 1").fetchone()  # noqa: S608


def _pragma(database: sqlite3.Connection, text: str) -> int:
    row = database.execute(f"PRAGMA {text}").fetchone()
    if row is None or not isinstance(row[0], int):
        return 0
    return row[0]


def _make_tables(database: sqlite3.Connection) -> None:
    for statement in data_file(__file__, "index.sql").decode().split(";"):
        if statement.strip():
            database.execute(statement)
    database.execute(f"PRAGMA application_id = {APPLICATION}")
    database.execute(f"PRAGMA user_version = {VERSION}")


@contextmanager
def writing(database: sqlite3.Connection) -> Iterator[None]:
    """Hold the only lock for writing, and write all or nothing."""
    database.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        with suppress(sqlite3.Error):
            database.execute("ROLLBACK")
        raise
    database.execute("COMMIT")


def put_aside(path: str) -> None:
    """Rename a damaged index, so that a new one can be made."""
    for part in PARTS:
        with suppress(OSError):
            os.replace(path + part, f"{path}.damaged{part}")


# Copies


def copy_folder(path: str) -> str:
    """Return the folder with the copies of the index at *path*."""
    return os.path.join(os.path.dirname(path), FOLDER_OF_COPIES)


def copies(path: str) -> list[str]:
    """Return the copies of the index at *path*, the newest first."""
    folder = copy_folder(path)
    try:
        names = [name for name in os.listdir(folder) if re.fullmatch(COPY_NAME, name)]
    except OSError:
        return []
    return [os.path.join(folder, name) for name in sorted(names, reverse=True)]


def is_stored(path: str) -> bool:
    """Whether there is an index at *path*, or a copy that it can be made of."""
    return os.path.lexists(path) or bool(copies(path))


def copy_daily(database: sqlite3.Connection, path: str, now: float) -> str:
    """Copy the index, unless that was done today; return the path of a new copy, else nothing.

    The copy is checked before it takes its name: a damaged one would be restored later.
    """
    day = time.strftime("%Y-%m-%d", time.gmtime(now))
    target = os.path.join(copy_folder(path), f"index-{day}.db")
    if os.path.exists(target):
        return ""
    unfinished = f"{target}.{os.getpid()}.part"
    try:
        os.makedirs(copy_folder(path), 0o700, exist_ok=True)
        _copy(database, unfinished)
        os.replace(unfinished, target)
        for old in copies(path)[COPIES:]:
            os.unlink(old)
    except (OSError, sqlite3.Error):
        with suppress(OSError):
            os.unlink(unfinished)
        return ""
    return target


def _copy(database: sqlite3.Connection, target: str, *, restores: bool = False) -> None:
    """Copy *database* into the file *target*; a restored index hasn't read every file."""
    os.close(os.open(target, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600))
    copy = sqlite3.connect(target, isolation_level=None)
    try:
        database.backup(copy)
        copy.execute("PRAGMA journal_mode = DELETE")
        if restores:
            copy.execute("DELETE FROM facts WHERE name = 'complete'")
        if copy.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
            raise sqlite3.DatabaseError("the copy is damaged")
    finally:
        copy.close()


def _restore(path: str) -> None:
    """Make the missing index at *path*: as its newest copy, or empty."""
    unfinished = f"{path}.{os.getpid()}.part"
    for copy in copies(path):
        try:
            source = sqlite3.connect(copy, isolation_level=None)
            try:
                _copy(source, unfinished, restores=True)
            finally:
                source.close()
            os.link(unfinished, path)
            return
        except FileExistsError:
            return  # another process was faster
        except (OSError, sqlite3.Error):
            continue
        finally:
            with suppress(OSError):
                os.unlink(unfinished)
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
