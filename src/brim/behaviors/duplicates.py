"""Which of many behaviors say the same as another. Only pairs that can be alike are compared closely."""

from __future__ import annotations

from brim._light import namedtuple
from brim.behaviors import tables
from brim.behaviors.meaning import Meaning, canonical
from brim.behaviors.similarity import DIFFERENT, normalized, similarity

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from brim.behaviors.behavior import Behavior

Pair = namedtuple("Pair", ("one", "other", "similarity"))
"""Two behaviors, and how alike they are."""


SHARED_LIGHT = 4
"""Words that two texts may share besides their telling ones; they make them more alike."""


def near_pairs(behaviors: Iterable[Behavior], threshold: float) -> list[Pair]:
    """Return the pairs that are alike from *threshold* on, the most alike first."""
    ordered = sorted(behaviors, key=lambda behavior: behavior.id)
    words = _telling_words(ordered)
    found = []
    for one, other in sorted(_candidates(words, threshold)):
        alike = similarity(ordered[one].canonical, ordered[other].canonical)
        if alike >= threshold:
            found.append(Pair(ordered[one], ordered[other], alike))
    return sorted(found, key=lambda pair: (-pair.similarity, pair.one.id, pair.other.id))


def _telling_words(behaviors: list[Behavior]) -> list[frozenset[str]]:
    """Return the words of each that another wording may not leave out; the text itself if it has none."""
    light = frozenset(canonical(word) for which in ("words", "places") for word in tables.words(f"light_{which}.txt"))
    meanings = ((behavior.canonical, Meaning(behavior.canonical).words) for behavior in behaviors)
    return [frozenset(words) - light or frozenset(words) or frozenset((normalized(text),)) for text, words in meanings]


def _candidates(words: list[frozenset[str]], threshold: float) -> Iterator[tuple[int, int]]:
    """Yield the pairs that ``similarity`` can find alike from *threshold* on, by the words in which they differ.

    Above ``DIFFERENT`` only one of two may have a word that the other has not. So all words of one are in the other,
    and it is enough to look where its rarest one is.
    """
    holders: dict[str, list[int]] = {}
    for index, own in enumerate(words):
        for word in own:
            holders.setdefault(word, []).append(index)
    strict = threshold > DIFFERENT
    seen: set[tuple[int, int]] = set()
    for index, own in enumerate(words):
        looked_up = [min(own, key=lambda word: (len(holders[word]), word))] if strict else own
        for other in {other for word in looked_up for other in holders[word]} - {index}:
            theirs = words[other]
            pair = (index, other) if index < other else (other, index)
            if pair in seen or (strict and not own <= theirs):
                continue
            apart = len(own ^ theirs)
            shared = len(own & theirs) + SHARED_LIGHT
            if 2 * shared >= threshold * (2 * shared + apart):
                seen.add(pair)
                yield pair
