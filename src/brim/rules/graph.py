"""What activation asks of a graph of rules (``Source``), and one in memory (``Graph``).

The engine asks for the seeds first, then only for what their edges lead to. So an activation costs
what the neighbourhood of the seeds costs, however many rules were ever learned.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

from brim.errors import InputError
from brim.record import PlainData
from brim.rules.conditions import When
from brim.rules.library_rule import Edge, Rule
from brim.rules.stems import stems_of

_WILD = "*?[]"
ANYTHING = ""
"""Where patterns are filed whose end says nothing."""


@dataclass(frozen=True)
class Node(PlainData):
    """What activation knows of a behavior."""

    id: str
    when: When
    words: frozenset[str]
    """The stems of its name and tags."""
    uses: int
    last_used: float | None
    """Seconds since 1970; None if it was never used."""


class Source(Protocol):
    """A graph of behaviors that can be asked for parts of itself.

    Every source keeps these rules: only live behaviors, each once; only edges with both ends live,
    each combination of source, target and kind once; in any order.
    """

    def seeds(self, facts: Mapping[str, tuple[str, ...]], words: frozenset[str]) -> Iterable[Node]:
        """Every behavior without conditions, with a condition that *facts* confirm, or with one of
        *words*.

        It may give too many, never too few: each is compared with the context again.
        """

    def nodes(self, ids: Collection[str]) -> Iterable[Node]:
        """Those of *ids* that are live."""

    def edges(self, ids: Collection[str]) -> Iterable[Edge]:
        """Every edge that touches one of *ids*, at either end."""


def node_of(behavior: Rule) -> Node:
    """Return what activation knows of *behavior*."""
    usage = behavior.usage
    words = frozenset(stems_of(" ".join((behavior.name, *behavior.tags))))
    return Node(behavior.id, behavior.when, words, usage.count, usage.last_used)


class Graph:
    """A source in memory. Its answers don't depend on the order in which things were given.

    Behaviors that aren't live, and edges that touch them, are left out. Of two edges with the same
    source, target and kind the heavier one counts. Two behaviors with the same id are an error.
    """

    def __init__(self, behaviors: Iterable[Rule], edges: Iterable[Edge] = ()) -> None:
        known: set[str] = set()
        self._nodes: dict[str, Node] = {}
        for behavior in behaviors:
            if behavior.id in known:
                raise InputError(
                    f"two behaviors have the id {behavior.id!r}: give one of them another, or merge them"
                )
            known.add(behavior.id)
            if behavior.live:
                self._nodes[behavior.id] = node_of(behavior)
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


# Conditions are filed under a text, so that a fact finds those that it may confirm without trying
# all of them. A plain value is filed under itself in lower case; a pattern for files under what its
# last part must be: a name (Makefile), an extension (*.py), or anything; a pattern for branches
# under itself or anything. Looking up sometimes gives too many (src/*.py for docs/a.py), never too
# few.


def filed_under(key: str, value: str) -> str:
    """Return the text under which the condition *key* = *value* is filed.

    >>> filed_under("file", "src/**/*.test.ts"), filed_under("file", "docs/Makefile"), filed_under("file", "docs/**")
    ('*.ts', 'Makefile', '')
    >>> filed_under("language", "Python"), filed_under("branch", "main"), filed_under("branch", "release/*")
    ('python', 'main', '')
    """
    if key not in ("file", "branch"):
        return value.casefold()
    value = value.replace("\\", "/")
    if key == "branch":
        return ANYTHING if any(sign in value for sign in _WILD) else value
    last = (value.split("/") if value.startswith("/") else _parts(value) or [""])[-1]
    if last == ".":
        return ANYTHING
    literal = last[max(last.rfind(sign) for sign in _WILD) + 1 :]
    if literal == last:
        return last
    _, dot, extension = literal.rpartition(".")
    return "*." + extension if dot else ANYTHING


def looked_up(key: str, fact: str) -> tuple[str, ...]:
    """Return the texts under which conditions are filed that the fact *key* = *fact* may confirm.

    >>> looked_up("file", "/home/me/src/app.test.ts"), looked_up("task", "Testing")
    (('app.test.ts', '*.ts', ''), ('testing',))
    """
    if key not in ("file", "branch"):
        return (fact.casefold(),)
    fact = fact.replace("\\", "/")
    parts = _parts(fact)
    if key == "branch":  # matching ignores empty parts and dots
        return (*dict.fromkeys((fact, "/".join(parts))), ANYTHING)
    name = parts[-1] if parts else ""
    _, dot, extension = name.rpartition(".")
    return (name, "*." + extension, ANYTHING) if dot else (name, ANYTHING) if name else (ANYTHING,)


def _parts(path: str) -> list[str]:
    return [part for part in path.split("/") if part not in ("", ".")]
