"""What holds now, by the journal: nothing that was withdrawn, each file once, the last title."""

from __future__ import annotations

from brim.scratch.entries import SECTIONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from brim.scratch.entries import Entry


class View:
    """The entries that hold, by kind and in order, and the title of the work."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        self.job = ""
        self.phase = ""
        entries = list(entries)
        gone = withdrawn(entries)
        self._kinds: dict[str, list[Entry]] = {section.kind: [] for section in SECTIONS}
        for entry in entries:
            if entry.kind == "job":
                self.job, self.phase = entry.text, str(entry.refs.get("phase", ""))
            elif entry.kind in self._kinds and (entry.session, entry.id) not in gone:
                self._kinds[entry.kind].append(entry)
        self._kinds["artifact"] = _newest(self._kinds["artifact"], lambda entry: entry.text)
        self._kinds["dead-end"] = _newest(self._kinds["dead-end"], lambda entry: str(entry.refs.get("key") or ""))

    def of(self, kind: str) -> list[Entry]:
        """Return the entries of *kind*, oldest first."""
        return self._kinds.get(kind, [])


def _newest(entries: list[Entry], key: Callable[[Entry], str]) -> list[Entry]:
    """Return the last of *entries* for each *key*, and all that have none."""
    newest = {key(entry): entry for entry in entries}
    return [entry for entry in entries if not key(entry) or newest[key(entry)] is entry]


def withdrawn(entries: Iterable[Entry]) -> dict[tuple[str, str], Entry]:
    """Return what takes an entry back, by the session and id of that entry."""
    taken = [entry for entry in entries if entry.kind == "withdrawn" and entry.refs.get("of")]
    return {(entry.session, str(entry.refs["of"])): entry for entry in taken}
