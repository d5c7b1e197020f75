"""``Graph``: behaviors and edges in memory, indexed so that asking for a neighbourhood costs only that much."""

from __future__ import annotations

from brim.activation.lookup import filed_under, looked_up
from brim.activation.source import node_of
from brim.errors import InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from brim.activation.source import Node
    from brim.behaviors.behavior import Behavior, Edge


class Graph:
    """A source in memory. What it answers does not depend on the order in which things were given.

    Behaviors that are not live, and edges that touch them, are left out. Of two edges of the same source, target and
    kind the heavier one counts. Two behaviors with one id are an error: which of them is meant?
    """

    def __init__(self, behaviors: Iterable[Behavior], edges: Iterable[Edge] = ()) -> None:
        known: set[str] = set()
        self._nodes: dict[str, Node] = {}
        for behavior in behaviors:
            if behavior.id in known:
                raise InputError(f"two behaviors have the id {behavior.id!r}: give one of them another, or merge them")
            known.add(behavior.id)
            if behavior.live:
                self._nodes[behavior.id] = node_of(behavior)
        self._index()
        self._connect(edges, known)

    def _index(self) -> None:
        self._unconditional: list[str] = []
        self._conditions: dict[tuple[str, str], list[str]] = {}
        self._words: dict[str, list[str]] = {}
        for id, node in self._nodes.items():
            if not node.when.conditions:
                self._unconditional.append(id)
            for key, values in node.when.conditions:
                for filed in {filed_under(key, value) for value in values}:
                    self._conditions.setdefault((key, filed), []).append(id)
            for word in node.words:
                self._words.setdefault(word, []).append(id)

    def _connect(self, edges: Iterable[Edge], known: set[str]) -> None:
        self._leaving: dict[str, list[Edge]] = {}
        self._arriving: dict[str, list[Edge]] = {}
        chosen: dict[tuple[str, str, str], Edge] = {}
        dangling: set[Edge] = set()
        for edge in edges:
            if edge.source not in known or edge.target not in known:
                dangling.add(edge)
            elif edge.source in self._nodes and edge.target in self._nodes:
                triple = (edge.source, edge.target, str(edge.kind))
                rival = chosen.get(triple)
                if rival is None or _rank(edge) > _rank(rival):
                    chosen[triple] = edge
        for edge in chosen.values():
            self._leaving.setdefault(edge.source, []).append(edge)
            self._arriving.setdefault(edge.target, []).append(edge)
        self.dangling = tuple(sorted(dangling, key=lambda edge: (edge.source, edge.target, edge.kind, _rank(edge))))
        """Edges with an end that is not there at all. They carry nothing."""

    def seeds(self, facts: Mapping[str, tuple[str, ...]], words: frozenset[str]) -> Iterator[Node]:
        """Every live behavior that *facts* or *words* may speak for, and those without conditions."""
        found = set(self._unconditional)
        for key, values in facts.items():
            for value in values:
                for filed in looked_up(key, value):
                    found.update(self._conditions.get((key, filed), ()))
        for word in words:
            found.update(self._words.get(word, ()))
        return (self._nodes[id] for id in found)

    def nodes(self, ids: Collection[str]) -> Iterator[Node]:
        """Those of *ids* that are live."""
        return (self._nodes[id] for id in ids if id in self._nodes)

    def edges(self, ids: Collection[str]) -> Iterator[Edge]:
        """Every edge between live behaviors that touches one of *ids*, once."""
        ids = frozenset(ids)
        for id in ids:
            yield from self._leaving.get(id, ())
            for edge in self._arriving.get(id, ()):
                if edge.source not in ids:
                    yield edge

    def __repr__(self) -> str:
        return f"Graph({len(self._nodes)} behaviors, {sum(map(len, self._leaving.values()))} edges)"

    def __len__(self) -> int:
        return len(self._nodes)

    def __contains__(self, id: object) -> bool:
        return id in self._nodes


def _rank(edge: Edge) -> tuple[float, float, float]:
    """Order edges that say the same: the heavier, then the one that has faded least, then the younger."""
    awake = float("inf") if edge.last_activated is None else edge.last_activated
    return edge.weight, awake, float("-inf") if edge.created_at is None else edge.created_at
