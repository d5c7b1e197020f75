"""Why one rule is told or not, in one situation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from brim.activation.context import Context
from brim.activation.explanation import explain
from brim.behaviors.behavior import Rule, Status
from brim.rules.plan import InjectionPlan, Item
from brim.store.planner import Planner
from brim.store.rulebook import named
from brim.store.scopes import Scopes


@dataclass(frozen=True)
class Fate:
    """What becomes of one rule, with the words that say why."""

    value: float
    """How much it is activated."""
    outcome: str
    tier: str
    reason: str
    planned: dict[str, Any] | None
    """What the budget leaves of it; None if it isn't planned."""
    lines: tuple[str, ...]
    read_by: str = ""
    """The agent that reads the rule in a file of its own."""
    is_live: bool = True

    def to_dict(self) -> dict[str, Any]:
        """Return it for ``--json``."""
        fields: dict[str, Any] = {
            "value": self.value,
            "outcome": self.outcome,
            "tier": self.tier,
            "planned": self.planned,
            "reason": self.reason,
        }
        if self.is_live:
            fields["read_by"] = self.read_by or None
        return fields


def put_away_fate(scopes: Scopes, rule: Rule) -> Fate:
    """Return why a rule that is not live takes part in nothing."""
    outcome = f"out: it is {rule.status.value}"
    if rule.superseded_by is not None:
        other = scopes.get(rule.superseded_by)
        name = rule.superseded_by
        if other is not None:
            name = named(other)
        outcome = f"out: it was superseded by {name}"
    elif rule.status is Status.FORGOTTEN:
        outcome += f"; 'brim rules restore {rule.id}' brings it back"
    lines = (f"{named(rule)}: {outcome}",)
    return Fate(0.0, outcome, "omitted", outcome, None, lines, is_live=False)


def planned_fate(
    planner: Planner,
    scopes: Scopes,
    rule: Rule,
    *,
    context: Context,
    budget: int | None,
    now: float,
    read_by: str,
) -> Fate:
    """Return what becomes of a live rule; *read_by* is the agent that reads it itself."""
    account = explain(scopes, context, rule.id, now=now, course=planner.course)
    mapped = _item(planner.plan(None, limited=False), rule.id)
    plan = planner.plan(budget)
    item = _item(plan, rule.id)
    planned = None
    if item is not None:
        planned = {**planner.item_dict(item), "token_budget": plan.token_budget}
    if mapped is None:
        outcome = account.outcome
        if read_by:
            outcome = f"{read_by} reads it in its own files"
        lines: tuple[str, ...] = (f"{named(rule)}: {outcome}",)
        return Fate(
            account.value, account.outcome, "omitted", account.outcome, planned, lines, read_by
        )
    lines = (
        f"{named(rule)}: {account.outcome}",
        f"  tier     {mapped.tier}: {mapped.reason}",
        *_planned_line(item, mapped, plan),
    )
    return Fate(
        account.value, account.outcome, str(mapped.tier), mapped.reason, planned, lines, read_by
    )


def _planned_line(item: Item | None, mapped: Item, plan: InjectionPlan) -> tuple[str, ...]:
    if item is None:
        return ()
    line = f"  planned  {item.tier}"
    if plan.token_budget is not None:
        line += f" within {plan.token_budget:,} tokens"
    if item.tier is not mapped.tier:
        line += f": {item.reason}"
    return (line,)


def _item(plan: InjectionPlan, id: str) -> Item | None:
    for item in plan.items:
        if item.id == id:
            return item
    return None
