"""How alike two rules are, and whether they are the same one in other words.

A rule is lost when it is taken for another, and merely stands there twice when it is not taken for itself. So two
texts are near duplicates only if nothing was found in which their sense differs: see ``difference``.
"""

from __future__ import annotations

from brim._light import namedtuple
from brim.behaviors import tables
from brim.behaviors.meaning import Meaning, canonical
from brim.behaviors.words import tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

NEAR_DUPLICATE = 0.8
"""From here on two texts count as wordings of one rule."""
DIFFERENT = 0.75
"""The most that two texts are alike whose sense differs."""
WORDS_PER_EXTRA = 8
"""For so many shared words the longer of two wordings may have one that the other does not."""

Similar = namedtuple("Similar", ("index", "similarity"))
"""Which of the candidates it is, and how alike."""

_DIRECTED = ("to", "into", "onto", "from", "than", "over", "under", "by", "as", "on")
_OPPOSITE = ({"over", "under"}, {"to", "from"}, {"into", "from"})
"""Prepositions that turn a rule around: under 300 lines is not over 300 lines."""


def similarity(a: str, b: str) -> float:
    """Return how alike *a* and *b* are, from 0 to 1: their shared content words, and at most 0.75 if the sense differs.

    >>> similarity("Never use pip.", "Do not use pip"), similarity("Always use pip.", "Do not use pip")
    (0.99, 0.75)
    """
    if normalized(a) == normalized(b):
        return 1.0
    return _similarity(Meaning(a), Meaning(b))


def near_duplicate(a: str, b: str) -> bool:
    """Whether *a* and *b* are wordings of one rule.

    >>> near_duplicate("Use uv instead of pip", "Prefer uv over pip")
    True
    >>> near_duplicate("Use uv, not pip", "Use pip, not uv")
    False
    """
    return similarity(a, b) >= NEAR_DUPLICATE


def most_similar(text: str, candidates: Iterable[str], at_least: float = 0.0) -> Similar | None:
    """Return which of *candidates* is most like *text*, the first of equal ones; None if none is, *at_least* so much.

    Only candidates that share enough beginnings of words are looked at closely: half of them for a near duplicate.
    """
    same, begins = normalized(text), _beginnings(text)
    enough = 0.5 if at_least >= NEAR_DUPLICATE else 0.2
    meaning: Meaning | None = None
    best: Similar | None = None
    for index, candidate in enumerate(candidates):
        if len(candidate) == len(text) and normalized(candidate) == same:
            return Similar(index, 1.0)
        others = _beginnings(candidate)
        if 2 * len(begins & others) < enough * (len(begins) + len(others)):
            continue
        meaning = meaning or Meaning(text)
        value = _similarity(meaning, Meaning(candidate)) if normalized(candidate) != same else 1.0
        if value > 0 and value >= at_least and (best is None or value > best.similarity):
            best = Similar(index, value)
    return best


def difference(a: str, b: str) -> str | None:
    """Return in what the sense of *a* and *b* differs, or None if nothing was found."""
    return None if normalized(a) == normalized(b) else _difference(Meaning(a), Meaning(b))


def normalized(text: str) -> str:
    """Return *text* in lower case, every run of white space as one space: what makes two texts equal."""
    return " ".join(text.lower().split())


def _similarity(a: Meaning, b: Meaning) -> float:
    if not a.words or not b.words:
        return 0.0
    shared = a.words.keys() & b.words.keys()
    apart = (_weighty(a) | _weighty(b)) - shared
    alike = min(0.99, 2 * len(shared) / (2 * len(shared) + len(apart) or 1))
    # Sorted, so that the one question is asked whichever way round it is put.
    first, second = sorted((a, b), key=lambda meaning: meaning.line)
    return alike if _difference(first, second) is None else min(alike, DIFFERENT)


def _difference(a: Meaning, b: Meaning) -> str | None:
    shared = a.words.keys() & b.words.keys()
    named = {code for code in a.code if code not in b.line} | {code for code in b.code if code not in a.line}
    checks = (
        ("only one of them has", a.senses ^ b.senses),
        ("other numbers", a.numbers ^ b.numbers),
        ("only one of them names", named),
        ("one asks for what the other one forbids", _apart(shared - {"use"}, a.words, b.words)),
        ("only of something else", a.limited ^ b.limited),
        ("in another order", _apart(shared, a.ranks, b.ranks)),
        ("a condition in only one of them", _apart(shared - {"use"}, a.under, b.under)),
    )
    found = next((f"{what}: {', '.join(sorted(which))}" for what, which in checks if which), None)
    return found or _exchanged(a, b, shared) or _other_words(a, b, shared)


def _apart(words: set[str], a: Mapping[str, object], b: Mapping[str, object]) -> set[str]:
    return {word for word in words if a.get(word) != b.get(word)}


def _exchanged(a: Meaning, b: Meaning, shared: set[str]) -> str | None:
    """Return which words have changed places: *from A to B* is not *from B to A*."""
    turned = sorted(word for word in shared if {a.roles.get(word), b.roles.get(word)} in _OPPOSITE)
    if turned:
        return f"the opposite: {', '.join(turned)}"
    for role in _DIRECTED:
        here = {word for word in shared if a.roles.get(word) == role}
        there = {word for word in shared if b.roles.get(word) == role}
        if here and there and here.isdisjoint(there):
            return f"in other places: {', '.join(sorted(here | there))}"
    moves = {(a.roles.get(word, ""), b.roles.get(word, "")): word for word in sorted(shared)}
    for (before, after), word in moves.items():
        if before != after and (after, before) in moves:
            return f"in other places: {', '.join(sorted((word, moves[after, before])))}"
    if a.passive is not b.passive:
        doers = sorted(word for word in shared if "by" in (a.roles.get(word), b.roles.get(word)))
        return f"in other places: {', '.join(doers)}" if doers else None
    for role in sorted({a.roles.get(word, "") for word in shared}):
        same = {word for word in shared if a.roles.get(word, "") == role == b.roles.get(word, "")}
        mine, yours = ([word for word in meaning.words if word in same] for meaning in (a, b))
        apart = sorted({word for word, other in zip(mine, yours, strict=True) if word != other})
        if len(apart) == 2 and len({(a.words[word], a.ranks.get(word)) for word in apart}) == 1:
            return f"in other places: {', '.join(apart)}"
    return None


def _other_words(a: Meaning, b: Meaning, shared: set[str]) -> str | None:
    mine, yours = sorted(_weighty(a) - shared), sorted(_weighty(b) - shared)
    if (mine and yours) or len(mine) + len(yours) > len(shared) // WORDS_PER_EXTRA:
        return f"only one of them says: {', '.join(mine + yours)}"
    return None


def _weighty(meaning: Meaning) -> set[str]:
    """Return the words that another wording may not leave out."""
    if not _light:
        _light.extend(frozenset(map(canonical, tables.words(f"light_{which}.txt"))) for which in ("words", "places"))
    words, places = _light
    return {word for word in meaning.words if word not in words and not (word in places and word in meaning.roles)}


_light: list[frozenset[str]] = []


def _beginnings(text: str) -> set[str]:
    """Return the first letters of the words of *text* that are no fillers: what all forms of a word share, quickly."""
    text = text[:_LOOKED_AT].partition(" because ")[0]
    words = text.lower().translate(_LETTERS).split() if text.isascii() else tokens(text)
    return {word[:4] for word in words if word not in tables.words("fillers.txt") and word not in _TURNS}


_LOOKED_AT = 1_000
_LETTERS = {code: " " for code in range(128) if not chr(code).isalnum()}
_TURNS = frozenset(("use", "prefer", "not", "never", "dont", "don", "t", "instead", "to", "before"))
