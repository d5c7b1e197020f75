"""The rules that find dead ends, and the detector that gives them every step.

Four rules only suspect: ``SameCall`` (the same call fails the same way again), ``SameError`` (one
error from different inputs), ``Alternation`` (two calls in turn, and nothing changes) and
``MissedEdits`` (the text to replace isn't there). The others confirm: ``FailingTests`` (a test
fails the same way after two edits), ``Undone`` edits, ``SubAgents`` that failed and a person's own
``Backtracks``.
"""

from __future__ import annotations

from collections import namedtuple
from dataclasses import replace

from brim.agents.call import ToolCall
from brim.agents.events import End, Message, StateSeen, ToolResult
from brim.files import data_lines
from brim.memory.entries import remember
from brim.memory.quotes import begun, masked_line
from brim.memory.repetition.commands import (
    Check,
    GitStep,
    any_of,
    covers,
    git_steps,
    goes_to,
    looks,
    moves_tree,
    unfiltered,
)
from brim.memory.repetition.edits import (
    Edit,
    FileChange,
    Versions,
    is_prose,
    is_temporary,
    only_looks,
)
from brim.memory.repetition.step import (
    CLIP,
    DeadEnd,
    SessionStep,
    StepRule,
    dead_end,
    grown,
    moved,
    places,
    settled,
)

CALLS = 3
CALLS_TRANSIENT = 6
CALLS_POLL = 10
INPUTS = 4
TURNS = 4
MISSES = 3
EDITS = 2
"""From how many tries each rule speaks."""

STAYS_FOR = 8
"""Calls after which an edit that was undone counts as given up."""

_MOST, _MOST_AGENTS = 256, 64
"""What each rule remembers of an agent (calls, errors, files, edits), and how many agents. The
oldest are forgotten."""
_APART = 40
"""Two tries with more steps than these between them are not the same search for a way."""
_CLIP = 1_500
_UNTELLING = ("index", "main", "mod", "lib", "__init__", "init", "app")


class _Tries:
    """How often something failed and where, and what else its rule notes of it."""

    times = 0
    at: tuple[int, ...] = ()
    error = signature = ""
    reported = waited = False
    quoted: tuple[tuple[int, int], ...] = ()
    inputs: frozenset[int] = frozenset()
    what: tuple[str, ...] = ()
    edits = waits = last = 0

    def again(self, step: SessionStep, first: int) -> bool:
        """Count *step*; return whether that is worth a report: at the *first* number, and whenever
        it doubled."""
        self.times += 1
        self.at = places(self.at, step.call.at)
        if grown(self.times, first):
            self.reported, self.error = True, step.error
            return True
        return False

    def found(self, step: SessionStep, rule: str, status: str, key: str, what: str) -> DeadEnd:
        return dead_end(
            step.call, rule, status, key, what, at=self.at, times=self.times, error=self.error
        )


class SameCall(StepRule):
    """Suspects the same call with the same failure three times.

    Where failing is part of waiting it takes more: a passing error (the network, a lock) six times,
    a command that looks whether something is ready ten times. Between such commands, so does a look
    at a file, or asking what doesn't answer yet. A check after an edit, or after git put another
    version in place, is another try: ``FailingTests`` looks at those.
    """

    def __init__(self) -> None:
        self._tries: dict[int, _Tries] = {}
        self._edits = self._waits = 0

    def step(self, step: SessionStep) -> list[DeadEnd]:
        """Count *step*; the same call going well resolves what was suspected of it."""
        self._edits += bool(step.changes) or moves_tree(step.parts)
        self._waits += step.polls
        if not step.is_try or step.outcome.not_found or step.outcome.kind not in ("ok", "failed"):
            return []
        key = hash(step.input)
        tries = self._tries.pop(key, None)
        if not step.failed:
            solved = [tries] if tries and tries.reported else []
            return [
                each.found(step, "same-call", "resolved", step.input, step.what) for each in solved
            ]
        signature = step.signature or step.result.text[:200].strip()
        edited = step.check is not None and tries is not None and tries.edits != self._edits
        other = tries is None or tries.signature != signature or moved(tries.quoted, step.quoted)
        if tries is None or other or (edited and not tries.reported):
            tries = _Tries()
        remember(self._tries, key, tries, _MOST)
        tries.signature, tries.quoted, tries.edits = signature, step.quoted, self._edits
        # Waiting can help if something is looked at, or doesn't answer yet.
        may_come = looks(step.parts) or any_of("not_ready.txt").search(step.signature) is not None
        tries.waited = tries.waited or (tries.times > 0 and tries.waits != self._waits and may_come)
        tries.waits = self._waits
        passing = step.outcome.transient and step.check is None
        first = CALLS_POLL if tries.waited or step.polls else CALLS_TRANSIENT if passing else CALLS
        return (
            [tries.found(step, "same-call", "suspect", step.input, step.what)]
            if tries.again(step, first)
            else []
        )

    def person_spoke(self, _: Message) -> list[DeadEnd]:
        """Start over: whatever a person says, the next try is theirs."""
        self._tries = {key: tries for key, tries in self._tries.items() if tries.reported}
        return []


class SameError(StepRule):
    """Suspects one error from four different inputs.

    Reading and searching are left out (looking for a file in four places is looking), and so are
    errors that pass on their own and linters. The same command in another folder, or a check with
    other flags, isn't another input.
    """

    def __init__(self) -> None:
        self._groups: dict[str, _Tries] = {}
        self._of_input: dict[int, str] = {}
        self._steps = 0

    def step(self, step: SessionStep) -> list[DeadEnd]:
        """Count *step*; one of the inputs going well resolves what was suspected."""
        self._steps += 1
        if not step.is_try:
            return []
        same = (
            unfiltered([part for part in step.parts if part.words[0] not in ("cd", "pushd")])
            or step.input
        )
        given = hash(f"{step.check.name}\0{step.check.target}" if step.check is not None else same)
        if step.outcome.kind == "ok":
            return self._went_well(step, given)
        linted = step.check is not None and step.check.kind == "lint"
        looked = (
            step.call.kind in ("read", "search")
            or looks(step.parts)
            or step.polls
            or step.outcome.transient
        )
        if (
            not step.failed
            or step.outcome.not_found
            or not step.signature
            or linted
            or (looked and not step.check)
        ):
            return []
        key = f"{step.call.kind or step.call.name}\0{step.signature}"
        group = self._groups.pop(key, None)
        if group is None or (not group.reported and self._steps - group.last > _APART):
            group = _Tries()
        remember(self._groups, key, group, _MOST)
        group.last = self._steps
        if given in group.inputs or len(group.inputs) >= _MOST:
            return []
        group.times = len(group.inputs)
        group.inputs |= {given}
        group.what = (*group.what, begun(step.command or step.what, CLIP))[-INPUTS:]
        remember(self._of_input, given, key, _MOST)
        return [self._found(step, key, group, "suspect")] if group.again(step, INPUTS) else []

    def _went_well(self, step: SessionStep, given: int) -> list[DeadEnd]:
        key = self._of_input.pop(given, None)
        group = self._groups.pop(key, None) if key is not None else None
        if key is None or group is None:
            return []
        if group.reported:
            return [self._found(step, key, group, "resolved")]
        group.inputs -= {given}
        self._groups[key] = group
        return []

    def _found(self, step: SessionStep, key: str, group: _Tries, status: str) -> DeadEnd:
        several = " | ".join([masked_line(what, 450) for what in group.what])
        return group.found(step, "same-error", status, key, masked_line(several))

    def person_spoke(self, _: Message) -> list[DeadEnd]:
        """Start over: whatever a person says, the next try is theirs."""
        self._groups = {key: group for key, group in self._groups.items() if group.reported}
        return []


_Seen = namedtuple("_Seen", ("input", "text", "what", "at"))
"""One call of the last few, and what it answered."""


class Alternation(StepRule):
    """Suspects two calls alternating four times, each with the same result every time.

    Calls that fail are left to ``SameCall``, which sees them sooner. Waiting, and changing a file,
    ends it.
    """

    def __init__(self) -> None:
        self._last: list[_Seen] = []
        self._open: dict[int, tuple[str, DeadEnd]] = {}

    def step(self, step: SessionStep) -> list[DeadEnd]:
        """Look whether *step* is one more turn of the same two; another result of either resolves
        it."""
        if not step.is_try:
            return []
        if step.changes or step.polls or step.outcome.kind != "ok":
            self._last = []
            return []
        text = step.result.text
        text = text if len(text) <= 2 * _CLIP else text[:_CLIP] + text[-_CLIP:]
        seen = _Seen(hash(step.input), text, begun(step.command or step.what, CLIP), step.call.at)
        found = self._resolved(seen)
        self._last = [*self._last, seen][-2 * TURNS :]
        if self._alternates():
            found.append(self._suspect(step))
            self._last = []
        return found

    def _alternates(self) -> bool:
        last = self._last
        if len(last) < 2 * TURNS or last[0].input == last[1].input:
            return False
        pairs = [(last[i], last[i % 2]) for i in range(2, len(last))]
        same = all(one.input == other.input for one, other in pairs)
        return same and all(settled(one.text) == settled(other.text) for one, other in pairs)

    def _suspect(self, step: SessionStep) -> DeadEnd:
        one, other = self._last[0], self._last[1]
        at = places((), *[seen.at for seen in self._last])
        key = "\0".join(sorted([one.what, other.what]))
        what = masked_line(f"{masked_line(one.what, 900)} | {masked_line(other.what, 900)}")
        found = dead_end(step.call, "alternating", "suspect", key, what, at=at, times=TURNS)
        for seen in (one, other):
            remember(self._open, seen.input, (settled(seen.text), found), _MOST)
        return found

    def _resolved(self, seen: _Seen) -> list[DeadEnd]:
        text, known = self._open.get(seen.input, ("", None))
        if known is None or text == settled(seen.text):
            return []
        self._open = {key: value for key, value in self._open.items() if value[1] is not known}
        return [replace(known, status="resolved")]

    def person_spoke(self, _: Message) -> list[DeadEnd]:
        """Start over: whatever a person says, the next call is theirs."""
        self._last = []
        return []


class MissedEdits(StepRule):
    """Suspects three edits of one file whose old text isn't in it, with no edit going well in
    between."""

    def __init__(self) -> None:
        self._misses: dict[str, _Tries] = {}

    def step(self, step: SessionStep) -> list[DeadEnd]:
        """Count *step*; a change of the file that goes well resolves what was suspected."""
        found = []
        for change in step.changes:
            if (misses := self._misses.pop(change.path, None)) and misses.reported:
                found.append(self._found(step, change.path, misses, "resolved"))
        path = step.call.input.get("file_path")
        if not step.outcome.not_found or not isinstance(path, str) or not path:
            return found
        misses = self._misses.get(path) or _Tries()
        remember(self._misses, path, misses, _MOST)
        return (
            [*found, self._found(step, path, misses, "suspect")]
            if misses.again(step, MISSES)
            else found
        )

    def _found(self, step: SessionStep, path: str, misses: _Tries, status: str) -> DeadEnd:
        return misses.found(step, "missed-edit", status, path, masked_line(f"edit {path}"))


_Tried = namedtuple("_Tried", ("number", "path", "said", "mark"))
"""One edit: enough of it to tell it from others."""


class FailingTests(StepRule):
    """Confirms the same test failing the same way after two different edits.

    It must have failed that way before the first of them too: a test that is written first fails by
    design. A test is the same when its errors are, whatever flags it ran with; what a builder or
    type checker says counts as well, what a linter says doesn't. A run of everything counts only if
    its failure, or the command, names a file that was edited: a test that has been broken all along
    says nothing about work elsewhere. Prose, temporary files and lines that only show what happens
    don't count as a try.
    """

    def __init__(self) -> None:
        self._failures: dict[str, tuple[Check, _Tries]] = {}
        """The ways of failing, each with its check and the edits that didn't change it."""
        self._edits: list[_Tried] = []
        self._number = 0

    def step(self, step: SessionStep) -> list[DeadEnd]:
        """Take in edits, and compare each failing check with the ones before."""
        for change in step.changes:
            shows = only_looks(change.old, change.new) or only_looks(change.new, change.old)
            if not (shows or is_prose(change.path) or is_temporary(change.path, step.root)):
                self._number += 1
                # An edit of which only the file is told is not known to be the same as any other.
                mark = hash(change) if change.is_told else hash((change.path, self._number))
                edit = _Tried(self._number, change.path, change.said, mark)
                self._edits = [*self._edits, edit][-_MOST:]
        check = step.check
        if check is None or check.kind == "lint":
            return []
        if step.outcome.kind == "ok":
            passed = check.name, check.target
            failures = self._failures.items()
            self._failures = {
                key: one for key, one in failures if (one[0].name, one[0].target) != passed
            }
        return self._failed(step, check) if step.failed and step.signature else []

    def _failed(self, step: SessionStep, check: Check) -> list[DeadEnd]:
        key = step.signature
        first, failure = self._failures.pop(key, (check, _Tries()))
        if not failure.at or moved(failure.quoted, step.quoted):
            first, failure = check, _Tries()
            failure.last = self._number
        failure.quoted, failure.at = step.quoted, places(failure.at, step.call.at)
        remember(self._failures, key, (first, failure), _MOST)
        told = f"{step.command}\n{step.result.text[:20_000]}\n{step.result.text[-20_000:]}".lower()
        since = [edit for edit in self._edits if edit.number > failure.last]
        tries = [edit for edit in since if check.target or _names(told, edit.path)]
        failure.last = self._number
        mark = hash(tuple([edit.mark for edit in tries]))
        if not tries or mark in failure.inputs:
            return []
        failure.inputs |= {mark}
        failure.what = (*failure.what, tries[-1].said)[-3:]
        count, at = len(failure.inputs), failure.at
        if not grown(count, EDITS):
            return []
        what = masked_line(
            f"{masked_line(step.command, 300)} after {count} edits: {' | '.join(failure.what)}"
        )
        more = {"at": at, "times": count + 1, "error": step.error}
        return [dead_end(step.call, "failing-test", "confirmed", f"{key}\0{at[0]}", what, **more)]


def _names(told: str, path: str) -> bool:
    """Whether an output names the file *path*; where its own name tells nothing, the folder that it
    is in."""
    pieces = path.lower().replace("\\", "/").rsplit("/", 2)
    stem = pieces[-1].split(".", 1)[0]
    if stem in _UNTELLING or len(stem) < 3:
        return pieces[-1] in told or (
            len(pieces) > 1 and len(pieces[-2]) > 2 and pieces[-2] in told
        )
    return stem in told


_Undo = namedtuple("_Undo", ("found", "marks", "paths", "left", "when"))
"""Edits that were taken back a moment ago: marks and files of the edits, the version left, and the
step's number."""


class Undone(StepRule):
    """Confirms an edit undone, by an edit that leads back to an earlier version or by git.

    It's suspected when it happens, and confirmed when it stays so: the file is edited in another
    way, the turn ends, a person writes, or eight more calls go by. Putting the same edit back
    resolves it: that was a look at what the edit does. What a person asked for is their decision
    and no dead end: a message between the edit and its undoing ends the matter. Lines that only
    show what happens, temporary files, and files that were not edited here are left out.
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

    def step(self, step: SessionStep) -> list[DeadEnd]:
        """Follow *step*."""
        self._steps += 1
        found: list[DeadEnd] = []
        if step.failed and step.is_try:
            self._failure = self._steps, step.raw_error
        for change in step.changes:
            found += self._changed(step, change)
        went_well = step.outcome.kind == "ok"
        # Where git went on to the next conflict, what solved the one before is committed.
        goes_on = (
            step.failed and "--continue" in step.command and "CONFLICT" in step.result.text[:20_000]
        )
        for move in git_steps(step.parts) if not step.changes and (went_well or goes_on) else ():
            if went_well or move.does == "commit":
                found += self._moved(step, move)
        return found + self._confirm(
            [undo for undo in self._undos if self._steps - undo.when >= STAYS_FOR]
        )

    def _changed(self, step: SessionStep, change: FileChange) -> list[DeadEnd]:
        if is_temporary(change.path, step.root):
            return []
        detail = step.result.detail if isinstance(step.result.detail, dict) else {}
        told = detail.get("originalFile") if len(step.changes) == 1 else None
        before = told if isinstance(told, str) else None
        versions = self._versions.get(change.path) or Versions()
        remember(self._versions, change.path, versions, _MOST)
        edit = Edit(change, before=before, at=step.call.at, turn=self._turn, when=self._steps)
        every = step.call.input.get("replace_all") is True
        undone, left = versions.apply(change, edit, before=before, every=every)
        found = self._put_back(change)
        loose = self._loose.get(change.path, [])
        if undone:
            gone = {edit.mark for edit in undone}
            self._loose[change.path] = [edit for edit in loose if edit.mark not in gone]
            return found or self._report(step, {change.path: undone}, left)
        remember(self._loose, change.path, [*loose, edit][-_MOST:], _MOST)
        return found + self._confirm([undo for undo in self._undos if change.path in undo.paths])

    def _put_back(self, change: FileChange) -> list[DeadEnd]:
        whole = hash(change.whole) if change.whole is not None else None
        back = [
            undo
            for undo in self._undos
            if (change.is_told and hash(change) in undo.marks)
            or (whole is not None and undo.left == whole and change.path in undo.paths)
        ]
        self._undos = [undo for undo in self._undos if undo not in back]
        return [replace(undo.found, status="resolved") for undo in back]

    def _moved(self, step: SessionStep, move: GitStep) -> list[DeadEnd]:  # noqa: C901 - one branch for each command of git
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

    def _report(
        self, step: SessionStep, gone: dict[str, list[Edit]], left: int | None
    ) -> list[DeadEnd]:
        edits = [edit for done in gone.values() for edit in done]
        if (
            not edits
            or any(edit.turn != self._turn for edit in edits)
            or all(edit.only_looks for edit in edits)
        ):
            return []
        when, error = self._failure
        files = [path for path, done in gone.items() if done]
        several = f"{len(edits)} edits of {', '.join(files[:4])}; last " if len(edits) > 1 else ""
        key = f"{sorted(files)}{[edit.at for edit in edits]}{step.call.at}"
        what, at = (
            masked_line(several + edits[-1].said),
            places((), *[edit.at for edit in edits], step.call.at),
        )
        error = masked_line(error) if when > min(edit.when for edit in edits) else ""
        found = dead_end(
            step.call, "undone-edit", "suspect", key, what, at=at, times=len(edits), error=error
        )
        self._undos = [
            *self._undos,
            _Undo(found, {edit.mark for edit in edits}, files, left, self._steps),
        ]
        return [found]

    def _confirm(self, done: list[_Undo]) -> list[DeadEnd]:
        self._undos = [undo for undo in self._undos if undo not in done]
        return [replace(undo.found, status="confirmed") for undo in done]

    def person_spoke(self, _: Message) -> list[DeadEnd]:
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
        told = [
            call.input.get(name)
            for name in ("description", "prompt", "message", "task", "query", "name")
        ]
        what = next((text for text in told if isinstance(text, str) and text.strip()), call.name)
        remember(self._asked, call.id, (masked_line(what), call.at), _MOST)

    def step(self, step: SessionStep) -> list[DeadEnd]:
        """Return that a sub-agent failed, if the call of one did."""
        name = step.result.detail.get("agentId") if isinstance(step.result.detail, dict) else None
        if isinstance(name, str) and name and step.call.id in self._asked:
            self._asked[name] = self._asked[step.call.id]
        if not step.failed or step.outcome.transient or not self._first(step.call.id, name):
            return []
        what, _ = self._asked.get(step.call.id, (step.what, 0))
        what, at = masked_line(f"sub-agent: {what}"), (step.call.at, step.result.at)
        return [
            dead_end(
                step.call, "sub-agent", "confirmed", step.call.id, what, at=at, error=step.error
            )
        ]

    def ended(self, end: End) -> list[DeadEnd]:
        """Return that a sub-agent failed, if its own end says so."""
        if not end.agent or not end.error or any_of("transient.txt").search(end.text[:2_000]):
            return []
        if any_of("interrupted.txt").search(f"{end.reason} {end.text[:200]}") or not self._first(
            end.agent
        ):
            return []
        what, at = self._asked.get(end.agent, (end.agent, end.at))
        what, error = masked_line(f"sub-agent: {what}"), masked_line(end.text or end.reason)
        return [dead_end(end, "sub-agent", "confirmed", "", what, at=(at, end.at), error=error)]

    def _first(self, *ids: object) -> bool:
        """Note that an agent with *ids* ended; return whether none of them had."""
        names = [one for one in ids if isinstance(one, str) and one]
        known = any(one in self._ended for one in names)
        for one in names:
            remember(self._ended, one, None, _MOST)
        return not known


class Backtracks(StepRule):
    """Confirms that a person takes edits back with the client's own command
    (``data/backtracks.txt``)."""

    _asked = ""
    _edits = 0
    _at: tuple[int, ...] = ()

    def step(self, step: SessionStep) -> list[DeadEnd]:
        """Take in the edits of *step*."""
        self._edits += len(step.changes)
        self._at = places(self._at, *[step.call.at for _ in step.changes])
        return []

    def person_spoke(self, message: Message) -> list[DeadEnd]:
        """Return that a person took the edits back, if that is what *message* does."""
        first = message.text.split(None, 1)[0].lower() if message.text.strip() else ""
        edits, at, asked = self._edits, places(self._at, message.at), self._asked
        self._edits, self._at = 0, ()
        if first not in data_lines(__file__, "backtracks.txt"):
            self._asked = masked_line(message.text)
            return []
        what = masked_line(f"taken back with {first}: {asked or 'the last edits'}")
        found = dead_end(
            message, "backtrack", "confirmed", str(message.at), what, at=at, times=edits
        )
        return [found] if edits else []


class _RuleThread:
    """One agent: its calls without a result yet, its folder and its rules."""

    def __init__(self) -> None:
        self.open: dict[str, ToolCall] = {}
        self.folder = self.first_folder = ""
        kinds = (SameCall, SameError, Alternation, MissedEdits, Undone, FailingTests, Backtracks)
        self.rules: list[StepRule] = [kind() for kind in kinds]


class DeadEndDetector:
    """Give it every event in order; it returns what is new or changed, and never raises on what is
    in one.

    A suspect is reported when it comes up and whenever its number of tries has doubled; that it is
    confirmed or resolved is reported once. What it keeps is bounded, whatever the length of the
    session. *root* is the project's folder; without it that is where an agent is seen first.
    """

    def __init__(self, root: str = "") -> None:
        self._root = root
        self._threads: dict[tuple[str, str], _RuleThread] = {}
        self._sub_agents = SubAgents()

    def update(self, event: object) -> list[DeadEnd]:
        """Take in *event*, and return the dead ends that are new or changed by it."""
        if isinstance(event, ToolCall):
            if event.kind == "agent":
                self._sub_agents.called(event)
            remember(self._thread(event).open, event.id, event, _MOST)
        elif isinstance(event, ToolResult):
            return self._ended_call(event)
        elif isinstance(event, Message) and event.human:
            return [one for rule in self._thread(event).rules for one in rule.person_spoke(event)]
        elif isinstance(event, End):
            found = [one for rule in self._thread(event).rules for one in rule.turn_ended()]
            return found + self._sub_agents.ended(event)
        elif isinstance(event, StateSeen) and event.name == "folder":
            thread = self._thread(event)
            thread.folder = event.value
            thread.first_folder = thread.first_folder or event.value
        return []

    def _thread(self, event: ToolCall | ToolResult | Message | End | StateSeen) -> _RuleThread:
        key = event.session, event.agent
        thread = self._threads.get(key) or _RuleThread()
        remember(self._threads, key, thread, _MOST_AGENTS)
        return thread

    def _ended_call(self, result: ToolResult) -> list[DeadEnd]:
        thread = self._thread(result)
        call = thread.open.pop(result.id, None)
        if call is None:
            return []
        step = SessionStep(call, result, thread.folder, self._root or thread.first_folder)
        if step.parts and step.outcome.kind == "ok":
            thread.folder = goes_to(step.parts) or thread.folder
        found = [one for rule in thread.rules for one in rule.step(step)]
        return found + self._sub_agents.step(step) if call.kind == "agent" else found
