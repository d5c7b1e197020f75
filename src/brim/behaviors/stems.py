"""The form in which a word meets its other forms: one small stemmer per language.

English has rules of its own; German, French, Spanish and Portuguese cut off endings (``data/endings.tsv``). In any
other language, and in other scripts, a word is taken as its runs of four letters. A stemmer is small on purpose: it
has to bring the forms of one word together, not to find its root.
"""

from __future__ import annotations

from functools import cache, lru_cache

from brim.files import data_map, data_rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

GRAM = 4
"""Letters of the runs that words without a stemmer are taken apart into."""

LEAST = 2
"""Function words that it takes to tell a language from English."""

_VOWELS = frozenset("aeiouy")


def language_spoken(words: Iterable[str]) -> str:
    """Return the language that *words*, in lower case, are of, by its function words; ``en`` if they don't say.

    >>> language_spoken("vor jedem commit die tests ausführen".split()), language_spoken(["pytest"])
    ('de', 'en')
    """
    known = _function_words()
    points: dict[str, int] = {}
    for word in words:
        for language in known.get(word, ()):
            points[language] = points.get(language, 0) + 1
    best = max(points, key=lambda language: (points[language], language == "en"), default="en")
    return best if points.get(best, 0) >= LEAST else "en"


def stems(word: str, language: str) -> list[str]:
    """Return what *word*, in lower case, is found by in a text of *language*: its stem, or runs of letters.

    >>> stems("prüfungen", "de"), stems("tests", "en"), stems("тестами", "en")
    (['pruf'], ['test'], ['тест', 'еста', 'стам', 'тами'])
    """
    if language == "en" or not word.isalpha():
        if word.isascii() or not word.isalpha():
            return [stem(word)]
        folded = _plain(word)
        return [stem(folded)] if folded.isascii() else grams(word)
    if language in _endings():
        folded = _plain(word)
        return [_cut(folded, language)] if folded.isascii() else grams(word)
    return [stem(word), *grams(word)] if word.isascii() else grams(word)


def grams(word: str) -> list[str]:
    """Return the runs of four letters in *word*; a shorter word is its own."""
    return list(dict.fromkeys(word[at : at + GRAM] for at in range(max(1, len(word) - GRAM + 1))))


@lru_cache(maxsize=4_096)
def stem(word: str) -> str:
    """Return the form in which the English *word*, in lower case, meets its other forms.

    >>> [stem(word) for word in ("testing", "tests", "policies", "migrations", "migrate", "string", "uv")]
    ['test', 'test', 'policy', 'migr', 'migr', 'string', 'uv']
    """
    known = data_map(__file__, "stems.tsv")
    if word in known or not word.isascii() or not word.isalpha():
        return known.get(word, word)
    root = _singular(word)
    for ending in ("ing", "ed"):
        if root.endswith(ending) and not root.endswith("eed") and _stands(root[: -len(ending)]):
            root = root[: -len(ending)]
            root = root[:-1] if root[-1] == root[-2] and root[-1] not in "lsz" else root
            break
    if root in known:
        return known[root]
    if len(root) > 3 and root[-1] == "e" and root[-2] != "e":
        root = root[:-2] + "y" if root.endswith("ie") else root[:-1]
    for ending in ("ation", "at", "ion"):
        rest = root.removesuffix(ending)
        if rest != root and _stands(rest) and (ending != "ion" or rest[-1] in "st"):
            root = rest
            break
    return root[:-1] if len(root) > 5 and root.endswith("ll") else root


def _singular(word: str) -> str:
    if len(word) < 4 or word[-1] != "s" or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies"):
        return word[:-3] + "y"
    return word[:-2] if word.endswith(("sses", "ches", "shes", "xes", "zzes")) else word[:-1]


def _stands(rest: str) -> bool:
    """Whether *rest* can be a word without its ending."""
    return len(rest) > 2 and not _VOWELS.isdisjoint(rest)


def _cut(word: str, language: str) -> str:
    """Return *word*, without accents, without the longest ending of *language* that leaves enough of it."""
    least, endings = _endings()[language]
    known = data_map(__file__, "stems.tsv")
    if word in known:
        return known[word]
    for ending, instead in endings:
        if len(word) - len(ending) >= least and word.endswith(ending):
            return word[: -len(ending)] + instead
    return word


def _plain(word: str) -> str:
    """Return *word* without accents: ``für`` is ``fur``, ``groß`` is ``gross``."""
    if word.isascii():
        return word
    from unicodedata import normalize

    return "".join([letter for letter in normalize("NFD", word) if not "\u0300" <= letter < "\u0370"])


@cache
def _endings() -> dict[str, tuple[int, list[tuple[str, str]]]]:
    """Return by language how much must stay, and the endings with what takes their place, longest first."""
    found = {}
    for language, least, written in data_rows(__file__, "endings.tsv"):
        pairs = [(ending, instead) for ending, _, instead in (each.partition(">") for each in written.split())]
        found[language] = (int(least), sorted(dict(pairs).items(), key=lambda pair: (-len(pair[0]), pair[0])))
    return found


@cache
def _function_words() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for language, words in data_rows(__file__, "function_words.tsv"):
        for word in words.replace("'", "").split():
            found.setdefault(word, []).append(language)
    return found
