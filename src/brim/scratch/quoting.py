"""Makes text harmless where it is shown: one line where one is due, nothing that steers, tool text as code.

What came from a tool is data. In backticks, with a longer run of them where it holds some itself, it cannot end its
quote, begin a heading or turn the direction of writing.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from re import Pattern

_ESCAPES = (
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?"  # colours and cursor
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c]{0,4096}(?:\x07|\x1b\\|\x9c)?"  # titles, links
    r"|\x1b[ -/]*[0-~]?"
)
_STEERING = (
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c"
    "\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)
"""Controls, marks that turn the direction of writing, and characters that nobody sees."""
_HALVES = "[\ud800-\udfff]"

_patterns: dict[str, Pattern[str]] = {}


def encodable(text: str) -> str:
    """Return *text* without halves of surrogate pairs, which no file can hold."""
    return text if text.isascii() or text.isprintable() else _pattern(_HALVES).sub("\ufffd", text)


def cleaned(text: str) -> str:
    """Return *text* with its lines, without anything that steers a terminal or hides from a reader."""
    return "\n".join(plain_lines(text))


def plain_lines(text: str) -> list[str]:
    """Return the lines of *text*, without anything that steers a terminal or hides from a reader."""
    return [_harmless(line, "") for line in encodable(text).splitlines()]


def one_line(text: str) -> str:
    """Return *text* on one line, words one space apart, without anything that steers or hides."""
    return " ".join(_harmless(" ".join(encodable(text).split()), " ").split())


def shortened(text: str, width: int) -> str:
    """Return *text* in at most *width* characters, with ``…`` where something was cut off."""
    return text if len(text) <= width else text[: max(0, width - 1)].rstrip() + "…" if width > 0 else ""


def begun(text: str, most: int) -> str:
    """Return at most *most* characters of *text*, up to where a word ends: half of a secret cannot be told from a word.

    >>> begun("TOKEN=abc def", 8)
    ''
    >>> begun("run it now", 8)
    'run it '
    """
    if len(text) <= most:
        return text
    while most and text[most - 1] not in " \t\n\"',;|":
        most -= 1
    return text[:most]


def code(text: str, width: int | None = None) -> str:
    """Return *text* on one line as code, in at most *width* characters if that is given (3 or more)."""
    text = one_line(text)
    quoted = _in_backticks(text)
    if width is None or len(quoted) <= width:
        return quoted
    for kept in range(min(len(text), width), 1, -1):
        quoted = _in_backticks(shortened(text, kept))
        if len(quoted) <= width:
            return quoted
    return _in_backticks("…")


def _in_backticks(text: str) -> str:
    fence = "`"
    while fence in text:
        fence += "`"
    space = " " if not text or text[0] == "`" or text[-1] == "`" else ""
    return f"{fence}{space}{text}{space}{fence}"


def _harmless(line: str, instead: str) -> str:
    """Return *line* without escapes, and with *instead* for each sign that steers or hides."""
    # Every such sign counts as not printable: most lines have none, and then nothing need be compiled.
    if line.replace("\t", "").isprintable():
        return line
    return _pattern(_STEERING).sub(instead, _pattern(_ESCAPES).sub("", line))


def _pattern(text: str) -> Pattern[str]:
    if text not in _patterns:
        import re

        _patterns[text] = re.compile(text)
    return _patterns[text]
