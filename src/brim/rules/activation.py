"""``activate``: what matters now, and how much.

The context gives each behavior a seed. Seeds spread along edges for a few steps, the strongest keep
the others down, and a curve separates what matters from what doesn't.

Each step reads the state at its beginning, so the order of visits can't matter; sums are exact
(``fsum``), and subtractions go in the order of ids. The same graph gives the same floats, always.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from math import exp, fsum, sqrt
from typing import Any

from brim.record import PlainData
from brim.rules.conditions import Condition, Match, When, meets
from brim.rules.context import Context
from brim.rules.graph import Node, Source
from brim.rules.library_rule import Edge, EdgeKind
from brim.rules.parameters import DEFAULTS, Parameters

State = dict[str, float]
Way = tuple[str, EdgeKind, str, float, Edge]
"""One direction of an edge: receiver, kind, the edge's own source, the share of the giver's value,
the edge."""

SECONDS = 3600
MOST_WORDS = 5
"""Words that a reason names."""


@dataclass(frozen=True)
class Activation(PlainData):
    """How much one behavior matters now, from 0 to 1, and why. Unpacks into its three fields."""

    id: str
    value: float
    reasons: tuple[str, ...]

    def __iter__(self) -> Iterator[Any]:
        return iter([getattr(self, name) for name in self.__match_args__])


def activate(
    source: Source,
    context: Context,
    *,
    now: float | datetime,
    parameters: Parameters = DEFAULTS,
    reasons: bool = True,
) -> list[Activation]:
    """Return every behavior of *source* that matters in *context*, highest first, then by id.

    A behavior that the context confirms and that lost everything to others comes with a value of 0:
    a constraint is told even then. *now* is in seconds since 1970, or a time with its zone. The
    same graph, context and time give the same numbers, to the last bit. Without *reasons* it's
    faster.
    """
    course = Course(Neighbourhood(source, context, now, parameters))
    return course.activations(reasons=reasons)


@dataclass(frozen=True)
class Seed(PlainData):
    """How much the context alone says for one behavior, before anything spreads."""

    value: float
    """Where spreading starts; 0 if the behavior is reachable by edges only, or out."""
    confirmed: tuple[str, ...]
    contradicted: tuple[str, ...]
    """With one of these the behavior is out: it neither gets nor gives."""
    absent: tuple[str, ...]
    words: tuple[str, ...]
    """The stems that prompt or command share with it, in order."""


def seed_of(
    node: Node,
    facts: Mapping[str, tuple[str, ...]],
    words: frozenset[str],
    now: float,
    parameters: Parameters,
) -> Seed:
    """Return how much *facts* and *words* say for *node*, and why."""
    match = node.when.match(facts)
    shared = tuple(sorted(words & node.words))
    factor = base_factor(base_level(node.uses, node.last_used, now, parameters), parameters)
    return Seed(strength(match, bool(shared), parameters) * factor, *match, shared)


def strength(match: Match, shares_words: bool, parameters: Parameters) -> float:
    """Return a seed before recency and frequency.

    Without conditions it's a fixed value. Otherwise it grows with the share of conditions that are
    confirmed, and with their number: a rule that asks for much and gets it is more likely the right
    one. Shared words are one more confirmed condition. If nothing is confirmed there is no seed.
    """
    confirmed, contradicted, absent = match
    hits = len(confirmed) + shares_words
    total = hits + len(absent)
    if contradicted or not hits:
        return 0.0 if contradicted or total else parameters.always
    first = (parameters.one_condition, parameters.two_conditions, parameters.three_conditions)
    ceiling = first[min(total, 3) - 1]
    if total > 3:
        ceiling = max(ceiling, min(1.0, ceiling + parameters.further_condition * (total - 3)))
    return parameters.seed_floor + (hits / total) * (ceiling - parameters.seed_floor)


def base_factor(level: float, parameters: Parameters) -> float:
    """Return what a seed is multiplied by at this base level."""
    return parameters.base_floor + parameters.base_range * level


def base_level(uses: int, last_used: float | None, now: float, parameters: Parameters) -> float:
    """Return what recency and frequency make of a behavior, from 0 to 1.

    This is ``1 / (1 + e^-(ln(2n / sqrt(h)) + 1))`` for *n* uses and *h* hours since the last,
    written without the logarithm, which has no value for 0 uses.
    """
    if last_used is None:
        return parameters.never_used
    hours = max(parameters.least_hours, (now - last_used) / SECONDS)
    odds = parameters.use_factor * uses / sqrt(hours) * exp(parameters.use_offset)
    return odds / (1 + odds)


def confirming(when: When, key: str, facts: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """Return which of several facts meet the condition *key*."""
    known, wanted = facts.get(key, ()), dict(when.conditions)[key]
    return (
        known
        if len(known) == 1
        else tuple(fact for fact in known if any(meets(key, fact, each) for each in wanted))
    )


class Neighbourhood:
    """The part of a source that one activation has seen.

    A behavior takes part if it's live and the context contradicts none of its conditions. Only
    those count among the edges of a giver: what would go to one that is out isn't lost, it goes to
    the others.
    """

    def __init__(
        self,
        source: Source,
        context: Context,
        now: float | datetime,
        parameters: Parameters,
    ) -> None:
        self.source, self.context, self.parameters = source, context, parameters
        self.now = now = now if isinstance(now, (int, float)) else now.timestamp()
        self.seeds: dict[str, float] = {}
        self.nodes: dict[str, Node] = {}
        """Those with a seed."""
        self.gives: dict[str, list[Way]] = {}
        """Where each expanded behavior passes activation on to, in the order of ids."""
        self.takes: dict[str, list[Way]] = {}
        """From which behaviors each expanded one takes activation away, in the order of ids."""
        self._part: dict[str, bool] = {}
        self._matches: dict[tuple[Condition, ...], Match] = {}
        for node in source.seeds(context.facts, context.words):
            match = self.match(node)
            self._part[node.id] = not match.contradicted
            seed = strength(match, not context.words.isdisjoint(node.words), parameters)
            seed *= base_factor(base_level(node.uses, node.last_used, now, parameters), parameters)
            if seed > 0:
                self.seeds[node.id] = seed
                self.nodes[node.id] = node

    def match(self, node: Node) -> Match:
        """Compare the conditions of *node* with the context; many behaviors have the same."""
        conditions = node.when.conditions
        if conditions not in self._matches:
            self._matches[conditions] = node.when.match(self.context.facts)
        return self._matches[conditions]

    def words(self, node: Node) -> tuple[str, ...]:
        """Return the words that the context shares with *node*."""
        return tuple(sorted(self.context.words & node.words))

    def expand(self, ids: Iterable[str]) -> None:
        """Read the edges of those of *ids* whose edges aren't known yet, and what is at their other
        ends."""
        new = [id for id in ids if id not in self.gives]
        if not new:
            return
        gives: dict[str, list[tuple[str, Edge]]] = {id: [] for id in new}
        takes: dict[str, list[tuple[str, Edge]]] = {id: [] for id in new}
        edges, part = list(self.source.edges(new)), self._part
        unknown = {end for edge in edges for end in (edge.source, edge.target) if end not in part}
        if unknown:  # what the source doesn't give isn't live
            part.update(dict.fromkeys(unknown, False))
            for node in self.source.nodes(unknown):
                part[node.id] = not self.match(node).contradicted
        for edge in edges:
            source, target, kind = edge.source, edge.target, edge.kind
            if not (part[source] and part[target]):
                continue
            one_way = kind is EdgeKind.OVERRIDES
            ways = takes if one_way or kind is EdgeKind.CONFLICTS else gives
            if source in ways:
                ways[source].append((target, edge))
            if not one_way and target in ways:
                ways[target].append((source, edge))
        self.gives.update({id: self._shares(ways) for id, ways in gives.items()})
        self.takes.update({id: self._shares(ways) for id, ways in takes.items()})

    def _shares(self, ways: list[tuple[str, Edge]]) -> list[Way]:
        if not ways:
            return []
        passed = self.parameters.spread * self.parameters.decay
        total = fsum([edge.weight for _, edge in ways])
        # Receiver, kind and the edge's own source: with the giver they name one edge.
        ways = sorted(ways, key=lambda way: (way[0], way[1].kind, way[1].source))
        return [
            (
                other,
                edge.kind,
                edge.source,
                passed * edge.weight * self.freshness(edge) / total,
                edge,
            )
            for other, edge in ways
        ]

    def freshness(self, edge: Edge) -> float:
        """Return what is left of *edge* after the hours in which nothing went over it."""
        if edge.last_activated is None:
            return 1.0
        return exp(
            -self.parameters.edge_fading * max(0.0, (self.now - edge.last_activated) / SECONDS)
        )


class Course:
    """How one activation went: the state before the first step and after each, and where each value
    came from."""

    def __init__(self, around: Neighbourhood) -> None:
        self.around = around
        self.states: list[State] = [dict(around.seeds)]
        self.origins: dict[str, tuple[EdgeKind, str]] = {}
        """The kind of edge and the giver of the largest energy, for values that are more than their
        seed."""
        self.losses: dict[str, float] = {}
        """What conflicts and overrides took away, in all."""
        for _ in range(around.parameters.steps):
            self._step()
        self.raw = _inhibited(self.states[-1], around.parameters)
        self.values = {id: _squashed(raw, around.parameters) for id, raw in self.raw.items()}

    def _step(self) -> None:
        before = self.states[-1]
        givers = sorted([id for id, value in before.items() if value > 0])
        self.around.expand(givers)
        after = dict(before)
        gives, takes = self.around.gives, self.around.takes
        for giver in givers:
            for receiver, kind, _, share, _ in gives[giver]:
                energy = before[giver] * share
                if energy > after.get(receiver, 0.0):
                    after[receiver] = energy
                    self.origins[receiver] = (kind, giver)
        for giver in givers:
            for receiver, _, _, share, _ in takes[giver]:
                had = after.get(receiver, 0.0)
                if had > 0:
                    after[receiver] = max(0.0, had - before[giver] * share)
                    self.losses[receiver] = self.losses.get(receiver, 0.0) + had - after[receiver]
        self.states.append(after)

    def ranked(self) -> list[tuple[str, float]]:
        """Return the id and the value of every behavior that matters, highest first, then by id."""
        values = {**dict.fromkeys(self.around.seeds, 0.0), **self.values}
        ranked = sorted(
            [(-value, id) for id, value in values.items() if value > 0 or id in self.around.seeds]
        )
        return [(id, -value) for value, id in ranked]

    def activations(self, *, reasons: bool = True) -> list[Activation]:
        """Return every behavior that matters, highest first, then by id; with their *reasons*."""
        told: dict[Condition, str] = {}
        return [
            Activation(id, value, self.reasons(id, told) if reasons else ())
            for id, value in self.ranked()
        ]

    def reasons(self, id: str, told: dict[Condition, str]) -> tuple[str, ...]:
        """Say in a few words what the value of *id* rests on; *told* caches the words for each
        condition."""
        reasons = []
        node = self.around.nodes.get(id)
        if node is not None:
            confirmed, context = self.around.match(node).confirmed, self.around.context
            for condition in node.when.conditions:
                if condition[0] in confirmed:
                    if condition not in told:
                        told[condition] = (
                            f"{condition[0]} {confirming(node.when, condition[0], context.facts)[0]}"
                        )
                    reasons.append(told[condition])
            if words := self.around.words(node):
                reasons.append(f"words {', '.join(words[:MOST_WORDS])}")
            reasons = reasons or ["always"]
        if id in self.origins:
            reasons.append(" ".join(self.origins[id]))
        if id in self.losses:
            reasons.append(f"weakened by {self.losses[id]:.2f}")
        return tuple(reasons)


def _inhibited(state: Mapping[str, float], parameters: Parameters) -> State:
    """Return the state after all but the strongest gave way to their mean."""
    alive = {id: value for id, value in state.items() if value > 0}
    breadth = parameters.inhibition_breadth
    if len(alive) <= breadth:
        return alive
    ranked = [id for _, id in sorted([(-value, id) for id, value in alive.items()])]
    mean = fsum([alive[id] for id in ranked[:breadth]]) / breadth
    for id in ranked[breadth:]:
        alive[id] = max(0.0, alive[id] - parameters.inhibition_strength * (mean - alive[id]))
    return alive


def _squashed(raw: float, parameters: Parameters) -> float:
    """Return the activation that a raw value means: from 0 to 1, and 0 where it's too little to
    matter."""
    if raw <= 0:
        return 0.0
    exponent = -parameters.sigmoid_gain * (raw - parameters.sigmoid_center)
    value = 1 / (1 + exp(exponent)) if exponent < 700 else 0.0
    return value if value >= parameters.least else 0.0
