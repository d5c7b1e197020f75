"""How edges learn from use: behaviors that keep coming up together get an edge.

The rule is Hebb's: each time, the weight moves a share of the way towards 1. Only pairs of the
strongest few count, so one prompt with a hundred behaviors doesn't make five thousand edges. And a
pair gets an edge only after it has come up several times: a giver divides its activation among its
edges, so even a light one carries much if it's the only one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from brim.behaviors.behavior import POSITIVE, Edge, EdgeKind

Pair = tuple[str, str]

RATE = 0.1
"""The share of the way to 1 that a weight moves each time."""
AFTER = 3
"""How often a pair must have come up together before it gets an edge."""
BREADTH = 5
"""How many of the strongest are paired with each other: at most ten pairs."""
HEAVIEST = 0.99
"""Where a learned weight stops: only what a person says is certain."""


def joint_pairs(ids: Iterable[str], breadth: int = BREADTH) -> list[Pair]:
    """Return the pairs that count as having come up together, when *ids* went in, strongest first.

    >>> joint_pairs(["c", "a", "b"], breadth=2)
    [('a', 'c')]
    """
    first = sorted(list(dict.fromkeys(ids))[:breadth])
    return [(one, other) for at, one in enumerate(first) for other in first[at + 1 :]]


def co_activated(
    ids: Sequence[str],
    edges: Iterable[Edge],
    now: float,
    *,
    joint: Mapping[Pair, int] | None = None,
    rate: float = RATE,
    after: int = AFTER,
    breadth: int = BREADTH,
) -> list[Edge]:
    """Return the edges to add or to replace after *ids* went in together, strongest first.

    *edges* are those that touch *ids*; *joint* says how often each pair of ``joint_pairs`` has come
    up, including this time. An edge of kind co-activated gets heavier. A pair without any edge gets
    one when it has come up *after* times. Pairs that are related otherwise stay as they are: what a
    person said about them says more.
    """
    related: dict[Pair, list[Edge]] = {}
    for edge in edges:
        pair = (
            (edge.source, edge.target) if edge.source < edge.target else (edge.target, edge.source)
        )
        related.setdefault(pair, []).append(edge)
    learned = []
    for pair in joint_pairs(ids, breadth):
        known = related.get(pair, ())
        for edge in known:
            if edge.kind is EdgeKind.CO_ACTIVATED:
                heavier = min(HEAVIEST, edge.weight + rate * (1 - edge.weight))
                learned.append(replace(edge, weight=max(edge.weight, heavier), last_activated=now))
        if not known and (joint or {}).get(pair, 0) >= after:
            weight = min(HEAVIEST, rate)
            learned.append(
                Edge(*pair, EdgeKind.CO_ACTIVATED, weight, created_at=now, last_activated=now)
            )
    return sorted(learned, key=lambda edge: (edge.source, edge.target))


def touched(edges: Iterable[Edge], ids: Collection[str], now: float) -> list[Edge]:
    """Return those of *edges* that carried energy when *ids* were activated, with *now* as their
    last time.

    Energy goes over a positive edge if both its ends are active. An edge that takes away has done
    so if its giving end is active: the other one may be silent just because of it.
    """
    active = frozenset(ids)
    carried = []
    for edge in edges:
        source, target = edge.source in active, edge.target in active
        both_count = edge.kind is EdgeKind.CONFLICTS
        did = source and target if edge.kind in POSITIVE else source or (both_count and target)
        if did and (edge.last_activated is None or edge.last_activated < now):
            carried.append(replace(edge, last_activated=now))
    return carried
