"""From the settings and the situation to a plan: what the commands about what goes in share."""

from __future__ import annotations

from brim.cli.learned import NOTHING_YET
from brim.cli.output import note
from brim.cli.settings import add_model
from brim.config.table import FORMATS, STRATEGIES
from brim.errors import InputError
from brim.store import planning

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Mapping, Sequence
    from typing import Any

    from brim.activation.context import Context
    from brim.cli.learned import Place
    from brim.injection.plan import InjectionPlan, Item
    from brim.store.scopes import Scopes

START_KEY = planning.START_KEY
DYNAMIC_KEY = "token_budget.dynamic_context"


def add_planning(parser: ArgumentParser, budget: str) -> None:
    """Add the options that a plan is made with; *budget* says what ``--token-budget`` is."""
    from argparse import BooleanOptionalAction

    about = parser.add_argument_group("the plan", "stronger than the settings of the same names")
    about.add_argument("--token-budget", metavar="N", help=budget)
    add_model(about)  # type: ignore[arg-type] # a group takes options as a parser does
    about.add_argument("--format", choices=FORMATS, help="how the text is written (default: markdown)")
    text = "who gives way when it is too much (default: lowest-first)"
    about.add_argument("--strategy", choices=STRATEGIES, help=text)
    text = "whether spare budget is filled with more detail"
    about.add_argument("--fill", action=BooleanOptionalAction, default=None, help=text)
    about.add_argument("--max-chars", metavar="N", help="characters that the text may have: a second limit")


def flags_of(options: Namespace, budget_key: str) -> dict[str, object]:
    """Return what ``add_planning`` was given, by setting; ``--token-budget`` is that of *budget_key*."""
    if options.model == "":
        raise InputError("--model is empty: name a model, or leave the option out")
    return {
        budget_key: options.token_budget,
        "model": options.model,
        "injection.format": options.format,
        "injection.strategy": options.strategy,
        "injection.fill": options.fill,
        "injection.max_chars": options.max_chars,
    }


class Planner(planning.Planner):
    """A planner that can tell people, and scripts, what it has planned."""

    def __init__(self, scopes: Scopes, place: Place, context: Context) -> None:
        super().__init__(scopes, place.config, context, now=place.now)
        self.reasons = {result.id: result.reasons for result in self.results}
        self.names = _names(scopes, self.behaviors, self.results)

    def why(self, item: Item) -> str:
        """Say in a few words why *item* stands where it stands; its activation stands beside it anyway."""
        why = ", ".join(self._said(reason) for reason in self.reasons[item.id])
        first, *further = item.reason.split("; ")
        if not first.startswith("activation ") or " is under " in first:
            further.insert(0, first)
        return "; ".join([why, *further]) if why else item.reason

    def as_object(self, plan: InjectionPlan) -> dict[str, Any]:
        """Return *plan* for a script."""
        total = plan.total_tokens
        return {
            "total_tokens": int(total),
            "basis": total.basis,
            "low": total.low,
            "high": total.high,
            "token_budget": plan.token_budget,
            "characters": plan.characters,
            "max_chars": plan.max_chars,
            "format": plan.format,
            "counter": plan.counter,
            "strategy": plan.strategy,
            "over_budget": plan.over_budget,
            "overflow": plan.overflow,
            "value": plan.value,
            "upper_bound": plan.upper_bound,
            "gap": plan.gap,
            "reasons": list(plan.reasons),
            "full": [item.id for item in plan.full],
            "summarized": [item.id for item in plan.summarized],
            "name_only": [item.id for item in plan.name_only],
            "omitted": [item.id for item in plan.omitted],
            "items": [self.item_object(item) for item in plan.items],
        }

    def item_object(self, item: Item) -> dict[str, Any]:
        """Return *item* for a script."""
        return {
            "id": item.id,
            "name": item.behavior.name,
            "kind": item.behavior.kind.value,
            "scope": item.behavior.scope,
            "activation": item.activation,
            "tier": str(item.tier),
            "mapped": str(item.mapped),
            "tokens": int(item.tokens),
            "reason": item.reason,
            "reasons": list(self.reasons[item.id]),
        }

    def _said(self, reason: str) -> str:
        """Return *reason* with a name in place of the id that an edge leads to."""
        kind, _, giver = reason.partition(" ")
        return f"{kind} {self.names[giver]}" if kind in _kinds() and giver in self.names else reason


def context_object(context: Context) -> dict[str, list[str]]:
    """Return what is known of the situation, for a script."""
    return {key: list(values) for key, values in context.facts.items()}


def tell_nothing(scopes: Scopes, context: Context) -> None:
    """Say on standard error why there is nothing to show."""
    if scopes.user is None and scopes.project is None:
        note(NOTHING_YET)
    else:
        note(f"nothing that was learned matters here ({context})")


def _names(scopes: Scopes, behaviors: Mapping[str, Any], results: Sequence[Any]) -> dict[str, str]:
    """Return the names of *behaviors*, and of those that led to them without being among them."""
    givers = {reason.partition(" ")[2] for result in results for reason in result.reasons if _is_edge(reason)}
    others = scopes.get_many(givers - behaviors.keys())
    return {id: behavior.name for id, behavior in {**behaviors, **others}.items()}


def _is_edge(reason: str) -> bool:
    return reason.partition(" ")[0] in _kinds()


def _kinds() -> frozenset[str]:
    from brim.behaviors.kinds import EdgeKind

    return frozenset(kind.value for kind in EdgeKind)
