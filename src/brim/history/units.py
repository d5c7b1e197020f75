"""What stands or falls together."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from brim.history.cuts import legal_cuts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from brim.history.reading.entry import Entry
    from brim.history.types import Provider


@dataclass(frozen=True, slots=True)
class Unit:
    """Messages that no legal cut divides: a prompt, a text of the assistant's, or a step.

    A step is a message with calls, or several that one response made, with all their results and the reasoning that
    led to them.
    """

    entries: tuple[Entry, ...]
    """The messages, read."""
    kind: str
    """``system``, ``user``, ``assistant`` or ``step``."""

    @property
    def first(self) -> Entry:
        """The message it begins with; notes of the system's in it do not count."""
        return next((entry for entry in self.entries if entry.role != "system"), self.entries[0])

    @property
    def last(self) -> Entry:
        """The message it ends with; notes of the system's in it do not count."""
        return next((entry for entry in reversed(self.entries) if entry.role != "system"), self.entries[-1])

    @property
    def indices(self) -> tuple[int, ...]:
        """The places of its messages in the list that was given."""
        return tuple(entry.index for entry in self.entries)

    @property
    def has_prompt(self) -> bool:
        """Whether a person speaks in it: then a turn begins here."""
        return any(entry.is_prompt for entry in self.entries)


def units_of(entries: Sequence[Entry], provider: Provider) -> list[Unit]:
    """Return *entries*, which are sound, as units in order."""
    cuts = legal_cuts(entries, provider)
    return [Unit(tuple(entries[start:stop]), _kind(entries[start:stop])) for start, stop in pairwise(cuts)]


def _kind(entries: Sequence[Entry]) -> str:
    if any(entry.calls for entry in entries):
        return "step"
    if any(entry.is_prompt for entry in entries):
        return "user"
    return "system" if entries[0].role == "system" else "assistant"
