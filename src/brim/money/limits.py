"""One limit: how a person writes it, what it allows now, and what is kept for the wrap-up.

A limit is a text in a settings file, such as ``5/day``. It has no state: it's reached when the sum
says so, and a new day, a raise or an edit lets go of it.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace

from brim.errors import InputError
from brim.money.amounts import CENT, PERCENT, TOKENS, USD
from brim.money.periods import (
    CALENDAR,
    DAY,
    LIVES,
    SESSION,
    SUBAGENT,
    TOTAL,
    WEEK,
    begin_of,
    end_of,
    hours_of,
)
from brim.record import PlainData
from brim.sessions.requests import (
    EVERYTHING,
    project_scope,
    session_scope,
    sub_agent_scope,
)
from brim.usd import MOST, micro_dollars

WARN_SHARE = 0.8
"""The share of a limit that is worth a warning."""
KEPT_PARTS = 20
MOST_KEPT = 500_000
"""A twentieth of a limit is kept for the wrap-up, at most 50 cents."""
EXAMPLES = "5/day, 20/week, 100/month, 2/session, 5/3h, 2M tokens/day or 90%/5h"
FACTORS = {"k": 10**3, "m": 10**6, "b": 10**9}
WINDOWS = {DAY: "1d", WEEK: "7d"}


@dataclass(frozen=True)
class Spender:
    """Who spends: a project's session, and perhaps a sub-agent in it."""

    project: str
    session: str = ""
    sub_agent: str = ""


@dataclass(frozen=True)
class SpendingLimit(PlainData):
    """A limit of *project*, or of everything on this machine (``*``).

    ``amount`` is in micro-dollars, tokens or percent. A total counts ``since`` a moment.
    ``raised_to`` is in force until ``raised_until``.
    """

    amount: int
    unit: str = USD
    period: str = TOTAL
    project: str = EVERYTHING
    since: float | None = None
    raised_to: int | None = None
    raised_until: float | None = None

    @property
    def kind(self) -> tuple[str, str, str]:
        """What tells it from other limits: another of the same kind replaces it."""
        return self.project, self.period, self.unit

    @property
    def project_name(self) -> str:
        """Whose limit it is, in a word or two."""
        if self.project == EVERYTHING:
            return "all projects"
        return os.path.basename(self.project) or self.project

    @property
    def text(self) -> str:
        """The limit as a person writes it.

        >>> SpendingLimit(5_000_000, period="day").text
        '5/day'
        """
        per = "" if self.period == TOTAL else f"/{self.period}"
        return f"{amount_text(self.amount, self.unit)}{per}"

    def amount_at(self, now: float) -> int:
        """Return what is allowed now: more until the end of a period in which it was raised."""
        if self.raised_to is None or self.raised_until is None or now >= self.raised_until:
            return self.amount
        return max(self.amount, self.raised_to)

    def set_aside_at(self, now: float) -> int:
        """Return the part that is kept for the wrap-up."""
        if self.unit == PERCENT:
            return 0
        set_aside = self.amount_at(now) // KEPT_PARTS
        if self.unit == USD:
            return min(set_aside, MOST_KEPT)
        return set_aside

    def begins_at(self, now: float) -> float | None:
        """Return from when on it counts; None is from the first request."""
        if self.period == TOTAL:
            return self.since
        return begin_of(self.period, now)

    def resets_at(self, now: float) -> float | None:
        """Return when it starts over; None is never, or bit by bit."""
        return end_of(self.period, now)

    def applies_to(self, spender: Spender) -> bool:
        """Whether it limits what *spender* spends."""
        if self.project not in (EVERYTHING, spender.project):
            return False
        if self.period == SUBAGENT:
            return bool(spender.sub_agent)
        return self.period != SESSION or bool(spender.session)

    def scope_of(self, spender: Spender) -> str:
        """Return the scope in the index whose sum counts for *spender*."""
        if self.period == SUBAGENT:
            return sub_agent_scope(spender.session, spender.sub_agent)
        if self.period == SESSION:
            return session_scope(spender.session)
        if self.project == EVERYTHING:
            return EVERYTHING
        return project_scope(self.project)

    def raised_by(self, percent: int, spent: int, now: float) -> SpendingLimit:
        """Return it with *percent* more until its period ends: above the limit, or above what is
        spent if that is higher."""
        if self.unit == PERCENT:
            raise InputError("a plan's window can't be raised for once: remove its limit instead")
        if self.amount == 0:
            raise InputError("a tenth more than nothing is nothing: set a limit, such as 5/day")
        addition = -(-self.amount * percent // 100)
        until = end_of(self.period, now)
        if until is None:
            until = FOREVER
        step = CENT if self.unit == USD else THOUSAND
        raised = min(MOST, max(self.amount_at(now), spent) + addition)
        if self.amount % step == 0:
            raised = -(-raised // step) * step
        return replace(self, raised_to=raised, raised_until=until)


THOUSAND = 1_000
"""Tokens that a limit of whole thousands is raised to a multiple of."""
FOREVER = 253_402_300_799.0
"""The last second of the year 9999: when limits are raised until that have no period."""


def amount_text(amount: int, unit: str) -> str:
    """Return *amount* as ``read_limit`` reads it.

    >>> amount_text(2_500_000, "usd"), amount_text(2_000_000, "tokens"), amount_text(90, "percent")
    ('2.5', '2M tokens', '90%')
    """
    if unit == PERCENT:
        return f"{amount}%"
    if unit == USD:
        whole, part = divmod(amount, 1_000_000)
        return f"{whole}.{part:06}".rstrip("0").rstrip(".")
    for sign, factor in (("M", 10**6), ("k", 10**3)):
        if amount and amount % factor == 0:
            return f"{amount // factor}{sign} tokens"
    return f"{amount} tokens"


def read_limit(text: str, *, subagent: bool = False, project: str = EVERYTHING) -> SpendingLimit:
    """Return the limit that *text* means, of *project*; *subagent* makes it each sub-agent's.

    >>> read_limit("5/day").amount, read_limit("200k tokens", subagent=True).period
    (5000000, 'subagent')
    """
    written = " ".join(text.split())
    number, slash, per = written.partition("/")
    try:
        amount, unit = _amount(number.strip())
        period = TOTAL
        if slash:
            period = _period(per.strip().lower(), unit)
    except ValueError:
        raise InputError(f'"{text[:40]}" isn\'t a limit. Try {EXAMPLES}.') from None
    if unit == PERCENT and (subagent or period == TOTAL):
        raise InputError(f'"{text[:40]}" needs a plan\'s window, such as 90%/5h or 90%/week.')
    if not subagent:
        return SpendingLimit(amount, unit, period, project)
    if period not in (TOTAL, SUBAGENT):
        raise InputError(
            "A sub-agent's limit is for its whole life: try --subagent 2 or --subagent 200k tokens"
        )
    return SpendingLimit(amount, unit, SUBAGENT, project)


def _period(text: str, unit: str) -> str:
    """Return the period of *text*; a ``ValueError`` if there is none."""
    if unit == PERCENT:
        window = WINDOWS.get(text, text)
        hours_of(window)
        return window
    if text in CALENDAR or text in LIVES:
        return text
    if not text.endswith("h"):
        raise ValueError(text)
    return f"{hours_of(text)}h"


def _amount(text: str) -> tuple[int, str]:
    """Return amount and unit of *text*; a ``ValueError`` if it isn't an amount."""
    if text.endswith("%"):
        return _percent(text.removesuffix("%")), PERCENT
    number, _, unit = text.partition(" ")
    if unit.lower() in ("token", "tokens"):
        return _tokens(number), TOKENS
    try:
        amount = micro_dollars(text, up=False)
    except InputError:
        raise ValueError(text) from None
    if not amount and _has_digits(text):
        raise ValueError(text)  # too small to be counted
    return amount, USD


def _percent(text: str) -> int:
    percent = int(text)
    if not 0 < percent <= 100:
        raise ValueError(text)
    return percent


def _tokens(text: str) -> int:
    factor = FACTORS.get(text[-1:].lower(), 1)
    digits = text
    if factor > 1:
        digits = text[:-1]
    digits = digits.replace(",", "").replace("_", "")
    if not digits.replace(".", "", 1).isdecimal():
        raise ValueError(text)
    amount = round(float(digits) * factor)
    if amount > MOST or (not amount and _has_digits(text)):
        raise ValueError(text)
    return amount


def _has_digits(text: str) -> bool:
    return any(digit in text for digit in "123456789")
