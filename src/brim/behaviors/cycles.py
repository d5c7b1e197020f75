"""Circles in a directed graph, without recursion: a graph may be deeper than Python's stack."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    After = Mapping[str, Sequence[str]]

MOST = 100
"""Circles that are listed of one knot: it can have very many, and each that is cut shows the next."""
_WORK = 200_000
"""Edges that are looked at for them; a knot of more is searched once."""
_HOME = "\0"
"""Stands for the node where a circle begins, so that a way can lead back to it."""


def cycles(after: After, *, itself: bool = False) -> list[tuple[str, ...]]:
    """Return the circles of the graph in which *after* gives the nodes that follow each, smallest id first.

    Circles that are apart are all listed. Of those that share nodes as many as have to be cut, each one edge, until
    none is left. With *itself*, a node that follows itself is a circle too.
    """
    found: list[tuple[str, ...]] = [(node,) for node in sorted(after) if itself and node in after[node]]
    for knot in _knots(after):
        links = {node: [each for each in after[node] if each in knot and each != node] for node in knot}
        size = sum(map(len, links.values()))
        for _ in range(min(MOST, 1 + _WORK // size)):
            parts = _knots(links)
            for part in parts:
                circle = _circle(links, part)
                found.append(circle)
                links[circle[-1]].remove(circle[0])
            if not parts:
                break
    return sorted(found)


def _circle(after: After, knot: Collection[str]) -> tuple[str, ...]:
    """Return a shortest circle through the smallest node of *knot*."""
    first = min(knot)
    inside = {node: [_HOME if each == first else each for each in after[node] if each in knot] for node in knot}
    return way(inside, first, _HOME)[:-1]


def way(after: After, start: str, end: str) -> tuple[str, ...]:
    """Return a shortest way from *start* to *end*, both included; nothing if there is none."""
    before: dict[str, str] = {start: ""}
    front = [start]
    while front and end not in before:
        further = []
        for node in front:
            for each in after.get(node, ()):
                if each not in before:
                    before[each] = node
                    further.append(each)
        front = further
    if end not in before:
        return ()
    steps = [end]
    while steps[-1] != start:
        steps.append(before[steps[-1]])
    return tuple(reversed(steps))


def _knots(after: After) -> list[Collection[str]]:
    """Return the sets of two or more nodes that can all reach each other (Tarjan's algorithm, with its own stack)."""
    number: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []
    waiting: set[str] = set()
    knots: list[Collection[str]] = []
    for root in sorted(after):
        if root in number:
            continue
        work = [(root, 0)]
        while work:
            node, at = work.pop()
            if node not in number:
                number[node] = lowest[node] = len(number)
                stack.append(node)
                waiting.add(node)
            targets = after.get(node, ())
            while at < len(targets) and targets[at] in number:
                if targets[at] in waiting:
                    lowest[node] = min(lowest[node], lowest[targets[at]])
                at += 1
            if at < len(targets):
                work += [(node, at), (targets[at], 0)]
                continue
            if lowest[node] == number[node]:
                knot = set(_popped(stack, node))
                waiting -= knot
                if len(knot) > 1:
                    knots.append(knot)
    return knots


def _popped(stack: list[str], last: str) -> list[str]:
    at = len(stack) - 1
    while stack[at] != last:
        at -= 1
    taken, stack[at:] = stack[at:], []
    return taken
