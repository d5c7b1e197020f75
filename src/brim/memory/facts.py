"""What a text says that an agent would miss, and whether another text still says it.

Files, commands, numbers, decisions and instructions. ``measure`` is the only place that decides
whether something is kept: after a compaction a hook asks it about the summary, and the report about
all that stands in the window.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from brim.behaviors.words import stem, word_list
from brim.files import data_rows
from brim.record import PlainData

KINDS = ("instruction", "decision", "file", "command", "number")
"""What is looked for, in the order in which it is given back."""

ENOUGH = 0.6
"""The share of a decision's or an instruction's words that must stand together somewhere."""

_PATH = re.compile(
    r"(?<![\w/.~@:-])(?:~|\.{1,2})?/?(?:[\w.@+-]+/)*[\w.@+-]*[\w-]\.[A-Za-z]\w{0,7}(?![\w/])"
)
_NUMBER = re.compile(
    r"(?<![\w.,/-])(?:(?P<money>[$€£])\s?)?(?P<value>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)"
    r"(?:(?:[ \u00a0\u202f-]?(?P<unit>%|[A-Za-zµμ€]+(?:/s)?))(?![\w]))?"
)
_BARE = re.compile(
    r"(?:(?<![\w-])[^\W\d_][\w-]{0,30}(?:[ \t]?[=:#][ \t]?|[ \t]#?))?(?<![\w.,/-])(?<!\d:)"
    r"(?P<value>\d{1,3}(?:,\d{3})+|\d{3,9})(?![\w%]|[.,:/-]\d)(?: [^\W\d_][\w-]{0,30})?"
)
_UNIT = 24
"""Characters after a number in which its unit is looked for."""
_WORD = re.compile(r"\w{3,}")
_MONEY = {"$": "usd", "€": "eur", "£": "gbp"}
_LOOKED_AT = 400_000
"""Characters of one text in which files and numbers are looked for."""
_STANDING = 4_000_000
"""Characters of what is left in a window that are looked through."""
SENTENCE_END = re.compile(r"\n+|(?<=[.!?;])\s+")
_TYPED = 1_000
"""Characters up to which a text counts as typed by hand: in a pasted log every number is bare."""
_YEARS = range(1900, 2100)


@dataclass(frozen=True)
class Measured(PlainData):
    """What there was and what of it the summary lost: pairs of one of ``KINDS`` and a text."""

    had: tuple[tuple[str, str], ...]
    lost: tuple[tuple[str, str], ...]

    def counts(self) -> dict[str, list[int]]:
        """Return for each kind how many there were, and how many were lost."""
        had, lost = [kind for kind, _ in self.had], [kind for kind, _ in self.lost]
        return {kind: [had.count(kind), lost.count(kind)] for kind in KINDS if kind in had}


def measure(left: str, had: Iterable[tuple[str, str]], *, data: str = "") -> Measured:
    """Return what of *had* isn't in *left*, the prose that a compaction left in the window, nor in
    the *data* there.

    A file is kept if it is named in any way, with its folder if several have that name; a command
    if its words are there together; a number if it has the same unit, or is there at all if it has
    none; a decision and an instruction if most of their words stand together in the prose, for
    files and results of tools say something else.
    """
    known = list(
        dict.fromkeys((kind, text) for kind, text in had if kind in KINDS and text.strip())
    )
    standing = _Standing(left, data, [text for kind, text in known if kind == "file"])
    lost = [pair for pair in known if not standing.has(*pair)]
    return Measured(tuple(known), tuple(sorted(lost, key=lambda one: KINDS.index(one[0]))))


class _Standing:
    """A text that is asked whether it still says something."""

    def __init__(self, prose: str, data: str, files: Iterable[str]) -> None:
        self._prose, text = prose[:_STANDING], f"{prose}\n{data}"[:_STANDING]
        self._folded, self._digits = _folded(text), text.replace(",", "")
        names: dict[str, set[str]] = {}
        for path in files:
            names.setdefault(_name(path), set()).add(_parent(path))
        self._shared = {name for name, parents in names.items() if len(parents - {""}) > 1}
        self._pieces: list[frozenset[str]] | None = None

    def has(self, kind: str, text: str) -> bool:
        """Whether the *text* of *kind* is there."""
        if kind == "file":
            return self._names(text)
        if kind == "command":
            # Its longest part will do: summaries don't repeat the folder that it was run in.
            parts = [_folded(part) for part in re.split(r"&&|\|\||[|;\n]", text)]
            return (
                max((part for part in parts if not part.startswith("cd ")), key=len, default="")
                in self._folded
            )
        if kind == "number":
            return all(self._counts(*key) for _, key in _numbers(text))
        return self._says(text)

    def _counts(self, value: str, unit: str) -> bool:
        """Whether the number *value* is there, with its *unit* if it has one."""
        for match in re.finditer(rf"(?<!\d){value.partition('.')[0]}(?!\d)", self._digits):
            around = self._digits[max(0, match.start() - 2) : match.end() + _UNIT]
            if not unit or any(key == (value, unit) for _, key in _with_units(around)):
                return True
        return False

    def _names(self, path: str) -> bool:
        """Whether the file *path* is named on its own, and not as a part of another name."""
        name = _name(path)
        if name not in self._folded:
            return False
        known = name if name not in self._shared or not _parent(path) else f"{_parent(path)}/{name}"
        names = "|".join(re.escape(each) for each in (path.casefold(), known) if each)
        return re.search(rf"(?<![\w.-])(?:{names})(?![\w-])", self._folded) is not None

    def _says(self, text: str) -> bool:
        """Whether most words of *text* stand together, in as many sentences as it has itself and
        one more."""
        if self._pieces is None:
            self._pieces = [_stems(piece) for piece in SENTENCE_END.split(self._prose)]
        asked = [words for piece in SENTENCE_END.split(text) if (words := _stems(piece))]
        wanted = frozenset().union(*asked)
        if not wanted:
            return True
        enough, span = ENOUGH * len(wanted), len(asked) + 1
        for at, words in enumerate(self._pieces):
            if (
                words & wanted
                and len(wanted & words.union(*self._pieces[at + 1 : at + span])) >= enough
            ):
                return True
        return False


def _stems(text: str) -> frozenset[str]:
    return frozenset([stem(word) for word in _WORD.findall(text.casefold())]) - word_list(
        "stop_stems.txt"
    )


def _name(path: str) -> str:
    return path.replace("\\", "/").rstrip("/").rpartition("/")[2].casefold()


def _parent(path: str) -> str:
    return path.replace("\\", "/").rstrip("/").rpartition("/")[0].rpartition("/")[2].casefold()


def paths_in(text: str) -> list[str]:
    """Return the files that *text* names, each once: a word with an ending, and the folders before
    it.

    >>> paths_in("Fix src/app.py, not ./old/app.py (see README.md). It is v1.2, e.g. fast.")
    ['src/app.py', './old/app.py', 'README.md']
    """
    found = (match[0] for match in _PATH.finditer(text[:_LOOKED_AT]))
    return list(dict.fromkeys(filter(_is_file, found)))


def numbers_in(text: str) -> list[str]:
    """Return the numbers with a unit in *text*, as they are written, each once; then large ones
    without, and a word.

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
    """Return the numbers of *text* worth keeping: as written, and as value and unit. Years
    aren't."""
    found = _with_units(text)
    known = {value for _, (value, _) in found}
    for match in _BARE.finditer(text[:_LOOKED_AT]):
        value = match["value"].replace(",", "")
        if value not in known and int(value) not in _YEARS:
            found.append((match[0], (value, "")))
    return found


def _with_units(text: str) -> list[tuple[str, tuple[str, str]]]:
    units = _units()
    found = []
    for match in _NUMBER.finditer(text[:_LOOKED_AT]):
        unit = _MONEY.get(match["money"] or "") or units.get((match["unit"] or "").lower(), "")
        if unit:
            value = match["value"].replace(",", "")
            value = value.rstrip("0").rstrip(".") if "." in value else value
            is_whole = match["unit"] and not match["money"]
            found.append(
                (
                    match[0] if is_whole else match[0][: match.end("value") - match.start()],
                    (value, unit),
                )
            )
    return found


@cache
def _units() -> dict[str, str]:
    return {
        name: unit for unit, names in data_rows(__file__, "units.tsv") for name in names.split()
    }


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())


def _is_file(path: str) -> bool:
    """Whether what looks like a file is one, and not an abbreviation, a number or the name of a
    host."""
    name = path.rpartition("/")[2]
    stem, _, ending = name.rpartition(".")
    if "/" in path:
        return bool(stem or ending)
    is_number = stem.replace(".", "").isdigit()
    return (
        bool(stem)
        and not is_number
        and (len(stem) > 2 or len(ending) > 1)
        and name not in ("e.g", "i.e")
    )
