"""What spreads from the rules that are told to the rules they name: a summary, or less detail.

It's the spreading of ``activate`` without inhibition: three steps, a share of each giver's value
along its edges. A neighbour alone never reaches a whole text.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import fsum

from brim.rules.stored import StoredEdge

STEPS = 3
SHARE = 0.85 * 0.7
"""The share of its value that a rule passes on, and what is left of it at the other end."""
HIGHEST = 0.69
"""The most that a neighbour gets: just below a whole text."""


def neighbours(seeds: dict[str, float], edges: Iterable[StoredEdge]) -> dict[str, float]:
    """Return the values of *seeds* and of what their *edges* lead to.

    >>> neighbours({"a": 1.0}, [StoredEdge("a", "requires", "b", 1.0, "user")])
    {'a': 1.0, 'b': 0.595}
    """
    gives: dict[str, list[tuple[str, float]]] = {}
    takes: dict[str, list[tuple[str, float]]] = {}
    for edge in edges:
        ways = takes if edge.takes else gives
        ways.setdefault(edge.source, []).append((edge.target, edge.weight))
        if edge.kind != "overrides":  # the others mean the same in both directions
            ways.setdefault(edge.target, []).append((edge.source, edge.weight))
    values = dict(seeds)
    for _ in range(STEPS):
        values = _step(values, gives, takes)
    for name in values:
        if name not in seeds:
            values[name] = min(HIGHEST, values[name])
    return values


def _step(
    before: dict[str, float],
    gives: dict[str, list[tuple[str, float]]],
    takes: dict[str, list[tuple[str, float]]],
) -> dict[str, float]:
    """Return the values after one step; every giver has its value from before."""
    after = dict(before)
    for giver in sorted(before):
        for receiver, energy in _energies(before[giver], gives.get(giver, [])):
            after[receiver] = max(after.get(receiver, 0.0), energy)
    for giver in sorted(before):
        for receiver, energy in _energies(before[giver], takes.get(giver, [])):
            if receiver in after:
                after[receiver] = max(0.0, after[receiver] - energy)
    return after


def _energies(value: float, ways: list[tuple[str, float]]) -> list[tuple[str, float]]:
    total = fsum([weight for _, weight in ways])
    return [(receiver, value * SHARE * weight / total) for receiver, weight in ways]
