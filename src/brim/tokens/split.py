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
    from collections.abc import Callable, Iterator

    from brim.tokens.compiled import FindAll

    Splitter = Callable[[str], Iterator[list[str]]]

WINDOW = 1 << 16
"""Characters that are split at a time."""

HELD_BACK = 8
"""Pieces at the end of a window that are split again with the next."""

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


def ascii_splitter(pattern: str, window: int = WINDOW) -> Splitter:
    """Return the function that splits ASCII text: most text, and the faster way."""
    find = find_all(patterns()[f"{pattern} ascii"])

    def split(text: str) -> Iterator[list[str]]:
        return _windows(find, text, window)

    return split


def unicode_splitter(pattern: str, window: int = WINDOW) -> Splitter:
    """Return the function that splits any text without lone surrogates."""
    find = find_all(patterns()[f"{pattern} unicode"])
    classes = _Classes()

    def split(text: str) -> Iterator[list[str]]:
        start = 0
        for found in _windows(find, text.translate(classes), window):
            pieces = []
            for length in map(len, found):
                pieces.append(text[start : start + length])
                start += length
            yield pieces

    return split


def _windows(find: FindAll, text: str, window: int) -> Iterator[list[str]]:
    """Yield the pieces of *text*, a window at a time, so that a long text does not become one long list.

    Where a window ends, pieces may differ from those of the whole text: the last one goes on, and what it turns into
    can change one or two before it (``ABC中DEF`` is two pieces, ``ABC中DEFg`` is one). So the last few are split again.
    """
    start, size = 0, window
    while start + size < len(text):
        pieces = find(text, start, start + size)[:-HELD_BACK]
        if pieces:
            yield pieces
            start += sum(map(len, pieces))
            size = window
        else:
            size *= 16
    yield find(text, start, len(text))


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
