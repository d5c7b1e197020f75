"""``brim plan``: what would go in, in how much detail, and why."""

from __future__ import annotations

from brim.cli.behaviors import kind_of
from brim.cli.fitting import fitted
from brim.cli.learned import Place, add_context, context_of
from brim.cli.output import heading, listed, note, paint, say, say_json, symbols
from brim.cli.planning import add_planning, context_object, flags_of, tell_nothing
from brim.cli.settings import add_json
from brim.cli.tier_range import budgets_of, drawn, is_range
from brim.store.planner import START_KEY, Planner

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from brim.injection.plan import InjectionPlan, Item

HELP = """\
Show what would go in within a budget, in how much detail, and why: whole (full), as one line (summary), by name
(name-only), or not at all (omitted). What had to give way shows both tiers. Nothing is recorded.

With --token-budget A..B it draws how the tiers change over that range; A..B..STEP says how far apart the budgets are.

Ends with 1 if it does not fit; of a range, if the largest budget is too small.

Examples:
  brim plan --file src/app.py --task testing
  brim plan --token-budget 100..2000 --strategy optimal
"""


def arguments(parser: ArgumentParser) -> None:
    """Say what the command takes."""
    add_planning(parser, "tokens, or a range A..B or A..B..STEP (default: the setting token_budget.default)")
    add_context(parser)
    add_json(parser)


def run(options: Namespace) -> int:
    """Print the plan, and return the exit code."""
    budgets: list[int] = []
    if is_range(options.token_budget):
        budgets = budgets_of(options.token_budget, for_drawing=not options.as_json)
        options.token_budget = None
    place = Place(flags_of(options, START_KEY))
    context = context_of(options, place)
    with place.open() as scopes:
        planner = Planner(scopes, place.config, context, now=place.now)
        plans = [planner.plan(budget) for budget in budgets or [place.config[START_KEY]]]
        if options.as_json and budgets:
            objects = [planner.to_dict(plan) for plan in plans]
            say_json({"context": context_object(context), "plans": objects})
        elif options.as_json:
            say_json({"context": context_object(context), **planner.to_dict(plans[0])})
        elif not plans[-1].items:
            tell_nothing(scopes, context)
        elif budgets:
            say(drawn(plans))
            say(_whole(planner))
        else:
            _show(planner, plans[0])
    place.tell_trust()
    return 1 if plans[-1].over_budget else 0


def _show(planner: Planner, plan: InjectionPlan) -> None:
    head = ["activation", "tier", "tokens", "kind", "name", "why"]
    rows, more = listed([_row(planner, item) for item in plan.items])
    say(heading(fitted([head, *rows], right=frozenset({0, 2}))))
    if more:
        say(more)
    say()
    say(_total(plan))
    if plan.upper_bound is not None:
        say(_proof(plan))
    for reason in plan.reasons:
        if plan.over_budget:
            note(reason)
        else:
            say(reason)


def _row(planner: Planner, item: Item) -> list[str]:
    tier = str(item.tier)
    if item.tier is not item.mapped:
        tier = f"{item.mapped} {symbols('→', '->')} {item.tier}"
    tokens = f"{int(item.tokens):,}" if item.tier else ""
    row = [f"{item.activation:.2f}", tier, tokens, kind_of(item.behavior), item.behavior.name, planner.why(item)]
    return row if item.tier else [*row[:3], item.behavior.kind.value, *row[4:]]


def _total(plan: InjectionPlan) -> str:
    """Return the line that says what it takes in all, and how that was counted."""
    total, budget = plan.total_tokens, plan.token_budget
    taken = f"{int(total):,} tokens, no limit" if budget is None else f"{int(total):,} of {budget:,} tokens"
    basis = total.basis if total.low == total.high else f"{total.basis} ({total.low:,} to {total.high:,})"
    characters = [] if plan.max_chars is None else [f"{plan.characters:,} of {plan.max_chars:,} characters"]
    line = ", ".join([taken, *characters, f"{basis} for {plan.counter}", plan.format, plan.strategy])
    return paint(line, "red") if plan.over_budget else line


def _proof(plan: InjectionPlan) -> str:
    """Return how good the choice is, which only ``optimal`` knows."""
    gap, bound = plan.gap or 0.0, plan.upper_bound or 0.0
    if gap < 1e-9:
        return f"value {plan.value:.3f}: no choice that fits has more"
    return f"value {plan.value:.3f}, upper bound {bound:.3f}: at most {gap:.3f} ({gap / bound:.2%}) could be gained"


def _whole(planner: Planner) -> str:
    """Return what it takes to tell everything at its own tier."""
    return f"everything at its own tier takes {int(planner.plan(None, limited=False).total_tokens):,} tokens"
