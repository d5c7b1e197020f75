"""When did it happen? Clients write times as texts and as numbers of four units."""

from __future__ import annotations

from datetime import UTC, datetime

_LAST_TIME = 253_402_300_800
"""The first second after the year 9999."""
_LONGEST_TIME = 64
_TIME_UNITS = (1, 1_000, 1_000_000, 1_000_000_000)
"""Seconds, milli-, micro- and nanoseconds."""


def seconds(time: object) -> float | None:
    """Return *time* as seconds since 1970, or None if it isn't a time. Without a zone it is UTC.

    Numbers are seconds, or milli-, micro- or nanoseconds: whichever falls before the year 9999.

    >>> seconds("2026-11-15T06:39:07.416Z")
    1794724747.416
    >>> seconds(1794724747416)
    1794724747.416
    """
    if isinstance(time, str):
        return _seconds_in(time)
    if isinstance(time, bool) or not isinstance(time, int | float):
        return None
    for unit in _TIME_UNITS:
        if 0 <= time < _LAST_TIME * unit:
            return time / unit
    return None


def _seconds_in(words: str) -> float | None:
    if len(words) >= _LONGEST_TIME:
        return None
    try:
        time = datetime.fromisoformat(words.strip())
        if time.tzinfo is None:
            time = time.replace(tzinfo=UTC)
        return time.timestamp()
    except (ValueError, OverflowError):
        return None
