"""Rules that contradict each other: never and always of the same thing, or two choices where one excludes the other.

Both rules stay; agents are told only the newer one. So a contradiction has to be plain: two rules with different
conditions, or about different things, never contradict each other.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import product

from brim.behaviors.behavior import Behavior
from brim.behaviors.clauses import SCOPES, alternatives, clauses_of, excludes, is_form, plain
from brim.behaviors.duplicates import BLANK
from brim.behaviors.words import word_list

MOST = 10
"""Contradictions of one rule that are returned, and rules that are marked: a store can be full of them."""
LOOKED_AT = 2_000
"""Rules that one is compared with, the newest first."""
MOST_PAIRS, WORK = 100, 100_000
"""Pairs that are returned of many rules, and pairs that are compared for them."""
MOST_CLAUSES = 12
"""Clauses of a rule that are compared; a longer one is a document."""

_NEGATIVE = frozenset(("omit", "skip", "avoid", "ban", "disallow", "forbid", "drop", "disable", "stop", "prohibit"))
"""Verbs that ask for something not to be."""
_EMPTY = (BLANK - {"apply"}) | {"write", "create", "requir", "mandatory", "need", "necessary", "only", "long"}
"""Words that don't say what a rule asks for, only that it does."""


@dataclass(frozen=True)
class Contradiction:
    """A rule that another one contradicts, and the words in which they differ."""

    other: Behavior
    about: str

    def to_dict(self) -> dict[str, object]:
        """Return it as plain data."""
        return {"id": self.other.id, "name": self.other.name, "text": self.other.canonical, "about": self.about}


def find(behavior: Behavior, others: Iterable[Behavior]) -> list[Contradiction]:
    """Return the live ones of *others* that *behavior* contradicts, the newest first, at most ``MOST``."""
    marks, found = _marks(behavior.canonical), list[Contradiction]()
    alike = [other for other in others if other.live and not marks.isdisjoint(_marks(other.canonical))]
    for other in sorted(alike, key=lambda each: each.precedence, reverse=True)[:LOOKED_AT]:
        if other.id != behavior.id and (about := _contradicts(behavior, other)):
            found.append(Contradiction(other, about))
            if len(found) == MOST:
                break
    return found


def among(behaviors: Iterable[Behavior]) -> list[tuple[Behavior, Contradiction]]:
    """Return the pairs of live *behaviors* that contradict each other: the newer one, and what it contradicts.

    At most ``MOST_PAIRS``, after ``WORK`` comparisons at the most; the newest rules are compared first.
    """
    ordered = sorted((each for each in behaviors if each.live), key=lambda each: each.precedence, reverse=True)
    holders: dict[str, list[int]] = {}
    found: list[tuple[Behavior, Contradiction]] = []
    work = 0
    for at, older in enumerate(ordered):
        marks = _marks(older.canonical)
        for index in sorted({index for mark in marks for index in holders.get(mark, ())[:LOOKED_AT]}):
            work += 1
            if about := _contradicts(ordered[index], older):
                found.append((ordered[index], Contradiction(older, about)))
        if len(found) >= MOST_PAIRS or work >= WORK:
            break
        for mark in marks:
            holders.setdefault(mark, []).append(at)
    return found[:MOST_PAIRS]


def _contradicts(one: Behavior, other: Behavior) -> str:
    return contradiction(one.canonical, other.canonical) if _can_meet(one, other) else ""


@lru_cache(16_384)
def _marks(text: str) -> frozenset[str]:
    """Return what two texts have in common if they contradict each other: a word, or what their words are of."""
    words = {word for each in clauses_of(text) for word in each.words} - BLANK
    return frozenset(words | {f"of {group}" for word in words for group in alternatives(word)})


def contradiction(a: str, b: str) -> str:
    """Return the words in which *a* and the older *b* contradict each other; empty if they don't.

    *Never mock* contradicts an older *mock the network in tests*; said later, that is an exception to it.

    >>> contradiction("Use pnpm, not npm", "Use bun, not pnpm"), contradiction("Use tabs in Go", "Use tabs in Python")
    ('pnpm, bun', '')
    >>> contradiction("Write in British English", "Write in American English")
    'british, american'
    """
    if about := _order(a, b):
        return about
    if _conditions(a) != _conditions(b):
        return ""
    for one, other in product(_things(a), _things(b)):
        other = other.spelled_as(one)  # noqa: PLW2901
        about = _opposed(one, other) if one.negated != other.negated else "" if one.negated else _excluding(one, other)
        if about:
            return about
    return ""


@dataclass(frozen=True)
class _Thing:
    """What one clause asks for, or asks to avoid."""

    negated: bool
    words: frozenset[str]
    """What it is about, with where it counts."""
    scope: frozenset[str]
    """Where it counts."""
    verb: str
    """What to do with it, if it begins with a verb."""

    def spelled_as(self, other: _Thing) -> _Thing:
        """Return it with the words of *other* where its own are forms of those."""
        strange, known = self.words - other.words, other.words - self.words
        spelled = {word: same for word in strange for same in known if is_form(word, same)}
        if not spelled:
            return self
        words, scope = (frozenset(spelled.get(word, word) for word in each) for each in (self.words, self.scope))
        return _Thing(self.negated, words, scope, spelled.get(self.verb, self.verb))


@lru_cache(16_384)
def _things(text: str) -> tuple[_Thing, ...]:
    found: list[_Thing] = []
    scope: frozenset[str] = frozenset()
    for each in clauses_of(text):
        if each.role:
            continue
        negative = not _NEGATIVE.isdisjoint(each.words)
        words = frozenset(each.words) - _EMPTY - (_NEGATIVE if negative else frozenset())
        own = frozenset(word for lead, words in each.phrases if lead in SCOPES for word in words)
        scope = own or scope  # "in Python files, use pathlib, not os.path"
        if words:
            verb = each.words[0] if each.words[0] in _verbs() else ""
            found.append(_Thing(each.negated is not negative, words | scope, scope, verb))
    return tuple(found[:MOST_CLAUSES])


def _opposed(one: _Thing, other: _Thing) -> str:
    """Return what one of two asks for and the other forbids.

    What is forbidden must be all that is asked for: *never write tests that need the network* allows tests. Only a
    newer prohibition may be wider.
    """
    asked, forbidden = (other, one) if one.negated else (one, other)
    more = asked.words - forbidden.words - {asked.verb}
    if not forbidden.words <= asked.words or (more and not (one.negated and more <= asked.scope)):
        return ""
    return ", ".join(sorted(forbidden.words - forbidden.scope or forbidden.words))


def _excluding(one: _Thing, other: _Thing) -> str:
    """Return the words that exclude each other in two rules that are otherwise about the same."""
    mine, theirs, shared = one.words - other.words, other.words - one.words, one.words & other.words
    numbers = [{word for word in words if word[0].isdecimal()} for words in (mine, theirs)]
    found = [pair for pair in product(sorted(mine), sorted(theirs)) if excludes(*pair)]
    if len(found) == 1:
        chosen = found[0]
    elif shared and not found and len(numbers[0]) == len(numbers[1]) == 1:
        chosen = numbers[0].pop(), numbers[1].pop()
    else:
        return ""
    left = [
        words - {chosen[0], chosen[1]} - each - {one.verb, other.verb}
        for words, each in zip((mine, theirs), numbers, strict=True)
    ]
    if (left[0] and left[1]) or len(left[0] | left[1]) > (len(shared) > 1):
        return ""
    return ", ".join(chosen)


def _order(a: str, b: str) -> str:
    """Return what two rules do in opposite orders: *lint before testing* and *test before linting*."""
    one, other = _steps(a), _steps(b)
    if not one or not other:
        return ""
    for role in ("before", "after"):
        if role in one and role in other and one[""] == other[role] and other[""] == one[role]:
            return ", ".join(sorted(one[""] | one[role]))
    for first, then in ((one, other), (other, one)):
        if "before" in first and first["before"] == then[""] and then.get("without") == first[""]:
            return ", ".join(sorted(first[""]))  # "ask before you deploy" and "deploy without asking"
        if "before" in first and "after" in then and first[""] == then[""] and first["before"] == then["after"]:
            return ", ".join(sorted(first[""]))
    return ""


@lru_cache(16_384)
def _steps(text: str) -> dict[str, frozenset[str]]:
    """Return what *text* does, and before or after what, if that is all that it says; else nothing."""
    clauses = clauses_of(text)
    found = {each.role: frozenset(each.words) - BLANK for each in clauses if not each.negated}
    return found if len(clauses) == len(found) == 2 and "" in found else {}


@lru_cache(16_384)
def _conditions(text: str) -> frozenset[tuple[str, frozenset[str]]]:
    return frozenset((each.role, frozenset(each.words)) for each in clauses_of(text) if each.role)


def _can_meet(one: Behavior, other: Behavior) -> bool:
    """Whether there are situations in which both apply, as far as their conditions say."""
    theirs = dict(other.when.conditions)
    return all(key not in theirs or not set(values).isdisjoint(theirs[key]) for key, values in one.when.conditions)


@cache
def _verbs() -> frozenset[str]:
    return frozenset(map(plain, word_list("verbs.txt")))
