"""The words of a text that can say what it is about: lower-case stems, without stop words.

Scripts that are written without spaces, and Korean, whose particles stick to their words, are taken
as pairs of neighbouring characters.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache, lru_cache
from unicodedata import category, normalize

from brim.files import data_lines, data_map, data_rows

HEAD = 16_000
"""Characters at the start of a long text that are looked at."""
TAIL = 4_000
"""Characters at its end that are. What is pasted between them is not what it is about."""

_UNSPACED = (
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x1000, 0x109F),  # Burmese
    (0x1100, 0x11FF),  # Hangul letters
    (0x1780, 0x17FF),  # Khmer
    (0x2E80, 0x2FDF),  # Han radicals
    (0x3005, 0x3007),  # Han iteration marks
    (0x3040, 0x31FF),  # Hiragana, Katakana, Bopomofo
    (0x3400, 0x9FFF),  # Han
    (0xA960, 0xA97F),  # Hangul letters
    (0xAC00, 0xD7FF),  # Hangul
    (0xF900, 0xFAFF),  # Han, compatibility
    (0x20000, 0x3FFFF),  # Han, further planes
)


def words_of(text: str) -> frozenset[str]:
    """Return the stems of the words of *text*, without stop words, single letters and plain
    numbers.

    Of a text of more than 20,000 characters the first 16,000 and the last 4,000 are looked at.

    >>> sorted(words_of("Please use this file to install the dependencies with uv"))
    ['dependency', 'instal', 'uv']
    """
    return frozenset(stems_of(text))


def stems_of(text: str) -> list[str]:
    """Return the stems of ``words_of``, each as often as it stands in *text*."""
    words = tokens(looked_at(text))
    language = language_spoken(words)
    if language == "en":
        stop = word_list("stop_stems.txt")
        found = {
            word: [each for each in stems(word, "en") if each not in stop] for word in set(words)
        }
    else:
        stop = word_list("stopwords.txt")
        found = {word: [] if word in stop else stems(word, language) for word in set(words)}
    return [each for word in words if not _says_nothing(word) for each in found[word]]


def behavior_words(name: str, tags: Iterable[str]) -> frozenset[str]:
    """Return the stems by which a behavior with this *name* and these *tags* is found.

    >>> sorted(behavior_words("use-uv", ("python", "packaging")))
    ['packag', 'python', 'uv']
    """
    return words_of(" ".join((name, *tags)))


def looked_at(text: str) -> str:
    """Return the part of *text* that is looked at: all of it, or its head and its tail."""
    return text if len(text) <= HEAD + TAIL else text[:HEAD] + "\n" + text[-TAIL:]


def tokens(text: str) -> list[str]:
    """Return the words of all of *text* in order, lower-case, as written: stop words and numbers
    too.

    >>> tokens("Don't mix C++ and 使用uv安装 v1.2")
    ['dont', 'mix', 'cpp', 'and', '使用', 'uv', '安装', 'v1', '2']
    """
    folded = _folded(text)
    for written, spoken in (("c++", "cpp"), ("c#", "csharp"), ("f#", "fsharp")):
        if written in folded:
            # As a word of its own: `vec++` is none.
            folded = re.sub(rf"(?<![^\W_]){re.escape(written)}(?![^\W_])", spoken, folded)
    found: list[str] = []
    for word in folded.translate(_spaces).split():
        if word.isascii():
            found.append(word)
        else:
            found.extend(_by_script(word))
    return found


def is_mark(character: str) -> bool:
    """Whether *character* is an accent or vowel sign, which belongs to what is before it."""
    if character < "\u0300":
        return False

    return category(character)[0] == "M"


def is_unspaced(character: str) -> bool:
    """Whether *character* is of a script that is written without spaces, or of Korean."""
    return character >= "\u0e00" and bool(_unspaced(character))


@cache
def word_list(name: str) -> frozenset[str]:
    """Return the words of ``data/<name>``, which are separated by any white space."""
    return frozenset([word for line in data_lines(__file__, name) for word in line.split()])


def _says_nothing(word: str) -> bool:
    return word.isdecimal() or (len(word) == 1 and word.isascii())


def _folded(text: str) -> str:
    """Return *text* in lower case, with one spelling for each letter, and without apostrophes
    inside words."""
    if text.isascii():
        return text.lower().replace("'", "")

    return normalize("NFKC", normalize("NFKC", text).casefold()).replace("'", "").replace("’", "")


class Spaces(dict[int, int]):
    """For ``str.translate``: letters, digits and marks stay, everything else that isn't in it
    becomes a space."""

    def __missing__(self, code: int) -> int:
        kept = chr(code).isalnum() or is_mark(chr(code))
        result = self[code] = code if kept else 0x20
        return result


_spaces = Spaces()


def _by_script(word: str) -> list[str]:
    """Return the parts of *word*: spaced scripts whole, the others as pairs of neighbouring
    characters."""
    parts: list[str] = []
    start = 0
    unspaced = _unspaced(word[0]) or False
    for at, character in enumerate(word):
        here = _unspaced(character)
        if here is not None and here is not unspaced:
            parts += _cut(word[start:at], unspaced)
            start, unspaced = at, here
    return parts + _cut(word[start:], unspaced)


def _cut(part: str, unspaced: bool) -> list[str]:
    return [part[at : at + 2] for at in range(max(1, len(part) - 1))] if unspaced else [part]


@cache
def _unspaced(character: str) -> bool | None:
    """Whether *character* is of a script without spaces; None for a mark, which belongs to what is
    before it."""
    return (
        None
        if is_mark(character)
        else any(low <= ord(character) <= high for low, high in _UNSPACED)
    )


# Stems: the form in which a word meets its other forms, by one small stemmer per language.
#
# English has rules of its own; German, French, Spanish and Portuguese cut off endings
# (``data/endings.tsv``). In any other language, and in other scripts, a word is taken as its runs
# of four letters. A stemmer is small on purpose: it has to bring the forms of one word together,
# not to find its root.

GRAM = 4
"""Letters of the runs that words without a stemmer are taken apart into."""

LEAST = 2
"""Function words that it takes to tell a language from English."""

_VOWELS = frozenset("aeiouy")


def language_spoken(words: Iterable[str]) -> str:
    """Return the language that *words*, in lower case, are of, by its function words; ``en`` if
    they don't say.

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
    """Return what *word*, in lower case, is found by in a text of *language*: its stem, or runs of
    letters.

    >>> stems("prüfungen", "de"), stems("tests", "en"), stems("тестами", "en")
    (['pruf'], ['test'], ['тест', 'еста', 'стам', 'тами'])
    """
    if language == "en" or not word.isalpha():
        if word.isascii() or not word.isalpha():
            return [stem(word)]
        folded = _without_accents(word)
        return [stem(folded)] if folded.isascii() else grams(word)
    if language in _endings():
        folded = _without_accents(word)
        return [_without_ending(folded, language)] if folded.isascii() else grams(word)
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


def _without_ending(word: str, language: str) -> str:
    """Return *word*, without accents, without the longest ending of *language* that leaves enough
    of it."""
    least, endings = _endings()[language]
    known = data_map(__file__, "stems.tsv")
    if word in known:
        return known[word]
    for ending, instead in endings:
        if len(word) - len(ending) >= least and word.endswith(ending):
            return word[: -len(ending)] + instead
    return word


def _without_accents(word: str) -> str:
    """Return *word* without accents: ``für`` is ``fur``, ``groß`` is ``gross``."""
    if word.isascii():
        return word

    return "".join(
        [letter for letter in normalize("NFD", word) if not "\u0300" <= letter < "\u0370"]
    )


@cache
def _endings() -> dict[str, tuple[int, list[tuple[str, str]]]]:
    """Return by language how much must stay, and the endings with what takes their place, longest
    first."""
    found = {}
    for language, least, written in data_rows(__file__, "endings.tsv"):
        pairs = [
            (ending, instead)
            for ending, _, instead in (each.partition(">") for each in written.split())
        ]
        found[language] = (
            int(least),
            sorted(dict(pairs).items(), key=lambda pair: (-len(pair[0]), pair[0])),
        )
    return found


@cache
def _function_words() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for language, words in data_rows(__file__, "function_words.tsv"):
        for word in words.replace("'", "").split():
            found.setdefault(word, []).append(language)
    return found
