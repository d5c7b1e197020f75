"""Whether an entry is in the journal already."""

from __future__ import annotations

from brim.memory.entries import MemoryEntry
from brim.memory.journal import NUMBERED, Journal

NEAR = 300.0
"""Seconds within which an entry by another process may be the same as an event without an id."""

_Words = tuple[str, str]
"""The kind and the text of an entry."""


class Matching:
    """Finds out whether an entry is in the journal already.

    A caller may append an entry on its own and, before or after, in a model: that's one entry.
    Saying the same thing twice is two. The rules, in this order: an event whose id is in the
    journal is there. Each entry of a model matches one with the same words that was appended on its
    own, and no two match the same. An event with an id matches an entry without one that another
    process wrote within five minutes, and the journal notes that.
    """

    def __init__(self) -> None:
        self._learned: tuple[Journal, int] | None = None
        self._begin()

    def _begin(self) -> None:
        self._appended: dict[_Words, list[MemoryEntry]] = {}
        self._modelled: dict[_Words, list[MemoryEntry]] = {}
        self._own_numbers: set[int] = set()
        self._ids: dict[tuple[str, str], MemoryEntry] = {}
        self._without_id: dict[tuple[str, str, str], list[MemoryEntry]] = {}
        self._claimed: set[str] = set()
        self._count = 0

    def learn(self, journal: Journal) -> bool:
        """Learn the new entries of *journal*; return whether it's another journal than before."""
        version = (journal, journal.version)
        is_another = self._learned is not None and self._learned != version
        if is_another:
            self._begin()
        for entry in journal.entries[self._count :]:
            self._learn_entry(entry)
        self._learned = version
        self._count = len(journal.entries)
        return is_another

    def _learn_entry(self, entry: MemoryEntry) -> None:
        self._ids.setdefault((entry.session, entry.id), entry)
        if entry.kind == "same":
            self._claimed.add(str(entry.refs.get("of", "")))
        elif entry.id.startswith(NUMBERED):
            key = (entry.session, entry.kind, entry.text)
            self._without_id.setdefault(key, []).append(entry)

    def appended(self, entry: MemoryEntry) -> MemoryEntry | None:
        """Return the entry of a model that matches *entry*, which was appended on its own."""
        return _take_first(self._modelled, entry)

    def modelled(self, entry: MemoryEntry, *, now: float, replay: bool) -> MemoryEntry | None:
        """Return the journal's entry for the *entry* of a model; None if it is new.

        A *replay* reads a session again from its beginning: then only the number of repetitions
        matters, not the time.
        """
        if entry.id and (entry.session, entry.id) in self._ids:
            return self._ids[(entry.session, entry.id)]
        if not replay:
            appended = _take_first(self._appended, entry)
            if appended is not None:
                return appended
            if not entry.id:
                return None
        return self._claim(entry, now=now, replay=replay)

    def _claim(self, entry: MemoryEntry, *, now: float, replay: bool) -> MemoryEntry | None:
        """Return an entry without an id that says the same, which no other has claimed."""
        time = now if entry.time is None else entry.time
        for session in dict.fromkeys((entry.session, "")):
            for candidate in self._without_id.get((session, entry.kind, entry.text), ()):
                if candidate.id in self._claimed:
                    continue
                if replay and session == entry.session:
                    fits = True
                else:
                    fits = self._is_near(candidate, time, replay=replay)
                if fits:
                    self._claimed.add(candidate.id)
                    return candidate
        return None

    def _is_near(self, candidate: MemoryEntry, time: float, *, replay: bool) -> bool:
        """Whether *candidate* was written near *time*; unless it is a *replay*, by another."""
        if candidate.time is None or abs(candidate.time - time) > NEAR:
            return False
        return replay or candidate.number not in self._own_numbers

    def wrote(self, entry: MemoryEntry, *, by_itself: bool) -> None:
        """Note that *entry* was written, on its own (*by_itself*) or from a model."""
        self._own_numbers.add(entry.number)
        waiting = self._appended if by_itself else self._modelled
        waiting.setdefault((entry.kind, entry.text), []).append(entry)


def _take_first(waiting: dict[_Words, list[MemoryEntry]], entry: MemoryEntry) -> MemoryEntry | None:
    entries = waiting.get((entry.kind, entry.text))
    return entries.pop(0) if entries else None
