"""Reads the requests of a session's file, a block at a time."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
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

Reader = ClaudeRequests | CodexRequests | GeminiRequests
READERS: dict[str, type[Reader]] = {
    "claude-transcript": ClaudeRequests,
    "codex-rollout": CodexRequests,
    "gemini-transcript": GeminiRequests,
}
"""Who reads which format."""


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
    name = os.fspath(path)
    count = count or encoding_counter(STAND_IN)
    assert count is not None  # noqa: S101 - the table engine has the stand-in
    with open_session(name) as file:
        found = _read(file, count, subagent_of(name), on_read)
    return [] if found is None else requests_of(found, calibrations)


def _read(file: FileIO, count: Count, agent: str, on_read: Callable[[int], object]) -> Thread | None:
    """Return the thread in *file*; None if it's of a client that isn't known here."""
    reader: Reader | None = None
    for line in _objects(file, on_read):
        if reader is None and (kind := READERS.get(format_of(line) or "")):
            reader = kind(count, agent=agent)
        if reader is not None:
            reader.take(line)
    return None if reader is None else reader.finish()


def _objects(file: FileIO, on_read: Callable[[int], object]) -> Iterator[dict[str, Any]]:
    """Give the JSON objects of *file*: one a line, or those of the one value that it is."""
    values = json_values(file)
    if values is not None:
        yield from values
        return
    held, dropping = bytearray(), False
    while data := file.read(BLOCK):
        on_read(len(data))
        *lines, rest = data.split(b"\n")
        for line in lines:
            held += line
            if not dropping and isinstance(parsed := parsed_line(bytes(held)), dict):
                yield parsed
            held, dropping = bytearray(), False
        held += rest
        if dropping := dropping or len(held) > LONGEST_LINE:
            held = bytearray()
    if not dropping and isinstance(parsed := parsed_line(bytes(held)), dict):
        yield parsed
