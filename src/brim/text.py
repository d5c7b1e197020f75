"""Texts that anyone may have written: cut without breaking a character, folded to one line."""

from __future__ import annotations

import re
from unicodedata import category, combining

LONGEST_LINE = 200
"""Characters of a folded text. A client takes everything after ``/compact`` as its focus."""

_ZERO_WIDTH_JOINER = "\u200d"
_FLAG_LETTERS = "".join(map(chr, range(0x1F1E6, 0x1F200)))
_VIRAMA = 9
"""The combining class of the sign that ties two consonants of an Indic script together."""

_UNREADABLE = frozenset(("Cc", "Cf", "Cs"))
"""Characters that aren't read: controls, marks that turn the direction of writing, surrogates."""
_ESCAPES = r"\x1b\[[0-?]*[ -/]*[@-~]"
"""What colours a terminal, moves its cursor or clears it."""
_JOINERS = "\u200c\u200d"


def is_border(text: str, at: int) -> bool:
    """Whether *text* may be cut before the character at *at*.

    No mark, joined emoji, flag or syllable is broken.

    >>> is_border("cafe\\u0301s", 4), is_border("cafe\\u0301s", 5)
    (False, True)
    """
    if at <= 0 or at >= len(text):
        return True
    before = text[at - 1]
    after = text[at]
    if before.isascii() and after.isascii():
        return True
    if _is_joined(before, after):
        return False
    if after in _FLAG_LETTERS and before in _FLAG_LETTERS:
        return (at - len(text[:at].rstrip(_FLAG_LETTERS))) % 2 == 0
    return not _is_hangul_syllable(ord(before), ord(after))


def border_at_or_before(text: str, at: int) -> int:
    """Return the last place up to *at* where *text* may be cut.

    It's 0 if the first character is longer than that.
    """
    while not is_border(text, at):
        at -= 1
    return max(at, 0)


def border_at_or_after(text: str, at: int) -> int:
    """Return the first place from *at* on where *text* may be cut."""
    while not is_border(text, at):
        at += 1
    return at


def fold(text: str, longest: int = LONGEST_LINE) -> str:
    """Return *text* as one line of at most *longest* characters.

    A longer text is cut at a word, with ``…``.

    >>> fold("fix\\n  the\\tparser\\x1b[2J")
    'fix the parser'
    """
    if not isinstance(text, str):
        return ""
    line = one_line(text)
    if len(line) <= longest:
        return line
    beginning = line[: border_at_or_before(line, longest - 1)]
    words = beginning
    if line[len(beginning)] != " ":
        words = beginning.rpartition(" ")[0]
    if len(words) < longest // 2:
        words = beginning
    return f"{words.rstrip()}…"


def one_line(text: str) -> str:
    """Return *text* on one line, without characters that aren't read."""
    if "\x1b" in text:
        text = re.sub(_ESCAPES, "", text)
    text = " ".join(text.split())
    if text.isprintable():
        return text
    return " ".join("".join(filter(_is_readable, text)).split())


def _is_readable(letter: str) -> bool:
    return letter in _JOINERS or category(letter) not in _UNREADABLE


def _is_joined(before: str, after: str) -> bool:
    """Whether *after* belongs to the same character as *before*."""
    if _ZERO_WIDTH_JOINER in (before, after):
        return True
    if category(after)[0] == "M" or combining(before) == _VIRAMA:
        return True
    code = ord(after)
    is_skin_tone = 0x1F3FB <= code <= 0x1F3FF
    is_tag_of_flag = 0xE0020 <= code <= 0xE007F
    is_surrogate_pair = 0xDC00 <= code <= 0xDFFF and 0xD800 <= ord(before) <= 0xDBFF
    return is_skin_tone or is_tag_of_flag or is_surrogate_pair


def _is_hangul_syllable(last: int, code: int) -> bool:
    """Whether two letters of Korean, written apart, are of one syllable."""
    is_first = 0x1100 <= last <= 0x115F
    is_open_syllable = 0xAC00 <= last <= 0xD7A3 and (last - 0xAC00) % 28 == 0
    is_vowel = 0x1160 <= last <= 0x11A7 or is_open_syllable
    is_final = 0x11A8 <= last <= 0x11FF or 0xAC00 <= last <= 0xD7A3
    if 0x1160 <= code <= 0x11A7:
        return is_first or is_vowel
    if 0x11A8 <= code <= 0x11FF:
        return is_vowel or is_final
    return 0x1100 <= code <= 0x115F and is_first
