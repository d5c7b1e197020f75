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
from brim.money.periods import when
from brim.money.standing import LimitStanding
from brim.run.limits import RunLimits
from brim.spend.ledger import Ledger, ScopeStatus, lineage
from brim.spend.limits import STOPPED, WARN, WRAPPING_UP, CostBudget, Raise
from brim.spend.meter import SpendMeter
from brim.spend.money import micro_dollars
from brim.spend.periods import PERCENT, TOKENS, USD, Allowance, in_unit, out_of, read_ceiling
from brim.store.ledger import LONGEST_ID, StoredLedger
from brim.store.project import name_of, segment
from brim.tracking.notices import Notice

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
    *plans* reads the plan's window of a limit, as in ``Ledger.reached``; *branch* is noted in the
    ledger.
    """

    def __init__(
        self,
        limit: int | None,
        *,
        scope: str,
        ledger: Ledger | None = None,
        warn: float = WARN,
        resumed: bool = False,
        plans: Callable[[Allowance], list[Allowance]] | None = None,
        branch: str = "",
        limits: RunLimits | None = None,
        tell: Callable[[str], object] = print,
    ) -> None:
        self.scope = scope
        self.meter = SpendMeter()
        self._ledger, self._warn, self._tell = ledger, warn, tell
        self._plans, self._branch = plans, branch
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
        self._carried: dict[str, int] | None = {} if resumed else None
        self._amounts: dict[str, int] = {}
        self._tokens: dict[str, int] = {}
        self._model, self._client_says = "", False
        self._project = lineage(scope)[0]
        self.budget = CostBudget(limit, warn, scope=scope)
        if ledger is not None:
            if limit is not None:
                ledger.limit(scope, limit)
            parent = (
                self._budget_of(ledger.tightest(self._project)) if self._project != scope else None
            )
            self.budget = CostBudget(
                limit, warn, scope=scope, spent=ledger.status(scope).spent, parent=parent
            )
        self._look_further()

    @property
    def is_spent(self) -> bool:
        """Whether no other call may be made."""
        return self.held is not None or not self.budget.may_spend

    @property
    def asked(self) -> CostBudget:
        """The limit that stands in the way: the run's own, the project's, or the one that is
        ``held``."""
        parent = self.budget.parent
        if self.held is not None and self.budget.may_spend:
            return self.held
        if parent is None or (
            self.budget.pause_at is not None and self.budget.spent >= self.budget.pause_at
        ):
            return self.budget
        return parent

    @property
    def is_ended(self) -> bool:
        """Whether a person has said before that nothing more may be spent."""
        parent = self.budget.parent
        return STOPPED in (self.budget.state, parent.state if parent is not None else "")

    @property
    def unpriced(self) -> tuple[str, ...]:
        """The models whose requests have a price neither here nor in a total of the agent."""
        if self._client_says:
            return ()
        unnamed = (
            ("this session",) if self.meter.unpriced_sessions and not self.meter.unpriced else ()
        )
        return (*sorted(self.meter.unpriced), *unnamed)

    @property
    def why_not_enforced(self) -> str:
        """Why a limit can't be kept, and what to do; empty if it can."""
        if not self.unpriced or self.budget.left is None:
            return ""
        return (
            f"no price is known for {', '.join(self.unpriced)}, so the limit cannot be kept: put the price under "
            "'models' in the configuration"
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
        key = event.request if isinstance(event, Usage) else ""
        # A session may be continued in another run, which has an amount of its own.
        key = key or f"{UNATTRIBUTED}{event.session}:{self.scope}"[:LONGEST_ID]
        total = self._amounts[key] = self._amounts.get(key, 0) + amount
        scope = self._scopes.setdefault(
            key, f"{self.scope}/{segment(event.agent)}" if event.agent else self.scope
        )
        tokens, model = (event.tokens.fresh, event.model) if isinstance(event, Usage) else (0, "")
        if self._limits is not None and isinstance(whole_event, Usage | RunTotal):
            self._limits.add(whole_event, amount, self._new_tokens(key, tokens))
        made_with = {"model": model, "branch": self._branch}
        # An InputError says that another run has counted this request already.
        self._try(
            lambda ledger: ledger.record(
                scope, key, max(0, total), tokens=tokens, at=event.time, **made_with
            )
        )
        self._look_further()
        return self.budget.add(amount)

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
        if isinstance(answer, Raise) and asked is self.budget.parent:
            answer = replace(answer, per=self._period)
        elif isinstance(answer, Raise) and asked is self.held:
            answer = replace(answer, per=self._held_period, unit=asked.unit)
        self._is_wrapping_up = answer == "wrap_up"
        self._try(
            lambda ledger: ledger.answer(asked.scope, answer)
        )  # which may have been answered otherwise there
        self._look_further()

    def look(self) -> list[Notice]:
        """Take in what others have spent in the project, and what was answered there."""
        self._look_further()
        if self._limits is not None:
            return []
        parent = self.budget.parent
        found = (
            self._try(lambda ledger: ledger.tightest(self._project)) if parent is not None else None
        )
        if parent is None or found is None:
            return []
        is_other = (found.scope, found.limit, found.period) != (
            parent.scope,
            parent.limit,
            self._period,
        )
        if (
            is_other
            or found.spent < parent.spent
            or _is_ending(found.state) != _is_ending(parent.state)
        ):
            self.budget.parent = self._budget_of(found)
            return []
        more = found.spent - parent.spent
        return parent.add(more) if more else []

    def _look_further(self) -> None:
        """Look whether a limit is reached that isn't followed here: of tokens, a session, a
        sub-agent or a plan."""
        if self._limits is not None:
            self._look_at_limits(self._limits)
            return
        scopes = [self.scope, *sorted({*self._scopes.values()} - {self.scope})]
        found = self._try(
            lambda ledger: [
                each for name in scopes for each in ledger.reached(name, plans=self._plans)
            ]
        )
        others = [each for each in found or () if each.unit != USD or "/" in each.scope]
        if self._is_wrapping_up:  # which may take what is held back, and isn't a sub-agent
            own = [
                each
                for each in others
                if each.unit != PERCENT and not each.scope.startswith(f"{self.scope}/")
            ]
            others = [each for each in own if each.spent >= (each.limit.amount or 0)]
        self.held = None
        if others:
            first = others[0]
            self._held_period = first.period
            self.held = CostBudget(
                first.limit.amount,
                scope=first.scope,
                spent=first.spent,
                unit=first.unit,
                when=first.when,
            )

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
                standing.amount,
                scope=standing.limit.project_name,
                spent=standing.spent,
                unit=standing.limit.unit,
                when=when(standing.limit.period),
            )
            return

    def _new_tokens(self, key: str, tokens: int) -> int:
        """Return how many *tokens* of the request *key* weren't counted yet."""
        new = max(0, tokens - self._tokens.get(key, 0))
        self._tokens[key] = self._tokens.get(key, 0) + new
        return new

    def _budget_of(self, status: ScopeStatus) -> CostBudget:
        self._period = status.period
        budget = CostBudget(status.limit, self._warn, scope=status.scope, spent=status.spent)
        if _is_ending(status.state):
            budget.answer("wrap_up" if status.state == WRAPPING_UP else "stop")
        return budget

    def _own_total(self, event: RunTotal, line: Mapping[str, Any]) -> RunTotal:
        """Return *event* without what the session had cost before this run."""
        if self._carried is None or event.cost is None:
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
            costs = [each.get("costUSD") for each in since.values() if isinstance(each, dict)]
            return sum(
                round(cost * 1_000_000)
                for cost in costs
                if isinstance(cost, int | float) and 0 <= cost < _MOST
            )
        took = (
            None
            if event.usage is None
            else PriceList().request(event.usage, self._model, event.time)
        )
        return (event.cost or 0) if took is None else took

    def _try(self, act: Callable[[Ledger], _Result]) -> _Result | None:
        """Do what concerns the ledger; if it fails, say so once and count on without it."""
        try:
            with suppress(InputError):
                return None if self._ledger is None else act(self._ledger)
        except StoreError as error:
            self._ledger = None
            self._tell(f"what is spent from now on is counted, but not kept: {error}")
        return None


def scope_of(place: str, run: str, ledger: Ledger | None = None) -> str:
    """Return the scope of a run in the project at *place*, as the hooks have it in a user's
    *ledger*.

    >>> scope_of("/home/user/my shop", "5f2a"), scope_of("", "5f2a")
    ('my-shop/run-5f2a', 'no-project/run-5f2a')
    """
    return f"{ledger.project(place) if isinstance(ledger, StoredLedger) and place else name_of(place)}/run-{run}"


def question(budget: CostBudget) -> str:
    """Return the question at the limit of *budget*."""
    whose = f" in {budget.scope}" if budget.scope else ""
    left = 0 if budget.unit == PERCENT else min(budget.held, (budget.limit or 0) - budget.spent)
    rest = f"; {in_unit(left, budget.unit)} is held back for the wrap-up" if left > 0 else ""
    what, unit = {USD: ("cost limit", "USD"), TOKENS: ("limit", "N")}.get(
        budget.unit, ("limit", "PERCENT")
    )
    return (
        f"The {what} is reached{whose}: {spent_of(budget)} is spent{budget.when}{rest}.\n"
        "  c        continue once, with a tenth more\n"
        f"  {f'r {unit}':9}raise the limit to {unit}{' tokens' if budget.unit == TOKENS else ''}\n"
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
    ('continue', 8000000, 3000000, 'wrap_up')
    """
    word, _, rest = typed.strip().casefold().partition(" ")
    for answer, words in _WORDS.items():
        if word in words:
            return answer
    if word not in ("r", "raise"):
        raise InputError(f"{typed[:40]!r} isn't an answer: write c, r USD, w or s")
    if not rest.strip():
        raise InputError("raise to how much? write r 8")
    rest = rest.removeprefix("to ").strip()
    if unit == TOKENS:
        return Raise(read_ceiling(f"{rest.removesuffix('tokens').strip()} tokens").amount)
    if unit == PERCENT:
        return Raise(read_ceiling(f"{rest.rstrip('% ')}%/1h").amount)
    return Raise(micro_dollars(rest, up=False))


def _is_ending(state: str) -> bool:
    return state in (WRAPPING_UP, STOPPED)
