"""What is wrong with a graph of behaviors and edges, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter

from brim.behaviors.behavior import Edge, EdgeKind, Rule

After = Mapping[str, Sequence[str]]

FEWEST = 10
"""Circles that are listed of a graph that has many, however large it is: each that is cut shows the
next."""
_WORK = 200_000
"""Edges that are looked at for more of them."""

DIRECTED = (EdgeKind.REQUIRES, EdgeKind.OVERRIDES)
"""Edges that must not come back to where they began. The others mean the same in both directions,
or do no harm."""

MUTUAL = frozenset({EdgeKind.CONFLICTS, EdgeKind.SIMILAR_TO, EdgeKind.CO_ACTIVATED})
"""Edges that say the same in both directions, so that one is enough."""


@dataclass(frozen=True)
class Problem:
    """Something that is wrong with a graph: which rule, about which behaviors, in words, and what
    to do."""

    rule: str
    ids: tuple[str, ...]
    text: str
    fix: str

    def __str__(self) -> str:
        return f"{self.rule}: {self.text}; {self.fix}"


def check(behaviors: Iterable[Rule], edges: Iterable[Edge]) -> list[Problem]:
    """Return what is wrong with *behaviors* and *edges*; nothing if all is well. The order is
    always the same."""
    known = {behavior.id: behavior for behavior in behaviors}
    ordered = sorted(edges, key=lambda edge: (edge.source, edge.kind, edge.target))
    edges_alone = (*_twice(ordered), *_circles(ordered), *_contradictions(ordered))
    return [
        *_ends(known, ordered),
        *edges_alone,
        *_leading_nowhere(known, ordered),
        *_succession(known),
    ]


def would_cycle(edges: Iterable[Edge], new_edge: Edge) -> tuple[str, ...] | None:
    """Return the circle that *new_edge* would close, from its source on; None if it closes none.

    Only *requires* and *overrides* can: the other kinds may run in circles.
    """
    if new_edge.kind not in DIRECTED:
        return None
    if new_edge.source == new_edge.target:
        return (new_edge.source,)
    after = _following(edge for edge in edges if edge.kind == new_edge.kind)
    before, waiting = {new_edge.target: ""}, [new_edge.target]
    for node in waiting:  # it grows meanwhile
        new = [each for each in after.get(node, ()) if each not in before]
        before.update(dict.fromkeys(new, node))
        waiting += new
    if new_edge.source not in before:
        return None
    steps = [before[new_edge.source]]
    while steps[-1] != new_edge.target:
        steps.append(before[steps[-1]])
    return (new_edge.source, *reversed(steps))


def _following(edges: Iterable[Edge]) -> dict[str, list[str]]:
    after: dict[str, list[str]] = {}
    for edge in edges:
        after.setdefault(edge.source, []).append(edge.target)
    return {source: sorted(set(targets)) for source, targets in after.items()}


def _named(edge: Edge) -> str:
    return f"{edge.source} {edge.kind} {edge.target}"


def _ends(known: Mapping[str, Rule], edges: list[Edge]) -> Iterator[Problem]:
    for edge in edges:
        missing = [end for end in (edge.source, edge.target) if end not in known]
        if edge.source == edge.target:
            yield Problem(
                "self",
                (edge.source,),
                f"{_named(edge)}: it leads to itself",
                "remove the connection",
            )
        elif missing:
            text = f"{_named(edge)}: there is no {' and no '.join(missing)}"
            yield Problem(
                "dangling", edge.key[:2], text, "remove the connection, or learn what is missing"
            )


def _twice(edges: list[Edge]) -> Iterator[Problem]:
    seen: set[tuple[str, str, str]] = set()
    for edge in edges:
        if edge.key in seen:
            yield Problem(
                "duplicate",
                edge.key[:2],
                f"{_named(edge)}: it is there twice",
                "remove one of the two",
            )
        elif edge.kind in MUTUAL and (edge.target, edge.source, edge.kind.value) in seen:
            text = f"{_named(edge)}: the other way round is there, and means the same"
            yield Problem("mirrored", edge.key[:2], text, "remove one of the two")
        seen.add(edge.key)


def _circles(edges: list[Edge]) -> Iterator[Problem]:
    for kind in DIRECTED:
        after = _following(
            edge for edge in edges if edge.kind == kind and edge.source != edge.target
        )
        for circle in cycles(after):
            text = f"{' → '.join([*circle, circle[0]])}: each {kind} the next, in a circle"
            yield Problem(
                f"{kind}-cycle",
                circle,
                text,
                f"remove one of them, such as {circle[-1]} {kind} {circle[0]}",
            )


def _contradictions(edges: list[Edge]) -> Iterator[Problem]:
    conflicts = {
        frozenset((edge.source, edge.target)) for edge in edges if edge.kind == EdgeKind.CONFLICTS
    }
    for edge in edges:
        pair = frozenset((edge.source, edge.target))
        if edge.kind == EdgeKind.REQUIRES and pair in conflicts:
            conflicts.remove(pair)
            text = f"{_named(edge)}, and the two conflict"
            yield Problem(
                "requires-and-conflicts", edge.key[:2], text, "remove one of the two connections"
            )


def _leading_nowhere(known: Mapping[str, Rule], edges: list[Edge]) -> Iterator[Problem]:
    for edge in edges:
        source, target = known.get(edge.source), known.get(edge.target)
        if edge.kind == EdgeKind.REQUIRES and source and target and source.live and not target.live:
            heir, fix = target.superseded_by, "remove the connection, or bring the rule back"
            if heir in known and heir != edge.source:
                fix = f"let it require {heir}"
            yield Problem(
                "requires-dead", edge.key[:2], f"{_named(edge)}, which is {target.status}", fix
            )


def _succession(known: Mapping[str, Rule]) -> Iterator[Problem]:
    after = {id: [each.superseded_by] for id, each in sorted(known.items()) if each.superseded_by}
    for id, (heir,) in after.items():
        ids = (id, heir)
        if heir not in known:
            fix = "learn it again, or clear the field"
            yield Problem(
                "superseded-by-dangling",
                ids,
                f"{id} is superseded by {heir}, which is not there",
                fix,
            )
        elif id not in known[heir].supersedes:
            text = f"{id} is superseded by {heir}, which does not say so"
            yield Problem("supersedes-one-sided", ids, text, f"add {id} to what {heir} supersedes")
    for circle in cycles(after, itself=True):
        text = f"{' → '.join([*circle, circle[0]])}: each is superseded by the next, in a circle"
        yield Problem("superseded-by-cycle", circle, text, "say which of them holds")
    for id, behavior in sorted(known.items()):
        for old in sorted(set(behavior.supersedes)):
            if old not in known:
                text = f"{id} supersedes {old}, which is not there"
                yield Problem(
                    "supersedes-dangling",
                    (id, old),
                    text,
                    f"take {old} out of what {id} supersedes",
                )
            elif known[old].superseded_by != id:
                text = f"{id} supersedes {old}, which does not say so"
                yield Problem(
                    "supersedes-one-sided", (id, old), text, f"set superseded_by of {old} to {id}"
                )


def cycles(after: After, *, itself: bool = False) -> list[tuple[str, ...]]:
    """Return the circles of the graph in which *after* gives the nodes that follow each, smallest
    id first.

    Of circles that share nodes, as many as have to be cut, each one edge, until none is left. With
    *itself*, a node that follows itself is a circle too.
    """
    found: list[tuple[str, ...]] = [
        (node,) for node in sorted(after) if itself and node in after[node]
    ]
    links = {node: [each for each in after[node] if each != node] for node in sorted(after)}
    for _ in range(max(FEWEST, _WORK // (1 + sum(map(len, links.values()))))):
        try:
            TopologicalSorter(links).prepare()
        except CycleError as error:
            steps = error.args[1][:0:-1]  # from predecessor to successor, and the first node twice
            first = steps.index(min(steps))
            circle = (*steps[first:], *steps[:first])
            found.append(circle)
            links[circle[-1]].remove(circle[0])
        else:
            break
    return sorted(found)
