"""Text made harmless: on one line, as code, without secrets and without what steers a terminal.

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
_LOOKED_AT = 4_000
"""How much of a text is looked at for a masked line."""
_WIDEST = 400
"""How much of each line of an output is looked at."""
_ESCAPES = (
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?"  # colours and cursor
    # titles and links
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c]{0,4096}(?:\x07|\x1b\\|\x9c)?"
    r"|\x1b[ -/]*[0-~]?"
)
_STEERING = (
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c"
    "\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)
"""Controls, marks that turn the direction of writing, and invisible characters."""
_HALVES = "[\ud800-\udfff]"
_WORD_ENDS = " \t\n\"',;|"


def encodable(text: str) -> str:
    """Return *text* without halves of surrogate pairs, which no file can hold."""
    if text.isascii() or text.isprintable():
        return text
    return re.sub(_HALVES, "\ufffd", text)


def cleaned(text: str) -> str:
    """Return *text* with its lines, without anything that steers a terminal or hides."""
    return "\n".join(plain_lines(text))


def plain_lines(text: str) -> list[str]:
    """Return the lines of *text*, without anything that steers a terminal or hides."""
    return [_harmless(line, "") for line in encodable(text).splitlines()]


def one_line(text: str) -> str:
    """Return *text* on one line, words one space apart, without anything that steers or hides."""
    line = " ".join(encodable(text).split())
    return " ".join(_harmless(line, " ").split())


def _harmless(line: str, replacement: str) -> str:
    """Return *line* without escapes, and *replacement* for each sign that steers or hides."""
    # Every such sign counts as not printable, and most lines have none.
    if line.replace("\t", "").isprintable():
        return line
    return re.sub(_STEERING, replacement, re.sub(_ESCAPES, "", line))


def shortened(text: str, width: int) -> str:
    """Return *text* in at most *width* characters, with ``…`` where something was cut off."""
    if len(text) <= width:
        return text
    if width <= 0:
        return ""
    return text[: width - 1].rstrip() + "…"


def shortened_path(path: str, width: int) -> str:
    """Return the end of *path* in at most *width* characters: its name is what tells a file.

    >>> shortened_path("/home/ada/shop/src/app.py", 12)
    '…/src/app.py'
    """
    if len(path) <= width:
        return path
    start = len(path) - max(0, width - 1)
    return f"…{path[start:]}"


def begun(text: str, longest: int) -> str:
    """Return at most *longest* characters of *text*, up to where a word ends.

    Half of a secret can't be told from a word.

    >>> begun("TOKEN=abc def", 8)
    ''
    >>> begun("run it now", 8)
    'run it '
    """
    if len(text) <= longest:
        return text
    end = longest
    while end and text[end - 1] not in _WORD_ENDS:
        end -= 1
    return text[:end]


def code(text: str, width: int | None = None) -> str:
    """Return *text* on one line as code, in at most *width* characters (3 or more) if given."""
    text = one_line(text)
    quoted = _in_backticks(text)
    if width is None or len(quoted) <= width:
        return quoted
    for size in range(min(len(text), width), 1, -1):
        quoted = _in_backticks(shortened(text, size))
        if len(quoted) <= width:
            return quoted
    return _in_backticks("…")


def _in_backticks(text: str) -> str:
    fence = "`"
    while fence in text:
        fence += "`"
    needs_space = not text or text[0] == "`" or text[-1] == "`"
    space = " " if needs_space else ""
    return f"{fence}{space}{text}{space}{fence}"


def masked_line(text: str, longest: int = LONGEST) -> str:
    """Return *text* as one masked line of at most *longest* characters, made harmless."""
    # Masked before it is cut, since half of a secret isn't recognized.
    beginning = begun(text, _LOOKED_AT)
    if beginning != text:
        beginning = f"{beginning}…"
    safe = mask(cleaned(beginning))
    line = one_line(safe)
    if "\n" in safe:
        line = mask(line)  # a name and its value may have been on two lines
    return shortened(line, longest)


def telling_line(lines: Sequence[str]) -> str:
    """Return the line of *lines* that best says what failed.

    It is the first that says what failed, else the first that says which, else one with an error's
    word. Code that an output shows is passed over, though it is full of such words. A line that
    ends in a colon takes the next one with it.

    >>> telling_line(['  File "a.py", line 3', "    check(error)", "ValueError: 2 != 3"])
    'ValueError: 2 != 3'
    """
    candidates = [
        place
        for place, line in enumerate(lines)
        if line.strip() and not _says_nothing(lines, place)
    ]
    place = _first_ranked(lines, candidates)
    if place is None:
        place = _first_worded(lines, candidates)
    if place is None:
        return _first_line(lines, candidates)
    if not lines[place].rstrip().endswith(":") or place + 1 >= len(lines):
        return lines[place]
    after = lines[place + 1]
    if not after.strip() or _says_nothing(lines, place + 1):
        return lines[place]
    return f"{lines[place]} {after}"


def _first_ranked(lines: Sequence[str], candidates: list[int]) -> int | None:
    for rank in ("1", "2"):
        pattern = _ranked(rank)
        for place in candidates:
            if pattern.search(lines[place][:_WIDEST]):
                return place
    return None


def _first_worded(lines: Sequence[str], candidates: list[int]) -> int | None:
    words = [word for word in data_lines(__file__, "error_words.txt") if word[0] != "-"]
    for place in candidates:
        line = lines[place].lower()
        if any(word in line for word in words):
            return place
    return None


def _first_line(lines: Sequence[str], candidates: list[int]) -> str:
    if candidates:
        return lines[candidates[0]]
    for line in lines:
        if line.strip():
            return line
    return ""


def _says_nothing(lines: Sequence[str], place: int) -> bool:
    line = lines[place]
    if _ranked("0").search(line[:_WIDEST]):
        return True
    for word in data_lines(__file__, "error_words.txt"):
        if word[0] == "-" and word[1:] in line.lower():
            return True
    if place == 0 or not line[:1].isspace():
        return False
    return re.match(r'\s*File ".{1,500}", line \d', lines[place - 1]) is not None


@cache
def _ranked(rank: str) -> Pattern[str]:
    rows = data_rows(__file__, "telling.tsv")
    patterns = [f"(?:{pattern})" for row_rank, pattern in rows if row_rank == rank]
    return re.compile("|".join(patterns))
