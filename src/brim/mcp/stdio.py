"""The server over standard input and output: every line that a client may write is read, and signals end it at once."""

from __future__ import annotations

import os
import re
import signal
import sys

from brim.errors import InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TextIO

_ESCAPE = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)", re.DOTALL
)


class Lines:
    """The lines of a client, as the SDK reads them: one that it cannot read is left without an answer, for ever."""

    def __init__(self, file: TextIO) -> None:
        self._file = file

    def readline(self) -> str:
        """Return the next line, empty at the end."""
        return with_whole_characters(self._file.readline())


def with_whole_characters(line: str) -> str:
    r"""Return JSON with a sign in place of each half of a character: a client that cuts a text may leave one.

    >>> print(with_whole_characters(r'["\ud83d\ude00", "\ud83d", "\\ud83d"]'))
    ["\ud83d\ude00", "\ufffd", "\\ud83d"]
    """
    if "\\ud" not in line and "\\uD" not in line:
        return line
    return _ESCAPE.sub(lambda found: "\\ufffd" if found[1] else found[0], line)


def standard_input() -> TextIO:
    """Return what a client writes. What this process starts finds standard input empty, and cannot take a line."""
    if sys.stdin is None or sys.stdout is None:
        raise InputError("standard input and output are closed, and a client talks to 'brim mcp' there; see --http")
    wire = os.dup(sys.stdin.fileno())
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    return open(wire, encoding="utf-8", errors="replace", closefd=False)


def end_at_signals() -> None:
    """Let a signal end the process: a thread that waits for a line would hold it otherwise."""

    def end(number: int, _: object) -> None:
        os._exit(128 + number)

    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, end)
