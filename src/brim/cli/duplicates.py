"""Which of many behaviors say the same as another. Only pairs that share a telling word are compared closely."""

from __future__ import annotations

from collections import namedtuple

from brim.behaviors.meaning import Meaning
from brim.behaviors.similarity import normalized, similarity

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from brim.behaviors.behavior import Behavior

Pair = namedtuple("Pair", ("one", "other", "similarity"))
"""Two behaviors, and how alike they are."""

TELLING = 3
"""How many of its rarest words a text is looked up by, or half of them if that is more: what is alike shares one."""


def near_pairs(behaviors: Iterable[Behavior], threshold: float) -> list[Pair]:
    """Return the pairs that are alike from *threshold* on, the most alike first."""
    ordered = sorted(behaviors, key=lambda behavior: behavior.id)
    words = [_words(behavior.canonical) for behavior in ordered]
    holders: dict[str, list[int]] = {}
    for index, own in enumerate(words):
        for word in own:
            holders.setdefault(word, []).append(index)
    found = []
    for index, own in enumerate(words):
        rarest = sorted(own, key=lambda word: (len(holders[word]), word))[: max(TELLING, len(own) // 2)]
        for earlier in sorted({other for word in rarest for other in holders[word] if other < index}):
            if 2 * len(own & words[earlier]) < threshold * min(len(own), len(words[earlier])):
                continue
            alike = similarity(ordered[earlier].canonical, ordered[index].canonical)
            if alike >= threshold:
                found.append(Pair(ordered[earlier], ordered[index], alike))
    return sorted(found, key=lambda pair: (-pair.similarity, pair.one.id, pair.other.id))


def _words(text: str) -> frozenset[str]:
    """Return the content words of *text*, and the text itself: what has no words is still the same as itself."""
    return frozenset((*Meaning(text).words, f"= {normalized(text)}"))
