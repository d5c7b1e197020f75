"""Suspect: the same call with the same failure three times.

Where failing is part of waiting it takes more: a passing error (the network, a lock) six times, a command that looks
whether something is ready ten times. Between such commands, so does a look at a file, or asking what does not answer
yet. A check after an edit, or after git put another version in place, is another try: ``failing_tests`` looks at those.
"""

from __future__ import annotations

from brim.scratch.dead_ends.commands import looks
from brim.scratch.dead_ends.finding import DeadEnd, places
from brim.scratch.dead_ends.git import moves_tree
from brim.scratch.dead_ends.signatures import moved
from brim.scratch.dead_ends.step import Rule, Step, grown
from brim.scratch.dead_ends.tables import any_of

TIMES = 3
TIMES_TRANSIENT = 6
TIMES_POLL = 10
_MOST = 256


class _Tries:
    """How often one call failed in the same way."""

    __slots__ = ("at", "edits", "error", "quoted", "reported", "signature", "times", "waited", "waits")

    def __init__(self, signature: str, edits: int) -> None:
        self.signature, self.edits = signature, edits
        self.quoted: tuple[tuple[int, int], ...] = ()
        self.times = 0
        self.at: tuple[int, ...] = ()
        self.error = ""
        self.reported = False
        self.waits = 0
        self.waited = False


class SameCall(Rule):
    """Counts the failures of each call."""

    def __init__(self) -> None:
        self._tries: dict[int, _Tries] = {}
        self._edits = 0
        self._waits = 0

    def step(self, step: Step) -> list[DeadEnd]:
        """Count *step*; the same call going well resolves what was suspected of it."""
        self._edits += bool(step.changes) or moves_tree(step.parts)
        self._waits += step.polls
        if not step.is_try or step.outcome.not_found or step.outcome.kind not in ("ok", "failed"):
            return []
        key = hash(step.input)
        tries = self._tries.pop(key, None)
        if not step.failed:
            return [self._found(step, tries, "resolved")] if tries and tries.reported else []
        signature = step.signature or step.result.text[:200].strip()
        edited = step.check is not None and tries is not None and tries.edits != self._edits
        other = tries is None or tries.signature != signature or moved(tries.quoted, step.quoted)
        if tries is None or other or (edited and not tries.reported):
            tries = _Tries(signature, self._edits)
        self._tries[key] = tries
        while len(self._tries) > _MOST:
            del self._tries[next(iter(self._tries))]
        tries.times += 1
        tries.edits, tries.quoted = self._edits, step.quoted
        tries.waited = tries.waited or (tries.times > 1 and tries.waits != self._waits and _may_come(step))
        tries.waits = self._waits
        tries.at = places(tries.at, step.call.at)
        if not grown(tries.times, TIMES_POLL if tries.waited else _threshold(step)):
            return []
        tries.reported = True
        tries.error = step.error
        return [self._found(step, tries, "suspect")]

    def _found(self, step: Step, tries: _Tries, status: str) -> DeadEnd:
        return step.dead_end(
            "same-call", status, step.input, what=step.what, times=tries.times, error=tries.error, at=tries.at
        )

    def person_spoke(self) -> list[DeadEnd]:
        """Begin anew: whatever a person says, the next try is theirs."""
        self._tries = {key: tries for key, tries in self._tries.items() if tries.reported}
        return []


def _may_come(step: Step) -> bool:
    """Whether waiting can help: something is looked at, or does not answer yet."""
    return looks(step.parts) or any_of("not_ready.txt").search(step.signature) is not None


def _threshold(step: Step) -> int:
    return TIMES_POLL if step.polls else TIMES_TRANSIENT if step.outcome.transient and step.check is None else TIMES
