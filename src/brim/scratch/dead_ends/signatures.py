"""What makes an error the same error: the lines that say it, without what differs each time.

Line numbers, times, durations, addresses, ids and names of temporary files go (``data/volatile.tsv``). Short numbers
stay: whether twelve or three things fail is a difference, and tells progress.
"""

from __future__ import annotations

from brim._patterns import IGNORE_CASE, MULTILINE, pattern
from brim.scratch.dead_ends.tables import any_of, rows
from brim.scratch.quoting import begun

TYPE_CHECKING = False
if TYPE_CHECKING:
    from re import Pattern

_END = 8_000
_MOST_LINES = 24
_WIDEST = 240
_FEWEST = 8
"""A signature with fewer letters says too little to be the same thing."""

_PLACE = pattern(r'File "[^"]{1,300}", line \d|--> \S|[┌╭]─+\[? ?\S')
_AT = (":<n>", "(<n>)", "line <n>")
_QUOTED = pattern(r"^[ \t]{0,12}(?:>[ \t]{0,12})?(\d{1,6})[ \t]{0,4}[|│][ \t]*(\S.{0,200})$", MULTILINE)
_MOST_QUOTED = 8
_MOVED = 10
"""An error more lines away than these, in other code, is at another place."""
_volatile: list[tuple[Pattern[str], str]] = []


def clipped(text: str) -> str:
    """Return the beginning and the end of *text*, which is where a command says what went wrong."""
    if len(text) <= 2 * _END:
        return text
    return (
        begun(text, _END) + "\n" + text[-_END:].partition("\n")[2]
    )  # no half lines: a secret is not known by its half


def settled(text: str) -> str:
    """Return *text* without what differs each time.

    >>> settled("a.py:12:5: error after 0.31s at 0x7f3a2c, 3 left")
    'a.py:<n>: error after <duration> at <address>, 3 left'
    """
    if not _volatile:
        _volatile.extend([(pattern(text, IGNORE_CASE | MULTILINE), put) for put, text in rows("volatile.tsv")])
    for found, put in _volatile:
        text = found.sub(put, text)
    return text


def error_lines(text: str) -> list[str]:
    """Return the lines of *text* that say what went wrong, and where; if none does, the last few that say anything.

    The same error in another file is another error: whoever goes through files one by one gets on.
    """
    says, retells = any_of("error_lines.txt"), any_of("summary_lines.txt")
    found: list[str] = []
    told: list[str] = []
    place = ""
    for line in [line.strip()[:_WIDEST] for line in clipped(text).splitlines() if line.strip()]:
        if _PLACE.match(line):
            # Of a trace, the last place before an error is where it is; a compiler says the place after the error.
            place = line if line.startswith("File") else ""
            found += [line] if found and not place else []
        elif not retells.match(line):
            told.append(line)
            if says.search(line):
                found += [place, line] if place else [line]
                place = ""
    return found[: _MOST_LINES // 2] + found[_MOST_LINES // 2 :][-_MOST_LINES // 2 :] if found else told[-3:]


def signature(text: str) -> str:
    """Return what makes the error *text* the same as another; empty if it says too little.

    The order of its lines does not matter: tests that run at the same time end in any order. At how many places of a
    file an error is does: four, then three, is progress.
    """
    told = error_lines(text)
    places: dict[str, set[str]] = {}
    for at, line in enumerate(settled("\n".join(told)).splitlines()):
        places.setdefault(" ".join(line.split()), set()).add(told[at] if at < len(told) else line)
    kept = [
        f"{line} at {len(lines)} places" if len(lines) > 1 and any(mark in line for mark in _AT) else line
        for line, lines in places.items()
    ]
    whole = "\n".join(sorted(kept))
    return whole if sum(letter.isalpha() for letter in whole[:200]) >= _FEWEST else ""


def quoted(text: str) -> tuple[tuple[int, int], ...]:
    """Return the code that *text* quotes, as compilers do (``14 |  total = x``): numbers of lines, and their hashes."""
    found = _QUOTED.findall(clipped(text))[:_MOST_QUOTED] if "|" in text or "│" in text else []
    return tuple([(int(number), hash(code.strip())) for number, code in found])


def moved(one: tuple[tuple[int, int], ...], other: tuple[tuple[int, int], ...]) -> bool:
    """Whether two outputs quote other code, far from each other: the same error at another place."""
    return bool(one and other) and all(
        code != there and abs(number - line) > _MOVED for number, code in one for line, there in other
    )
