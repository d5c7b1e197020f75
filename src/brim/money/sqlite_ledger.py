"""``SqliteLedger``: a ledger in a SQLite file of its own.

What a call has returned is on the disk (``synchronous=FULL``), so that no settled amount is lost in
a power cut. Each thread gets its own connection, and so does a process after a fork.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import cache
from threading import RLock, get_ident

from brim.database import (
    APPLICATION,
    TIMEOUT,
    Database,
    closed_on_error,
    connect,
    create_private,
    log_ahead,
    statements,
    version_of,
)
from brim.errors import InputError, StoreError
from brim.masking import without_login
from brim.money.budget import WARN
from brim.money.stored_ledger import StoredLedger

TABLES = os.path.join(os.path.dirname(__file__), "data", "ledger.sql")
VERSION = 3
"""The version of the tables. A file of another version is refused, never changed."""
SCHEMA = "SELECT type, name, tbl_name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_stat%'"


class SqliteLedger(StoredLedger):
    """A ``Ledger`` in one SQLite file.

    One object serves many threads, and goes on after a fork.
    """

    def __init__(
        self,
        path: str,
        *,
        create: bool = True,
        warn: float = WARN,
        clock: Callable[[], float] = time.time,
        timeout: float = TIMEOUT,
    ) -> None:
        super().__init__(warn)
        self._path = os.path.abspath(path)
        self._timeout = timeout
        self._clock = clock
        database = open_ledger_file(path, create=create, timeout=timeout)
        self._connections = {_this_thread(): database}
        self._is_closed = False
        self._writer = (os.getpid(), RLock())

    @property
    def database(self) -> Database:
        """The file, through the connection of this thread and process: SQLite can't share one after
        a fork."""
        database = self._connections.get(_this_thread())
        if database is not None:
            return database
        if self._is_closed:
            raise StoreError(f"{self._path}: this ledger was closed: open it again")
        database = open_ledger_file(self._path, create=False, timeout=self._timeout)
        self._connections[_this_thread()] = database
        return database

    def close(self) -> None:
        """Close the file for all threads of this process. Closing twice does nothing."""
        self._is_closed = True
        for (process, _), database in self._connections.items():
            if process == os.getpid():  # closing what another process opened could end its locks
                database.close()

    def _turn(self) -> AbstractContextManager[object]:
        """Let threads write in turn: SQLite's own waiting is a sleep, which may last long."""
        process, lock = self._writer
        if process != os.getpid():  # a thread of the parent may have held the lock at the fork
            lock = RLock()
            self._writer = (os.getpid(), lock)
        return lock

    def now(self) -> float:
        """Return the time by the ledger's clock, in seconds since 1970."""
        return self._clock()


def _this_thread() -> tuple[int, int]:
    return os.getpid(), get_ident()


def open_ledger_file(path: str, *, create: bool = True, timeout: float = TIMEOUT) -> Database:
    """Open the ledger in the file *path*; a missing one is made with *create*.

    A file that is damaged, of another version or another program's is refused and left as it is.
    """
    if not os.path.lexists(path):
        if not create:
            raise StoreError(f"{path}: this ledger doesn't exist yet", "missing")
        create_private(path)
    if not os.path.isfile(path):
        raise StoreError(f"{path}: is not a regular file, so it is not used", "refused")
    database = connect(path, timeout=timeout)
    with closed_on_error(database):
        if not has_tables(database):
            if not create:
                raise StoreError(f"{path}: is empty: open_ledger makes the tables", "missing")
            _make_tables(database)
        if not database.readonly:
            database.run("PRAGMA synchronous = FULL")
    return database


def has_tables(database: Database) -> bool:
    """Whether *database* has a ledger's tables, and nothing else; False if it is empty.

    Raise if it has others: somebody else may have made the file, and a foreign trigger or view
    could do anything.
    """
    with database.reading():
        version = version_of(database)
        schema = set(database.rows(SCHEMA))
    if version == 0 and not schema:
        return False
    if version != VERSION:
        raise StoreError(
            f"{database.path}: is of another version of brim (version {version} of the file; this"
            f" one reads {VERSION}): install the brim that wrote it, or move the file away to begin"
            " a new one",
            "version",
        )
    if schema != _own_schema():
        raise StoreError(
            f"{database.path}: holds tables, views or triggers that brim didn't make, so it isn't"
            " used; nothing was changed",
            "damaged",
        )
    return True


@cache
def _own_schema() -> set[tuple[str, str, str, str]]:
    """Return what ``SCHEMA`` finds in a file with a ledger's tables."""
    database = sqlite3.connect(":memory:")
    for statement in statements(TABLES):
        database.execute(statement)
    schema = set(database.execute(SCHEMA))
    database.close()
    return schema


def _make_tables(database: Database) -> None:
    """Make a ledger's tables in an empty file. Several processes may do this at once."""
    log_ahead(database)
    with database.writing():
        if version_of(database) == VERSION:  # another process was faster
            return
        for statement in statements(TABLES):
            database.run(statement)
        database.run(f"PRAGMA application_id = {APPLICATION}")
        database.run(f"PRAGMA user_version = {VERSION}")


def ledger_path(address: str) -> str:
    """Return the file that *address* means: ``sqlite:///`` and a path, which begins with one more
    ``/`` if absolute.

    >>> ledger_path("sqlite:///money.db"), ledger_path("sqlite:////var/money.db")
    ('money.db', '/var/money.db')
    >>> ledger_path("money.db")
    'money.db'
    """
    path = address
    if "://" in address:
        if not address.startswith("sqlite:///") or "?" in address:
            raise InputError(
                f"{without_login(address)!r} isn't a ledger: use PATH, sqlite:///PATH with one"
                " more / if PATH"
                " is absolute, or postgresql://USER@HOST/DATABASE"
            )
        path = address.removeprefix("sqlite:///")
    if not path or path == ":memory:":
        raise InputError(
            f"{without_login(address)!r} names no file: a ledger is shared through one, as in"
            " sqlite:///money.db"
        )
    return path
