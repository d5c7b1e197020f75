"""Opens SQLite files safely, and runs statements and transactions in them.

Write-ahead logging lets readers and one writer work at the same time. With ``synchronous=NORMAL``,
a crash never damages the file, but a power cut may lose the last moments. Every error leaves as a
``StoreError`` that says what is wrong with which file, and what to do.
"""

from __future__ import annotations

import errno
import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from threading import Lock
from typing import Any, Self
from weakref import ref

from brim.errors import InputError, StoreError
from brim.files import open_safely

APPLICATION = 0x6272696D
"""``brim`` in ASCII: the application id in SQLite's header."""
POSTGRES = ("postgresql://", "postgres://")
"""Prefixes of a PostgreSQL server's address."""
ALL = (1 << 63) - 1
"""A ``LIMIT`` that returns every row."""
TIMEOUT = 5.0
"""Seconds that a command waits for another writer. Hooks wait less, because an agent waits for
them."""
LOOK = 0.02
"""Seconds after which waiting for a writer starts over. SQLite retries ever less often, so old
waiters would starve."""
PAUSE = 0.001
QUERY = 30.0
SHORT_QUERY = 0.5
"""Seconds that one statement may take, in a command and in a hook."""
HURRIED = 1.0
"""A process with a shorter timeout than this, in seconds, is a hook or has as little time as
one."""
THOROUGH = 1 << 24
"""Bytes up to which a file is checked with its indexes before the first write (0.2 s)."""
CHECKED = 1 << 28
"""Bytes up to which a file is checked at all (2 s)."""
STEPS = 10_000
"""SQLite's steps between two checks of the clock: less than a millisecond."""
LONGEST = 1 << 24
"""The largest value in bytes: more than brim ever writes, and little enough to read."""
MOST_PLACES = 400
"""Values in one statement, which may use each twice: older versions of SQLite take 999 in all."""
HEADER = b"SQLite format 3\0"
"""The first bytes of a database. One that was never written to is empty."""
JOURNAL = bytes.fromhex("d9d505f920a163d7")
"""Ends a rollback journal that names another file."""
PRAGMAS = (
    "user_version",  # reads the file's header, so that a foreign file fails here
    "foreign_keys = ON",
    "synchronous = NORMAL",
    "trusted_schema = OFF",  # someone else may have made the file
    "cell_size_check = ON",
)
ERRORS = (sqlite3.Error, UnicodeDecodeError)
"""What SQLite raises. Python can't decode a message that quotes the bytes of a damaged file."""

DAMAGED = "is damaged or not a database; nothing was changed"
WORDS = {
    "SQLITE_BUSY": ("busy", "is in use by another process that writes to it; try again"),
    "SQLITE_LOCKED": ("busy", "is in use by another process that writes to it; try again"),
    "SQLITE_CORRUPT": ("damaged", DAMAGED),
    "SQLITE_NOTADB": ("damaged", DAMAGED),
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


class OpenFiles:
    """The connections of one process, by file.

    While there's one, nothing else may open and close the file: that would end SQLite's locks, and
    the next process to leave would remove the log, with all that is written to it later.
    """

    def __init__(self) -> None:
        self.process = os.getpid()
        self.opening = Lock()
        self._databases: dict[tuple[int, int], list[ref[Database]]] = {}

    def has(self, path: str) -> bool:
        """Whether this process has the file *path* open."""
        for reference in self._databases.get(_identity(path), []):
            database = reference()
            if database is not None and not database.is_closed:
                return True
        return False

    def add(self, database: Database) -> None:
        """Note that *database* was opened."""
        databases = self._databases.setdefault(_identity(database.path), [])
        databases[:] = [reference for reference in databases if reference() is not None]
        databases.append(ref(database))


def _identity(path: str) -> tuple[int, int]:
    """Return what tells the file *path* from all others."""
    try:
        about = os.stat(path)
    except OSError:
        return 0, 0
    return about.st_dev, about.st_ino


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
    """An open connection to the SQLite file *path*."""

    def __init__(
        self,
        path: str,
        connection: sqlite3.Connection,
        *,
        readonly: bool = False,
        timeout: float = TIMEOUT,
        remedy: str = "",
    ) -> None:
        self.path = path
        self.remedy = remedy
        """What a person can do about damage, after a colon."""
        self.readonly = readonly
        self.is_closed = False
        hurried = timeout < HURRIED
        self._timeout = timeout
        self._connection = connection
        self._seconds = SHORT_QUERY if hurried else QUERY
        self._is_checked = hurried
        """Whether the file was checked, or there's no time to check it."""
        self._deadline = [0.0]
        """When the running statement must end."""
        connection.set_progress_handler(_clock_of(self._deadline), STEPS)
        self._writing = False
        self._version: int | None = None
        """SQLite's number for changes by others, as of this transaction."""
        self._rollbacks = 0
        """How many transactions were rolled back: SQLite's own count of changes doesn't tell."""

    # Statements

    def rows(self, sql: str, values: Sequence[object] = ()) -> list[Any]:
        """Return every row that *sql* gives."""
        return self._run(sql, values)[0]

    def row(self, sql: str, values: Sequence[object] = ()) -> Any:
        """Return the first row that *sql* gives, or None."""
        return next(iter(self.rows(sql, values)), None)

    def rows_in(
        self, sql: str, values: Iterable[object], *after: object, before: tuple[object, ...] = ()
    ) -> list[Any]:
        """Return the rows of *sql*, with *values* in place of ``IN ({})``, a few hundred at a time.

        *before* and *after* are the values for question marks before the first ``{}`` and after the
        last.
        """
        all_values = list(values)
        rows: list[Any] = []
        for start in range(0, len(all_values), MOST_PLACES):
            part = all_values[start : start + MOST_PLACES]
            statement = sql.replace("{}", ",".join("?" * len(part)))
            rows += self.rows(statement, [*before, *part * sql.count("{}"), *after])
        return rows

    def run(self, sql: str, values: Sequence[object] = ()) -> int:
        """Run *sql*, which writes; return how many rows it changed. Call it inside ``writing``."""
        return self._run(sql, values)[1]

    def run_many(self, sql: str, values: Iterable[Sequence[object]]) -> None:
        """Run *sql*, which writes, for each row of *values*. Call it inside ``writing``."""
        for row in values:
            self._run(sql, row)

    def notes(self, keys: Iterable[str]) -> dict[str, str]:
        """Return what the table ``meta`` has under *keys*, by key."""
        return dict(self.rows_in("SELECT key, value FROM meta WHERE key IN ({})", keys))

    def note(self, values: Mapping[str, str]) -> None:
        """Put *values* into the table ``meta``, each under its key. Call it inside ``writing``."""
        self.run_many("INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)", values.items())

    # Transactions

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
        self._writing = True
        self._version = None
        try:
            yield self
            self.run("COMMIT")
        except BaseException:
            self._rollbacks += 1
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

    # The whole file

    def problems(self) -> list[str]:
        """Read the whole file and return what SQLite finds wrong with it."""
        return [str(row[0]) for row in self.rows("PRAGMA integrity_check") if row != ("ok",)]

    def check_once(self) -> None:
        """Before the first write, raise if the file is damaged: writing could make it worse."""
        if self._is_checked or self.readonly:
            return
        size = self.row("PRAGMA page_count")[0] * self.row("PRAGMA page_size")[0]
        if size <= CHECKED:
            check = "integrity" if size <= THOROUGH else "quick"
            problem = self.row(f"PRAGMA {check}_check(1)")[0]
            if problem != "ok":
                raise StoreError(
                    f"{self.path}: is damaged ({problem}), so nothing was written{self.remedy}",
                    "damaged",
                )
        self._is_checked = True

    def copy_to(self, target: sqlite3.Connection) -> None:
        """Copy one consistent state of the whole file into *target*."""
        try:
            self._connection.backup(target)
        except ERRORS as error:
            raise in_words(error, self.path, self.remedy) from None

    def take(self, other: Database) -> None:
        """Replace the content of this file with that of *other*, atomically for processes that have
        it open."""
        other.copy_to(self._connection)

    def stamp(self) -> tuple[int, int]:
        """Return two numbers that change if this or another process changes the file."""
        if self._version is None or not self._connection.in_transaction:
            # In one, other processes' changes aren't seen.
            self._version = self.row("PRAGMA data_version")[0]
        return self._connection.total_changes + self._rollbacks, self._version

    def close(self) -> None:
        """Close the file. Closing twice does nothing."""
        self._connection.close()
        self.is_closed = True

    def __repr__(self) -> str:
        return f"Database({self.path!r})"

    def _run(self, sql: str, values: Sequence[object]) -> tuple[list[Any], int]:
        """Return the rows of *sql*, and how many it changed. This waits for other writers even
        where SQLite doesn't."""
        give_up_at = time.monotonic() + self._timeout
        while True:
            try:
                return self._try(sql, values)
            except StoreError as error:
                if error.reason != "busy" or time.monotonic() >= give_up_at:
                    raise
            time.sleep(PAUSE)

    def _try(self, sql: str, values: Sequence[object]) -> tuple[list[Any], int]:
        self._deadline[0] = time.monotonic() + self._seconds
        try:
            cursor = self._cursor(sql, values)
            return cursor.fetchall(), cursor.rowcount
        except ERRORS as error:
            is_early = time.monotonic() < self._deadline[0]
            if primary(error) == "SQLITE_INTERRUPT" and is_early:
                # A signal's handler has raised while SQLite looked at the clock, and SQLite keeps
                # that to itself.
                raise KeyboardInterrupt(f"{self.path}: a query was interrupted") from None
            raise in_words(error, self.path, self.remedy) from None
        except OverflowError:
            raise InputError("a number is too large to be stored: at most 19 digits") from None

    def _cursor(self, sql: str, values: Sequence[object]) -> sqlite3.Cursor:
        try:
            return self._connection.execute(sql, values)
        except UnicodeEncodeError:
            # A file's name may hold halves of surrogate pairs, which have no UTF-8.
            return self._connection.execute(sql, [_encodable(value) for value in values])


def _clock_of(deadline: list[float]) -> Callable[[], bool]:
    """Return the function that tells SQLite to stop after the *deadline*.

    It's no method: a connection that refers to its ``Database`` would keep that open.
    """

    def is_over() -> bool:
        return time.monotonic() > deadline[0]

    return is_over


def _encodable(value: object) -> object:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    return value


# Opening

_OPEN_FILES = OpenFiles()


def connect(
    path: str, *, timeout: float = TIMEOUT, readonly: bool = False, remedy: str = ""
) -> Database:
    """Open the existing SQLite file *path*; read-only if *readonly* is set or it isn't writable.

    *remedy* is what a person can do about damage.
    """
    if remedy:
        remedy = f": {remedy}"
    global _OPEN_FILES  # noqa: PLW0603
    if _OPEN_FILES.process != os.getpid():  # a fork has no locks
        _OPEN_FILES = OpenFiles()
    with _OPEN_FILES.opening:
        if not _OPEN_FILES.has(path):
            _check_header(path, remedy)
        database = _connect(path, timeout, readonly, remedy)
        _OPEN_FILES.add(database)
    return database


def _connect(path: str, timeout: float, readonly: bool, remedy: str) -> Database:
    _check_journal(path)
    folder = os.path.dirname(path) or "."
    readonly = readonly or not (os.access(path, os.W_OK) and os.access(folder, os.W_OK))
    mode = "mode=ro" if readonly else "mode=rw"
    try:
        try:
            connection = _connection(path, mode, timeout)
        except sqlite3.OperationalError as error:
            connection = _connection_without_locks(path, timeout, readonly, error)
            readonly = True
    except ERRORS as error:
        raise in_words(error, path, remedy) from None
    return Database(path, connection, readonly=readonly, timeout=timeout, remedy=remedy)


def _connection_without_locks(
    path: str, timeout: float, readonly: bool, error: sqlite3.OperationalError
) -> sqlite3.Connection:
    """Open *path* on a disk that is full or read-only: SQLite can't even make its lock files.

    Raise *error* if that isn't why the file couldn't be opened.
    """
    kind = primary(error)
    is_full = not readonly and kind in ("SQLITE_FULL", "SQLITE_IOERR")
    if not is_full and (not readonly or kind not in ("SQLITE_CANTOPEN", "SQLITE_READONLY")):
        raise error
    if not _has_log(path):
        return _connection(path, "immutable=1", timeout)
    if is_full:  # a process that has the file alone keeps its locks in memory
        return _connection(path, "mode=rw", timeout, "locking_mode = EXCLUSIVE")
    raise StoreError(
        f"{path}: the disk is read-only and {path}-wal holds changes that only a writable disk"
        " can show: copy both files to one",
        "read-only",
    )


def _check_header(path: str, remedy: str) -> None:
    """Raise if *path* isn't a database: on opening it, SQLite would delete its log, which may hold
    everything."""
    with suppress(OSError), open(path, "rb") as file:
        first = file.read(len(HEADER))
        if first and first != HEADER:
            raise StoreError(f"{path}: {DAMAGED}{remedy}", "damaged")
        # Another process may just have made it: it writes the file before the log.
        if not first and _has_log(path) and not file.read(1):
            raise StoreError(
                f"{path}: is empty, and {path}-wal is the log of a file that is gone; nothing was"
                f" changed: move the log away to start over{remedy}",
                "damaged",
            )


def _check_journal(path: str) -> None:
    """Raise if the journal of *path* names another file, which SQLite would delete, or is a pipe
    that never ends."""
    journal = f"{path}-journal"
    try:
        with os.fdopen(open_safely(journal), "rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - len(JOURNAL)))
            names_another_file = file.read() == JOURNAL
    except FileNotFoundError:
        return
    except OSError:
        raise StoreError(
            f"{path}: is not used, because {journal} isn't a file that can be read; move it away",
            "refused",
        ) from None
    if names_another_file:
        raise StoreError(
            f"{path}: is not used, because {journal} names another file, and brim writes no such"
            " journal; nothing was changed: move the journal away",
            "damaged",
        )


def _has_log(path: str) -> bool:
    with suppress(OSError):
        return os.path.getsize(path + "-wal") > 0
    return False


def _connection(path: str, mode: str, timeout: float, *pragmas: str) -> sqlite3.Connection:
    """Return a connection with its settings; this reads the file's header."""
    name = os.path.abspath(path).replace("\\", "/")
    for sign, quoted in (("%", "%25"), ("?", "%3f"), ("#", "%23")):
        name = name.replace(sign, quoted)
    if not name.startswith("/"):
        name = f"/{name}"
    # A ledger has a connection for each thread, and the one that closes it closes them all.
    connection = sqlite3.connect(
        f"file:{name}?{mode}",
        timeout=timeout,
        isolation_level=None,
        uri=True,
        check_same_thread=False,
    )
    with closed_on_error(connection):
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST)
        for pragma in (*pragmas, *PRAGMAS):
            connection.execute(f"PRAGMA {pragma}")
        if timeout >= HURRIED:
            connection.execute(f"PRAGMA busy_timeout = {LOOK * 1000:.0f}")
    return connection


def create_private(path: str) -> None:
    """Create the empty file *path*, for its owner alone, if it's missing; its folder too."""
    try:
        os.makedirs(os.path.dirname(os.path.abspath(path)), mode=0o700, exist_ok=True)
        with suppress(FileExistsError):
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    except OSError as error:
        raise creation_error(path, error) from None


def creation_error(path: str, error: OSError) -> StoreError:
    """Return why the file *path* can't be made."""
    reasons = {errno.EROFS: "read-only", errno.ENOSPC: "full", errno.EACCES: "read-only"}
    reason = reasons.get(error.errno or 0, "failed")
    return StoreError(f"{path}: cannot be made: {error.strerror or error}", reason)


@contextmanager
def closed_on_error(opened: Any) -> Iterator[None]:
    """Close what was just *opened* if it turns out that it can't be used."""
    try:
        yield
    except BaseException:
        opened.close()
        raise


# Tables


def log_ahead(database: Database) -> None:
    """Switch the file to write-ahead logging for good.

    A file system without shared memory keeps the rollback journal, which is slower and just as
    safe.
    """
    database.row("PRAGMA journal_mode = WAL")


def version_of(database: Database) -> int:
    """Return the version of *database*, 0 if it is empty; raise if it isn't brim's."""
    with database.reading():  # another process may be creating the tables just now
        application = database.row("PRAGMA application_id")[0]
        version = database.row("PRAGMA user_version")[0]
        is_filled = application or version or database.row("SELECT 1 FROM sqlite_master")
    if application == APPLICATION:
        return int(version)
    if is_filled:
        raise StoreError(
            f"{database.path}: is a database of another program, so it is not touched", "refused"
        )
    return 0


def statements(path: str) -> list[str]:
    """Return the statements in the SQL file *path*."""
    complete: list[str] = []
    begun = ""
    with open(path, encoding="utf-8") as file:
        for line in file:
            begun += line
            if sqlite3.complete_statement(begun):
                complete.append(begun.strip())
                begun = ""
    return complete


# Errors


def primary(error: Exception) -> str:
    """Return SQLite's primary code for *error*: ``SQLITE_BUSY`` for ``SQLITE_BUSY_SNAPSHOT``
    too."""
    name = getattr(error, "sqlite_errorname", None)
    if name is not None:
        return "_".join(name.split("_")[:2])
    # Python's own: the caller is wrong; or a text, or SQLite's message, is not UTF-8.
    if isinstance(error, sqlite3.ProgrammingError):
        return "SQLITE_MISUSE"
    return "SQLITE_CORRUPT"


def in_words(error: Exception, path: str, remedy: str = "") -> StoreError:
    """Return *error* as a ``StoreError`` that says what is wrong with *path* and what to do."""
    kind = primary(error)
    reason = "damaged" if kind == "SQLITE_ERROR" else "failed"
    reason, sentence = WORDS.get(kind, (reason, str(error)[:200]))
    if sentence is DAMAGED:
        sentence += remedy
    return StoreError(f"{path}: {sentence}", reason)
