"""Reads the requests of a session's file, a block at a time; a transcript that grew is read from where it ended."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from io import FileIO
from typing import Any

from brim.tokens.calibrate import CalibrationStore
from brim.tokens.engines import STAND_IN, encoding_counter
from brim.tracking.readers import format_of
from brim.tracking.readers.stream import BLOCK, LONGEST_LINE, json_values, open_session, parsed_line, subagent_of
from brim.tracking.requests.claude import ClaudeRequests
from brim.tracking.requests.composition import Request, requests_of
from brim.tracking.requests.others import CodexRequests, GeminiRequests
from brim.tracking.requests.pieces import Count
from brim.tracking.requests.thread import Thread
from brim.tracking.sessions import check_before

Reader = ClaudeRequests | CodexRequests | GeminiRequests
READERS: dict[str, type[Reader]] = {
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
    """A sum of the first and the last bytes before ``offset``, to be compared when reading goes on there."""
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
) -> list[Request]:
    """Return the requests in the session's file *path*, in the order of their answers.

    Texts are counted with the stand-in vocabulary, or by *count*: ``by_bytes`` is faster, and enough to compare
    requests. *on_read* gets the size of each block that was read. What isn't a session raises an ``InputError``.
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

    With a *mark* of before only what is new is read, if the file is still the same one up to there. Files of Codex and
    Gemini CLI are read whole each time, and their mark is empty.
    """
    name = os.fspath(path)
    count = count or encoding_counter(STAND_IN)
    assert count is not None  # noqa: S101 - the table engine has the stand-in
    with open_session(name) as file:
        reader: Reader | None = None
        if mark is not None and 0 < mark.offset <= os.fstat(file.fileno()).st_size:
            reader = _resumed(file, mark, ClaudeRequests(count, agent=subagent_of(name)))
        lines = _Lines(file, mark.offset if reader and mark else 0, on_read)
        for line in lines:
            if reader is None and (kind := READERS.get(format_of(line) or "")):
                reader = kind(count, agent=subagent_of(name))
            if reader is not None:
                reader.take(line, lines.at)
        if reader is None:
            return Thread(), Mark()
        reached = Mark()
        if marking and isinstance(reader, ClaudeRequests) and lines.offset:
            offset = lines.offset if reader.open_at is None else reader.open_at
            reached = Mark(offset, check_before(file, offset), reader.to_row())
        if lines.rest is not None:  # a last line without an end may be written on: it's in no mark
            reader.take(lines.rest, lines.offset)
        return reader.finish(), reached


def _resumed(file: FileIO, mark: Mark, reader: ClaudeRequests) -> ClaudeRequests | None:
    """Return *reader* as it was at *mark*; None if the file isn't the one that was read then."""
    if check_before(file, mark.offset) != mark.check:
        return None
    with suppress(ValueError, TypeError, KeyError, IndexError, AttributeError):
        reader.restore(mark.state)
        return reader
    return None


class _Lines:
    """The JSON objects of a file from *offset* on: one a line, or those of the one value that it is."""

    def __init__(self, file: FileIO, offset: int, on_read: Callable[[int], object]) -> None:
        self._file, self._on_read = file, on_read
        self.offset = offset
        """The byte after the last whole line; 0 if the file has none."""
        self.at = offset
        """The byte at which the last object begins."""
        self.rest: dict[str, Any] | None = None
        """The object in a last line that has no end."""

    def __iter__(self) -> Iterator[dict[str, Any]]:
        values = json_values(self._file) if not self.offset else None
        if values is not None:
            yield from values
            return
        self._file.seek(self.offset)
        held: list[bytes] = []
        size = 0
        while data := self._file.read(BLOCK):
            self._on_read(len(data))
            *ends, rest = data.split(b"\n")
            for end in ends:
                line = b"".join([*held, end])
                self.at, self.offset = self.offset, self.offset + size + len(end) + 1
                held, size = [], 0
                if isinstance(parsed := parsed_line(line), dict):
                    yield parsed
            size += len(rest)
            held = [*held, rest] if size <= LONGEST_LINE else []
        self.rest = parsed if isinstance(parsed := parsed_line(b"".join(held)), dict) else None
