"""A history while it is being repaired."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from brim.history.reading.history import READERS
from brim.history.types import Change, Provider

if TYPE_CHECKING:
    from brim.history.reading.entry import Entry


@dataclass(eq=False, slots=True)
class Slot:
    """A place in the history."""

    index: int
    """The message of the given list that stands here, or next to which this one was added."""
    message: Any
    """The message that stands here now."""
    entry: Entry | None = None
    """What was read in it."""


@dataclass
class Draft:
    """The messages as they are now, and what was done so far."""

    slots: list[Slot]
    provider: Provider
    restore_calls: bool = False
    changes: list[Change] = field(default_factory=list)
    used: set[str] = field(default_factory=set)
    """Ids that are taken; empty until one is needed."""
    made: int = 0
    """The number of the last id that was made."""

    def read(self) -> list[tuple[Slot, Entry]]:
        """Return every slot with what its message holds."""
        return [(slot, self._entry(slot)) for slot in self.slots]

    def _entry(self, slot: Slot) -> Entry:
        """Read a message once, as long as it stays the same."""
        if slot.entry is None or slot.entry.message is not slot.message:
            slot.entry = READERS[self.provider](slot.index, slot.message)
        return slot.entry

    def note(self, slot: Slot, rule: str, action: str, text: str = "") -> None:
        """Remember one change."""
        self.changes.append(Change(slot.index, rule, action, text))

    def remove(self, slot: Slot) -> None:
        """Take *slot* out."""
        self.slots.remove(slot)

    def insert(self, at: int, index: int, message: Any) -> Slot:
        """Put a new message at a place."""
        slot = Slot(index, message)
        self.slots.insert(at, slot)
        return slot

    def fresh_id(self, prefix: str) -> str:
        """Return an id that nothing in the history has."""
        if not self.used:
            for _, entry in self.read():
                self.used.update(call.id for call in (*entry.calls, *entry.results))
                self.used.update((entry.id, *entry.opens, *entry.closes))
        self.made += 1
        while f"{prefix}{self.made}" in self.used:
            self.made += 1
        return f"{prefix}{self.made}"


Pass = Callable[[Draft], None]
"""Repairs one kind of fault, and does nothing where there is none."""
