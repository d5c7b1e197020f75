"""What is noted when behaviors have gone in: that each was used, and what edges learn from it.

The rules are ``brim.activation.learning``'s. How often a pair has come up is read off the latest injections, so what
was together once and is not any more is forgotten by itself.
"""

from __future__ import annotations

from brim.activation.learning import BREADTH, co_activated, joint_pairs, touched
from brim.store.events import together_lately
from brim.store.precedence import edge_key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from typing import Any

    from brim.activation.learning import Pair
    from brim.behaviors.behavior import Behavior, Edge
    from brim.store.scopes import Scopes
    from brim.store.store import Store

RECENT = 200
"""So many injections of each file are looked back on."""


def note_injection(
    scopes: Scopes, told: Sequence[Behavior], active: Collection[str], *, now: float, session: str = "", **detail: Any
) -> None:
    """Note that *told* went in together, strongest first, while *active* were activated.

    Call it inside ``scopes.writing()``. What is in a file that cannot be written is left as it is.
    """
    stores = _writable(scopes)
    ids = [behavior.id for behavior in told]
    # What always matters comes up with everything: that says nothing about the two.
    met = [behavior.id for behavior in told if behavior.when][:BREADTH]
    kept = [behavior.id for behavior in told if behavior.scope in stores]
    found = scopes.edges_by_file(ids)
    known = {edge_key(edge): edge for edge in scopes.followed(found)}
    scopes.used(kept, now=now, session=session, together=met, **detail)
    changed = {edge_key(edge): edge for edge in touched(known.values(), active, now)}
    joint = _joint(stores.values(), met) if _has_strangers(met, known.values()) else {}
    learned = co_activated(met, {**known, **changed}.values(), now, joint=joint)
    changed.update((edge_key(edge), edge) for edge in learned)
    homes = {behavior.id: behavior.scope for behavior in told}
    for scope, store in stores.items():
        held = {edge_key(edge): edge for edge in found[scope]}
        own = [edge for key, edge in changed.items() if _belongs(edge, known.get(key), held.get(key), scope, homes)]
        if own:
            store.put_edges(own)


def _writable(scopes: Scopes) -> dict[str, Store]:
    both = {"user": scopes.user, "project": scopes.project}
    return {scope: store for scope, store in both.items() if store is not None and not store.readonly}


def _belongs(edge: Edge, before: Edge | None, held: Edge | None, scope: str, homes: dict[str, str]) -> bool:
    """Whether *edge* is for the file of *scope*: the one it came from; a new one goes where ``put_edge`` puts it."""
    if before is not None:
        return before is held or before == held
    return scope == ("project" if "project" in (homes[edge.source], homes[edge.target]) else "user")


def _has_strangers(met: Sequence[str], edges: Iterable[Edge]) -> bool:
    """Whether any two of *met* have no edge: only for them it matters how often they have come up."""
    related = {pair for edge in edges for pair in ((edge.source, edge.target), (edge.target, edge.source))}
    return any(pair not in related for pair in joint_pairs(met))


def _joint(stores: Iterable[Store], met: Sequence[str]) -> dict[Pair, int]:
    """Return how often each pair of *met* has come up lately.

    An injection from both files has an event in each: it is one.
    """
    injections: dict[tuple[float, str], list[str]] = {}
    for store in stores if len(met) > 1 else ():
        injections.update(together_lately(store.database, met, RECENT))
    counts: dict[Pair, int] = {}
    for ids in injections.values():
        for pair in joint_pairs(ids):
            counts[pair] = counts.get(pair, 0) + 1
    return counts
