"""``brim prompt``: the text that an agent should be told here."""

from __future__ import annotations

import sys

from brim.cli.learned import Place, add_context, context_of
from brim.cli.output import note, say_json
from brim.cli.planning import add_planning, flags_of, tell_nothing
from brim.cli.settings import add_json
from brim.errors import InputError
from brim.store.planner import START_KEY, Planner

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from brim.injection.plan import InjectionPlan

HELP = """\
Print the text that an agent should be told here, and nothing else on standard output. Everything that matters goes in
whole, and the least important is left out until it fits. With --tiered it goes in as detail, summary or name, by how
much it matters: 'brim plan' shows which and why.

Ends with 1 if it does not fit: constraints are never cut below a summary. Then the smallest text that it can be is
printed, and standard error says by how much it is too long.

Examples:
  brim prompt --file src/app.py > rules.md
  brim prompt --tiered --token-budget 800 --format xml --model gpt-4o
"""


def arguments(parser: ArgumentParser) -> None:
    """Say what the command takes."""
    parser.add_argument("--tiered", action="store_true", help="by tiers: whole, as a summary, or by name")
    add_planning(parser, "tokens that it may take; 0 is no limit (default: the setting token_budget.default)")
    add_context(parser)
    add_json(parser)


def run(options: Namespace) -> int:
    """Print the text, and return the exit code."""
    for name in ("strategy", "fill"):
        if getattr(options, name) is not None and not options.tiered:
            raise InputError(f"--{name} belongs to --tiered: without it, everything goes in whole or not at all")
    place = Place(flags_of(options, START_KEY))
    budget = place.config[START_KEY]
    if budget == 0 and options.token_budget is not None:
        budget = None
    context = context_of(options, place)
    with place.open() as scopes:
        planner = Planner(scopes, place.config, context, now=place.now)
        plan = planner.plan(budget, whole=not options.tiered)
        _say(planner, plan, as_json=options.as_json)
        if not plan.items:
            tell_nothing(scopes, context)
    for reason in plan.reasons:
        note(reason)
    place.tell_trust()
    return 1 if plan.over_budget else 0


def _say(planner: Planner, plan: InjectionPlan, *, as_json: bool) -> None:
    from brim.injection.rendering import render

    text = render(plan)
    if as_json:
        say_json({"text": text, "tokens": int(plan.total_tokens), **planner.to_dict(plan)})
    elif sys.stdout is not None:
        sys.stdout.write(text)
