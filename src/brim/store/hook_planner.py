"""Plans for a hook: it reads texts and costs only of rules that may be told now, and never loads a
tokenizer.

What is due, what a budget can hold and what a project's settings admit is the same for ``planner``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import cached_property
from math import nextafter
from typing import Any, TypeVar

from brim.activation.context import Context
from brim.activation.engine import Course
from brim.activation.relevance import rank
from brim.behaviors.behavior import BehaviorKind, Status
from brim.config import Config
from brim.models.light import DEFAULT_ENCODING, lookup
from brim.rules.costs import ENCODINGS, Costs, StoredCosts
from brim.rules.mapper import ActivationTierMapper
from brim.rules.plan import InjectionPlan
from brim.rules.session import Session
from brim.rules.text import PROTECTED, says_all, text_of
from brim.rules.tiers import Tier
from brim.store.events import note_injection
from brim.store.scopes import Scopes
from brim.tokens.calibrate import ANY_FAMILY, Ratio, ratio_for

_Costs = TypeVar("_Costs", bound=Costs)
Standing = tuple[BehaviorKind, Status]
Counting = tuple[str, Ratio | None]
"""An encoding that costs are stored in, and what to multiply them by."""

OWN = (
    *("token_budget.default", "token_budget.dynamic_context", "injection.max_chars"),
    *("tiers.full", "tiers.summary", "tiers.name_only"),
)
"""What a project's file sets for the project's own rules."""

ABOUT = 0.3
"""What a prompt is about scores at least this share of the best."""

FIRST = 48
"""How many of the strongest rules a hook looks up costs for at first; the budget often ends among
them."""


class HookPlanner:
    """Plans for a hook, made of the rules that *context* activates and that *session* lets through.

    Finding them takes no lock, so nothing waits while it turns out that nothing is due. Rules
    without any condition are told when a session begins, or with the first prompt after they were
    learned; without *always*, they aren't, nor are those in *read*, which stand in the window
    already. The rules in *leave* are left out. The planner is true if something may be told.
    """

    def __init__(
        self,
        scopes: Scopes,
        config: Config,
        context: Context,
        *,
        now: float,
        model: str | None,
        session: Session | None,
        always: bool = True,
        leave: Collection[str] = (),
        read: Collection[str] = (),
    ) -> None:
        self._theirs, config = config, config.yours
        self._scopes, self._config, self._now, self._model = scopes, config, now, model
        self._context, self._session, self._always, self._leave = context, session, always, leave
        self._told = {*read, *(session.shown if session is not None else ())}
        self._mapper = ActivationTierMapper(**config.section("tiers"))
        self._choose()
        if self._values:
            # What plan() and tell() need is loaded here, so that no lock is held while modules are
            # found.
            import brim.activation.weights
            import brim.rules.text  # noqa: F401

            self._counting  # noqa: B018 - loads the table of models

    def _choose(self) -> None:
        """Find what the situation activates, and what of it may be told."""
        scopes, session = self._scopes, self._session
        with scopes.reading():
            self._ranked = course = self._course()
            if any(course.around.takes.values()) and scopes.set_aside(
                way[-1] for ways in course.around.takes.values() for way in ways
            ):
                self._ranked = course = self._course()
            ranked = course.ranked()
            self.active = [id for id, _ in ranked]
            """Everything that is activated, told or not."""
            self._standings = scopes.standings(self.active)
        told = [
            (id, value) for id, value in ranked if id in self._standings and id not in self._leave
        ]
        self._values = [
            (id, value)
            for id, value in told
            if is_due(
                self._mapper,
                id,
                value,
                self._standings[id],
                session=session,
                fill=self._config["injection.fill"],
            )
        ]
        self.constraints = [id for id, _ in self._values if self._standings[id] == PROTECTED]
        """The constraints that may be told, strongest first."""

    def _course(self) -> Course:
        scopes, now, always, told = self._scopes, self._now, self._always, self._told
        return rank(scopes, self._context, now=now, always=always, told=told)

    @cached_property
    def _counting(self) -> Counting:
        return counting_of(self._scopes, self._model)

    def __bool__(self) -> bool:
        return bool(self._values)

    def plan(
        self,
        budget: int | None,
        *,
        key: str,
        max_chars: int | None,
        max_bytes: int | None = None,
        session: Session | None = None,
        only: Collection[str] | None = None,
    ) -> InjectionPlan:
        """Return what goes in within *budget* tokens, *max_chars* and *max_bytes*, of *only* these
        ids if given.

        *key* is the setting that the budget comes from.
        """
        plan = self._plan(budget, key, max_chars, session, only)
        while max_bytes is not None and plan.characters * 4 > max_bytes and not plan.over_budget:
            taken = len(self.tell(plan).encode("utf-8", "replace"))
            if taken <= max_bytes:
                break
            plan = self._plan(budget, key, plan.characters * max_bytes // taken, session, only)
        return plan

    def tell(
        self,
        plan: InjectionPlan,
        session_id: str = "",
        *,
        event: str = "",
        session: Session | None = None,
    ) -> str:
        """Return the text of *plan*. With a *session_id*, note that it was told: call it inside
        ``scopes.writing()``.

        In *session*, a summary that says everything counts as the whole text, which then need not
        follow.
        """

        included = plan.included
        whole = self._scopes.get_many([item.id for item in included])
        if session is not None:
            for item in included:
                if item.tier is Tier.SUMMARY and says_all(whole[item.id]):
                    session.told_whole(item.id)
        if session_id and included:
            told = [whole[item.id] for item in included]
            note_injection(
                self._scopes, told, self.active, now=self._now, session=session_id, event=event
            )
        chosen = [(whole[item.id], item.tier, item.activation) for item in included]
        return text_of(chosen, left=plan.left_out)

    def _plan(
        self,
        budget: int | None,
        key: str,
        max_chars: int | None,
        session: Session | None,
        only: Collection[str] | None,
    ) -> InjectionPlan:
        due = [pair for pair in self._values if only is None or pair[0] in only]
        spare = untold(self._ranked, session, self._standings) if only is None else set()
        values, costs = affordable(
            self._mapper,
            due,
            self._standings,
            budget,
            costs_for=self._costs,
            units_of=_stored_units,
            spare=spare,
        )
        more = len({id for id, _ in due}.difference(spare, [id for id, _ in values]))
        known: dict[str, Any] = dict(
            self._scopes.sketches([id for id, _ in values])
        )  # read again, under the lock
        known.update(self._scopes.get_many([id for id in known if not costs.covers(id)]))
        values = [pair for pair in values if pair[0] in known]
        plan = self._mapper.plan(
            limit_project(values, known, self._theirs, key, session=session, costs=costs),
            known,
            budget=budget,
            max_chars=max_chars,
            fill=self._config["injection.fill"],
            session=session,
            costs=costs,
            floor="fit",
            further=more,
        )
        if self._scopes.leave_out([item.id for item in plan.included]):
            self._scopes.leave_out(self.active)  # one of them is seldom alone
            self._choose()
            return self._plan(budget, key, max_chars, session, only)
        return plan

    def _costs(self, values: list[tuple[str, float]]) -> StoredCosts:
        return costs_counted(self._scopes, [id for id, _ in values], self._model, self._counting)


def detail(mapper: ActivationTierMapper, value: float, standing: Standing) -> Tier:
    """Return the most detail that a rule of this *standing* gets at *value*, before there is room
    to spare."""
    kind, status = standing
    tier = mapper.tier(value, kind if standing == PROTECTED else "")
    return min(tier, Tier.SUMMARY) if status is Status.PENDING else tier


def is_due(
    mapper: ActivationTierMapper,
    id: str,
    value: float,
    standing: Standing,
    *,
    session: Session | None,
    fill: bool,
) -> bool:
    """Whether a rule has to be told at *value*, and *session* lets it through in some detail."""
    tier = detail(mapper, value, standing)
    if tier is Tier.OMITTED or session is None:
        return tier is not Tier.OMITTED
    can_be_whole = fill and standing[1] is not Status.PENDING
    return session.allows(id, Tier.FULL if can_be_whole else tier)


def untold(course: Course, session: Session | None, standings: Mapping[str, Standing]) -> set[str]:
    """Return what the start of *session* had no room for, and nothing asks for since: it waits
    until something does.

    Constraints come before all other rules, so what asks for one of them has to be about it.
    """
    if session is None or not session.shown:
        return set()
    found = course.around.found or {}
    least = ABOUT * max([each.score for each in found.values()], default=0.0)
    far = [id for id, each in found.items() if not each.sure and each.score < least]
    return (
        set(course.around.seeds)
        .difference(found)
        .union([id for id in far if standings.get(id) == PROTECTED])
    )


def _stored_units(costs: StoredCosts, id: str, tier: Tier) -> int:
    stored = costs.stored(id, tier)
    return stored[0] if stored is not None else 0


def affordable(
    mapper: ActivationTierMapper,
    values: list[tuple[str, float]],
    standings: Mapping[str, Standing],
    budget: int | None,
    *,
    costs_for: Callable[[list[tuple[str, float]]], _Costs],
    units_of: Callable[[_Costs, str, Tier], int],
    spare: Collection[str] = (),
) -> tuple[list[tuple[str, float]], _Costs]:
    """Return those of *values* that can be in a plan, and their costs.

    A plan drops a rule wholly before it touches a higher one, and constraints last. So a rule is
    out if those before it, in as much detail as their activation gives them, are too much without
    it. Those in *spare* come last, and all of them or none.
    """
    if budget is None:
        return values, costs_for(values)
    # Of equal rules the one with the lower id gives way first, as in the plan.
    ranked = sorted(
        values,
        key=lambda pair: (pair[0] not in spare, standings[pair[0]] == PROTECTED, pair[1], pair[0]),
        reverse=True,
    )
    for first in (ranked[:FIRST], ranked):
        costs, units = costs_for(first), 0
        for at, (id, value) in enumerate(first, start=1):
            tier = detail(mapper, value, standings[id])
            own = units_of(costs, id, tier)
            if costs.count(units + own) > budget:
                own = _alone(costs, id, tier, budget, units_of)
                if costs.count(units + own) > budget:
                    return [pair for pair in first[:at] if pair[0] not in spare], costs
            units += own
        if len(first) == len(ranked):
            break
    return values, costs


def _alone(
    costs: _Costs, id: str, tier: Tier, budget: int, units_of: Callable[[_Costs, str, Tier], int]
) -> int:
    """Return what *id* costs in the most detail up to *tier* that would fit alone; 0 if none
    does."""
    for each in range(tier, 0, -1):
        units = units_of(costs, id, Tier(each))
        if costs.count(units) <= budget:
            return units
    return 0


def limit_project(
    values: list[tuple[str, float]],
    behaviors: Mapping[str, Any],
    config: Config,
    key: str,
    *,
    session: Session | None,
    costs: Costs,
) -> list[tuple[str, float]]:
    """Return *values* with the project's rules limited to what the project's own settings admit.

    They are planned alone under those settings, with the budget of *key*. In the plan of all rules
    they then get no more detail than that.
    """
    yours = config.yours
    theirs = [pair for pair in values if behaviors[pair[0]].scope == "project"]
    if not theirs or all(config[name] == yours[name] for name in OWN):
        return values
    mapper = ActivationTierMapper(**config.section("tiers"))
    limits = {"budget": config[key], "max_chars": config["injection.max_chars"]}
    plan = mapper.plan(theirs, behaviors, **limits, session=session, costs=costs, floor="fit")
    most = {
        Tier.FULL: 1.0,
        Tier.SUMMARY: nextafter(yours["tiers.full"], 0.0),
        Tier.NAME_ONLY: nextafter(yours["tiers.summary"], 0.0),
    }
    told = {} if plan.over_budget else {item.id: most[item.tier] for item in plan.included}
    return [
        (id, min(value, told.get(id, 1.0)))
        for id, value in values
        if id in told or behaviors[id].scope != "project"
    ]


def counting_of(scopes: Scopes, model: str | None) -> Counting:
    """Return how tokens of *model* are counted from stored costs: in which encoding, and times
    what."""
    if model is None:
        return DEFAULT_ENCODING, None
    found = lookup(model)
    if found.resolved and found.encoding in ENCODINGS:
        return found.encoding, None

    family = found.encoding if found.resolved else ANY_FAMILY
    ratio = ratio_for(model, family, scopes.user.calibrations if scopes.user is not None else None)
    return found.encoding if found.encoding in ENCODINGS else DEFAULT_ENCODING, ratio


def costs_counted(
    scopes: Scopes, ids: Collection[str], model: str | None, counting: Counting
) -> StoredCosts:
    """Return the stored costs of *ids* for *model*: those of its own encoding, else o200k's times
    its ratio."""
    encoding, ratio = counting
    items = scopes.line_costs(ids, encoding)
    return StoredCosts(items, encoding=encoding, ratio=ratio, counter=model or encoding)
