"""Limits per period in a ledger: when a period begins and ends, and what is spent in it.

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
from brim.money.amounts import PERCENT
from brim.money.budget import Limit
from brim.money.limits import SpendingLimit, amount_text, read_limit
from brim.money.periods import (
    CALENDAR,
    DAY,
    LIVES,
    MONTH,
    SESSION,
    SUBAGENT,
    TOTAL,
    WEEK,
    when,
)
from brim.money.scopes import EVERYWHERE, MAIN
from brim.record import PlainData

SPANS = (DAY, WEEK, MONTH, SESSION, TOTAL, SUBAGENT)
"""The periods of a ledger's limits, the shortest first."""
DEPTHS = {SESSION: 2, SUBAGENT: 3}
"""The number of segments of a session's scope, and of a sub-agent's."""
SECONDS_PER_DAY = 86_400.0


def ledger_limit(text: str, *, subagent: bool = False) -> SpendingLimit:
    """Return the limit that *text* means, if a ledger can have it."""
    return checked_limit(read_limit(text, subagent=subagent))


def checked_limit(limit: SpendingLimit) -> SpendingLimit:
    """Return *limit* if a ledger can have it, else raise an ``InputError``."""
    if limit.unit == PERCENT:
        raise InputError(
            "the window of a plan belongs to one person's agents: set it without --store"
        )
    if limit.period not in (*CALENDAR, *LIVES):
        raise InputError(
            f'"{limit.text}": rolling hours are for coding agents: set them without --store'
        )
    return limit


def bounds(period: str, zone: str, now: float) -> tuple[float, float | None]:
    """Return when the period of *now* begins and ends in the time zone *zone*.

    The end is None for what has none. Weeks begin on Monday. A day may have 23 or 25 hours.
    """
    if period not in CALENDAR:
        return now, None
    # Arithmetic within one zone is by the clock on the wall; an hour that doesn't exist counts from
    # the change.
    first = datetime.fromtimestamp(now, ZoneInfo(zone))
    first = first.replace(hour=0, minute=0, second=0, microsecond=0, fold=0)
    if period == WEEK:
        first -= timedelta(days=first.weekday())
        return first.timestamp(), (first + timedelta(days=7)).timestamp()
    if period == MONTH:
        first = first.replace(day=1)
        return first.timestamp(), (first + timedelta(days=32)).replace(day=1).timestamp()
    return first.timestamp(), (first + timedelta(days=1)).timestamp()


def local_zone(environ: Mapping[str, str]) -> str:
    """Return the IANA name of this machine's time zone; ``UTC`` if it doesn't say."""
    names = [environ.get("TZ", "").removeprefix(":")]
    with suppress(OSError):
        names.append(os.path.realpath("/etc/localtime"))
    with suppress(OSError, ValueError), open("/etc/timezone", encoding="utf-8") as file:
        names.append(file.readline(100).strip())
    for name in names:
        zone = name.rpartition("zoneinfo/")[2]
        if zone and is_zone(zone):
            return zone
    return "UTC"


def is_zone(name: str) -> bool:
    """Whether *name* is a time zone that this machine knows."""
    try:
        return bool(ZoneInfo(name))
    except (LookupError, ValueError, OSError):
        return False


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
        if self.scope == EVERYWHERE:
            return "all projects"
        return self.scope

    @property
    def key(self) -> tuple[str, str, str]:
        """What tells it from other limits."""
        return self.scope, self.period, self.unit

    @property
    def used(self) -> int:
        """What is spent or reserved."""
        return self.spent + self.reserved

    @property
    def text(self) -> str:
        """The limit in force, as a person would write it."""
        amount = amount_text(self.limit.amount or 0, self.unit)
        if self.period in (TOTAL, SUBAGENT):
            return amount
        return f"{amount}/{self.period}"

    @property
    def is_pattern(self) -> bool:
        """Whether it is the limit that each session or sub-agent below gets, and counts nothing
        itself."""
        return self.depth < DEPTHS.get(self.period, 0)

    @property
    def depth(self) -> int:
        """The number of segments of its scope."""
        if self.scope == EVERYWHERE:
            return 0
        return self.scope.count("/") + 1

    @property
    def when(self) -> str:
        """The period in a sentence, with a space before it: `` today``; empty if there is none."""
        return when(self.period)

    def is_pattern_of(self, scope: str) -> bool:
        """Whether *scope* is one of the sessions or sub-agents that this pattern limits."""
        if not self.is_pattern or scope.count("/") + 1 != DEPTHS.get(self.period):
            return False
        if self.scope != EVERYWHERE and not scope.startswith(f"{self.scope}/"):
            return False
        return self.period == SESSION or not scope.endswith(f"/{MAIN}")

    def is_over(self, now: float) -> bool:
        """Whether the period has ended, so that nothing is spent in the next one yet."""
        return self.ends is not None and now >= self.ends

    def _begun(self, now: float) -> Allowance:
        """Return it as a look at *now* finds it: nothing is spent yet if the period has ended. No
        calendar is read."""
        if not self.is_over(now):
            return self
        return replace(self, limit=Limit(self.limit.original, self.limit.base), spent=0, reserved=0)

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
        return replace(self._begun(now), starts=starts, ends=ends)

    def of(self, scope: str) -> Allowance:
        """Return this pattern as the limit of the session or sub-agent *scope*."""
        return replace(self, scope=scope, limit=Limit(self.limit.amount), spent=0, reserved=0)

    def _bounds(self, now: float) -> tuple[float, float | None]:
        try:
            return bounds(self.period, self.zone, now)
        except (LookupError, ValueError, OSError, OverflowError):
            # A zone that this machine doesn't know.
            return bounds(self.period, "UTC", now)
