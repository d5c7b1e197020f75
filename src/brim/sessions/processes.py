"""Reads many files at once: in several processes if there is enough to read.

Each process gets as many files as the others, of about the same sizes. If one ends early, its files
are read here.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Iterator, Sequence
from threading import active_count
from typing import BinaryIO, Generic, TypeVar

from brim.errors import InputError

WORTHWHILE = 160_000_000
"""Bytes that are worth starting a second process for, which takes 0.1 s of processor time."""
MOST_PROCESSES = 8

Job = TypeVar("Job")
Result = TypeVar("Result")
Answer = tuple[int, Result | InputError]
"""The place of a job, and what reading its file came to, or why it can't be read."""


def read_each(
    jobs: Sequence[Job],
    read: Callable[[Job], Result],
    sizes: Sequence[int],
    *,
    processes: int = 0,
) -> Iterator[Answer[Result]]:
    """Yield the answer to each of *jobs*, in the order in which they are done.

    *sizes* are the bytes to read for each. *processes* is how many to use; 0 is as many as there
    are processors and work for.
    """
    unread = set(range(len(jobs)))
    processes = processes or _worthwhile_processes(sizes)
    if processes > 1:
        work = _Work(jobs, read, sizes, processes)
        for place, answer in work.answers():
            unread.discard(place)
            yield place, answer
    for place in sorted(unread):
        yield place, _result_or_error(jobs[place], read)


def _worthwhile_processes(sizes: Sequence[int]) -> int:
    """Return how many processes files of these *sizes* are worth.

    A child of a process with threads may wait for a lock that no thread of its own holds.
    """
    if sum(sizes) < WORTHWHILE or not hasattr(os, "fork") or active_count() > 1:
        return 1
    return min(len(sizes), MOST_PROCESSES, os.cpu_count() or 1)


def _result_or_error(job: Job, read: Callable[[Job], Result]) -> Result | InputError:
    try:
        return read(job)
    except InputError as error:
        return error


class _Work(Generic[Job, Result]):
    """Jobs that are shared out among child processes."""

    def __init__(
        self, jobs: Sequence[Job], read: Callable[[Job], Result], sizes: Sequence[int], count: int
    ) -> None:
        self._jobs = jobs
        self._read = read
        self._count = count
        self._largest_first = sorted(range(len(jobs)), key=lambda place: -sizes[place])
        self._children: list[int] = []
        self._pipes: list[BinaryIO] = []

    def answers(self) -> Iterator[Answer[Result]]:
        """Yield what the children send, in turns, until all have ended."""
        try:
            for number in range(self._count):
                self._start(self._largest_first[number :: self._count])
            waiting = list(self._pipes)
            while waiting:
                for pipe in list(waiting):
                    try:
                        yield pickle.load(pipe)  # noqa: S301 - of our own child
                    except (EOFError, OSError, pickle.UnpicklingError):
                        waiting.remove(pipe)
        finally:
            for pipe in self._pipes:
                pipe.close()
            for child in self._children:
                os.waitpid(child, 0)

    def _start(self, places: Sequence[int]) -> None:
        """Start a child that does the jobs at *places*."""
        receiving, sending = os.pipe()
        child = os.fork()
        if child == 0:
            self._answer_in_child(places, receiving, sending)
        os.close(sending)
        self._children.append(child)
        self._pipes.append(open(receiving, "rb"))  # noqa: SIM115 - closed in answers

    def _answer_in_child(self, places: Sequence[int], receiving: int, sending: int) -> None:
        """Send the answers to the jobs at *places*, and end this process.

        If the parent is killed, sending must fail, not wait for a sibling that could still receive.
        """
        try:
            os.close(receiving)
            for pipe in self._pipes:
                os.close(pipe.fileno())
            with open(sending, "wb") as answers:
                for place in places:
                    answer = _result_or_error(self._jobs[place], self._read)
                    pickle.dump((place, answer), answers)
        finally:
            os._exit(0)
