"""How things look on a terminal: aligned tables, bars, numbers, and one JSON object for scripts."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Sequence


def say(text: str = "") -> None:
    """Print to standard output, in colour only on a terminal that wants it."""
    click.echo(text, color=True if _wants_colour() else None)


def note(text: str) -> None:
    """Print a line to standard error."""
    click.echo(f"brim: {text}", err=True)


def say_json(value: object) -> None:
    """Print one JSON object."""
    import json

    click.echo(json.dumps(value, indent=2, ensure_ascii=not _can_print("é─█")))


def paint(text: str, colour: str) -> str:
    """Return *text* in *colour* if the terminal wants colour."""
    return click.style(text, fg=colour) if _wants_colour() else text


def faint(text: str) -> str:
    """Return *text* less bright if the terminal wants colour."""
    return click.style(text, dim=True) if _wants_colour() else text


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
    widths = [max(map(_width, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = []
        for at, (cell, width) in enumerate(zip(row, widths, strict=True)):
            padding = " " * (width - _width(cell))
            cells.append(padding + cell if at in right else cell + padding)
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def terminal_width() -> int:
    """Return the columns to draw in: the terminal's, from 40 to 100."""
    import shutil

    return max(40, min(100, shutil.get_terminal_size((80, 24)).columns))


def _width(text: str) -> int:
    """Return how many columns *text* takes: colours none, East Asian characters two."""
    text = click.unstyle(text)
    if text.isascii():
        return len(text)
    import unicodedata

    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in text)
    return len(text) + wide - sum(unicodedata.combining(character) > 0 for character in text)


def _wants_colour() -> bool:
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def _can_print(text: str) -> bool:
    try:
        text.encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True
