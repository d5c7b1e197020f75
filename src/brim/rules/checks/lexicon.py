"""The words of rules in five languages: which word says which concept.

``data/words.tsv`` has them. A word may say several things, *leave* for example; the other words of
the sentence decide.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from itertools import product

from brim.files import data_rows

LANGUAGES = ("en", "de", "fr", "es", "pt")
ANY_LANGUAGE = "*"
STEM = "~"
"""What a word of the table ends with if any ending may follow."""

_CLEAR_STEM = 5
"""Letters of a stem that no other word begins with."""
_INSIDE_WORDS = re.compile(r"[-'’‑]")


def plain(text: str) -> str:
    """Return *text* in small letters and without accents.

    >>> plain("Não à Größe")
    'nao a grosse'
    """
    letters = unicodedata.normalize("NFD", text.lower().replace("ß", "ss"))
    return "".join([letter for letter in letters if not unicodedata.combining(letter)])


def word_parts(word: str) -> list[str]:
    """Return the plain parts of *word*: hyphens and apostrophes are spaces, but not in an option.

    >>> word_parts("Pre-Commit-Hooks"), word_parts("N'utilise"), word_parts("--no-verify")
    (['pre', 'commit', 'hooks'], ['n', 'utilise'], ['--no-verify'])
    """
    folded = plain(word)
    if folded.startswith("-"):
        return [folded]
    return [part for part in _INSIDE_WORDS.split(folded) if part]


def phrase_parts(phrase: str) -> tuple[str, ...]:
    """Return the plain parts of all words of *phrase*."""
    parts: list[str] = []
    for word in phrase.split():
        parts += word_parts(word)
    return tuple(parts)


def spellings_of(phrase: str) -> list[str]:
    """Return what *phrase* stands for: alternatives have ``|`` between them, also with nothing.

    >>> spellings_of("hand the_work| back")
    ['hand the work back', 'hand back']
    """
    if "|" not in phrase:
        return [phrase]
    choices = [word.split("|") for word in phrase.split(" ")]
    spellings = [" ".join(filter(None, words)) for words in product(*choices)]
    return [spelling.replace("_", " ") for spelling in spellings]


class Lexicon:
    """The phrases of one language, by how they begin."""

    def __init__(self, language: str) -> None:
        self._by_word: dict[str, list[tuple[tuple[str, ...], str]]] = {}
        self._by_stem: dict[str, list[tuple[tuple[str, ...], str]]] = {}
        self._endings = frozenset[str]()
        for row_language, concept, phrases in data_rows(__file__, "words.tsv"):
            if row_language not in (ANY_LANGUAGE, language):
                continue
            words = plain(phrases).split(", ")
            if concept == "ENDINGS":
                self._endings = frozenset(words)
                continue
            for phrase in words:
                for spelling in spellings_of(phrase):
                    self._add(phrase_parts(spelling), concept)

    def _add(self, parts: tuple[str, ...], concept: str) -> None:
        first = parts[0]
        if first.endswith(STEM):
            self._by_stem.setdefault(first[:2], []).append((parts, concept))
        else:
            self._by_word.setdefault(first, []).append((parts, concept))

    def match(self, parts: list[str], start: int = 0) -> tuple[int, frozenset[str]]:
        """Return how many of *parts* the longest phrase at *start* takes, and what it says."""
        longest = 0
        concepts: set[str] = set()
        first = parts[start]
        for phrase, concept in (*self._by_word.get(first, ()), *self._by_stem.get(first[:2], ())):
            length = len(phrase)
            if length < longest or not self._begins_with(parts, start, phrase):
                continue
            if length > longest:
                longest = length
                concepts = set()
            concepts.add(concept)
        return longest, frozenset(concepts)

    def _begins_with(self, parts: list[str], start: int, phrase: tuple[str, ...]) -> bool:
        """Whether *parts* have all words of *phrase* from *start* on."""
        if start + len(phrase) > len(parts):
            return False
        pairs = zip(parts[start:], phrase, strict=False)
        return all(self._is_form(part, word) for part, word in pairs)

    def _is_form(self, part: str, word: str) -> bool:
        """Whether *part* is *word*, or a form of it if it's a stem."""
        if not word.endswith(STEM):
            return part == word
        stem = word.removesuffix(STEM)
        if len(stem) >= _CLEAR_STEM:
            return part.startswith(stem)
        return part == stem or (part.startswith(stem) and part[len(stem) :] in self._endings)


@cache
def lexicon_of(language: str) -> Lexicon:
    """Return the lexicon of *language*."""
    return Lexicon(language)


@cache
def words_of(name: str) -> frozenset[str]:
    """Return the words of the small list *name*."""
    for list_name, words in data_rows(__file__, "closed_words.tsv"):
        if list_name == name:
            return frozenset(words.split())
    raise KeyError(name)
