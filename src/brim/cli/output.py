"""How things look on a terminal: aligned tables, numbers, colours, progress, and one JSON object for scripts."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

_DIRECTIONS = frozenset("\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Marks that turn the direction of writing, and so can make a line read as another."""
_COLOURS = {"red": 31, "green": 32, "yellow": 33, "blue": 34, "magenta": 35, "cyan": 36, "faint": 2}


def prepare_output() -> None:
    """Make sure that no character can stop an answer: what the terminal cannot show is written as its code."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def outlive_readers() -> None:
    """Let somebody who stops reading be no reason to end, for commands that serve or chain others.

    The command line as a whole ends with its reader, as ``cat`` does.
    """
    try:
        from signal import SIG_IGN, SIGPIPE, signal
    except ImportError:  # Windows has no such signal
        return
    signal(SIGPIPE, SIG_IGN)


def say(text: str = "") -> None:
    """Print to standard output."""
    print(text)


def note(text: str) -> None:
    """Print a line to standard error that says who speaks."""
    tell(f"brim: {printable(text)}")


def tell(text: str) -> None:
    """Print to standard error, after what was said before; if that is closed, nowhere."""
    if sys.stdout is not None:
        sys.stdout.flush()
    if sys.stderr is not None:
        print(text, file=sys.stderr)


def printable(text: str) -> str:
    """Return *text* with what could steer a terminal made visible: it may come from a tool, or be a file's name."""
    if text.isprintable():
        return text
    return "".join(
        character.encode("unicode_escape").decode()
        if character < " " or "\x7f" <= character < "\xa0" or character in _DIRECTIONS
        else character
        for character in text
    )


def listed(rows: list[list[str]], most: int = 100) -> tuple[list[list[str]], str]:
    """Return the first of *rows*, and a line that says how many more there are; empty if there are none."""
    more = len(rows) - most
    return rows[:most], f"and {more:,} more: --json lists all" if more > 0 else ""


def say_json(value: object) -> None:
    """Print one JSON object."""
    import json

    say(json.dumps(value, indent=2, ensure_ascii=not _can_print("é─█")))


def paint(text: str, colour: str) -> str:
    """Return *text* in *colour*, or ``faint``, if standard output is a terminal that wants colour."""
    return f"\x1b[{_COLOURS[colour]}m{text}\x1b[0m" if _wants_colour() else text


def heading(lines: str) -> str:
    """Return a table with its first line faint."""
    first, _, rest = lines.partition("\n")
    return f"{paint(first, 'faint')}\n{rest}"


def share(part: int, whole: int) -> str:
    """Return *part* of *whole* in per cent; what is there but very little is not 0."""
    if whole <= 0:
        return ""
    percent = 100 * part / whole
    return "< 0.1 %" if 0 < percent < 0.05 else f"{percent:,.1f} %"


def symbols(nice: str, plain: str) -> str:
    """Return *nice* if standard output can print it, else *plain*."""
    return nice if _can_print(nice) else plain


def table(rows: Sequence[Sequence[str]], *, right: frozenset[int] = frozenset()) -> str:
    """Return *rows* in aligned columns, two spaces apart; the columns in *right* end at the same place."""
    rows = [[_clean(cell) for cell in row] for row in rows]
    widths = [max(map(width_of, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = []
        for at, (cell, width) in enumerate(zip(row, widths, strict=True)):
            padding = " " * (width - width_of(cell))
            cells.append(padding + cell if at in right else cell + padding)
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def width_of(text: str) -> int:
    """Return how many columns *text* takes: colours none, East Asian characters two, marks none."""
    if text.isascii() and "\x1b" not in text:
        return len(text)
    import re
    import unicodedata

    text = re.sub(r"\x1b\[\d*m", "", text)
    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in text)
    return len(text) + wide - sum(unicodedata.combining(character) > 0 for character in text)


def terminal_width() -> int:
    """Return the columns to draw in: the terminal's, from 40 to 100."""
    import shutil

    return max(40, min(100, shutil.get_terminal_size((80, 24)).columns))


class Progress:
    """A bar on standard error, if a person is looking and there is more than a moment's work."""

    def __init__(self, size: int, *, shown_from: int, doing: str = "counting") -> None:
        self._size = size
        self._doing = doing
        self._done = 0
        self._percent = -1
        self._shown = size >= shown_from and _is_terminal(sys.stderr)

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._shown:
            self._write("\r\x1b[K")

    def advance(self, size: int) -> None:
        """Go on by *size*."""
        self._done += size
        percent = min(100, 100 * self._done // self._size) if self._size else 100
        if self._shown and percent != self._percent:
            self._percent = percent
            self._write(f"\r{self._doing} [{'#' * (percent * 3 // 10):-<30}] {percent:>3} %")

    def clear(self) -> None:
        """Make room for a line; the bar comes back when it goes on."""
        if self._shown:
            self._percent = -1
            self._write("\r\x1b[K")

    @staticmethod
    def _write(text: str) -> None:
        sys.stderr.write(text)
        sys.stderr.flush()


def _clean(cell: str) -> str:
    """Return *cell* printable, in its colour if it is painted."""
    colour, ends, inner = cell.partition("m")
    if ends and cell.endswith("\x1b[0m") and colour[:2] == "\x1b[" and colour[2:].isdigit():
        return f"{colour}m{printable(inner[:-4])}\x1b[0m"
    return printable(cell)


def _wants_colour() -> bool:
    return _is_terminal(sys.stdout) and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def _is_terminal(stream: Any) -> bool:
    """Whether *stream* is a terminal; a stream that was closed before brim began is None."""
    return stream is not None and stream.isatty()


def _can_print(text: str) -> bool:
    try:
        text.encode(getattr(sys.stdout, "encoding", None) or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True
