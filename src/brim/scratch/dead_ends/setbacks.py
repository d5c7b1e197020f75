"""Rules that confirm what was given up: undone edits, sub-agents that failed, and a person's own backtracks."""

from __future__ import annotations

from collections import namedtuple

from brim.files import data_lines
from brim.scratch.dead_ends.commands import GitStep, any_of, covers, git_steps
from brim.scratch.dead_ends.edits import Change, Edit, Versions, is_temporary
from brim.scratch.dead_ends.step import DeadEnd, Rule, Step, dead_end, places
from brim.scratch.entries import remember
from brim.scratch.quotes import masked_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brim.tracking.events import End, Message, ToolCall

STAYS_FOR = 8
_MOST_FILES = 256
_MOST_EDITS = 64
_MOST_AGENTS = 512


_Undo = namedtuple("_Undo", ("found", "marks", "paths", "left", "when"))
"""Edits that were taken back a moment ago: marks and files of the edits, the version left, and the step's number."""


class Undone(Rule):
    """Confirms an edit undone, by an edit that leads back to an earlier version or by git.

    It's suspected when it happens, and confirmed when it stays so: the file is edited in another way, the turn ends, a
    person writes, or eight more calls go by. Putting the same edit back resolves it: that was a look at what the edit
    does. What a person asked for is their decision and no dead end: a message between the edit and its undoing ends the
    matter. Lines that only show what happens, temporary files, and files that were not edited here are left out.
    """

    def __init__(self) -> None:
        self._versions: dict[str, Versions] = {}
        self._loose: dict[str, list[Edit]] = {}
        """Edits that are in no commit yet, by file."""
        self._committed: dict[str, list[Edit]] = {}
        self._stashed: list[dict[str, list[Edit]]] = []
        self._undos: list[_Undo] = []
        self._turn = self._steps = 0
        self._failure = (0, "")

    def step(self, step: Step) -> list[DeadEnd]:
        """Follow *step*."""
        self._steps += 1
        found: list[DeadEnd] = []
        if step.failed and step.is_try:
            self._failure = self._steps, step.raw_error
        for change in step.changes:
            found += self._changed(step, change)
        went_well = step.outcome.kind == "ok"
        # Where git went on to the next conflict, what solved the one before is committed.
        goes_on = step.failed and "--continue" in step.command and "CONFLICT" in step.result.text[:20_000]
        for move in git_steps(step.parts) if not step.changes and (went_well or goes_on) else ():
            if went_well or move.does == "commit":
                found += self._moved(step, move)
        return found + self._confirm([undo for undo in self._undos if self._steps - undo.when >= STAYS_FOR])

    def _changed(self, step: Step, change: Change) -> list[DeadEnd]:
        if is_temporary(change.path, step.root):
            return []
        detail = step.result.detail if isinstance(step.result.detail, dict) else {}
        told = detail.get("originalFile") if len(step.changes) == 1 else None
        before = told if isinstance(told, str) else None
        versions = self._versions.get(change.path) or Versions()
        remember(self._versions, change.path, versions, _MOST_FILES)
        edit = Edit(change, before=before, at=step.call.at, turn=self._turn, when=self._steps)
        every = step.call.input.get("replace_all") is True
        undone, left = versions.apply(change, edit, before=before, every=every)
        found = self._put_back(change)
        loose = self._loose.get(change.path, [])
        if undone:
            gone = {edit.mark for edit in undone}
            self._loose[change.path] = [edit for edit in loose if edit.mark not in gone]
            return found or self._report(step, {change.path: undone}, left)
        remember(self._loose, change.path, [*loose, edit][-_MOST_EDITS:], _MOST_FILES)
        return found + self._confirm([undo for undo in self._undos if change.path in undo.paths])

    def _put_back(self, change: Change) -> list[DeadEnd]:
        whole = hash(change.whole) if change.whole is not None else None
        back = [
            undo
            for undo in self._undos
            if (change.is_told and hash(change) in undo.marks)
            or (whole is not None and undo.left == whole and change.path in undo.paths)
        ]
        self._undos = [undo for undo in self._undos if undo not in back]
        return [undo.found.replace(status="resolved") for undo in back]

    def _moved(self, step: Step, move: GitStep) -> list[DeadEnd]:
        gone: dict[str, list[Edit]] = {}
        if move.does == "commit":
            self._committed, self._loose = self._loose, {}
        elif move.does == "stash":
            self._stashed = [*self._stashed, self._loose][-8:]
            self._loose = {}
        elif move.does == "pop" and self._stashed:
            for path, edits in self._stashed.pop().items():
                self._loose[path] = [*edits, *self._loose.get(path, [])]
        elif move.does == "drop" and self._stashed:
            gone = self._stashed.pop()
        elif move.does in ("restore", "reset"):
            if move.commits:
                gone, self._committed = self._committed, {}
            for path in list(self._loose):
                if move.everything or any(covers(given, path) for given in move.paths):
                    gone[path] = self._loose.pop(path)
        for path in gone:
            self._versions.pop(path, None)
        return self._report(step, gone, None)

    def _report(self, step: Step, gone: dict[str, list[Edit]], left: int | None) -> list[DeadEnd]:
        edits = [edit for done in gone.values() for edit in done]
        if not edits or any(edit.turn != self._turn for edit in edits) or all(edit.only_looks for edit in edits):
            return []
        when, error = self._failure
        files = [path for path, done in gone.items() if done]
        several = f"{len(edits)} edits of {', '.join(files[:4])}; last " if len(edits) > 1 else ""
        key = f"{sorted(files)}{[edit.at for edit in edits]}{step.call.at}"
        what, at = masked_line(several + edits[-1].said), places((), *[edit.at for edit in edits], step.call.at)
        error = masked_line(error) if when > min(edit.when for edit in edits) else ""
        found = dead_end(step.call, "undone-edit", "suspect", key, what, at=at, times=len(edits), error=error)
        self._undos = [*self._undos, _Undo(found, {edit.mark for edit in edits}, files, left, self._steps)]
        return [found]

    def _confirm(self, done: list[_Undo]) -> list[DeadEnd]:
        self._undos = [undo for undo in self._undos if undo not in done]
        return [undo.found.replace(status="confirmed") for undo in done]

    def person_spoke(self) -> list[DeadEnd]:
        """Confirm what was undone before a person wrote; what is undone after is theirs."""
        self._turn += 1
        return self._confirm(self._undos)

    def turn_ended(self) -> list[DeadEnd]:
        """Confirm what was undone in this turn."""
        return self._confirm(self._undos)


class SubAgents:
    """Confirms a sub-agent ending in error. A busy provider and a person's stop don't count."""

    def __init__(self) -> None:
        self._asked: dict[str, tuple[str, int]] = {}
        self._ended: dict[str, None] = {}

    def called(self, call: ToolCall) -> None:
        """Remember what a sub-agent is asked."""
        told = [call.input.get(name) for name in ("description", "prompt", "message", "task", "query", "name")]
        what = next((text for text in told if isinstance(text, str) and text.strip()), call.name)
        remember(self._asked, call.id, (masked_line(what), call.at), _MOST_AGENTS)

    def step(self, step: Step) -> list[DeadEnd]:
        """Return that a sub-agent failed, if the call of one did."""
        name = step.result.detail.get("agentId") if isinstance(step.result.detail, dict) else None
        if isinstance(name, str) and name and step.call.id in self._asked:
            self._asked[name] = self._asked[step.call.id]
        if not step.failed or step.outcome.transient or not self._first(step.call.id, name):
            return []
        what, _ = self._asked.get(step.call.id, (step.what, 0))
        what, at = masked_line(f"sub-agent: {what}"), (step.call.at, step.result.at)
        return [dead_end(step.call, "sub-agent", "confirmed", step.call.id, what, at=at, error=step.error)]

    def ended(self, end: End) -> list[DeadEnd]:
        """Return that a sub-agent failed, if its own end says so."""
        if not end.agent or not end.error or any_of("transient.txt").search(end.text[:2_000]):
            return []
        if any_of("interrupted.txt").search(f"{end.reason} {end.text[:200]}") or not self._first(end.agent):
            return []
        what, at = self._asked.get(end.agent, (end.agent, end.at))
        what, error = masked_line(f"sub-agent: {what}"), masked_line(end.text or end.reason)
        return [dead_end(end, "sub-agent", "confirmed", "", what, at=(at, end.at), error=error)]

    def _first(self, *ids: object) -> bool:
        """Note that an agent with *ids* ended; return whether none of them had."""
        names = [one for one in ids if isinstance(one, str) and one]
        known = any(one in self._ended for one in names)
        for one in names:
            remember(self._ended, one, None, _MOST_AGENTS)
        return not known


class Backtracks(Rule):
    """Confirms that a person takes edits back with the client's own command (``data/backtracks.txt``)."""

    _asked = ""
    _edits = 0
    _at: tuple[int, ...] = ()

    def step(self, step: Step) -> list[DeadEnd]:
        """Take in the edits of *step*."""
        self._edits += len(step.changes)
        self._at = places(self._at, *[step.call.at for _ in step.changes])
        return []

    def said(self, message: Message) -> list[DeadEnd]:
        """Return that a person took the edits back, if that is what *message* does."""
        first = message.text.split(None, 1)[0].lower() if message.text.strip() else ""
        edits, at, asked = self._edits, places(self._at, message.at), self._asked
        self._edits, self._at = 0, ()
        if first not in data_lines(__file__, "backtracks.txt"):
            self._asked = masked_line(message.text)
            return []
        what = masked_line(f"taken back with {first}: {asked or 'the last edits'}")
        found = dead_end(message, "backtrack", "confirmed", str(message.at), what, at=at, times=edits)
        return [found] if edits else []
