"""The versions that a file went through, and which edits a change takes back.

Hashes are kept, and of each edit a line that says what it was; never the file.

Where a client tells the whole text before an edit, a version is that text's hash. Where it tells only what was
replaced, a version is the one before it and the replacement; the opposite replacement leads back.
"""

from __future__ import annotations

from brim.scratch.dead_ends.edits import Change, only_looks

_MOST = 64


class Edit:
    """One edit that is still in the file."""

    __slots__ = ("at", "mark", "new", "old", "only_looks", "said", "turn", "when")

    def __init__(self, change: Change, *, before: str | None, at: int, turn: int, when: int) -> None:
        self.mark = change.mark
        self.old, self.new = hash(change.old), hash(change.new)
        self.said = change.said
        looks_from = before if change.whole is not None else change.old
        self.only_looks = (change.whole is None or before is not None) and only_looks(
            looks_from, change.whole if change.whole is not None else change.new
        )
        self.at, self.turn, self.when = at, turn, when


class Versions:
    """The versions of one file, oldest first, each with the edit that led to it (None: nobody's, or one outside)."""

    def __init__(self) -> None:
        self._known: list[tuple[int, Edit | None]] = []

    def apply(self, change: Change, edit: Edit, *, before: str | None, every: bool) -> tuple[list[Edit], int]:
        """Take *change* in as *edit*, and return the edits that it takes back, and the version that it leaves.

        *before* is the whole text of the file before it, None if that is not told; *every* is whether it replaces all.
        """
        self._begin(before)
        left = self._known[-1][0]
        version = self._after(change, edit, before, every)
        if version == left:
            return [], left
        place = next((i for i, (known, _) in enumerate(self._known) if known == version), None)
        if place is not None:
            undone = [done for _, done in self._known[place + 1 :] if done is not None]
            del self._known[place + 1 :]
            return undone, left
        opposite = self._opposite(change, edit)
        if opposite is not None:
            done = self._known[opposite][1]
            self._known = [(known, None if kept is done else kept) for known, kept in self._known]
            self._known.append((version, None))
            return [done] if done is not None else [], left
        self._known.append((version, edit))
        del self._known[:-_MOST]
        return [], left

    def _begin(self, before: str | None) -> None:
        if not self._known:
            self._known.append((hash(before) if before is not None else 0, None))
        elif before is not None and self._known[-1][0] != hash(before):
            # Somebody else changed it, or the version before was known only by its replacements.
            last, edit = self._known[-1]
            self._known[-1] = (hash(before), edit) if edit is not None else (last, edit)
            if edit is None:
                self._known.append((hash(before), None))

    def _after(self, change: Change, edit: Edit, before: str | None, every: bool) -> int:
        if change.whole is not None:
            return hash(change.whole)
        if change.by or (change.old is None and change.new is None):
            return hash((self._known[-1][0], edit.at, edit.when))
        if before is not None and change.old and change.old in before:
            return hash(before.replace(change.old, change.new or "", -1 if every else 1))
        last = self._known[-1][1]
        if last is not None and last.old == edit.new and last.new == edit.old and len(self._known) > 1:
            return self._known[-2][0]
        return hash((self._known[-1][0], edit.old, edit.new))

    def _opposite(self, change: Change, edit: Edit) -> int | None:
        if change.old is None or change.new is None:
            return None
        for place in range(len(self._known) - 1, 0, -1):
            done = self._known[place][1]
            if done is not None and done.old == edit.new and done.new == edit.old:
                return place
        return None
