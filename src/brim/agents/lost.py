"""What did the summary of a compaction lose? Paths, commands, numbers and decisions that were there, and are not in it.

A path is kept if the summary names the file in any way; a command if its words stand there together; a number if it has
the same unit, or stands there at all if it has none; a decision if most of its words do. Nothing is guessed from prose.
"""

from __future__ import annotations

import os
import re

from brim._frozen import Frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

KINDS = ("decision", "path", "command", "number")
"""What is looked for, in the order in which it is given back."""

ENOUGH = 0.6
"""The share of a decision's words that a summary must have."""

_PATH = re.compile(r"(?<![\w/.~@:-])(?:~|\.{1,2})?/?(?:[\w.@+-]+/)*[\w.@+-]*[\w-]\.[A-Za-z]\w{0,7}(?![\w/])")
_NUMBER = re.compile(
    r"(?<![\w.,/-])(?:(?P<money>[$€£])\s?)?(?P<value>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)"
    r"(?:(?:[ \u00a0\u202f-]?(?P<unit>%|[A-Za-zµμ€]+(?:/s)?))(?![\w]))?"
)
_BARE = re.compile(
    r"(?:(?<![\w-])[^\W\d_][\w-]{0,30}(?:[ \t]?[=:#][ \t]?|[ \t]#?))?(?<![\w.,/-])(?<!\d:)"
    r"(?P<value>\d{1,3}(?:,\d{3})+|\d{3,9})(?![\w%]|[.,:/-]\d)(?: [^\W\d_][\w-]{0,30})?"
)
_DIGITS = re.compile(r"[0-9]+")
_WORD = re.compile(r"\w{3,}")
_MONEY = {"$": "usd", "€": "eur", "£": "gbp"}
_LOOKED_AT = 400_000
_TYPED = 1_000
"""Characters up to which a text is taken for typed by hand: in a pasted log every number is bare."""
_YEARS = range(1900, 2100)
_units: dict[str, str] = {}


class Measured(Frozen):
    """What there was and what of it the summary lost: pairs of one of ``KINDS`` and a text."""

    __slots__ = ("had", "lost")

    had: tuple[tuple[str, str], ...]
    lost: tuple[tuple[str, str], ...]

    def __init__(self, had: Iterable[tuple[str, str]], lost: Iterable[tuple[str, str]]) -> None:
        self._fill(had=tuple(had), lost=tuple(lost))

    def counts(self) -> dict[str, list[int]]:
        """Return for each kind how many there were, and how many were lost."""
        found = {}
        for kind in KINDS:
            had = sum(each == kind for each, _ in self.had)
            if had:
                found[kind] = [had, sum(each == kind for each, _ in self.lost)]
        return found


def measure(summary: str, had: Iterable[tuple[str, str]]) -> Measured:
    """Return what of *had* is not in *summary*."""
    known = list(dict.fromkeys((kind, text) for kind, text in had if kind in KINDS and text.strip()))
    text = summary[:_LOOKED_AT]
    folded = _folded(text)
    words, numbers = set(_WORD.findall(folded)), {key for _, key in _with_units(text)}
    numbers |= {(digits, "") for digits in _DIGITS.findall(text.replace(",", ""))}
    lost = [
        (kind, each)
        for kind, each in known
        if not (
            _has_path(folded, each)
            if kind == "path"
            else _has_command(folded, each)
            if kind == "command"
            else all(key in numbers for _, key in _numbers(each))
            if kind == "number"
            else _has_words(words, each)
        )
    ]
    return Measured(known, sorted(lost, key=lambda one: KINDS.index(one[0])))


def paths_in(text: str) -> list[str]:
    """Return the files that *text* names, each once: a word with an ending, and the folders before it.

    >>> paths_in("Fix src/app.py, not ./old/app.py (see README.md). It is v1.2, e.g. fast.")
    ['src/app.py', './old/app.py', 'README.md']
    """
    found = (match[0] for match in _PATH.finditer(text[:_LOOKED_AT]))
    return list(dict.fromkeys(path for path in found if not _is_no_file(path)))


def numbers_in(text: str) -> list[str]:
    """Return the numbers with a unit in *text*, as they are written, each once; then large ones without, and a word.

    >>> numbers_in("At most 200 ms and 5MB, 3 files, $1,000, or 30-second timeouts; 1.5 is no number of anything.")
    ['200 ms', '5MB', '$1,000', '30-second']
    >>> numbers_in("Listen on port 8443, log to /srv/500, and take 1,500 users in 2026.")
    ['port 8443', 'take 1,500 users']
    """
    found = _numbers(text) if len(text) <= _TYPED else _with_units(text)
    first: dict[tuple[str, str], str] = {}
    for written, key in found:
        first.setdefault(key, written)
    return list(first.values())


def _numbers(text: str) -> list[tuple[str, tuple[str, str]]]:
    """Return the numbers of *text* worth keeping: as written, and as value and unit. Years are none."""
    found = _with_units(text)
    known = {value for _, (value, _) in found}
    for match in _BARE.finditer(text[:_LOOKED_AT]):
        value = match["value"].replace(",", "")
        if value not in known and int(value) not in _YEARS:
            found.append((match[0], (value, "")))
    return found


def _with_units(text: str) -> list[tuple[str, tuple[str, str]]]:
    units = _table()
    found = []
    for match in _NUMBER.finditer(text[:_LOOKED_AT]):
        unit = _MONEY.get(match["money"] or "") or units.get((match["unit"] or "").lower(), "")
        if unit:
            value = match["value"].replace(",", "")
            value = value.rstrip("0").rstrip(".") if "." in value else value
            written = (
                match[0] if match["unit"] and not match["money"] else match[0][: match.end("value") - match.start()]
            )
            found.append((written, (value, unit)))
    return found


def _has_path(folded: str, path: str) -> bool:
    name = os.path.basename(path.replace("\\", "/").rstrip("/")).casefold()
    return _stands(folded, path.casefold()) or (bool(name) and _stands(folded, name))


def _stands(folded: str, what: str) -> bool:
    """Whether *what* stands in the text by itself, and not as a part of another name."""
    at = folded.find(what)
    while at >= 0:
        before, after = folded[at - 1 : at] if at else "", folded[at + len(what) : at + len(what) + 1]
        if not (before.isalnum() or (before and before in "_.-") or after.isalnum() or (after and after in "_-")):
            return True
        at = folded.find(what, at + 1)
    return False


def _has_command(folded: str, command: str) -> bool:
    """Whether the longest part of *command* is in the text: nobody repeats the folder that it was run in."""
    parts = [_folded(part) for part in re.split(r"&&|\|\||[|;\n]", command)]
    longest = max((part for part in parts if not part.startswith("cd ")), key=len, default="")
    return not longest or longest in folded


def _has_words(words: set[str], text: str) -> bool:
    wanted = set(_WORD.findall(_folded(text)))
    return not wanted or len(wanted & words) >= ENOUGH * len(wanted)


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())


def _is_no_file(path: str) -> bool:
    """Whether what looks like a file is an abbreviation, a number or the name of a host."""
    name = path.rpartition("/")[2]
    stem, _, ending = name.rpartition(".")
    if "/" in path:
        return not stem and not ending
    return (
        not stem or stem.replace(".", "").isdigit() or (len(stem) <= 2 and len(ending) <= 1) or name in ("e.g", "i.e")
    )


def _table() -> dict[str, str]:
    if not _units:
        with open(os.path.join(os.path.dirname(__file__), "data", "units.tsv"), encoding="utf-8") as file:
            rows = [line.rstrip("\n").split("\t") for line in file if line.strip() and not line.startswith("#")]
        _units.update({name: unit for unit, names in rows for name in names.split()})
    return _units
