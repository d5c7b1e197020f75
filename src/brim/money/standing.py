"""Where limits stand: what is spent, what is left, and which of them is nearest."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from brim.money.amounts import PERCENT, TOKENS, USD
from brim.money.decision import HARD, LEVELS, SOFT, level_of
from brim.money.limits import WARN_SHARE, Spender, SpendingLimit
from brim.sessions.index import SessionIndex


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
        return self.spent / self.amount

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
