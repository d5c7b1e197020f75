"""What a person must be told about money: a warning, a limit, a question."""

from __future__ import annotations

from dataclasses import dataclass

from brim.money.amounts import USD, as_limit, as_money, in_unit, out_of
from brim.notices import COST_LIMIT, COST_WARNING, INPUT_REQUESTED, Notice

ANSWERS = ("continue", "raise", "wrap_up", "stop")
"""What a person may answer at the limit; ``raise`` is said as ``Raise(to)``."""


@dataclass(frozen=True)
class CostNotice(Notice):
    """A notice about one scope's money."""

    spent: int
    limit: int | None
    """None if the scope has no limit."""
    scope: str = ""
    """The scope whose limit it is; empty for a budget without a name."""
    unit: str = "usd"
    """What is counted: ``usd``, ``tokens`` or ``percent``."""
    when: str = ""
    """The period, as in `` today``; empty for a limit in all."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "spent", as_money(self.spent, self.unit))
        object.__setattr__(self, "limit", as_limit(self.limit, self.unit))

    @property
    def _prefix(self) -> str:
        if not self.scope:
            return ""
        return f"{self.scope}: "

    @property
    def _sum(self) -> str:
        return spent_out_of(self.spent, self.limit, self.unit)


@dataclass(frozen=True)
class CostWarning(CostNotice):
    """A good part of the limit is spent."""

    kind = COST_WARNING
    limit: int

    def __str__(self) -> str:
        share = ""
        if self.limit:
            share = f" ({100 * self.spent // self.limit}%)"
        return f"{self._prefix}{self._sum} is spent{self.when}{share}"


@dataclass(frozen=True)
class CostLimit(CostNotice):
    """The limit is reached: all is spent but the part for the wrap-up, or another request doesn't
    fit."""

    kind = COST_LIMIT
    set_aside: int = 0
    """The part of the limit that is held back for the wrap-up."""
    wanted: int = 0
    """The request that didn't fit; 0 if the limit was reached by spending."""

    def __str__(self) -> str:
        left = self.set_aside
        if self.limit is not None:
            left = min(self.set_aside, self.limit - self.spent)
        reserve = ""
        if left > 0:
            reserve = f", {in_unit(left, self.unit)} is held back for the wrap-up"
        reason = "the cost limit is reached" if self.unit == USD else "the limit is reached"
        if self.wanted:
            wanted = in_unit(self.wanted, self.unit)
            reason = f"another {wanted} does not fit under the cost limit"
        return f"{self._prefix}{reason}: {self._sum} is spent{self.when}{reserve}"


@dataclass(frozen=True)
class InputRequested(CostNotice):
    """A person has to answer before anything more is spent.

    ``answers`` are the words that ``answer`` takes.
    """

    kind = INPUT_REQUESTED
    answers: tuple[str, ...] = ANSWERS

    def __str__(self) -> str:
        question = "continue once (+10%), raise the limit"
        if self.limit is None:
            question = "continue"
        return f"{self._prefix}{question}, wrap up, or stop?"


def spent_out_of(spent: int, limit: int | None, unit: str) -> str:
    """Return how much of a limit is spent, or what is spent without one.

    >>> spent_out_of(4_100_000, 5_000_000, "usd"), spent_out_of(5, None, "tokens")
    ('$4.10 of $5.00', '5 tokens')
    """
    if limit is None:
        return in_unit(spent, unit)
    return out_of(spent, limit, unit)
