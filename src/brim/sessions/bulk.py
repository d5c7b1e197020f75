"""Reads many files at once: in several processes if there is enough to read.

What was read is written in the order of the files, so the index is the same however many processes
took part. An interruption loses only what wasn't written yet.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Iterator, Sequence
from threading import active_count
from typing import BinaryIO

from brim.errors import InputError
from brim.models.price_list import Prices
from brim.sessions.files import AgentFile, Progress, UpdateResult
from brim.sessions.index import SessionIndex
from brim.sessions.reading import FileReading, read_file

WORTHWHILE = 8_000_000
"""Bytes that are worth starting a second process for."""
MOST_PROCESSES = 8
BATCH = 64
"""Files that are written in one transaction: hooks wait meanwhile."""

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
    size = sum(file.unread_bytes for file in jobs)
    batch = _ReadingBatch(index, jobs)
    try:
        for place, outcome in _outcomes(
            jobs, index.prices, processes or _processes_for(size, len(jobs))
        ):
            batch.add(place, outcome)
            on_read(jobs[place].unread_bytes, size, len(jobs))
    finally:
        batch.write()
    if size >= WORTHWHILE:
        index.checkpoint()
    return batch.result


class _ReadingBatch:
    """Collects what was read, and writes it in the order of the files."""

    def __init__(self, index: SessionIndex, jobs: Sequence[AgentFile]) -> None:
        self.result = UpdateResult()
        self._index = index
        self._jobs = jobs
        self._waiting: dict[int, Outcome] = {}
        self._ready: list[tuple[AgentFile, FileReading]] = []
        self._next = 0

    def add(self, place: int, outcome: Outcome) -> None:
        """Add what came of the job at *place*."""
        self._waiting[place] = outcome
        while self._next in self._waiting:
            self._take(self._jobs[self._next], self._waiting.pop(self._next))
            self._next += 1
        if len(self._ready) >= BATCH:
            self.write()

    def _take(self, file: AgentFile, outcome: Outcome) -> None:
        if isinstance(outcome, FileReading):
            self._ready.append((file, outcome))
            self.result.files += 1
            self.result.new_bytes += outcome.size
        elif os.path.lexists(file.path):  # one that vanished meanwhile isn't a problem
            self.result.failed = (*self.result.failed, str(outcome))

    def write(self) -> None:
        """Write what is ready."""
        if self._ready and not self._index.add(self._ready, needs_rows=True):
            self.result.is_written = False
        self._ready = []


def _processes_for(size: int, count: int) -> int:
    """Return how many processes *size* bytes in *count* files are worth.

    A child of a process with threads may wait for a lock that no thread of its own holds.
    """
    if size < WORTHWHILE or not hasattr(os, "fork") or active_count() > 1:
        return 1
    return min(count, MOST_PROCESSES, os.cpu_count() or 1)


def _outcomes(
    jobs: Sequence[AgentFile], prices: Prices, processes: int
) -> Iterator[tuple[int, Outcome]]:
    """Yield the place of each job and what was read; here, if a process ended early."""
    left = set(range(len(jobs)))
    if processes > 1:
        for place, outcome in _in_processes(jobs, prices, processes):
            left.discard(place)
            yield place, outcome
    for place in sorted(left):
        yield place, _outcome(jobs[place], prices)


def _outcome(file: AgentFile, prices: Prices) -> Outcome:
    try:
        return read_file(
            file.path,
            format=file.format,
            position=file.position,
            slug=file.slug,
            prices=prices,
        )
    except InputError as error:
        return error


def _in_processes(
    jobs: Sequence[AgentFile], prices: Prices, count: int
) -> Iterator[tuple[int, Outcome]]:
    """Yield what *count* children read. Each gets as many files as the others, of about the same
    sizes."""
    largest_first = sorted(range(len(jobs)), key=lambda place: -jobs[place].unread_bytes)
    children: list[int] = []
    pipes: list[BinaryIO] = []
    try:
        for number in range(count):
            receiving, sending = os.pipe()
            child = os.fork()
            if child == 0:
                places = largest_first[number::count]
                _read_in_child(jobs, prices, places, sending, [receiving, *pipes])
            os.close(sending)
            children.append(child)
            pipes.append(open(receiving, "rb"))  # noqa: SIM115 - closed below
        yield from _answers(pipes)
    finally:
        for pipe in pipes:
            pipe.close()
        for child in children:
            os.waitpid(child, 0)


def _read_in_child(
    jobs: Sequence[AgentFile],
    prices: Prices,
    places: Sequence[int],
    sending: int,
    inherited: Sequence[object],
) -> None:
    """Send what the jobs at *places* come to, and end this process.

    If the parent is killed, sending must fail, not wait for a sibling that could still receive.
    """
    try:
        for pipe in inherited:
            os.close(pipe if isinstance(pipe, int) else pipe.fileno())  # type: ignore[attr-defined]
        with open(sending, "wb") as answers:
            for place in places:
                pickle.dump((place, _outcome(jobs[place], prices)), answers)
    finally:
        os._exit(0)


def _answers(pipes: list[BinaryIO]) -> Iterator[tuple[int, Outcome]]:
    """Yield what the children send, in turns, until all have ended."""
    while pipes:
        for pipe in list(pipes):
            try:
                yield pickle.load(pipe)  # noqa: S301 - of our own child
            except (EOFError, OSError, pickle.UnpicklingError):
                pipe.close()
                pipes.remove(pipe)
