"""Where ``brim watch`` gets its lines from: a file that grows, with those of its sub-agents, or a pipe.

A source gives the events of one line at a time, and an empty list when it has nothing new: then the screen can follow
the size of its window. Half a line waits for its other half. A file that was cut or replaced is read anew.
"""

from __future__ import annotations

import os
import stat
import time

from brim.cli.tail import BLOCK, Counts, Opening, Tail, ignore, lines_of
from brim.errors import InputError
from brim.tracking.readers.files import open_session, subagent_files, subagent_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from brim.tracking.events import Event


class Tick:
    """What happened since the last one. ``again`` is whether the file is read anew: forget what was before.

    ``settled`` is whether this is the state now; while what a file holds already is read, it is not.
    """

    __slots__ = ("again", "events", "settled")

    def __init__(self, events: list[Event], *, settled: bool = True, again: bool = False) -> None:
        self.events, self.settled, self.again = events, settled, again


class Session:
    """The file of a session, and those of its sub-agents as they come."""

    def __init__(self, path: str, taken: Callable[[int], None] = ignore) -> None:
        self.path = path
        self.counts = Counts(taken)
        self._begin()

    def tails(self) -> list[Tail]:
        """Return every file of it that is there now, its own first."""
        for agent, path in subagent_files(self.path):
            if path not in self._agents:
                self._agents[path] = Tail(path, self.counts, agent)
        return [self._main, *self._agents.values()]

    def renew(self) -> bool:
        """Begin anew if its file was cut or replaced, and return whether it was."""
        if not any(tail.was_replaced() for tail in (self._main, *self._agents.values())):
            return False
        self.close()
        self.counts.forget()
        self._begin()
        return True

    def close(self) -> None:
        """Close the files."""
        for tail in (self._main, *self._agents.values()):
            tail.close()

    def _begin(self) -> None:
        self._main = Tail(self.path, self.counts, subagent_of(self.path), watched=True)
        self._agents: dict[str, Tail] = {}


def follow(
    path: str, *, interval: float, idle: float | None, once: bool, taken: Callable[[int], None] = ignore
) -> tuple[Counts, Iterator[Tick]]:
    """Return the lines of the file *path* and of its sub-agents, for as long as they grow.

    *once* ends it when all that is there has been read; *idle* when nothing was added for so many seconds. *taken* is
    told the size of each block that was read.
    """
    session = Session(path, taken)
    return session.counts, _follow(session, interval=interval, idle=idle, once=once)


def _follow(session: Session, *, interval: float, idle: float | None, once: bool) -> Iterator[Tick]:
    settled, last, size = False, time.monotonic(), 0
    while True:
        if session.renew():
            settled = False
            yield Tick([], settled=False, again=True)
        for tail in session.tails():
            for events in tail.lines():
                yield Tick(events, settled=settled)
        if (now := sum(tail.size for tail in session.tails())) != size:
            size, last = now, time.monotonic()
        if once:
            for tail in session.tails():
                yield Tick(tail.rest(), settled=False)
        yield Tick([])
        settled = True
        if once or (idle is not None and time.monotonic() - last >= idle):
            session.close()
            return
        time.sleep(interval if idle is None else min(interval, max(0.01, idle / 4)))


def listen(handle: int, *, interval: float, idle: float | None) -> tuple[Counts, Iterator[Tick]]:
    """Return the lines that come through the pipe *handle*, until it ends or nothing came for *idle* seconds."""
    counts = Counts()
    return counts, _listen(counts, handle, interval=interval, idle=idle)


def _listen(counts: Counts, handle: int, *, interval: float, idle: float | None) -> Iterator[Tick]:
    feed, opening, last = counts.feed(), Opening(), time.monotonic()
    while idle is None or time.monotonic() - last < idle:
        if not _is_ready(handle, interval if idle is None else min(interval, idle)):
            yield Tick([])
            continue
        try:
            data = os.read(handle, BLOCK)
        except OSError as error:
            raise InputError(f"the pipe cannot be read: {error.strerror or error}") from None
        if not data:
            break
        last = time.monotonic()
        for line in lines_of(opening.pass_on(data)):
            if events := feed.feed(line):
                yield Tick(events)
    values, rest = opening.end()
    yield Tick([*counts.take(values, feed), *feed.feed(rest), *feed.finish()])


def replay(path: str, *, speed: float) -> tuple[Counts, Iterator[Tick]]:
    """Return the lines of a finished file and of its sub-agents in the order of their times, *speed* each second."""
    session = Session(path)
    return session.counts, _replay(session, speed)


def _replay(session: Session, speed: float) -> Iterator[Tick]:
    import heapq

    timed = [_timed(tail, at) for at, tail in enumerate(session.tails())]
    for _, _, events in heapq.merge(*timed, key=lambda item: item[:2]):
        yield Tick(events)
        time.sleep(1 / speed)
    session.close()
    yield Tick([])


def _timed(tail: Tail, at: int) -> Iterator[tuple[float, int, list[Event]]]:
    """Give the events of each line with their time; a line that does not say it has that of the line before."""
    now = 0.0
    for events in tail.lines():
        now = max([now, *(event.time for event in events if event.time is not None)])
        yield now, at, events
    if events := tail.rest():
        yield now, at, events


def is_pipe(path: str) -> bool:
    """Return whether *path* is a pipe; raise if it is neither that nor a file that can be read."""
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        mode = 0
    if stat.S_ISFIFO(mode) or stat.S_ISCHR(mode) or stat.S_ISSOCK(mode):
        return True
    open_session(path).close()
    return False


def _is_ready(handle: int, seconds: float) -> bool:
    """Wait until there is something to read from *handle*, or it ended."""
    import select

    try:
        return bool(select.select([handle], [], [], seconds)[0])
    except (OSError, ValueError):  # no pipe that can be waited for: reading it waits as well
        return True
