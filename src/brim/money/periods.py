"""When does a limit count from, and when does it start over?

Days, weeks from Monday and months are this machine's, as in ``brim usage``. Rolling hours are whole
quarters, rounded so that more counts. No period has an end: what lies in the future counts too.
"""

from __future__ import annotations

import time

DAY = "day"
WEEK = "week"
MONTH = "month"
SESSION = "session"
SUBAGENT = "subagent"
TOTAL = "total"
CALENDAR = (DAY, WEEK, MONTH)
LIVES = (SESSION, SUBAGENT, TOTAL)
"""Periods that never start over."""
HOUR = 3_600.0

_SAID = {
    DAY: " today",
    WEEK: " this week",
    MONTH: " this month",
    SESSION: " in this session",
    SUBAGENT: " by this sub-agent",
}


def begin_of(period: str, now: float) -> float | None:
    """Return when the *period* of *now* began; None if it counts everything."""
    if period in LIVES:
        return None
    if period not in CALENDAR:
        return now - hours_of(period) * HOUR
    at = time.localtime(now)
    if period == MONTH:
        return _midnight(at.tm_year, at.tm_mon, 1)
    if period == WEEK:
        return _midnight(at.tm_year, at.tm_mon, at.tm_mday - at.tm_wday)
    return _midnight(at.tm_year, at.tm_mon, at.tm_mday)


def end_of(period: str, now: float) -> float | None:
    """Return when the next *period* begins; None if none does, or hours roll."""
    if period not in CALENDAR:
        return None
    at = time.localtime(now)
    if period == MONTH:
        return _midnight(at.tm_year, at.tm_mon + 1, 1)
    if period == WEEK:
        return _midnight(at.tm_year, at.tm_mon, at.tm_mday - at.tm_wday + 7)
    return _midnight(at.tm_year, at.tm_mon, at.tm_mday + 1)


def _midnight(year: int, month: int, day: int) -> float:
    """Return the first moment of a day here; a *day* of 0 is the last of the month before."""
    return time.mktime((year, month, day, 0, 0, 0, 0, 1, -1))


def hours_of(period: str) -> int:
    """Return the hours of a rolling *period* such as ``5h``, or of a plan's window such as ``7d``.

    A ``ValueError`` if it's neither.
    """
    number = int(period[:-1])
    hours = {"h": number, "d": 24 * number}.get(period[-1:], 0)
    if not 0 < hours <= 24 * 366:
        raise ValueError(period)
    return hours


def when(period: str) -> str:
    """Return *period* in a sentence, with a space before it: `` today``; empty for all time."""
    if period in _SAID or period == TOTAL:
        return _SAID.get(period, "")
    return f" in {hours_of(period)} hours"
