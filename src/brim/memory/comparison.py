"""What of the facts in a window is still there after a compaction.

``compare`` is the only place that decides this: hooks, ``brim memory lost`` and the report call it
through ``compactions``. It compares words. A fact that is still there may be ignored by the model
all the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from brim.files import data_lines
from brim.memory.facts import SENTENCE_END, Quantity, quantities_in
from brim.record import PlainData
from brim.rules.stems import stem

_WORD = re.compile(r"\w{3,}")

KINDS = ("instruction", "decision", "file", "command")
"""The kinds of facts that a window holds."""

Fact = tuple[str, str]
"""One of ``KINDS``, and a text."""

ENOUGH = 0.6
"""The share of a decision's or an instruction's words that must stand together somewhere."""

_SETS_UP = ("cd ", "export ")
"""How a part of a command opens that only sets up what follows."""
_IDENTIFIER = re.compile(
    r"(?<![\w-])--?[a-z][\w-]+|\b(?:[a-z]+[A-Z]|[A-Z]+[a-z]+[A-Z]|[A-Za-z]+_)\w*"
)
"""A command's flag, or a name such as ``cacheHeight``, ``OpenRewrite`` or ``lock_timeout``."""
_MOST_CHARACTERS = 4_000_000
"""Characters of what is left in a window that are looked through."""


@dataclass(frozen=True)
class Comparison(PlainData):
    """The facts that a window held, and those of them that a compaction lost, both in order."""

    before: tuple[Fact, ...]
    lost: tuple[Fact, ...]

    def counts(self) -> dict[str, list[int]]:
        """Return for each kind how many there were, and how many were lost."""
        counts: dict[str, list[int]] = {}
        for kind in KINDS:
            before = sum(fact[0] == kind for fact in self.before)
            if before:
                counts[kind] = [before, sum(fact[0] == kind for fact in self.lost)]
        return counts


def compare(facts: Iterable[Fact], prose: str, data: str = "") -> Comparison:
    """Compare *facts* with the *prose* and the *data* that a compaction left in the window.

    A file is there if it is named, with its folder if several files have that name. A command is
    there if its words stand together. A decision or an instruction is there if most of its words
    stand together in the prose, and its numbers too: files and results of tools say something
    else.
    """
    before: list[Fact] = []
    files: list[str] = []
    for kind, text in dict.fromkeys(facts):
        if kind in KINDS and text.strip():
            before.append((kind, text))
            if kind == "file":
                files.append(text)
    standing = StandingText(prose, data, files)
    lost = [fact for fact in before if not standing.has(fact)]
    return Comparison(tuple(before), tuple(lost))


class StandingText:
    """All that stands in a window, ready to be asked whether it still says something."""

    def __init__(self, prose: str, data: str, files: Iterable[str]) -> None:
        self._prose = prose[:_MOST_CHARACTERS]
        self._all_folded = _folded(f"{prose}\n{data}"[:_MOST_CHARACTERS])
        """Prose and data, for names and commands."""
        self._ambiguous = _ambiguous_names(files)
        # Read when a fact needs them.
        self._sentences: list[frozenset[str]] | None = None
        self._quantities: list[Quantity] | None = None

    def has(self, fact: Fact) -> bool:
        """Whether *fact* is there."""
        kind, text = fact
        if kind == "file":
            return self._names(text)
        if kind == "command":
            return longest_part(text) in self._all_folded
        if kind == "instruction" and not self._has_names(text):
            return False
        return self._has_quantities(text) and self._says(text)

    def _names(self, path: str) -> bool:
        """Whether the file *path* is named on its own, and not as a part of another name."""
        name = _name(path)
        if name not in self._all_folded:
            return False
        needed = name
        if name in self._ambiguous and _parent(path):
            needed = f"{_parent(path)}/{name}"
        names = "|".join([re.escape(path.casefold()), re.escape(needed)])
        return re.search(rf"(?<![\w.-])(?:{names})(?![\w-])", self._all_folded) is not None

    def _has_names(self, text: str) -> bool:
        """Whether every flag and identifier in *text* is there: no other words stand for it."""
        names = {match[0].casefold() for match in _IDENTIFIER.finditer(text)}
        return all(name in self._all_folded for name in names)

    def _has_quantities(self, text: str) -> bool:
        """Whether every number with a unit in *text* is in the prose."""
        needed = quantities_in(text)
        if not needed:
            return True
        if self._quantities is None:
            self._quantities = quantities_in(self._prose)
        standing = {(quantity.value, quantity.unit) for quantity in self._quantities}
        return all((quantity.value, quantity.unit) in standing for quantity in needed)

    def _says(self, text: str) -> bool:
        """Whether most words of *text* stand together.

        They may be spread over one sentence more than *text* itself has.
        """
        if self._sentences is None:
            self._sentences = _sentences(self._prose)
        asked = [words for words in _sentences(text) if words]
        wanted = frozenset[str]().union(*asked)
        if not wanted:
            return True
        enough = ENOUGH * len(wanted)
        span = len(asked) + 1
        for start, words in enumerate(self._sentences):
            if words.isdisjoint(wanted):
                continue
            together = words.union(*self._sentences[start + 1 : start + span])
            if len(wanted & together) >= enough:
                return True
        return False


def longest_part(command: str) -> str:
    """Return the longest part of *command*, folded: summaries leave out its set-up and filters."""
    longest = ""
    for part in re.split(r"&&|\|\||[|;\n]", command):
        folded = _folded(part)
        if not folded.startswith(_SETS_UP) and len(folded) > len(longest):
            longest = folded
    return longest


def _ambiguous_names(files: Iterable[str]) -> set[str]:
    """Return the names that files in several folders have."""
    folders: dict[str, set[str]] = {}
    for path in files:
        parent = _parent(path)
        if parent:
            folders.setdefault(_name(path), set()).add(parent)
    return {name for name, parents in folders.items() if len(parents) > 1}


def _sentences(text: str) -> list[frozenset[str]]:
    return [_stems(sentence) for sentence in SENTENCE_END.split(text)]


def _stems(text: str) -> frozenset[str]:
    stems = [stem(word) for word in _WORD.findall(text.casefold())]
    return frozenset(stems) - _stop_stems()


@cache
def _stop_stems() -> frozenset[str]:
    """Return the stems of words that say nothing about what a sentence is about."""
    return frozenset(" ".join(data_lines(__file__, "stop_stems.txt")).split())


def _name(path: str) -> str:
    return path.replace("\\", "/").rstrip("/").rpartition("/")[2].casefold()


def _parent(path: str) -> str:
    folder = path.replace("\\", "/").rstrip("/").rpartition("/")[0]
    return folder.rpartition("/")[2].casefold()


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())
