"""How behaviors stand in the files, without their texts: whose an id is, what a plan needs to know of it, its edges.

A hook asks this many times about the same few hundred ids. What was read is kept for as long as neither file changes.
"""

from __future__ import annotations

from brim.behaviors.behavior import LIVE, BehaviorKind, Status
from brim.errors import StoreError
from brim.store.precedence import followed, in_force
from brim.store.source import edges_among, edges_looked_up, few_edges

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from typing import Any

    from brim.behaviors.behavior import Edge
    from brim.store.precedence import InForce
    from brim.store.source import Standing
    from brim.store.store import Store


class Sketch:
    """A behavior as ``ActivationTierMapper.plan`` looks at it: which it is, of which kind, whose, and how it stands."""

    __slots__ = ("id", "kind", "live", "scope", "status")

    def __init__(self, id: str, kind: BehaviorKind, status: Status, scope: str) -> None:
        self.id, self.kind, self.status, self.scope = id, kind, status, scope
        self.live = status in LIVE


class Standings:
    """What *stores*, which are by scope, say of ids. Whoever asks gets what is true now."""

    def __init__(self, stores: Mapping[str, Store]) -> None:
        self._stores = stores
        self._stamps: list[tuple[int, int]] = []
        self._known: dict[str, dict[str, Standing | None]] = {}
        self._force: dict[str, InForce | None] = {}
        self._few: dict[str, list[Any] | None] = {}
        """All edges of a file, as rows, where they are few; None where they are not."""

    def known(self, scope: str) -> dict[str, Standing | None]:
        """Return what is known of ids in the file of *scope*, None for one that is not there.

        What is read from now on may be put there, so that it need not be read again.
        """
        self._refresh()
        return self._known[scope]

    def in_force(self, ids: Collection[str]) -> dict[str, InForce]:
        """Return for each of *ids* which file's entry counts; what is in neither file is left out."""
        self._refresh()
        new = [id for id in ids if id not in self._force]
        if new:
            for scope, store in self._stores.items():
                known = self._known[scope]
                if unknown := [id for id in new if id not in known]:
                    known.update({**dict.fromkeys(unknown), **store.standing(unknown)})
            found = in_force(new, self._known.get("user", {}), self._known.get("project", {}))
            self._force.update({id: found.get(id) for id in new})
        return {id: entry for id in ids if (entry := self._force[id]) is not None}

    def sketches(self, ids: Collection[str]) -> dict[str, Sketch]:
        """Return what a plan needs to know of those of *ids* that are there, by id, each from the file whose it is."""
        return {id: self._sketch(id, entry.scope) for id, entry in self.in_force(ids).items()}

    def edges(self, ids: Collection[str]) -> dict[str, list[Edge]]:
        """Return every edge with an end among *ids*, by scope, whether it counts or not."""
        self._refresh()
        found = {}
        for scope, store in self._stores.items():
            if scope not in self._few:
                self._few[scope] = few_edges(store.database, 4 * len(ids))
            few = self._few[scope]
            found[scope] = edges_looked_up(store.database, ids) if few is None else edges_among(few, ids)
        return found

    def followed(self, found: Mapping[str, list[Edge]]) -> tuple[list[Edge], list[tuple[Edge, str]]]:
        """Return those of *found*, which are by scope, that count, and those that do not: see ``precedence``."""
        ends = {end for edges in found.values() for edge in edges for end in (edge.source, edge.target)}
        return followed(found.get("user", []), found.get("project", []), self.in_force(ends))

    def _refresh(self) -> None:
        """Forget everything if a file has changed since it was read."""
        stamps = [store.database.stamp() for store in self._stores.values()]
        if stamps != self._stamps:
            self._stamps, self._force, self._few = stamps, {}, {}
            self._known = {scope: {} for scope in self._stores}

    def _sketch(self, id: str, scope: str) -> Sketch:
        standing = self._known[scope][id]
        assert standing is not None  # noqa: S101 - it is in force; this tells the type checker
        _, kind, status = standing
        try:
            return Sketch(id, _KINDS[kind], _STATUSES[status], scope)
        except KeyError:
            raise StoreError(f"the behavior {id!r} cannot be read: {kind!r}, {status!r}", "damaged") from None


_KINDS = {kind.value: kind for kind in BehaviorKind}
_STATUSES = {status.value: status for status in Status}
