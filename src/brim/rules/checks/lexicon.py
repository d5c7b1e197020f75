"""The small parts of rules in five languages: which phrase says which concept.

``data/phrases.tsv`` has them. A phrase may say several things, *leave* for example; the other words
of the sentence decide.
"""

from __future__ import annotations

import re
from functools import cache

from brim.files import data_rows

LANGUAGES = ("en", "de", "fr", "es", "pt")
ANY_LANGUAGE = "*"

_PLAIN_START = re.compile(r"[^\W_]")
_APOSTROPHE = re.compile(r"(?i)\b(n|d|l|qu|j|s|m|t|c)['’](?=\w)")


class Lexicon:
    """The phrases of one language, found by their first letter."""

    def __init__(self, language: str) -> None:
        self._by_letter: dict[str, list[tuple[str, re.Pattern[str]]]] = {}
        self._other: list[tuple[str, re.Pattern[str]]] = []
        for row_language, concept, phrases in data_rows(__file__, "phrases.tsv"):
            if row_language in (ANY_LANGUAGE, language):
                for phrase in phrases.split(" | "):
                    self._add(concept, phrase.strip())

    def _add(self, concept: str, phrase: str) -> None:
        spaced = phrase.replace(" ?", r"\s*").replace(" ", r"\s+")
        flags = re.IGNORECASE
        if concept == "PYTHON":  # the language; the program has a small letter
            flags = re.NOFLAG
        entry = (concept, re.compile(rf"(?:{spaced})(?!\w)", flags))
        first = phrase[:1].lower()
        if _PLAIN_START.match(first) and phrase[1:2] not in ("?", "*"):
            self._by_letter.setdefault(first, []).append(entry)
        else:
            self._other.append(entry)

    def match(self, text: str, start: int) -> tuple[int, frozenset[str]]:
        """Return where the longest phrase at *start* ends, and what it says; *start* if there is
        none."""
        longest = start
        concepts: set[str] = set()
        entries = [*self._by_letter.get(text[start].lower(), ()), *self._other]
        for concept, expression in entries:
            match = expression.match(text, start)
            if match is None or match.end() < longest or match.end() == start:
                continue
            if match.end() > longest:
                longest = match.end()
                concepts = set()
            concepts.add(concept)
        return longest, frozenset(concepts)


@cache
def lexicon_of(language: str) -> Lexicon:
    """Return the lexicon of *language*."""
    return Lexicon(language)


def with_spaces(text: str, language: str) -> str:
    """Return *text* with French *n'utilise* as two words."""
    plain = text.replace("’", "'")
    if language == "fr":
        return _APOSTROPHE.sub(r"\1' ", plain)
    return plain
