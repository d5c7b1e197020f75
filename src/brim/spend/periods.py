"""Limits per period: how people write them, when a period begins and ends, and what is spent in it.

A request belongs to the period in which it was made. A limit keeps the start and end of its current
period in seconds since 1970, so only its end needs a calendar.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from brim.errors import InputError
from brim.figures import DOLLAR
from brim.record import PlainData
from brim.spend.limits import Limit
from brim.spend.money import (
    MOST,
    PERCENT,
    TOKENS,
    USD,
    in_unit,
    micro_dollars,
)
from brim.spend.plan_windows import PlanWindow, read_plan_windows

DAY, WEEK, MONTH, SESSION, SUBAGENT, TOTAL = "day", "week", "month", "session", "subagent", "total"
SPANS = (DAY, WEEK, MONTH, SESSION, TOTAL, SUBAGENT)
"""The periods of limits in dollars and tokens. Those in percent have the minutes of a plan's
window, as in ``300m``."""

EVERYWHERE = "*"
"""The scope of everything in a ledger; no other scope can have this name."""

_SAID = {
    DAY: " today",
    WEEK: " this week",
    MONTH: " this month",
    SESSION: " in this session",
    SUBAGENT: " by this sub-agent",
}
_WINDOWS = {"h": 60, "d": 1440, "m": 1}
_EXAMPLES = "5/day, 20/week, 100/month, 2/session, 2M tokens/day or 90%/5h"
_FACTORS = {"k": 10**3, "m": 10**6, "b": 10**9}
SECONDS_PER_DAY = 86_400.0


@dataclass(frozen=True)
class Ceiling(PlainData):
    """A limit as a person writes it: so much, of what, per period.

    >>> read_ceiling("5/day"), str(read_ceiling("2M tokens/week")), str(read_ceiling("90%/5h"))
    (Ceiling(amount=5000000, unit='usd', period='day'), '2M tokens/week', '90%/5h')
    """

    amount: int
    unit: str = USD
    period: str = TOTAL

    def __str__(self) -> str:
        per = "" if self.period in (TOTAL, SUBAGENT) else f"/{window_name(self.period)}"
        plain = f"{self.amount // DOLLAR}.{self.amount % DOLLAR:06}".rstrip("0").rstrip(".")
        return (plain if self.unit == USD else in_unit(self.amount, self.unit)) + per


def read_ceiling(text: str, *, subagent: bool = False) -> Ceiling:
    """Return the limit that *text* means.

    *subagent* makes it the limit of each sub-agent.
    """
    written = " ".join(text.split())
    much, slash, per = written.rpartition("/") if "/" in written else (written, "", "")
    try:
        amount, unit = _amount(much.strip())
        if not amount and any(digit in much for digit in "123456789"):  # too small to be counted
            raise ValueError(much)
        period = _window(per) if unit == PERCENT else per.strip().lower() or TOTAL
        if unit != PERCENT and slash and period not in SPANS[:4]:
            raise ValueError(period)
    except ValueError:
        raise InputError(f'"{text[:40]}" isn\'t a limit. Try {_EXAMPLES}.') from None
    if subagent and unit == PERCENT:
        raise InputError("a plan's window has no sub-agents: leave out --subagent")
    if subagent and slash:
        raise InputError(
            "a sub-agent's limit is for its whole life: try --subagent 2 or --subagent 200k tokens"
        )
    return Ceiling(amount, unit, SUBAGENT if subagent else period)


def _amount(text: str) -> tuple[int, str]:
    if text.endswith("%"):
        percent = int(text[:-1])
        if not 0 < percent <= 100:
            raise ValueError(text)
        return percent, PERCENT
    number, _, unit = text.partition(" ")
    if unit.lower() in ("token", "tokens"):
        factor = _FACTORS.get(number[-1:].lower(), 1)
        digits = number[: -1 if factor > 1 else None].replace(",", "").replace("_", "")
        amount = round(float(digits) * factor) if digits.replace(".", "", 1).isdecimal() else -1
        if not 0 <= amount <= MOST:
            raise ValueError(text)
        return amount, TOKENS
    try:
        return micro_dollars(text, up=False), USD
    except InputError:
        raise ValueError(text) from None


def _window(text: str) -> str:
    """Return the period of a plan's window: ``5h``, ``7d``, ``day`` or ``week``."""
    text = {DAY: "1d", WEEK: "7d"}.get(text.strip().lower(), text.strip().lower())
    minutes = int(text[:-1]) * _WINDOWS.get(text[-1:], 0)
    if not 0 < minutes <= 60 * 24 * 366:
        raise ValueError(text)
    return f"{minutes}m"


def window_name(period: str) -> str:
    """Return *period* as people write it: ``300m`` is ``5h``, ``10080m`` is ``week``."""
    if period in SPANS:
        return period
    minutes = int(period[:-1])
    if minutes == 7 * 1440:
        return WEEK
    return (
        f"{minutes // 1440}d"
        if minutes % 1440 == 0
        else f"{minutes // 60}h"
        if minutes % 60 == 0
        else period
    )


def said_when(period: str) -> str:
    """Return *period* in a sentence, with a space before it: `` today``; empty if there is none."""
    return _SAID.get(period, "")


# When a period begins and ends --------------------------------------------------------------------


def bounds(period: str, zone: str, now: float) -> tuple[float, float | None]:
    """Return when the period of *now* begins and ends in the time zone *zone*.

    The end is None for what has none. Weeks begin on Monday. A day may have 23 or 25 hours.
    """
    if period not in (DAY, WEEK, MONTH):
        return now, None

    # Arithmetic within one zone is by the clock on the wall; an hour that doesn't exist counts from
    # the change.
    first = datetime.fromtimestamp(now, ZoneInfo(zone)).replace(
        hour=0, minute=0, second=0, microsecond=0, fold=0
    )
    if period == WEEK:
        first -= timedelta(days=first.weekday())
    elif period == MONTH:
        first = first.replace(day=1)
    after = first + timedelta(days={DAY: 1, WEEK: 7}.get(period, 32))
    return first.timestamp(), (after.replace(day=1) if period == MONTH else after).timestamp()


def local_zone(environ: Mapping[str, str]) -> str:
    """Return the IANA name of this machine's time zone; ``UTC`` if it doesn't say."""

    names = [environ.get("TZ", "").removeprefix(":")]
    with suppress(OSError):
        names.append(os.path.realpath("/etc/localtime"))
    with suppress(OSError, ValueError), open("/etc/timezone", encoding="utf-8") as file:
        names.append(file.readline(100).strip())
    return next(
        (found for name in names if (found := name.rpartition("zoneinfo/")[2]) and is_zone(found)),
        "UTC",
    )


def is_zone(name: str) -> bool:
    """Whether *name* is a time zone that this machine knows."""

    try:
        return bool(ZoneInfo(name))
    except (LookupError, ValueError, OSError):
        return False


# Plans --------------------------------------------------------------------------------------------


FRESH = 3600.0
"""Seconds for which a reading of a plan's window can hold an agent."""


def plan_limits(
    allowance: Allowance, agent: str, home: str, environ: Mapping[str, str] | None, now: float
) -> list[Allowance]:
    """Return *allowance* with how much of its plan's window *agent* has used, if a fresh reading
    says so."""
    return [
        replace(allowance, spent=int(100 * each.used), starts=each.read_at, ends=each.resets_at)
        for each in plan_readings(allowance, home, environ if agent == "codex" else None, now)
        if each.agent == agent and abs(now - each.read_at) <= FRESH
    ]


def plan_readings(
    allowance: Allowance, home: str, environ: Mapping[str, str] | None, now: float
) -> list[PlanWindow]:
    """Return what is known of the plan's window that *allowance* limits: a reading per agent, while
    it holds.

    *home* is the user's brim folder. Codex's own files are read only with *environ*.
    """

    minutes = int(allowance.period[:-1])
    found = read_plan_windows(home, environ)
    return [
        each for each in found if each.minutes == minutes and not each.name and each.is_current(now)
    ]


# What is spent in a period ------------------------------------------------------------------------


@dataclass(frozen=True)
class Allowance(PlainData):
    """One limit of a scope, and what is spent of it in the period that is on.

    A limit per session or sub-agent is set on a project, or everywhere; each session below has one
    of its own.
    """

    scope: str
    period: str
    unit: str
    limit: Limit
    spent: int = 0
    reserved: int = 0
    zone: str = "UTC"
    starts: float = 0.0
    """When the period began, or when the limit was set in it. Requests before that don't count."""
    ends: float | None = None
    """When the next period begins; None is never."""

    @property
    def name(self) -> str:
        """The scope, as a person reads it."""
        return "all projects" if self.scope == EVERYWHERE else self.scope

    @property
    def key(self) -> tuple[str, str, str]:
        """What tells it from other limits."""
        return self.scope, self.period, self.unit

    @property
    def taken(self) -> int:
        """What is spent or reserved."""
        return self.spent + self.reserved

    @property
    def ceiling(self) -> Ceiling:
        """The limit in force, as a person would write it."""
        return Ceiling(self.limit.amount or 0, self.unit, self.period)

    @property
    def is_pattern(self) -> bool:
        """Whether it is the limit that each session or sub-agent below gets, and counts nothing
        itself."""
        depth = 0 if self.scope == EVERYWHERE else self.scope.count("/") + 1
        return depth < {SESSION: 2, SUBAGENT: 3}.get(self.period, 0)

    @property
    def when(self) -> str:
        """The period in a sentence, with a space before it: `` today``; empty if there is none."""
        if self.unit == PERCENT:
            return f" of the plan's {window_name(self.period)} window"
        return said_when(self.period)

    def is_over(self, now: float) -> bool:
        """Whether the period has ended, so that nothing is spent in the next one yet."""
        return self.ends is not None and now >= self.ends

    def seen(self, now: float) -> Allowance:
        """Return it as a look at *now* finds it: nothing is spent yet if the period has ended. No
        calendar is read."""
        if not self.is_over(now):
            return self
        return replace(self, limit=Limit(self.limit.given, self.limit.base), spent=0, reserved=0)

    def at(self, now: float) -> Allowance:
        """Return it in the period of *now*, which may be a later or, if the clock was set back, an
        earlier one.

        What was spent in a period that the clock has gone back from still counts. What the ledger
        recorded in the other period is for the caller to add.
        """
        if self.starts <= now and not self.is_over(now):
            return self
        starts, ends = self._bounds(now)
        if ends == self.ends:
            # Set back to before the limit was set: what is spent from now on counts.
            return replace(self, starts=now - SECONDS_PER_DAY)
        return replace(self.seen(now), starts=starts, ends=ends)

    def of(self, scope: str) -> Allowance:
        """Return this pattern as the limit of the session or sub-agent *scope*."""
        given = self.limit.amount
        return replace(self, scope=scope, limit=Limit(given), spent=0, reserved=0)

    def _bounds(self, now: float) -> tuple[float, float | None]:
        try:
            return bounds(self.period, self.zone, now)
        except (LookupError, ValueError, OSError, OverflowError):
            # A zone that this machine doesn't know.
            return bounds(self.period, "UTC", now)
