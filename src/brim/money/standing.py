"""Where limits stand: what is spent, what is left, which of them is nearest, and what the next
request will cost: rather a little too much than too little."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any

from brim.models.usage import Tokens
from brim.money.amounts import PERCENT, TOKENS, USD
from brim.money.decision import HARD, LEVELS, SOFT, level_of
from brim.money.limits import WARN_SHARE, Spender, SpendingLimit
from brim.sessions.index import SessionIndex
from brim.sessions.requests import IndexedRequest

if TYPE_CHECKING:
    from brim.models.price_list import Prices

TENTH = 10
"""Percent that a limit is raised by at least."""
MOST_RAISED = 200
"""Percent that ``brim limit +N%`` raises a limit by at most: who needs more sets another one."""
LAST_REQUESTS = 10
"""How many of a thread's last requests are looked at."""
NEW_TOKENS = 1_500
"""Tokens of results and words that the next request is expected to add."""
MOST_TIMES = 100
"""Times what a request cost that the next one may cost, if its context is long: what was read from
the cache is written again, at the price for long prompts, without a discount."""
LONG = 10 * NEW_TOKENS
FIVE_MINUTES = 300.0
HOUR = 3_600.0


@dataclass(frozen=True)
class PlanReading:
    """How much of a plan's window is used, as the provider said it."""

    percent: int
    read_at: float
    resets_at: float | None


PlanReadings = Callable[[SpendingLimit], PlanReading | None]
"""Returns what is known about the window of a limit in percent; None if nothing fresh is."""


@dataclass(frozen=True)
class LimitStanding:
    """A limit and what is spent of it at the moment *now*."""

    limit: SpendingLimit
    spent: int
    now: float
    next_cost: int = 0
    """What the next request is expected to cost; 0 if that isn't asked, or isn't known."""
    resets_at: float | None = None
    warn: float = WARN_SHARE

    @property
    def amount(self) -> int:
        """What is allowed now."""
        return self.limit.amount_at(self.now)

    @property
    def counts_money(self) -> bool:
        """Whether the limit is in dollars."""
        return self.limit.unit == USD

    @property
    def set_aside(self) -> int:
        """What is kept for the wrap-up."""
        return self.limit.set_aside_at(self.now)

    @property
    def left(self) -> int:
        """What may still be spent before the wrap-up."""
        return max(0, self.amount - self.set_aside - self.spent)

    @property
    def share(self) -> float:
        """How much of the limit is spent; a limit of nothing is spent."""
        if not self.amount:
            return 1.0
        return int(self.spent) / int(self.amount)  # both may be money, and the share is none

    @property
    def level(self) -> str:
        """How near the limit is: one of ``decision.LEVELS``."""
        return level_of(
            self.spent,
            self.amount,
            set_aside=self.set_aside,
            next_cost=self.next_cost,
            warn=self.warn,
        )

    @property
    def is_stopped(self) -> bool:
        """Whether prompts are refused."""
        return self.level in (SOFT, HARD)

    def expecting(self, next_cost: int) -> LimitStanding:
        """Return it with what the next request will cost."""
        if not self.counts_money:
            return self
        return replace(self, next_cost=next_cost)

    @property
    def percent_to_go_on(self) -> int:
        """How many percent more, in tens, let two requests like the next one pass; 0 if a person
        should rather raise the limit."""
        if self.limit.unit == PERCENT or not self.amount:
            return 0
        for percent in range(TENTH, MOST_RAISED + 1, TENTH):
            limit = self.limit.raised_by(percent, self.spent, self.now)
            raised = replace(self, limit=limit, next_cost=2 * self.next_cost)
            if not raised.is_stopped:
                return percent
        return 0

    def with_spent(self, spent: int) -> LimitStanding:
        """Return it with another sum."""
        return replace(self, spent=spent)

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON can hold it."""
        return {
            "limit": self.limit.text,
            "project": self.limit.project,
            "unit": self.limit.unit,
            "period": self.limit.period,
            "amount": self.amount,
            "spent": self.spent,
            "left": self.left,
            "kept": self.set_aside,
            "level": self.level,
            "stopped": self.is_stopped,
            "since": self.limit.since,
            "raised_until": self.limit.raised_until,
            "resets_at": self.resets_at,
        }


def standings(
    limits: Iterable[SpendingLimit],
    index: SessionIndex,
    spender: Spender,
    now: float,
    *,
    plans: PlanReadings = lambda _: None,
    warn: float = WARN_SHARE,
) -> list[LimitStanding]:
    """Return where the *limits* stand that apply to *spender*, in their order. What is spent is the
    same sum as in ``brim usage``."""
    standing: list[LimitStanding] = []
    spent_in = cache(index.spent)  # several limits count the same
    for limit in limits:
        if not limit.applies_to(spender):
            continue
        if limit.unit == PERCENT:
            reading = plans(limit)
            if reading is not None:
                standing.append(
                    LimitStanding(limit, reading.percent, now, 0, reading.resets_at, warn)
                )
            continue
        sums = spent_in(limit.scope_of(spender), limit.begins_at(now))
        spent = sums.cost
        if limit.unit == TOKENS:
            spent = sums.tokens
        standing.append(LimitStanding(limit, spent, now, 0, limit.resets_at(now), warn))
    return standing


def nearest(standing: Sequence[LimitStanding]) -> LimitStanding | None:
    """Return the limit that holds an agent first; None without limits."""
    return max(standing, key=_nearness, default=None)


def _nearness(standing: LimitStanding) -> tuple[int, float]:
    return LEVELS.index(standing.level), standing.share


def next_cost(last: Sequence[IndexedRequest], prices: Prices, now: float) -> int:
    """Return what the next request of a thread will cost, in micro-dollars.

    Its context is read from the cache, or written again if that has run out, and its answer is as
    long as the longest of the last ten. *last* are its last requests, the newest first. Without
    any, and without a price, it's nothing.
    """
    if not last:
        return 0
    newest = last[0]
    context = sum(newest.counts)
    written_for_hour = newest.write_1h > 0
    output = max(request.output for request in last[:LAST_REQUESTS])
    read = context if is_warm(newest, now) else 0
    written = NEW_TOKENS + context - read
    expected = Tokens(
        output=output,
        cache_read=read,
        cache_write_5m=0 if written_for_hour else written,
        cache_write_1h=written if written_for_hour else 0,
        writes_are_input=True,
    )
    return prices.request(expected, newest.model, now) or 0


def most_next_cost(last: Sequence[IndexedRequest]) -> int | None:
    """Return more than ``next_cost`` can be, without a look at prices; None if that can't be
    said."""
    if not last or sum(last[0].counts) < LONG:
        return None
    costs: list[int] = []
    for request in last:
        if not request.cost or request.model != last[0].model:
            return None
        costs.append(request.cost)
    return MOST_TIMES * max(costs)


def is_warm(newest: IndexedRequest, now: float) -> bool:
    """Whether the provider's cache still has what *newest* sent."""
    if newest.time is None:
        return True
    lifetime = HOUR if newest.write_1h else FIVE_MINUTES
    return abs(now - newest.time) < lifetime
