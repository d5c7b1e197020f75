"""The line of an output that says best what went wrong: a reader sees one line of it."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from re import Pattern

_WIDEST = 400
"""Of a line, no more than this is looked at."""
_words: dict[str, tuple[str, ...]] = {}
_ranks: dict[str, Pattern[str]] = {}


def telling_line(lines: Sequence[str]) -> str:
    """Return of *lines* the first that says what failed, else the first that says which, else one with an error's word.

    Code that an output shows is passed over, though it is full of such words. A line that ends in a colon takes the
    next one with it.

    >>> telling_line(['  File "a.py", line 3', "    self.assertEqual(error, 3)", "AssertionError: 2 != 3"])
    'AssertionError: 2 != 3'
    """
    said = [at for at in range(len(lines)) if lines[at].strip() and not _says_nothing(lines, at)]
    for rank in ("1", "2"):
        pattern = _ranked(rank)
        for at in said:
            if pattern.search(lines[at][:_WIDEST]):
                return _with_next(lines, at)
    words = _error_words("")
    worded = [at for at in said if any(word in lines[at].lower() for word in words)]
    if worded:
        return _with_next(lines, worded[0])
    return next((lines[at] for at in said), next((line for line in lines if line.strip()), ""))


def _says_nothing(lines: Sequence[str], at: int) -> bool:
    line = lines[at]
    if any(word in line.lower() for word in _error_words("-")) or _ranked("0").search(line[:_WIDEST]):
        return True
    if at == 0 or not line[:1].isspace():
        return False
    import re

    return bool(re.match(r'\s*File ".{1,500}", line \d', lines[at - 1]))


def _with_next(lines: Sequence[str], at: int) -> str:
    line = lines[at]
    after = lines[at + 1] if line.rstrip().endswith(":") and at + 1 < len(lines) else ""
    return f"{line} {after}" if after.strip() and not _says_nothing(lines, at + 1) else line


def _read(name: str) -> list[str]:
    with open(os.path.join(os.path.dirname(__file__), "data", name), encoding="utf-8") as file:
        return [line.rstrip("\n") for line in file if line.strip() and not line.startswith("#")]


def _ranked(rank: str) -> Pattern[str]:
    if not _ranks:
        import re

        rows = [line.split("\t") for line in _read("telling.tsv")]
        for each in ("0", "1", "2"):
            _ranks[each] = re.compile("|".join([f"(?:{pattern})" for found, pattern in rows if found == each]))
    return _ranks[rank]


def _error_words(sign: str) -> tuple[str, ...]:
    if not _words:
        rows = _read("error_words.txt")
        _words["-"] = tuple(row[1:] for row in rows if row.startswith("-"))
        _words[""] = tuple(row for row in rows if not row.startswith("-"))
    return _words[sign]
