"""How the plan of a session's rules is shown on the command line."""

from __future__ import annotations

from collections.abc import Sequence

from brim.behaviors.behavior import Rule
from brim.behaviors.sentences import heard
from brim.cli.output import counted, lines, paint, symbols, wrapped
from brim.cli.rule_views import kind_of
from brim.cli.tables import heading, listed, table
from brim.rules.plan import InjectionPlan, Item
from brim.rules.text import summary_of
from brim.store.planner import Planner, constraints_left_out


def plan_view(planner: Planner, plan: InjectionPlan) -> str:
    """Return what goes in within the budget, in how much detail, and why."""
    rows, hidden = listed([_item_row(planner, item) for item in plan.items])
    head = ["activation", "tier", "tokens", "kind", "why", "rule"]
    view = heading(table([head, *rows], right=(0, 2), optional=(3, 4, 1)))
    return lines(view, hidden, f"\n{total_line(plan)}", *plan.reasons)


def _item_row(planner: Planner, item: Item) -> list[str]:
    rule = item.behavior
    tier = str(item.tier)
    if item.tier is not item.mapped:
        tier = f"{item.mapped} {symbols('→', '->')} {item.tier}"
    tokens = ""
    kind = rule.kind.value
    if item.tier:
        tokens = f"{int(item.tokens):,}"
        kind = kind_of(rule)
    return [f"{item.activation:.2f}", tier, tokens, kind, planner.why(item), summary_of(rule)]


def waiting_view(rules: Sequence[Rule]) -> str:
    """Return the rules that come later, each with when agents are told it.

    It's empty if there are none.
    """
    if not rules:
        return ""
    verb = "wait"
    if len(rules) == 1:
        verb = "waits"
    title = f"{counted(len(rules), 'more rule')} {verb} for the right moment"
    rows, hidden = listed([[summary_of(rule), heard(rule)] for rule in rules])
    return lines(f"\n{title}:", heading(table([["rule", "told"], *rows])), hidden)


def total_line(plan: InjectionPlan) -> str:
    """Return what the plan takes in all, and how that was counted."""
    total = plan.total_tokens
    parts = [f"{int(total):,} tokens, no limit"]
    if plan.token_budget is not None:
        parts = [f"{int(total):,} of {plan.token_budget:,} tokens"]
    if plan.max_chars is not None:
        parts.append(f"{plan.characters:,} of {plan.max_chars:,} characters")
    basis = str(total.basis)
    if total.low != total.high:
        basis = f"{total.basis} ({total.low:,} to {total.high:,})"
    parts.append(f"{basis} for {plan.counter}")
    line = wrapped(", ".join(parts))
    if constraints_left_out(plan):
        return paint(line, "red")
    return line
