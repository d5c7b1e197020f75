"""Chooses the stored rules that matter in a situation, within a budget.

``Planner`` is for commands and tools: it counts for any model, and explains what is in the plan and
what isn't. ``hook_planner`` has the one for hooks, and the functions that both use.

Both plan under the user's settings (``Config.yours``). A project's settings limit the project's own
rules only.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from functools import cached_property
from typing import Any

from brim.activation.context import Context
from brim.activation.relevance import rank
from brim.behaviors.behavior import LIVE, EdgeKind, Rule
from brim.config import Config
from brim.models.light import lookup
from brim.rules.costs import ENCODINGS, Costs, CountedCosts
from brim.rules.mapper import ActivationTierMapper
from brim.rules.plan import InjectionPlan, Item
from brim.rules.session import Session
from brim.rules.text import is_protected
from brim.rules.tiers import Tier
from brim.store.hook_planner import (
    affordable,
    costs_counted,
    counting_of,
    detail,
    is_due,
    limit_project,
    untold,
)
from brim.store.scopes import Scopes
from brim.tokens.count import Count
from brim.tokens.counters import counter_for
from brim.tokens.engines import NativeEngine
from brim.tokens.protocol import Mode

START_KEY = "token_budget.default"
DYNAMIC_KEY = "token_budget.dynamic_context"

BEGINNINGS = {"start": "startup", "clear": "clear", "compact": "compact"}
"""Events after which the window is empty of rules, and what a session calls them."""

_PLAN_FIELDS = (
    *("token_budget", "characters", "max_chars", "counter"),
    *("over_budget", "overflow", "value"),
)
_PLAN_LISTS = ("full", "summarized", "name_only", "omitted")


class Planner:
    """Makes plans for one situation, and knows why each rule was activated. *mode* overrides the
    setting.

    Without *always*, rules without conditions are left out. So are those in *leave*, and those that
    the session was *told* before.
    """

    def __init__(
        self,
        scopes: Scopes,
        config: Config,
        context: Context,
        *,
        now: float,
        mode: Mode | None = None,
        always: bool = True,
        told: Collection[str] = (),
        leave: Collection[str] = (),
    ) -> None:
        self.config, self.context, self._scopes = config.yours, context, scopes
        self._theirs, config = config, config.yours
        given: dict[str, Any] = {"now": now, "always": always, "told": told}
        self.course = rank(scopes, context, **given)
        ids = [id for id, _ in self.course.ranked()]
        left_out, aside = scopes.leave_out(ids), scopes.set_aside(scopes.edges(ids))
        if left_out or aside:
            self.course = rank(scopes, context, **given)
        results = self.course.activations()
        self.behaviors = scopes.get_many([result.id for result in results])
        self.results = [
            result for result in results if result.id in self.behaviors and result.id not in leave
        ]
        self.reasons = {result.id: result.reasons for result in self.results}
        self._standings = {id: (each.kind, each.status) for id, each in self.behaviors.items()}
        self.costs = costs_of(scopes, [result.id for result in self.results], config, mode=mode)

    def plan(
        self,
        budget: int | None,
        *,
        key: str = START_KEY,
        whole: bool = False,
        session: Session | None = None,
        limited: bool = True,
        floor: str = "fit",
    ) -> InjectionPlan:
        """Return a plan within *budget* tokens (None means no limit). *key* is the setting that the
        budget comes from.

        *whole* includes each rule in full or not at all, dropping the lowest first. Without
        *limited*, the plan follows activation alone: no limit of characters, no filling up. *floor*
        is that of the mapper.
        """
        config = self.config
        values = [(result.id, result.value) for result in self.results]
        mapper = ActivationTierMapper(**config.section("tiers"))
        fits = (
            self._affordable(mapper, budget, session)
            if limited and not whole
            else {id for id, _ in values}
        )
        kept = [pair for pair in values if pair[0] in fits]
        if limited:
            kept = limit_project(
                kept, self.behaviors, self._theirs, key, session=session, costs=self.costs
            )
        plan = mapper.plan(
            kept,
            self.behaviors,
            budget=budget,
            max_chars=config["injection.max_chars"] if limited else None,
            fill=config["injection.fill"] and limited and not whole,
            whole=whole,
            session=session,
            costs=self.costs,
            floor=floor,
            further=len(
                {id for id, _ in values} - fits - untold(self.course, session, self._standings)
            ),
        )
        is_kept = {id for id, _ in kept}
        left_out = [
            self._left_out(id, value, mapper, id in fits)
            for id, value in values
            if id not in is_kept
        ]
        ranked = sorted((*plan.items, *left_out), key=lambda item: (-item.activation, item.id))
        return replace(plan, items=tuple(ranked)) if left_out else plan

    def _affordable(
        self, mapper: ActivationTierMapper, budget: int | None, session: Session | None
    ) -> set[str]:
        """Return the ids of all rules except those that are due and can't fit."""
        standings = self._standings
        values = [(result.id, result.value) for result in self.results]
        fill = self.config["injection.fill"]
        due = [
            pair
            for pair in values
            if is_due(mapper, *pair, standings[pair[0]], session=session, fill=fill)
        ]

        def units(_: Costs, id: str, tier: Tier) -> int:
            return self.costs.item(self.behaviors[id], tier)[0]

        spare = untold(self.course, session, standings)
        fitting, _ = affordable(
            mapper,
            due,
            standings,
            budget,
            costs_for=lambda _: self.costs,
            units_of=units,
            spare=spare,
        )
        return {id for id, _ in values}.difference(id for id, _ in due).union(
            id for id, _ in fitting
        )

    def _left_out(self, id: str, value: float, mapper: ActivationTierMapper, fits: bool) -> Item:
        """Return an item for a rule that the mapper never saw."""
        rule, tier = self.behaviors[id], Tier.OMITTED
        reason = "the project's own settings leave it out"
        if not fits:
            tier = detail(mapper, value, (rule.kind, rule.status))
            reason = f"activation {value:.2f}; left out: over budget"
        return Item(id, Tier.OMITTED, value, Count(0), tier, reason, rule)

    def waiting(self) -> list[Rule]:
        """Return the rules that nothing activates here: their conditions, or inferred ones, don't
        hold yet."""
        live = sorted(
            self._scopes.behaviors(LIVE), key=lambda each: (each.name.casefold(), each.id)
        )
        return [
            each for each in live if each.id not in self.behaviors and (each.when or each.inferred)
        ]

    def why(self, item: Item) -> str:
        """Say in a few words why *item* has its tier, without repeating its activation."""
        why = ", ".join(self._named(reason) for reason in self.reasons[item.id])
        first, *further = item.reason.split("; ")
        if not first.startswith("activation ") or " is under " in first:
            further.insert(0, first)
        return "; ".join([why, *further]) if why else item.reason

    def to_dict(self, plan: InjectionPlan) -> dict[str, Any]:
        """Return *plan* for ``--json``."""
        total = plan.total_tokens
        return {
            **{
                "total_tokens": int(total),
                "basis": total.basis,
                "low": total.low,
                "high": total.high,
            },
            **{name: getattr(plan, name) for name in _PLAN_FIELDS},
            "reasons": list(plan.reasons),
            **{name: [item.id for item in getattr(plan, name)] for name in _PLAN_LISTS},
            "items": [self.item_dict(item) for item in plan.items],
        }

    def item_dict(self, item: Item) -> dict[str, Any]:
        """Return one item of a plan for ``--json``."""
        rule = item.behavior
        return {
            **{"id": item.id, "name": rule.name, "kind": rule.kind.value, "scope": rule.scope},
            **{"activation": item.activation, "tier": str(item.tier), "mapped": str(item.mapped)},
            **{
                "tokens": int(item.tokens),
                "reason": item.reason,
                "reasons": list(self.reasons[item.id]),
            },
        }

    def _named(self, reason: str) -> str:
        """Return *reason*, with a name instead of an id if it is an edge."""
        kind, _, giver = reason.partition(" ")
        return f"{kind} {self._names.get(giver, giver)}" if kind in list(EdgeKind) else reason

    @cached_property
    def _names(self) -> dict[str, str]:
        """The names of all rules that are activated or give activation, by id."""
        givers = {
            reason.partition(" ")[2] for reasons in self.reasons.values() for reason in reasons
        }
        others = self._scopes.get_many(givers - self.behaviors.keys())
        return {id: each.name for id, each in {**self.behaviors, **others}.items()}


def constraints_left_out(plan: InjectionPlan) -> list[Item]:
    """Return the constraints that should be in *plan* and don't fit its budget."""
    return [
        item
        for item in plan.omitted
        if item.mapped is not Tier.OMITTED and is_protected(item.behavior)
    ]


def session_planner(
    scopes: Scopes, config: Config, context: Context, session: Session, event: str, *, now: float
) -> Planner:
    """Return a planner that finds what the hook of *event* would find in *session*."""
    beginning = event in BEGINNINGS
    told = () if beginning else session.shown
    return Planner(
        scopes, config, context, now=now, always=beginning or event == "prompt", told=told
    )


def tell_session(
    planner: Planner, session: Session, event: str, *, floor: str = "fit"
) -> InjectionPlan:
    """Let *event* happen in *session*, and return the plan. One that is over budget isn't told.

    *floor* is that of the mapper.
    """
    if event == "prompt":
        session.next_prompt()
    session.begin(BEGINNINGS.get(event, event))
    if event in BEGINNINGS:
        found = planner.plan(planner.config[START_KEY], session=session, floor=floor)
        if not found.over_budget:
            session.record(found)
        return found
    dynamic = planner.config[DYNAMIC_KEY]
    found = planner.plan(session.budget(dynamic), key=DYNAMIC_KEY, session=session, floor=floor)
    if session.remaining == 0 and dynamic != 0 and found.token_budget == 0:
        found = replace(
            found, reasons=(f"the {session.used:,} tokens of this session are used up",)
        )
    if not found.over_budget:
        session.charge(found)
    return found


def costs_of(
    scopes: Scopes, ids: Collection[str], config: Config, *, mode: Mode | None = None
) -> Costs:
    """Return the costs of *ids*: the stored ones, unless ``brim dev count`` would count
    differently."""
    model, mode = config["model"], mode or config["mode"]
    # An open model has a vocabulary that costs aren't stored in, if brim[fast] is installed.
    is_stored = model is None or lookup(model).encoding not in NativeEngine.encodings - set(
        ENCODINGS
    )
    if mode == "auto" and is_stored:
        return costs_counted(scopes, ids, model, counting_of(scopes, model))

    calibrations = scopes.user.calibrations if scopes.user is not None else None
    return CountedCosts(counter_for(model, mode=mode, calibrations=calibrations))
