"""Reads many files, with several processes if there is enough to read.

Each process scans its share and writes what it found into a pipe, file by file. Whatever becomes of one, its files are
read: those that it did not answer for are read here.
"""

from __future__ import annotations

import marshal
import os
from contextlib import suppress

from brim.errors import InputError
from brim.tracking.readers.scan import Scan, Stamp, scan
from brim.tracking.usage.gathered import FileUsage
from brim.tracking.usage.request import Request, Total

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any, NoReturn

ENOUGH = 8_000_000
"""Bytes from which on a second process is worth its start."""

MOST = 8
"""Processes at most: beyond, the disk is what everybody waits for."""

_PROGRESS = -1
"""The place of a message that only says how much was read."""


class Job:
    """A file to be scanned, with what ``scan`` takes, and the ``size`` that is still to be read."""

    __slots__ = ("check", "format", "path", "size", "slug", "start")

    def __init__(
        self, path: str, size: int, *, format: str = "", slug: str = "", start: int = 0, check: int = 0
    ) -> None:
        self.path, self.size = path, size
        self.format, self.slug, self.start, self.check = format, slug, start, check

    def scan(self, on_read: Callable[[int], object]) -> Scan | InputError:
        """Read the file; return what it has, or why it could not be read."""
        try:
            return scan(
                self.path,
                format=self.format,
                slug=self.slug,
                start=self.start,
                check=self.check,
                on_read=on_read,
            )
        except InputError as error:
            return error


def scan_many(
    jobs: Sequence[Job], *, processes: int = 0, on_read: Callable[[int], object] = int
) -> Iterator[tuple[int, Scan | InputError]]:
    """Yield the place of each of *jobs* and what was read, or why nothing could be, in the order in which they end.

    *processes* is how many to use: 0 is as many as there are processors and work for. *on_read* is told the bytes of
    each piece that was read.
    """
    count = processes or _worthwhile(jobs)
    left = set(range(len(jobs)))
    if count > 1:
        for place, packed in _in_processes(jobs, _shares(jobs, count)):
            if place == _PROGRESS:
                on_read(packed)
            else:
                left.discard(place)
                yield place, _unpacked(packed)
    for place in sorted(left):
        yield place, jobs[place].scan(on_read)


def _worthwhile(jobs: Sequence[Job]) -> int:
    if not hasattr(os, "fork") or len(jobs) < 2 or sum(job.size for job in jobs) < ENOUGH:
        return 1
    affinity = getattr(os, "sched_getaffinity", None)
    processors = len(affinity(0)) if affinity else os.cpu_count() or 1
    return min(processors, len(jobs), MOST)


def _shares(jobs: Sequence[Job], count: int) -> list[list[int]]:
    """Deal *jobs* out, the largest first, each to whoever has the least to read."""
    shares: list[list[int]] = [[] for _ in range(count)]
    sizes = [0] * count
    for place in sorted(range(len(jobs)), key=lambda place: -jobs[place].size):
        least = sizes.index(min(sizes))
        shares[least].append(place)
        sizes[least] += jobs[place].size
    return shares


def _in_processes(jobs: Sequence[Job], shares: list[list[int]]) -> Iterator[tuple[int, Any]]:
    import select

    buffers: dict[int, bytearray] = {}
    children: list[int] = []
    try:
        for share in shares:
            try:
                reading, writing = os.pipe()
                child = os.fork()
            except OSError:
                break  # no more processes: what is left is read here
            if child == 0:
                _work(jobs, share, writing, closed=[reading, *buffers])
            os.close(writing)
            children.append(child)
            buffers[reading] = bytearray()
        while buffers:
            for handle in select.select(list(buffers), [], [])[0]:
                block = os.read(handle, 1 << 20)
                if not block:
                    os.close(handle)
                    del buffers[handle]
                    continue
                buffers[handle] += block
                yield from _messages(buffers[handle])
    finally:
        for handle in buffers:
            os.close(handle)
        for child in children:
            with suppress(ChildProcessError):
                os.waitpid(child, 0)


def _work(jobs: Sequence[Job], share: list[int], writing: int, *, closed: list[int]) -> NoReturn:
    """Scan a share, in a process of its own. It leaves without a word: the other one reads what is missing.

    The ends that only the other one reads from are *closed* first, or this one would wait for ever if that is killed.
    """
    try:
        for handle in closed:
            os.close(handle)
        for place in share:
            _send(writing, place, _packed(jobs[place].scan(lambda size: _send(writing, _PROGRESS, size))))
    finally:
        os._exit(0)


def _send(writing: int, place: int, packed: Any) -> None:
    message = marshal.dumps((place, packed))
    left = memoryview(len(message).to_bytes(8, "little") + message)
    while left:
        left = left[os.write(writing, left) :]


def _messages(buffer: bytearray) -> Iterator[tuple[int, Any]]:
    """Yield the messages that are whole, and take them out of *buffer*."""
    at = 0
    while len(buffer) >= at + 8:
        end = at + 8 + int.from_bytes(buffer[at : at + 8], "little")
        if len(buffer) < end:
            break
        yield marshal.loads(bytes(buffer[at + 8 : end]))  # noqa: S302 # our own child wrote it
        at = end
    del buffer[:at]


def _packed(found: Scan | InputError) -> Any:
    if isinstance(found, InputError):
        return str(found)
    usage = found.usage
    return (
        [each.fields() for each in usage.requests.values()],
        [each.fields() for each in usage.totals.values()],
        usage.folder,
        usage.broken,
        found.stamp.fields(),
        {"offset": found.offset, "check": found.check, "format": found.format, "resumed": found.resumed},
    )


def _unpacked(packed: Any) -> Scan | InputError:
    if isinstance(packed, str):
        return InputError(packed)
    requests, totals, folder, broken, stamp, rest = packed
    usage = FileUsage([Request(*each) for each in requests], [Total(*each) for each in totals], folder, broken)
    return Scan(usage, Stamp(*stamp), **rest)
