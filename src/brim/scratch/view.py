"""What holds now, by the journal: nothing that was withdrawn, each file once, the last title."""

from __future__ import annotations

from brim.scratch.entries import SECTIONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

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
            elif entry.kind in self._kinds and not (entry.id and entry.id in gone):
                self._kinds[entry.kind].append(entry)
        newest = {artifact.text: artifact for artifact in self._kinds["artifact"]}
        self._kinds["artifact"] = [each for each in self._kinds["artifact"] if newest[each.text] is each]

    def of(self, kind: str) -> list[Entry]:
        """Return the entries of *kind*, oldest first."""
        return self._kinds.get(kind, [])


def withdrawn(entries: Iterable[Entry]) -> dict[str, Entry]:
    """Return what takes an entry back, by the id of that entry."""
    return {str(entry.refs.get("of", "")): entry for entry in entries if entry.kind == "withdrawn"}
