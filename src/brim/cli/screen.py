"""A part of the terminal that is drawn again and again in the same place, in one write each time: nothing flickers."""

from __future__ import annotations

import os
import sys

from brim.cli.gauge import rows_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn

_HIDE, _SHOW = "\x1b[?25l", "\x1b[?25h"
_CLEAR_LINE, _CLEAR_BELOW, _CLEAR_ALL = "\x1b[K", "\x1b[J", "\x1b[H\x1b[2J"


class Screen:
    """Draws on standard output, from the line of the cursor downwards. Its end leaves the last drawing there."""

    def __init__(self) -> None:
        self._drawn: list[str] = []
        self._size = size()

    def __enter__(self) -> Screen:
        from signal import SIGTERM, signal

        signal(SIGTERM, _leave)
        self._write(_HIDE)
        return self

    def __exit__(self, *_: object) -> None:
        self._write(_SHOW)

    def draw(self, lines: Sequence[str]) -> None:
        """Put *lines* where the last drawing is; what does not fit into the height is left out."""
        now = size()
        lines = rows_of(lines, now.lines)
        if lines == self._drawn and now == self._size:
            return
        begin = f"\x1b[{len(self._drawn)}A\r" if self._drawn else "\r"
        if now != self._size:  # what was drawn may be wrapped now: nobody can tell where it begins
            begin = _CLEAR_ALL
        # Cleared before it is written: behind a full line, a terminal would take its last column away again.
        self._write(begin + "".join(f"{_CLEAR_LINE}{line}\n" for line in lines) + _CLEAR_BELOW)
        self._drawn, self._size = list(lines), now

    @staticmethod
    def _write(text: str) -> None:
        sys.stdout.write(text)
        sys.stdout.flush()


def size() -> os.terminal_size:
    """Return the terminal's columns and rows as they are now: a window can be resized, a variable cannot tell."""
    try:
        found = os.get_terminal_size(sys.stdout.fileno())
    except (OSError, ValueError):
        found = os.terminal_size((0, 0))
    import shutil

    return found if found.columns > 0 and found.lines > 0 else shutil.get_terminal_size((80, 24))


def _leave(signal: int, _: object) -> NoReturn:
    """End as the signal would, but not before the cursor is back."""
    raise SystemExit(128 + signal)
