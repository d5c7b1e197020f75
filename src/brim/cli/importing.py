"""What an import does, in three steps that every kind of import shares: find the difference, show it and ask, store it.

Nothing that is here is removed. What the file says anew is taken over; how a behavior has fared here (its uses, its
confidence) stays, a text that is replaced is kept among its other wordings, and what was put away here stays put away.
"""

from __future__ import annotations

from brim._frozen import Frozen
from brim.behaviors.behavior import Provenance
from brim.behaviors.graph import MUTUAL
from brim.cli.options import says_yes
from brim.cli.output import Progress
from brim.cli.rule_view import as_object
from brim.errors import InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable, Collection, Iterable, Mapping
    from typing import Any

    from brim.behaviors.behavior import Behavior, Edge
    from brim.store.scopes import Scopes
    from brim.store.store import Store
    from brim.workspace import Workspace

    EdgeKey = tuple[str, str, str, str]
    """Scope, source, target and kind."""

PROGRESS_FROM = 500
"""Behaviors from which a bar is shown: each takes about a millisecond, most of it to count its lines."""


class Change(Frozen):
    """A behavior that would be written, and the one that it takes the place of: None if it is new."""

    __slots__ = ("behavior", "old", "fields")

    behavior: Behavior
    old: Behavior | None
    fields: tuple[str, ...]
    """What is other than before."""

    def __init__(self, behavior: Behavior, old: Behavior | None = None, fields: Iterable[str] = ()) -> None:
        self._fill(behavior=behavior, old=old, fields=tuple(fields))


class EdgeChange(Frozen):
    """An edge that would be written to the file of *scope*, and the one that it takes the place of."""

    __slots__ = ("scope", "edge", "old")

    scope: str
    edge: Edge
    old: Edge | None

    def __init__(self, scope: str, edge: Edge, old: Edge | None = None) -> None:
        self._fill(scope=scope, edge=edge, old=old)


class Plan(Frozen):
    """What an import would write, what is here already, and what there is to say about it."""

    __slots__ = ("changes", "same", "edges", "same_edges", "dangling", "notes")

    changes: tuple[Change, ...]
    same: tuple[str, ...]
    """The ids of behaviors that are here as they are in the file."""
    edges: tuple[EdgeChange, ...]
    same_edges: int
    dangling: tuple[Edge, ...]
    """Edges that lead to a behavior that is neither here nor in the file. They are left out."""
    notes: tuple[str, ...]

    def __init__(
        self,
        changes: Iterable[Change] = (),
        same: Iterable[str] = (),
        *,
        edges: Iterable[EdgeChange] = (),
        same_edges: int = 0,
        dangling: Iterable[Edge] = (),
        notes: Iterable[str] = (),
    ) -> None:
        self._fill(
            changes=tuple(changes),
            same=tuple(same),
            edges=tuple(edges),
            same_edges=same_edges,
            dangling=tuple(dangling),
            notes=tuple(notes),
        )

    @property
    def added(self) -> list[Change]:
        """What is new."""
        return [change for change in self.changes if change.old is None]

    @property
    def altered(self) -> list[Change]:
        """What is here in another form."""
        return [change for change in self.changes if change.old is not None]

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to write."""
        return not self.changes and not self.edges


def plan_of(
    scopes: Scopes, behaviors: Iterable[Behavior], edges: Iterable[tuple[str, Edge]], *, source: str, now: float
) -> Plan:
    """Return what would become of *behaviors*, each in the file of its scope, and of *edges* with theirs.

    *source* is where those come from that do not say it.
    """
    incoming = {(each.scope, each.id): as_stored(each) for each in behaviors}
    have = _have(scopes, incoming)
    changes, same, notes = [], [], []
    for key, new in sorted(incoming.items()):
        old = have.get(key)
        if old is None:
            changes.append(Change(_begun(new, source, now)))
            continue
        wanted = updated(old, new)
        if fields := [field for field in wanted.__match_args__ if getattr(wanted, field) != getattr(old, field)]:
            changes.append(Change(wanted.replace(updated_at=now), old, fields))
        else:
            same.append(new.id)
        if new.live and not old.live:
            notes.append(f"{old.name} ({old.id}) is {old.status} here and stays so: brim unforget {old.id}")
    return _with_edges(scopes, Plan(changes, same, notes=notes + _outranked(scopes, incoming)), incoming, edges, now)


def _begun(new: Behavior, source: str, now: float) -> Behavior:
    """Return *new* with a beginning: when, and where from, if it says neither."""
    came = Provenance("import", at=now, file=source) if new.provenance == Provenance() else new.provenance
    return new.replace(provenance=came, created_at=now if new.created_at is None else new.created_at)


def updated(old: Behavior, new: Behavior) -> Behavior:
    """Return *old* with what *new* says of it, so that nothing is lost and doing it again changes nothing."""
    texts = dict.fromkeys((*old.variants, *new.variants, old.canonical))
    kept: dict[str, object] = {
        "scope": old.scope,
        "usage": old.usage,
        "confidence": old.confidence,
        "updated_at": old.updated_at,
        "supersedes": dict.fromkeys((*old.supersedes, *new.supersedes)),
        "variants": [text for text in texts if text != new.canonical],
    }
    if not old.live:
        kept.update(status=old.status, superseded_by=old.superseded_by)
    # What a file leaves out it does not deny.
    if new.created_at is None:
        kept["created_at"] = old.created_at
    if new.provenance == Provenance():
        kept["provenance"] = old.provenance
    if not new.extra:
        kept["extra"] = old.extra
    return new.replace(**kept)


def as_stored(behavior: Behavior) -> Behavior:
    """Return *behavior* as the store would give it back: with its secrets masked."""
    from brim.masking import mask
    from brim.store.rows import behavior_of, row_of

    return behavior_of(row_of(behavior, frozenset(), mask))


def carry_out(
    options: Namespace,
    place: Workspace,
    scopes: Scopes,
    make: Callable[[], Plan],
    show: Callable[[Plan], None],
    *,
    source: str,
    event: str = "imported",
) -> tuple[Plan, bool]:
    """Show the plan, ask if that was not answered by ``--yes``, and store it; return it, and whether it was stored.

    What was agreed to is what is stored: if somebody else wrote meanwhile, and it would be other than that, nothing is.
    """
    plan = make()
    show(plan)
    if plan.is_empty or options.dry_run or not says_yes("Store this?", yes=options.yes):
        return plan, False
    used = {change.behavior.scope for change in plan.changes} | {change.scope for change in plan.edges}
    if "project" in used:
        place.begin_project()
    with scopes.writing(*sorted(used)):
        again = make()
        if again != plan and not options.yes:
            raise InputError("what is stored was changed by somebody else meanwhile; nothing was imported: try again")
        with Progress(len(again.changes), shown_from=PROGRESS_FROM, doing="storing") as progress:
            for scope in sorted(used):
                _store(scopes.store(scope), scope, again, progress, now=place.now, source=source, event=event)
    return again, True


def _store(store: Store, scope: str, plan: Plan, progress: Progress, *, now: float, source: str, event: str) -> None:
    from brim.store.events import Event

    for change in plan.changes:
        if change.behavior.scope == scope:
            detail: dict[str, Any] = {"file": source}
            if change.old is not None:
                old = as_object(change.old)
                detail["before"] = {name: old[name] for name in change.fields if name not in ("canonical", "variants")}
            store.put(change.behavior, event=event, now=now, **detail)
            progress.advance(1)
    edges = [change for change in plan.edges if change.scope == scope]
    if edges:
        store.put_edges([change.edge for change in edges])
        before_edges = [str(change.old) for change in edges if change.old is not None]
        written = [str(change.edge) for change in edges]
        store.record(Event("connected", now, detail={"file": source, "edges": written, "before": before_edges}))


def _have(scopes: Scopes, incoming: Mapping[tuple[str, str], Behavior]) -> dict[tuple[str, str], Behavior]:
    """Return what is in each file under the ids that come in for it; it counts as of that file's scope."""
    found = {}
    for scope, store in (("project", scopes.project), ("user", scopes.user)):
        ids = [id for of, id in incoming if of == scope]
        for id, behavior in (store.get_many(ids) if store is not None else {}).items():
            found[scope, id] = behavior.replace(scope=scope)
    return found


def _outranked(scopes: Scopes, incoming: Mapping[tuple[str, str], Behavior]) -> list[str]:
    """Say which of the project's entries would not count, since the user has a constraint of that id."""
    ids = [id for scope, id in incoming if scope == "project"]
    own = scopes.user.get_many(ids) if scopes.user is not None else {}
    return [
        f"{each.name} ({id}) is a constraint of your own: yours stays as it is, and counts"
        for id, each in sorted(own.items())
        if each.live and each.kind == "constraint"
    ]


def _with_edges(
    scopes: Scopes,
    plan: Plan,
    incoming: Mapping[tuple[str, str], Behavior],
    edges: Iterable[tuple[str, Edge]],
    now: float,
) -> Plan:
    given = list(edges)
    ends = {end for _, edge in given for end in (edge.source, edge.target)}
    known = {id for _, id in incoming} | scopes.get_many(ends).keys()
    stores = {"project": scopes.project, "user": scopes.user}
    have: dict[EdgeKey, Edge] = {
        (scope, edge.source, edge.target, edge.kind): edge
        for scope, store in stores.items()
        for edge in (store.edges_touching(ends) if store is not None else ())
    }
    changes, dangling, same = [], [], 0
    for (scope, *_), edge in _folded(given, have).items():
        old = have.get((scope, edge.source, edge.target, edge.kind))
        if not {edge.source, edge.target} <= known:
            dangling.append(edge)
        elif old is None:
            changes.append(EdgeChange(scope, edge if edge.created_at is not None else edge.replace(created_at=now)))
        elif old.weight == edge.weight:
            same += 1
        else:
            changes.append(EdgeChange(scope, old.replace(weight=edge.weight), old))
    return Plan(plan.changes, plan.same, edges=changes, same_edges=same, dangling=dangling, notes=plan.notes)


def _folded(edges: Iterable[tuple[str, Edge]], have: Collection[EdgeKey]) -> dict[EdgeKey, Edge]:
    """Return *edges* by scope, ends and kind. Where both directions mean the same there is one: as we *have* it."""
    found: dict[EdgeKey, Edge] = {}
    for scope, edge in edges:
        key, mirrored = (scope, edge.source, edge.target, edge.kind), (scope, edge.target, edge.source, edge.kind)
        if edge.kind in MUTUAL and key not in have and (mirrored in have or mirrored in found):
            key, edge = mirrored, edge.replace(source=edge.target, target=edge.source)  # noqa: PLW2901
        before = found.get(key)
        found[key] = edge if before is None or edge.weight > before.weight else before
    return found
