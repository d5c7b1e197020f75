"""``state.db``: what each session was told, and what a person has allowed despite a rule.

It can be lost without harm: agents hear their rules once more, and a person allows a call again. So
a damaged file is made anew, and one that can't be written changes nothing but that.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from brim.errors import StoreError
from brim.files import locked
from brim.record import PlainData
from brim.rules.session import Session

NAME = "state.db"
VERSION = 2
PATIENCE = 0.3
"""Seconds that a hook waits for another one that notes what it tells."""

BRIM = "brim"
"""Stands for a rule's name where brim protects itself."""
ONCE = "once"
SESSION = "session"
HOUR = 3600.0
"""How long a call that was allowed once may take to come."""

_TABLES = """
CREATE TABLE sessions (
    id TEXT NOT NULL, sub_agent TEXT NOT NULL, told TEXT NOT NULL, time REAL NOT NULL,
    PRIMARY KEY (id, sub_agent)
) WITHOUT ROWID;
CREATE TABLE permissions (
    rule TEXT NOT NULL, place TEXT NOT NULL, session TEXT NOT NULL, time REAL NOT NULL,
    PRIMARY KEY (rule, place, session)
) WITHOUT ROWID;
CREATE TABLE interventions (
    id INTEGER PRIMARY KEY, kind TEXT NOT NULL, rule TEXT NOT NULL, place TEXT NOT NULL,
    session TEXT NOT NULL, call TEXT NOT NULL, time REAL NOT NULL
);
CREATE INDEX interventions_of_rule ON interventions (rule, place);
"""
REFUSED = "refused"
STOPPED = "stopped"
REPEATED = "repeated"
ALLOWED = "allowed"
ASKED = "asked"
INTERVENTIONS = (STOPPED, REPEATED, REFUSED, ALLOWED, ASKED)
"""What can happen because of a rule: a call was stopped once, and made again although it was; a
call was refused, or let through because a person allowed it; an agent was asked for a command
before it finished."""
_TABLE_NAMES = ("sessions", "permissions", "interventions")
_PARTS = ("", "-journal", "-wal", "-shm")


@dataclass(frozen=True)
class Intervention(PlainData):
    """Something that happened because of a rule."""

    kind: str
    """One of ``INTERVENTIONS``."""
    rule: str
    session: str
    call: str
    time: float


@dataclass(frozen=True)
class RuleCounts(PlainData):
    """What happened because of a rule, as far as it's still known."""

    sessions_told: int = 0
    """Sessions that were told it."""
    stopped: int = 0
    repeated: int = 0
    """Calls that were stopped, and then made again."""
    refused: int = 0
    allowed: int = 0
    """Calls that passed because a person allowed them."""
    asked: int = 0

    @property
    def obeyed(self) -> int:
        """Calls that were stopped, and not made again."""
        return max(0, self.stopped - self.repeated)


class RulesState:
    """The state of the user's folder *home*. What can't be read is as if it weren't there."""

    def __init__(self, home: str, *, now: float, patience: float = PATIENCE) -> None:
        self.path = os.path.join(home, NAME)
        self._now = now
        self._patience = patience
        self._database: sqlite3.Connection | None = None

    def close(self) -> None:
        """Close the file."""
        if self._database is not None:
            self._database.close()
            self._database = None

    # Sessions -------------------------------------------------------------------------------------

    def session(self, id: str, sub_agent: str = "", **limits: Any) -> Session:
        """Return what a session was told, to be looked at."""
        with suppress(StoreError):
            return self._read_session(id, sub_agent, limits)
        return _new_session(sub_agent, limits)

    def has_session(self, id: str, sub_agent: str = "") -> bool:
        """Whether a session was told anything."""
        with suppress(StoreError):
            return self._record_of(id, sub_agent) is not None
        return False

    def settle_clock(self) -> bool:
        """Whether a session was noted half an hour from now, or later: the clock has gone back.
        From now on it counts as noted now."""
        with suppress(StoreError):
            if not self._run("SELECT 1 FROM sessions WHERE time > ?", (self._now + HOUR / 2,)):
                return False
            self._run("UPDATE sessions SET time = ? WHERE time > ?", (self._now, self._now))
            return True
        return False

    @contextmanager
    def charging(self, id: str, sub_agent: str = "", **limits: Any) -> Iterator[Session]:
        """Hand out a session to be charged, in one transaction; raise ``StoreError`` if it can't be
        noted."""
        self._run("BEGIN IMMEDIATE")
        try:
            session = self._read_session(id, sub_agent, limits)
            yield session
            self._keep_session(id, "", session.parent or session)
            if session.parent is not None:
                self._keep_session(id, sub_agent, session)
            if self._opened().in_transaction:  # a damaged file was made anew in between: it's noted
                self._run("COMMIT")
        except BaseException:
            with suppress(StoreError):
                self._run("ROLLBACK")
            raise

    def _read_session(self, id: str, sub_agent: str, limits: dict[str, Any]) -> Session:
        session = _new_session(sub_agent, limits)
        if session.parent is not None:
            _load(session.parent, self._record_of(id, ""))
        _load(session, self._record_of(id, sub_agent))
        return session

    def _record_of(self, id: str, sub_agent: str) -> str | None:
        rows = self._run(
            "SELECT told FROM sessions WHERE id = ? AND sub_agent = ?", (id, sub_agent)
        )
        if rows:
            return str(rows[0][0])
        return None

    def _keep_session(self, id: str, sub_agent: str, session: Session) -> None:
        record = json.dumps(session.to_dict(), separators=(",", ":"))
        self._run(
            "INSERT OR REPLACE INTO sessions VALUES (?, ?, ?, ?)",
            (id, sub_agent, record, self._now),
        )

    # Permissions ----------------------------------------------------------------------------------

    def allow(self, rule: str, place: str, session: str = "") -> None:
        """Let calls pass that *rule* of *place* refuses: those of a *session*, else the next
        one."""
        self._run(
            "INSERT OR REPLACE INTO permissions VALUES (?, ?, ?, ?)",
            (rule, place, session, self._now),
        )

    def permission(self, rule: str, place: str, session: str) -> str:
        """Return how a call in *session* is allowed, ``session`` or ``once``; empty if it isn't."""
        times: dict[str, float] = {}
        with suppress(StoreError):
            rows = self._run(
                "SELECT session, time FROM permissions"
                " WHERE rule = ? AND place = ? AND session IN ('', ?)",
                (rule, place, session),
            )
            times = {row[0]: row[1] for row in rows}
        if session and session in times:
            return SESSION
        # A clock that is set back gains no time.
        if "" in times and 0 <= self._now - times[""] <= HOUR:
            return ONCE
        return ""

    def use_up(self, rule: str, place: str) -> bool:
        """Use up what was allowed once; return whether it was still there. Of two calls at once,
        one gets it."""
        rows = self._run(
            "DELETE FROM permissions WHERE rule = ? AND place = ? AND session = '' RETURNING rule",
            (rule, place),
        )
        return bool(rows)

    # Interventions --------------------------------------------------------------------------------

    def note(self, kind: str, rule: str, place: str, *, session: str, call: str) -> None:
        """Note what happened to *call* because of *rule* of *place*; nothing depends on that."""
        with suppress(StoreError):
            self._run(
                "INSERT INTO interventions (kind, rule, place, session, call, time)"
                " VALUES (?, ?, ?, ?, ?, ?)",
                (kind, rule, place, session, call, self._now),
            )

    def last(self, rule: str, place: str, kinds: Iterable[str]) -> Intervention | None:
        """Return the last intervention of one of *kinds* for *rule* of *place*."""
        wanted = sorted(kinds)
        marks = ",".join("?" * len(wanted))
        with suppress(StoreError):
            rows = self._run(
                "SELECT kind, rule, session, call, time FROM interventions"  # noqa: S608
                f" WHERE rule = ? AND place = ? AND kind IN ({marks}) ORDER BY id DESC LIMIT 1",
                (rule, place, *wanted),
            )
            if rows:
                return Intervention(*rows[0])
        return None

    def in_session(self, session: str) -> list[Intervention]:
        """Return what happened in *session*, the first one first."""
        if not os.path.exists(self.path):
            return []  # only looking makes no file
        with suppress(StoreError):
            rows = self._run(
                "SELECT kind, rule, session, call, time FROM interventions"
                " WHERE session = ? ORDER BY id",
                (session,),
            )
            return [Intervention(*row) for row in rows]
        return []

    def held_since(self, time: float) -> int:
        """Return how many calls were stopped or refused since *time*."""
        with suppress(StoreError):
            ((count,),) = self._run(
                "SELECT COUNT(*) FROM interventions WHERE time >= ? AND kind IN (?, ?)",
                (time, STOPPED, REFUSED),
            )
            return int(count)
        return 0

    def counts(self) -> dict[tuple[str, str], dict[str, int]]:
        """Return how often each kind happened, by the rule's name and place."""
        counts: dict[tuple[str, str], dict[str, int]] = {}
        if not os.path.exists(self.path):
            return counts
        with suppress(StoreError):
            rows = self._run(
                "SELECT rule, place, kind, COUNT(*) FROM interventions GROUP BY rule, place, kind"
            )
            for rule, place, kind, count in rows:
                counts.setdefault((rule, place), {})[kind] = count
        return counts

    def sessions_told(self) -> dict[str, int]:
        """Return how many sessions were told each rule, by its digest."""
        numbers: dict[str, int] = {}
        if not os.path.exists(self.path):
            return numbers
        with suppress(StoreError):
            for (record,) in self._run("SELECT told FROM sessions"):
                session = Session()
                _load(session, record)
                for id in session.shown:
                    numbers[id] = numbers.get(id, 0) + 1
        return numbers

    def remove_before(self, time: float) -> None:
        """Remove what was noted before *time*."""
        if not os.path.exists(self.path):
            return
        for table in ("sessions", "permissions", "interventions"):
            self._run(f"DELETE FROM {table} WHERE time < ?", (time,))  # noqa: S608

    # The file -------------------------------------------------------------------------------------

    def _run(self, sql: str, values: tuple[object, ...] = ()) -> list[tuple[Any, ...]]:
        """Run *sql*; a damaged file is made anew, once."""
        for is_last in (False, True):
            try:
                return self._opened().execute(sql, values).fetchall()
            except sqlite3.OperationalError as error:
                raise StoreError(f"{self.path}: {error}", _reason(error)) from None
            except sqlite3.DatabaseError as error:
                if is_last:
                    raise StoreError(f"{self.path}: {error}", "damaged") from None
                self._discard()
        raise AssertionError

    def _opened(self) -> sqlite3.Connection:
        if self._database is None:
            self._database = self._connect()
        return self._database

    def _connect(self) -> sqlite3.Connection:
        if os.path.islink(self.path) or os.path.isdir(self.path):
            raise StoreError(f"{self.path}: isn't a file of brim's", "refused")
        if not os.path.isdir(os.path.dirname(self.path)):
            raise StoreError(f"{self.path}: brim isn't set up here", "missing")
        if not os.path.exists(self.path):
            with suppress(OSError):  # on a read-only disk, SQLite says it
                os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600))  # SQLite's are 0644
        database = sqlite3.connect(self.path, isolation_level=None, timeout=self._patience)
        try:
            # A crash of the machine may cost this file, and nothing waits for the disk.
            database.execute("PRAGMA synchronous = OFF")
            if database.execute("PRAGMA user_version").fetchone()[0] != VERSION:
                _make_tables(database)
        except BaseException:
            database.close()
            raise
        return database

    def _discard(self) -> None:
        """Remove a damaged file."""
        self.close()
        try:
            with locked(f"{self.path}.lock", patience=self._patience):
                if self._is_damaged():
                    for ending in _PARTS:
                        with suppress(FileNotFoundError):
                            os.unlink(self.path + ending)
        except OSError as error:
            reason = error.strerror or str(error)
            raise StoreError(f"{self.path}: is damaged: {reason}", "damaged") from None

    def _is_damaged(self) -> bool:
        """Whether it still is: another process may have been faster."""
        try:
            database = self._connect()
        except sqlite3.OperationalError:
            return False
        except sqlite3.DatabaseError:
            return True
        try:
            row = database.execute("PRAGMA quick_check").fetchone()
            return tuple(row) != ("ok",)
        except sqlite3.DatabaseError:
            return True
        finally:
            database.close()


def _make_tables(database: sqlite3.Connection) -> None:
    """Make the tables of a new file, in place of those of another version."""
    database.execute("BEGIN IMMEDIATE")
    if database.execute("PRAGMA user_version").fetchone()[0] == VERSION:
        database.execute("COMMIT")  # another process was faster
        return
    for table in _TABLE_NAMES:
        database.execute(f"DROP TABLE IF EXISTS {table}")
    for statement in _TABLES.split(";"):
        database.execute(statement)
    database.execute(f"PRAGMA user_version = {VERSION}")
    database.execute("COMMIT")


def _new_session(sub_agent: str, limits: dict[str, Any]) -> Session:
    if sub_agent:
        return Session(**limits, parent=Session(**limits))
    return Session(**limits)


def _load(session: Session, record: str | None) -> None:
    """Let *session* go on where it was; what isn't ours is as if nothing had been told."""
    if record is not None:
        with suppress(ValueError, TypeError, KeyError, AttributeError):
            session.load(json.loads(record))


def _reason(error: sqlite3.OperationalError) -> str:
    text = str(error)
    if "locked" in text:
        return "busy"
    if "readonly" in text or "unable to open" in text:
        return "read-only"
    if "full" in text:
        return "full"
    return "failed"
