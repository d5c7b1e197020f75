"""Numbers about stored rules: how many of each kind, how they are used and kept, and what they
take."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from brim.behaviors.behavior import Rule
from brim.config import Config
from brim.record import PlainData
from brim.rules.tiers import Tier
from brim.store.planner import costs_of
from brim.store.scopes import Scopes

REFUSED = ("held", "blocked")
"""Events of calls that weren't made because of a rule. ``allowed`` is one that was made after
all."""


@dataclass(frozen=True)
class RuleOutcome(PlainData):
    """What came of one rule. A call that was refused several times in one session counts once."""

    told: int = 0
    """How often an agent was told it."""
    held: int = 0
    """Calls that were refused for it: held once, or blocked."""
    obeyed: int = 0
    """Those of them that were neither tried again nor made."""
    overridden: int = 0
    """Those that were made after all."""


def outcomes(scopes: Scopes, rules: Iterable[Rule]) -> dict[str, RuleOutcome]:
    """Return what came of each of *rules*, by id."""
    kinds = (*REFUSED, "allowed")
    refused: Counter[tuple[str, str, str]] = Counter()
    made: set[tuple[str, str, str]] = set()
    for store in scopes.stores.values():
        for event in [each for kind in kinds for each in store.events(kind=kind)]:
            call = (event.behavior or "", event.session, json.dumps(event.detail.get("call")))
            if event.kind in REFUSED:
                refused[call] += 1
            else:
                made.add(call)
    held = Counter(id for id, *_ in refused)
    obeyed = Counter(call[0] for call, times in refused.items() if times == 1 and call not in made)
    overridden = Counter(id for id, *_ in made)
    return {
        each.id: RuleOutcome(
            each.usage.injected,
            held[each.id],
            obeyed[each.id],
            overridden[each.id] + each.usage.overridden,
        )
        for each in rules
    }


def tier_tokens(scopes: Scopes, behavior: Rule, config: Config) -> dict[str, int]:
    """Return what *behavior* costs at each tier, most detail first, for the model of the
    settings."""
    return all_tier_tokens(scopes, [behavior], config)[behavior.id]


def all_tier_tokens(
    scopes: Scopes, behaviors: Sequence[Rule], config: Config
) -> dict[str, dict[str, int]]:
    """Return what each of *behaviors* costs at each tier, by id."""
    costs = costs_of(scopes, [each.id for each in behaviors], config)
    tiers = (Tier.FULL, Tier.SUMMARY, Tier.NAME_ONLY)
    return {
        each.id: {
            str(tier).replace("-", "_"): int(costs.count(costs.item(each, tier)[0]))
            for tier in tiers
        }
        for each in behaviors
    }
