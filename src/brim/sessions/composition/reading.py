"""Reads the requests of a session's file, a block at a time; a transcript that grew is read from
where it ended."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from io import FileIO
from typing import Any

from brim.agents.agent import subagent_of
from brim.agents.readers import format_of
from brim.agents.stream import open_session
from brim.sessions.composition.claude import ClaudeRequests
from brim.sessions.composition.composed_request import ComposedRequest, requests_of
from brim.sessions.composition.others import CodexRequests, GeminiRequests
from brim.sessions.composition.pieces import Count
from brim.sessions.composition.thread import RequestsReader, Thread
from brim.sessions.lines import EventsOfLine, SessionLine, SessionLines, check_before
from brim.tokens.calibrate import CalibrationStore
from brim.tokens.engines import STAND_IN, encoding_counter

READERS: dict[str, type[RequestsReader]] = {
    "claude-transcript": ClaudeRequests,
    "codex-rollout": CodexRequests,
    "gemini-transcript": GeminiRequests,
}
"""Who reads which format."""


@dataclass(frozen=True)
class Mark:
    """How far a transcript was read, and what is known by then: labels and counts, no text."""

    offset: int = 0
    check: int = 0
    """A sum of the first and the last bytes before ``offset``, to be compared when reading goes on
    there."""
    state: Mapping[str, Any] = field(default_factory=dict, repr=False)


def by_bytes(text: str) -> int:
    """Return about how many tokens *text* has, from its length alone."""
    return (len(text.encode("utf-8", "replace")) + 3) // 4


def read_requests(
    path: str | os.PathLike[str],
    *,
    calibrations: CalibrationStore | None = None,
    count: Count | None = None,
    on_read: Callable[[int], object] = int,
) -> list[ComposedRequest]:
    """Return the requests in the session's file *path*, in the order of their answers.

    Texts are counted with the stand-in vocabulary, or by *count*: ``by_bytes`` is faster, and
    enough to compare requests. *on_read* gets the size of each block that was read. What isn't a
    session raises an ``InputError``.
    """
    thread, _ = read_thread(path, count=count, on_read=on_read)
    return requests_of(thread, calibrations)


def read_thread(
    path: str | os.PathLike[str],
    *,
    mark: Mark | None = None,
    count: Count | None = None,
    on_read: Callable[[int], object] = int,
) -> tuple[Thread, Mark]:
    """Return what *path* holds, and a mark to go on from next time.

    With a *mark* of before only what is new is read, if the file is still the same one up to there.
    Files of Codex and Gemini CLI are read whole each time, and their mark is empty.
    """
    name = os.fspath(path)
    reading = ThreadReading(name, mark=mark, count=count)
    with SessionLines(name, start=reading.start) as lines:
        for line in lines.whole(on_read):
            reading.take(line, lines)
        reading.end_lines(lines.file, lines.offset)
        for line in lines.unfinished():
            reading.take(line, lines)
    return reading.finish(), reading.mark


class ThreadReading:
    """Takes the lines of the session's file *path*, whoever reads them."""

    def __init__(self, path: str, *, mark: Mark | None = None, count: Count | None = None) -> None:
        counter = count or encoding_counter(STAND_IN)
        assert counter is not None  # noqa: S101 - the table engine has the stand-in
        self._path = path
        self._count = counter
        self._reader: RequestsReader | None = None
        self.start = 0
        """The byte at which the lines begin that aren't known yet."""
        self.mark = Mark()
        """How far the file was read, once all its lines were taken."""
        if mark is not None:
            self._reader = _resumed(path, mark, ClaudeRequests(counter, agent=subagent_of(path)))
            if self._reader is not None:
                self.start = mark.offset

    def take(self, line: SessionLine, lines: EventsOfLine) -> None:
        """Take the next line, unless it's known."""
        if line.at < self.start:
            return
        if self._reader is None:
            self._reader = _reader_for(line.content, self._count, self._path)
        if self._reader is not None:
            self._reader.take_line(line, lines)

    def end_lines(self, file: FileIO, offset: int) -> None:
        """Note how far *file* was read: a line without an end is taken again the next time."""
        reader = self._reader
        if not isinstance(reader, ClaudeRequests) or not offset:
            return
        if reader.open_at is not None:
            offset = reader.open_at
        place = file.tell()
        self.mark = Mark(offset, check_before(file, offset), reader.to_row())
        file.seek(place)

    def finish(self) -> Thread:
        """Return what the lines held."""
        if self._reader is None:
            return Thread()
        return self._reader.finish()


def _reader_for(line: Mapping[str, Any], count: Count, path: str) -> RequestsReader | None:
    """Return the reader for the file *path*, by one of its lines; None if the line doesn't say."""
    reader_class = READERS.get(format_of(line) or "")
    if reader_class is None:
        return None
    return reader_class(count, agent=subagent_of(path))


def _resumed(path: str, mark: Mark, reader: ClaudeRequests) -> ClaudeRequests | None:
    """Return *reader* as it was at *mark*; None if the file isn't the one that was read then."""
    with open_session(path) as file:
        if not 0 < mark.offset <= os.fstat(file.fileno()).st_size:
            return None
        if check_before(file, mark.offset) != mark.check:
            return None
    with suppress(ValueError, TypeError, KeyError, IndexError, AttributeError):
        reader.restore(mark.state)
        return reader
    return None
