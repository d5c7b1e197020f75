"""Follows a session while it goes on: a file that grows, with those of its sub-agents, or a pipe.

A source gives the events of one line at a time, and an empty list when it has nothing new: then the
screen can follow the size of its window. Half a line waits for its other half. A file that was cut
or replaced is read again. What is one JSON value over several lines, as ``opencode export`` and
older Gemini clients write it, is read as a whole.
"""

from __future__ import annotations

import os
import re
import select
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from io import FileIO
from pathlib import Path
from typing import Any, NamedTuple

from brim.agents.agent import subagent_files, subagent_of
from brim.agents.call import Event
from brim.agents.readers import AnyReader
from brim.agents.stream import BLOCK, LONGEST_LINE, Feed, json_values, objects_in, open_session
from brim.errors import InputError
from brim.sessions.lines import LineObserver, SessionLine

Reading = dict[str, Any]
"""One object of ``brim context --watch --json``; docs/context.md says what each key means."""
_LONGEST_BRACKET = 1024
_ONE_THREAD = ("codex-rollout", "gemini-transcript", "opencode")
"""Formats whose sub-agents have a file each: all of a file is one thread's."""


class Tick(NamedTuple):
    """What happened since the last one."""

    events: list[Event]
    settled: bool = True
    """Whether this is the state now; while what a file holds already is read, it is not."""
    again: bool = False
    """Whether the file is read from its beginning: forget what was before."""


def ignore(_: int) -> None:
    """Take no notice of how much was read."""


class Counts:
    """How many lines a source has read, and how many of them it could not use."""

    def __init__(self, taken: Callable[[int], object] = ignore) -> None:
        self.taken = taken
        """Gets the size of each block that was read from a file."""
        self.forget()

    def forget(self) -> None:
        """Begin again."""
        self.reader = AnyReader()
        self.feeds: list[Feed] = []

    def feed(self) -> Feed:
        """Return a new stream that counts here too; all of them share what was seen before."""
        feed = Feed(reader=self.reader)
        self.feeds.append(feed)
        return feed

    @property
    def lines(self) -> int:
        """Lines in all."""
        return sum(feed.lines for feed in self.feeds)

    @property
    def broken(self) -> int:
        """Lines that aren't JSON objects."""
        return sum(feed.broken for feed in self.feeds)

    @property
    def unknown(self) -> int:
        """Lines of no format that is known."""
        return self.reader.unknown

    @property
    def format(self) -> str:
        """The format, empty as long as no line has shown it."""
        return self.reader.format or ""

    def take(self, objects: list[dict[str, Any]], feed: Feed) -> list[Event]:
        """Return the events of *objects* that are in no lines; they count as the lines of
        *feed*."""
        feed.lines += len(objects)
        return [event for one in objects for event in self.reader.events(one)]

    def take_opening(self, opening: bytes, feed: Feed) -> list[Event]:
        """Return the events in the beginning of a pipe, which may be one JSON value."""
        values = objects_in(opening)
        if values is None:
            return feed.feed(opening)
        return self.take(values, feed)


def follow(
    path: str,
    *,
    interval: float,
    idle: float | None = None,
    once: bool = False,
    taken: Callable[[int], object] = ignore,
    observer: LineObserver | None = None,
) -> tuple[Counts, Iterator[Tick]]:
    """Return the lines of the file *path* and of its sub-agents, for as long as they grow.

    *once* ends it when all that is there has been read; *idle* when nothing was added for so many
    seconds. *taken* gets the size of each block that was read, *observer* the lines of the file
    itself.
    """
    session = _LiveSession(path, taken, observer)
    pause = _pause(interval, idle)

    def ticks() -> Iterator[Tick]:
        settled = False
        last = time.monotonic()
        size = 0
        while True:
            if session.renew():
                settled = False
                yield Tick([], settled=False, again=True)
            for tail in session.tails():
                for events in tail.lines():
                    yield Tick(events, settled=settled)
            if (now := sum(tail.size for tail in session.tails())) != size:
                size = now
                last = time.monotonic()
            if once:
                for tail in session.tails():
                    yield Tick(tail.unfinished_events(), settled=False)
            yield Tick([])
            settled = True
            if once or (idle is not None and time.monotonic() - last >= idle):
                session.close()
                return
            time.sleep(pause)

    return session.counts, ticks()


def _pause(interval: float, idle: float | None) -> float:
    """Return the seconds between two looks at a file that may rest for *idle* seconds."""
    if idle is None:
        return interval
    return min(interval, max(0.01, idle / 4))


def listen(handle: int, *, interval: float) -> tuple[Counts, Iterator[Tick]]:
    """Return the lines that come through the pipe *handle*, until it ends."""
    counts = Counts()

    def ticks() -> Iterator[Tick]:
        feed = counts.feed()
        opening: bytes | None = b""  # the beginning, as long as it may be one JSON value
        while True:
            if not _is_ready(handle, interval):
                yield Tick([])
                continue
            try:
                data = os.read(handle, BLOCK)
            except OSError as error:
                raise InputError(f"the pipe cannot be read: {error.strerror or error}") from None
            if not data:
                break
            if opening is not None:
                opening += data
                head = opening[:_LONGEST_BRACKET]
                if (_begins_a_value(head) or not head.strip()) and len(opening) <= LONGEST_LINE:
                    continue
                data = opening
                opening = None
            for line in _lines_of(data):
                if events := feed.feed(line):
                    yield Tick(events)
        begun = counts.take_opening(opening or b"", feed)
        yield Tick([*begun, *feed.finish()])

    return counts, ticks()


def is_pipe(path: str) -> bool:
    """Return whether *path* is a pipe; raise if it is neither that nor a file that can be read."""
    place = Path(path)
    if place.is_fifo() or place.is_char_device() or place.is_socket():
        return True
    open_session(path).close()
    return False


def _is_ready(handle: int, seconds: float) -> bool:
    """Wait until there is something to read from *handle*, or it ended."""
    with suppress(OSError, ValueError):
        return bool(select.select([handle], [], [], seconds)[0])
    return True  # not a pipe that can be waited for: reading it waits as well


class _LiveSession:
    """The file of a session, and those of its sub-agents as they come."""

    def __init__(
        self, path: str, taken: Callable[[int], object], observer: LineObserver | None
    ) -> None:
        self._path = path
        self._observer = observer
        self.counts = Counts(taken)
        self._tails: dict[str, _Tail] = {}

    def tails(self) -> list[_Tail]:
        """Return every file of it that is there now, its own first."""
        for agent, path in [(subagent_of(self._path), self._path), *subagent_files(self._path)]:
            if path not in self._tails:
                tail = _Tail(path, self.counts, agent)
                if path == self._path:
                    tail.watch(self._observer)
                self._tails[path] = tail
        return list(self._tails.values())

    def renew(self) -> bool:
        """Begin again if its file was cut or replaced, and return whether it was."""
        if not any(tail.was_replaced() for tail in self._tails.values()):
            return False
        self.close()
        self.counts.forget()
        self._tails = {}
        return True

    def close(self) -> None:
        """Close the files."""
        for tail in self._tails.values():
            tail.close()


class _Tail:
    """The end of one file: what was added to it since it was last read.

    *agent* is the sub-agent whose file it is.
    """

    def __init__(self, path: str, counts: Counts, agent: str = "") -> None:
        self._path = path
        self._agent = agent
        self._watched = False
        self._observer: LineObserver | None = None
        self._line_events: list[Event] = []
        self._counts = counts
        self._feed = counts.feed()
        self._file: FileIO | None = None
        self.size = 0
        """Bytes that were read, those of a half line included."""
        self._stamp: tuple[int, int] | None = None
        """When the file was written and how long it was, if it is one value: a new value is read
        again."""
        self._is_half_value = False
        """Whether the file is one JSON value of which the end isn't written yet."""

    def watch(self, observer: LineObserver | None) -> None:
        """Take the file as the main thread's, whoever's it is, and show *observer* its lines."""
        self._watched = True
        self._observer = observer

    def events(self, line: SessionLine) -> list[Event]:  # noqa: ARG002 - it's the last one
        """Return what happened in the line that *observer* takes."""
        return self._line_events

    def lines(self) -> Iterator[list[Event]]:
        """Give the events of each line that was added."""
        if self._file is None:
            try:
                self._file = open_session(self._path)
            except InputError:
                return  # it is gone, or not there yet: it may come back
        if not self._file.tell():
            yield from self._value(self._file)
        while data := self._file.read(BLOCK):
            self._counts.taken(len(data))
            self.size += len(data)
            for line in _lines_of(data):
                self._counts.reader.agent = self._agent
                if events := self._events(self._feed.objects(line)):
                    yield self._own(events)
        if self._observer is not None and not self._stamp:
            self._observer.end_lines(self._file, self._feed.offset)

    def _events(self, objects: list[tuple[dict[str, Any], int]]) -> list[Event]:
        """Return the events of *objects*, and show the observer each of them."""
        events: list[Event] = []
        for content, at in objects:
            self._line_events = self._counts.reader.events(content, at)
            if self._observer is not None:
                self._observer.take(SessionLine(content, at), self)
            events += self._line_events
        return events

    def unfinished_events(self) -> list[Event]:
        """Return the events of what isn't written to its end: a last line without a newline, or
        half of a JSON value. ``lines`` waits for the rest of it.
        """
        self._counts.reader.agent = self._agent  # one reader for all files of the session
        events: list[Event] = []
        if self._is_half_value and self._file is not None:
            # Read as lines, most of which are no objects: so they count as broken.
            self._file.seek(0)
            events += self._events(self._feed.objects(self._file.read(LONGEST_LINE)))
        events += self._events(self._feed.last_object())
        events += self._counts.reader.finish()
        return self._own(events)

    def was_replaced(self) -> bool:
        """Whether another file has this name now, or this one is shorter than what was read of it,
        or a new value."""
        if self._file is None:
            return False
        with suppress(OSError):
            there = os.stat(self._path)
            opened = os.fstat(self._file.fileno())
            changed = self._stamp is not None and self._stamp != (there.st_mtime_ns, there.st_size)
            return (
                changed or not os.path.samestat(there, opened) or there.st_size < self._file.tell()
            )
        return False

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
        self._file = None

    def _value(self, file: FileIO) -> Iterator[list[Event]]:
        """Give the events of a file that is one JSON value; then nothing of it is left to read as
        lines.

        One that is only half written gives nothing yet.
        """
        about = os.fstat(file.fileno())
        values = json_values(file)
        self._is_half_value = values is None and _begins_a_value(file.read(_LONGEST_BRACKET))
        file.seek(0)
        if values is None and not self._is_half_value:
            return
        self._stamp = about.st_mtime_ns, about.st_size
        self.size = file.seek(0, os.SEEK_END)
        self._counts.taken(self.size)
        self._counts.reader.agent = self._agent
        self._feed.lines += len(values or [])
        yield self._own(self._events([(value, 0) for value in values or []]))

    def _own(self, events: list[Event]) -> list[Event]:
        if not self._watched or not (self._agent or self._counts.format in _ONE_THREAD):
            return events
        return [replace(event, agent="") if event.agent else event for event in events]


def _begins_a_value(data: bytes) -> bool:
    """Return whether *data* begins with a line that is a bracket alone, as no line of a session
    does."""
    return data.lstrip(b"\xef\xbb\xbf \t\r\n").partition(b"\n")[0].strip() in (b"{", b"[")


def _lines_of(data: bytes) -> list[bytes]:
    """Return *data* cut after each newline.

    Bytes have other line ends that JSON lines don't know.
    """
    return re.findall(rb"[^\n]*\n|[^\n]+", data)
