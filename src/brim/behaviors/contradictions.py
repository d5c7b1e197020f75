"""Rules that contradict each other: one asks for what the other forbids, as "use X, not Y" and "use
Y" do.

Both rules stay; agents are told only the newer one. So a contradiction has to be plain: two rules
with different conditions, or about different things, never contradict each other.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from brim.behaviors.behavior import Rule
from brim.behaviors.words import stem, tokens, word_list

MOST = 10
"""Contradictions of one rule that are returned, and rules that are marked: a store can be full of
them."""
LOOKED_AT = 2_000
"""Rules that one is compared with, the newest first."""
MOST_PAIRS, WORK = 100, 100_000
"""Pairs that are returned of many rules, and pairs that are compared for them."""
MOST_SENTENCES = 12
"""Sentences of a rule that are compared; a longer one is a document."""

_END = re.compile(r"[.;!?](?:\s|$)|\n|, (?=use |prefer )")
_INSTEAD = re.compile(r",? (?:and )?(?:not|never|over|instead of|rather than) ")
"""What stands between the thing to use and the thing to avoid."""
_AVOID = re.compile(r"(?:never|do not|don't|avoid|no)\b ?")
"""How a sentence begins that forbids something."""
_USE = frozenset(("use", "using", "prefer", "choose"))
"""Verbs that don't say more than what is used."""

Thing = tuple[str, ...]
"""Stems of the words for what a rule asks for or forbids."""


@dataclass(frozen=True)
class Contradiction:
    """A rule that another one contradicts, and the words in which they differ."""

    other: Rule
    about: str

    def to_dict(self) -> dict[str, object]:
        """Return it as plain data."""
        return {
            "id": self.other.id,
            "name": self.other.name,
            "text": self.other.canonical,
            "about": self.about,
        }


@dataclass(frozen=True)
class _Choice:
    """What a text asks for and what it forbids, each with the words for it."""

    asked: dict[Thing, str]
    forbidden: dict[Thing, str]


def find(behavior: Rule, others: Iterable[Rule]) -> list[Contradiction]:
    """Return the live ones of *others* that *behavior* contradicts, the newest first, at most
    ``MOST``."""
    things = _things(behavior.canonical)
    near = [
        other for other in others if other.live and not things.isdisjoint(_things(other.canonical))
    ]
    contradictions: list[Contradiction] = []
    for other in sorted(near, key=lambda rule: rule.precedence, reverse=True)[:LOOKED_AT]:
        if other.id != behavior.id and (about := _contradicts(behavior, other)):
            contradictions.append(Contradiction(other, about))
            if len(contradictions) == MOST:
                break
    return contradictions


def among(behaviors: Iterable[Rule]) -> list[tuple[Rule, Contradiction]]:
    """Return the pairs of live *behaviors* that contradict each other: the newer one, and what it
    contradicts.

    At most ``MOST_PAIRS``, after ``WORK`` comparisons at the most; the newest rules are compared
    first.
    """
    ordered = sorted(
        (rule for rule in behaviors if rule.live), key=lambda rule: rule.precedence, reverse=True
    )
    holders: dict[Thing, list[int]] = {}
    pairs: list[tuple[Rule, Contradiction]] = []
    work = 0
    for at, older in enumerate(ordered):
        things = _things(older.canonical)
        for index in sorted(
            {index for thing in things for index in holders.get(thing, ())[:LOOKED_AT]}
        ):
            work += 1
            if about := _contradicts(ordered[index], older):
                pairs.append((ordered[index], Contradiction(older, about)))
        if len(pairs) >= MOST_PAIRS or work >= WORK:
            break
        for thing in things:
            holders.setdefault(thing, []).append(at)
    return pairs[:MOST_PAIRS]


def contradiction(a: str, b: str) -> str:
    """Return the words in which *a* and *b* contradict each other; empty if they don't.

    >>> contradiction("Use pnpm, not npm", "Use bun, not pnpm"), contradiction("Use tabs in Go", "Never use tabs")
    ('pnpm, bun', '')
    """
    one = _choice(a)
    other = _choice(b)
    for thing in [
        *one.asked.keys() & other.forbidden.keys(),
        *one.forbidden.keys() & other.asked.keys(),
    ]:
        mine = one.asked if thing in one.asked else one.forbidden
        words = [mine[thing]]
        if len(one.asked) == len(other.asked) == 1:
            words = [*one.asked.values(), *other.asked.values()]
        return ", ".join(dict.fromkeys(words))
    return ""


def _contradicts(one: Rule, other: Rule) -> str:
    return contradiction(one.canonical, other.canonical) if _can_meet(one, other) else ""


def _things(text: str) -> frozenset[Thing]:
    """Return what two texts have in common if they contradict each other."""
    choice = _choice(text)
    return frozenset((*choice.asked, *choice.forbidden))


@lru_cache(16_384)
def _choice(text: str) -> _Choice:
    asked: dict[Thing, str] = {}
    forbidden: dict[Thing, str] = {}
    for sentence in _END.split(text.lower().replace("’", "'"))[:MOST_SENTENCES]:
        start, *avoided = _INSTEAD.split(" ".join(sentence.split()), maxsplit=1)
        start = start.removeprefix("please ").removeprefix("always ")
        begin = _AVOID.match(start)
        _note(start[begin.end() :] if begin else start, forbidden if begin else asked)
        for phrase in avoided:
            _note(phrase, asked if begin else forbidden)
    return _Choice(
        asked, {thing: words for thing, words in forbidden.items() if thing not in asked}
    )


def _note(phrase: str, things: dict[Thing, str]) -> None:
    """Put what *phrase* is about into *things*, with its words."""
    fillers = word_list("fillers.txt")
    words = [word for word in tokens(phrase) if word not in fillers]
    if words and words[0] in _USE:
        words = words[1:]
    if words:
        things.setdefault(tuple(map(stem, words)), " ".join(words))


def _can_meet(one: Rule, other: Rule) -> bool:
    """Whether there are situations in which both apply, as far as their conditions say."""
    theirs = dict(other.when.conditions)
    return all(
        key not in theirs or not set(values).isdisjoint(theirs[key])
        for key, values in one.when.conditions
    )
