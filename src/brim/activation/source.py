"""What activation asks of a graph of behaviors (``Source``), and how a situation finds conditions
in it.

The engine asks for the seeds first, then only for what their edges lead to. So an activation costs
what the neighbourhood of the seeds costs, however many behaviors were ever learned.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from brim.behaviors.behavior import Edge
from brim.behaviors.when import When
from brim.record import PlainData

_WILD = "*?[]"
ANYTHING = ""
"""Where patterns are filed whose end says nothing."""


@dataclass(frozen=True)
class Node(PlainData):
    """What activation knows of a behavior."""

    id: str
    when: When
    words: frozenset[str]
    """The stems of its name and tags."""
    uses: int
    last_used: float | None
    """Seconds since 1970; None if it was never used."""
    inferred: When = When()
    """The conditions that its own words speak of."""


class Source(Protocol):
    """A graph of behaviors that can be asked for parts of itself.

    Every source keeps these rules: only live behaviors, each once; only edges with both ends live,
    each combination of source, target and kind once; in any order.
    """

    def seeds(self, facts: Mapping[str, tuple[str, ...]], words: frozenset[str]) -> Iterable[Node]:
        """Every behavior without conditions, with a condition that *facts* confirm, or with one of
        *words*.

        It may give too many, never too few: each is compared with the context again.
        """

    def nodes(self, ids: Collection[str]) -> Iterable[Node]:
        """Those of *ids* that are live."""

    def edges(self, ids: Collection[str]) -> Iterable[Edge]:
        """Every edge that touches one of *ids*, at either end."""


class Index(Source, Protocol):
    """A source that also knows by which terms each behavior is found: see
    ``brim.activation.relevance``."""

    def postings(self, terms: Collection[str]) -> Mapping[str, Collection[tuple[str, int]]]:
        """By term of *terms*, each live behavior that it finds, and how much it says for that, in
        hundredths."""

    def count(self) -> int:
        """How many live behaviors there are."""

    def sections(self, ids: Collection[str]) -> Iterable[tuple[str, str]]:
        """Every live behavior that stands in a section with one of *ids*: the section, and its
        id."""


# Conditions are filed under a text, so that a fact finds those that it may confirm without trying
# all of them. A plain value is filed under itself in lower case; a pattern for files under what its
# last part must be: a name (Makefile), an extension (*.py), or anything; a pattern for branches
# under itself or anything. Looking up sometimes gives too many (src/*.py for docs/a.py), never too
# few.


def filed_under(key: str, value: str) -> str:
    """Return the text under which the condition *key* = *value* is filed.

    >>> filed_under("file", "src/**/*.test.ts"), filed_under("file", "docs/Makefile"), filed_under("file", "docs/**")
    ('*.ts', 'Makefile', '')
    >>> filed_under("language", "Python"), filed_under("branch", "main"), filed_under("branch", "release/*")
    ('python', 'main', '')
    """
    if key not in ("file", "branch"):
        return value.casefold()
    value = value.replace("\\", "/")
    if key == "branch":
        return ANYTHING if any(sign in value for sign in _WILD) else value
    last = (value.split("/") if value.startswith("/") else _parts(value) or [""])[-1]
    if last == ".":
        return ANYTHING
    literal = last[max(last.rfind(sign) for sign in _WILD) + 1 :]
    if literal == last:
        return last
    _, dot, extension = literal.rpartition(".")
    return "*." + extension if dot else ANYTHING


def looked_up(key: str, fact: str) -> tuple[str, ...]:
    """Return the texts under which conditions are filed that the fact *key* = *fact* may confirm.

    >>> looked_up("file", "/home/me/src/app.test.ts"), looked_up("task", "Testing")
    (('app.test.ts', '*.ts', ''), ('testing',))
    """
    if key not in ("file", "branch"):
        return (fact.casefold(),)
    fact = fact.replace("\\", "/")
    parts = _parts(fact)
    if key == "branch":  # matching ignores empty parts and dots
        return (*dict.fromkeys((fact, "/".join(parts))), ANYTHING)
    name = parts[-1] if parts else ""
    _, dot, extension = name.rpartition(".")
    return (name, "*." + extension, ANYTHING) if dot else (name, ANYTHING) if name else (ANYTHING,)


def _parts(path: str) -> list[str]:
    return [part for part in path.split("/") if part not in ("", ".")]
