"""How alike two rules are, and whether they are the same one in other words.

A rule is lost when it is taken for another, and merely stands there twice when it is not taken for itself. So two
texts are near duplicates only if nothing was found in which their sense differs: see ``difference``.
"""

from __future__ import annotations

from collections import namedtuple

from brim.behaviors import tables
from brim.behaviors.meaning import Meaning
from brim.behaviors.words import stem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

NEAR_DUPLICATE = 0.8
"""From here on two texts count as wordings of one rule."""
DIFFERENT = 0.75
"""The most that two texts are alike whose sense differs."""
WORDS_PER_EXTRA = 8
"""For so many shared words the longer of two wordings may have one that the other does not."""

Similar = namedtuple("Similar", ("index", "similarity"))
"""Which of the candidates it is, and how alike."""

_DIRECTED = ("to", "into", "onto", "from", "than", "over", "under", "by", "as", "on")


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


def most_similar(text: str, candidates: Iterable[str]) -> Similar | None:
    """Return which of *candidates* is most like *text*, the first of equal ones; None if none shares a word with it.

    Only candidates that share enough beginnings of words are looked at closely.
    """
    same, begins = normalized(text), _beginnings(text)
    meaning: Meaning | None = None
    best: Similar | None = None
    for index, candidate in enumerate(candidates):
        if len(candidate) == len(text) and normalized(candidate) == same:
            return Similar(index, 1.0)
        others = _beginnings(candidate)
        if 5 * len(begins & others) < 2 * min(len(begins), len(others)):
            continue
        meaning = meaning or Meaning(text)
        value = _similarity(meaning, Meaning(candidate)) if normalized(candidate) != same else 1.0
        if value > 0 and (best is None or value > best.similarity):
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
    shared = len(a.words.keys() & b.words.keys())
    alike = min(0.99, 2 * shared / (len(a.words) + len(b.words)))
    # Sorted, so that the one question is asked whichever way round it is put.
    first, second = sorted((a, b), key=lambda meaning: meaning.line)
    return alike if _difference(first, second) is None else min(alike, DIFFERENT)


def _difference(a: Meaning, b: Meaning) -> str | None:
    shared = a.words.keys() & b.words.keys()
    if a.senses != b.senses:
        return f"only one of them has: {', '.join(sorted(a.senses ^ b.senses))}"
    if a.numbers != b.numbers:
        return f"other numbers: {', '.join(sorted(a.numbers ^ b.numbers))}"
    code = sorted({code for code in a.code if code not in b.line} | {code for code in b.code if code not in a.line})
    if code:
        return f"only one of them names: {', '.join(code)}"
    turned = sorted(word for word in shared if a.words[word] != b.words[word] and word != "use")
    if turned:
        return f"one asks for what the other one forbids: {', '.join(turned)}"
    moved = sorted(word for word in shared if a.ranks.get(word) != b.ranks.get(word))
    if moved:
        return f"in another order: {', '.join(moved)}"
    moved = sorted(word for word in shared if a.under.get(word) != b.under.get(word) and word != "use")
    if moved:
        return f"only one of them has as a condition: {', '.join(moved)}"
    return _exchanged(a, b, shared) or _other_words(a, b, shared)


def _exchanged(a: Meaning, b: Meaning, shared: set[str]) -> str | None:
    """Return which words have changed places: *from A to B* is not *from B to A*."""
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
    mine, yours = ([word for word in meaning.order if word in shared] for meaning in (a, b))
    if sorted(mine) == sorted(yours):
        apart = sorted({word for word, other in zip(mine, yours, strict=True) if word != other})
        if len(apart) == 2 and len({(a.words[word], a.ranks.get(word)) for word in apart}) == 1:
            return f"in other places: {', '.join(apart)}"
    return None


def _other_words(a: Meaning, b: Meaning, shared: set[str]) -> str | None:
    light = {stem(word) for word in tables.words("light_words.txt")}
    mine = sorted(a.words.keys() - shared - light)
    yours = sorted(b.words.keys() - shared - light)
    if (mine and yours) or len(mine) + len(yours) > len(shared) // WORDS_PER_EXTRA:
        return f"only one of them says: {', '.join(mine + yours)}"
    return None


def _beginnings(text: str) -> set[str]:
    """Return the first letters of the longer words of *text*: what all forms of a word share, quickly."""
    if not text.isascii():
        return {text[at : at + 2] for at in range(min(len(text), 400))}
    return {word[:4] for word in text.lower().translate(_LETTERS).split() if len(word) > 2 and word not in _COMMON}


_LETTERS = {code: " " for code in range(128) if not chr(code).isalnum()}
_COMMON = frozenset(("the", "use", "for", "and", "not", "you", "all", "always", "never", "with", "this", "that"))
