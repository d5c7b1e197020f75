"""Reads the lines of a session's file: one way for all that is made of whole lines."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from io import FileIO
from types import TracebackType
from typing import Any, Protocol, Self

from brim.agents.agent import subagent_of
from brim.agents.call import Event
from brim.agents.readers import AnyReader
from brim.agents.stream import BLOCK, Feed, json_values, open_session

_CHECKED = 1_024


@dataclass(frozen=True, slots=True)
class SessionLine:
    """One line of a session's file, or one value of a file that is a list of them."""

    content: Mapping[str, Any]
    at: int = 0
    """The byte at which it begins."""


class EventsOfLine(Protocol):
    """Who reads a file, and knows what happened in each of its lines."""

    def events(self, line: SessionLine) -> list[Event]:
        """Return what happened in *line*, the last one that was read."""


class LineObserver(Protocol):
    """Takes the lines of a file that another part of brim reads, so it's read once."""

    def take(self, line: SessionLine, lines: EventsOfLine) -> None:
        """Take the next line."""

    def end_lines(self, file: FileIO, offset: int) -> None:
        """Note that all lines that have an end were read; the last one ends at *offset*."""


class SessionLines:
    """The lines of the file *path*, from byte *start* on.

    *format* is that of the file if it's known. What can't be opened or isn't text is an
    ``InputError``.
    """

    def __init__(self, path: str, *, format: str = "", start: int = 0) -> None:
        self._file = open_session(path)
        self._reader = AnyReader(format or None)
        self._reader.agent = subagent_of(path)
        self._feed = Feed(reader=self._reader, start=start)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        self._file.close()

    @property
    def file(self) -> FileIO:
        """The open file."""
        return self._file

    @property
    def format(self) -> str:
        """The format of the last line that had one; empty before the first."""
        return self._reader.format or ""

    @property
    def offset(self) -> int:
        """The byte after the last whole line."""
        return self._feed.offset

    def whole(self, on_read: Callable[[int], object] = int) -> Iterator[SessionLine]:
        """Yield the lines that have an end. *on_read* gets the size of each block that was read."""
        values = None
        if self._feed.offset == 0:
            values = json_values(self._file)
        if values is not None:
            for value in values:
                yield SessionLine(value)
            return
        self._file.seek(self._feed.offset)
        while data := self._file.read(BLOCK):
            on_read(len(data))
            for content, at in self._feed.objects(data):
                yield SessionLine(content, at)

    def unfinished(self) -> Iterator[SessionLine]:
        """Yield the last line if it has no end and is a whole object: it may be written on."""
        for content, at in self._feed.last_object():
            yield SessionLine(content, at)

    def events(self, line: SessionLine) -> list[Event]:
        """Return what happened in *line*; ask once for each line, in their order."""
        return self._reader.events(line.content, line.at)

    def last_events(self) -> list[Event]:
        """Return what the reader held back until the next line, now that none follows."""
        return self._reader.finish()


def check_before(file: FileIO, offset: int) -> int:
    """Return a sum of the first and the last bytes before *offset*."""
    size = min(_CHECKED, offset)
    check = 0
    for place in (0, offset - size):
        file.seek(place)
        check = zlib.crc32(file.read(size), check)
    return check
