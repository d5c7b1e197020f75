"""Brings the index up to date with many files.

What was read is written in the order of the files, so the index is the same however many processes
took part. An interruption loses only what wasn't written yet.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial

from brim.errors import InputError
from brim.models.price_list import Prices
from brim.sessions.files import AgentFile, Progress, UpdateResult
from brim.sessions.index import SessionIndex
from brim.sessions.processes import read_each
from brim.sessions.reading import FileReading, read_file

BATCH = 10_000
"""Requests that are written in one transaction: hooks wait for it, about 0.2 s."""
LARGE = 8_000_000
"""Bytes after which the index's log is moved into its file."""

Outcome = FileReading | InputError


def read_all(
    index: SessionIndex,
    files: Sequence[AgentFile],
    *,
    on_read: Progress = lambda *_: None,
    processes: int = 0,
) -> UpdateResult:
    """Bring *index* up to date with all of *files*.

    *processes* is how many to use; 0 is as many as there are processors and work for.
    """
    jobs = index.unread(files)
    sizes = [file.unread_bytes for file in jobs]
    size = sum(sizes)
    batch = _ReadingBatch(index, jobs)
    read = partial(_read, prices=index.prices)
    with _collection_paused():
        try:
            for place, outcome in read_each(jobs, read, sizes, processes=processes):
                batch.add(place, outcome)
                on_read(sizes[place], size, len(jobs))
        finally:
            batch.write()
    if size >= LARGE:
        index.checkpoint()
    return batch.result


@contextmanager
def _collection_paused() -> Iterator[None]:
    """Look for no cycles among values that stay: that would take a twentieth of the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


class _ReadingBatch:
    """Collects what was read, and writes it in the order of the files."""

    def __init__(self, index: SessionIndex, jobs: Sequence[AgentFile]) -> None:
        self.result = UpdateResult()
        self._index = index
        self._jobs = jobs
        self._waiting: dict[int, Outcome] = {}
        self._ready: list[tuple[AgentFile, FileReading]] = []
        self._ready_requests = 0
        self._next = 0

    def add(self, place: int, outcome: Outcome) -> None:
        """Add what came of the job at *place*."""
        self._waiting[place] = outcome
        while self._next in self._waiting:
            self._take(self._jobs[self._next], self._waiting.pop(self._next))
            self._next += 1
        if self._ready_requests >= BATCH:
            self.write()

    def _take(self, file: AgentFile, outcome: Outcome) -> None:
        if isinstance(outcome, FileReading):
            self._ready.append((file, outcome))
            self._ready_requests += len(outcome.requests)
            self.result.files += 1
            self.result.new_bytes += outcome.size
        elif os.path.lexists(file.path):  # one that vanished meanwhile isn't a problem
            self.result.failed = (*self.result.failed, str(outcome))

    def write(self) -> None:
        """Write what is ready."""
        if self._ready and not self._index.add(self._ready, needs_rows=True):
            self.result.is_written = False
        self._ready = []
        self._ready_requests = 0


def _read(file: AgentFile, prices: Prices) -> FileReading:
    return read_file(
        file.path, format=file.format, position=file.position, slug=file.slug, prices=prices
    )
