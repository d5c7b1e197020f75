"""Keeps one thing from being written twice, and two things from becoming one.

A caller may hand over an entry by itself and, before or after, in a model: that is one entry. Saying the same thing
twice is two. What tells them apart, in this order: an event that is in the journal by its id is there; each entry of a
model meets one that this writer was handed with the same words, and no two meet the same; an event with an id meets
one that somebody else wrote without, within five minutes, and the journal notes which.
"""

from __future__ import annotations

from brim.scratch.journal import NUMBERED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brim.scratch.entries import Entry
    from brim.scratch.journal_file import Journal

NEAR = 300.0
"""Seconds within which an entry of another process may be the same as an event that comes without it."""


class Matching:
    """What one writer has written, and what of it still waits for its other half."""

    def __init__(self) -> None:
        self._read: tuple[Journal, int] | None = None
        self._begin()

    def _begin(self) -> None:
        self._handed: dict[tuple[str, str], list[Entry]] = {}
        self._modelled: dict[tuple[str, str], list[Entry]] = {}
        self._own: set[int] = set()
        self._ids: dict[tuple[str, str], Entry] = {}
        self._loose: dict[tuple[str, str, str], list[Entry]] = {}
        self._claimed: set[str] = set()
        self._count = 0

    def learn(self, journal: Journal) -> bool:
        """Take in what *journal* holds by now; whether it is another one than before, in which nothing is yet."""
        now = (journal, journal.version)
        anew = self._read is not None and self._read != now
        if anew:
            self._begin()
        for entry in journal.entries[self._count :]:
            self._ids.setdefault((entry.session, entry.id), entry)
            if entry.kind == "same":
                self._claimed.add(str(entry.refs.get("of", "")))
            elif entry.id.startswith(NUMBERED):
                self._loose.setdefault((entry.session, entry.kind, entry.text), []).append(entry)
        self._read, self._count = now, len(journal.entries)
        return anew

    def handed(self, entry: Entry) -> Entry | None:
        """Return the entry of a model that *entry*, handed over by itself, is the other half of."""
        return _first(self._modelled, entry)

    def modelled(self, entry: Entry, *, now: float, replay: bool) -> Entry | None:
        """Return what the *entry* of a model is in the journal already, None if it is new.

        A *replay* reads a session again from its beginning: then times do not matter, only how often a thing was said.
        """
        if entry.id and (known := self._ids.get((entry.session, entry.id))) is not None:
            return known
        if not replay and (met := _first(self._handed, entry)) is not None:
            return met
        if not entry.id and not replay:
            return None
        time = entry.time if entry.time is not None else now
        for session in {entry.session: 0, "": 0}:
            for loose in self._loose.get((session, entry.kind, entry.text), ()):
                near = loose.time is not None and abs(loose.time - time) <= NEAR
                allowed = near and loose.number not in self._own
                if replay:
                    allowed = near or session == entry.session
                if allowed and loose.id not in self._claimed:
                    self._claimed.add(loose.id)
                    return loose
        return None

    def wrote(self, entry: Entry, *, by_itself: bool) -> None:
        """Note that *entry* was written, handed over *by_itself* or in a model."""
        self._own.add(entry.number)
        waiting = self._handed if by_itself else self._modelled
        waiting.setdefault((entry.kind, entry.text), []).append(entry)


def _first(waiting: dict[tuple[str, str], list[Entry]], entry: Entry) -> Entry | None:
    found = waiting.get((entry.kind, entry.text))
    return found.pop(0) if found else None
