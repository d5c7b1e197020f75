"""``activate``: what matters now, and how much.

The context gives each rule a seed. Seeds spread along edges for a few steps, the strongest keep the
others down, and a curve separates what matters from what doesn't.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from math import exp, fsum, sqrt
from typing import Any

from brim.errors import InputError
from brim.record import PlainData
from brim.rules.conditions import Context, Match, When, meets
from brim.rules.library_rule import Edge, Rule
from brim.rules.spreading import STEPS, Link, Spreading

SECONDS = 3600
MOST_WORDS = 5
"""Words that a reason names."""

ALWAYS = 0.3
"""Seed of a rule without conditions."""
SEED_FLOOR = 0.15
"""What a seed starts from, before the share of confirmed conditions is added."""
CEILINGS = (0.4, 0.6, 0.8, 0.9, 1.0)
"""Seed when all of one, two, three… conditions are confirmed: a rule for one thing says more than a
rule for everything."""
BASE_FLOOR = 0.85
"""Factor of a rule that was used long ago and seldom."""
BASE_RANGE = 0.3
"""How much recent and frequent use can add to that factor."""
NEVER_USED = 0.5
"""Base level of a rule that was never used: neither good nor bad."""
USE_FACTOR = 2.0
USE_OFFSET = 1.0
LEAST_HOURS = 0.001
"""Lower bound for the hours since the last use."""
EDGE_FADING = 0.01
"""How fast an edge that carries nothing fades, per hour."""
INHIBITION_BREADTH = 7
"""How many of the strongest are spared."""
INHIBITION_STRENGTH = 0.15
"""Share of their distance to the strongest that all others lose."""
SIGMOID_GAIN = 10.0
SIGMOID_CENTER = 0.3
LEAST = 0.05
"""An activation below this is 0."""


class Graph:
    """Rules and their edges. Its answers don't depend on the order in which things were given.

    Rules that aren't live, and edges that touch them, are left out. Of two edges with the same
    source, target and kind the heavier one counts. Two rules with the same id are an error.
    """

    def __init__(self, rules: Iterable[Rule], edges: Iterable[Edge] = ()) -> None:
        ids: set[str] = set()
        self.rules: dict[str, Rule] = {}
        """The live ones by id."""
        for rule in rules:
            if rule.id in ids:
                problem = f"two rules have the id {rule.id!r}"
                raise InputError(f"{problem}: give one of them another, or merge them")
            ids.add(rule.id)
            if rule.live:
                self.rules[rule.id] = rule
        heaviest: dict[tuple[str, str, str], Edge] = {}
        dangling: set[Edge] = set()
        for edge in edges:
            if not {edge.source, edge.target} <= ids:
                dangling.add(edge)
            elif edge.source in self.rules and edge.target in self.rules:
                other = heaviest.get(edge.key, edge)
                heaviest[edge.key] = max(other, edge, key=_rank)
        self.edges = tuple(heaviest.values())
        self.dangling = tuple(sorted(dangling, key=lambda edge: (*edge.key, _rank(edge))))
        """Edges with an unknown end. They carry nothing."""

    def links(self, ids: Collection[str], now: float) -> Iterator[Link]:
        """Yield the links between the rules *ids*."""
        for edge in self.edges:
            if edge.source in ids and edge.target in ids:
                freshness = 1.0
                if edge.last_activated is not None:
                    hours = max(0.0, (now - edge.last_activated) / SECONDS)
                    freshness = exp(-EDGE_FADING * hours)
                link = Link(edge.source, edge.kind, edge.target, edge.weight, freshness=freshness)
                yield link

    def __repr__(self) -> str:
        return f"Graph({len(self.rules)} rules, {len(self.edges)} edges)"

    def __len__(self) -> int:
        return len(self.rules)

    def __contains__(self, id: object) -> bool:
        return id in self.rules


def _rank(edge: Edge) -> tuple[float, float]:
    """Order edges that say the same: the heavier, then the one that has faded least."""
    awake = float("inf") if edge.last_activated is None else edge.last_activated
    return edge.weight, awake


@dataclass(frozen=True)
class Activation(PlainData):
    """How much one rule matters now, from 0 to 1, and why. Unpacks into its three fields."""

    id: str
    value: float
    reasons: tuple[str, ...]

    def __iter__(self) -> Iterator[Any]:
        return iter([self.id, self.value, self.reasons])


def activate(graph: Graph, context: Context, *, now: float | datetime) -> list[Activation]:
    """Return every rule of *graph* that matters in *context*, highest first, then by id.

    A rule that the context confirms and that lost everything to others comes with a value of 0: a
    constraint is told even then. *now* is in seconds since 1970, or a time with its zone. The same
    graph, context and time give the same numbers, to the last bit.
    """
    seconds = now.timestamp() if isinstance(now, datetime) else now
    seeds: dict[str, Seed] = {}
    for rule in graph.rules.values():
        seed = seed_of(rule, context.facts, context.words, seconds)
        if not seed.contradicted:  # else it neither gets nor gives
            seeds[rule.id] = seed
    seed_values = {id: seed.value for id, seed in seeds.items() if seed.value > 0}
    spreading = Spreading(seed_values, graph.links(seeds, seconds))
    for _ in range(STEPS):
        spreading.step()
    values = dict.fromkeys(seed_values, 0.0)
    for id, raw in _inhibited(spreading.values).items():
        value = _squashed(raw)
        if value > 0 or id in seed_values:
            values[id] = value
    activations = []
    for id in sorted(values, key=lambda id: (-values[id], id)):
        reasons: list[str] = []
        if id in seed_values:
            reasons += _seed_reasons(graph.rules[id].when, seeds[id], context)
        if id in spreading.origins:
            reasons.append(" ".join(spreading.origins[id]))
        if id in spreading.losses:
            reasons.append(f"weakened by {spreading.losses[id]:.2f}")
        activations.append(Activation(id, values[id], tuple(reasons)))
    return activations


def _seed_reasons(when: When, seed: Seed, context: Context) -> list[str]:
    """Return what of *context* a *seed* rests on."""
    reasons = []
    for key in seed.confirmed:
        reasons.append(f"{key} {confirming(when, key, context.facts)[0]}")
    if seed.words:
        reasons.append(f"words {', '.join(seed.words[:MOST_WORDS])}")
    return reasons or ["always"]


@dataclass(frozen=True)
class Seed(PlainData):
    """How much the context alone says for one rule, before anything spreads."""

    value: float
    """Where spreading starts; 0 if the rule is reachable by edges only, or out."""
    confirmed: tuple[str, ...]
    contradicted: tuple[str, ...]
    """With one of these the rule is out."""
    absent: tuple[str, ...]
    words: tuple[str, ...]
    """The stems that prompt or command share with it, in order."""


def seed_of(
    rule: Rule,
    facts: Mapping[str, tuple[str, ...]],
    words: frozenset[str],
    now: float,
) -> Seed:
    """Return how much *facts* and *words* say for *rule*, and why."""
    match = rule.when.match(facts)
    shared = tuple(sorted(words & rule.words))
    level = base_level(rule.usage.count, rule.usage.last_used, now)
    factor = BASE_FLOOR + BASE_RANGE * level
    return Seed(
        _strength(match, bool(shared)) * factor,
        confirmed=match.confirmed,
        contradicted=match.contradicted,
        absent=match.absent,
        words=shared,
    )


def _strength(match: Match, shares_words: bool) -> float:
    """Return a seed before recency and frequency.

    Without conditions it's a fixed value. Otherwise it grows with the share of conditions that are
    confirmed, and with their number: a rule that asks for much and gets it is more likely the right
    one. Shared words are one more confirmed condition. If nothing is confirmed there is no seed.
    """
    hits = len(match.confirmed) + shares_words
    total = hits + len(match.absent)
    if match.contradicted:
        return 0.0
    if not hits:
        return 0.0 if total else ALWAYS
    ceiling = CEILINGS[min(total, len(CEILINGS)) - 1]
    return SEED_FLOOR + (hits / total) * (ceiling - SEED_FLOOR)


def base_level(uses: int, last_used: float | None, now: float) -> float:
    """Return what recency and frequency make of a rule, from 0 to 1.

    This is ``1 / (1 + e^-(ln(2n / sqrt(h)) + 1))`` for *n* uses and *h* hours since the last,
    written without the logarithm, which has no value for 0 uses.
    """
    if last_used is None:
        return NEVER_USED
    hours = max(LEAST_HOURS, (now - last_used) / SECONDS)
    odds = USE_FACTOR * uses / sqrt(hours) * exp(USE_OFFSET)
    return odds / (1 + odds)


def confirming(when: When, key: str, facts: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """Return which of several facts meet the condition *key*."""
    known = facts.get(key, ())
    wanted = dict(when.conditions)[key]
    if len(known) == 1:
        return known
    return tuple([fact for fact in known if any(meets(key, fact, value) for value in wanted)])


def _inhibited(state: Mapping[str, float]) -> dict[str, float]:
    """Return the state after all but the strongest gave way to their mean."""
    alive = {id: value for id, value in state.items() if value > 0}
    if len(alive) <= INHIBITION_BREADTH:
        return alive
    ranked = sorted(alive, key=lambda id: (-alive[id], id))
    mean = fsum([alive[id] for id in ranked[:INHIBITION_BREADTH]]) / INHIBITION_BREADTH
    for id in ranked[INHIBITION_BREADTH:]:
        alive[id] = max(0.0, alive[id] - INHIBITION_STRENGTH * (mean - alive[id]))
    return alive


def _squashed(raw: float) -> float:
    """Return the activation that a raw value means: from 0 to 1, and 0 where it's too little to
    matter."""
    if raw <= 0:
        return 0.0
    value = 1 / (1 + exp(-SIGMOID_GAIN * (raw - SIGMOID_CENTER)))
    return value if value >= LEAST else 0.0
