"""Merges two stored behaviors: what ``merge`` decides, and the connections of the one that goes."""

from __future__ import annotations

from brim.behaviors.duplicates import merge
from brim.cli.output import counted
from brim.cli.rule_view import named
from brim.errors import InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brim.behaviors.behavior import Behavior, Edge
    from brim.behaviors.duplicates import Merged
    from brim.store.scopes import Scopes

SAME = ("canonical", "variants", "kind", "tags", "when", "status")
"""What must not have changed between the question and the answer."""


def store_merged(scopes: Scopes, kept: Behavior, gone: Behavior, now: float) -> Merged:
    """Merge *gone* into *kept* and write both. Call it inside ``writing``: nobody may have changed them meanwhile."""
    for shown in (kept, gone):
        stored = scopes.store(shown.scope).get(shown.id)
        if stored is None or any(getattr(stored, field) != getattr(shown, field) for field in SAME):
            raise InputError(f"{named(shown)} was changed by somebody else meanwhile; nothing was changed: try again")
    merged = merge(kept, gone, now)
    moved = _moved(scopes, kept, gone)
    changes = (*merged.changes, f"{counted(len(moved), 'connection')} taken over") if moved else merged.changes
    scopes.put(merged.kept, event="merged", now=now, text=gone.canonical, other=gone.id, changes=list(changes))
    scopes.put(merged.superseded, event="superseded", now=now, by=kept.id)
    for edge in moved:
        scopes.put_edge(edge, now=now)
    return merged._replace(changes=changes)


def _moved(scopes: Scopes, kept: Behavior, gone: Behavior) -> list[Edge]:
    """Return the edges of *gone* as edges of *kept*: those that it has not got, and that make no circle."""
    from brim.behaviors.graph import would_cycle

    known = scopes.all_edges()
    keys = {(edge.source, edge.target, edge.kind) for edge in known}
    moved: list[Edge] = []
    for edge in known:
        if gone.id not in (edge.source, edge.target) or kept.id in (edge.source, edge.target):
            continue
        end = {"source": kept.id} if edge.source == gone.id else {"target": kept.id}
        new = edge.replace(**end)
        if (new.source, new.target, new.kind) not in keys and not would_cycle([*known, *moved], new):
            moved.append(new)
    return moved
