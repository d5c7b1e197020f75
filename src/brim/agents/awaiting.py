"""Waits a moment for the last answer of a turn to be in the transcript: what it cost, and how full the window is, stand
beside it.

In a terminal Claude Code says that a turn has ended 40 to 180 milliseconds before it writes down the turn's last
answer. Without that, everything about it would be told one event late.
"""

from __future__ import annotations

import os
import time

from brim import _json
from brim.agents.usage import tail_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from brim.agents.call import HookCall

LATE = 0.25
"""Seconds that are waited at most."""
LIVE = 900.0
"""A transcript that was not written to for so many seconds is nobody's who is about to write."""

_STEP = 0.01
_LONGEST = 80
_TAIL = 1 << 17


def await_answer(
    call: HookCall,
    *,
    now: float,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> bool:
    """Wait until the transcript has the answer that *call* tells of; return whether it has it now.

    Nothing is waited for if the client does not say what the answer was, or nobody writes to the transcript.
    """
    words = _last_words(call.data.get("last_assistant_message"))
    size = _size_of(call.transcript, now) if words else -1
    if size < 0:
        return False
    end = clock() + LATE
    while not _is_there(words, call.transcript):
        before = size
        while size == before:
            if clock() >= end:
                return False
            sleep(_STEP)
            size = _size_of(call.transcript, now)
    return True


def _last_words(answer: object) -> bytes:
    """Return the end of *answer* as a transcript has it: it writes a line per block, and letters as they are."""
    if not isinstance(answer, str):
        return b""
    line = answer.rstrip().rpartition("\n")[2].rpartition("\ufffd")[2]
    return _json.dumps(line[-_LONGEST:], ensure_ascii=False)[1:-1].encode("utf-8", "replace")


def _is_there(words: bytes, path: str) -> bool:
    """Whether an answer since the last prompt or result has *words*: the same may have been said before."""
    lines = tail_lines(path, most=_TAIL)
    next(lines, None)  # the half line at the end, mostly empty
    for line in lines:
        if b'"assistant"' in line and words in line:
            return True
        if b'"user"' in line:
            return False
    return False


def _size_of(path: str, now: float) -> int:
    """Return how many bytes the transcript has, -1 if there is none or nobody writes to it."""
    try:
        found = os.lstat(path)
    except (OSError, ValueError):
        return -1
    return found.st_size if abs(now - found.st_mtime) < LIVE else -1
