"""What a plan needs to know of a behavior, without its texts: of many that are weighed, few go in.

A behavior whose costs are stored is read whole only when it is told.
"""

from __future__ import annotations

from brim.behaviors.kinds import LIVE, BehaviorKind, Status
from brim.errors import StoreError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from typing import Any

    from brim.store.store import Store

_COLUMNS = "SELECT id, kind, status FROM behaviors WHERE id IN ({})"


class Sketch:
    """A behavior as ``ActivationTierMapper.plan`` looks at it: which it is, of which kind, whose, and how it stands."""

    __slots__ = ("id", "kind", "live", "scope", "status")

    def __init__(self, id: str, kind: BehaviorKind, status: Status, scope: str) -> None:
        self.id, self.kind, self.status, self.scope = id, kind, status, scope
        self.live = status in LIVE


def read_sketches(stores: Mapping[str, Store], ids: Collection[str]) -> dict[str, Sketch]:
    """Return those of *ids* that are there, by id, each from the file whose it is; *stores* are by scope."""
    found = {
        scope: {id: Sketch(id, *_checked(id, kind, status), scope) for id, kind, status in _rows(store, ids)}
        for scope, store in stores.items()
    }
    if len(found) == 1:
        return next(iter(found.values()))
    from brim.store.precedence import in_force

    standing = {scope: {id: (each.live, each.kind) for id, each in own.items()} for scope, own in found.items()}
    force = in_force(ids, standing.get("user", {}), standing.get("project", {}))
    return {id: found[entry.scope][id] for id, entry in force.items()}


def _rows(store: Store, ids: Collection[str]) -> list[Any]:
    return store.database.rows_in(_COLUMNS, dict.fromkeys(ids))


def _checked(id: str, kind: str, status: str) -> tuple[BehaviorKind, Status]:
    try:
        return _KINDS[kind], _STATUSES[status]
    except KeyError:
        raise StoreError(f"the behavior {id!r} cannot be read: {kind!r}, {status!r}", "damaged") from None


_KINDS = {kind.value: kind for kind in BehaviorKind}
_STATUSES = {status.value: status for status in Status}
