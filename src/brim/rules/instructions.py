"""Does a paragraph say what to do? ``data/instruction_words.tsv`` has the words that do."""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise

from brim.files import data_rows

_ABOUT_ITSELF = re.compile(
    r"(?:this|the following|these) (?:file|document|guide|page|rules?|section)\b", re.IGNORECASE
)
_SENTENCE_END = re.compile(r"(?<=[.!?:;。！？])\s+|\n")
_CODE_SPAN = re.compile(r"(?<!`)(`++).*?(?<!`)\1(?!`)")
_LETTERS = re.compile(r"[\w'’-]+")
_FILLERS = ("please", "bitte", "you", "also", "then")


def instructs(text: str) -> bool:
    """Whether *text* says what to do or to avoid.

    >>> instructs("Use UTC for times."), instructs("**IMPORTANT**: always use UTC.")
    (True, True)
    >>> instructs("It has tests.")
    False
    """
    anywhere = _instruction_words("any")
    for sentence in _SENTENCE_END.split(_CODE_SPAN.sub("`", text.lower())):
        words = _LETTERS.findall(sentence)
        pairs = [" ".join(pair) for pair in pairwise(words)]
        if not anywhere.isdisjoint(words) or not anywhere.isdisjoint(pairs):
            return not _ABOUT_ITSELF.match(text)
        starts = [word for word in words if word not in _FILLERS]
        if starts and starts[0] in _instruction_words("start"):
            return True
    return False


@cache
def _instruction_words(place: str) -> frozenset[str]:
    words: set[str] = set()
    for row_place, row in data_rows(__file__, "instruction_words.tsv"):
        if row_place == place:
            words.update([word.replace("_", " ") for word in row.split(" ")])
    return frozenset(words)
