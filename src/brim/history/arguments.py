"""Refuses what a pruner cannot work with, by name."""

from __future__ import annotations

from brim.errors import InputError


def whole_number(name: str, value: object, least: int = 0, what: str = "a whole number") -> int:
    """Return *value* if it is a whole number of at least *least*; ``InputError`` says what *name* must be."""
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise InputError(f"{name} must be {what}, {least} or more, not {value!r}")
    return value
