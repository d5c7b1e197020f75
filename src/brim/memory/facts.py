"""The files and the numbers that texts and calls name, and one name for each file.

Files are named from the folder where the agent works. A person's bare name is the file in a folder
that has it; the bare name in a call is a file of its own. Where the client doesn't say the folder,
an absolute path and a relative path that ends it tell it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from brim.files import data_lines, data_rows
from brim.memory.entries import remember
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
MOST_NAMES = 20_000
"""Files whose names are remembered; the oldest are forgotten."""


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


class FileNames:
    """The names of a window's files, seen from *folder*; empty if the client doesn't say it."""

    def __init__(self, folder: str = "") -> None:
        self._folder = ""
        self._paths: dict[str, str] = {}
        """The latest path that a call gave for each bare name."""
        self._absolute: dict[str, None] = {}
        self._renamed: dict[str, str] = {}
        if folder:
            self._set_folder(folder)

    def learn_folder(self, folder: str) -> None:
        """Learn where the agent works, if that isn't known."""
        if folder and not self._folder:
            self._set_folder(folder)

    def _set_folder(self, folder: str) -> None:
        self._folder = folder.rstrip(os.sep) + os.sep
        for path in self._absolute:
            if path.startswith(self._folder):
                self._renamed[path] = path.removeprefix(self._folder)
        self._absolute = {}

    def renamed(self) -> Mapping[str, str]:
        """Return the names that changed since the last time, and what they are now."""
        renamed = self._renamed
        self._renamed = {}
        return renamed

    def called(self, path: str) -> str:
        """Return the name of the file that a call gives as *path*."""
        name = self._from_folder(path)
        self._learn_from(name)
        name = self._from_folder(name)
        remember(self._paths, os.path.basename(name), name, MOST_NAMES)
        return name

    def _from_folder(self, path: str) -> str:
        path = os.path.normpath(path)
        if not self._folder:
            return path
        return path.removeprefix(self._folder)

    def _learn_from(self, path: str) -> None:
        """Learn the folder if *path* and another are the relative and the absolute path of one."""
        if self._folder:
            return
        if os.path.isabs(path):
            remember(self._absolute, path, None, MOST_NAMES)
        same_name = self._paths.get(os.path.basename(path), "")
        for absolute, relative in ((path, same_name), (same_name, path)):
            if os.sep in relative and absolute.endswith(os.sep + relative):
                self._set_folder(absolute.removesuffix(relative))
                return


# Numbers ------------------------------------------------------------------------------------------


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
