"""Where a text may be cut without breaking what people see as one character."""

from __future__ import annotations

from unicodedata import category, combining

_ZWJ = "\u200d"
_VIRAMA = 9
"""The combining class of the sign that ties two consonants of an Indic script together."""


def is_border(text: str, at: int) -> bool:
    """Whether *text* may be cut before the character at *at*: no mark, joined emoji, flag or syllable is broken.

    >>> is_border("cafe\\u0301s", 4), is_border("cafe\\u0301s", 5)
    (False, True)
    """
    if at <= 0 or at >= len(text):
        return True
    before, after = text[at - 1], text[at]
    if before.isascii() and after.isascii():
        return True
    code, last = ord(after), ord(before)
    if (
        _ZWJ in (before, after)
        or category(after)[0] == "M"
        or combining(before) == _VIRAMA
        or 0x1F3FB <= code <= 0x1F3FF  # skin tones
        or 0xE0020 <= code <= 0xE007F  # tags of flags
        or (0xDC00 <= code <= 0xDFFF and 0xD800 <= last <= 0xDBFF)  # two surrogates
    ):
        return False
    if _is_flag_letter(code) and _is_flag_letter(last):
        return _flag_letters_before(text, at) % 2 == 0
    return not _joins_hangul(last, code)


def border_at_or_before(text: str, at: int) -> int:
    """Return the last place up to *at* where *text* may be cut; 0 if its first character is longer than that."""
    while not is_border(text, at):
        at -= 1
    return at


def border_at_or_after(text: str, at: int) -> int:
    """Return the first place from *at* on where *text* may be cut."""
    while not is_border(text, at):
        at += 1
    return at


def _is_flag_letter(code: int) -> bool:
    return 0x1F1E6 <= code <= 0x1F1FF


def _flag_letters_before(text: str, at: int) -> int:
    start = at
    while start > 0 and _is_flag_letter(ord(text[start - 1])):
        start -= 1
    return at - start


def _joins_hangul(last: int, code: int) -> bool:
    """Whether two letters of Korean, written apart, are of one syllable."""
    first = 0x1100 <= last <= 0x115F
    vowel = 0x1160 <= last <= 0x11A7 or (0xAC00 <= last <= 0xD7A3 and (last - 0xAC00) % 28 == 0)
    final = 0x11A8 <= last <= 0x11FF or 0xAC00 <= last <= 0xD7A3
    if 0x1160 <= code <= 0x11A7:
        return first or vowel
    return (0x11A8 <= code <= 0x11FF and (vowel or final)) or (0x1100 <= code <= 0x115F and first)
