"""Reads the requests of a session's file, a block at a time; a transcript that grew is read from
where it ended."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from brim.agents.agent import subagent_of
from brim.agents.readers import format_of
from brim.agents.stream import open_session
from brim.sessions.composition.claude import ClaudeRequests
from brim.sessions.composition.composed_request import ComposedRequest, requests_of
from brim.sessions.composition.others import CodexRequests, GeminiRequests
from brim.sessions.composition.pieces import Count
from brim.sessions.composition.thread import RequestsReader, Thread
from brim.sessions.lines import SessionLines, check_before
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
    marking: bool = False,
    count: Count | None = None,
    on_read: Callable[[int], object] = int,
) -> tuple[Thread, Mark]:
    """Return what *path* holds, and with *marking* a mark to go on from next time.

    With a *mark* of before only what is new is read, if the file is still the same one up to there.
    Files of Codex and Gemini CLI are read whole each time, and their mark is empty.
    """
    name = os.fspath(path)
    count = count or encoding_counter(STAND_IN)
    assert count is not None  # noqa: S101 - the table engine has the stand-in
    reader: RequestsReader | None = None
    if mark is not None:
        reader = _resumed(name, mark, ClaudeRequests(count, agent=subagent_of(name)))
    start = 0
    if mark is not None and reader is not None:
        start = mark.offset
    with SessionLines(name, start=start) as lines:
        for line in lines.whole(on_read):
            if reader is None:
                reader = _reader_for(line.content, count, name)
            if reader is not None:
                reader.take_line(line, lines)
        if reader is None:
            return Thread(), Mark()
        reached = Mark()
        if marking and isinstance(reader, ClaudeRequests) and lines.offset:
            offset = lines.offset
            if reader.open_at is not None:
                offset = reader.open_at
            reached = Mark(offset, check_before(lines.file, offset), reader.to_row())
        for line in lines.unfinished():
            reader.take_line(line, lines)
        return reader.finish(), reached


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
