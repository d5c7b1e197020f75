"""The rules of one limit: what may be spent under it, when somebody is asked, and what each answer changes.

A part of every limit is held back from the start, for the turn in which the work is wrapped up. So the person is asked
when the rest is spent, and the sum with the wrap-up stays within the limit. ``CostBudget`` keeps these rules in memory
and a ledger keeps them in a file.
"""

from __future__ import annotations

from brim._frozen import Frozen
from brim.errors import InputError
from brim.spend.money import DOLLAR, MOST, checked_amount, in_dollars

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Self

WARN = 0.8
"""The share of the limit that is worth a warning."""

OPEN = "open"
ASKED = "asked"
WRAPPING_UP = "wrapping_up"
STOPPED = "stopped"
CLOSED = "closed"
STATES = (OPEN, ASKED, WRAPPING_UP, STOPPED, CLOSED)
"""``asked``: the limit was reached and nobody has answered. ``closed``: a request cost more than it had reserved."""

ANSWERS = ("continue", "raise", "wrap_up", "stop")
"""What a person may answer at the limit; ``raise`` is said as ``Raise(to)``."""

WRAP_UP = "wrap_up"
"""The purpose of a request that wraps the work up, and the answer that lets it."""

_HELD_PARTS, _HELD_MOST = 20, DOLLAR // 2
_PARTS = 1_000_000
"""A share is counted in millionths: floats would move the mark by a micro-dollar."""


class Raise(Frozen):
    """The answer *raise the limit to so many micro-dollars*."""

    __slots__ = ("to",)

    to: int

    def __init__(self, to: int) -> None:
        self._fill(to=checked_amount(to, "the limit"))


class Limit(Frozen):
    """A limit as it stands. Each answer and each sum gives another one."""

    __slots__ = ("amount", "base", "given", "state", "warned")

    given: int | None
    """Micro-dollars as somebody set it; None is no limit, 0 means that nothing may be spent."""
    base: int | None
    """What ``continue`` adds a tenth of: as given, or as it was raised to."""
    amount: int | None
    """What is in force."""
    state: str
    """One of ``STATES``."""
    warned: bool
    """Whether the warning of this limit was given."""

    def __init__(
        self,
        given: int | None = None,
        *,
        base: int | None = None,
        amount: int | None = None,
        state: str = OPEN,
        warned: bool = False,
    ) -> None:
        if given is not None:
            checked_amount(given, "the limit")
        base = given if base is None else base
        self._fill(given=given, base=base, amount=base if amount is None else amount, state=state, warned=warned)

    @property
    def held(self) -> int:
        """What is kept for the wrap-up: a twentieth, at most half a dollar."""
        return min((self.base or 0) // _HELD_PARTS, _HELD_MOST)

    @property
    def pause_at(self) -> int | None:
        """The sum at which somebody is asked: all but what is held back. None if there is no limit."""
        return None if self.amount is None else self.amount - self.held

    def warn_at(self, warn: float = WARN) -> int | None:
        """Return the sum from which to warn: the share *warn* of the limit. None if there is no limit."""
        return None if self.amount is None else -(-self.amount * round(warn * _PARTS) // _PARTS)

    def refusal(self, purpose: str = "") -> str:
        """Return why nothing at all may be spent for *purpose*, as ``LimitReached.reason`` has it; empty if it may."""
        if self.state in (STOPPED, CLOSED):
            return self.state
        return WRAPPING_UP if self.state == WRAPPING_UP and purpose != WRAP_UP else ""

    def room(self, taken: int, purpose: str = "", *, ending: bool = False) -> int | None:
        """Return what may still be spent for *purpose* when *taken* is spent or reserved; None is without end.

        What is held back is for the wrap-up alone, after somebody has said ``wrap_up``: of this limit, or, as *ending*
        says, of one above or below it.
        """
        if self.refusal(purpose):
            return 0
        is_ending = self.state == WRAPPING_UP or (ending and purpose == WRAP_UP)
        most = self.amount if is_ending else self.pause_at
        return None if most is None else max(0, most - taken)

    def reached(self, spent: int, warn: float = WARN) -> tuple[Self, bool, bool]:
        """Return what becomes of this limit at the sum *spent*, and whether to warn and whether to ask now.

        Each happens once per limit. A sum that jumps over both marks asks; it does not warn as well.
        """
        pause_at, warn_at = self.pause_at, self.warn_at(warn)
        if pause_at is None or warn_at is None or spent <= 0:
            return self, False, False
        if spent >= pause_at:
            if self.state == WRAPPING_UP and self.amount is not None and spent >= self.amount:
                return self.changed(state=STOPPED), False, False
            ask = self.state == OPEN
            return self.changed(state=ASKED if ask else self.state, warned=True), False, ask
        warn_now = spent >= warn_at and not self.warned and self.state in (OPEN, ASKED)
        return (self.changed(warned=True) if warn_now else self), warn_now, False

    def answered(self, answer: str | Raise, taken: int, warn: float = WARN) -> Self:
        """Return the limit after a person's *answer*, when *taken* is spent or reserved.

        ``continue`` adds a tenth, once each time that the limit is reached: to the limit, or to what was spent if that
        is more, so that there is room again. ``Raise`` sets another limit and reopens whatever was closed. Either is a
        new limit. If the warning of it is due at once it is left out: who answered knows.
        """
        if answer == "wrap_up":
            return self.changed(state=WRAPPING_UP)
        if answer == "stop":
            return self.changed(state=STOPPED)
        if isinstance(answer, Raise):
            if self.amount is None:
                raise InputError("there is no limit to raise: set one")
            if answer.to <= self.amount:
                raise InputError(
                    f"the limit is {in_dollars(self.amount)} already, so {in_dollars(answer.to)} does not raise it: "
                    "set a lower limit if that is what is meant"
                )
            renewed = self.changed(base=answer.to, amount=answer.to, state=OPEN, warned=False)
            if not renewed.room(taken):
                raise InputError(
                    f"{in_dollars(taken)} is spent or reserved already, so a limit of {in_dollars(answer.to)} "
                    "leaves no room: raise it further"
                )
        elif answer == "continue":
            renewed = self._continued(taken)
        else:
            raise InputError(f"{repr(answer)[:40]} is no answer: there are continue, Raise(to), wrap_up and stop")
        mark = renewed.warn_at(warn)
        return renewed.changed(warned=mark is not None and taken >= mark)

    def renewed(self, given: int | None) -> Limit:
        """Return the limit *given* in place of this one, where nobody has set one: who was stopped stays stopped."""
        return Limit(given, state=self.state if self.state in (WRAPPING_UP, STOPPED, CLOSED) else OPEN)

    def _continued(self, taken: int) -> Self:
        is_reached = self.state == OPEN and self.room(taken) == 0
        if self.state not in (ASKED, CLOSED) and not is_reached:
            raise InputError("nothing was asked: 'continue' answers a limit that was reached, once; 'raise' always can")
        if self.amount is None or self.base is None:
            return self.changed(state=OPEN)
        if self.base == 0:
            raise InputError("the limit is $0.00, and a tenth more is nothing: raise it to an amount")
        more = -(-self.base // 10)
        return self.changed(amount=min(MOST, max(self.amount, taken) + more), state=OPEN)
