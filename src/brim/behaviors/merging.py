"""Makes one behavior of two that say the same, and loses neither text."""

from __future__ import annotations

from brim._light import namedtuple
from brim.behaviors.behavior import Provenance, Usage
from brim.behaviors.kinds import BehaviorKind, Status
from brim.behaviors.similarity import normalized
from brim.behaviors.when import When
from brim.errors import InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brim.behaviors.behavior import Behavior

Merged = namedtuple("Merged", ("kept", "superseded", "changes"))
"""The behavior that stays, the one that it replaces, and what was done, in sentences."""


def survivor(a: Behavior, b: Behavior) -> tuple[Behavior, Behavior]:
    """Return which of two stays, and the other: by priority, then confidence, then age, then id.

    A user's constraint stays whatever the project's behavior has, and a confirmed behavior before a pending one.
    """

    def rank(behavior: Behavior) -> tuple[object, ...]:
        return (
            not _is_protected(behavior),
            behavior.status is Status.PENDING,
            -behavior.priority,
            -behavior.confidence,
            float("inf") if behavior.created_at is None else behavior.created_at,
            behavior.id,
        )

    first, second = sorted((a, b), key=rank)
    return first, second


def merge(kept: Behavior, other: Behavior, now: float) -> Merged:
    """Merge *other* into *kept* at the time *now*: other wording, tags, conditions, uses and where it came from.

    The one that stays applies wherever either did: conditions that only one of them has are dropped. Raises
    ``InputError`` for two of the same id, for one that is not live, and where a project's behavior, or an unconfirmed
    note, would take the place of a user's constraint or of a confirmed behavior.
    """
    _check(kept, other)
    changes: list[str] = []
    kind = kept.kind
    if other.kind is not kept.kind:
        kind = BehaviorKind.CONSTRAINT if BehaviorKind.CONSTRAINT in (kept.kind, other.kind) else kept.kind
        changes.append(f"kind: {kept.kind} and {other.kind} became {kind}")
    merged = kept.changed(
        kind=kind,
        tags=_tags(kept, other, changes),
        when=_when(kept.when, other.when, changes),
        confidence=max(kept.confidence, other.confidence),
        provenance=_provenance(kept, other),
        usage=_usage(kept.usage, other.usage),
        supersedes=tuple(dict.fromkeys((*kept.supersedes, *other.supersedes, other.id))),
        variants=_variants(kept, other, changes),
        created_at=min((at for at in (kept.created_at, other.created_at) if at is not None), default=None),
        updated_at=now,
    )
    changes.append(f"{other.id} is superseded by {kept.id}")
    superseded = other.changed(status=Status.SUPERSEDED, superseded_by=kept.id, updated_at=now)
    return Merged(merged, superseded, tuple(changes))


def _is_protected(behavior: Behavior) -> bool:
    return behavior.scope == "user" and behavior.kind is BehaviorKind.CONSTRAINT


def _check(kept: Behavior, other: Behavior) -> None:
    if kept.id == other.id:
        raise InputError(f"{kept.id} cannot be merged with itself: name two behaviors")
    for behavior in (kept, other):
        if not behavior.live:
            raise InputError(f"{behavior.id} is {behavior.status} and cannot be merged: bring it back first")
    if _is_protected(other) and kept.scope != "user":
        raise InputError(f"the project's {kept.id} cannot replace your constraint {other.id}: merge them the other way")
    if kept.status is Status.PENDING and other.status is not Status.PENDING:
        raise InputError(f"the unconfirmed note {kept.id} cannot replace {other.id}: accept it first")


def _tags(kept: Behavior, other: Behavior, changes: list[str]) -> tuple[str, ...]:
    added = tuple(tag for tag in other.tags if tag not in kept.tags)
    if added:
        changes.append(f"tags added: {', '.join(added)}")
    return kept.tags + added


def _when(mine: When, theirs: When, changes: list[str]) -> When:
    """Return conditions under which it matters wherever one of the two did."""
    if mine == theirs:
        return mine
    others = dict(theirs.conditions)
    both: dict[str, tuple[str, ...]] = {}
    for key, values in mine.conditions:
        if key not in others:
            continue
        both[key] = tuple(dict.fromkeys((*values, *others[key])))
        if both[key] != values:
            changes.append(f"condition widened: {key} {' or '.join(both[key])}")
    for key in sorted(dict(mine.conditions).keys() ^ others.keys()):
        values = dict(mine.conditions).get(key) or others[key]
        changes.append(f"condition dropped, for only one of them had it: {key} {' or '.join(values)}")
    return When.of(both)


def _variants(kept: Behavior, other: Behavior, changes: list[str]) -> tuple[str, ...]:
    """Return every wording but the canonical one, once each."""
    known = {kept.canonical, kept.summary, *kept.variants, ""}
    added = [text for text in dict.fromkeys((other.canonical, other.summary, *other.variants)) if text not in known]
    if added:
        changes.append(f"wordings kept as variants: {len(added)}")
    return (*kept.variants, *added)


def _usage(mine: Usage, theirs: Usage) -> Usage:
    used = [at for at in (mine.last_used, theirs.last_used) if at is not None]
    return Usage(
        injected=mine.injected + theirs.injected,
        confirmed=mine.confirmed + theirs.confirmed,
        overridden=mine.overridden + theirs.overridden,
        last_used=max(used, default=None),
    )


def _provenance(kept: Behavior, other: Behavior) -> Provenance:
    """Return where *kept* comes from, with what was wrong then and now, and a note of the other source."""
    mine, theirs = kept.provenance, other.provenance
    wrong = mine.wrong
    if theirs.wrong and normalized(theirs.wrong) not in normalized(mine.wrong):
        wrong = f"{mine.wrong}\n{theirs.wrong}" if mine.wrong else theirs.wrong
    about = "; ".join(
        f"{name} {value}"
        for name, value in (("file", theirs.file), ("task", theirs.task), ("session", theirs.session))
        if value
    )
    note = f"merged {other.id} {other.name} from {theirs.source}{f' ({about})' if about else ''}"
    notes = [text for text in (mine.note, note, theirs.note) if text]
    return Provenance(
        mine.source,
        at=mine.at,
        wrong=wrong,
        file=mine.file or theirs.file,
        task=mine.task or theirs.task,
        session=mine.session or theirs.session,
        note="\n".join(dict.fromkeys(notes)),
    )
