"""Rules that say the same: how alike two texts are, which pairs there are, and how two become one.

Taking a rule for another loses it, while missing a duplicate only keeps it twice. So brim merges only what is certain:
the same phrases in another order or inflection, apart from synonyms and fillers. What is ``alike`` is offered to a
person.
"""

from __future__ import annotations

import re
from collections import Counter, namedtuple
from collections.abc import Iterable
from functools import lru_cache
from itertools import product
from typing import Any, NamedTuple

from brim.behaviors.behavior import Behavior, BehaviorKind, Provenance, Status, Usage
from brim.behaviors.clauses import (
    HARD,
    SOFT,
    Clause,
    clauses_of,
    counts,
    excludes,
    in_order,
    is_form,
    keys_of,
    related,
    turns,
)
from brim.behaviors.when import When
from brim.behaviors.words import is_unspaced, stem, tokens
from brim.errors import InputError
from brim.record import plain

NEAR_DUPLICATE = 0.8
"""From here on two texts count as wordings of one rule."""
DIFFERENT = 0.75
"""The highest similarity of two texts that don't say the same for certain."""
ALIKE = 0.4
"""The share of common words from which two rules are offered to a person, if nothing keeps them apart."""
COMMON, OFTEN = 3, 0.05
"""A word that more rules of a store have, and a larger share of them, says little about which ones say the same."""
SURE = 0.45
"""The similarity from which two rules are offered though they share only such words."""
WORK = 50_000
"""Comparisons of a store's rules for pairs that may say the same."""
BLANK = frozenset(
    (
        *("use", "make", "keep", "put", "get", "let", "go", "follow", "apply"),
        *("stick", "run", "do", "end", "what", "how", "merely"),
    )
)
"""Verbs that say nothing about what a rule is about."""
GENERIC = frozenset(("cod", "fil", "statement", "thing", "place"))
"""Nouns that do."""
MOMENTS = frozenset(("", "if", "before"))
"""Kinds of clauses that can say the same: *changes need an entry*, *add an entry if you change it*."""
LIGHT = dict.fromkeys((*BLANK, *GENERIC, "write", "create"), 0.25)
"""What those weigh that say little; others weigh 1."""
_NAMES = re.compile(r"(?<=\s)[A-HJ-Z]\b|\b\w*[a-z][A-Z]\w*")
"""Words whose case matters: ``getUser``, and single letters inside a text, apart from *I*."""
_SYMBOLS = re.compile(r"[=<>&|+*/\\^%$#@~{}\[\]]+")
"""Signs that are code: ``==`` and ``===`` have no words."""
_NAMED = re.compile(r"`[^`]+`|(?<=[a-z,] )[A-Z][\w.+#-]*|\b[\w-]*(?:[a-z][A-Z]|\d|[._/][a-z])[\w./-]*")
"""Names: code, a capital inside a sentence, ``camelCase``, ``py311`` and ``os.path``."""


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
    """Return how alike *a* and *b* are, from 0 to 1: their shared words, and at most 0.75 unless they say the same.

    They do for certain if they have the same phrases, in any order and inflection.

    >>> similarity("Never use pip.", "Do not use pip"), similarity("Use uv, not pip", "Use pip, not uv")
    (0.99, 0.75)
    """
    if normalized(a) == normalized(b):
        return 1.0
    one, other = _words(a), _words(b)
    shared = one & other
    if not shared:
        return 0.0
    alike = min(0.99, 2 * len(shared) / (len(one) + len(other)))
    is_same = _phrases(a) == _phrases(b) and all(each.findall(a) == each.findall(b) for each in (_NAMES, _SYMBOLS))
    return 0.99 if is_same else min(alike, DIFFERENT)


def alike(a: str, b: str) -> bool:
    """Whether *a* and *b* may be wordings of one rule, so that a person should look: precision before recall.

    What one of them negates, limits, counts, names or puts in the place of the other's word keeps them apart.

    >>> alike("Write docstrings for every public function", "Document public functions with docstrings")
    True
    >>> alike("Sort the imports", "Sort the exports")
    False
    """
    one, other = _rule(a), _rule(b)
    if len(one.keys & other.keys) < 2 or _NAMES.findall(a) != _NAMES.findall(b):
        return False
    pairs = _pairs(one.places, other.places)
    extra = [word for word in one.places if word not in pairs]
    missing = [word for word in other.places if word not in pairs.values()]
    shared = sum(min(LIGHT.get(word, 1.0), LIGHT.get(instead, 1.0)) for word, instead in pairs.items())
    left = sum(LIGHT.get(word, 1.0) for word in (*extra, *missing))
    if shared < 1.5 or 2 * shared / (2 * shared + left) < ALIKE:
        return False
    if any(map(counts, (*extra, *missing))) or (_names(a, extra) and _names(b, missing)):
        return False
    match = _Match(one, other, pairs, extra, missing)
    is_close = sum(word not in LIGHT for word in (*extra, *missing)) < 2
    return not _changed_places(match) and (_is_reordered(match) if is_close else _is_reworded(match))


class _Place(NamedTuple):
    """Where a word is: in which clause of which kind, and after which preposition."""

    role: str
    negated: bool
    number: int
    lead: str

    @property
    def slot(self) -> tuple[str, str]:
        """What another word is in the place of this one by."""
        return self.role, "in" if self.lead in SOFT else self.lead


_Places = dict[str, list[_Place]]


class _Rule(NamedTuple):
    """A text taken apart, and what its words and those related to them have in common."""

    clauses: tuple[Clause, ...]
    places: _Places
    keys: frozenset[str]


class _Match(NamedTuple):
    """Two rules, which words of one stand for which of the other, and those that only one of them has."""

    one: _Rule
    other: _Rule
    pairs: dict[str, str]
    extra: list[str]
    missing: list[str]


@lru_cache(4_096)
def _rule(text: str) -> _Rule:
    clauses = tuple(
        Clause("", True, each.phrases) if each.role == "without" else each for each in in_order(clauses_of(text))
    )
    places = _places(clauses)
    return _Rule(clauses, places, frozenset(key for word in places for key in keys_of(word)))


def _places(clauses: tuple[Clause, ...]) -> _Places:
    found: _Places = {}
    numbers: dict[tuple[str, bool], int] = {}
    for each in clauses:
        number = numbers[each.role, each.negated] = numbers.get((each.role, each.negated), -1) + 1
        for lead, words in each.phrases:
            for word in words:
                found.setdefault(word, []).append(_Place(each.role, each.negated, number, lead))
    return found


def _pairs(mine: _Places, theirs: _Places) -> dict[str, str]:
    """Return which word of one text stands for which of the other: the same first, then its forms, then others."""
    pairs: dict[str, str] = {}
    left = dict.fromkeys(theirs)
    for fits in (str.__eq__, is_form, related):
        for word in mine:
            match = next((each for each in left if fits(word, each)), None) if word not in pairs else None
            if match is not None:
                pairs[word] = match
                del left[match]
    return pairs


def _is_reordered(match: _Match) -> bool:
    """Whether two texts with nearly the same words say the same of each, so that they differ in order and form."""
    one, other, pairs, extra, missing = match
    roles = {each.role for each in one.clauses} ^ {each.role for each in other.clauses}
    if not roles <= MOMENTS or any(map(turns, (*extra, *missing))):
        return False
    if any(_negated(one, word) != _negated(other, pairs[word]) for word in pairs if word not in BLANK):
        return False
    leads = [(one.places[word][0].lead, other.places[pairs[word]][0].lead) for word in pairs]
    if any(mine != theirs and {mine, theirs} <= HARD for mine, theirs in leads):
        return False
    if _lists_more(one.clauses, extra) or _lists_more(other.clauses, missing):
        return False
    if extra and missing:
        return not _is_put_for(one.places, extra, other.places, missing)
    return bool(extra or missing) or _is_moved(one.clauses, other.clauses)


def _is_reworded(match: _Match) -> bool:
    """Whether two texts that are built otherwise agree in what they negate, and more than a word was exchanged.

    Who writes a rule about something else in the same words exchanges a word where it stood. Who says the same
    otherwise changes more than that.
    """
    one, other, pairs, extra, missing = match
    if any(is_unspaced(word[0]) for word in extra) or _clash(match):
        return False
    for word, instead in product(extra, missing):
        if excludes(word, instead) and _negated(one, word) == _negated(other, instead):
            return False
    if not _own_conditions(one, extra).isdisjoint(_own_conditions(other, missing)):
        return False
    gaps = _gaps(one, pairs)
    return not gaps or gaps != _gaps(other, {word: word for word in pairs.values()})


def _negated(rule: _Rule, word: str) -> set[bool]:
    return {each.negated for each in rule.places[word]}


def _clash(match: _Match) -> bool:
    """Whether a word is negated in one rule only, unless both negate another one, or agree in most words."""
    one, other, pairs, _, _ = match
    senses = [(_negated(one, word), _negated(other, pairs[word])) for word in pairs if word not in LIGHT]
    clashing = sum(mine.isdisjoint(theirs) for mine, theirs in senses)
    agreeing = len(senses) - clashing
    return clashing > 0 and clashing >= agreeing and not any(True in mine & theirs for mine, theirs in senses)


def _own_conditions(rule: _Rule, words: list[str]) -> set[str]:
    """Return the kinds of the conditions in *rule* that consist of *words*, which the other text lacks."""
    return {each.role for each in rule.clauses if each.role and set(each.words) <= set(words)}


def _gaps(rule: _Rule, shared: dict[str, str]) -> set[tuple[str, str]]:
    """Return between which *shared* words, or ends of a clause, there are words that only this rule has."""
    found = set()
    for each in rule.clauses:
        before, is_open = "", False
        for word in (*(word for word in each.words if word in shared or word in GENERIC or word not in LIGHT), ""):
            if word and word not in shared:
                is_open = True
                continue
            after = shared.get(word, "")
            if is_open:
                found.add((before, after))
            before, is_open = after, False
    return found


def _changed_places(match: _Match) -> bool:
    """Whether two words have changed places."""
    moves = set()
    for word, instead in match.pairs.items():
        mine, theirs = match.one.places[word], match.other.places[instead]
        one, other = mine[0], theirs[0]
        if len(mine) == len(theirs) == 1 and one != other:
            moves.add((one, other))
    return any((other, one) in moves for one, other in moves)


def _is_put_for(mine: _Places, extra: list[str], theirs: _Places, missing: list[str]) -> bool:
    """Whether a word of one text takes the place of another one's."""
    pairs = product((word for word in extra if word not in BLANK), (word for word in missing if word not in BLANK))
    return any(
        one.slot == other.slot
        for word, instead in pairs
        if not {word, instead} <= GENERIC
        for one, other in product(mine[word], theirs[instead])
    )


def _lists_more(clauses: tuple[Clause, ...], words: list[str]) -> bool:
    """Whether one of the things that *clauses* list is among *words*, which the other text lacks."""
    return any(lead == "and" and set(named) <= set(words) for each in clauses for lead, named in each.phrases)


def _is_moved(one: tuple[Clause, ...], other: tuple[Clause, ...]) -> bool:
    """Whether two texts with the same words differ in the place of one phrase per clause, as in a passive."""
    for mine, theirs in zip(one, other, strict=False):
        if dict(mine.led) != dict(theirs.led):
            continue
        words, moved = list(mine.words), list(theirs.words)
        while words and words[0] == moved[0]:
            del words[0], moved[0]
        while words and words[-1] == moved[-1]:
            del words[-1], moved[-1]
        if sorted(words) == sorted(moved) and all(words[at:] + words[:at] != moved for at in range(len(words) or 1)):
            return False
    return True


def _names(text: str, words: list[str]) -> bool:
    """Whether one of *words* is a name in *text*: written as code, with a capital inside a sentence, or a tool."""
    found = {stem(word) for name in _NAMED.finditer(text) for word in tokens(name[0])}
    return not found.isdisjoint(words)


def near_duplicate(a: str, b: str) -> bool:
    """Whether *a* and *b* are wordings of one rule.

    >>> near_duplicate("Never commit secrets.", "Don't commit any secrets")
    True
    >>> near_duplicate("Use uv, not pip", "Use pip, not uv")
    False
    """
    return similarity(a, b) >= NEAR_DUPLICATE


class Texts:
    """Texts that can be asked for those nearly the same as another, without comparing each with each."""

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self._texts: list[str] = []
        self._same: dict[frozenset[tuple[object, ...]], list[int]] = {}
        """The numbers of those with the same phrases."""
        for text in texts:
            self.add(text)

    def add(self, text: str) -> None:
        """Add *text* under the next number; the first has 0."""
        self._same.setdefault(_phrases(text), []).append(len(self._texts))
        self._texts.append(text)

    def like(self, text: str, at_least: float) -> list[Similar]:
        """Return those that are alike from *at_least* on, in the order of their numbers."""
        among = range(len(self._texts)) if at_least <= DIFFERENT else self._same.get(_phrases(text), [])
        found = [Similar(index, similarity(text, self._texts[index])) for index in among]
        return [each for each in found if each.similarity >= at_least and each.similarity > 0]


def near_pairs(behaviors: Iterable[Behavior], threshold: float) -> list[Pair]:
    """Return the pairs that are alike from *threshold* on, the most alike first."""
    ordered = sorted(behaviors, key=lambda behavior: behavior.id)
    texts, found = Texts(), []
    for each in ordered:
        found += [Pair(ordered[near.index], each, near.similarity) for near in texts.like(each.canonical, threshold)]
        texts.add(each.canonical)
    return sorted(found, key=lambda pair: (-pair.similarity, pair.one.id, pair.other.id))


def likely_pairs(behaviors: Iterable[Behavior]) -> list[Pair]:
    """Return the pairs that may say the same, the most alike first; after ``WORK`` comparisons no more are found.

    They share two words that few of *behaviors* have, or most of their words.
    """
    ordered = sorted(behaviors, key=lambda behavior: behavior.id)
    having = Counter(word for each in ordered for word in _words(each.canonical))
    common = {word for word, many in having.items() if many > max(COMMON, OFTEN * len(ordered))}
    holders: dict[str, list[int]] = {}
    sizes: list[int] = []
    found: list[Pair] = []
    work = 0
    for at, each in enumerate(ordered):
        words = _words(each.canonical) - LIGHT.keys()
        near = Counter(index for word in words for index in {i for key in keys_of(word) for i in holders.get(key, ())})
        for index, shared in sorted(near.items()):
            if 2 * shared + 1 < ALIKE * (len(words) + sizes[index]):  # light words add up to 1 at most, mostly
                continue
            work += 1
            one, other = ordered[index].canonical, each.canonical
            if alike(one, other) and ((how := similarity(one, other)) >= SURE or _shares_rare(one, other, common)):
                found.append(Pair(ordered[index], each, how))
        if work > WORK:
            break
        sizes.append(len(words))
        for key in {key for word in words for key in keys_of(word)}:
            holders.setdefault(key, []).append(at)
    return sorted(found, key=lambda pair: (-pair.similarity, pair.one.id, pair.other.id))


def _shares_rare(a: str, b: str, common: set[str]) -> bool:
    pairs = _pairs(_rule(a).places, _rule(b).places)
    return sum(common.isdisjoint(each) and LIGHT.keys().isdisjoint(each) for each in pairs.items()) >= 2


@lru_cache(4_096)
def _words(text: str) -> frozenset[str]:
    """Return the words of *text* that say something, one form for each word, its forms and synonyms."""
    return frozenset(word for each in clauses_of(text) for word in each.words)


@lru_cache(4_096)
def _phrases(text: str) -> frozenset[tuple[object, ...]]:
    """Return what *text* says, whatever the order of its clauses and phrases; a text without words is itself."""
    clauses = in_order(clauses_of(text))
    keys = [each.key for each in clauses]
    if sum(not each.role for each in clauses) > 1 and any(each.role for each in clauses):
        return frozenset({tuple(keys)})  # which condition belongs to which clause is said by their order
    return frozenset(keys) or frozenset({(normalized(text),)})


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
    if refused := tuple(block for block in other.blocks if block not in kept.blocks):
        changes.append(f"blocks added: {', '.join(refused)}")
    merged = kept.replace(
        kind=kind,
        tags=kept.tags + added,
        blocks=kept.blocks + refused,
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
