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
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from brim.agents.readers import agent_formats
from brim.config.places import home_folder, user_folder
from brim.errors import InputError
from brim.models.price_list import PriceList, Prices
from brim.sessions.entries import SELECT, IndexWriter
from brim.sessions.files import (
    IndexedFile,
    forget_missing,
    indexed_file,
    indexed_files,
    put_file,
)
from brim.sessions.reading import (
    UNBOUNDED,
    FilePosition,
    FileReading,
    ReadingBounds,
    read_file,
)
from brim.sessions.repository import project_of
from brim.sessions.requests import FORGOTTEN, ClientTotal, IndexedRequest
from brim.sessions.rests import SessionRest, rest_by_model, rest_of
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
from brim.sessions.sums import (
    SpentSum,
    UsageCell,
    covered_by_model,
    covered_cost,
    latest_covered,
    rebuild_sums,
    spent,
    usage_cells,
)

NAMED_BY_FOLDER = ("claude-transcript", "gemini-transcript")
"""Formats of the files whose folder's name says whose project they are."""
PATIENCE = 2.0
"""Seconds that a command waits for another process that writes; a hook waits less."""

_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True)
class AgentFile:
    """A session's file, and what its place says about it."""

    path: str
    agent: str = ""
    format: str = ""
    slug: str = ""
    """The name that the agent made of the project's folder, empty if the place has none."""
    folder: str = ""
    """The folder that the agent works in, if somebody knows; else the file's lines say."""
    position: FilePosition | None = None
    """How far it was read before."""


@dataclass(slots=True)
class UpdateResult:
    """What an update has read."""

    files: int = 0
    new_bytes: int = 0
    failed: tuple[str, ...] = ()
    is_complete: bool = True
    """Whether everything was read, not only to the bounds."""
    is_written: bool = True


def agent_of(format: str) -> str:
    """Return the agent that writes files of *format*.

    >>> agent_of("openai-chat")
    'other'
    """
    formats = agent_formats()
    if format in formats:
        return formats[format][0].name
    return "other"


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
        self._home = home
        self.prices = prices or PriceList()
        """What requests cost."""
        self._price_version = price_version
        self._patience = patience
        self._clock = clock
        self._unwritten: list[tuple[IndexedRequest, int, int]] = []
        self._projects: dict[str, str] = {}
        self._opened = self._open()

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

    def _guarded(self, action: Callable[[], _Result]) -> _Result:
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

    def project_of(self, folder: str) -> str:
        """Return the project that *folder* belongs to: its repository, else the folder."""
        if folder not in self._projects:
            self._projects[folder] = project_of(folder, self._home)
        return self._projects[folder]

    def unread(self, files: Iterable[AgentFile]) -> list[AgentFile]:
        """Return those of *files* that have changed, each with how far it was read."""
        return self._guarded(lambda: self._unread(files))

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
        result = UpdateResult()
        readings: list[tuple[AgentFile, FileReading]] = []
        failed: list[str] = []
        for file in files:
            if bounds.are_reached(result.new_bytes):
                result.is_complete = False
                break
            reading = self._read(file, bounds, failed)
            if reading is not None:
                readings.append((file, reading))
                result.files += 1
                result.new_bytes += reading.size
                result.is_complete = result.is_complete and reading.is_complete
        result.failed = tuple(failed)
        if readings:
            result.is_written = self.add(readings)
        return result

    def _read(
        self, file: AgentFile, bounds: ReadingBounds, failed: list[str]
    ) -> FileReading | None:
        """Read one file; None if nothing was written since, or it can't be read."""
        try:
            about = os.stat(file.path)
        except (OSError, ValueError):
            return None
        earlier = self._guarded(lambda: indexed_file(self.database, file.path))
        position = None
        if earlier is not None:
            position = earlier.position
        if position is not None and position.is_unchanged(about):
            return None
        try:
            return read_file(
                file.path,
                format=file.format,
                position=position,
                slug=file.slug,
                bounds=bounds,
                prices=self.prices,
            )
        except InputError as error:
            failed.append(str(error))
            return None

    def add(
        self, readings: Iterable[tuple[AgentFile, FileReading]], *, needs_rows: bool = False
    ) -> bool:
        """Add what was read; return whether it's written. If not, it counts in this process.

        Then only sums have it, unless the process *needs_rows*: those are in a copy of the index.
        """
        readings = list(readings)
        try:
            self._guarded(lambda: self._add(readings))
            return True
        except sqlite3.OperationalError as error:
            if "locked" not in str(error):
                problem = f"{self.path}: {error}. What is counted now isn't kept."
                self._opened = replace(self._opened, problem=problem)
        if needs_rows:
            self._go_on_in_memory()
            self._add(readings)
        else:
            self._count_in_memory(readings)
        return False

    def _go_on_in_memory(self) -> None:
        """Go on with a copy of the index that ends with the process."""
        copy = sqlite3.connect(MEMORY, isolation_level=None, check_same_thread=False)
        self.database.backup(copy)
        self.close()
        self._opened = replace(self._opened, database=copy, is_in_memory=True)

    def _add(self, readings: list[tuple[AgentFile, FileReading]]) -> None:
        with writing(self.database):
            writer = IndexWriter(self.database, now=self._now())
            for file, reading in readings:
                self._note_folder(file, reading)
            for file, reading in readings:
                if reading.position is None:
                    continue
                agent = file.agent or agent_of(reading.position.format)
                project = self._project(file, reading)
                writer.add(reading, agent, project)
                put_file(
                    self.database,
                    IndexedFile(file.path, agent, project, reading.position),
                )
            writer.finish()

    def _note_folder(self, file: AgentFile, reading: FileReading) -> None:
        """Remember which folder an agent's name for a project means: not every file says it."""
        folder = file.folder or reading.folder
        if file.slug and folder and self._fact(f"folder of {file.slug}") != folder:
            self._put_fact(f"folder of {file.slug}", folder)

    def _now(self) -> float | None:
        """Return the time of requests whose line has none: a kept index counts them as new."""
        if self.is_kept:
            return self._clock()
        return None

    def _project(self, file: AgentFile, reading: FileReading) -> str:
        """Return the project that a file's requests count for: that in which its session began."""
        earlier = indexed_file(self.database, file.path)
        if earlier is not None and earlier.project:
            return earlier.project
        has_slug = reading.position is not None and reading.position.format in NAMED_BY_FOLDER
        folder = file.folder or reading.folder
        if not folder and has_slug:
            folder = self._fact(f"folder of {file.slug}")
        if folder:
            return self.project_of(folder)
        if has_slug:
            return file.slug
        return ""

    def _count_in_memory(self, readings: list[tuple[AgentFile, FileReading]]) -> None:
        """Count requests that can't be written now; the next process reads them again."""
        for file, reading in readings:
            folder = file.folder or reading.folder
            project = file.slug
            if folder:
                project = self.project_of(folder)
            for report in reading.requests.values():
                request = report.owned_by(file.agent, project)
                earlier = self._row(request.key) or IndexedRequest(request.key)
                cost = max(0, request.counted_cost - earlier.counted_cost)
                fresh = max(0, request.fresh - earlier.fresh)
                self._unwritten.append((request, cost, fresh))

    def _row(self, key: str) -> IndexedRequest | None:
        with suppress(sqlite3.Error):
            row = self.database.execute(f"{SELECT} WHERE key = ?", (key,)).fetchone()
            if row is None:
                return None
            return IndexedRequest(*row)
        return None

    def forget_missing(self) -> None:
        """Forget how far files were read that their agents have deleted; requests stay."""
        with suppress(sqlite3.OperationalError), writing(self.database):
            forget_missing(self.database, list(indexed_files(self.database)))

    # What was spent

    def spent(self, scope: str, since: float | None = None) -> SpentSum:
        """Return what was spent in *scope* since a moment, or ever: the one sum for every limit."""
        try:
            sums = self._guarded(lambda: spent(self.database, scope, since))
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
        return self._guarded(lambda: list(usage_cells(self.database, by)))

    def requests(self, condition: str = "kind = 'request'", *values: Any) -> list[IndexedRequest]:
        """Return the requests for which the SQL *condition* is true, in the order of their keys."""
        query = f"{SELECT} WHERE {condition} ORDER BY key"
        return self._guarded(
            lambda: [IndexedRequest(*row) for row in self.database.execute(query, values)]
        )

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
        return self._guarded(
            lambda: [IndexedRequest(*row) for row in self.database.execute(query, (*values, count))]
        )

    def totals(self) -> dict[str, ClientTotal]:
        """Return the clients' own totals by session."""
        rows = self._rows("SELECT session, cost, tokens, until FROM totals")
        return {row[0]: ClientTotal(row[0], row[1], json.loads(row[2]), row[3]) for row in rows}

    def rests(self) -> list[SessionRest]:
        """Return what the clients' totals show beyond requests, by session and model."""
        return self._guarded(lambda: list(self._rests()))

    def _rests(self) -> Iterator[SessionRest]:
        for session, total in sorted(self.totals().items()):
            covered = covered_by_model(self.database, session, total.until)
            cost = covered_cost(self.database, session, total.until)
            uncovered = rest_of(total, covered, cost)
            if uncovered.is_positive:
                latest = latest_covered(self.database, session, total.until)
                by_model = rest_by_model(total, covered)
                tokens = list(uncovered.counts)
                yield SessionRest(session, tokens, uncovered.cost, latest, by_model)

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
        return self._guarded(lambda: indexed_files(self.database))

    def forked_sessions(self) -> set[str]:
        """Return the sessions that have requests of others: a fork begins with its parent's."""
        return {session for (session,) in self._rows("SELECT session FROM copies")}

    def _rows(self, query: str) -> list[tuple[Any, ...]]:
        return self._guarded(lambda: self.database.execute(query).fetchall())

    def _rows_of(self, query: str, session: str) -> list[tuple[Any, ...]]:
        return self._guarded(lambda: self.database.execute(query, (session,)).fetchall())

    # Keeping it right

    def forget(self, key: str) -> bool:
        """Drop the request *key* for good; return whether there was one."""
        with writing(self.database):
            row = self._row(key)
            if row is None or row.kind == FORGOTTEN:
                return False
            blank = IndexedRequest(
                row.key,
                FORGOTTEN,
                row.agent,
                row.project,
                row.session,
                row.sub_agent,
                row.model,
                time=row.time,
            )
            writer = IndexWriter(self.database)
            writer.rewrite(blank, row)
            writer.finish()
        return True

    def apply_prices(self) -> None:
        """Price all requests again if prices have changed since they were priced."""
        self._guarded(self._apply_prices)

    def _apply_prices(self) -> None:
        if self._fact("prices") == self._price_version:
            return
        with suppress(sqlite3.OperationalError), writing(self.database):
            IndexWriter(self.database).reprice(self.prices)
            rebuild_sums(self.database)
            self._put_fact("prices", self._price_version)

    def _fact(self, name: str) -> str:
        row = self.database.execute("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()
        if row is None:
            return ""
        return str(row[0])

    def _put_fact(self, name: str, value: str) -> None:
        self.database.execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", (name, value))

    @property
    def is_complete(self) -> bool:
        """Whether every file of the agents was read since the index was made."""
        return self._guarded(lambda: self._fact("complete")) == "yes"

    def mark_complete(self) -> None:
        """Note that every file of the agents was read."""
        if not self.is_complete:
            with suppress(sqlite3.OperationalError):
                self._put_fact("complete", "yes")

    def copy_daily(self) -> str:
        """Keep a copy of today; return its path if one was made."""
        if not self.is_kept:
            return ""
        return copy_daily(self.database, self.path, self._clock())

    def checkpoint(self) -> None:
        """Move the log into the file: a long one makes each hook slower."""
        with suppress(sqlite3.Error):
            self.database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
