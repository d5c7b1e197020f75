"""What changes the index: reading what agents wrote, prices, and what a person drops.

``SessionIndex`` loads this when there is something to change: it brings along the readers of every
agent and the prices of every model, which a sum doesn't need.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import suppress

from brim.agents.readers import agent_formats
from brim.errors import InputError
from brim.sessions.entries import IndexWriter
from brim.sessions.files import (
    AgentFile,
    IndexedFile,
    ReadingBounds,
    UpdateResult,
    indexed_file,
    put_file,
)
from brim.sessions.index import PRICED, SessionIndex
from brim.sessions.reading import FileReading, read_file
from brim.sessions.repository import project_of
from brim.sessions.requests import FORGOTTEN, ClientTotal, IndexedRequest
from brim.sessions.rests import SessionRest, rest_by_model, rest_of
from brim.sessions.storage import writing
from brim.sessions.sums import covered_by_model, covered_cost, latest_covered, rebuild_sums

NAMED_BY_FOLDER = ("claude-transcript", "gemini-transcript")
"""Formats of the files whose folder's name says whose project they are."""

NewReadings = Sequence[tuple[AgentFile, FileReading]]


def agent_of(format: str) -> str:
    """Return the agent that writes files of *format*.

    >>> agent_of("openai-chat")
    'other'
    """
    formats = agent_formats()
    if format in formats:
        return formats[format].name
    return "other"


class IndexUpdates:
    """Changes *index*, each time in one transaction."""

    def __init__(self, index: SessionIndex) -> None:
        self._index = index
        self._projects: dict[str, str] = {}

    @property
    def _database(self) -> sqlite3.Connection:
        return self._index.database

    def read(self, files: Sequence[AgentFile], bounds: ReadingBounds) -> UpdateResult:
        """Read *files*, which have changed, and add what they report."""
        result = UpdateResult()
        readings: list[tuple[AgentFile, FileReading]] = []
        failed: list[str] = []
        for file in files:
            if bounds.are_reached(result.new_bytes):
                result.is_complete = False
                break
            try:
                reading = self._read(file, bounds)
            except InputError as error:
                failed.append(str(error))
                continue
            readings.append((file, reading))
            result.files += 1
            result.new_bytes += reading.size
            result.is_complete = result.is_complete and reading.is_complete
        result.failed = tuple(failed)
        if readings:
            result.is_written = self.add(readings)
        return result

    def _read(self, file: AgentFile, bounds: ReadingBounds) -> FileReading:
        return read_file(
            file.path,
            format=file.format,
            position=file.position,
            slug=file.slug,
            bounds=bounds,
            prices=self._index.prices,
        )

    def add(self, readings: NewReadings, *, needs_rows: bool = False) -> bool:
        """Add what was read; return whether it's written. If not, it counts in this process."""
        try:
            self._index.guarded(lambda: self._write(readings))
            return True
        except sqlite3.OperationalError as error:
            if "locked" not in str(error):
                self._index.report(f"{self._index.path}: {error}. What is counted now isn't kept.")
        if needs_rows:
            self._index.go_on_in_memory()
            self._write(readings)
        else:
            self._count_in_memory(readings)
        return False

    def add_total(self, total: ClientTotal) -> None:
        """Count *total*, which the client said beside the session's lines."""
        self._index.guarded(lambda: self._write_total(total))

    def _write_total(self, total: ClientTotal) -> None:
        with writing(self._database):
            writer = IndexWriter(self._database, now=self._index.now)
            writer.add_said_total(total)
            writer.finish()

    def _write(self, readings: NewReadings) -> None:
        with writing(self._database):
            writer = IndexWriter(self._database, now=self._index.now)
            for file, reading in readings:
                self._note_folder(file, reading)
            for file, reading in readings:
                if reading.position is None:
                    continue
                agent = file.agent or agent_of(reading.position.format)
                project = self._project(file, reading)
                writer.add(reading, agent, project)
                indexed = IndexedFile(file.path, agent, project, reading.position)
                put_file(self._database, indexed)
            writer.finish()

    def _note_folder(self, file: AgentFile, reading: FileReading) -> None:
        """Remember which folder an agent's name for a project means: not every file says it."""
        folder = file.folder or reading.folder
        name = f"folder of {file.slug}"
        if file.slug and folder and self._index.fact(name) != folder:
            self._index.put_fact(name, folder)

    def _project(self, file: AgentFile, reading: FileReading) -> str:
        """Return the project that a file's requests count for: that in which its session began."""
        earlier = indexed_file(self._database, file.path)
        if earlier is not None and earlier.project:
            return earlier.project
        slug = ""
        if reading.position is not None and reading.position.format in NAMED_BY_FOLDER:
            slug = file.slug
        folder = file.folder or reading.folder or self._index.fact(f"folder of {slug}")
        if folder:
            return self._project_of(folder)
        return slug

    def _project_of(self, folder: str) -> str:
        """Return the project that *folder* belongs to: its repository, else the folder."""
        if folder not in self._projects:
            self._projects[folder] = project_of(folder, self._index.home)
        return self._projects[folder]

    def _count_in_memory(self, readings: NewReadings) -> None:
        for file, reading in readings:
            project = file.slug
            folder = file.folder or reading.folder
            if folder:
                project = self._project_of(folder)
            for request in reading.requests.values():
                request.assign(file.agent, project)
                self._index.count_unwritten(request)

    def reprice(self, price_version: str) -> None:
        """Price all requests again, with the prices that *price_version* names."""
        self._index.guarded(lambda: self._reprice(price_version))

    def _reprice(self, price_version: str) -> None:
        with suppress(sqlite3.OperationalError), writing(self._database):
            IndexWriter(self._database).reprice(self._index.prices)
            rebuild_sums(self._database)
            self._index.put_fact(PRICED, price_version)

    def forget(self, key: str) -> bool:
        """Drop the request *key* for good; return whether there was one."""
        with writing(self._database):
            request = self._index.request(key)
            if request is None or request.kind == FORGOTTEN:
                return False
            blank = IndexedRequest(
                request.key,
                FORGOTTEN,
                request.agent,
                request.project,
                request.session,
                request.sub_agent,
                request.model,
                time=request.time,
            )
            writer = IndexWriter(self._database)
            writer.rewrite(blank, request)
            writer.finish()
        return True

    def rests(self) -> Iterator[SessionRest]:
        """Yield what the clients' totals show beyond requests, by session and model."""
        for session, total in sorted(self._index.totals().items()):
            covered = covered_by_model(self._database, session, total.until)
            cost = covered_cost(self._database, session, total.until)
            uncovered = rest_of(total, covered, cost)
            if uncovered.is_positive:
                latest = latest_covered(self._database, session, total.until)
                by_model = rest_by_model(total, covered)
                tokens = list(uncovered.counts)
                yield SessionRest(session, tokens, uncovered.cost, latest, by_model)
