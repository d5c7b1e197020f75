"""``brim why``: the account of one behavior's activation, and what becomes of it."""

from __future__ import annotations

from brim.cli.behaviors import named
from brim.cli.learned import Place, add_behavior, add_context, context_of
from brim.cli.output import printable, say, say_json
from brim.cli.planning import context_object
from brim.cli.settings import add_json
from brim.store.planner import START_KEY, Planner

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from typing import Any

    from brim.activation.context import Context
    from brim.behaviors.behavior import Behavior
    from brim.injection.plan import InjectionPlan, Item
    from brim.store.scopes import Scopes

HELP = """\
Explain why a behavior matters here as much as it does, or not at all: which conditions were compared with what, what
came over which edge, the tier that it gets, and whether it keeps that tier within the budget.

Examples:
  brim why use-uv --file src/app.py
  brim why b-3f2a --prompt 'run the tests' --token-budget 300
"""


def arguments(parser: ArgumentParser) -> None:
    """Say what the command takes."""
    add_behavior(parser)
    text = "tokens of the plan that it would be in (default: the setting token_budget.default)"
    parser.add_argument("--token-budget", metavar="N", help=text)
    add_context(parser)
    add_json(parser)


def run(options: Namespace) -> int:
    """Print the account, and return the exit code."""
    place = Place({START_KEY: options.token_budget})
    context = context_of(options, place)
    with place.open() as scopes:
        behavior = scopes.find(options.id)
        if not behavior.live:
            _say_put_away(scopes, behavior, context, as_json=options.as_json)
        else:
            _say_account(
                scopes, Planner(scopes, place.config, context, now=place.now), behavior, place, as_json=options.as_json
            )
    if behavior.scope == "project":
        place.tell_trust()
    return 0


def _say_put_away(scopes: Scopes, behavior: Behavior, context: Context, *, as_json: bool) -> None:
    """Say why a behavior takes part in nothing."""
    outcome = f"out: it is {behavior.status.value}"
    if behavior.superseded_by is not None:
        other = scopes.get(behavior.superseded_by)
        outcome = f"out: it was superseded by {named(other) if other is not None else behavior.superseded_by}"
    elif behavior.status == "forgotten":
        outcome += f"; 'brim unforget {behavior.id}' brings it back"
    if as_json:
        nowhere = {"value": 0.0, "outcome": outcome, "tier": "omitted", "reason": outcome, "planned": None}
        say_json({**_who(behavior, context), **nowhere})
    else:
        say(printable(f"{named(behavior)}: {outcome}"))


def _say_account(scopes: Scopes, planner: Planner, behavior: Behavior, place: Place, *, as_json: bool) -> None:
    from brim.activation.why import explain

    parameters = planner.parameters
    found = explain(scopes, planner.context, behavior.id, now=place.now, parameters=parameters)
    alone, plan = planner.plan(None, limited=False), planner.plan(place.config[START_KEY])
    mapped, item = _item(alone, behavior.id), _item(plan, behavior.id)
    if as_json:
        planned = None if item is None else {**planner.item_dict(item), "token_budget": plan.token_budget}
        tier = {"tier": "omitted" if mapped is None else str(mapped.tier), "planned": planned}
        reason = found.outcome if mapped is None else mapped.reason
        say_json({**_who(behavior, planner.context), **found.to_dict(), **tier, "reason": reason})
        return
    others = {flow.giver for step in found.steps for flow in step.flows}
    names = {id: named(each) for id, each in scopes.get_many({behavior.id, *others}).items()}
    lines = found.text(names).split("\n")
    width = len(lines[-1]) - len(f"    {found.value:.3f}")  # the last line is the activation's
    lines.append(f"  {'tier':<{width}}  {_tier(mapped, found.outcome)}")
    if item is not None and mapped is not None:
        lines.append(f"  {'planned':<{width}}  {item.tier}{_within(plan)}{_changed(mapped, item)}")
    say("\n".join(printable(line) for line in lines))


def _who(behavior: Behavior, context: Context) -> dict[str, Any]:
    return {
        "id": behavior.id,
        "name": behavior.name,
        "kind": behavior.kind.value,
        "status": behavior.status.value,
        "context": context_object(context),
    }


def _item(plan: InjectionPlan, id: str) -> Item | None:
    return next((item for item in plan.items if item.id == id), None)


def _tier(mapped: Item | None, outcome: str) -> str:
    """Return the tier and why; what is not activated at all is in no plan."""
    return f"omitted: {outcome.removeprefix('out: ')}" if mapped is None else f"{mapped.tier}: {mapped.reason}"


def _within(plan: InjectionPlan) -> str:
    return "" if plan.token_budget is None else f" within {plan.token_budget:,} tokens"


def _changed(mapped: Item, item: Item) -> str:
    return "" if item.tier is mapped.tier else f": {item.reason}"
