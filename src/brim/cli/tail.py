"""The end of a file that grows, and the beginning of a pipe: what ``brim watch`` reads its lines from.

What is one JSON value over several lines, as ``opencode export`` and older Gemini clients write it, is read as a whole.
"""

from __future__ import annotations

import os

from brim.errors import InputError
from brim.tracking.readers.detect import AnyReader
from brim.tracking.readers.feed import LONGEST_LINE, Feed
from brim.tracking.readers.files import json_values, objects_in, open_session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from io import FileIO
    from typing import Any

    from brim.tracking.events import Event

BLOCK = 1 << 20
"""Bytes that are read at once."""

_LONGEST_BRACKET = 1024

_ONE_THREAD = ("codex-rollout", "gemini-transcript", "opencode")
"""Formats whose sub-agents have a file each: all of a file is one thread's."""


def ignore(_: int) -> None:
    """Take no notice of how much was read."""


class Counts:
    """How many lines a source has read, and how many of them it could not use."""

    def __init__(self, taken: Callable[[int], None] = ignore) -> None:
        self.reader = AnyReader()
        self.feeds: list[Feed] = []
        self.taken = taken
        """Told the size of each block that was read from a file."""

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
        """Lines that are no JSON object."""
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
        """Return the events of *objects* that are in no lines; they count as the lines of *feed*."""
        feed.lines += len(objects)
        return [event for one in objects for event in self.reader.events(one)]

    def forget(self) -> None:
        """Begin anew."""
        self.reader = AnyReader()
        self.feeds.clear()


class Tail:
    """The end of one file: what was added to it since it was last read.

    *agent* is the sub-agent whose file it is. If that is the one file that is *watched*, it is the main thread here.
    """

    def __init__(self, path: str, counts: Counts, agent: str = "", *, watched: bool = False) -> None:
        self.path = path
        self._agent, self._watched = agent, watched
        self._counts = counts
        self._feed = counts.feed()
        self._file: FileIO | None = None
        self.size = 0
        """Bytes that were read, those of a half line included."""
        self._stamp: tuple[int, int] | None = None
        """When the file was written and how long it was, if it is one value: written anew, it is read anew."""
        self._is_half = False

    def lines(self) -> Iterator[list[Event]]:
        """Give the events of each line that was added."""
        if self._file is None:
            try:
                self._file = open_session(self.path)
            except InputError:
                return  # it is gone, or not there yet: it may come back
        if not self._file.tell():
            yield from self._value(self._file)
        while data := self._file.read(BLOCK):
            self._counts.taken(len(data))
            self.size += len(data)
            for line in lines_of(data):
                self._counts.reader.agent = self._agent
                if events := self._feed.feed(line):
                    yield self._own(events)

    def rest(self) -> list[Event]:
        """Return the events of a last line that has no end."""
        self._counts.reader.agent = self._agent
        begun: list[Event] = []
        if self._is_half and self._file is not None:
            self._file.seek(0)
            begun = self._feed.feed(self._file.read(LONGEST_LINE))
        return self._own([*begun, *self._feed.finish()])

    def was_replaced(self) -> bool:
        """Whether another file has this name now, or this one is shorter than what was read of it, or a new value."""
        if self._file is None:
            return False
        try:
            there, here = os.stat(self.path), os.fstat(self._file.fileno())
            changed = self._stamp is not None and self._stamp != (there.st_mtime_ns, there.st_size)
            return changed or not os.path.samestat(there, here) or there.st_size < self._file.tell()
        except OSError:
            return False

    def _value(self, file: FileIO) -> Iterator[list[Event]]:
        """Give the events of a file that is one JSON value; then nothing of it is left to read as lines.

        One that is only half written gives nothing yet.
        """
        about = os.fstat(file.fileno())
        values = json_values(file)
        self._is_half = values is None and begins_a_value(file.read(_LONGEST_BRACKET))
        if values is None and not self._is_half:
            file.seek(0)
            return
        self._stamp = about.st_mtime_ns, about.st_size
        self.size = file.seek(0, os.SEEK_END)
        self._counts.taken(self.size)
        self._counts.reader.agent = self._agent
        yield self._own(self._counts.take(values or [], self._feed))

    def _own(self, events: list[Event]) -> list[Event]:
        if not self._watched or not (self._agent or self._counts.format in _ONE_THREAD):
            return events
        return [event.changed(agent="") if event.agent else event for event in events]

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
            self._file = None


class Opening:
    """The beginning of a pipe: held back as long as it may be one JSON value, which begins with a bracket alone."""

    def __init__(self) -> None:
        self._held: list[bytes] = []
        self._size = 0
        self._is_value: bool | None = None

    def pass_on(self, data: bytes) -> bytes:
        """Return what of *data*, and of all before it, is to be read as lines now."""
        if self._is_value is False:
            return data
        self._held.append(data)
        self._size += len(data)
        if self._is_value is None:
            begun = b"".join(self._held).lstrip()
            alone = begins_a_value(begun)
            if b"\n" not in begun and (alone or not begun):
                return b""
            self._is_value = alone
        if self._is_value and self._size <= LONGEST_LINE:
            return b""
        self._is_value = False
        return self._taken()

    def end(self) -> tuple[list[dict[str, Any]], bytes]:
        """Return the objects of the value, or what is to be read as lines after all."""
        held = self._taken()
        values = objects_in(held)
        return ([], held) if values is None else (values, b"")

    def _taken(self) -> bytes:
        held, self._held = b"".join(self._held), []
        return held


def begins_a_value(data: bytes) -> bool:
    """Return whether *data* begins with a line that is a bracket alone, as no line of a session is."""
    return data.lstrip(b"\xef\xbb\xbf \t\r\n").partition(b"\n")[0].strip() in (b"{", b"[")


def lines_of(data: bytes) -> list[bytes]:
    """Return *data* cut after each newline; bytes have other line ends that JSON lines do not know."""
    parts = data.split(b"\n")
    return [*(part + b"\n" for part in parts[:-1]), *([parts[-1]] if parts[-1] else [])]
