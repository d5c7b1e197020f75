"""The money of a supervised run: counted once per request, and held against its own limit and the
person's.

brim isn't in the calls, so limits are checked between them, and the agent is told what is left. A
program may give the run a ledger, which then has the other limits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, TypeVar

from brim.agents.call import Event
from brim.agents.events import RunTotal, Usage
from brim.errors import InputError, StoreError
from brim.models.price_list import PriceList
from brim.money.allowances import Allowance
from brim.money.amounts import PERCENT, TOKENS, USD, as_limit, as_money, in_unit, out_of
from brim.money.budget import ENDING, STOPPED, WARN, WRAPPING_UP, CostBudget, Raise
from brim.money.ledger import Ledger, ScopeStatus
from brim.money.limits import read_limit
from brim.money.meter import SpendMeter
from brim.money.periods import when
from brim.money.scopes import lineage, name_of, segment
from brim.money.standing import LimitStanding
from brim.money.stored_ledger import LONGEST_ID
from brim.notices import Notice
from brim.run.limits import RunLimits
from brim.usd import Money

UNATTRIBUTED = "unattributed:"
"""The beginning of the id of what no line shows; the session follows."""
ON_LIMIT = ("ask", "continue", "wrap_up", "stop")
"""What may be done at the limit. ``ask`` without a person to ask is ``wrap_up``."""
_WORDS = {
    "wrap_up": ("", "w", "wrap", "wrap-up", "wrap_up", "n", "no"),
    "continue": ("c", "continue", "y", "yes"),
    "stop": ("s", "stop", "q", "quit"),
}
"""What a person may type at the limit."""
_Result = TypeVar("_Result")
_MOST = 1e9
"""Dollars that a client may say: more isn't a sum of money."""


class Purse:
    """What a run spends, against *limit* (micro-dollars, None for none) and the limit of the
    project it is in.

    Without a *ledger* the run is counted all the same, and nothing is kept. *resumed* is whether
    the session was there before: its total includes what was spent then, which isn't this run's.
    *branch* is noted in the ledger.
    """

    def __init__(
        self,
        limit: int | None,
        *,
        scope: str,
        ledger: Ledger | None = None,
        warn: float = WARN,
        resumed: bool = False,
        branch: str = "",
        limits: RunLimits | None = None,
        tell: Callable[[str], object] = print,
    ) -> None:
        self.scope = scope
        self.meter = SpendMeter()
        self._ledger = ledger
        self._warn = warn
        self._tell = tell
        self._branch = branch
        self._limits = limits
        self._held_standing: LimitStanding | None = None
        self._period = ""
        """The period of the project's limit."""
        self.held: CostBudget | None = None
        """A limit that is reached and isn't the run's or the project's in dollars: of tokens, a
        sub-agent, a plan."""
        self._held_period = ""
        self._is_wrapping_up = False
        self._scopes: dict[str, str] = {}
        """Where each request counts: a sub-agent has a scope of its own."""
        self._resumed = resumed
        self._carried: dict[str, int] = {}
        """What each session that was there before had cost."""
        self._amounts: dict[str, int] = {}
        self._tokens: dict[str, int] = {}
        self._model = ""
        self._client_says = False
        self._project = lineage(scope)[0]
        own_limit = None
        if limit is not None:
            own_limit = Money(limit)
        self.budget = CostBudget(own_limit, warn, scope=scope)
        if ledger is not None:
            if limit is not None:
                ledger.limit(scope, own_limit)
            parent = None
            if self._project != scope:
                parent = self._budget_of(ledger.tightest(self._project))
            spent = ledger.status(scope).spent
            self.budget = CostBudget(own_limit, warn, scope=scope, spent=spent, parent=parent)
        self._look_further()

    @property
    def is_spent(self) -> bool:
        """Whether no other call may be made."""
        return self.held is not None or not self.budget.may_spend

    @property
    def asked(self) -> CostBudget:
        """The limit that stands in the way: the run's own, the project's, or the one that is
        ``held``."""
        budget = self.budget
        if self.held is not None and budget.may_spend:
            return self.held
        is_paused = budget.pause_at is not None and budget.spent >= budget.pause_at
        if budget.parent is None or is_paused:
            return budget
        return budget.parent

    @property
    def is_ended(self) -> bool:
        """Whether a person has said before that nothing more may be spent."""
        parent = self.budget.parent
        if parent is not None and parent.state == STOPPED:
            return True
        return self.budget.state == STOPPED

    @property
    def unpriced(self) -> tuple[str, ...]:
        """The models whose requests have a price neither here nor in a total of the agent."""
        if self._client_says:
            return ()
        if self.meter.unpriced:
            return tuple(sorted(self.meter.unpriced))
        if self.meter.unpriced_sessions:
            return ("this session",)
        return ()

    @property
    def why_not_enforced(self) -> str:
        """Why a limit can't be kept, and what to do; empty if it can."""
        if not self.unpriced or self.budget.left is None:
            return ""
        return (
            f"no price is known for {', '.join(self.unpriced)}, so the limit cannot be kept: "
            "put the price under 'models' in the configuration"
        )

    def take(self, event: Event, line: Mapping[str, Any]) -> list[Notice]:
        """Count *event*, which *line* says; return what must be told because of it."""
        whole_event = event
        if isinstance(event, Usage) and not event.agent:
            self._model = event.model or self._model
        if isinstance(event, RunTotal):
            self._client_says = self._client_says or event.cost is not None
            event = self._own_total(event, line)
        amount = self.meter.update(event)
        if not amount:
            return []
        key = self._key_of(event)
        if self._limits is not None and isinstance(whole_event, Usage | RunTotal):
            self._limits.add(whole_event, amount, self._new_tokens(key, event))
        self._record(event, key, amount)
        self._look_further()
        return self.budget.add(amount)

    def _key_of(self, event: Event) -> str:
        """Return the id under which the money of *event* counts."""
        if isinstance(event, Usage) and event.request:
            return event.request
        # A session may be continued in another run, which has an amount of its own.
        return f"{UNATTRIBUTED}{event.session}:{self.scope}"[:LONGEST_ID]

    def _record(self, event: Event, key: str, amount: int) -> None:
        """Keep in the ledger that *event* took *amount* more."""
        tokens = 0
        model = ""
        if isinstance(event, Usage):
            tokens = event.tokens.fresh
            model = event.model
        self._amounts[key] = self._amounts.get(key, 0) + amount
        total = max(0, self._amounts[key])
        scope = self.scope
        if event.agent:
            scope = f"{self.scope}/{segment(event.agent)}"
        scope = self._scopes.setdefault(key, scope)

        def record(ledger: Ledger) -> None:
            """An ``InputError`` says that another run has counted this request already."""
            ledger.record(
                scope,
                key,
                Money(total),
                tokens=tokens,
                at=event.time,
                model=model,
                branch=self._branch,
            )

        self._try(record)

    def answer(self, answer: str | Raise) -> None:
        """Do what a person said about the limit that was reached."""
        asked = self.asked
        if asked.unit == PERCENT and answer == "continue":
            raise InputError("a plan's window has no tenth more: raise the limit, wrap up or stop")
        standing = self._held_standing
        if asked is self.held and standing is not None and self._limits is not None:
            self._limits.answer(standing, answer)
            self._is_wrapping_up = answer == "wrap_up"
            self._look_further()
            return
        if asked.unit != PERCENT:  # of which nothing is held back
            asked.answer(answer)
        if isinstance(answer, Raise):
            answer = self._raise_of(answer, asked)
        self._is_wrapping_up = answer == "wrap_up"
        # It may have been answered otherwise there.
        self._try(lambda ledger: ledger.answer(asked.scope, answer))
        self._look_further()

    def _raise_of(self, answer: Raise, asked: CostBudget) -> Raise:
        """Return *answer* for the period and unit of the limit *asked*."""
        if asked is self.budget.parent:
            return replace(answer, per=self._period)
        if asked is self.held:
            return replace(answer, per=self._held_period, unit=asked.unit)
        return answer

    def look(self) -> list[Notice]:
        """Take in what others have spent in the project, and what was answered there."""
        self._look_further()
        if self._limits is not None:
            return []
        parent = self.budget.parent
        if parent is None:
            return []
        status = self._try(lambda ledger: ledger.tightest(self._project))
        if status is None:
            return []
        if self._is_other(status, parent):
            self.budget.parent = self._budget_of(status)
            return []
        spent_by_others = status.spent - parent.spent
        if not spent_by_others:
            return []
        return parent.add(spent_by_others)

    def _is_other(self, status: ScopeStatus, parent: CostBudget) -> bool:
        """Whether *status* is of another limit than *parent*, or of that one in another state."""
        if (status.scope, status.limit) != (parent.scope, parent.limit):
            return True
        if status.period != self._period or status.spent < parent.spent:
            return True
        return _is_ending(status.state) != _is_ending(parent.state)

    def _look_further(self) -> None:
        """Look whether a limit is reached that isn't followed here: of tokens, a session, a
        sub-agent or a plan."""
        if self._limits is not None:
            self._look_at_limits(self._limits)
            return
        self.held = None
        for allowance in self._reached():
            if allowance.unit == USD and "/" not in allowance.scope:
                continue
            if self._is_wrapping_up and not self._ends_wrap_up(allowance):
                continue
            self._held_period = allowance.period
            self.held = CostBudget(
                as_limit(allowance.limit.amount, allowance.unit),
                scope=allowance.scope,
                spent=as_money(allowance.spent, allowance.unit),
                unit=allowance.unit,
                when=allowance.when,
            )
            return

    def _reached(self) -> list[Allowance]:
        """Return the limits of this run and its sub-agents that are reached."""
        scopes = [self.scope, *sorted(set(self._scopes.values()) - {self.scope})]

        def reached(ledger: Ledger) -> list[Allowance]:
            """Return those of all scopes."""
            limits: list[Allowance] = []
            for scope in scopes:
                limits += ledger.reached(scope)
            return limits

        return self._try(reached) or []

    def _ends_wrap_up(self, allowance: Allowance) -> bool:
        """Whether a limit ends a wrap-up too, which may take what is held back, and isn't a
        sub-agent."""
        if allowance.scope.startswith(f"{self.scope}/"):
            return False
        return allowance.spent >= (allowance.limit.amount or 0)

    def _look_at_limits(self, limits: RunLimits) -> None:
        """Look whether a limit of the person is reached; a wrap-up may use what is kept for it."""
        self.held = None
        self._held_standing = None
        for standing in limits.standings():
            is_over = standing.is_stopped
            if self._is_wrapping_up:
                is_over = standing.spent >= standing.amount
            if not is_over:
                continue
            self._held_standing = standing
            self._held_period = standing.limit.period
            self.held = CostBudget(
                as_money(standing.amount, standing.limit.unit),
                scope=standing.limit.project_name,
                spent=as_money(standing.spent, standing.limit.unit),
                unit=standing.limit.unit,
                when=when(standing.limit.period),
            )
            return

    def _new_tokens(self, key: str, event: Event) -> int:
        """Return how many tokens of the request *key* weren't counted before *event*."""
        tokens = 0
        if isinstance(event, Usage):
            tokens = event.tokens.fresh
        new = max(0, tokens - self._tokens.get(key, 0))
        self._tokens[key] = self._tokens.get(key, 0) + new
        return new

    def _budget_of(self, status: ScopeStatus) -> CostBudget:
        """Return the limit in *status*, as it was answered."""
        self._period = status.period
        budget = CostBudget(status.limit, self._warn, scope=status.scope, spent=status.spent)
        if _is_ending(status.state):
            budget.answer("wrap_up" if status.state == WRAPPING_UP else "stop")
        return budget

    def _own_total(self, event: RunTotal, line: Mapping[str, Any]) -> RunTotal:
        """Return *event* without what the session had cost before this run."""
        if not self._resumed or event.cost is None:
            return event
        if event.session not in self._carried:
            self._carried[event.session] = max(0, event.cost - self._cost_since(event, line))
        return replace(event, cost=max(0, event.cost - self._carried[event.session]))

    def _cost_since(self, event: RunTotal, line: Mapping[str, Any]) -> int:
        """Return what was spent in the turn that *event* ends: as the client says, else by what the
        turn took.

        A client that says neither, or whose model has no price, is charged in full.
        """
        since = line.get("model_usage_since_last_result")
        if isinstance(since, dict):
            return sum(_micro_dollars_of(usage) for usage in since.values())
        if event.usage is None:
            return event.cost or 0
        cost = PriceList().request(event.usage, self._model, event.time)
        if cost is None:
            return event.cost or 0
        return cost

    def _try(self, act: Callable[[Ledger], _Result]) -> _Result | None:
        """Do what concerns the ledger; if it fails, say so once and count on without it."""
        if self._ledger is None:
            return None
        try:
            with suppress(InputError):
                return act(self._ledger)
        except StoreError as error:
            self._ledger = None
            self._tell(f"what is spent from now on is counted, but not kept: {error}")
        return None


def scope_of(place: str, run: str, shared_name: str = "") -> str:
    """Return the scope of a run in the project at *place*, or that is called *shared_name* in a
    ledger of many machines.

    >>> scope_of("/home/user/my shop", "5f2a"), scope_of("", "5f2a")
    ('my-shop/run-5f2a', 'no-project/run-5f2a')
    """
    return f"{shared_name or name_of(place)}/run-{run}"


def question(budget: CostBudget) -> str:
    """Return the question at the limit of *budget*."""
    where = ""
    if budget.scope:
        where = f" in {budget.scope}"
    left = 0
    if budget.unit != PERCENT:
        left = min(budget.set_aside, (budget.limit or 0) - budget.spent)
    reserve = ""
    if left > 0:
        reserve = f"; {in_unit(left, budget.unit)} is held back for the wrap-up"
    name = "cost limit" if budget.unit == USD else "limit"
    typed, amount = {USD: ("USD", "USD"), TOKENS: ("N", "N tokens")}.get(
        budget.unit, ("PERCENT", "PERCENT")
    )
    return (
        f"The {name} is reached{where}: {spent_of(budget)} is spent{budget.when}{reserve}.\n"
        "  c        continue once, with a tenth more\n"
        f"  {f'r {typed}':9}raise the limit to {amount}\n"
        "  w        wrap up: the agent leaves the work in a sound state and says where it stands\n"
        "  s        stop now\n"
        "What now? [w] "
    )


def spent_of(budget: CostBudget) -> str:
    """Return what is spent of *budget*'s limit, for a person."""
    return out_of(budget.spent, budget.limit or 0, budget.unit)


def read_answer(typed: str, unit: str = USD) -> str | Raise:
    """Return the answer that *typed* means; nothing is ``wrap_up``. An ``InputError`` says what
    isn't understood.

    *unit* is what the limit counts.

    >>> read_answer("c"), read_answer("r 8").to, read_answer("r 3M", "tokens").to, read_answer("")
    ('continue', Money($8.00), 3000000, 'wrap_up')
    """
    word, _, amount = typed.strip().casefold().partition(" ")
    for answer, words in _WORDS.items():
        if word in words:
            return answer
    if word not in ("r", "raise"):
        raise InputError(f"{typed[:40]!r} isn't an answer: write c, r USD, w or s")
    if not amount.strip():
        raise InputError("raise to how much? write r 8")
    amount = amount.removeprefix("to ").strip()
    if unit == TOKENS:
        tokens = read_limit(f"{amount.removesuffix('tokens').strip()} tokens").amount
        return Raise(tokens, unit=TOKENS)
    if unit == PERCENT:
        percent = read_limit(f"{amount.rstrip('% ')}%/1h").amount
        return Raise(percent, unit=PERCENT)
    return Raise(amount)


def _micro_dollars_of(usage: object) -> int:
    """Return the cost that a client says with *usage*; 0 if it isn't a sum of money."""
    cost = usage.get("costUSD") if isinstance(usage, dict) else None
    if not isinstance(cost, int | float) or not 0 <= cost < _MOST:
        return 0
    return round(cost * 1_000_000)


def _is_ending(state: str) -> bool:
    """Whether nothing but a wrap-up may be sent in the *state* of a limit."""
    return state in ENDING
