"""Rules that say the same: how alike two texts are, which pairs there are, and how two become one.

Taking a rule for another loses it, while missing a duplicate only keeps it twice. So two texts are near duplicates only
if they have the same words in the same order, apart from synonyms, fillers and a rare extra word.
"""

from __future__ import annotations

import re
from collections import namedtuple
from collections.abc import Iterable
from functools import cache, lru_cache
from typing import Any, NamedTuple

from brim.behaviors.behavior import Behavior, BehaviorKind, Provenance, Status, Usage
from brim.behaviors.summary import one_line, single_words
from brim.behaviors.when import When
from brim.behaviors.words import looked_at, stem, tokens, word_list
from brim.errors import InputError
from brim.files import data_rows
from brim.record import plain

NEAR_DUPLICATE = 0.8
"""From here on two texts count as wordings of one rule."""
DIFFERENT = 0.75
"""The highest similarity of two texts whose sense differs."""
_NAMES = re.compile(r"(?<=\s)[A-Z]\b|\b\w*[a-z][A-Z]\w*")
"""Words whose case matters: ``getUser``, and single letters inside a text."""
WORDS_PER_EXTRA = 8
"""For so many shared words, the longer of two wordings may have one extra."""


Similar = namedtuple("Similar", ("index", "similarity"))
"""Which of the candidates it is, and how alike."""


class Pair(NamedTuple):
    """Two behaviors, and how alike they are."""

    one: Behavior
    other: Behavior
    similarity: float


class Merged(NamedTuple):
    """The behavior that stays, the one that it replaces, and what was done, in sentences."""

    kept: Behavior
    superseded: Behavior
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
    """Return *text* in lower case, every run of white space as one space: what makes two texts equal."""
    return " ".join(text.lower().split())


def similarity(a: str, b: str) -> float:
    """Return how alike *a* and *b* are, from 0 to 1: their shared words, and at most 0.75 if the sense differs.

    >>> similarity("Never use pip.", "Do not use pip"), similarity("Use uv, not pip", "Use pip, not uv")
    (0.99, 0.75)
    """
    if normalized(a) == normalized(b):
        return 1.0
    one, other = _words(a), _words(b)
    shared = set(one) & set(other)
    if not shared:
        return 0.0
    extra, missing = set(one) - shared, set(other) - shared
    alike = min(0.99, 2 * len(shared) / (2 * len(shared) + len(extra) + len(missing)))
    in_order = [word for word in one if word in shared] == [word for word in other if word in shared]
    same = (
        in_order
        and _NAMES.findall(a) == _NAMES.findall(b)
        and not (extra and missing)
        and len(extra | missing) <= len(shared) // WORDS_PER_EXTRA
    )
    return alike if same and not any(map(_turns, extra | missing)) else min(alike, DIFFERENT)


def near_duplicate(a: str, b: str) -> bool:
    """Whether *a* and *b* are wordings of one rule.

    >>> near_duplicate("Never commit secrets.", "Don't commit any secrets")
    True
    >>> near_duplicate("Use uv, not pip", "Use pip, not uv")
    False
    """
    return similarity(a, b) >= NEAR_DUPLICATE


class Texts:
    """Texts that can be asked for those nearly the same as another, without comparing each with each.

    Of two texts that are more alike than ``DIFFERENT``, one has all words of the other. So it's enough to look where
    the rarest word of one is.
    """

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self._texts: list[str] = []
        self._words: list[frozenset[str]] = []
        self._holders: dict[str, list[int]] = {}
        self._by_rarest: dict[str, list[int]] = {}
        for text in texts:
            self.add(text)

    def add(self, text: str) -> None:
        """Add *text* under the next number; the first has 0."""
        words = _distinct(text)
        self._by_rarest.setdefault(self._rarest(words), []).append(len(self._texts))
        for word in words:
            self._holders.setdefault(word, []).append(len(self._texts))
        self._texts.append(text)
        self._words.append(words)

    def like(self, text: str, at_least: float) -> list[Similar]:
        """Return those that are alike from *at_least* on, in the order of their numbers."""
        among = range(len(self._texts)) if at_least <= DIFFERENT else self._candidates(_distinct(text))
        found = [Similar(index, similarity(text, self._texts[index])) for index in among]
        return [each for each in found if each.similarity >= at_least and each.similarity > 0]

    def _candidates(self, words: frozenset[str]) -> list[int]:
        larger = [index for index in self._holders.get(self._rarest(words), ()) if words <= self._words[index]]
        parts = (index for word in words for index in self._by_rarest.get(word, ()))
        return sorted({*larger, *(index for index in parts if self._words[index] <= words)})

    def _rarest(self, words: frozenset[str]) -> str:
        return min(words, key=lambda word: (len(self._holders.get(word, ())), word))


def near_pairs(behaviors: Iterable[Behavior], threshold: float) -> list[Pair]:
    """Return the pairs that are alike from *threshold* on, the most alike first."""
    ordered = sorted(behaviors, key=lambda behavior: behavior.id)
    texts, found = Texts(), []
    for each in ordered:
        found += [Pair(ordered[near.index], each, near.similarity) for near in texts.like(each.canonical, threshold)]
        texts.add(each.canonical)
    return sorted(found, key=lambda pair: (-pair.similarity, pair.one.id, pair.other.id))


def _distinct(text: str) -> frozenset[str]:
    return frozenset(_words(text)) or frozenset((normalized(text),))


@lru_cache(4_096)
def _words(text: str) -> tuple[str, ...]:
    """Return the words of *text* that say something, in order, one form for each word, its forms and synonyms."""
    fillers, same = word_list("fillers.txt"), _canonical()
    found = []
    said = tokens(one_line(looked_at(text)))
    over = "not" if "prefer" in said else "over"  # "Prefer uv over pip" is "Use uv, not pip"
    for word in [over if each == "over" else each for each in said]:
        if word not in fillers:
            root = same.get(word) or stem(word)
            found.append(same.get(root, root))
    return tuple(found)


@cache
def _canonical() -> dict[str, str]:
    """Return the word that is used for each of its synonyms; negations and conditions are known by their kind."""
    kinds = {
        word.replace("'", ""): "not" if kind == "instead" else kind.rstrip("*")
        for kind, words in data_rows(__file__, "sense_kinds.tsv")
        for word in words.split(", ")
    }
    synonyms = {
        stem(other): word for word, others in data_rows(__file__, "synonyms.tsv") for other in (word, *others.split())
    }
    return {**synonyms, **kinds}


def _turns(word: str) -> bool:
    """Whether no wording may have *word* alone: a number, a negation, a condition or an exception."""
    return word[0].isdecimal() or word in single_words() or word in _canonical().values()


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


def merge_order(one: Behavior, other: Behavior, into: Behavior | None = None) -> tuple[Behavior, Behavior]:
    """Return which of two stays, and the other: *into*, else the user's before the project's, else the survivor.

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
    if added := tuple(tag for tag in other.tags if tag not in kept.tags):
        changes.append(f"tags added: {', '.join(added)}")
    merged = kept.replace(
        kind=kind,
        tags=kept.tags + added,
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
    superseded = other.replace(status=Status.SUPERSEDED, superseded_by=kept.id, updated_at=now)
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


def _when(mine: When, theirs: When, changes: list[str]) -> When:
    """Return conditions under which it matters wherever one of the two did."""
    if mine == theirs:
        return mine
    ours, others = dict(mine.conditions), dict(theirs.conditions)
    both = {key: tuple(dict.fromkeys((*values, *others[key]))) for key, values in ours.items() if key in others}
    changes += [f"condition widened: {key} {' or '.join(both[key])}" for key in both if both[key] != ours[key]]
    changes += [
        f"condition dropped, for only one of them had it: {key} {' or '.join(ours.get(key) or others[key])}"
        for key in sorted(ours.keys() ^ others.keys())
    ]
    return When.of(both)


def _variants(kept: Behavior, other: Behavior, changes: list[str]) -> tuple[str, ...]:
    """Return every wording but the canonical one, once each."""
    known = {kept.canonical, kept.summary, *kept.variants, ""}
    added = [text for text in dict.fromkeys((other.canonical, other.summary, *other.variants)) if text not in known]
    if added:
        changes.append(f"wordings kept as variants: {len(added)}")
    return (*kept.variants, *added)


def _usage(mine: Usage, theirs: Usage) -> Usage:
    sums = {name: getattr(mine, name) + getattr(theirs, name) for name in ("injected", "confirmed", "overridden")}
    used = [at for at in (mine.last_used, theirs.last_used) if at is not None]
    return Usage(**sums, last_used=max(used, default=None))


def _provenance(kept: Behavior, other: Behavior) -> Provenance:
    """Return where *kept* comes from, with what was wrong then and now, and a note of the other source."""
    mine, theirs = kept.provenance, other.provenance
    places = ("file", "task", "session")
    about = "; ".join(f"{name} {getattr(theirs, name)}" for name in places if getattr(theirs, name))
    note = f"merged {other.id} {other.name} from {theirs.source}{f' ({about})' if about else ''}"
    return mine.replace(
        **{name: getattr(mine, name) or getattr(theirs, name) for name in places},
        wrong=both(mine.wrong, theirs.wrong),
        note="\n".join(dict.fromkeys(filter(None, (mine.note, note, theirs.note)))),
    )
