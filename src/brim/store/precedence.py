"""Which of two files an entry counts from, and which edges are followed: the rules of the two scopes, without a disk.

An id that both files hold is the project's. But a cloned project must not talk a user out of their own rules: nothing
in the project's file replaces, hides or weakens a live constraint of the user's.
"""

from __future__ import annotations

from brim._light import namedtuple
from brim.behaviors.behavior import POSITIVE, BehaviorKind, EdgeKind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from typing import NamedTuple

    from brim.behaviors.behavior import Edge

    Standings = Mapping[str, tuple[bool, str] | tuple[bool, str, str] | None]
    """By id: whether it is live, and its kind; further facts may follow. None is not there."""

    class InForce(NamedTuple):
        """Which entry of an id counts: the file it is in, whether it is live, and whether it is protected."""

        scope: str
        live: bool
        protected: bool
else:
    InForce = namedtuple("InForce", ("scope", "live", "protected"))


def in_force(ids: Collection[str], user: Standings, project: Standings) -> dict[str, InForce]:
    """Return for each of *ids* the entry that counts; what is in neither file is left out."""
    found = {}
    constraint = BehaviorKind.CONSTRAINT.value
    for id in ids:
        mine, theirs = user.get(id), project.get(id)
        protected = mine is not None and mine[0] and mine[1] == constraint
        if mine is not None and (protected or theirs is None):
            found[id] = _ENTRIES["user", mine[0], protected]
        elif theirs is not None:
            found[id] = _ENTRIES["project", theirs[0], False]
    return found


_ENTRIES = {
    (scope, live, protected): InForce(scope, live, protected)
    for scope, live, protected in (
        ("user", True, True),
        ("user", True, False),
        ("user", False, False),
        ("project", True, False),
        ("project", False, False),
    )
}
"""All that there can be: a hook asks of hundreds."""


def followed(
    user: Collection[Edge], project: Collection[Edge], force: Mapping[str, InForce]
) -> tuple[list[Edge], list[tuple[Edge, str]]]:
    """Return the edges that count, and those that do not, each of these with the constraint that it would weaken.

    A constraint of the user's is weakened only by an edge in the user's file that comes from a behavior of the
    user's. An edge that both files hold is the project's, unless it touches such a constraint.
    """
    kept: dict[tuple[str, str, str], Edge] = {}
    refused = []
    for edges, theirs in ((user, False), (project, True)):
        for edge in edges:
            ends = (edge.source, edge.target)
            if not all(end in force and force[end].live for end in ends):
                continue
            protected = [end for end in ends if force[end].protected]
            weakened = _weakened(edge, protected)
            if weakened and (theirs or any(force[end].scope == "project" for end in ends)):
                refused.append((edge, weakened))
            elif not (theirs and protected and edge_key(edge) in kept):
                kept[edge_key(edge)] = edge
    return list(kept.values()), refused


def edge_key(edge: Edge) -> tuple[str, str, str]:
    """Return what makes two edges the same: source, target and kind."""
    return edge.source, edge.target, edge.kind.value


def _weakened(edge: Edge, protected: Collection[str]) -> str:
    """Return the one of *protected* that *edge* takes activation from, or nothing."""
    if edge.kind in POSITIVE:
        return ""
    if edge.target in protected:
        return edge.target
    return edge.source if edge.kind is EdgeKind.CONFLICTS and edge.source in protected else ""
