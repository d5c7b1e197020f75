"""The index of requests: what did a session, a project, a day cost?

One SQLite file, ``~/.brim/index.db``, serves ``brim usage``, the reports and the limits, so they
can't disagree. It's made of the agents' own files, which are read from where they ended the last
time. Every process may read and add at any moment; one that can't write counts in memory.
"""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from brim.config.places import home_folder, user_folder
from brim.sessions.files import (
    UNBOUNDED,
    AgentFile,
    IndexedFile,
    ReadingBounds,
    UpdateResult,
    forget_missing,
    indexed_file,
    indexed_files,
)
from brim.sessions.requests import SELECT, ClientTotal, IndexedRequest
from brim.sessions.storage import (
    MEMORY,
    NAME,
    OpenedIndex,
    copy_daily,
    open_in_memory,
    open_index,
    put_aside,
    writing,
)
from brim.sessions.sums import SpentSum, UsageCell, spent, usage_cells

if TYPE_CHECKING:
    from brim.models.price_list import Prices
    from brim.sessions.reading import FileReading
    from brim.sessions.rests import SessionRest
    from brim.sessions.updating import IndexUpdates

PRICED = "prices"
"""The fact that says with which prices requests were priced."""
PATIENCE = 2.0
"""Seconds that a command waits for another process that writes; a hook waits less."""

_Result = TypeVar("_Result")


def index_path(environ: Mapping[str, str]) -> str:
    """Return where the index of this user is."""
    return os.path.join(user_folder(environ), NAME)


class SessionIndex:
    """The index at *path*; without a path, one in memory that ends with the process.

    ``problem`` is a sentence to tell once: the index was damaged, or can't be used. *home* is the
    user's home folder, which is never a project.
    """

    def __init__(
        self,
        path: str = "",
        *,
        home: str = "",
        prices: Prices | None = None,
        price_version: str = "",
        patience: float = PATIENCE,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.path = path
        self.home = home
        if prices is not None:
            self.prices = prices
        self._price_version = price_version
        self._patience = patience
        self._clock = clock
        self._unwritten: list[tuple[IndexedRequest, int, int]] = []
        self._opened = self._open()

    @cached_property
    def prices(self) -> Prices:
        """What requests cost."""
        from brim.models.price_list import PriceList  # a limit that asks for sums needs no prices

        return PriceList()

    @cached_property
    def _updates(self) -> IndexUpdates:
        """What changes the index. It reads every agent's files, so it's loaded if one is new."""
        from brim.sessions.updating import IndexUpdates

        return IndexUpdates(self)

    @classmethod
    def of_user(cls, environ: Mapping[str, str], **options: Any) -> SessionIndex:
        """Open the index of the user that *environ* belongs to."""
        return cls(index_path(environ), home=home_folder(environ), **options)

    def _open(self) -> OpenedIndex:
        if not self.path:
            return open_in_memory()
        return open_index(self.path, patience=self._patience)

    @property
    def problem(self) -> str:
        """What should be told about the index; empty if it works."""
        return self._opened.problem

    @property
    def is_kept(self) -> bool:
        """Whether what is counted outlasts the process."""
        return not self._opened.is_in_memory

    @property
    def database(self) -> sqlite3.Connection:
        """The open database."""
        return self._opened.database

    def close(self) -> None:
        """Close the database."""
        with suppress(sqlite3.Error):
            self.database.close()

    def __enter__(self) -> SessionIndex:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def guarded(self, action: Callable[[], _Result]) -> _Result:
        """Do *action*; if it shows that the file is damaged, begin again with a new index."""
        try:
            return action()
        except sqlite3.OperationalError:
            raise
        except sqlite3.DatabaseError:
            if not self.is_kept:
                raise
        self.close()
        put_aside(self.path)
        problem = f"{self.path}: the index was damaged and is rebuilt from your agents' files"
        self._opened = replace(self._open(), problem=problem)
        return action()

    # Reading what agents wrote

    def unread(self, files: Iterable[AgentFile]) -> list[AgentFile]:
        """Return those of *files* that have changed, each with how far it was read."""
        return self.guarded(lambda: self._unread(files))

    def _unread(self, files: Iterable[AgentFile]) -> list[AgentFile]:
        indexed = indexed_files(self.database)
        changed: list[AgentFile] = []
        for file in files:
            earlier = indexed.get(file.path)
            if earlier is None:
                changed.append(file)
                continue
            with suppress(OSError):
                if not earlier.position.is_unchanged(os.stat(file.path)):
                    changed.append(replace(file, position=earlier.position))
        return changed

    def update(self, files: Iterable[AgentFile], bounds: ReadingBounds = UNBOUNDED) -> UpdateResult:
        """Read what is new in *files*, within *bounds* for all of them together."""
        changed = self.guarded(lambda: self._changed(files))
        if not changed:
            return UpdateResult()
        return self._updates.read(changed, bounds)

    def _changed(self, files: Iterable[AgentFile]) -> list[AgentFile]:
        """Return those of *files* that can be read and have changed, a few of many."""
        changed: list[AgentFile] = []
        for file in files:
            with suppress(OSError, ValueError):
                about = os.stat(file.path)
                earlier = indexed_file(self.database, file.path)
                if earlier is None:
                    changed.append(file)
                elif not earlier.position.is_unchanged(about):
                    changed.append(replace(file, position=earlier.position))
        return changed

    def add(
        self, readings: Iterable[tuple[AgentFile, FileReading]], *, needs_rows: bool = False
    ) -> bool:
        """Add what was read; return whether it's written. If not, it counts in this process.

        Then only sums have it, unless the process *needs_rows*: those are in a copy of the index.
        """
        return self._updates.add(list(readings), needs_rows=needs_rows)

    def add_total(self, total: ClientTotal) -> None:
        """Count what a client says that a session cost, unless a line of the session says it."""
        with suppress(sqlite3.OperationalError):  # it's said again
            self._updates.add_total(total)

    @property
    def now(self) -> float | None:
        """The time of requests whose line has none: a kept index counts them as new."""
        if self.is_kept:
            return self._clock()
        return None

    def go_on_in_memory(self) -> None:
        """Go on with a copy of the index that ends with the process."""
        copy = sqlite3.connect(MEMORY, isolation_level=None, check_same_thread=False)
        self.database.backup(copy)
        self.close()
        self._opened = replace(self._opened, database=copy, is_in_memory=True)

    def report(self, problem: str) -> None:
        """Tell *problem* once, with the next answer."""
        self._opened = replace(self._opened, problem=problem)

    def count_unwritten(self, request: IndexedRequest) -> None:
        """Count a request that can't be written now; the next process reads it again."""
        earlier = self.request(request.key) or IndexedRequest(request.key)
        cost = max(0, request.counted_cost - earlier.counted_cost)
        fresh = max(0, request.fresh - earlier.fresh)
        self._unwritten.append((request, cost, fresh))

    def forget_missing(self) -> None:
        """Forget how far files were read that their agents have deleted; requests stay."""
        with suppress(sqlite3.OperationalError), writing(self.database):
            forget_missing(self.database, list(indexed_files(self.database)))

    # What was spent

    def spent(self, scope: str, since: float | None = None) -> SpentSum:
        """Return what was spent in *scope* since a moment, or ever: the one sum for every limit."""
        try:
            sums = self.guarded(lambda: spent(self.database, scope, since))
        except sqlite3.OperationalError:
            sums = SpentSum()
        cost = sums.cost
        tokens = sums.tokens
        for request, added_cost, added_tokens in self._unwritten:
            if scope in request.scopes() and (since is None or (request.time or since) >= since):
                cost += added_cost
                tokens += added_tokens
        return SpentSum(cost, tokens)

    def cells(self, by: str) -> list[UsageCell]:
        """Return the sums of all requests by quarter hour, and by the column *by*."""
        return self.guarded(lambda: list(usage_cells(self.database, by)))

    def requests(self, condition: str = "kind = 'request'", *values: Any) -> list[IndexedRequest]:
        """Return the requests for which the SQL *condition* is true, in the order of their keys."""
        query = f"{SELECT} WHERE {condition} ORDER BY key"
        return self.guarded(
            lambda: [IndexedRequest(*row) for row in self.database.execute(query, values)]
        )

    def request(self, key: str) -> IndexedRequest | None:
        """Return the request *key*; None if there is none, or the index can't be read."""
        with suppress(sqlite3.Error):
            row = self.database.execute(f"{SELECT} WHERE key = ?", (key,)).fetchone()
            if row is not None:
                return IndexedRequest(*row)
        return None

    def last_requests(
        self, *, project: str = "", session: str = "", sub_agent: str | None = None, count: int
    ) -> list[IndexedRequest]:
        """Return the last *count* requests, the newest first: of all, or of those that are named.

        *sub_agent* is one thread of the session; empty is the main one, None is all of them.
        """
        wanted = {"project": project or None, "session": session or None, "sub_agent": sub_agent}
        conditions = ["kind = 'request'"]
        values: list[object] = []
        for column, value in wanted.items():
            if value is not None:
                conditions.append(f"{column} = ?")
                values.append(value)
        query = f"{SELECT} WHERE {' AND '.join(conditions)} ORDER BY time DESC LIMIT ?"
        return self.guarded(
            lambda: [IndexedRequest(*row) for row in self.database.execute(query, (*values, count))]
        )

    def totals(self) -> dict[str, ClientTotal]:
        """Return the clients' own totals by session."""
        rows = self._rows("SELECT session, cost, tokens, until FROM totals")
        return {row[0]: ClientTotal(row[0], row[1], json.loads(row[2]), row[3]) for row in rows}

    def owners(self) -> dict[str, tuple[str, str]]:
        """Return agent and project of each session."""
        rows = self._rows("SELECT session, agent, project FROM requests GROUP BY 1")
        return {session: (agent, project) for session, agent, project in rows}

    def project_of_session(self, session: str) -> str:
        """Return the project that *session* began in; empty if it has no requests yet."""
        query = "SELECT project FROM requests WHERE session = ? ORDER BY time LIMIT 1"
        for (project,) in self._rows_of(query, session):
            return str(project)
        return ""

    def unpriced_models(self, session: str) -> list[str]:
        """Return the models of *session* that have no price, if its client says no total either."""
        query = "SELECT 1 FROM totals WHERE session = ? AND cost IS NOT NULL"
        if not session or self._rows_of(query, session):
            return []
        query = "SELECT DISTINCT model FROM requests WHERE session = ? AND cost IS NULL ORDER BY 1"
        return [model for (model,) in self._rows_of(query, session)]

    def files(self) -> dict[str, IndexedFile]:
        """Return every file that was read, by path."""
        return self.guarded(lambda: indexed_files(self.database))

    def forked_sessions(self) -> set[str]:
        """Return the sessions that have requests of others: a fork begins with its parent's."""
        return {session for (session,) in self._rows("SELECT session FROM copies")}

    def _rows(self, query: str) -> list[tuple[Any, ...]]:
        return self.guarded(lambda: self.database.execute(query).fetchall())

    def _rows_of(self, query: str, session: str) -> list[tuple[Any, ...]]:
        return self.guarded(lambda: self.database.execute(query, (session,)).fetchall())

    # Keeping it right

    def forget(self, key: str) -> bool:
        """Drop the request *key* for good; return whether there was one."""
        return self._updates.forget(key)

    def apply_prices(self) -> None:
        """Price all requests again if prices have changed since they were priced."""
        if self.is_kept and self.guarded(lambda: self.fact(PRICED)) != self._price_version:
            self._updates.reprice(self._price_version)

    def rests(self) -> list[SessionRest]:
        """Return what the clients' totals show beyond requests, by session and model."""
        return self.guarded(lambda: list(self._updates.rests()))

    def fact(self, name: str) -> str:
        """Return what the index remembers under *name*; empty if nothing."""
        row = self.database.execute("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()
        if row is None:
            return ""
        return str(row[0])

    def put_fact(self, name: str, value: str) -> None:
        """Remember *value* under *name*."""
        self.database.execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", (name, value))

    @property
    def is_complete(self) -> bool:
        """Whether every file of the agents was read since the index was made."""
        return self.guarded(lambda: self.fact("complete")) == "yes"

    def mark_complete(self) -> None:
        """Note that every file of the agents was read."""
        if not self.is_complete:
            with suppress(sqlite3.OperationalError):
                self.put_fact("complete", "yes")

    def copy_daily(self) -> str:
        """Keep a copy of today; return its path if one was made."""
        if not self.is_kept:
            return ""
        return copy_daily(self.database, self.path, self._clock())

    @property
    def is_locked(self) -> bool:
        """Whether another process keeps it from being written, longer than this one waits."""
        try:
            with writing(self.database):
                return False
        except sqlite3.DatabaseError as error:
            return "locked" in str(error)

    def checkpoint(self, *, above: int = 0) -> None:
        """Move the log into the file if it has more than *above* bytes: every hook reads all of
        it."""
        with suppress(sqlite3.Error, OSError):
            if os.stat(f"{self.path}-wal").st_size > above:
                self.database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
