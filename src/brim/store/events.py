"""The log of what happened to behaviors, and how edges learn from behaviors that were injected
together.

Events are only added, never changed, and their secrets are masked. ``brim.activation.weights`` has
the rules of learning. Only the latest injections count, so a pair that no longer comes up is
forgotten.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from brim.activation.weights import BREADTH, Pair, co_activated, joint_pairs, touched
from brim.behaviors.behavior import Edge, Rule
from brim.errors import StoreError
from brim.masking import mask
from brim.record import PlainData
from brim.store.database import Database

if TYPE_CHECKING:
    from brim.store.scopes import Scopes
    from brim.store.store import Store

SHORT = 14
"""A word with at most so many characters is too short for a secret with a known shape. Generated
ids have 12."""

RECENT = 200
"""How many injections of each file are considered."""


@dataclass(frozen=True)
class RuleEvent(PlainData):
    """One thing that happened. Times are seconds since 1970."""

    kind: str
    """``learned``, ``merged``, ``edited``, ``injected``, ``confirmed``, ``overridden``,
    ``forgotten``, ..."""
    time: float
    behavior: str | None = None
    """The id of the behavior that it happened to; None if it happened to several or to none."""
    session: str = ""
    detail: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    """More about it, as JSON."""

    def __post_init__(self) -> None:
        self.__dict__["detail"] = dict(self.detail)


def add_event(database: Database, event: RuleEvent) -> None:
    """Write *event* after all others."""
    detail = json.dumps(_masked(event.detail), sort_keys=True) if event.detail else "{}"
    database.run(
        "INSERT INTO events (time, kind, behavior, session, detail) VALUES (?, ?, ?, ?, ?)",
        (event.time, event.kind, event.behavior, event.session, detail),
    )


def together_lately(
    database: Database, ids: Collection[str], limit: int
) -> dict[tuple[float, str], list[str]]:
    """Return the latest *limit* injections that include several of *ids*, by time and session.

    A search in their text avoids parsing the others, which are most.
    """
    rows = database.rows(
        "SELECT time, session, detail FROM events WHERE kind = 'injected' ORDER BY number DESC LIMIT ?",
        (limit,),
    )
    found = {}
    written = [json.dumps(id) for id in ids]
    try:
        for time, session, detail in rows:
            text = detail[detail.rfind('"together"') :]
            if sum([id in text for id in written]) > 1:
                together = json.loads(detail).get("together") or ()
                found[time, session] = [id for id in together if isinstance(id, str)]
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise StoreError(f"{database.path}: an event cannot be read: {error}", "damaged") from None
    return found


def _masked(value: Any) -> Any:
    if isinstance(value, str):
        return value if is_short_word(value) else _without_secrets(value)
    if isinstance(value, dict):
        return {str(key): _masked(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        long = [each for each in value if not (type(each) is str and is_short_word(each))]
        if all(type(each) is str for each in long):
            together = "\n".join(long)  # many ids, looked at once
            if not together or _without_secrets(together) == together:
                return list(value)
        return [_masked(each) for each in value]
    return value


def _without_secrets(text: str) -> str:

    return mask(text)


def is_short_word(text: str) -> bool:
    """Whether *text* is an id or a plain word, too short to be a secret: then it needn't be
    masked."""
    return (
        len(text) <= SHORT and text.isascii() and text.replace("-", "").replace("_", "").isalnum()
    )


def note_injection(
    scopes: Scopes,
    told: Sequence[Rule],
    active: Collection[str],
    *,
    now: float,
    session: str = "",
    **detail: Any,
) -> None:
    """Note that *told* were injected together, strongest first, while *active* were activated.

    Call it inside ``scopes.writing()``. A read-only file stays as it is.
    """

    stores = {scope: store for scope, store in scopes.stores.items() if not store.readonly}
    ids = [behavior.id for behavior in told]
    # A rule without conditions comes up with everything, which says nothing about a pair.
    met = [behavior.id for behavior in told if behavior.when][:BREADTH]
    kept = [behavior.id for behavior in told if behavior.scope in stores]
    found = scopes.edges_by_file(ids)
    known = {edge.key: edge for edge in scopes.followed(found)[0]}
    scopes.used(kept, now=now, session=session, together=met, **detail)
    changed = {edge.key: edge for edge in touched(known.values(), active, now)}
    joint = _joint(stores.values(), met, known.values())
    learned = co_activated(met, {**known, **changed}.values(), now, joint=joint)
    changed.update((edge.key, edge) for edge in learned)
    homes = {behavior.id: behavior.scope for behavior in told}
    for scope, store in stores.items():
        held = {edge.key: edge for edge in found[scope]}
        store.put_edges(
            [
                edge
                for key, edge in changed.items()
                if _belongs(edge, known.get(key), held.get(key), scope, homes)
            ]
        )


def _belongs(
    edge: Edge, before: Edge | None, held: Edge | None, scope: str, homes: dict[str, str]
) -> bool:
    """Whether *edge* belongs in the file of *scope*: the one it came from, or where ``put_edge``
    puts a new one."""
    if before is not None:
        return before is held or before == held
    return scope == ("project" if "project" in (homes[edge.source], homes[edge.target]) else "user")


def _joint(stores: Iterable[Store], met: Sequence[str], edges: Iterable[Edge]) -> dict[Pair, int]:
    """Return how often each pair of *met* came up lately, if one of the pairs has no edge yet.

    An injection from both files has an event in each, and counts once.
    """

    related = {
        pair for edge in edges for pair in ((edge.source, edge.target), (edge.target, edge.source))
    }
    if all(pair in related for pair in joint_pairs(met)):
        return {}
    injections: dict[tuple[float, str], list[str]] = {}
    for store in stores:
        injections.update(together_lately(store.database, met, RECENT))
    return Counter(pair for ids in injections.values() for pair in joint_pairs(ids))
