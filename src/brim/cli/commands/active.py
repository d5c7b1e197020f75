"""``brim active``: what matters here and now."""

from __future__ import annotations

from brim.cli.behaviors import kind_of
from brim.cli.fitting import fitted
from brim.cli.learned import Place, add_context, context_of
from brim.cli.output import heading, note, paint, say, say_json
from brim.cli.planning import context_object, tell_nothing
from brim.cli.settings import add_json
from brim.store.planner import Planner

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from brim.injection.plan import Item

HELP = """\
List what matters here and now, the most important first: how much, in how much detail that would be told if there were
room for everything, and why. 'brim plan' shows what goes in within a budget; 'brim why ID' explains one number.

Examples:
  brim active --file src/app.py
  brim active --prompt 'run the tests' --all
"""


def arguments(parser: ArgumentParser) -> None:
    """Say what the command takes."""
    parser.add_argument("--all", action="store_true", help="also what matters too little to be told")
    add_context(parser)
    add_json(parser)


def run(options: Namespace) -> int:
    """Print the list, and return the exit code."""
    place = Place()
    context = context_of(options, place)
    with place.open() as scopes:
        planner = Planner(scopes, place.config, context, now=place.now)
        items = planner.plan(None, limited=False).items
        shown = [item for item in items if item.tier or options.all]
        if options.as_json:
            say_json({"context": context_object(context), "active": [_object(planner, item) for item in shown]})
        elif shown:
            say(_table(planner, shown))
            say(paint(f"the situation: {context}", "faint"))
        else:
            tell_nothing(scopes, context)
    hidden = len(items) - len(shown)
    if hidden and not options.as_json:
        note(f"{hidden:,} more {'matters' if hidden == 1 else 'matter'} too little to be told: --all lists them")
    place.tell_trust()
    return 0


def _table(planner: Planner, items: list[Item]) -> str:
    rows = [["activation", "tier", "kind", "name", "why"]]
    for item in items:
        rows.append(
            [f"{item.activation:.2f}", str(item.tier), kind_of(item.behavior), item.behavior.name, planner.why(item)]
        )
    return heading(fitted(rows, right=frozenset({0})))


def _object(planner: Planner, item: Item) -> dict[str, object]:
    found = planner.item_dict(item)
    return {**{key: found[key] for key in ("id", "name", "kind", "scope", "tier", "reasons")}, "value": item.activation}
