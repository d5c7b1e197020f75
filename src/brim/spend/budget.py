"""``CostBudget``: one limit, watched while money is spent. It stands beside the calls, so it asks between them."""

from __future__ import annotations

from brim.errors import InputError
from brim.notices import Subscribers
from brim.spend.limits import ASKED, STOPPED, WARN, WRAP_UP, WRAPPING_UP, Limit
from brim.spend.money import checked_amount, in_dollars
from brim.spend.notices import CostLimit, CostWarning, InputRequested

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from brim.notices import Notice
    from brim.spend.limits import Raise


class CostBudget:
    """A limit in micro-dollars, what is spent of it, and who was asked.

    *limit* None is no limit; 0 means that nothing may be spent. *warn* is the share of the limit that is worth a
    warning. What is spent here counts against *parent* too. *spent* is what a resumed job has spent already: a limit
    does not begin anew with a process.

    >>> budget = CostBudget(limit=5_000_000)
    >>> budget.add(1_200_000)
    []
    >>> [str(notice) for notice in budget.add(3_000_000)]
    ['$4.20 of $5.00 is spent (84 %)']
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
        parent: CostBudget | None = None,
    ) -> None:
        if isinstance(warn, bool) or not isinstance(warn, int | float) or not 0 <= warn <= 1:
            raise InputError(f"warn must be a share from 0 to 1, not {repr(warn)[:40]}")
        self._limit = Limit(limit)
        self._spent = checked_amount(spent, "what is spent already")
        self._subscribers = Subscribers()
        self.warn, self.scope, self.parent = warn, scope, parent

    def add(self, amount: int) -> list[Notice]:
        """Count *amount* as spent; a negative one takes back what was counted too high.

        Return what is to be told now: nothing, a ``CostWarning``, or a ``CostLimit`` and an ``InputRequested``. What
        the scopes above have to tell follows.
        """
        if type(amount) is not int:
            raise InputError(f"the amount must be a whole number of micro-dollars, not {repr(amount)[:40]}")
        self._spent = max(0, self._spent + amount)
        warn = ask = False
        if not any(each.state in (WRAPPING_UP, STOPPED) for each in self._path[1:]):  # else somebody has answered
            self._limit, warn, ask = self._limit.reached(self._spent, self.warn)
        limit = self._limit.amount or 0
        notices: list[Notice] = [CostWarning(self._spent, limit, self.scope)] if warn else []
        if ask:
            notices.append(CostLimit(self._spent, limit, self.scope, held=self.held))
            notices.append(InputRequested(self._spent, limit, self.scope))
        above = self.parent.add(amount) if self.parent is not None else []
        self._subscribers.tell(notices)
        return notices + above

    def answer(self, answer: str | Raise) -> None:
        """Do what a person said: ``continue`` (once, a tenth more), ``Raise(to)``, ``wrap_up`` or ``stop``."""
        self._limit = self._limit.answered(answer, self._spent, self.warn)

    def subscribe(self, subscriber: Callable[[Notice], object]) -> Callable[[], None]:
        """Tell *subscriber* of every notice of this budget from now on; call what is returned to end that."""
        return self._subscribers.add(subscriber)

    @property
    def limit(self) -> int | None:
        """The limit in force, which an answer may have raised."""
        return self._limit.amount

    @property
    def spent(self) -> int:
        """The sum of what was added."""
        return self._spent

    @property
    def held(self) -> int:
        """What of the limit is held back for the wrap-up: 5 %, at most $0.50."""
        return self._limit.held

    @property
    def pause_at(self) -> int | None:
        """The sum at which somebody is asked: the limit without what is held back."""
        return self._limit.pause_at

    @property
    def state(self) -> str:
        """``open``, ``asked`` (the limit is reached, nobody has answered), ``wrapping_up`` or ``stopped``."""
        return self._limit.state

    @property
    def left(self) -> int | None:
        """What may still be spent here and in every scope above; None is without end.

        While the work is wrapped up, here or above, that is what the wrap-up may cost.
        """
        ending = any(each.state == WRAPPING_UP for each in self._path)
        rooms = [
            0 if each.state == ASKED and not ending else each._limit.room(each.spent, WRAP_UP, ending=ending)
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
        return max(0, self._spent - self._limit.amount) if self._limit.amount is not None else 0

    @property
    def _path(self) -> list[CostBudget]:
        """This budget and those above it."""
        return [self, *(self.parent._path if self.parent is not None else [])]

    def __repr__(self) -> str:
        limit = "no limit" if self.limit is None else in_dollars(self.limit)
        return f"CostBudget({in_dollars(self._spent)} of {limit}, {self.state})"
