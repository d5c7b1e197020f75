"""Confirmed: an edit undone, by an edit that leads back to an earlier version or by git.

It is suspected when it happens, and confirmed when it stays so: the file is edited in another way, the turn ends, a
person writes, or eight more calls go by. Putting the same edit back resolves it: that was a look at what the edit does.
What a person asked for is their decision and no dead end: a message between the edit and its undoing ends the matter.
Lines that only show what happens, temporary files, and files that were not edited here are left out.
"""

from __future__ import annotations

from brim.scratch.dead_ends.edits import Change, is_temporary
from brim.scratch.dead_ends.finding import DeadEnd, masked_line, places
from brim.scratch.dead_ends.git import GitStep, covers, git_steps
from brim.scratch.dead_ends.step import Rule, Step
from brim.scratch.dead_ends.versions import Edit, Versions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

STAYS_FOR = 8
_MOST_FILES = 256
_MOST_EDITS = 64


class _Undo:
    """Edits that were taken back a moment ago."""

    __slots__ = ("found", "left", "marks", "paths", "steps")

    def __init__(self, found: DeadEnd, marks: set[int], paths: set[str], left: int | None) -> None:
        self.found, self.marks, self.paths, self.left = found, marks, paths, left
        self.steps = 0


class Undone(Rule):
    """Follows every file that is edited, and what git does to them."""

    def __init__(self) -> None:
        self._versions: dict[str, Versions] = {}
        self._loose: dict[str, list[Edit]] = {}
        """Edits that are in no commit yet, by file."""
        self._committed: dict[str, list[Edit]] = {}
        self._stashed: list[dict[str, list[Edit]]] = []
        self._undos: list[_Undo] = []
        self._turn = 0
        self._steps = 0
        self._failure = (0, "")

    def step(self, step: Step) -> list[DeadEnd]:
        """Follow *step*."""
        self._steps += 1
        found: list[DeadEnd] = []
        if step.failed and step.is_try:
            self._failure = self._steps, step.raw_error
        if step.changes:
            for change in step.changes:
                found += self._changed(step, change)
        elif step.command and "git" in step.command and (step.outcome.kind == "ok" or _goes_on(step)):
            for move in git_steps(step.parts):
                if step.outcome.kind == "ok" or move.does == "commit":
                    found += self._moved(step, move)
        for undo in self._undos:
            undo.steps += 1
        return found + self._confirm([undo for undo in self._undos if undo.steps > STAYS_FOR])

    def _changed(self, step: Step, change: Change) -> list[DeadEnd]:
        if is_temporary(change.path, step.root):
            return []
        detail = step.result.detail if isinstance(step.result.detail, dict) else {}
        before = detail.get("originalFile") if len(step.changes) == 1 else None
        versions = self._versions.pop(change.path, None) or Versions()
        self._versions[change.path] = versions
        while len(self._versions) > _MOST_FILES:
            del self._versions[next(iter(self._versions))]
        before = before if isinstance(before, str) else None
        edit = Edit(change, before=before, at=step.call.at, turn=self._turn, when=self._steps)
        every = step.call.input.get("replace_all") is True
        undone, left = versions.apply(change, edit, before=before, every=every)
        found = self._put_back(change)
        if undone:
            gone = {edit.mark for edit in undone}
            loose = self._loose.get(change.path, [])
            self._loose[change.path] = [edit for edit in loose if edit.mark not in gone]
            return found + ([] if found else self._report(step, {change.path: undone}, left))
        found += self._confirm([undo for undo in self._undos if change.path in undo.paths])
        self._loose[change.path] = [*self._loose.get(change.path, []), edit][-_MOST_EDITS:]
        while len(self._loose) > _MOST_FILES:
            del self._loose[next(iter(self._loose))]
        return found

    def _put_back(self, change: Change) -> list[DeadEnd]:
        whole = hash(change.whole) if change.whole is not None else None
        back = [
            undo
            for undo in self._undos
            if (change.is_told and change.mark in undo.marks)
            or (whole is not None and undo.left == whole and change.path in undo.paths)
        ]
        self._undos = [undo for undo in self._undos if undo not in back]
        return [undo.found.changed(status="resolved") for undo in back]

    def _moved(self, step: Step, move: GitStep) -> list[DeadEnd]:
        if move.does == "commit":
            self._committed, self._loose = self._loose, {}
        elif move.does == "stash":
            self._stashed = [*self._stashed, self._loose][-8:]
            self._loose = {}
        elif move.does == "pop" and self._stashed:
            for path, edits in self._stashed.pop().items():
                self._loose[path] = [*edits, *self._loose.get(path, [])]
        elif move.does == "drop" and self._stashed:
            return self._taken_back(step, self._stashed.pop())
        elif move.does in ("restore", "reset"):
            gone = {
                path: self._loose.pop(path)
                for path in list(self._loose)
                if move.everything or any(covers(given, path) for given in move.paths)
            }
            if move.commits:
                gone = {**self._committed, **gone}
                self._committed = {}
            return self._taken_back(step, gone)
        return []

    def _taken_back(self, step: Step, gone: dict[str, list[Edit]]) -> list[DeadEnd]:
        for path in gone:
            self._versions.pop(path, None)
        return self._report(step, gone, None)

    def _report(self, step: Step, gone: dict[str, list[Edit]], left: int | None) -> list[DeadEnd]:
        edits = [edit for done in gone.values() for edit in done]
        if not edits or any(edit.turn != self._turn for edit in edits) or all(edit.only_looks for edit in edits):
            return []
        at: tuple[int, ...] = ()
        for place in (*[edit.at for edit in edits], step.call.at):
            at = places(at, place)
        when, error = self._failure
        files = [path for path, done in gone.items() if done]
        several = f"{len(edits)} edits of {', '.join(files[:4])}; last " if len(edits) > 1 else ""
        found = step.dead_end(
            "undone-edit",
            "suspect",
            f"{sorted(files)}{[edit.at for edit in edits]}{step.call.at}",
            what=masked_line(several + edits[-1].said),
            times=len(edits),
            error=masked_line(error) if when > min(edit.when for edit in edits) else "",
            at=at,
        )
        self._undos = [*self._undos, _Undo(found, {edit.mark for edit in edits}, set(files), left)]
        return [found]

    def _confirm(self, undos: Iterable[_Undo]) -> list[DeadEnd]:
        done = list(undos)
        self._undos = [undo for undo in self._undos if undo not in done]
        return [undo.found.changed(status="confirmed") for undo in done]

    def person_spoke(self) -> list[DeadEnd]:
        """Confirm what was undone before a person wrote; what is undone after is theirs."""
        self._turn += 1
        return self._confirm(self._undos)

    def turn_ended(self) -> list[DeadEnd]:
        """Confirm what was undone in this turn."""
        return self._confirm(self._undos)


def _goes_on(step: Step) -> bool:
    """Whether git went on to the next conflict: what solved the one before is committed."""
    return step.failed and "--continue" in step.command and "CONFLICT" in step.result.text[:20_000]
