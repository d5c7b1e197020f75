"""Progress bars on standard error, for work that takes more than a moment."""

from __future__ import annotations

import os
import sys

from brim.cli.output import is_terminal

SHOWN_FROM_BYTES = 30_000_000
"""Bytes of sessions to read from which on a terminal shows progress."""
SHOWN_FROM_FILES = 1_000
"""Files to read from which on it does, however small they are."""


class Progress:
    """A bar on standard error, if it is a terminal and there is more than a moment's work."""

    def __init__(self, size: int, *, shown_from: int, doing: str = "counting") -> None:
        self._size = size
        self._doing = doing
        self._position = 0
        self._percent = -1
        self._is_visible = size >= shown_from and is_terminal(sys.stderr)

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        self.clear()

    def advance(self, size: int) -> None:
        """Move the bar on by *size*."""
        self._position += size
        percent = 100
        if self._size:
            percent = min(100, 100 * self._position // self._size)
        if self._is_visible and percent != self._percent:
            self._percent = percent
            self._write(f"\r{self._doing} [{'#' * (percent * 3 // 10):-<30}] {percent:>3}%")

    def clear(self) -> None:
        """Remove the bar, to make room for a line; it comes back with the next step."""
        if self._is_visible:
            self._percent = -1
            self._write("\r\x1b[K")

    @staticmethod
    def _write(text: str) -> None:
        print(text, end="", file=sys.stderr, flush=True)


def file_progress(path: str) -> Progress:
    """Return a bar for reading the session's file *path*.

    Nothing is shown if its size isn't known.
    """
    try:
        size = os.path.getsize(path)
    except (OSError, ValueError):
        size = 0
    return Progress(size, shown_from=SHOWN_FROM_BYTES, doing="reading")


class ReadingProgress(Progress):
    """A bar that ``read_all`` moves.

    It appears when there is much to read, in bytes or in files.
    """

    def __init__(self) -> None:
        super().__init__(0, shown_from=1, doing="reading")

    def __call__(self, size: int, total: int, files: int) -> None:
        """Move the bar on by *size* of *total* bytes in *files*."""
        self._size = total
        is_long = total >= SHOWN_FROM_BYTES or files >= SHOWN_FROM_FILES
        self._is_visible = is_long and is_terminal(sys.stderr)
        self.advance(size)
