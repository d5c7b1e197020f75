"""The journal as it is shown: without what was taken back, what was resolved, and repetitions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from brim.memory.entries import UNCONFIRMED, MemoryEntry
from brim.memory.folder import SECTIONS

EntryKey = tuple[str, str]
"""The session and the id of an entry."""


class MemoryView:
    """The entries that hold, by kind and in order, and the title of the work."""

    def __init__(self, entries: Iterable[MemoryEntry]) -> None:
        self.job = ""
        self.phase = ""
        entries = list(entries)
        gone = {*withdrawn(entries), *_resolved(entries)}
        confirmed = confirmed_prompts(entries)
        self.unconfirmed: list[MemoryEntry] = []
        """Prompts that no line of the client's transcript has said yet: nobody's words so far."""
        self._kinds: dict[str, list[MemoryEntry]] = {section.kind: [] for section in SECTIONS}
        for entry in entries:
            if entry.kind == "job":
                self.job = entry.text
                self.phase = str(entry.refs.get("phase", ""))
            elif entry.refs.get(UNCONFIRMED) and (entry.session, entry.id) not in confirmed:
                self.unconfirmed.append(entry)
            elif entry.kind in self._kinds and (entry.session, entry.id) not in gone:
                self._kinds[entry.kind].append(entry)
        self._fold()

    def of(self, kind: str) -> list[MemoryEntry]:
        """Return the entries of *kind*, oldest first."""
        return self._kinds.get(kind, [])

    def _fold(self) -> None:
        """Show each file, each dead end and each failing command once, as it was last."""
        kinds = self._kinds
        kinds["artifact"] = _newest(kinds["artifact"], lambda entry: ("", entry.text))
        kinds["dead-end"] = _newest(kinds["dead-end"], _dead_end_key)
        kinds["command"] = _counted(kinds["command"])
        kinds["lost"] = _of_last_compaction(kinds["lost"])


def withdrawn(entries: Iterable[MemoryEntry]) -> dict[EntryKey, MemoryEntry]:
    """Return the entries that take another one back, by its session and id."""
    entries_by_key: dict[EntryKey, MemoryEntry] = {}
    for entry in entries:
        if entry.kind == "withdrawn" and entry.refs.get("of"):
            entries_by_key[(entry.session, str(entry.refs["of"]))] = entry
    return entries_by_key


def confirmed_prompts(entries: Iterable[MemoryEntry]) -> set[EntryKey]:
    """Return the entries that the client's transcript has too, by session and id."""
    return {
        (entry.session, str(entry.refs.get("of", ""))) for entry in entries if entry.kind == "same"
    }


def _resolved(entries: list[MemoryEntry]) -> set[EntryKey]:
    """Return the dead ends that worked in the end, by session and id."""
    open_ends: dict[str, list[EntryKey]] = {}
    resolved: set[EntryKey] = set()
    for entry in entries:
        key = str(entry.refs.get("key") or "")
        if not key:
            continue
        if entry.kind == "dead-end":
            open_ends.setdefault(key, []).append((entry.session, entry.id))
        elif entry.kind == "resolved":
            resolved.update(open_ends.pop(key, []))
    return resolved


def _dead_end_key(entry: MemoryEntry) -> tuple[str, str] | None:
    key = entry.refs.get("key")
    return (entry.session, str(key)) if key else None


def _newest(
    entries: list[MemoryEntry], key_of: Callable[[MemoryEntry], tuple[str, str] | None]
) -> list[MemoryEntry]:
    """Return the last of *entries* for each key, and all that have none."""
    newest = {key_of(entry): entry for entry in entries}
    visible = []
    for entry in entries:
        key = key_of(entry)
        if key is None or newest[key] is entry:
            visible.append(entry)
    return visible


def _counted(entries: list[MemoryEntry]) -> list[MemoryEntry]:
    """Return each failing command once, as it failed last, with how often it failed."""
    counts: dict[tuple[str, str], int] = {}
    for entry in entries:
        key = (entry.session, entry.text)
        counts[key] = counts.get(key, 0) + 1
    visible = []
    for entry in _newest(entries, lambda entry: (entry.session, entry.text)):
        times = counts[(entry.session, entry.text)]
        visible.append(replace(entry, refs={**entry.refs, "times": times}) if times > 1 else entry)
    return visible


def _of_last_compaction(entries: list[MemoryEntry]) -> list[MemoryEntry]:
    """Return what the last summary of each session left out."""
    last = {entry.session: entry.refs.get("compaction") for entry in entries}
    return [entry for entry in entries if entry.refs.get("compaction") == last[entry.session]]
