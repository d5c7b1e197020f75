"""Reads the times that agents write: ISO 8601 texts, and numbers of seconds or smaller units since 1970."""

from __future__ import annotations

from brim._patterns import ASCII, pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    _Parts = Sequence[str | None]

_ISO = pattern(
    r"\s*(\d{4})-(\d\d)-(\d\d)"
    r"(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,12})\d*)?)?\s*(?:[Zz]|([+-])(\d\d):?(\d\d))?)?\s*",
    ASCII,
)
_DAYS_BEFORE = (0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365)
_LARGEST = 253_402_300_800
"""The first second after the year 9999."""


def seconds(time: object) -> float | None:
    """Return *time* as seconds since 1970, or None if it is no time. Without a zone it is UTC.

    Numbers are seconds, or milli-, micro- or nanoseconds: whichever falls before the year 9999.

    >>> seconds("2026-11-15T06:39:07.416Z")
    1794724747.416
    >>> seconds(1794724747416)
    1794724747.416
    """
    if isinstance(time, str):
        parts = _usual(time)
        if parts is None:
            found = _ISO.fullmatch(time) if len(time) < 64 else None
            parts = found.groups() if found else None
        return _from_parts(parts) if parts else None
    if isinstance(time, bool) or not isinstance(time, int | float):
        return None
    for unit in (1, 1_000, 1_000_000, 1_000_000_000):
        if 0 <= time < _LARGEST * unit:
            return time / unit
    return None


def _usual(time: str) -> _Parts | None:
    """Return the parts of *time* as ``_ISO`` finds them, if it is written as most clients do; else None."""
    rest = time[20:-1]
    signs = (time[4:5], time[7:8], time[10:11], time[13:14], time[16:17], time[-1:])
    numbers = (time[:4], time[5:7], time[8:10], time[11:13], time[14:16], time[17:19])
    ends_well = len(time) == 20 or (21 < len(time) < 32 and time[19] == ".")
    digits = "".join(numbers) + rest
    if signs != ("-", "-", "T", ":", ":", "Z") or not (ends_well and digits.isdecimal() and digits.isascii()):
        return None
    return (*numbers, rest or None, None, None, None)


def _from_parts(parts: _Parts) -> float | None:
    year, month, day, hour, minute, second, fraction, sign, zone_hours, zone_minutes = parts
    days = _days(int(year or 0), int(month or 0), int(day or 0))
    hours, minutes, full_seconds = int(hour or 0), int(minute or 0), int(second or 0)
    if days is None or hours > 24 or minutes > 59 or full_seconds > 60:
        return None
    ahead = int(zone_hours or 0) * 3600 + int(zone_minutes or 0) * 60
    whole = days * 86_400 + hours * 3600 + minutes * 60 + full_seconds + (ahead if sign == "-" else -ahead)
    return float(f"{whole}.{fraction}") if fraction and whole >= 0 else float(whole)


def _days(year: int, month: int, day: int) -> int | None:
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    if not 1 <= month <= 12 or year < 1:
        return None
    length = _DAYS_BEFORE[month] - _DAYS_BEFORE[month - 1] + (1 if leap and month == 2 else 0)
    if not 1 <= day <= length:
        return None
    before = year - 1
    leaps = before // 4 - before // 100 + before // 400
    return before * 365 + leaps + _DAYS_BEFORE[month - 1] + (1 if leap and month > 2 else 0) + day - 719_163
