"""Opens and checks a SQLite file, and runs statements and transactions in it.

Write-ahead logging lets readers and one writer work at the same time. With ``synchronous=NORMAL``,
a crash never damages the file, but a power cut may lose the last moments. All tables are made in
one transaction.
"""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from typing import Any, Self

from brim.errors import InputError, StoreError
from brim.files import open_safely
from brim.store.project import check_ours, make_file

APPLICATION = 0x6272696D
"""``brim`` in ASCII: the application id in SQLite's header."""

DATA = os.path.join(os.path.dirname(__file__), "data")

TABLES = os.path.join(DATA, "schema.sql")
"""The statements that make brim's tables."""

RECORDED = os.path.join(DATA, "schema.json")
"""The rows that ``SCHEMA`` returns in a file with these tables: ``python -m
tests.store.test_schema`` writes it."""

VERSION = 1
"""The version of the tables. A file of another version is refused, never changed."""

POSTGRES = ("postgresql://", "postgres://")
"""Prefixes of a PostgreSQL server's address: see ``brim.store.postgres``."""

ALL = (1 << 63) - 1
"""A ``LIMIT`` that returns every row."""

TIMEOUT = 5.0
"""Seconds that a command waits for another writer. Hooks wait less, because an agent waits for
them."""

LOOK = 0.02
"""Seconds after which waiting for a writer starts over. SQLite retries ever less often, so old
waiters would starve."""

QUERY, SHORT_QUERY = 30.0, 0.5
"""Seconds that one statement may take, in a command and in a hook."""

HURRIED = 1.0
"""A process with a shorter timeout than this, in seconds, is a hook or has as little time as
one."""

THOROUGH, CHECKED = 1 << 24, 1 << 28
"""Bytes up to which a file is checked with its indexes before the first write (0.2 s), or checked
at all (2 s)."""

STEPS = 10_000
"""SQLite's steps between two checks of the clock: less than a millisecond."""

LONGEST = 1 << 24
"""The most bytes of one value: more than brim ever writes, and little enough to read."""

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

HEADER = b"SQLite format 3\0"
"""The first bytes of a database. One that was never written to is empty."""

JOURNAL = bytes.fromhex("d9d505f920a163d7")
"""Ends a rollback journal that names another file."""

CAREFUL = ("trusted_schema = OFF", "cell_size_check = ON")
"""Settings for a file that someone else may have made."""

ERRORS = (sqlite3.Error, UnicodeDecodeError)
"""What SQLite raises. Python can't decode a message that quotes the bytes of a damaged file."""

MOST_PLACES = 400
"""Values in one statement, which may use each twice: older versions of SQLite take 999 in all."""


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
    database = connect(path, timeout=timeout, readonly=readonly)
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


@contextmanager
def closed_on_error(opened: Any) -> Iterator[None]:
    """Close what was just *opened* if it turns out that it can't be used."""
    try:
        yield
    except BaseException:
        opened.close()
        raise


def version_of(database: Database) -> int:
    """Return the version of *database*, 0 if it is empty; raise if it isn't brim's."""
    with database.reading():  # another process may be creating the tables just now
        (application,), (version,) = (
            database.row("PRAGMA application_id"),
            database.row("PRAGMA user_version"),
        )
        filled = application or version or database.row("SELECT 1 FROM sqlite_master")
    if application == APPLICATION:
        return int(version)
    if filled:
        raise StoreError(
            f"{database.path}: is a database of another program, so it is not touched", "refused"
        )
    return 0


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
        raise StoreError(f"{database.path}: {text}: {_RESTORE}", "damaged")
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


def statements(path: str) -> list[str]:
    """Return the statements in the SQL file *path*."""
    found, begun = [], ""
    with open(path, encoding="utf-8") as file:
        for line in file:
            begun += line
            if sqlite3.complete_statement(begun):
                found.append(begun.strip())
                begun = ""
    return found


def log_ahead(database: Database) -> None:
    """Switch the file to write-ahead logging for good.

    A file system without shared memory keeps the rollback journal, which is slower and just as
    safe.
    """
    database.row("PRAGMA journal_mode = WAL")


class Closing:
    """Closes its ``database``, also as a context manager."""

    database: Database

    def close(self) -> None:
        """Close the file. Closing twice does nothing."""
        self.database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Database(Closing):
    """An open connection to the SQLite file *path*, which turns SQLite's errors into
    ``StoreError``."""

    def __init__(
        self,
        path: str,
        connection: sqlite3.Connection,
        *,
        readonly: bool = False,
        timeout: float = TIMEOUT,
    ) -> None:
        self.path, self.readonly = path, readonly
        hurried, self._timeout = timeout < HURRIED, timeout
        self._connection, self._seconds = connection, SHORT_QUERY if hurried else QUERY
        self._checked = hurried
        """Whether the file was checked, or there's no time to check it."""
        self._until = until = [0.0]
        """The deadline of the running statement."""
        connection.set_progress_handler(lambda: time.monotonic() > until[0], STEPS)
        self._writing = False
        self._version: int | None = None
        """SQLite's number for changes by others, as of this transaction."""
        self._taken_back = 0
        """How many transactions were rolled back: SQLite's own count of changes doesn't tell."""

    def rows(self, sql: str, values: Sequence[object] = ()) -> list[Any]:
        """Return every row that *sql* gives."""
        return self._run(sql, values)[0]

    def row(self, sql: str, values: Sequence[object] = ()) -> Any:
        """Return the first row that *sql* gives, or None."""
        return next(iter(self.rows(sql, values)), None)

    def rows_in(
        self, sql: str, values: Iterable[object], *more: object, before: tuple[object, ...] = ()
    ) -> list[Any]:
        """Return the rows of *sql*, with *values* in place of ``IN ({})``, a few hundred at a time.

        *before* and *more* are the values for question marks before the first ``{}`` and after the
        last.
        """
        given = list(values)
        found: list[Any] = []
        for at in range(0, len(given), MOST_PLACES):
            part = given[at : at + MOST_PLACES]
            found += self.rows(
                sql.replace("{}", ",".join("?" * len(part))),
                [*before, *part * sql.count("{}"), *more],
            )
        return found

    def run(self, sql: str, values: Sequence[object] = ()) -> int:
        """Run *sql*, which writes; return how many rows it changed. Call it inside ``writing``."""
        return self._run(sql, values)[1]

    def run_many(self, sql: str, values: Iterable[Sequence[object]]) -> None:
        """Run *sql*, which writes, for each of *values*. Call it inside ``writing``."""
        for each in values:
            self._run(sql, each)

    def notes(self, keys: Iterable[str]) -> dict[str, str]:
        """Return what is noted under *keys*, by key."""
        return dict(self.rows_in("SELECT key, value FROM meta WHERE key IN ({})", keys))

    def note(self, values: Mapping[str, str]) -> None:
        """Note *values*, each under its key, replacing earlier ones. Call it inside ``writing``."""
        self.run_many("INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)", values.items())

    @contextmanager
    def writing(self) -> Iterator[Self]:
        """Open a transaction: all of it is written, or nothing if there's an error.

        The lock is taken at once, so nothing that is read inside can change before it is written. A
        ``writing`` inside another one is part of it.
        """
        if self._writing:
            yield self
            return
        if self.readonly:
            raise StoreError(
                f"{self.path}: the disk or the file is read-only, so nothing can be stored",
                "read-only",
            )
        if self._connection.in_transaction:
            raise RuntimeError(
                "writing inside reading: what was written would be rolled back with it"
            )
        self.check_once()
        self.run("BEGIN IMMEDIATE")
        self._writing, self._version = True, None
        try:
            yield self
            self.run("COMMIT")
        except BaseException:
            self._taken_back += 1
            with suppress(sqlite3.Error):  # if the disk is full, SQLite has already rolled back
                self._connection.rollback()
            raise
        finally:
            self._writing = False

    @contextmanager
    def reading(self) -> Iterator[Self]:
        """Read one consistent state inside, even if others write at the same time."""
        if self._connection.in_transaction:
            yield self
            return
        self.run("BEGIN")
        self._version = None
        try:
            yield self
        finally:
            with suppress(sqlite3.Error):
                self._connection.rollback()

    def problems(self) -> list[str]:
        """Read the whole file and return what SQLite finds wrong with it."""
        return [str(row[0]) for row in self.rows("PRAGMA integrity_check") if row != ("ok",)]

    def check_once(self) -> None:
        """Before the first write, raise if the file is damaged: writing could make it worse."""
        if self._checked or self.readonly:
            return
        size = self.row("PRAGMA page_count")[0] * self.row("PRAGMA page_size")[0]
        if size <= CHECKED:
            ((found,), *_) = self.rows(
                f"PRAGMA {'integrity' if size <= THOROUGH else 'quick'}_check(1)"
            )
            if found != "ok":
                raise StoreError(
                    f"{self.path}: is damaged ({found}), so nothing was written: {_RESTORE}",
                    "damaged",
                )
        self._checked = True

    def copy_to(self, target: sqlite3.Connection) -> None:
        """Copy one consistent state of the whole file into *target*."""
        try:
            self._connection.backup(target)
        except ERRORS as error:
            raise in_words(error, self.path) from None

    def take(self, other: Database) -> None:
        """Replace the content of this file with that of *other*, atomically for processes that have
        it open."""
        other.copy_to(self._connection)

    def _run(self, sql: str, values: Sequence[object]) -> tuple[list[Any], int]:
        """Return the rows of *sql*, and how many it changed. This waits for other writers even
        where SQLite doesn't."""
        until = time.monotonic() + self._timeout
        while True:
            try:
                return self._try(sql, values)
            except StoreError as error:
                if error.reason != "busy" or time.monotonic() >= until:
                    raise
            time.sleep(0.001)

    def _try(self, sql: str, values: Sequence[object]) -> tuple[list[Any], int]:
        self._until[0] = time.monotonic() + self._seconds
        try:
            try:
                cursor = self._connection.execute(sql, values)
            except UnicodeEncodeError:
                # A file's name may hold halves of surrogate pairs, which have no UTF-8.
                texts = [
                    each.encode("utf-8", "replace").decode() if isinstance(each, str) else each
                    for each in values
                ]
                cursor = self._connection.execute(sql, texts)
            return cursor.fetchall(), cursor.rowcount
        except ERRORS as error:
            if primary(error) == "SQLITE_INTERRUPT" and time.monotonic() < self._until[0]:
                # A signal's handler has raised while SQLite looked at the clock, and SQLite keeps
                # that to itself.
                raise KeyboardInterrupt(f"{self.path}: a query was interrupted") from None
            raise in_words(error, self.path) from None
        except OverflowError:
            raise InputError("a number is too large to be stored: at most 19 digits") from None

    def stamp(self) -> tuple[int, int]:
        """Return two numbers that change if this or another process changes the file."""
        if self._version is None or not self._connection.in_transaction:
            # In one, other processes' changes aren't seen.
            self._version = self.row("PRAGMA data_version")[0]
        return self._connection.total_changes + self._taken_back, self._version

    def close(self) -> None:
        """Close the file. Closing twice does nothing."""
        self._connection.close()

    def __repr__(self) -> str:
        return f"Database({self.path!r})"


def connect(path: str, *, timeout: float = TIMEOUT, readonly: bool = False) -> Database:
    """Open the existing SQLite file *path*; read-only if *readonly* is set or it isn't writable."""
    _check_header(path)
    _check_journal(path)
    readonly = readonly or not (
        os.access(path, os.W_OK) and os.access(os.path.dirname(path) or ".", os.W_OK)
    )
    try:
        try:
            connection = _connection(path, "mode=ro" if readonly else "mode=rw", timeout)
        except sqlite3.OperationalError as error:
            is_full = not readonly and primary(error) in ("SQLITE_FULL", "SQLITE_IOERR")
            if not is_full and (
                not readonly or primary(error) not in ("SQLITE_CANTOPEN", "SQLITE_READONLY")
            ):
                raise
            # On a disk that is full or can't be written, SQLite can't even make its lock files.
            if is_full and _has_log(path):  # alone, it keeps them in memory
                connection = _connection(path, "mode=rw", timeout, "locking_mode = EXCLUSIVE")
            elif _has_log(path):
                raise StoreError(
                    f"{path}: the disk is read-only and {path}-wal holds changes that only a writable disk can show: "
                    "copy both files to one",
                    "read-only",
                ) from None
            else:
                connection = _connection(path, "immutable=1", timeout)
            readonly = True
    except ERRORS as error:
        raise in_words(error, path) from None
    return Database(path, connection, readonly=readonly, timeout=timeout)


def _check_header(path: str) -> None:
    """Raise if *path* isn't a database: on opening it, SQLite would delete its log, which may hold
    everything."""
    with suppress(OSError), open(path, "rb") as file:
        first = file.read(len(HEADER))
        if first and first != HEADER:
            raise StoreError(f"{path}: {_DAMAGED}", "damaged")
        # Another process may just have made it: it writes the file before the log.
        if not first and _has_log(path) and not file.read(1):
            raise StoreError(
                f"{path}: is empty, and {path}-wal is the log of a file that is gone; nothing was changed: "
                "'brim rules restore' brings a project's rules back, or move the log away to start over",
                "damaged",
            )


def _check_journal(path: str) -> None:
    """Raise if the journal of *path* names another file, which SQLite would delete, or is a pipe
    that never ends."""
    journal = f"{path}-journal"
    try:
        with os.fdopen(open_safely(journal), "rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - len(JOURNAL)))
            if file.read() != JOURNAL:
                return
    except FileNotFoundError:
        return
    except OSError:
        raise StoreError(
            f"{path}: is not used, because {journal} isn't a file that can be read; move it away",
            "refused",
        ) from None
    text = f"is not used, because {journal} names another file, and brim writes no such journal"
    raise StoreError(f"{path}: {text}; nothing was changed: move the journal away", "damaged")


def _has_log(path: str) -> bool:
    with suppress(OSError):
        return os.path.getsize(path + "-wal") > 0
    return False


def _connection(path: str, mode: str, timeout: float, *first: str) -> sqlite3.Connection:
    """Return a connection with its settings; this reads the file's header."""
    quoted = (
        os.path.abspath(path)
        .replace("\\", "/")
        .replace("%", "%25")
        .replace("?", "%3f")
        .replace("#", "%23")
    )
    uri = f"file:{quoted if quoted.startswith('/') else '/' + quoted}?{mode}"
    # A ledger has a connection for each thread, and the one that closes it closes them all.
    connection = sqlite3.connect(
        uri, timeout=timeout, isolation_level=None, uri=True, check_same_thread=False
    )
    with closed_on_error(connection):
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST)
        looks = (f"busy_timeout = {LOOK * 1000:.0f}",) if timeout >= HURRIED else ()
        for pragma in (
            *first,
            "user_version",
            "foreign_keys = ON",
            "synchronous = NORMAL",
            *CAREFUL,
            *looks,
        ):
            connection.execute(f"PRAGMA {pragma}")
    return connection


def primary(error: Exception) -> str:
    """Return SQLite's primary code for *error*: ``SQLITE_BUSY`` for ``SQLITE_BUSY_SNAPSHOT``
    too."""
    name = getattr(error, "sqlite_errorname", None)
    if name is None:
        # Python's own: a text, or SQLite's message, is not UTF-8; or the caller is wrong.
        return "SQLITE_MISUSE" if isinstance(error, sqlite3.ProgrammingError) else "SQLITE_CORRUPT"
    return "_".join(name.split("_")[:2])


def in_words(error: Exception, path: str) -> StoreError:
    """Return *error* as a ``StoreError`` that says what is wrong with *path* and what to do."""
    kind = primary(error)
    otherwise = "damaged" if kind == "SQLITE_ERROR" else "failed", str(error)[:200]
    reason, what = _WORDS.get(kind, otherwise)
    return StoreError(f"{path}: {what}", reason)


_RESTORE = "'brim rules restore' brings a project's rules back"
_DAMAGED = f"is damaged or not a database; nothing was changed: {_RESTORE}"
_WORDS = {
    **dict.fromkeys(
        ("SQLITE_BUSY", "SQLITE_LOCKED"),
        ("busy", "is in use by another process that writes to it; try again"),
    ),
    **dict.fromkeys(("SQLITE_CORRUPT", "SQLITE_NOTADB"), ("damaged", _DAMAGED)),
    "SQLITE_READONLY": ("read-only", "the disk or the file is read-only, so nothing can be stored"),
    "SQLITE_FULL": ("full", "the disk is full, so nothing was stored; make room and try again"),
    "SQLITE_IOERR": (
        "failed",
        "the disk could not be read or written: check whether it is full, and try again",
    ),
    "SQLITE_TOOBIG": (
        "damaged",
        f"a text is larger than brim stores ({LONGEST >> 20} MB); nothing was changed",
    ),
    "SQLITE_INTERRUPT": (
        "failed",
        "a query took too many seconds and was stopped; 'brim doctor' looks for damage",
    ),
    "SQLITE_CANTOPEN": ("missing", "cannot be opened: check that it exists and is yours"),
}
"""A reason for programs and a sentence for people, by SQLite's name for the error."""
