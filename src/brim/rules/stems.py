"""The stems by which a situation and a rule find each other.

The stemmer is small on purpose: it brings the forms of one word together and doesn't look for its
root. A larger one found no more of the needed rules.
"""

from __future__ import annotations

import re
from functools import cache

from brim.files import data_lines

_WORD = re.compile(r"[^\W_]+")
_HUMP = r"(?<=[a-z0-9])(?=[A-Z])"
_UNSPACED = (
    r"[\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u2e80-\u9fff\ua960-\ua97f"
    r"\uac00-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff]+"
)
"""Scripts written without spaces, and Korean, whose particles stick to their words. Compiled at the
first word that isn't ASCII: that takes a hook a millisecond."""
_ENDINGS = ("ingly", "ment", "ing", "ion", "ed", "er")
_VOWELS = frozenset("aeiouy")


def words_of(text: str) -> list[str]:
    """Return the words of *text* in order, in lower case; names in code are taken apart too.

    >>> words_of("Fix parseHeader in src/http_client.py")
    ['fix', 'parse', 'header', 'in', 'src', 'http', 'client', 'py']
    >>> words_of("运行测试")
    ['运行', '行测', '测试']
    """
    words: list[str] = []
    for match in _WORD.finditer(text):
        word = match[0]
        if word.isascii():
            if word.islower():
                words.append(word)
            else:
                words += re.sub(_HUMP, " ", word).lower().split()
        else:
            words += _by_script(word.lower())
    return words


def _by_script(word: str) -> list[str]:
    """Return *word* with its parts in scripts without spaces as pairs of characters."""
    parts: list[str] = []
    end = 0
    for match in re.finditer(_UNSPACED, word):
        if match.start() > end:
            parts.append(word[end : match.start()])
        run = match[0]
        parts += [run[at : at + 2] for at in range(max(1, len(run) - 1))]
        end = match.end()
    if end < len(word):
        parts.append(word[end:])
    return parts


def is_unspaced(character: str) -> bool:
    """Whether *character* is a letter of a script that is written without spaces, or of Korean."""
    if character < "\u0e00" or not character.isalnum():
        return False
    return re.match(_UNSPACED, character) is not None


def stems_of(text: str) -> list[str]:
    """Return the stems of *text* in order, without words that are in every text, letters and
    numbers.

    >>> stems_of("Please run all of the migrations and tests")
    ['migrat', 'test']
    """
    ignored = _ignored()
    stems: list[str] = []
    for word in words_of(text):
        if word in ignored or word.isdecimal() or (len(word) == 1 and word.isascii()):
            continue
        stems.append(stem(word))
    return stems


@cache
def stem(word: str) -> str:
    """Return the form in which *word*, in lower case, meets its other forms.

    >>> [stem(word) for word in ("testing", "tests", "policies", "migrations", "migrate", "string")]
    ['test', 'test', 'polici', 'migrat', 'migrat', 'string']
    """
    if len(word) < 4:
        return word
    root = word
    if root.endswith("s") and not root.endswith(("ss", "us", "is")):
        root = root[:-1]
    for ending in _ENDINGS:
        shorter = root.removesuffix(ending)
        if shorter != root and len(shorter) > 2 and not _VOWELS.isdisjoint(shorter):
            root = shorter
            break
    if len(root) > 3 and root[-1] == root[-2] and root[-1] not in "lsz":
        root = root[:-1]
    if root.endswith("ie"):
        return root[:-1]
    if len(root) > 3 and root[-1] == "y":
        return f"{root[:-1]}i"
    if len(root) > 3:
        return root.removesuffix("e")
    return root


@cache
def _ignored() -> frozenset[str]:
    lines = data_lines(__file__, "ignored_words.txt")
    return frozenset([word for line in lines for word in line.split()])
