"""The words of a text that can say what it is about: lower-case stems, without stop words.

Which form a word has is up to ``stems``. Scripts that are written without spaces, and Korean, whose particles stick to
their words, are taken as pairs of neighbouring characters.
"""

from __future__ import annotations

from functools import cache

from brim.behaviors.stems import language_spoken, stems
from brim.files import data_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

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
    """Return the stems of the words of *text*, without stop words, single letters and plain numbers.

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
        found = {word: [each for each in stems(word, "en") if each not in stop] for word in set(words)}
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
    """Return the words of all of *text* in order, lower-case, as written: stop words and numbers too.

    >>> tokens("Don't mix C++ and 使用uv安装 v1.2")
    ['dont', 'mix', 'cpp', 'and', '使用', 'uv', '安装', 'v1', '2']
    """
    folded = _folded(text)
    for written, spoken in (("c++", "cpp"), ("c#", "csharp"), ("f#", "fsharp")):
        if written in folded:
            import re  # rarely needed

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
    from unicodedata import category

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
    """Return *text* in lower case, with one spelling for each letter, and without apostrophes inside words."""
    if text.isascii():
        return text.lower().replace("'", "")
    from unicodedata import normalize

    return normalize("NFKC", normalize("NFKC", text).casefold()).replace("'", "").replace("’", "")


class Spaces(dict[int, int]):
    """For ``str.translate``: letters, digits and marks stay, everything else that isn't in it becomes a space."""

    def __missing__(self, code: int) -> int:
        kept = chr(code).isalnum() or is_mark(chr(code))
        result = self[code] = code if kept else 0x20
        return result


_spaces = Spaces()


def _by_script(word: str) -> list[str]:
    """Return the parts of *word*: spaced scripts whole, the others as pairs of neighbouring characters."""
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
    """Whether *character* is of a script without spaces; None for a mark, which belongs to what is before it."""
    return None if is_mark(character) else any(low <= ord(character) <= high for low, high in _UNSPACED)
