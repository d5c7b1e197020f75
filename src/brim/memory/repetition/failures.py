"""The rule for a call that fails the same way again and again."""

from __future__ import annotations

from brim.agents.events import Message
from brim.memory.entries import remember
from brim.memory.repetition.commands import looks
from brim.memory.repetition.errors import QuotedCode, has_moved
from brim.memory.repetition.findings import DeadEnd, StepRule, dead_end, has_grown, places
from brim.memory.repetition.git import moves_tree
from brim.memory.repetition.step import SessionStep

CALLS = 3
CALLS_TRANSIENT = 6
CALLS_POLL = 10
"""From how many tries the rule speaks: of any call, of one that may pass, of one that waits."""

MOST_REMEMBERED = 256
"""What each rule remembers of an agent. The oldest are forgotten."""


class _FailedCall:
    """One call that fails the same way."""

    def __init__(self) -> None:
        self.times = 0
        self.at: tuple[int, ...] = ()
        self.error = ""
        self.reported = False
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

    def failed_again(self, step: SessionStep) -> bool:
        """Count *step*; return whether that is worth a report."""
        self.times += 1
        self.at = places(self.at, step.call.at)
        if not has_grown(self.times, self._first_report(step)):
            return False
        self.reported = True
        self.error = step.error
        return True

    def _first_report(self, step: SessionStep) -> int:
        """Return from how many tries it is worth a word."""
        if self.has_waited or step.polls:
            return CALLS_POLL
        if step.outcome.transient and step.check is None:
            return CALLS_TRANSIENT
        return CALLS

    def dead_end(self, step: SessionStep, status: str) -> DeadEnd:
        """Return it with its *status* at *step*."""
        return dead_end(
            step.call,
            "same-call",
            status,
            step.input,
            step.subject,
            at=self.at,
            times=self.times,
            error=self.error,
        )


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
        if not step.is_try:
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
        if not failed_call.failed_again(step):
            return []
        return [failed_call.dead_end(step, "confirmed")]

    def _went_well(self, step: SessionStep, key: int) -> list[DeadEnd]:
        failed_call = self._calls.pop(key, None)
        if failed_call is None or not failed_call.reported:
            return []
        return [failed_call.dead_end(step, "resolved")]

    def person_spoke(self, _: Message) -> list[DeadEnd]:
        """Start over: whatever a person says, the next try is theirs."""
        self._calls = {key: call for key, call in self._calls.items() if call.reported}
        return []
