"""The rule for checks that stay red: the same failure after two different edits."""

from __future__ import annotations

from dataclasses import dataclass

from brim.memory.entries import remember
from brim.memory.quotes import masked_line
from brim.memory.repetition.checks import Check
from brim.memory.repetition.edits import FileChange, is_prose, is_temporary, only_looks
from brim.memory.repetition.errors import QuotedCode, has_moved
from brim.memory.repetition.failures import MOST_REMEMBERED
from brim.memory.repetition.findings import DeadEnd, StepRule, dead_end, has_grown, places
from brim.memory.repetition.step import SessionStep

EDITS = 2
"""From how many edits the rule speaks."""

_OUTPUT_END = 20_000
_UNTELLING = ("index", "main", "mod", "lib", "__init__", "init", "app")


@dataclass(frozen=True)
class _TriedEdit:
    """One edit: enough of it to tell it from others."""

    number: int
    path: str
    summary: str
    mark: int


class _RedCheck:
    """One way of failing, and the edits that didn't change it."""

    def __init__(self, check: Check, last_edit: int) -> None:
        self.check = check
        self.last_edit = last_edit
        """The number of the last edit before it failed last."""
        self.at: tuple[int, ...] = ()
        self.quoted: QuotedCode = ()
        self.marks: frozenset[int] = frozenset()
        self.summaries: list[str] = []


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
        self._red_checks: dict[str, _RedCheck] = {}
        self._edits: list[_TriedEdit] = []
        self._number = 0

    def step(self, step: SessionStep) -> list[DeadEnd]:
        """Take in edits, and compare each failing check with the ones before."""
        for change in step.changes:
            if _is_a_try(change, step.root):
                self._add_edit(change)
        check = step.check
        if check is None or check.kind == "lint":
            return []
        if step.outcome.kind == "ok":
            self._forget(check)
        if step.failed and step.signature:
            return self._failed(step, check)
        return []

    def _add_edit(self, change: FileChange) -> None:
        self._number += 1
        mark = hash(change)
        if not change.is_reported:  # then it isn't known to be the same as any other
            mark = hash((change.path, self._number))
        edit = _TriedEdit(self._number, change.path, change.summary, mark)
        self._edits = [*self._edits, edit][-MOST_REMEMBERED:]

    def _forget(self, check: Check) -> None:
        """Forget how *check* failed, now that it passed."""
        for signature, red_check in list(self._red_checks.items()):
            if (red_check.check.name, red_check.check.target) == (check.name, check.target):
                del self._red_checks[signature]

    def _failed(self, step: SessionStep, check: Check) -> list[DeadEnd]:
        red_check = self._red_checks.pop(step.signature, None)
        if red_check is None or has_moved(red_check.quoted, step.quoted):
            red_check = _RedCheck(check, self._number)
        red_check.quoted = step.quoted
        red_check.at = places(red_check.at, step.call.at)
        remember(self._red_checks, step.signature, red_check, MOST_REMEMBERED)
        tries = self._edits_since(red_check, step, is_whole=not check.target)
        red_check.last_edit = self._number
        mark = hash(tuple([edit.mark for edit in tries]))
        if not tries or mark in red_check.marks:
            return []
        red_check.marks |= {mark}
        red_check.summaries = [*red_check.summaries, tries[-1].summary][-3:]
        if not has_grown(len(red_check.marks), EDITS):
            return []
        return [_dead_end(step, red_check)]

    def _edits_since(
        self, red_check: _RedCheck, step: SessionStep, *, is_whole: bool
    ) -> list[_TriedEdit]:
        """Return the edits since the check failed last that it can be about."""
        text = step.result.text
        output = f"{step.command}\n{text[:_OUTPUT_END]}\n{text[-_OUTPUT_END:]}".lower()
        edits = []
        for edit in self._edits:
            is_later = edit.number > red_check.last_edit
            if is_later and (not is_whole or _names(output, edit.path)):
                edits.append(edit)
        return edits


def _dead_end(step: SessionStep, red_check: _RedCheck) -> DeadEnd:
    count = len(red_check.marks)
    command = masked_line(step.command, 300)
    subject = masked_line(f"{command} after {count} edits: {' | '.join(red_check.summaries)}")
    return dead_end(
        step.call,
        "failing-test",
        "confirmed",
        f"{step.signature}\0{red_check.at[0]}",
        subject,
        at=red_check.at,
        times=count + 1,
        error=step.error,
    )


def _is_a_try(change: FileChange, root: str) -> bool:
    """Whether *change* can make a check pass."""
    if only_looks(change.old, change.new) or only_looks(change.new, change.old):
        return False
    return not is_prose(change.path) and not is_temporary(change.path, root)


def _names(output: str, path: str) -> bool:
    """Whether an *output* names the file *path*; if its name says nothing, its folder."""
    names = path.lower().replace("\\", "/").rsplit("/", 2)
    stem = names[-1].split(".", 1)[0]
    if stem not in _UNTELLING and len(stem) >= 3:
        return stem in output
    if names[-1] in output:
        return True
    return len(names) > 1 and len(names[-2]) > 2 and names[-2] in output
