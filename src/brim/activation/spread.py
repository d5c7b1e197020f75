"""Spreading: how activation runs along edges, step by step, and how the strongest keep the others down.

Every step reads the state at its beginning, so the order in which behaviors are visited cannot matter; sums are exact
(``fsum``), and what is subtracted is subtracted in the order of ids. The same graph gives the same floats, always.
"""

from __future__ import annotations

from _operator import itemgetter
from math import exp, fsum

from brim.activation.seeds import SECONDS, seed_of
from brim.behaviors.behavior import EdgeKind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from brim.activation.context import Context
    from brim.activation.parameters import Parameters
    from brim.activation.seeds import Seed
    from brim.activation.source import Node, Source
    from brim.behaviors.behavior import Edge
    from brim.behaviors.when import Condition, Match, When

    State = dict[str, float]
    Way = tuple[str, EdgeKind, str, float, Edge]
    """One direction of an edge: receiver, kind, the edge's own source, the share of the giver's value, the edge."""


_BY_IDS = itemgetter(0, 1, 2)
"""Receiver, kind and the edge's own source: with the giver they name one edge."""


class Neighbourhood:
    """The part of a source that one activation has come to know.

    A behavior takes part if it is live and the context contradicts none of its conditions. Only those count among the
    edges of a giver: what would go to one that is out is not lost, it goes to the others.
    """

    def __init__(self, source: Source, context: Context, now: float | datetime, parameters: Parameters) -> None:
        self.source = source
        self.facts = context.facts
        self.now = now = now if isinstance(now, (int, float)) else now.timestamp()
        self.parameters = parameters
        self.seeds: dict[str, Seed] = {}
        self.nodes: dict[str, Node] = {}
        """Those with a seed."""
        self.gives: dict[str, list[Way]] = {}
        """Where each behavior that was expanded passes activation on to, in the order of ids."""
        self.takes: dict[str, list[Way]] = {}
        """From whom each behavior that was expanded takes activation away, in the order of ids."""
        self._part: dict[str, bool] = {}
        self._met: dict[Condition, bool] = {}
        self._matches: dict[tuple[Condition, ...], Match] = {}
        facts, words = context.facts, context.words
        for node in source.seeds(facts, words):
            seed = seed_of(node, facts, words, now, parameters, match=self._match(node.when))
            self._part[node.id] = not seed.contradicted
            if seed.value > 0:
                self.seeds[node.id] = seed
                self.nodes[node.id] = node

    def expand(self, ids: Iterable[str]) -> None:
        """Learn the edges of those of *ids* whose edges are not known yet, and what is at their other ends."""
        new = [id for id in ids if id not in self.gives]
        if not new:
            return
        gives: dict[str, list[tuple[str, Edge]]] = {id: [] for id in new}
        takes: dict[str, list[tuple[str, Edge]]] = {id: [] for id in new}
        edges = list(self.source.edges(new))
        self._meet(edges)
        part = self._part
        conflicts, overrides = EdgeKind.CONFLICTS, EdgeKind.OVERRIDES
        for edge in edges:
            source, target, kind = edge.source, edge.target, edge.kind
            if not (part[source] and part[target]):
                continue
            one_way = kind is overrides
            ways = takes if one_way or kind is conflicts else gives
            if source in ways:
                ways[source].append((target, edge))
            if not one_way and target in ways:
                ways[target].append((source, edge))
        self.gives.update({id: self._shares(ways) if ways else [] for id, ways in gives.items()})
        self.takes.update({id: self._shares(ways) if ways else [] for id, ways in takes.items()})

    def _meet(self, edges: list[Edge]) -> None:
        """Find out which ends of *edges* take part. What the source does not give is not live."""
        part = self._part
        unknown = {end for edge in edges for end in (edge.source, edge.target) if end not in part}
        if unknown:
            part.update(dict.fromkeys(unknown, False))
            for node in self.source.nodes(unknown):
                part[node.id] = not self._match(node.when).contradicted

    def _match(self, when: When) -> Match:
        """Return how the context meets *when*: of many behaviors with the same conditions, found out for one."""
        found = self._matches.get(when.conditions)
        if found is None:
            found = self._matches[when.conditions] = when.match(self.facts, self._met)
        return found

    def _shares(self, ways: list[tuple[str, Edge]]) -> list[Way]:
        passed = self.parameters.spread * self.parameters.decay
        total = fsum([edge.weight for _, edge in ways])
        shares = [
            (other, edge.kind, edge.source, passed * edge.weight * self.freshness(edge) / total, edge)
            for other, edge in ways
        ]
        shares.sort(key=_BY_IDS)
        return shares

    def freshness(self, edge: Edge) -> float:
        """Return what is left of *edge* after the hours in which nothing went over it."""
        if edge.last_activated is None:
            return 1.0
        return exp(-self.parameters.edge_fading * max(0.0, (self.now - edge.last_activated) / SECONDS))


class Course:
    """How one activation went: the state before the first step and after each, and where each value came from."""

    def __init__(self, around: Neighbourhood) -> None:
        self.around = around
        self.states: list[State] = [{id: seed.value for id, seed in around.seeds.items()}]
        self.origins: dict[str, tuple[EdgeKind, str]] = {}
        """The kind of edge and the giver of the largest energy, for values that are more than their seed."""
        self.losses: dict[str, float] = {}
        """What conflicts and overrides took away, in all."""
        for _ in range(around.parameters.steps):
            self._step()
        final = self.states[-1]
        self.top_mean, self.raw = inhibited(final, around.parameters)

    def _step(self) -> None:
        before = self.states[-1]
        givers = sorted([id for id, value in before.items() if value > 0])
        self.around.expand(givers)
        after = dict(before)
        gives, takes = self.around.gives, self.around.takes
        for giver in givers:
            value = before[giver]
            for receiver, kind, _, share, _ in gives[giver]:
                energy = value * share
                if energy > after.get(receiver, 0.0):
                    after[receiver] = energy
                    self.origins[receiver] = (kind, giver)
        for giver in givers:
            value = before[giver]
            for receiver, _, _, share, _ in takes[giver]:
                had = after.get(receiver, 0.0)
                if had > 0:
                    after[receiver] = max(0.0, had - value * share)
                    self.losses[receiver] = self.losses.get(receiver, 0.0) + had - after[receiver]
        self.states.append(after)


def inhibited(state: Mapping[str, float], parameters: Parameters) -> tuple[float | None, State]:
    """Return the mean of the strongest, or None if there are no others, and the state in which the others gave way."""
    alive = {id: value for id, value in state.items() if value > 0}
    breadth = parameters.inhibition_breadth
    if len(alive) <= breadth:
        return None, alive
    ranked = sorted(alive, key=lambda id: (-alive[id], id))
    mean = fsum([alive[id] for id in ranked[:breadth]]) / breadth
    for id in ranked[breadth:]:
        alive[id] = max(0.0, alive[id] - parameters.inhibition_strength * (mean - alive[id]))
    return mean, alive


def squashed(raw: float, parameters: Parameters) -> float:
    """Return the activation that a raw value means: between 0 and 1, and 0 where it is too little to matter."""
    if raw <= 0:
        return 0.0
    exponent = -parameters.sigmoid_gain * (raw - parameters.sigmoid_center)
    value = 1 / (1 + exp(exponent)) if exponent < 700 else 0.0
    return value if value >= parameters.least else 0.0
