"""Does a rule leave a choice? ``data/must_words.tsv`` has the words that don't."""

from __future__ import annotations

import re
from functools import cache

from brim.files import data_rows


def contains_must(text: str) -> bool:
    """Whether *text* has a word that makes a rule a must."""
    lower = text.lower()
    if _words().search(lower):
        return True
    return any(phrase in lower for phrase in _phrases("anywhere"))


@cache
def _words() -> re.Pattern[str]:
    escaped = [re.escape(phrase) for phrase in _phrases("word")]
    return re.compile(rf"(?<!\w)(?:{'|'.join(escaped)})(?!\w)")


@cache
def _phrases(place: str) -> tuple[str, ...]:
    phrases: list[str] = []
    for row_place, row in data_rows(__file__, "must_words.tsv"):
        if row_place == place:
            phrases += row.split(", ")
    return tuple(phrases)
