"""Rules for calls that fail: the same call again, one error from many inputs, edits that miss."""

from __future__ import annotations

from brim.agents.events import Message
from brim.memory.entries import remember
from brim.memory.quotes import masked_line
from brim.memory.repetition.commands import looks, unfiltered
from brim.memory.repetition.errors import QuotedCode, has_moved
from brim.memory.repetition.findings import DeadEnd, FailedTries, StepRule
from brim.memory.repetition.git import moves_tree
from brim.memory.repetition.step import SessionStep

CALLS = 3
CALLS_TRANSIENT = 6
CALLS_POLL = 10
INPUTS = 4
MISSES = 3
"""From how many tries each rule speaks."""

MOST_REMEMBERED = 256
"""What each rule remembers of an agent. The oldest are forgotten."""

_FARTHEST = 40
"""Two tries with more steps than these between them are not the same search for a way."""


class _FailedCall(FailedTries):
    """One call that fails the same way."""

    def __init__(self) -> None:
        super().__init__()
        self.signature = ""
        self.quoted: QuotedCode = ()
        self.edits = 0
        """How many edits there had been when it failed last."""
        self.waits = 0
        """How often the agent had waited by then."""
        self.has_waited = False

    def is_same_failure(self, step: SessionStep, edits: int) -> bool:
        """Whether *step*, after so many *edits*, fails as it did before."""
        if self.signature != _signature(step) or has_moved(self.quoted, step.quoted):
            return False
        is_another_try = step.check is not None and self.edits != edits
        return self.reported or not is_another_try

    def note(self, step: SessionStep, *, edits: int, waits: int) -> None:
        """Note how it failed in *step*, and whether the agent waited where waiting can help."""
        has_waited = self.times > 0 and self.waits != waits
        if has_waited and (looks(step.parts) or step.says_not_ready):
            self.has_waited = True
        self.signature = _signature(step)
        self.quoted = step.quoted
        self.edits = edits
        self.waits = waits

    def first_report(self, step: SessionStep) -> int:
        """Return from how many tries it is worth a word."""
        if self.has_waited or step.polls:
            return CALLS_POLL
        if step.outcome.transient and step.check is None:
            return CALLS_TRANSIENT
        return CALLS


def _signature(step: SessionStep) -> str:
    return step.signature or step.result.text[:200].strip()


class SameCall(StepRule):
    """Confirms the same call failing the same way three times, with no success in between.

    Where failing is part of waiting it takes longer: a passing error (the network, a lock) six
    times, a command that looks whether something is ready ten times. Between such commands, so does
    a look at a file, or asking what doesn't answer yet. A check after an edit, or after git put
    another version in place, is another try: ``FailingTests`` looks at those.
    """

    def __init__(self) -> None:
        self._calls: dict[int, _FailedCall] = {}
        self._edits = 0
        self._waits = 0

    def step(self, step: SessionStep) -> list[DeadEnd]:
        """Count *step*; the same call going well resolves what was found."""
        self._edits += bool(step.changes) or moves_tree(step.parts)
        self._waits += step.polls
        if not step.is_try or step.outcome.not_found:
            return []
        key = hash(step.input)
        if step.failed:
            return self._failed(step, key)
        if step.outcome.kind == "ok":
            return self._went_well(step, key)
        return []

    def _failed(self, step: SessionStep, key: int) -> list[DeadEnd]:
        failed_call = self._calls.get(key)
        if failed_call is None or not failed_call.is_same_failure(step, self._edits):
            failed_call = _FailedCall()
        remember(self._calls, key, failed_call, MOST_REMEMBERED)
        failed_call.note(step, edits=self._edits, waits=self._waits)
        if not failed_call.failed_again(step, failed_call.first_report(step)):
            return []
        return [failed_call.dead_end(step, "same-call", "confirmed", step.input, step.subject)]

    def _went_well(self, step: SessionStep, key: int) -> list[DeadEnd]:
        failed_call = self._calls.pop(key, None)
        if failed_call is None or not failed_call.reported:
            return []
        return [failed_call.dead_end(step, "same-call", "resolved", step.input, step.subject)]

    def person_spoke(self, _: Message) -> list[DeadEnd]:
        """Start over: whatever a person says, the next try is theirs."""
        self._calls = {key: call for key, call in self._calls.items() if call.reported}
        return []


class _SharedError(FailedTries):
    """One error, and the inputs that end in it."""

    def __init__(self) -> None:
        super().__init__()
        self.inputs: frozenset[int] = frozenset()
        self.subjects: list[str] = []
        self.last_step = 0

    def add_input(self, input_key: int, step: SessionStep) -> bool:
        """Add an input; return whether their number is worth a report."""
        self.times = len(self.inputs)
        self.inputs |= {input_key}
        self.subjects = [*self.subjects, step.short_subject][-INPUTS:]
        return self.failed_again(step, INPUTS)

    def suspect(self, step: SessionStep, key: str, status: str) -> DeadEnd:
        """Return the inputs as what was tried at *step*."""
        subjects = " | ".join([masked_line(subject, 450) for subject in self.subjects])
        return self.dead_end(step, "same-error", status, key, masked_line(subjects))


class SameError(StepRule):
    """Suspects one error from four different inputs.

    Reading and searching are left out (looking for a file in four places is looking), and so are
    errors that pass on their own and linters. The same command in another folder, or a check with
    other flags, isn't another input.
    """

    def __init__(self) -> None:
        self._errors: dict[str, _SharedError] = {}
        self._error_of_input: dict[int, str] = {}
        self._steps = 0

    def step(self, step: SessionStep) -> list[DeadEnd]:
        """Count *step*; one of the inputs going well resolves what was suspected."""
        self._steps += 1
        if not step.is_try:
            return []
        if step.outcome.kind == "ok":
            return self._went_well(step, _input_key(step))
        if _counts_as_error(step):
            return self._failed(step, _input_key(step))
        return []

    def _failed(self, step: SessionStep, input_key: int) -> list[DeadEnd]:
        key = f"{step.call.kind or step.call.name}\0{step.signature}"
        error = self._errors.get(key)
        if error is None or self._is_too_far(error):
            error = _SharedError()
        remember(self._errors, key, error, MOST_REMEMBERED)
        error.last_step = self._steps
        if input_key in error.inputs or len(error.inputs) >= MOST_REMEMBERED:
            return []
        remember(self._error_of_input, input_key, key, MOST_REMEMBERED)
        if not error.add_input(input_key, step):
            return []
        return [error.suspect(step, key, "suspect")]

    def _is_too_far(self, error: _SharedError) -> bool:
        return not error.reported and self._steps - error.last_step > _FARTHEST

    def _went_well(self, step: SessionStep, input_key: int) -> list[DeadEnd]:
        key = self._error_of_input.pop(input_key, "")
        error = self._errors.get(key)
        if error is None:
            return []
        if not error.reported:
            error.inputs -= {input_key}
            return []
        del self._errors[key]
        return [error.suspect(step, key, "resolved")]

    def person_spoke(self, _: Message) -> list[DeadEnd]:
        """Start over: whatever a person says, the next try is theirs."""
        self._errors = {key: error for key, error in self._errors.items() if error.reported}
        return []


def _input_key(step: SessionStep) -> int:
    """Return what tells inputs apart."""
    if step.check is not None:
        return hash(f"{step.check.name}\0{step.check.target}")
    working_parts = [part for part in step.parts if part.words[0] not in ("cd", "pushd")]
    return hash(unfiltered(working_parts) or step.input)


def _counts_as_error(step: SessionStep) -> bool:
    if not step.failed or step.outcome.not_found or not step.signature:
        return False
    if step.check is not None:
        return step.check.kind != "lint"
    return not (step.only_looks or step.polls or step.outcome.transient)


class MissedEdits(StepRule):
    """Suspects three edits of one file whose old text isn't in it, with none going well between."""

    def __init__(self) -> None:
        self._misses: dict[str, FailedTries] = {}

    def step(self, step: SessionStep) -> list[DeadEnd]:
        """Count *step*; a change of the file that goes well resolves what was suspected."""
        if step.outcome.not_found:
            return self._missed(step)
        dead_ends = []
        for change in step.changes:
            misses = self._misses.pop(change.path, None)
            if misses is not None and misses.reported:
                dead_ends.append(_missed_edit(step, change.path, misses, "resolved"))
        return dead_ends

    def _missed(self, step: SessionStep) -> list[DeadEnd]:
        dead_ends = []
        for path in step.call.files[:1]:
            misses = self._misses.get(path) or FailedTries()
            remember(self._misses, path, misses, MOST_REMEMBERED)
            if misses.failed_again(step, MISSES):
                dead_ends.append(_missed_edit(step, path, misses, "suspect"))
        return dead_ends


def _missed_edit(step: SessionStep, path: str, misses: FailedTries, status: str) -> DeadEnd:
    return misses.dead_end(step, "missed-edit", status, path, masked_line(f"edit {path}"))
