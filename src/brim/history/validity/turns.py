"""Anthropic puts messages of one role that follow each other into one turn before it looks at them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING

from brim.history.reading.anthropic import blocks_of, is_directive, kind_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from brim.history.reading.entry import Entry, Role


@dataclass(frozen=True, slots=True)
class Block:
    """One block of a turn."""

    entry: Entry
    """The message that it stands in."""
    value: object
    """The block itself."""
    kind: str
    """Its type."""


@dataclass(frozen=True)
class Turn:
    """Messages of one role that follow each other."""

    role: Role
    entries: tuple[Entry, ...]

    @cached_property
    def blocks(self) -> list[Block]:
        """All their blocks, in order."""
        return [Block(entry, block, kind_of(block)) for entry in self.entries for block in blocks_of(entry.message)]

    def of(self, kind: str) -> list[Block]:
        """Return the blocks of one type."""
        return [block for block in self.blocks if block.kind == kind]


class History(tuple["Entry", ...]):
    """Entries whose turns are found once, though many rules ask for them."""

    @cached_property
    def turns(self) -> list[Turn]:
        """The turns in it."""
        return turns_of(tuple(self))


def turns_of(history: Sequence[Entry]) -> list[Turn]:
    """Return the turns of *history*; settings without a text are in none."""
    if isinstance(history, History):
        return history.turns
    said = [entry for entry in history if not is_directive(entry.message)]
    return [Turn(role, tuple(entries)) for role, entries in groupby(said, key=lambda entry: entry.role)]


def with_next(turns: list[Turn]) -> Iterator[tuple[Turn | None, Turn | None]]:
    """Yield every turn with the one after it, the first with None before it and the last with None after it."""
    yield from zip([None, *turns], [*turns, None], strict=True)
