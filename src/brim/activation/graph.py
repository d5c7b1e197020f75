"""``Graph``: a graph of behaviors in memory."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cached_property

from brim.activation.relevance import section_of, terms_of
from brim.activation.source import Node, filed_under, looked_up
from brim.behaviors.behavior import Edge, Rule
from brim.behaviors.words import behavior_words
from brim.errors import InputError


def node_of(behavior: Rule) -> Node:
    """Return what activation knows of *behavior*."""
    usage, words = behavior.usage, behavior_words(behavior.name, behavior.tags)
    return Node(behavior.id, behavior.when, words, usage.count, usage.last_used, behavior.inferred)


class Graph:
    """A source in memory. Its answers don't depend on the order in which things were given.

    Behaviors that aren't live, and edges that touch them, are left out. Of two edges with the same
    source, target and kind the heavier one counts. Two behaviors with the same id are an error.
    """

    def __init__(self, behaviors: Iterable[Rule], edges: Iterable[Edge] = ()) -> None:
        known: set[str] = set()
        self._nodes: dict[str, Node] = {}
        self._live: list[Rule] = []
        for behavior in behaviors:
            if behavior.id in known:
                raise InputError(
                    f"two behaviors have the id {behavior.id!r}: give one of them another, or merge them"
                )
            known.add(behavior.id)
            if behavior.live:
                self._nodes[behavior.id] = node_of(behavior)
                self._live.append(behavior)
        self._unconditional = [id for id, node in self._nodes.items() if not node.when.waits]
        self._conditions: dict[tuple[str, str], list[str]] = {}
        self._words: dict[str, list[str]] = {}
        for id, node in self._nodes.items():
            for key, values in node.when.conditions:
                for filed in {filed_under(key, value) for value in values}:
                    self._conditions.setdefault((key, filed), []).append(id)
            for word in node.words:
                self._words.setdefault(word, []).append(id)
        self._connect(edges, known)

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
                chosen[triple] = max(chosen.get(triple, edge), edge, key=_rank)
        for edge in chosen.values():
            self._leaving.setdefault(edge.source, []).append(edge)
            self._arriving.setdefault(edge.target, []).append(edge)
        self.dangling = tuple(
            sorted(dangling, key=lambda edge: (edge.source, edge.target, edge.kind, _rank(edge)))
        )
        """Edges with an unknown end. They carry nothing."""

    def seeds(self, facts: Mapping[str, tuple[str, ...]], words: frozenset[str]) -> Iterator[Node]:
        """Every live behavior that *facts* or *words* may confirm, and those without conditions."""
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
            yield from (edge for edge in self._arriving.get(id, ()) if edge.source not in ids)

    def postings(self, terms: Collection[str]) -> dict[str, list[tuple[str, int]]]:
        """By term, each live behavior that it finds, and its weight in hundredths."""
        return {term: self._terms[term] for term in terms if term in self._terms}

    @cached_property
    def _terms(self) -> dict[str, list[tuple[str, int]]]:
        found: dict[str, list[tuple[str, int]]] = {}
        for behavior in self._live:
            for term, weight in terms_of(behavior).items():
                found.setdefault(term, []).append((behavior.id, weight))
        return found

    def count(self) -> int:
        """How many live behaviors there are."""
        return len(self._nodes)

    def sections(self, ids: Collection[str]) -> list[tuple[str, str]]:
        """Every live behavior that stands in a section with one of *ids*: the section, and its
        id."""
        near = {self._sections.get(id, "") for id in ids} - {""}
        return [(section, id) for id, section in self._sections.items() if section in near]

    @cached_property
    def _sections(self) -> dict[str, str]:
        return {behavior.id: section_of(behavior) for behavior in self._live}

    def __repr__(self) -> str:
        return f"Graph({len(self._nodes)} behaviors, {sum(map(len, self._leaving.values()))} edges)"

    def __len__(self) -> int:
        return len(self._nodes)

    def __contains__(self, id: object) -> bool:
        return id in self._nodes


def _rank(edge: Edge) -> tuple[float, float, float]:
    """Order edges that say the same: the heavier, then the one that has faded least, then the
    younger."""
    awake = float("inf") if edge.last_activated is None else edge.last_activated
    return edge.weight, awake, float("-inf") if edge.created_at is None else edge.created_at
