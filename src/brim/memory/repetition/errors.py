"""Which error an output tells: what makes it the same as another.

The lines count that say it, without what differs each time: line numbers, times, durations,
addresses, ids and names of temporary files go (``data/volatile.tsv``). Short numbers stay: whether
twelve or three things fail is a difference, and tells progress.
"""

from __future__ import annotations

import re

from brim.files import data_rows
from brim.memory.quotes import begun
from brim.memory.repetition.commands import any_of

_END = 8_000
"""Characters of the beginning and of the end of an output that are looked at."""
_MOST_LINES = 24
_WIDEST = 240
_FEWEST_LETTERS = 8
"""A signature with fewer letters says too little to be the same error."""
_PLACE = re.compile(r'File "[^"]{1,300}", line \d|--> \S|[┌╭]─+\[? ?\S')
_PLACE_MARKS = (":<n>", "(<n>)", "line <n>")
_QUOTED = re.compile(r"(?m)^[ \t]{0,12}(?:>[ \t]{0,12})?(\d{1,6})[ \t]{0,4}[|│][ \t]*(\S.{0,200})$")
_MOST_QUOTED = 8
_MOVED = 10
"""An error more lines away than these, in other code, is at another place."""

QuotedCode = tuple[tuple[int, int], ...]
"""Lines of code that an error quotes: the number of each, and its hash."""


def clipped(text: str) -> str:
    """Return the beginning and the end of *text*, where a command says what went wrong."""
    if len(text) <= 2 * _END:
        return text
    # No half lines: a secret isn't recognized by its half.
    return begun(text, _END) + "\n" + text[-_END:].partition("\n")[2]


def settled(text: str) -> str:
    """Return *text* without what differs each time.

    >>> settled("a.py:12:5: error after 0.31s at 0x7f3a2c, 3 left")
    'a.py:<n>: error after <duration> at <address>, 3 left'
    """
    for replacement, pattern in data_rows(__file__, "volatile.tsv"):
        text = re.sub(pattern, replacement, text, flags=re.IGNORECASE | re.MULTILINE)
    return text


def error_lines(text: str) -> list[str]:
    """Return the lines of *text* that say what went wrong, and where.

    If none does, it is the last few that say anything. The same error in another file is another
    error: going through files one by one is progress.
    """
    says_error = any_of("error_lines.txt")
    sums_up = any_of("summary_lines.txt")
    errors: list[str] = []
    plain_lines: list[str] = []
    place = ""
    for line in _stripped_lines(text):
        if _PLACE.match(line):
            # Of a trace, the last place before an error is where it is; a compiler says the place
            # after the error.
            place = line if line.startswith("File") else ""
            if errors and not place:
                errors.append(line)
        elif not sums_up.match(line):
            plain_lines.append(line)
            if says_error.search(line):
                errors += [place, line] if place else [line]
                place = ""
    if not errors:
        return plain_lines[-3:]
    half = _MOST_LINES // 2
    return errors[:half] + errors[half:][-half:]


def _stripped_lines(text: str) -> list[str]:
    lines = []
    for line in clipped(text).splitlines():
        stripped = line.strip()[:_WIDEST]
        if stripped:
            lines.append(stripped)
    return lines


def signature(text: str) -> str:
    """Return what makes the error *text* the same as another; empty if it says too little.

    The order of its lines doesn't matter: tests that run at the same time end in any order. At how
    many places of a file an error is does: four, then three, is progress.
    """
    raw_lines = error_lines(text)
    places: dict[str, set[str]] = {}
    for number, line in enumerate(settled("\n".join(raw_lines)).splitlines()):
        raw_line = raw_lines[number] if number < len(raw_lines) else line
        places.setdefault(" ".join(line.split()), set()).add(raw_line)
    lines = []
    for line, raw in places.items():
        if len(raw) > 1 and any(mark in line for mark in _PLACE_MARKS):
            lines.append(f"{line} at {len(raw)} places")
        else:
            lines.append(line)
    whole = "\n".join(sorted(lines))
    letters = sum(letter.isalpha() for letter in whole[:200])
    return whole if letters >= _FEWEST_LETTERS else ""


def quoted_code(text: str) -> QuotedCode:
    """Return the code that an error quotes, as compilers do: ``14 |  total = x``."""
    if "|" not in text and "│" not in text:
        return ()
    lines = _QUOTED.findall(clipped(text))[:_MOST_QUOTED]
    return tuple([(int(number), hash(code.strip())) for number, code in lines])


def has_moved(before: QuotedCode, after: QuotedCode) -> bool:
    """Whether two outputs quote other code, far from each other: the same error elsewhere."""
    if not before or not after:
        return False
    for number, code in before:
        for other_number, other_code in after:
            if code == other_code or abs(number - other_number) <= _MOVED:
                return False
    return True
