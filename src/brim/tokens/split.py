r"""Where text is split into pieces before merging: the published patterns, in Python's own regular expressions.

The patterns are written with Unicode properties (``\p{Lu}``, ``\p{M}``), which ``re`` does not know, and Python's own
idea of them is of another Unicode version. So each character outside ASCII is replaced, one for one, by a stand-in for
its class, the pattern runs over the stand-ins, and the lengths of what it finds cut the real text.

Source of the patterns: ``tiktoken_ext/openai_public.py`` (MIT). They are written here so that no character is ever left
out: the pieces of a text, joined, are the text.
"""

from __future__ import annotations

from brim.tokens.compiled import find_all
from brim.tokens.table import DATA

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

# One stand-in per class, in the order of the numbers in classes.bin: other, upper or title case, lower case, other
# letter, mark, number, white space. All are Latin-1, so that the text of stand-ins takes one byte a character.
STAND_INS = "\x86\x80\x81\x82\x83\x84\x85"

LONG_S = "\x87"
"""Stands for U+017F, the one lower-case letter outside ASCII that a contraction matches without regard to case."""

_ASCII = {
    "letter": "A-Za-z",
    "upper": "A-Z",
    "lower": "a-z",
    "number": "0-9",
    "space": "\t-\r ",
    "s": "sS",
}
_UNICODE = {
    "letter": f"A-Za-z\x80\x81\x82{LONG_S}",
    "upper": "A-Z\x80\x82\x83",
    "lower": f"a-z\x81\x82\x83{LONG_S}",
    "number": "0-9\x84",
    "space": "\t-\r \x85",
    "s": f"sS{LONG_S}",
}

_CONTRACTION = "'(?:[{s}tTmMdD]|[rR][eE]|[vV][eE]|[lL][lL])"

PATTERNS = {
    "o200k_base": "|".join(
        (
            "[^\r\n{letter}{number}]?[{upper}]*[{lower}]+(?:" + _CONTRACTION + ")?",
            "[^\r\n{letter}{number}]?[{upper}]+[{lower}]*(?:" + _CONTRACTION + ")?",
            "[{number}]{{1,3}}",
            " ?[^{space}{letter}{number}]+[\r\n/]*",
            "[{space}]*[\r\n]+",
            "[{space}]+(?![^{space}])",
            "[{space}]+",
        )
    ),
    "cl100k_base": "|".join(
        (
            _CONTRACTION,
            "[^\r\n{letter}{number}]?[{letter}]+",
            "[{number}]{{1,3}}",
            " ?[^{space}{letter}{number}]+[\r\n]*",
            "[{space}]+\\Z",
            "[{space}]*[\r\n]",
            "[{space}]+(?![^{space}])",
            "[{space}]",
        )
    ),
}


def patterns() -> dict[str, str]:
    """Return each pattern for ASCII text and for text of stand-ins."""
    alphabets = {"ascii": _ASCII, "unicode": _UNICODE}
    return {f"{name} {kind}": PATTERNS[name].format_map(alphabets[kind]) for name in PATTERNS for kind in alphabets}


def ascii_splitter(pattern: str) -> Callable[[str], list[str]]:
    """Return the function that splits ASCII text: most text, and the faster way."""
    return find_all(patterns()[f"{pattern} ascii"])


def unicode_splitter(pattern: str) -> Callable[[str], list[str]]:
    """Return the function that splits any text without lone surrogates."""
    findall = find_all(patterns()[f"{pattern} unicode"])
    classes = _Classes()

    def split(text: str) -> list[str]:
        pieces = []
        start = 0
        for length in map(len, findall(text.translate(classes))):
            pieces.append(text[start : start + length])
            start += length
        return pieces

    return split


class _Classes(dict[int, str]):
    """The stand-in of each code point, read from the class pages when it is first met."""

    def __init__(self) -> None:
        with open(f"{DATA}classes.bin", "rb") as file:
            self._pages = file.read()
        self.update({code_point: chr(code_point) for code_point in range(128)})
        self[0x17F] = LONG_S

    def __missing__(self, code_point: int) -> str:
        pages, page = self._pages, 2 * (code_point >> 8)
        number = pages[page] | pages[page + 1] << 8
        stand_in = self[code_point] = STAND_INS[pages[2 * 0x1100 + 256 * number + (code_point & 255)]]
        return stand_in
