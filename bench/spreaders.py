"""The graphs that activation is measured on, and the same numbers by networkx and by scipy.

The peers compute what ``brim.rules`` defines, in the way that somebody with these libraries
would: the graph is prepared once, and each activation goes over all of it. A seed is brim's own for
everyone, so that what is compared is how the graph is gone about.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from brim.rules import Context, Edge, EdgeKind, Graph, Node, Rule, RuleUsage, activate
from brim.rules.activation import seed_of
from brim.rules.graph import node_of
from brim.rules.library_rule import POSITIVE
from brim.rules.parameters import DEFAULTS

NOW = 1_800_000_000.0
HOUR = 3600.0
TOPIC = 20
"""Behaviors that share one topic, and the edges among them: what one context brings up."""

Activate = Callable[[Context], dict[str, float]]


def make(number: int, seed: int = 1) -> tuple[list[Rule], list[Edge]]:
    """Return so many behaviors in topics of twenty, with three edges each, most of them inside the
    topic."""
    rng = random.Random(seed)
    behaviors = []
    for i in range(number):
        when = {"topic": f"topic-{i // TOPIC}", "project_type": "library"}
        if i % 4 == 0:
            when["language"] = ("python", "rust", "go")[i % 3]
        usage = RuleUsage(injected=rng.randrange(30), last_used=NOW - rng.uniform(0, 2000) * HOUR)
        behaviors.append(
            Rule(
                id=f"b-{i:06}",
                name=f"rule-{i}",
                kind="directive",
                canonical=f"Rule {i}: do it so, and not otherwise, unless somebody says so.",
                when=when,
                usage=usage if i % 3 else None,
            )
        )
    kinds = [*(str(kind) for kind in POSITIVE), "requires", "similar-to", "conflicts", "overrides"]
    edges: dict[tuple[str, str, str], Edge] = {}
    while len(edges) < 3 * number:
        one = len(edges) // 3
        first = one // TOPIC * TOPIC
        other = rng.randrange(first, min(number, first + TOPIC))
        if rng.random() < 0.01:
            other = (first + TOPIC + rng.randrange(TOPIC)) % number  # a bridge to the next topic
        if one == other:
            continue
        kind = rng.choice(sorted(kinds))
        source, target = f"b-{one:06}", f"b-{other:06}"
        last = NOW - rng.uniform(0, 300) * HOUR if rng.random() < 0.7 else None
        edges[source, target, kind] = Edge(
            source, target, kind, rng.uniform(0.1, 1), last_activated=last
        )
    return behaviors, list(edges.values())


@dataclass(frozen=True)
class Spreader:
    """One way to compute activations: what it is called, the package it needs, and how its graph is
    prepared."""

    name: str
    package: str
    prepare: Callable[[Sequence[Rule], Sequence[Edge]], Activate]

    @property
    def version(self) -> str | None:
        """The installed version, or None if the package is absent."""
        try:
            return version(self.package)
        except PackageNotFoundError:
            return None


def prepare_brim(behaviors: Sequence[Rule], edges: Sequence[Edge]) -> Activate:
    """Index the graph for brim."""
    graph = Graph(behaviors, edges)
    return lambda context: {
        one.id: one.value for one in activate(graph, context, now=NOW) if one.value
    }


def prepare_networkx(behaviors: Sequence[Rule], edges: Sequence[Edge]) -> Activate:
    """Make a directed multigraph with one arc for each way that energy can go."""
    networkx = import_module("networkx")
    graph = networkx.MultiDiGraph()
    for behavior in behaviors:
        graph.add_node(behavior.id, node=node_of(behavior))
    for edge in edges:
        sign = 1 if edge.kind in POSITIVE else -1
        facts = {"weight": edge.weight, "last": edge.last_activated, "sign": sign}
        graph.add_edge(edge.source, edge.target, **facts)
        if edge.kind is not EdgeKind.OVERRIDES:
            graph.add_edge(edge.target, edge.source, **facts)

    def spread(context: Context) -> dict[str, float]:
        seeds = {id: _seed(node, context) for id, node in graph.nodes(data="node")}
        part = graph.subgraph([id for id, seed in seeds.items() if seed is not None])
        values = {id: seeds[id] or 0.0 for id in part}
        sums = {sign: dict.fromkeys(values, 0.0) for sign in (1, -1)}
        for source, _, arc in part.edges(data=True):
            sums[arc["sign"]][source] += arc["weight"]
        for _ in range(DEFAULTS.steps):
            best, taken = dict(values), dict.fromkeys(values, 0.0)
            for source, target, arc in part.edges(data=True):
                if values[source] > 0:
                    fresh = (
                        1.0
                        if arc["last"] is None
                        else math.exp(-0.01 * max(0.0, (NOW - arc["last"]) / HOUR))
                    )
                    energy = (
                        values[source]
                        * 0.85
                        * 0.7
                        * arc["weight"]
                        * fresh
                        / sums[arc["sign"]][source]
                    )
                    if arc["sign"] > 0:
                        best[target] = max(best[target], energy)
                    else:
                        taken[target] += energy
            values = {id: max(0.0, best[id] - taken[id]) for id in values}
        alive = sorted((id for id in values if values[id] > 0), key=lambda id: (-values[id], id))
        mean = sum(values[id] for id in alive[:7]) / 7
        for id in alive[7:]:
            values[id] = max(0.0, values[id] - 0.15 * (mean - values[id]))
        squashed = {id: 1 / (1 + math.exp(-10 * (values[id] - 0.3))) for id in alive}
        return {id: value for id, value in squashed.items() if value >= 0.05}

    return spread


def prepare_scipy(behaviors: Sequence[Rule], edges: Sequence[Edge]) -> Activate:
    """Make arrays of the arcs; each activation makes its matrices of those that take part."""
    numpy, sparse = import_module("numpy"), import_module("scipy.sparse")
    nodes = [node_of(behavior) for behavior in behaviors]
    ids = numpy.array([node.id for node in nodes])
    place = {node.id: i for i, node in enumerate(nodes)}
    arcs = []
    for edge in edges:
        sign = 1 if edge.kind in POSITIVE else -1
        idle = 0.0 if edge.last_activated is None else max(0.0, (NOW - edge.last_activated) / HOUR)
        arcs.append((place[edge.source], place[edge.target], edge.weight, idle, sign))
        if edge.kind is not EdgeKind.OVERRIDES:
            arcs.append((place[edge.target], place[edge.source], edge.weight, idle, sign))
    source, target = (numpy.array([arc[i] for arc in arcs], dtype=numpy.int64) for i in (0, 1))
    weight, idle, signs = (numpy.array([arc[i] for arc in arcs], dtype=float) for i in (2, 3, 4))
    carried = 0.85 * 0.7 * weight * numpy.exp(-0.01 * idle)

    def matrix(chosen: Any) -> Any:
        """Return receivers by givers, each arc with its share; two arcs between the same two on
        rows of their own."""
        sums = numpy.bincount(source[chosen], weights=weight[chosen], minlength=len(nodes))
        shares = carried[chosen] / sums[source[chosen]]
        rows = numpy.arange(len(shares))
        return sparse.csr_matrix(
            (shares, (rows, source[chosen])), shape=(len(shares), len(nodes))
        ), target[chosen]

    def spread(context: Context) -> dict[str, float]:
        seeds = [_seed(node, context) for node in nodes]
        part = numpy.array([seed is not None for seed in seeds])
        values = numpy.array([seed or 0.0 for seed in seeds])
        inside = part[source] & part[target]
        gives, gets = matrix(inside & (signs > 0))
        takes, loses = matrix(inside & (signs < 0))
        for _ in range(DEFAULTS.steps):
            best = values.copy()
            numpy.maximum.at(best, gets, gives @ values)
            taken = numpy.bincount(loses, weights=takes @ values, minlength=len(nodes))
            values = numpy.maximum(0.0, best - taken)
        ranked = numpy.lexsort((ids, -values))[: int((values > 0).sum())]
        others = ranked[7:]
        values[others] = numpy.maximum(
            0.0, values[others] - 0.15 * (values[ranked[:7]].sum() / 7 - values[others])
        )
        squashed = 1 / (1 + numpy.exp(-10 * (values[ranked] - 0.3)))
        return {
            str(ids[i]): float(value)
            for i, value in zip(ranked, squashed, strict=True)
            if value >= 0.05
        }

    return spread


def _seed(node: Node, context: Context) -> float | None:
    """Return the seed of *node*, or None if it is out."""
    seed = seed_of(node, context.facts, context.words, NOW, DEFAULTS)
    return None if seed.contradicted else seed.value


BRIM = Spreader("brim", "brim", prepare_brim)
PEERS = (
    Spreader("networkx", "networkx", prepare_networkx),
    Spreader("scipy.sparse", "scipy", prepare_scipy),
)
