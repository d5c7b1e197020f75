"""The rule for edits that are taken back, by another edit or by git."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain

from brim.agents.events import Message
from brim.memory.entries import remember
from brim.memory.quotes import masked_line
from brim.memory.repetition.edits import Edit, FileChange, Versions, is_temporary
from brim.memory.repetition.failures import MOST_REMEMBERED
from brim.memory.repetition.findings import DeadEnd, StepRule, dead_end, places
from brim.memory.repetition.git import GitStep, git_steps
from brim.memory.repetition.step import SessionStep

STAYS_FOR = 8
"""Calls after which an edit that was undone counts as given up."""

_MOST_STASHES = 8
_MOST_FILES = 4
_OUTPUT = 20_000

_EditsByFile = dict[str, list[Edit]]


@dataclass(frozen=True)
class _Undo:
    """Edits that were taken back a moment ago."""

    dead_end: DeadEnd
    marks: frozenset[int]
    """The edits."""
    paths: tuple[str, ...]
    left: int | None
    """The version that was left."""
    step: int

    def is_taken_back_by(self, change: FileChange) -> bool:
        """Whether *change* puts the same edit back: then undoing it was only a look."""
        if change.is_reported and hash(change) in self.marks:
            return True
        if change.whole is None or change.path not in self.paths:
            return False
        return self.left == hash(change.whole)


class Undone(StepRule):
    """Confirms an edit undone after a check failed, by another edit or by git.

    It's a dead end when it stays so: the file is edited in another way, the turn ends, a person
    writes, or eight more calls go by. Putting the same edit back forgets it: that was a look at
    what the edit does. What a person asked for is their decision and no dead end: a message between
    the edit and its undoing ends the matter. Without a failing check nobody knows why. Lines that
    only show what happens, temporary files, and files that weren't edited here are left out.
    """

    def __init__(self) -> None:
        self._versions: dict[str, Versions] = {}
        self._loose: _EditsByFile = {}
        """Edits that are in no commit yet."""
        self._committed: _EditsByFile = {}
        self._stashes: list[_EditsByFile] = []
        self._undos: list[_Undo] = []
        self._turn = 0
        self._steps = 0
        self._failed_step = 0
        self._error = ""

    def step(self, step: SessionStep) -> list[DeadEnd]:
        """Follow *step*."""
        self._steps += 1
        if step.failed and step.check is not None:
            self._failed_step = self._steps
            self._error = step.raw_error
        dead_ends: list[DeadEnd] = []
        for change in step.changes:
            dead_ends += self._changed(step, change)
        for git_step in _finished_git_steps(step):
            self._follow_git(step, git_step)
        old = [undo for undo in self._undos if self._steps - undo.step >= STAYS_FOR]
        return dead_ends + self._confirm(old)

    def person_spoke(self, _: Message) -> list[DeadEnd]:
        """Confirm what was undone before a person wrote; what is undone after is theirs."""
        self._turn += 1
        return self._confirm(self._undos)

    def turn_ended(self) -> list[DeadEnd]:
        """Confirm what was undone in this turn."""
        return self._confirm(self._undos)

    def _confirm(self, undos: list[_Undo]) -> list[DeadEnd]:
        """Return what *undos* found, and forget them."""
        self._undos = [undo for undo in self._undos if undo not in undos]
        return [undo.dead_end for undo in undos]

    # Undone by an edit ----------------------------------------------------------------------------

    def _changed(self, step: SessionStep, change: FileChange) -> list[DeadEnd]:
        if is_temporary(change.path, step.root):
            return []
        before = _text_before(step)
        versions = self._versions.get(change.path) or Versions()
        remember(self._versions, change.path, versions, MOST_REMEMBERED)
        edit = Edit(change, before=before, at=step.call.at, turn=self._turn, when=self._steps)
        every = step.call.input.get("replace_all") is True
        undone, left = versions.apply(change, edit, before=before, every=every)
        self._undos = [undo for undo in self._undos if not undo.is_taken_back_by(change)]
        loose = self._loose.get(change.path, [])
        if not undone:
            remember(self._loose, change.path, [*loose, edit][-MOST_REMEMBERED:], MOST_REMEMBERED)
            return self._confirm([undo for undo in self._undos if change.path in undo.paths])
        marks = {undone_edit.mark for undone_edit in undone}
        self._loose[change.path] = [one for one in loose if one.mark not in marks]
        self._note(step, {change.path: undone}, left)
        return []

    # Undone by git --------------------------------------------------------------------------------

    def _follow_git(self, step: SessionStep, git_step: GitStep) -> None:
        undone = self._taken_back(git_step)
        for path in undone:
            self._versions.pop(path, None)
        self._note(step, undone, None)

    def _taken_back(self, git_step: GitStep) -> _EditsByFile:
        """Follow what git did; return the edits that are gone."""
        if git_step.does == "commit":
            self._committed = self._loose
            self._loose = {}
        elif git_step.does == "stash":
            self._stashes = [*self._stashes, self._loose][-_MOST_STASHES:]
            self._loose = {}
        elif git_step.does == "pop" and self._stashes:
            for path, edits in self._stashes.pop().items():
                self._loose[path] = [*edits, *self._loose.get(path, [])]
        elif git_step.does == "drop" and self._stashes:
            return self._stashes.pop()
        elif git_step.does in ("restore", "reset"):
            return self._restored(git_step)
        return {}

    def _restored(self, git_step: GitStep) -> _EditsByFile:
        undone: _EditsByFile = {}
        if git_step.commits:
            undone = self._committed
            self._committed = {}
        for path in list(self._loose):
            if git_step.takes_back(path):
                undone[path] = self._loose.pop(path)
        return undone

    # What is noted --------------------------------------------------------------------------------

    def _note(self, step: SessionStep, undone: _EditsByFile, left: int | None) -> None:
        """Note what *step* has *undone*, unless a person may have wanted it."""
        edits = list(chain.from_iterable(undone.values()))
        if all(edit.only_looks for edit in edits):
            return
        if any(edit.turn != self._turn for edit in edits):
            return
        if self._failed_step <= min(edit.when for edit in edits):
            return
        paths = tuple([path for path, file_edits in undone.items() if file_edits])
        edit_places = [edit.at for edit in edits]
        undone_edit = dead_end(
            step.call,
            "undone-edit",
            "confirmed",
            f"{sorted(paths)}{edit_places}{step.call.at}",
            _subject(edits, paths),
            at=places((), *edit_places, step.call.at),
            times=len(edits),
            error=masked_line(self._error),
        )
        marks = frozenset([edit.mark for edit in edits])
        self._undos = [*self._undos, _Undo(undone_edit, marks, paths, left, self._steps)]


def _subject(edits: list[Edit], paths: tuple[str, ...]) -> str:
    """Return what was undone, for a person."""
    last = edits[-1].summary
    if len(edits) == 1:
        return masked_line(last)
    return masked_line(f"{len(edits)} edits of {', '.join(paths[:_MOST_FILES])}; last {last}")


def _finished_git_steps(step: SessionStep) -> list[GitStep]:
    """Return the git commands of *step* that did what they should."""
    if step.changes:
        return []
    if step.outcome.kind == "ok":
        return git_steps(step.parts)
    if step.failed and "--continue" in step.command and "CONFLICT" in step.result.text[:_OUTPUT]:
        # Git went on to the next conflict: the solution of the one before is committed.
        return [git_step for git_step in git_steps(step.parts) if git_step.does == "commit"]
    return []


def _text_before(step: SessionStep) -> str | None:
    """Return the whole text of the file before *step*, None if the client doesn't report it."""
    if len(step.changes) != 1 or not isinstance(step.result.detail, Mapping):
        return None
    text = step.result.detail.get("originalFile")
    return text if isinstance(text, str) else None
