"""Rules about the same failure again and again.

Four suspect: ``SameCall`` (the same call with the same failure), ``SameError`` (one error from different inputs),
``Alternation`` (two calls in turn, nothing changes) and ``MissedEdits`` (the text to replace isn't there).
``FailingTests`` confirms: the same test fails the same way after two different edits.
"""

from __future__ import annotations

from collections import namedtuple

from brim.scratch.dead_ends.commands import any_of, looks, moves_tree, unfiltered
from brim.scratch.dead_ends.edits import is_prose, is_temporary, only_looks
from brim.scratch.dead_ends.step import CLIP, DeadEnd, Rule, Step, dead_end, grown, moved, places, settled
from brim.scratch.entries import remember
from brim.scratch.quotes import begun, masked_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brim.scratch.dead_ends.commands import Check

CALLS = 3
CALLS_TRANSIENT = 6
CALLS_POLL = 10
INPUTS = 4
TURNS = 4
MISSES = 3
EDITS = 2
"""From how many tries each rule speaks."""

_MOST_CALLS = 256
_MOST_ERRORS = 64
_MOST_INPUTS = 64
_APART = 40
"""Two tries with more steps than these between them are not the same search for a way."""
_CLIP = 1_500
_MOST_OPEN = 16
_MOST_FILES = 128
_MOST_FAILURES = 64
_MOST_EDITS = 128
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

    def again(self, step: Step, first: int) -> bool:
        """Count *step*; return whether that is worth a report: at the *first* number, and whenever it doubled."""
        self.times += 1
        self.at = places(self.at, step.call.at)
        if grown(self.times, first):
            self.reported, self.error = True, step.error
            return True
        return False

    def found(self, step: Step, rule: str, status: str, key: str, what: str) -> DeadEnd:
        return dead_end(step.call, rule, status, key, what, at=self.at, times=self.times, error=self.error)


class SameCall(Rule):
    """Suspects the same call with the same failure three times.

    Where failing is part of waiting it takes more: a passing error (the network, a lock) six times, a command that
    looks whether something is ready ten times. Between such commands, so does a look at a file, or asking what doesn't
    answer yet. A check after an edit, or after git put another version in place, is another try: ``FailingTests``
    looks at those.
    """

    def __init__(self) -> None:
        self._tries: dict[int, _Tries] = {}
        self._edits = self._waits = 0

    def step(self, step: Step) -> list[DeadEnd]:
        """Count *step*; the same call going well resolves what was suspected of it."""
        self._edits += bool(step.changes) or moves_tree(step.parts)
        self._waits += step.polls
        if not step.is_try or step.outcome.not_found or step.outcome.kind not in ("ok", "failed"):
            return []
        key = hash(step.input)
        tries = self._tries.pop(key, None)
        if not step.failed:
            reported = tries is not None and tries.reported
            return [tries.found(step, "same-call", "resolved", step.input, step.what)] if tries and reported else []
        signature = step.signature or step.result.text[:200].strip()
        edited = step.check is not None and tries is not None and tries.edits != self._edits
        other = tries is None or tries.signature != signature or moved(tries.quoted, step.quoted)
        if tries is None or other or (edited and not tries.reported):
            tries = _Tries()
        remember(self._tries, key, tries, _MOST_CALLS)
        tries.signature, tries.quoted, tries.edits = signature, step.quoted, self._edits
        # Waiting can help if something is looked at, or doesn't answer yet.
        may_come = looks(step.parts) or any_of("not_ready.txt").search(step.signature) is not None
        tries.waited = tries.waited or (tries.times > 0 and tries.waits != self._waits and may_come)
        tries.waits = self._waits
        passing = step.outcome.transient and step.check is None
        first = CALLS_POLL if tries.waited or step.polls else CALLS_TRANSIENT if passing else CALLS
        return [tries.found(step, "same-call", "suspect", step.input, step.what)] if tries.again(step, first) else []

    def person_spoke(self) -> list[DeadEnd]:
        """Start over: whatever a person says, the next try is theirs."""
        self._tries = {key: tries for key, tries in self._tries.items() if tries.reported}
        return []


class SameError(Rule):
    """Suspects one error from four different inputs.

    Reading and searching are left out (looking for a file in four places is looking), and so are errors that pass on
    their own and linters. The same command in another folder, or a check with other flags, isn't another input.
    """

    def __init__(self) -> None:
        self._groups: dict[str, _Tries] = {}
        self._of_input: dict[int, str] = {}
        self._steps = 0

    def step(self, step: Step) -> list[DeadEnd]:
        """Count *step*; one of the inputs going well resolves what was suspected."""
        self._steps += 1
        if not step.is_try:
            return []
        same = unfiltered([part for part in step.parts if part.words[0] not in ("cd", "pushd")]) or step.input
        given = hash(f"{step.check.name}\0{step.check.target}" if step.check is not None else same)
        if step.outcome.kind == "ok":
            return self._went_well(step, given)
        linted = step.check is not None and step.check.kind == "lint"
        looked = step.call.tool in ("read", "search") or looks(step.parts) or step.polls or step.outcome.transient
        if not step.failed or step.outcome.not_found or not step.signature or linted or (looked and not step.check):
            return []
        key = f"{step.call.tool or step.call.name}\0{step.signature}"
        group = self._groups.pop(key, None)
        if group is None or (not group.reported and self._steps - group.last > _APART):
            group = _Tries()
        remember(self._groups, key, group, _MOST_ERRORS)
        group.last = self._steps
        if given in group.inputs or len(group.inputs) >= _MOST_INPUTS:
            return []
        group.times = len(group.inputs)
        group.inputs |= {given}
        group.what = (*group.what, begun(step.command or step.what, CLIP))[-INPUTS:]
        remember(self._of_input, given, key, _MOST_ERRORS * INPUTS)
        return [self._found(step, key, group, "suspect")] if group.again(step, INPUTS) else []

    def _went_well(self, step: Step, given: int) -> list[DeadEnd]:
        key = self._of_input.pop(given, None)
        group = self._groups.pop(key, None) if key is not None else None
        if key is None or group is None:
            return []
        if group.reported:
            return [self._found(step, key, group, "resolved")]
        group.inputs -= {given}
        self._groups[key] = group
        return []

    def _found(self, step: Step, key: str, group: _Tries, status: str) -> DeadEnd:
        several = " | ".join([masked_line(what, 450) for what in group.what])
        return group.found(step, "same-error", status, key, masked_line(several))

    def person_spoke(self) -> list[DeadEnd]:
        """Start over: whatever a person says, the next try is theirs."""
        self._groups = {key: group for key, group in self._groups.items() if group.reported}
        return []


_Seen = namedtuple("_Seen", ("input", "text", "what", "at"))
"""One call of the last few, and what it answered."""


class Alternation(Rule):
    """Suspects two calls alternating four times, each with the same result every time.

    Calls that fail are left to ``SameCall``, which sees them sooner. Waiting, and changing a file, ends it.
    """

    def __init__(self) -> None:
        self._last: list[_Seen] = []
        self._open: dict[int, tuple[str, DeadEnd]] = {}

    def step(self, step: Step) -> list[DeadEnd]:
        """Look whether *step* is one more turn of the same two; another result of either resolves it."""
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

    def _suspect(self, step: Step) -> DeadEnd:
        one, other = self._last[0], self._last[1]
        at = places((), *[seen.at for seen in self._last])
        key = "\0".join(sorted([one.what, other.what]))
        what = masked_line(f"{masked_line(one.what, 900)} | {masked_line(other.what, 900)}")
        found = dead_end(step.call, "alternating", "suspect", key, what, at=at, times=TURNS)
        for seen in (one, other):
            remember(self._open, seen.input, (settled(seen.text), found), _MOST_OPEN)
        return found

    def _resolved(self, seen: _Seen) -> list[DeadEnd]:
        text, known = self._open.get(seen.input, ("", None))
        if known is None or text == settled(seen.text):
            return []
        self._open = {key: value for key, value in self._open.items() if value[1] is not known}
        return [known.replace(status="resolved")]

    def person_spoke(self) -> list[DeadEnd]:
        """Start over: whatever a person says, the next call is theirs."""
        self._last = []
        return []


class MissedEdits(Rule):
    """Suspects three edits of one file whose old text isn't in it, with no edit going well in between."""

    def __init__(self) -> None:
        self._misses: dict[str, _Tries] = {}

    def step(self, step: Step) -> list[DeadEnd]:
        """Count *step*; a change of the file that goes well resolves what was suspected."""
        found = []
        for change in step.changes:
            if (misses := self._misses.pop(change.path, None)) and misses.reported:
                found.append(self._found(step, change.path, misses, "resolved"))
        path = step.call.input.get("file_path")
        if not step.outcome.not_found or not isinstance(path, str) or not path:
            return found
        misses = self._misses.get(path) or _Tries()
        remember(self._misses, path, misses, _MOST_FILES)
        return [*found, self._found(step, path, misses, "suspect")] if misses.again(step, MISSES) else found

    def _found(self, step: Step, path: str, misses: _Tries, status: str) -> DeadEnd:
        return misses.found(step, "missed-edit", status, path, masked_line(f"edit {path}"))


_Tried = namedtuple("_Tried", ("number", "path", "said", "mark"))
"""One edit: enough of it to tell it from others."""


class FailingTests(Rule):
    """Confirms the same test failing the same way after two different edits.

    It must have failed that way before the first of them too: a test that is written first fails by design. A test is
    the same when its errors are, whatever flags it ran with; what a builder or type checker says counts as well, what a
    linter says doesn't. A run of everything counts only if its failure, or the command, names a file that was edited: a
    test that has been broken all along says nothing about work elsewhere. Prose, temporary files and lines that only
    show what happens don't count as a try.
    """

    def __init__(self) -> None:
        self._failures: dict[str, tuple[Check, _Tries]] = {}
        """The ways of failing, each with its check and the edits that didn't change it."""
        self._edits: list[_Tried] = []
        self._number = 0

    def step(self, step: Step) -> list[DeadEnd]:
        """Take in edits, and compare each failing check with the ones before."""
        for change in step.changes:
            shows = only_looks(change.old, change.new) or only_looks(change.new, change.old)
            if not (shows or is_prose(change.path) or is_temporary(change.path, step.root)):
                self._number += 1
                # An edit of which only the file is told is not known to be the same as any other.
                mark = hash(change) if change.is_told else hash((change.path, self._number))
                edit = _Tried(self._number, change.path, change.said, mark)
                self._edits = [*self._edits, edit][-_MOST_EDITS:]
        check = step.check
        if check is None or check.kind == "lint":
            return []
        if step.outcome.kind == "ok":
            passed = check.name, check.target
            failures = self._failures.items()
            self._failures = {key: one for key, one in failures if (one[0].name, one[0].target) != passed}
        return self._failed(step, check) if step.failed and step.signature else []

    def _failed(self, step: Step, check: Check) -> list[DeadEnd]:
        key = step.signature
        first, failure = self._failures.pop(key, (check, _Tries()))
        if not failure.at or moved(failure.quoted, step.quoted):
            first, failure = check, _Tries()
            failure.last = self._number
        failure.quoted, failure.at = step.quoted, places(failure.at, step.call.at)
        remember(self._failures, key, (first, failure), _MOST_FAILURES)
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
        what = masked_line(f"{masked_line(step.command, 300)} after {count} edits: {' | '.join(failure.what)}")
        more = {"at": at, "times": count + 1, "error": step.error}
        return [dead_end(step.call, "failing-test", "confirmed", f"{key}\0{at[0]}", what, **more)]


def _names(told: str, path: str) -> bool:
    """Whether an output names the file *path*; where its own name tells nothing, the folder that it is in."""
    pieces = path.lower().replace("\\", "/").rsplit("/", 2)
    stem = pieces[-1].split(".", 1)[0]
    if stem in _UNTELLING or len(stem) < 3:
        return pieces[-1] in told or (len(pieces) > 1 and len(pieces[-2]) > 2 and pieces[-2] in told)
    return stem in told
