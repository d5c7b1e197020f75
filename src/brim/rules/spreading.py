"""How rules pass what they matter on along their links, and take it from each other.

Each step reads the state at its beginning, so the order of visits can't matter; sums are exact
(``fsum``), and subtractions go in the order of ids. The same links give the same floats, always.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import fsum

from brim.record import PlainData

OVERRIDES = "overrides"
TAKING = ("conflicts", OVERRIDES)
"""Links that weaken what they lead to. The others carry something, both ways."""
STEPS = 3
SHARE = 0.85 * 0.7
"""The share of its value that a rule passes on, and what is left of it at the other end."""


@dataclass(frozen=True)
class Link(PlainData):
    """One rule's relation to another, by their names or ids."""

    source: str
    kind: str
    target: str
    weight: float
    owner: str = ""
    """The kind of the file that declares it."""
    freshness: float = 1.0
    """What is left of it after the time in which nothing went over it."""

    @property
    def takes(self) -> bool:
        """Whether it weakens what it leads to."""
        return self.kind in TAKING


@dataclass(frozen=True)
class _Way(PlainData):
    """One direction of a link."""

    receiver: str
    kind: str
    share: float
    """Of the giver's value."""


class Spreading:
    """The values of rules while they spread."""

    def __init__(
        self, values: dict[str, float], links: Iterable[Link], share: float = SHARE
    ) -> None:
        links = list(links)
        self.values = dict(values)
        self.origins: dict[str, tuple[str, str]] = {}
        """The kind of link and the giver of each value that was passed on."""
        self.losses: dict[str, float] = {}
        """What was taken away, in all."""
        self._gives = _ways([link for link in links if not link.takes], share)
        self._takes = _ways([link for link in links if link.takes], share)

    def step(self) -> None:
        """Pass the values on once."""
        before = self.values
        givers = sorted([id for id, value in before.items() if value > 0])
        after = dict(before)
        for giver in givers:
            for way in self._gives.get(giver, ()):
                energy = before[giver] * way.share
                if energy > after.get(way.receiver, 0.0):
                    after[way.receiver] = energy
                    self.origins[way.receiver] = (way.kind, giver)
        for giver in givers:
            for way in self._takes.get(giver, ()):
                value = after.get(way.receiver, 0.0)
                if value > 0:
                    after[way.receiver] = max(0.0, value - before[giver] * way.share)
                    loss = value - after[way.receiver]
                    self.losses[way.receiver] = self.losses.get(way.receiver, 0.0) + loss
        self.values = after


def _ways(links: list[Link], share: float) -> dict[str, list[_Way]]:
    """Return where each rule's value goes, in the order of ids."""
    ends: dict[str, list[tuple[str, str, str, Link]]] = {}
    for link in links:
        ends.setdefault(link.source, []).append((link.target, link.kind, link.source, link))
        if link.kind != OVERRIDES:  # the others mean the same in both directions
            ends.setdefault(link.target, []).append((link.source, link.kind, link.source, link))
    ways: dict[str, list[_Way]] = {}
    for giver, receivers in ends.items():
        total = fsum([end[3].weight for end in receivers])
        ways[giver] = []
        for receiver, kind, _, link in sorted(receivers, key=lambda end: end[:3]):
            part = share * link.weight * link.freshness / total
            ways[giver].append(_Way(receiver, kind, part))
    return ways
