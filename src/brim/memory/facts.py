"""The files and the numbers that a text names."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from brim.files import data_lines, data_rows
from brim.record import PlainData

_PATH = re.compile(
    r"(?<![\w/.~@:-])(?:~|\.{1,2})?/?(?:[\w.@+-]+/)*[\w.@+-]*[\w-]\.[A-Za-z]\w{0,7}(?![\w/])"
)
_NUMBER = re.compile(
    r"(?<![\w.,/-])(?:(?P<money>[$€£])\s?)?(?P<value>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)"
    r"(?:(?:[ \u00a0\u202f-]?(?P<unit>%|[A-Za-zµμ€]+(?:/s)?))(?![\w]))?"
)
SENTENCE_END = re.compile(r"\n+|(?<=[.!?;])\s+")
_MONEY = {"$": "usd", "€": "eur", "£": "gbp"}
_LOOKED_AT = 400_000
"""Characters of one text in which files and numbers are looked for."""


def paths_in(text: str) -> list[str]:
    """Return the files that *text* names, each once: a word with an ending, and its folders.

    A name without a folder is a file if its ending is a file's.

    >>> paths_in("Fix src/app.py, not ./old/app.py (see README.md). It is v1.2, e.g. fast.")
    ['src/app.py', './old/app.py', 'README.md']
    >>> paths_in("Remove com.example and javax.xml.ws, call set.seed() in sim.R")
    ['sim.R']
    """
    paths: dict[str, None] = {}
    for match in _PATH.finditer(text[:_LOOKED_AT]):
        path = match[0]
        if "/" in path or _is_file_name(path.lower()):
            paths[path] = None
    return list(paths)


def _is_file_name(name: str) -> bool:
    """Whether *name*, in small letters, is a file's and not an identifier, a host or a number."""
    stem, _, ending = name.rpartition(".")
    if not stem or stem.replace(".", "").isdigit():
        return False
    if name in data_lines(__file__, "not_files.txt"):
        return False
    return ending in data_lines(__file__, "file_endings.txt")


@dataclass(frozen=True)
class Quantity(PlainData):
    """A number with its unit."""

    value: str
    unit: str
    text: str
    """How it was written."""


def quantities_in(text: str) -> list[Quantity]:
    """Return the numbers with a unit in *text*, each once.

    >>> [one.text for one in quantities_in("At most 200 ms and 5MB, 3 files, $1,000; port 8443.")]
    ['200 ms', '5MB', '$1,000']
    """
    quantities: dict[tuple[str, str], Quantity] = {}
    for match in _NUMBER.finditer(text[:_LOOKED_AT]):
        quantity = _quantity(match)
        if quantity is not None:
            quantities.setdefault((quantity.value, quantity.unit), quantity)
    return list(quantities.values())


def _quantity(match: re.Match[str]) -> Quantity | None:
    """Return the quantity in *match*; None if the number has no unit that counts."""
    value = match["value"].replace(",", "")
    if "." in value:
        value = value.rstrip("0").rstrip(".")
    if match["money"]:
        end = match.end("value") - match.start()
        return Quantity(value, _MONEY[match["money"]], match[0][:end])
    unit = _units().get((match["unit"] or "").lower())
    if unit is None:
        return None
    return Quantity(value, unit, match[0])


@cache
def _units() -> dict[str, str]:
    """Return the canonical name of every way to write a unit: ``data/units.tsv``."""
    units: dict[str, str] = {}
    for canonical, names in data_rows(__file__, "units.tsv"):
        for name in names.split():
            units[name] = canonical
    return units
