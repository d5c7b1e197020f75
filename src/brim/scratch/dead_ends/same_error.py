"""Suspect: one error from four different inputs.

Reading and searching are left out (looking for a file in four places is looking), and so are errors that pass by
themselves and linters. The same command in another folder, or a check with other flags, is no other input.
"""

from __future__ import annotations

from brim.scratch.dead_ends.commands import looks, unfiltered
from brim.scratch.dead_ends.finding import CLIP, DeadEnd, masked_line, places
from brim.scratch.dead_ends.step import Rule, Step, grown
from brim.scratch.quoting import begun

INPUTS = 4
_MOST = 64
_MOST_INPUTS = 64
_APART = 40
"""Two tries with more steps than these between them are not the same search for a way."""


class _Group:
    """The different inputs that gave one error."""

    __slots__ = ("at", "error", "inputs", "last", "reported", "what")

    def __init__(self) -> None:
        self.inputs: dict[int, None] = {}
        self.at: tuple[int, ...] = ()
        self.what: list[str] = []
        self.error = ""
        self.last = 0
        self.reported = False


class SameError(Rule):
    """Collects what gave the same error."""

    def __init__(self) -> None:
        self._groups: dict[str, _Group] = {}
        self._of_input: dict[int, str] = {}
        self._steps = 0

    def step(self, step: Step) -> list[DeadEnd]:
        """Count *step*; one of the inputs going well resolves what was suspected."""
        self._steps += 1
        if not step.is_try:
            return []
        given = hash(_input(step))
        if step.outcome.kind == "ok":
            return self._went_well(step, given)
        if not _counts(step):
            return []
        key = f"{step.call.tool or step.call.name}\0{step.signature}"
        group = self._groups.pop(key, None)
        if group is None or (not group.reported and self._steps - group.last > _APART):
            group = _Group()
        self._groups[key] = group
        self._forget()
        group.last = self._steps
        if given in group.inputs or len(group.inputs) >= _MOST_INPUTS:
            return []
        group.inputs[given] = None
        group.at = places(group.at, step.call.at)
        group.what = [*group.what, begun(step.command or step.what, CLIP)][-INPUTS:]
        self._of_input[given] = key
        if not grown(len(group.inputs), INPUTS):
            return []
        group.reported, group.error = True, step.error
        return [self._found(step, key, group, "suspect")]

    def _forget(self) -> None:
        while len(self._groups) > _MOST:
            del self._groups[next(iter(self._groups))]
        while len(self._of_input) > _MOST * INPUTS:
            del self._of_input[next(iter(self._of_input))]

    def _went_well(self, step: Step, given: int) -> list[DeadEnd]:
        key = self._of_input.pop(given, None)
        group = self._groups.pop(key, None) if key is not None else None
        if key is None or group is None:
            return []
        if not group.reported:
            group.inputs.pop(given, None)
            self._groups[key] = group
            return []
        return [self._found(step, key, group, "resolved")]

    def _found(self, step: Step, key: str, group: _Group, status: str) -> DeadEnd:
        several = " | ".join([masked_line(what, 450) for what in group.what])
        return step.dead_end(
            "same-error",
            status,
            key,
            what=masked_line(several),
            times=len(group.inputs),
            error=group.error,
            at=group.at,
        )

    def person_spoke(self) -> list[DeadEnd]:
        """Begin anew: whatever a person says, the next try is theirs."""
        self._groups = {key: group for key, group in self._groups.items() if group.reported}
        return []


def _input(step: Step) -> str:
    if step.check is not None:
        return f"{step.check.name}\0{step.check.target}"
    return unfiltered([part for part in step.parts if part.words[0] not in ("cd", "pushd")]) or step.input


def _counts(step: Step) -> bool:
    if not step.failed or step.outcome.not_found or not step.signature:
        return False
    if step.check is not None:
        return step.check.kind != "lint"
    return not (step.call.tool in ("read", "search") or looks(step.parts) or step.polls or step.outcome.transient)
