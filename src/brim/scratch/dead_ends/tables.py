"""Reads the lists in ``data/``, each once."""

from __future__ import annotations

import os

from brim._patterns import IGNORE_CASE, MULTILINE, pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from re import Pattern

_lines: dict[str, list[str]] = {}
_patterns: dict[str, Pattern[str]] = {}


def lines(name: str) -> list[str]:
    """Return the lines of the list *name*, without comments and empty ones."""
    found = _lines.get(name)
    if found is None:
        with open(os.path.join(os.path.dirname(__file__), "data", name), encoding="utf-8") as file:
            found = [line.rstrip("\n") for line in file if line.strip() and not line.startswith("#")]
        _lines[name] = found
    return found


def rows(name: str) -> list[list[str]]:
    """Return the lines of the table *name*, cut at tabs."""
    return [line.split("\t") for line in lines(name)]


def any_of(name: str) -> Pattern[str]:
    """Return one pattern that finds any of the patterns in the list *name*. Case does not matter."""
    found = _patterns.get(name)
    if found is None:
        found = _patterns[name] = pattern("|".join([f"(?:{line})" for line in lines(name)]), IGNORE_CASE | MULTILINE)
    return found
