"""Reads many session files at once, in several processes if that is worth it."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from threading import active_count
from typing import BinaryIO

from brim.errors import InputError
from brim.sessions.scans import Scan, scan_file
from brim.sessions.session_files import SessionFile

ENOUGH = 8_000_000
"""Bytes that are worth starting a second process for."""
MOST_PROCESSES = 8


def scan_many(
    files: Sequence[SessionFile],
    read: Callable[[SessionFile], Scan] = scan_file,
    *,
    processes: int = 0,
) -> Iterator[tuple[int, Scan | InputError]]:
    """Yield the place of each of *files* and its scan, or why it can't be read, in the order in
    which they are done.

    *processes* is how many to use: 0 is as many as there are processors and work for. If one ends
    early, its files are read here.
    """
    left = set(range(len(files)))
    if not processes:
        worthwhile = sum(file.unread for file in files) >= ENOUGH and _can_fork()
        processes = min(len(files), MOST_PROCESSES, os.cpu_count() or 1) if worthwhile else 1
    several: Iterable[tuple[int, Scan | InputError]] = ()
    if processes > 1:
        several = _in_processes(files, read, processes)
    for place, scan in several:
        left.discard(place)
        yield place, scan
    for place in sorted(left):
        yield place, _scan_or_error(files[place], read)


def _can_fork() -> bool:
    """Whether a child may go on: of a process with threads, it may wait for a lock that no thread
    of its own holds."""

    return hasattr(os, "fork") and active_count() == 1


def _scan_or_error(file: SessionFile, read: Callable[[SessionFile], Scan]) -> Scan | InputError:
    try:
        return read(file)
    except InputError as error:
        return error


def _in_processes(
    files: Sequence[SessionFile], read: Callable[[SessionFile], Scan], count: int
) -> Iterator[tuple[int, Scan | InputError]]:
    """Yield what *count* children read.

    Each gets as many files as the others, of about the same sizes.
    """

    largest = sorted(range(len(files)), key=lambda place: -files[place].unread)
    children: list[int] = []
    pipes: list[BinaryIO] = []
    try:
        for at in range(count):
            receiving, sending = os.pipe()
            child = os.fork()
            if child == 0:
                try:
                    # If the parent is killed, sending must fail, not wait for a sibling that could
                    # still receive.
                    for descriptor in (receiving, *(pipe.fileno() for pipe in pipes)):
                        os.close(descriptor)
                    with open(sending, "wb") as answers:
                        for place in largest[at::count]:
                            pickle.dump((place, _scan_or_error(files[place], read)), answers)
                finally:
                    os._exit(0)
            os.close(sending)
            children.append(child)
            pipes.append(open(receiving, "rb"))  # noqa: SIM115 - closed below
        while pipes:
            for pipe in list(pipes):
                try:
                    yield pickle.load(pipe)  # noqa: S301 - of our own child
                except (EOFError, OSError, pickle.UnpicklingError):
                    pipe.close()
                    pipes.remove(pipe)
    finally:
        for pipe in pipes:
            pipe.close()
        for child in children:
            os.waitpid(child, 0)
