"""Reads the requests of a session's file, a block at a time."""

from __future__ import annotations

import os
from collections.abc import Callable

from brim.tokens.calibrate import CalibrationStore
from brim.tokens.engines import STAND_IN, encoding_counter
from brim.tracking.readers.stream import BLOCK, LONGEST_LINE, open_session, parsed_line, subagent_of
from brim.tracking.requests.claude import ClaudeRequests
from brim.tracking.requests.composition import Request, requests_of
from brim.tracking.requests.pieces import Count


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
    reader = ClaudeRequests(count, agent=subagent_of(name))
    held = b""
    with open_session(name) as file:
        while data := file.read(BLOCK):
            on_read(len(data))
            *lines, held = (held + data).split(b"\n")
            for line in lines:
                if isinstance(parsed := parsed_line(line), dict):
                    reader.take(parsed)
            if len(held) > LONGEST_LINE:
                held = b""
    if isinstance(parsed := parsed_line(held), dict):
        reader.take(parsed)
    return requests_of(reader.finish(), calibrations)
