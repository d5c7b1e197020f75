"""Opens brim's schema in a PostgreSQL server, and runs SQLite's statements there.

As in SQLite, texts compare byte by byte, and every transaction that writes holds the schema's one
lock from its start. So ``books`` works on both. A transaction is on the server's disk when its
commit returns.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from typing import Any, Self
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from brim.database import QUERY, TIMEOUT, Database, closed_on_error
from brim.errors import InputError, StoreError

try:
    import psycopg
    from psycopg import sql
    from psycopg.conninfo import conninfo_to_dict
except ImportError:  # pragma: no cover - the tests have it
    raise StoreError(
        "PostgreSQL needs the package psycopg, which isn't installed here:"
        " pip install 'brim[postgres]'",
        "missing",
    ) from None

TABLES = os.path.join(os.path.dirname(__file__), "data", "postgres.sql")
"""The statements that make brim's tables and functions."""
VERSION = "4"
"""The version of these tables. A schema of another version is refused."""
OLDEST_SERVER = 140_000
"""PostgreSQL 14."""
SCHEMA = "brim"
"""The schema in which brim's tables are; ``?schema=NAME`` in an address says another."""
NAME = re.compile(r"[a-z_][a-z0-9_]{0,62}")
DEFAULTS = {
    "connect_timeout": 10,
    "keepalives_idle": 30,
    "application_name": "brim",
    "client_encoding": "utf8",
}
IDLE_IN_TRANSACTION = 60_000
"""Milliseconds after which the server ends a transaction of a process that hangs."""
WRAPPED = "\uf8ff0x"
"""How a text begins that PostgreSQL can't hold: the rest is its bytes, in hexadecimal digits."""
UNFIT = re.compile(f"[\\0\ud800-\udfff]|\\A{WRAPPED}")
LARGEST = 1 << 63
KEYS = {"spend_limits": ("scope", "period", "unit"), "spend_scopes": ("scope",)}
"""The columns by which a row replaces another one."""
REPLACE = re.compile(r"INSERT OR REPLACE INTO (\w+) \(([^)]*)\) (.*)", re.DOTALL)
PLACE = re.compile(r"\?(\d*)")
DAY = "CAST(time / 86400 AS INTEGER)"
ROUNDED_DOWN_DAY = "CAST(floor(time / 86400) AS bigint)"

NO_RIGHTS = (
    "this user of PostgreSQL may not do that: the owner of the database or of brim's schema must"
    " GRANT it"
)
LOST = "PostgreSQL can't be reached: check that it runs and that the address is right"
LOGIN = (
    "PostgreSQL doesn't let this user in: check the user, and the password in the address,"
    " PGPASSWORD or ~/.pgpass"
)
CONFLICT = ("conflict", "two processes got in each other's way")
CHANGED = ("damaged", "brim's tables changed")
WORDS = {
    "28": ("refused", LOGIN),
    "3D": ("missing", "there is no such database: create it with 'createdb', or name another"),
    "42501": ("refused", NO_RIGHTS),
    "25006": ("read-only", "the server is read-only, so nothing can be stored"),
    "53100": ("full", "the server's disk is full, so nothing was stored; make room and try again"),
    "53300": ("busy", "the server has too many connections; try again"),
    "55P03": ("busy", "other processes are writing; try again"),
    "40001": CONFLICT,
    "40P01": CONFLICT,
    "23505": CONFLICT,
    "57014": ("failed", "a query took too many seconds and was stopped"),
    "42P01": CHANGED,
    "42883": CHANGED,
    "42703": CHANGED,
}
"""A reason and a sentence for each SQLSTATE, or class of them (its first two characters)."""
REFUSALS = (
    ("password|authentication|pg_hba|role .* does not exist", "28"),
    ("database .* does not exist", "3D"),
    ("too many", "53300"),
)
"""What PostgreSQL says when it refuses a connection, and the SQLSTATE that it means."""


def open_postgres(
    address: str, *, create: bool = True, timeout: float = TIMEOUT, readonly: bool = False
) -> PostgresDatabase:
    """Open brim's schema at *address*; it's created if it's missing, unless *create* is False."""
    database = PostgresDatabase(address, timeout=timeout, readonly=readonly)
    with closed_on_error(database):
        if not _has_tables(database):
            if not create or database.readonly:
                raise StoreError(
                    f"{database.path}: has nothing of brim's yet: a person's"
                    " 'brim limit --store URL', or open_ledger, makes the tables",
                    "missing",
                )
            _make_tables(database)
    return database


def _make_tables(database: PostgresDatabase) -> None:
    """Make brim's tables. Several processes may do this at once."""
    with database.transaction("BEGIN"):
        lock = f"brim {database.schema}"
        database.run("SELECT pg_advisory_xact_lock(hashtextextended(?, 0))", (lock,))
        if _has_tables(database):  # another process was faster
            return
        database.run(f'CREATE SCHEMA IF NOT EXISTS "{database.schema}"')
        database.run('CREATE TABLE meta (key text COLLATE "C" PRIMARY KEY, value text NOT NULL)')
        with open(TABLES, encoding="utf-8") as file:
            database.run_file(file.read())
        database.run("INSERT INTO meta (key, value) VALUES ('version', ?)", (VERSION,))


def _has_tables(database: PostgresDatabase) -> bool:
    """Whether the schema has brim's tables; False if it's missing or empty. Raise if it has
    others."""
    rows = database.rows(
        "SELECT relname::text, has_schema_privilege(relnamespace, 'USAGE') FROM pg_class"
        " WHERE relkind IN ('r', 'v', 'p') AND relnamespace = to_regnamespace(?)",
        (f'"{database.schema}"',),
    )
    tables = dict(rows)
    if not tables:
        return False
    if not all(tables.values()):
        raise StoreError(f"{database.path}: {NO_RIGHTS}", "refused")
    version = None
    if "meta" in tables:
        version = database.row("SELECT value FROM meta WHERE key = 'version'")
    if version is None or "spend_scopes" not in tables:
        raise StoreError(
            f"{database.path}: the schema {database.schema} holds tables of another program, so it"
            " is not touched: add ?schema=NAME to the address",
            "refused",
        )
    if version[0] != VERSION:
        raise StoreError(
            f"{database.path}: is of another version of brim (version {version[0]} of the schema;"
            f" this one reads {VERSION}): install the brim that made it, or add ?schema=NAME to"
            " the address to begin a new one",
            "version",
        )
    return True


class PostgresDatabase(Database):
    """A connection to PostgreSQL. One object serves many threads, one at a time, and goes on after
    a fork.

    After the connection is lost, the next call opens a new one.
    """

    def __init__(self, address: str, *, timeout: float = TIMEOUT, readonly: bool = False) -> None:
        self._settings, self.schema, self.path = _settings(address)
        self.readonly = readonly
        self._timeout = timeout
        self._process = os.getpid()
        self._lock = threading.RLock()
        self._link: psycopg.Connection[Any] | None = None
        self._abandoned: list[object] = []
        self._depth = 0
        with self._using():
            pass

    # Statements

    def _run(self, sql: str, values: Sequence[object]) -> tuple[list[Any], int]:
        sent = [_sent(value) for value in values] or None
        cursor = self._execute(translated(sql), sent)
        if not cursor.description:
            return [], cursor.rowcount
        return [tuple(map(_read, row)) for row in cursor], cursor.rowcount

    def run_many(self, sql: str, values: Iterable[Sequence[object]]) -> None:
        """Run *sql*, which writes, for each row of *values*: they are sent without waiting for each
        answer."""
        rows = [[_sent(value) for value in row] for row in values]
        with self._using() as link, _in_words(self), link.cursor() as cursor:
            cursor.executemany(translated(sql), rows)

    def run_file(self, text: str) -> None:
        """Run the statements of a file."""
        self._execute(text.encode())

    def call(self, function: str, *values: object) -> Any:
        """Return what the SQL *function* returns."""
        places = ", ".join(f"${number}" for number in range(1, len(values) + 1))
        row = self._execute(f"SELECT {function}({places})".encode(), values or None).fetchone()
        if row is None:
            return None
        return row[0]

    def _execute(
        self, statement: bytes, values: Sequence[object] | None = None
    ) -> psycopg.Cursor[Any]:
        """Run *statement*; outside of a transaction, try again if the connection was lost."""
        with self._using() as link:
            try:
                with _in_words(self):
                    return link.execute(statement, values)
            except StoreError as error:
                if error.reason != "lost" or self._depth or not link.closed:
                    raise
        with self._using() as link, _in_words(self):
            return link.execute(statement, values)

    # Transactions

    @contextmanager
    def writing(self) -> Iterator[Self]:
        """Open a transaction that holds the schema's lock from the start."""
        if self.readonly:
            raise StoreError(
                f"{self.path}: the server is read-only, so nothing can be stored", "read-only"
            )
        with self.transaction("BEGIN"):
            if self._depth == 1:
                self.run("SELECT pg_advisory_xact_lock(brim_lock())")
            yield self

    @contextmanager
    def reading(self) -> Iterator[Self]:
        """Read one consistent state inside, even if others write at the same time."""
        with self.transaction("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"):
            yield self

    @contextmanager
    def transaction(self, begin: str) -> Iterator[None]:
        """Open a transaction, or join the one that is open."""
        with self._using():
            if self._depth:
                yield
                return
            self._execute(begin.encode())
            self._depth = 1
            try:
                yield
                self._execute(b"COMMIT")
            except BaseException:
                with suppress(StoreError):
                    self._execute(b"ROLLBACK")
                raise
            finally:
                self._depth = 0

    # The connection

    @contextmanager
    def _using(self) -> Iterator[psycopg.Connection[Any]]:
        """Yield the connection to this thread alone; open one if there is none or it was lost."""
        if self._process != os.getpid():
            # The connection is the parent's, and a thread of it may have the lock.
            self._abandoned.append(self._link)
            self._process = os.getpid()
            self._lock = threading.RLock()
            self._link = None
            self._depth = 0
        with self._lock:
            if self._link is None or (self._link.closed and not self._depth):
                self._link = self._connected()
            yield self._link

    def _connected(self) -> psycopg.Connection[Any]:
        with _in_words(self):
            link = psycopg.connect(
                **self._settings, autocommit=True, cursor_factory=psycopg.RawCursor
            )
        with closed_on_error(link):
            version = link.info.server_version
            if version < OLDEST_SERVER:
                raise StoreError(
                    f"{self.path}: is PostgreSQL {version // 10_000}.{version % 10_000}: brim needs"
                    " 14 or newer",
                    "refused",
                )
            link.adapters.register_loader("numeric", WholeNumberLoader)
            with _in_words(self):
                self._set_up(link)
        return link

    def _set_up(self, link: psycopg.Connection[Any]) -> None:
        """Say how long to wait, and that a commit waits for the server's disk."""
        milliseconds = max(1, round(self._timeout * 1000))
        template = sql.SQL(
            "SET search_path = {}; SET lock_timeout = {}; SET statement_timeout = {};"
            " SET idle_in_transaction_session_timeout = {}"
        )
        statement = template.format(
            sql.Identifier(self.schema),
            milliseconds,
            max(milliseconds, int(QUERY * 1000)),
            IDLE_IN_TRANSACTION,
        )
        link.execute(statement.as_string(link).encode())
        row = link.execute(
            "SELECT current_setting('transaction_read_only'), set_config('synchronous_commit',"
            " CASE current_setting('synchronous_commit') WHEN 'off' THEN 'local'"
            " ELSE current_setting('synchronous_commit') END, FALSE)"
        ).fetchone()
        if row is not None and row[0] == "on":
            self.readonly = True

    def now(self) -> float:
        """Return the time by the server's clock."""
        return float(self.call("brim_now"))

    def close(self) -> None:
        """Close the connection. Closing twice does nothing."""
        if self._process == os.getpid() and self._link is not None:
            self._link.close()

    def __del__(self) -> None:  # a guard has no end at which it could close its ledger
        if getattr(self, "_link", None) is not None:
            self.close()

    def __repr__(self) -> str:
        return f"PostgresDatabase({self.path!r})"


class WholeNumberLoader(psycopg.adapt.Loader):
    """Reads sums of whole numbers, which PostgreSQL returns as ``numeric``."""

    def load(self, data: Any) -> int:
        """Return the number."""
        return int(bytes(data))


def _settings(address: str) -> tuple[dict[str, Any], str, str]:
    """Return what to connect with, the schema, and the address without a password, for people."""
    before, sign, _ = address.rpartition("@")
    if sign and any(letter in before.partition("://")[2] for letter in "@/?#"):
        raise InputError(
            "the address of PostgreSQL has a sign in its password that ends it:"
            " write @ as %40, / as %2F, ? as %3F and # as %23"
        )
    try:
        parts = urlsplit(address)
        pairs = parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query))
        query = dict(pairs)
        schema = query.pop("schema", SCHEMA)
        url = parts._replace(query=urlencode(query, quote_via=quote)).geturl()
        settings: dict[str, Any] = dict(conninfo_to_dict(url))
    except (psycopg.Error, ValueError):
        raise InputError(
            "this isn't an address of PostgreSQL: write"
            " postgresql://USER:PASSWORD@HOST:5432/DATABASE"
        ) from None
    if not NAME.fullmatch(schema):
        raise InputError(
            f"{schema[:80]!r} can't be a schema: use a-z, 0-9 and _, at most 63 characters"
        )
    return {**DEFAULTS, **settings}, schema, _public_address(settings, schema)


def _public_address(settings: dict[str, Any], schema: str) -> str:
    host = settings.get("host") or settings.get("hostaddr") or "localhost"
    port = ""
    if str(settings.get("port", "")).isdigit():  # else it may be a password
        port = f":{settings['port']}"
    address = f"postgresql://{host}{port}/{settings.get('dbname', '')}"
    if schema == SCHEMA:
        return address
    return f"{address}?schema={schema}"


# SQL and values


@lru_cache(512)
def translated(statement: str) -> bytes:
    """Return a *statement* for SQLite as one for PostgreSQL.

    >>> translated("SELECT sum(amount) FROM spend_entries WHERE scope = ? AND time > ?")
    b'SELECT sum(amount) FROM spend_entries WHERE scope = $1 AND time > $2'
    """
    replacing = REPLACE.fullmatch(statement)
    if replacing:
        statement = _upsert(*replacing.groups())
    statement = statement.replace(DAY, ROUNDED_DOWN_DAY)  # a cast would round up
    last = 0

    def numbered(place: re.Match[str]) -> str:
        nonlocal last
        number = int(place[1] or last + 1)
        last = max(last, number)
        return f"${number}"

    return PLACE.sub(numbered, statement).encode()


def _upsert(table: str, columns: str, values: str) -> str:
    """Return SQLite's ``INSERT OR REPLACE`` in the words of PostgreSQL."""
    keys = KEYS[table]
    changes = [f"{name} = excluded.{name}" for name in columns.split(", ") if name not in keys]
    return (
        f"INSERT INTO {table} ({columns}) {values}"
        f" ON CONFLICT ({', '.join(keys)}) DO UPDATE SET {', '.join(changes)}"
    )


def _sent(value: object) -> object:
    """Return *value* in a form that PostgreSQL can store and convert to the column's type."""
    if isinstance(value, int) and not isinstance(value, bool):
        if not -LARGEST <= value < LARGEST:
            raise InputError("a number is too large to be stored: at most 19 digits")
        return str(int(value))
    if isinstance(value, str) and UNFIT.search(value):
        return f"{WRAPPED}{value.encode('utf-8', 'surrogatepass').hex()}"
    return value


def _read(value: object) -> object:
    if isinstance(value, str) and value.startswith(WRAPPED):
        return bytes.fromhex(value.removeprefix(WRAPPED)).decode("utf-8", "surrogatepass")
    return value


# Errors


@contextmanager
def _in_words(database: PostgresDatabase) -> Iterator[None]:
    """Let every error of PostgreSQL leave as a ``StoreError`` that says what to do."""
    try:
        yield
    except psycopg.Error as error:
        message = " ".join(str(error).split())[:200]
        reason, sentence = _reason(error, message)
        raise StoreError(f"{database.path}: {sentence} ({message})", reason) from None


def _reason(error: psycopg.Error, message: str) -> tuple[str, str]:
    """Return the reason and the sentence for *error*."""
    is_lost = isinstance(error, psycopg.OperationalError | psycopg.InterfaceError)
    state = error.sqlstate or ""
    if is_lost and not state:  # a connection that is refused has only a text
        state = _state_in(message)
    for key in (state, state[:2]):
        if key in WORDS:
            return WORDS[key]
    if is_lost:
        return "lost", LOST
    return "failed", "PostgreSQL has refused a statement"


def _state_in(message: str) -> str:
    for pattern, state in REFUSALS:
        if re.search(pattern, message):
            return state
    return ""
