"""Rules that say the same: which texts do, which pairs there are, and how two rules become one.

Two texts say the same if they have the same words in the same order, apart from fillers and
inflection. Any other wording is a rule of its own: taking a rule for another loses it, while
missing a duplicate only keeps it twice.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

from brim.behaviors.behavior import BehaviorKind, Provenance, Rule, RuleUsage, Status
from brim.behaviors.when import When
from brim.behaviors.words import stem, tokens, word_list
from brim.errors import InputError
from brim.record import plain

_NAMES = re.compile(r"(?<=\s)[A-HJ-Z]\b|\b\w*[a-z][A-Z]\w*")
"""Words whose case matters: ``getUser``, and single letters inside a text, apart from *I*."""
_SYMBOLS = re.compile(r"[=<>&|+*/\\^%$#@~{}\[\]]+")
"""Signs that are code: ``==`` and ``===`` have no words."""


class Pair(NamedTuple):
    """Two behaviors that say the same."""

    one: Rule
    other: Rule


class Merged(NamedTuple):
    """The behavior that stays, the one that it replaces, and what was done, in sentences."""

    kept: Rule
    superseded: Rule
    changes: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain data."""
        return {name: plain(value) for name, value in self._asdict().items()}


def both(first: str, second: str) -> str:
    """Return two texts as lines of one, or the *first* if it says the other already."""
    if not second or normalized(second) in normalized(first):
        return first
    return f"{first}\n{second}" if first else second


def normalized(text: str) -> str:
    """Return *text* in lower case, every run of white space as one space: what makes two texts
    equal."""
    return " ".join(text.lower().split())


@lru_cache(4_096)
def sense(text: str) -> tuple[object, ...]:
    """Return what two texts that say the same have in common: their stems, names and signs.

    >>> sense("Please run the tests.") == sense("Run all tests"), sense("Use uv, not pip") == sense("Use pip, not uv")
    (True, False)
    """
    fillers = word_list("fillers.txt")
    stems = tuple(stem(word) for word in tokens(text) if word not in fillers)
    if not stems:
        return (normalized(text),)
    return stems, tuple(_NAMES.findall(text)), tuple(_SYMBOLS.findall(text))


def near_duplicate(a: str, b: str) -> bool:
    """Whether *a* and *b* are wordings of one rule.

    >>> near_duplicate("Always pin the versions.", "Pin versions")
    True
    >>> near_duplicate("Use uv, not pip", "Use pip, not uv")
    False
    """
    return sense(a) == sense(b)


def near_pairs(behaviors: Iterable[Rule]) -> list[Pair]:
    """Return the pairs that say the same, by id."""
    same: dict[tuple[object, ...], list[Rule]] = {}
    pairs = []
    for behavior in sorted(behaviors, key=lambda behavior: behavior.id):
        earlier = same.setdefault(sense(behavior.canonical), [])
        pairs += [Pair(one, behavior) for one in earlier]
        earlier.append(behavior)
    return sorted(pairs, key=lambda pair: (pair.one.id, pair.other.id))


def survivor(a: Rule, b: Rule) -> tuple[Rule, Rule]:
    """Return which of two stays, and the other: by priority, then confidence, then age, then id.

    A user's constraint stays whatever the project's behavior has, and a confirmed behavior before a
    pending one.
    """

    def rank(behavior: Rule) -> tuple[object, ...]:
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


def merge_order(one: Rule, other: Rule, into: Rule | None = None) -> tuple[Rule, Rule]:
    """Return which of two stays, and the other: *into*, else the user's before the project's, else
    the survivor.

    A rule for every project is never merged into one project's: it would go away in all the others.
    """
    if into is not None:
        kept, gone = (one, other) if into.id == one.id else (other, one)
    elif one.scope != other.scope:
        kept, gone = (one, other) if one.scope == "user" else (other, one)
    else:
        kept, gone = survivor(one, other)
    if kept.scope == "project" and gone.scope == "user":
        raise InputError(
            f"{gone.name} ({gone.id}) is there for every project, so it cannot be merged into this project's "
            f"{kept.name} ({kept.id}): say --into {gone.id}"
        )
    return kept, gone


def merge(kept: Rule, other: Rule, now: float) -> Merged:
    """Merge *other* into *kept* at the time *now*: other wording, tags, conditions, uses and where
    it came from.

    The one that stays applies wherever either did: conditions that only one of them has are
    dropped. Raises ``InputError`` for two of the same id, for one that is not live, and where a
    project's behavior, or an unconfirmed note, would take the place of a user's constraint or of a
    confirmed behavior.
    """
    _check(kept, other)
    changes: list[str] = []
    kind = kept.kind
    if other.kind is not kept.kind:
        kind = (
            BehaviorKind.CONSTRAINT
            if BehaviorKind.CONSTRAINT in (kept.kind, other.kind)
            else kept.kind
        )
        changes.append(f"kind: {kept.kind} and {other.kind} became {kind}")
    if added := tuple(tag for tag in other.tags if tag not in kept.tags):
        changes.append(f"tags added: {', '.join(added)}")
    if refused := tuple(block for block in other.blocks if block not in kept.blocks):
        changes.append(f"blocks added: {', '.join(refused)}")
    merged = replace(
        kept,
        kind=kind,
        tags=kept.tags + added,
        blocks=kept.blocks + refused,
        when=_when(kept.when, other.when, changes),
        confidence=max(kept.confidence, other.confidence),
        provenance=_provenance(kept, other),
        usage=_usage(kept.usage, other.usage),
        supersedes=tuple(dict.fromkeys((*kept.supersedes, *other.supersedes, other.id))),
        variants=_variants(kept, other, changes),
        created_at=min(
            (at for at in (kept.created_at, other.created_at) if at is not None), default=None
        ),
        updated_at=now,
    )
    changes.append(f"{other.id} is superseded by {kept.id}")
    superseded = replace(other, status=Status.SUPERSEDED, superseded_by=kept.id, updated_at=now)
    return Merged(merged, superseded, tuple(changes))


def _is_protected(behavior: Rule) -> bool:
    return behavior.scope == "user" and behavior.kind is BehaviorKind.CONSTRAINT


def _check(kept: Rule, other: Rule) -> None:
    if kept.id == other.id:
        raise InputError(f"{kept.id} cannot be merged with itself: name two behaviors")
    for behavior in (kept, other):
        if not behavior.live:
            raise InputError(
                f"{behavior.id} is {behavior.status} and cannot be merged: bring it back first"
            )
    if _is_protected(other) and kept.scope != "user":
        raise InputError(
            f"the project's {kept.id} cannot replace your constraint {other.id}: merge them the other way"
        )
    if kept.status is Status.PENDING and other.status is not Status.PENDING:
        raise InputError(
            f"the unconfirmed note {kept.id} cannot replace {other.id}: accept it first"
        )


def _when(mine: When, theirs: When, changes: list[str]) -> When:
    """Return conditions under which it matters wherever one of the two did."""
    if mine == theirs:
        return mine
    ours, others = dict(mine.conditions), dict(theirs.conditions)
    both = {
        key: tuple(dict.fromkeys((*values, *others[key])))
        for key, values in ours.items()
        if key in others
    }
    changes += [
        f"condition widened: {key} {' or '.join(both[key])}"
        for key in both
        if both[key] != ours[key]
    ]
    changes += [
        f"condition dropped, for only one of them had it: {key} {' or '.join(ours.get(key) or others[key])}"
        for key in sorted(ours.keys() ^ others.keys())
    ]
    return When.of(both)


def _variants(kept: Rule, other: Rule, changes: list[str]) -> tuple[str, ...]:
    """Return every wording but the canonical one, once each."""
    known = {kept.canonical, kept.summary, *kept.variants, ""}
    added = [
        text
        for text in dict.fromkeys((other.canonical, other.summary, *other.variants))
        if text not in known
    ]
    if added:
        changes.append(f"wordings kept as variants: {len(added)}")
    return (*kept.variants, *added)


def _usage(mine: RuleUsage, theirs: RuleUsage) -> RuleUsage:
    sums = {
        name: getattr(mine, name) + getattr(theirs, name)
        for name in ("injected", "confirmed", "overridden")
    }
    used = [at for at in (mine.last_used, theirs.last_used) if at is not None]
    return RuleUsage(**sums, last_used=max(used, default=None))


def _provenance(kept: Rule, other: Rule) -> Provenance:
    """Return where *kept* comes from, with what was wrong then and now, and a note of the other
    source."""
    mine, theirs = kept.provenance, other.provenance
    places = ("file", "task", "session")
    about = "; ".join(f"{name} {getattr(theirs, name)}" for name in places if getattr(theirs, name))
    note = f"merged {other.id} {other.name} from {theirs.source}{f' ({about})' if about else ''}"
    return replace(
        mine,
        **{name: getattr(mine, name) or getattr(theirs, name) for name in places},
        wrong=both(mine.wrong, theirs.wrong),
        note="\n".join(dict.fromkeys(filter(None, (mine.note, note, theirs.note)))),
    )
