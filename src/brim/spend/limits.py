"""One limit: its rules, its notices, and ``CostBudget``, which watches it.

A part of every limit is held back for the turn that wraps the work up. A person is asked when the
rest is spent, so the total stays within the limit even with the wrap-up. ``CostBudget`` applies
these rules in memory, a ledger in a file.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Self

from brim.errors import InputError
from brim.figures import DOLLAR
from brim.notices import COST_LIMIT, COST_WARNING, INPUT_REQUESTED, Notice, Subscribers
from brim.record import PlainData
from brim.spend.money import MOST, checked_amount, in_dollars, in_unit, out_of
from brim.text import fold

WARN = 0.8
"""The share of the limit that is worth a warning."""

OPEN = "open"
ASKED = "asked"
WRAPPING_UP = "wrapping_up"
STOPPED = "stopped"
STATES = (OPEN, ASKED, WRAPPING_UP, STOPPED)
"""``asked``: the limit was reached and not answered yet."""

ANSWERS = ("continue", "raise", "wrap_up", "stop")
"""What a person may answer at the limit; ``raise`` is said as ``Raise(to)``."""

WRAP_UP = "wrap_up"
"""The purpose of a request that wraps the work up, and the answer that lets it."""

_HELD_PARTS, _HELD_MOST = 20, DOLLAR // 2
_PARTS = 1_000_000
"""Shares are counted in millionths: with floats, a mark could be off by a micro-dollar."""


@dataclass(frozen=True)
class Raise(PlainData):
    """The answer *raise the limit to so many micro-dollars*.

    *per* and *unit* name one of several limits, as ``brim.spend.Ceiling`` does.
    """

    to: int
    per: str = ""
    unit: str = "usd"

    def __post_init__(self) -> None:
        checked_amount(self.to, "the limit")


@dataclass(frozen=True)
class Limit(PlainData):
    """A limit and its state. Each answer, and each new sum, returns another one."""

    given: int | None = None
    """Micro-dollars as a person set it; None means no limit, 0 means that nothing may be spent."""
    base: int | None = None
    """The limit as given or raised; ``continue`` adds a tenth of it."""
    amount: int | None = None
    """The limit in force."""
    state: str = OPEN
    """One of ``STATES``."""
    warned: bool = False
    """Whether the warning of this limit was given."""

    def __post_init__(self) -> None:
        if self.given is not None:
            checked_amount(self.given, "the limit")
        if self.base is None:
            self.__dict__["base"] = self.given
        if self.amount is None:
            self.__dict__["amount"] = self.base

    @property
    def held(self) -> int:
        """The part that is held back for the wrap-up: 5%, at most $0.50."""
        return min((self.base or 0) // _HELD_PARTS, _HELD_MOST)

    @property
    def pause_at(self) -> int | None:
        """The sum at which a person is asked; None without a limit."""
        return None if self.amount is None else self.amount - self.held

    def warn_at(self, warn: float = WARN) -> int | None:
        """Return the share *warn* of the limit; None without a limit."""
        return None if self.amount is None else -(-self.amount * round(warn * _PARTS) // _PARTS)

    def refusal(self, purpose: str = "") -> str:
        """Return why nothing may be spent for *purpose*; empty if something may.

        This becomes ``LimitReached.reason``.
        """
        if self.state == STOPPED:
            return self.state
        return WRAPPING_UP if self.state == WRAPPING_UP and purpose != WRAP_UP else ""

    def room(self, taken: int, purpose: str = "", *, ending: bool = False) -> int | None:
        """Return what may still be spent for *purpose* if *taken* is spent or reserved; None means
        no limit.

        The part that is held back is for the wrap-up alone, after a person has said ``wrap_up``
        about this limit, or (*ending*) about one above or below it.
        """
        if self.refusal(purpose):
            return 0
        is_ending = self.state == WRAPPING_UP or (ending and purpose == WRAP_UP)
        most = self.amount if is_ending else self.pause_at
        return None if most is None else max(0, most - taken)

    def reached(self, spent: int, warn: float = WARN) -> tuple[Self, bool, bool]:
        """Return the limit at the sum *spent*, whether to warn, and whether to ask.

        Each happens once per limit. A sum that jumps over both marks only asks.
        """
        pause_at, warn_at = self.pause_at, self.warn_at(warn)
        if self.amount is None or pause_at is None or warn_at is None or spent <= 0:
            return self, False, False
        if self.state == WRAPPING_UP and spent >= self.amount:
            return replace(self, state=STOPPED), False, False
        if spent >= pause_at:
            ask = self.state == OPEN
            return replace(self, state=ASKED if ask else self.state, warned=True), False, ask
        warn_now = spent >= warn_at and not self.warned and self.state in (OPEN, ASKED)
        return (replace(self, warned=True) if warn_now else self), warn_now, False

    def answered(
        self, answer: str | Raise, taken: int, warn: float = WARN, *, unit: str = "usd"
    ) -> Self:
        """Return the limit after a person's *answer*. *taken* is spent or reserved, in *unit*.

        ``continue`` adds a tenth each time that the limit is reached: to the limit, or to the sum
        if that is higher, so that there is room again. ``Raise`` sets another limit and reopens a
        stopped scope. Either is a new limit. If its warning were due at once, it is left out: the
        person who answered knows.
        """
        if answer == "wrap_up":
            return replace(self, state=WRAPPING_UP)
        if answer == "stop":
            return replace(self, state=STOPPED)
        if isinstance(answer, Raise):
            if self.amount is None:
                raise InputError("there is no limit to raise: set one, as in 'brim limit 5/day'")
            now, to = in_unit(self.amount, unit), in_unit(answer.to, unit)
            if answer.to <= self.amount:
                lower = "set a lower limit if that is what is meant"
                raise InputError(f"the limit is {now} already, so {to} does not raise it: {lower}")
            renewed = replace(self, base=answer.to, amount=answer.to, state=OPEN, warned=False)
            if not renewed.room(taken):
                spent = f"{in_unit(taken, unit)} is spent or reserved already"
                raise InputError(f"{spent}, so a limit of {to} leaves no room: raise it further")
        elif answer == "continue":
            renewed = self._continued(taken)
        else:
            raise InputError(
                f"{repr(answer)[:40]} isn't an answer: there are continue, Raise(to), wrap_up and stop"
            )
        mark = renewed.warn_at(warn)
        return replace(renewed, warned=mark is not None and taken >= mark)

    def renewed(self, given: int | None) -> Limit:
        """Return the limit *given* in place of this default. A stopped scope stays stopped."""
        return Limit(given, state=self.state if self.state in (WRAPPING_UP, STOPPED) else OPEN)

    def _continued(self, taken: int) -> Self:
        is_reached = self.state == OPEN and self.room(taken) == 0
        if self.state != ASKED and not is_reached:
            raise InputError(
                "nothing was asked: 'continue' answers a limit that was reached, once; 'raise' always can"
            )
        if self.amount is None or self.base is None:
            return replace(self, state=OPEN)
        if self.base == 0:
            raise InputError("the limit is 0, and a tenth more is nothing: raise it to an amount")
        more = -(-self.base // 10)
        return replace(self, amount=min(MOST, max(self.amount, taken) + more), state=OPEN)


@dataclass(frozen=True)
class CostNotice(Notice):
    """A notice about one scope's money, in micro-dollars."""

    spent: int
    limit: int | None
    """None if the scope has no limit."""
    scope: str = ""
    """The scope whose limit it is; empty for a budget without a name."""
    unit: str = "usd"
    """What is counted: ``usd`` (micro-dollars), ``tokens`` or ``percent``."""
    when: str = ""
    """The period, as in `` today``; empty for a limit in all."""

    @property
    def _whose(self) -> str:
        return f"{self.scope}: " if self.scope else ""

    @property
    def _sum(self) -> str:
        return out_of(self.spent, self.limit, self.unit)

    def _said(self, amount: int) -> str:
        return in_unit(amount, self.unit)


@dataclass(frozen=True)
class CostWarning(CostNotice):
    """A good part of the limit is spent."""

    kind = COST_WARNING
    limit: int

    def __str__(self) -> str:
        share = f" ({100 * self.spent // self.limit}%)" if self.limit else ""
        return f"{self._whose}{self._sum} is spent{self.when}{share}"


@dataclass(frozen=True)
class CostLimit(CostNotice):
    """The limit is reached: all is spent but the part for the wrap-up, or another request doesn't
    fit."""

    kind = COST_LIMIT
    held: int = 0
    """The part of the limit that is held back for the wrap-up."""
    wanted: int = 0
    """The request that didn't fit; 0 if the limit was reached by spending."""

    def __str__(self) -> str:
        left = self.held if self.limit is None else min(self.held, self.limit - self.spent)
        held = f", {self._said(left)} is held back for the wrap-up" if left > 0 else ""
        what = "the cost limit is reached" if self.unit == "usd" else "the limit is reached"
        if self.wanted:
            what = f"another {self._said(self.wanted)} does not fit under the cost limit"
        return f"{self._whose}{what}: {self._sum} is spent{self.when}{held}"


@dataclass(frozen=True)
class InputRequested(CostNotice):
    """A person has to answer before anything more is spent.

    ``answers`` are the words that ``answer`` takes.
    """

    kind = INPUT_REQUESTED
    answers: tuple[str, ...] = ANSWERS

    def __str__(self) -> str:
        what = "continue" if self.limit is None else "continue once (+10%), raise the limit"
        return f"{self._whose}{what}, wrap up, or stop?"


class CostBudget:
    """A limit in micro-dollars, and the sum that is spent.

    *limit* None means no limit; 0 means that nothing may be spent. *warn* is the share of the limit
    at which to warn. Spending here counts against *parent* too. *spent* is the sum of a resumed
    job: a limit doesn't start over with a process.

    >>> budget = CostBudget(limit=5_000_000)
    >>> budget.add(1_200_000)
    []
    >>> [str(notice) for notice in budget.add(3_000_000)]
    ['$4.20 of $5.00 is spent (84%)']
    >>> [notice.kind for notice in budget.add(600_000)]
    ['COST_LIMIT', 'INPUT_REQUESTED']
    """

    def __init__(
        self,
        limit: int | None,
        warn: float = WARN,
        *,
        scope: str = "",
        spent: int = 0,
        parent: Self | None = None,
        unit: str = "usd",
        when: str = "",
    ) -> None:
        if isinstance(warn, bool) or not isinstance(warn, int | float) or not 0 <= warn <= 1:
            raise InputError(f"warn must be a share from 0 to 1, not {repr(warn)[:40]}")
        self._limit = Limit(limit)
        self.spent = checked_amount(spent, "what is spent already")
        """The sum of what was added."""
        self._subscribers = Subscribers()
        self.warn, self.scope, self.parent = warn, scope, parent
        self.unit, self.when = unit, when
        """What is counted, and in which period: as in ``CostNotice``."""

    def add(self, amount: int) -> list[Notice]:
        """Count *amount* as spent; a negative one takes some back.

        Return the notices that are due: none, a ``CostWarning``, or a ``CostLimit`` and an
        ``InputRequested``, and then those of the scopes above.
        """
        if type(amount) is not int:
            raise InputError(
                f"the amount must be a whole number of micro-dollars, not {repr(amount)[:40]}"
            )
        self.spent = max(0, self.spent + amount)
        warn = ask = False
        if not any(each.state in (WRAPPING_UP, STOPPED) for each in self._path[1:]):
            # Else a person has answered.
            self._limit, warn, ask = self._limit.reached(self.spent, self.warn)
        limit = self._limit.amount or 0
        about = self.spent, limit, self.scope
        notices: list[Notice] = [CostWarning(*about)] if warn else []
        notices += [CostLimit(*about, held=self.held), InputRequested(*about)] if ask else []
        above = self.parent.add(amount) if self.parent is not None else []
        self._subscribers.tell(notices)
        return notices + above

    def answer(self, answer: str | Raise) -> None:
        """Do what a person said: ``continue``, ``Raise(to)``, ``wrap_up`` or ``stop``."""
        self._limit = self._limit.answered(answer, self.spent, self.warn, unit=self.unit)

    def subscribe(self, subscriber: Callable[[Notice], object]) -> Callable[[], None]:
        """Call *subscriber* with each notice from now on; the result unsubscribes."""
        return self._subscribers.add(subscriber)

    @property
    def limit(self) -> int | None:
        """The limit in force, which an answer may have raised."""
        return self._limit.amount

    @property
    def held(self) -> int:
        """What is held back for the wrap-up: 5%, at most $0.50."""
        return self._limit.held

    @property
    def pause_at(self) -> int | None:
        """The sum at which a person is asked; None without a limit."""
        return self._limit.pause_at

    @property
    def state(self) -> str:
        """``open``, ``asked`` (the limit is reached, not answered yet), ``wrapping_up`` or
        ``stopped``."""
        return self._limit.state

    @property
    def left(self) -> int | None:
        """What may still be spent here and above; None means no limit.

        While the work is wrapped up, here or above, that is what the wrap-up may cost.
        """
        ending = any(each.state == WRAPPING_UP for each in self._path)
        rooms = [
            0
            if each.state == ASKED and not ending
            else each._limit.room(each.spent, WRAP_UP, ending=ending)
            for each in self._path
        ]
        return min((room for room in rooms if room is not None), default=None)

    @property
    def may_spend(self) -> bool:
        """Whether another call may be made."""
        return self.left is None or self.left > 0

    @property
    def overshoot(self) -> int:
        """How far over the limit the calls in flight have gone."""
        return max(0, self.spent - self._limit.amount) if self._limit.amount is not None else 0

    @property
    def _path(self) -> list[CostBudget]:
        """This budget and those above it."""
        return [self, *(self.parent._path if self.parent is not None else [])]

    def __repr__(self) -> str:
        limit = "no limit" if self.limit is None else in_dollars(self.limit)
        return f"CostBudget({in_dollars(self.spent)} of {limit}, {self.state})"


def build_wrap_up_prompt(
    spent: int,
    limit: int | None,
    *,
    held: int = 0,
    task: str = "",
    scratch_path: str | None = None,
    unit: str = "usd",
) -> str:
    """Return the prompt that wraps the work up, to send as its own turn.

    The prompt says that *limit* is reached only if it is; None means no limit. *held* is the most
    that turn may cost; 0 says nothing about it. *task* is folded to one line; *scratch_path* is
    where notes for the next agent belong. *unit* is what *spent* and *limit* count.

    >>> print(build_wrap_up_prompt(4_750_000, 5_000_000, held=250_000, task="fix the parser"))
    The cost limit is reached: $4.75 of $5.00 is spent. Wrap up now: fix the parser
    Start nothing new and no sub-agents; run only what leaves the work in a sound state. This turn may cost $0.25.
    Then stop, and say in a few lines what is done, what is not, what failed, and what the next step would be.
    """
    what = ""
    if task:  # hooks name none, so they don't pay for the import
        what = fold(task)
    pause_at = Limit(limit).pause_at
    reached = (
        ""
        if pause_at is None or spent < pause_at
        else f"The {'cost ' if unit == 'usd' else ''}limit is reached: "
    )
    most = f" This turn may cost {in_dollars(held)}." if held else ""
    lines = [
        f"{reached}{out_of(spent, limit, unit)} is spent. Wrap up now{f': {what}' if what else '.'}",
        f"Start nothing new and no sub-agents; run only what leaves the work in a sound state.{most}",
        "Then stop, and say in a few lines what is done, what is not, what failed, and what the next step would be.",
    ]
    return "\n".join(
        [*lines, f"What was learned so far is in {scratch_path}."] if scratch_path else lines
    )
