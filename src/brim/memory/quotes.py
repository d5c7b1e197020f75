"""Text made harmless: one line where one is due, nothing that steers, tool text as code, no
secrets.

What came from a tool is data. In backticks, with a longer run of them where it holds some itself,
it can't end its quote, begin a heading or turn the direction of writing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from re import Pattern

from brim.files import data_lines, data_rows
from brim.masking import mask

LONGEST = 2_000
"""The most characters of a masked line. The index shows less, the detail files all of them."""
_CLIP = 4_000
"""How much of a text is looked at for a masked line."""
_WIDEST = 400
"""How much of each line of an output is looked at."""
_ESCAPES = (
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?"  # colours and cursor
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c]{0,4096}(?:\x07|\x1b\\|\x9c)?"  # titles, links
    r"|\x1b[ -/]*[0-~]?"
)
_STEERING = (
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c"
    "\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)
"""Controls, marks that turn the direction of writing, and invisible characters."""
_HALVES = "[\ud800-\udfff]"


def encodable(text: str) -> str:
    """Return *text* without halves of surrogate pairs, which no file can hold."""
    return text if text.isascii() or text.isprintable() else re.sub(_HALVES, "\ufffd", text)


def cleaned(text: str) -> str:
    """Return *text* with its lines, without anything that steers a terminal or hides from a
    reader."""
    return "\n".join(plain_lines(text))


def plain_lines(text: str) -> list[str]:
    """Return the lines of *text*, without anything that steers a terminal or hides from a
    reader."""
    return [_harmless(line, "") for line in encodable(text).splitlines()]


def one_line(text: str) -> str:
    """Return *text* on one line, words one space apart, without anything that steers or hides."""
    return " ".join(_harmless(" ".join(encodable(text).split()), " ").split())


def shortened(text: str, width: int) -> str:
    """Return *text* in at most *width* characters, with ``…`` where something was cut off."""
    return (
        text
        if len(text) <= width
        else text[: max(0, width - 1)].rstrip() + "…"
        if width > 0
        else ""
    )


def begun(text: str, most: int) -> str:
    """Return at most *most* characters of *text*, up to where a word ends: half of a secret cannot
    be told from a word.

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
    """Return *text* on one line as code, in at most *width* characters if that is given (3 or
    more)."""
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
    # Every such sign counts as not printable, and most lines have none.
    if line.replace("\t", "").isprintable():
        return line
    return re.sub(_STEERING, instead, re.sub(_ESCAPES, "", line))


def masked_line(text: str, most: int = LONGEST) -> str:
    """Return *text* as one masked line of at most *most* characters, without anything that steers
    or hides."""
    # Masked before it is cut, since half of a secret isn't recognized; and again if it was on
    # several lines.
    kept = begun(text, _CLIP)
    safe = mask(cleaned(kept if kept == text else f"{kept}…"))
    return shortened(mask(one_line(safe)) if "\n" in safe else one_line(safe), most)


def telling_line(lines: Sequence[str]) -> str:
    """Return of *lines* the first that says what failed, else the first that says which, else one
    with an error's word.

    Code that an output shows is passed over, though it is full of such words. A line that ends in a
    colon takes the next one with it.

    >>> telling_line(['  File "a.py", line 3', "    self.assertEqual(error, 3)", "AssertionError: 2 != 3"])
    'AssertionError: 2 != 3'
    """
    said = [at for at in range(len(lines)) if lines[at].strip() and not _says_nothing(lines, at)]
    worded = data_lines(__file__, "error_words.txt")
    found = next(
        (at for rank in ("1", "2") for at in said if _ranked(rank).search(lines[at][:_WIDEST])),
        next(
            (
                at
                for at in said
                if any(word in lines[at].lower() for word in worded if word[0] != "-")
            ),
            None,
        ),
    )
    if found is None:
        return next((lines[at] for at in said), next((line for line in lines if line.strip()), ""))
    after = (
        lines[found + 1] if lines[found].rstrip().endswith(":") and found + 1 < len(lines) else ""
    )
    return (
        f"{lines[found]} {after}"
        if after.strip() and not _says_nothing(lines, found + 1)
        else lines[found]
    )


def _says_nothing(lines: Sequence[str], at: int) -> bool:
    line = lines[at]
    idle = [word[1:] for word in data_lines(__file__, "error_words.txt") if word[0] == "-"]
    if any(word in line.lower() for word in idle) or _ranked("0").search(line[:_WIDEST]):
        return True
    return (
        at > 0
        and line[:1].isspace()
        and bool(re.match(r'\s*File ".{1,500}", line \d', lines[at - 1]))
    )


@cache
def _ranked(rank: str) -> Pattern[str]:
    patterns = [pattern for found, pattern in data_rows(__file__, "telling.tsv") if found == rank]
    return re.compile("|".join([f"(?:{pattern})" for pattern in patterns]))
