"""``CostBudget`` watches one limit while money is spent; ``Limit`` has the rules.

A part of every limit is held back for the turn that wraps the work up. A person is asked when the
rest is spent, so the total stays within the limit even with the wrap-up. ``CostBudget`` applies
these rules in memory, a ledger in its database.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Self

from brim.errors import InputError
from brim.money.amounts import (
    USD,
    as_limit,
    as_money,
    checked_amount,
    dollars,
    in_unit,
    read_amount,
)
from brim.money.limits import KEPT_PARTS, MOST_KEPT
from brim.money.notices import CostLimit, CostWarning, InputRequested, spent_out_of
from brim.notices import Notice, Subscribers
from brim.record import PlainData, set_fields
from brim.text import fold
from brim.usd import MOST, Dollars, Money, read_money

WARN = 0.8
"""The share of the limit that is worth a warning."""
OPEN = "open"
ASKED = "asked"
WRAPPING_UP = "wrapping_up"
STOPPED = "stopped"
STATES = (OPEN, ASKED, WRAPPING_UP, STOPPED)
"""``asked``: the limit was reached and not answered yet."""
ENDING = (WRAPPING_UP, STOPPED)
"""The states after a person has said that the work ends."""
WRAP_UP = "wrap_up"
"""The purpose of a request that wraps the work up, and the answer that lets it."""
NOTHING = Money(0)
MILLION = 1_000_000
"""Shares are counted in millionths: with floats, a mark could be off by a micro-dollar."""


@dataclass(frozen=True)
class Raise(PlainData):
    """The answer *raise the limit to so many dollars*, as in ``Raise("8")``.

    *per* and *unit* name one of several limits: its period, and what it counts.
    """

    to: int
    """``Money``; a whole number if *unit* isn't dollars."""
    per: str = ""
    unit: str = USD

    def __init__(self, to: Dollars | int, per: str = "", unit: str = USD) -> None:
        set_fields(self, read_amount(to, unit, "the limit"), per, unit)


@dataclass(frozen=True)
class Limit(PlainData):
    """A limit and its state. Each answer, and each new sum, returns another one."""

    original: int | None = None
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
        if self.original is not None:
            checked_amount(self.original, "the limit")
        if self.base is None:
            object.__setattr__(self, "base", self.original)
        if self.amount is None:
            object.__setattr__(self, "amount", self.base)

    @property
    def set_aside(self) -> int:
        """The part that is held back for the wrap-up: 5%, at most $0.50."""
        return min((self.base or 0) // KEPT_PARTS, MOST_KEPT)

    @property
    def pause_at(self) -> int | None:
        """The sum at which a person is asked; None without a limit."""
        if self.amount is None:
            return None
        return self.amount - self.set_aside

    def warn_at(self, warn: float = WARN) -> int | None:
        """Return the share *warn* of the limit, rounded up; None without a limit."""
        if self.amount is None:
            return None
        return _share_of(self.amount, warn)

    def refusal(self, purpose: str = "") -> str:
        """Return why nothing may be spent for *purpose*; empty if something may.

        This becomes ``LimitReached.reason``.
        """
        if self.state == STOPPED:
            return STOPPED
        if self.state == WRAPPING_UP and purpose != WRAP_UP:
            return WRAPPING_UP
        return ""

    def room(self, used: int, purpose: str = "", *, ending: bool = False) -> int | None:
        """Return what may still be spent for *purpose* if *used* is spent or reserved; None means
        no limit.

        The part that is held back is for the wrap-up alone, after a person has said ``wrap_up``
        about this limit, or (*ending*) about one above or below it.
        """
        if self.refusal(purpose):
            return 0
        ceiling = self.pause_at
        if self.state == WRAPPING_UP or (ending and purpose == WRAP_UP):
            ceiling = self.amount
        if ceiling is None:
            return None
        return max(0, ceiling - used)

    def is_reached(self, used: int) -> bool:
        """Whether nothing more may be spent without an answer."""
        return self.state == ASKED or self.room(used) == 0

    def reached(self, spent: int, warn: float = WARN) -> tuple[Self, bool, bool]:
        """Return the limit at the sum *spent*, whether to warn, and whether to ask.

        Each happens once per limit. A sum that jumps over both marks only asks.
        """
        if self.amount is None or spent <= 0:
            return self, False, False
        if self.state == WRAPPING_UP and spent >= self.amount:
            return replace(self, state=STOPPED), False, False
        if spent >= self.amount - self.set_aside:
            asks = self.state == OPEN
            state = ASKED if asks else self.state
            return replace(self, state=state, warned=True), False, asks
        if self.warned or self.state in ENDING or spent < _share_of(self.amount, warn):
            return self, False, False
        return replace(self, warned=True), True, False

    def answered(
        self, answer: str | Raise, used: int, warn: float = WARN, *, unit: str = USD
    ) -> Self:
        """Return the limit after a person's *answer*. *used* is spent or reserved, in *unit*.

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
            renewed = self._raised(answer.to, used, unit)
        elif answer == "continue":
            renewed = self._continued(used)
        else:
            raise InputError(
                f"{repr(answer)[:40]} isn't an answer: there are continue, Raise(to), wrap_up"
                " and stop"
            )
        warn_at = renewed.warn_at(warn)
        return replace(renewed, warned=warn_at is not None and used >= warn_at)

    def _raised(self, amount: int, used: int, unit: str) -> Self:
        if self.amount is None:
            raise InputError("there is no limit to raise: set one, as in 'brim limit 5/day'")
        if amount <= self.amount:
            raise InputError(
                f"the limit is {in_unit(self.amount, unit)} already, so {in_unit(amount, unit)}"
                " does not raise it: set a lower limit if that is what is meant"
            )
        renewed = replace(self, base=amount, amount=amount, state=OPEN, warned=False)
        if not renewed.room(used):
            raise InputError(
                f"{in_unit(used, unit)} is spent or reserved already, so a limit of"
                f" {in_unit(amount, unit)} leaves no room: raise it further"
            )
        return renewed

    def _continued(self, used: int) -> Self:
        is_full = self.state == OPEN and self.room(used) == 0
        if self.state != ASKED and not is_full:
            raise InputError(
                "This limit isn't reached, so there is nothing to continue: nothing was asked."
                " To raise it: brim limit raise 8/day"
            )
        if self.amount is None or self.base is None:
            return replace(self, state=OPEN)
        if self.base == 0:
            raise InputError("the limit is 0, and a tenth more is nothing: raise it to an amount")
        tenth = -(-self.base // 10)
        return replace(self, amount=min(MOST, max(self.amount, used) + tenth), state=OPEN)


def _share_of(amount: int, share: float) -> int:
    """Return the *share* of *amount*, rounded up."""
    return -(-int(amount) * round(share * MILLION) // MILLION)


class CostBudget:
    """A limit, and the sum that is spent.

    *limit* is dollars, as in ``"5"``; None means no limit, ``"0"`` means that nothing may be spent.
    *warn* is the share of the limit at which to warn. Spending here counts against *parent* too.
    *spent* is the sum of a resumed job: a limit doesn't start over with a process.

    >>> budget = CostBudget(limit="5")
    >>> budget.add("1.20")
    []
    >>> [str(notice) for notice in budget.add("3")]
    ['$4.20 of $5.00 is spent (84%)']
    >>> [notice.kind for notice in budget.add("0.60")]
    ['COST_LIMIT', 'INPUT_REQUESTED']
    """

    def __init__(
        self,
        limit: Dollars | int | None,
        warn: float = WARN,
        *,
        scope: str = "",
        spent: Dollars | int = NOTHING,
        parent: Self | None = None,
        unit: str = USD,
        when: str = "",
    ) -> None:
        if isinstance(warn, bool) or not isinstance(warn, int | float) or not 0 <= warn <= 1:
            raise InputError(f"warn must be a share from 0 to 1, not {repr(warn)[:40]}")
        self._limit = Limit()
        if limit is not None:
            self._limit = Limit(int(read_amount(limit, unit, "the limit")))
        if unit != USD and spent is NOTHING:
            spent = 0
        self.spent: int = read_amount(spent, unit, "what is spent already")
        """The sum of what was added."""
        self._subscribers = Subscribers()
        self.warn = warn
        self.scope = scope
        self.parent = parent
        self.unit = unit
        """What is counted, as in ``CostNotice``."""
        self.when = when
        """In which period, as in ``CostNotice``."""

    def add(self, amount: Dollars | int) -> list[Notice]:
        """Count *amount* as spent; negative ``Money`` takes some back.

        Return the notices that are due: none, a ``CostWarning``, or a ``CostLimit`` and an
        ``InputRequested``, and then those of the scopes above.
        """
        added = self._added(amount)
        self.spent = max(self.spent + added, self.spent - self.spent)
        notices = self._due_notices()
        above: list[Notice] = []
        if self.parent is not None:
            above = self.parent.add(amount)
        self._subscribers.tell(notices)
        return notices + above

    def _added(self, amount: Dollars | int) -> int:
        if isinstance(amount, Money) and self.unit == USD:
            return amount  # it may be negative
        if self.unit != USD and type(amount) is int:
            return amount
        return read_amount(amount, self.unit, "the amount")

    def _due_notices(self) -> list[Notice]:
        if any(budget.state in ENDING for budget in self._path[1:]):
            return []  # a person has answered above
        self._limit, warns, asks = self._limit.reached(self.spent, self.warn)
        limit = as_limit(self._limit.amount, self.unit) or 0
        notices: list[Notice] = []
        if warns:
            notices.append(CostWarning(self.spent, limit, self.scope))
        if asks:
            notices.append(CostLimit(self.spent, limit, self.scope, set_aside=self.set_aside))
            notices.append(InputRequested(self.spent, limit, self.scope))
        return notices

    def answer(self, answer: str | Raise) -> None:
        """Do what a person said: ``continue``, ``Raise(to)``, ``wrap_up`` or ``stop``."""
        self._limit = self._limit.answered(answer, self.spent, self.warn, unit=self.unit)

    def subscribe(self, subscriber: Callable[[Notice], object]) -> Callable[[], None]:
        """Call *subscriber* with each notice from now on; the result unsubscribes."""
        return self._subscribers.add(subscriber)

    @property
    def limit(self) -> int | None:
        """The limit in force, which an answer may have raised."""
        return as_limit(self._limit.amount, self.unit)

    @property
    def set_aside(self) -> int:
        """What is held back for the wrap-up: 5%, at most $0.50."""
        return as_money(self._limit.set_aside, self.unit)

    @property
    def pause_at(self) -> int | None:
        """The sum at which a person is asked; None without a limit."""
        return as_limit(self._limit.pause_at, self.unit)

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
        ending = any(budget.state == WRAPPING_UP for budget in self._path)
        room = smallest([budget._room(ending) for budget in self._path])
        return as_limit(room, self.unit)

    def _room(self, ending: bool) -> int | None:
        if self.state == ASKED and not ending:
            return 0
        return self._limit.room(self.spent, WRAP_UP, ending=ending)

    @property
    def may_spend(self) -> bool:
        """Whether another call may be made."""
        return self.left is None or self.left > 0

    @property
    def overshoot(self) -> int:
        """How far over the limit the calls in flight have gone."""
        over = 0
        if self._limit.amount is not None:
            over = max(0, self.spent - self._limit.amount)
        return as_money(over, self.unit)

    @property
    def _path(self) -> list[CostBudget]:
        """This budget and those above it."""
        if self.parent is None:
            return [self]
        return [self, *self.parent._path]

    def __repr__(self) -> str:
        limit = "no limit" if self.limit is None else dollars(self.limit)
        return f"CostBudget({dollars(self.spent)} of {limit}, {self.state})"


def smallest(rooms: list[int | None]) -> int | None:
    """Return the smallest of *rooms*, of which None is without a limit."""
    limited = [room for room in rooms if room is not None]
    return min(limited, default=None)


def build_wrap_up_prompt(
    spent: Dollars | int,
    limit: Dollars | int | None,
    *,
    set_aside: Dollars | int = NOTHING,
    task: str = "",
    scratch_path: str | None = None,
    unit: str = USD,
) -> str:
    """Return the prompt that wraps the work up, to send as its own turn.

    The prompt says that *limit* is reached only if it is; None means no limit. *set_aside* is what
    that turn may cost; 0 says nothing about it. *task* is folded to one line; *scratch_path* is
    where notes for the next agent belong. *unit* is what *spent* and *limit* count.

    >>> prompt = build_wrap_up_prompt("4.75", "5", set_aside="0.25", task="fix it")
    >>> print(prompt.partition("\\n")[0])
    The cost limit is reached: $4.75 of $5.00 is spent. Wrap up now: fix it
    """
    ending = "."
    if task:
        ending = f": {fold(task)}"
    used = read_amount(spent, unit, "what is spent")
    limit_amount = None
    if limit is not None:
        limit_amount = int(read_amount(limit, unit, "the limit"))
    pause_at = Limit(limit_amount).pause_at
    reason = ""
    if pause_at is not None and used >= pause_at:
        name = "cost limit" if unit == USD else "limit"
        reason = f"The {name} is reached: "
    price = ""
    if set_aside:
        price_limit = read_money(set_aside, "what the turn may cost")
        price = f" This turn may cost {dollars(price_limit)}."
    lines = [
        f"{reason}{spent_out_of(used, limit_amount, unit)} is spent. Wrap up now{ending}",
        "Start nothing new and no sub-agents; run only what leaves the work in a sound state."
        f"{price}",
        "Then stop, and say in a few lines what is done, what is not, what failed,"
        " and what the next step would be.",
    ]
    if scratch_path:
        lines.append(f"What was learned so far is in {scratch_path}.")
    return "\n".join(lines)
