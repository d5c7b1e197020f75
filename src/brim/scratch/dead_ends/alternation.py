"""Suspect: two calls alternating four times, each with the same result every time.

Calls that fail are left to ``same_call``, which sees them sooner. Waiting, and anything that changes a file, ends it.
"""

from __future__ import annotations

from brim.scratch.dead_ends.finding import CLIP, DeadEnd, masked_line, places
from brim.scratch.dead_ends.signatures import settled
from brim.scratch.dead_ends.step import Rule, Step
from brim.scratch.quoting import begun

TIMES = 4
_CLIP = 1_500
_MOST_OPEN = 16


class _Seen:
    """One call of the last few, and what it answered."""

    __slots__ = ("at", "input", "text", "what")

    def __init__(self, step: Step) -> None:
        self.input = hash(step.input)
        text = step.result.text
        self.text = text if len(text) <= 2 * _CLIP else text[:_CLIP] + text[-_CLIP:]
        self.what = begun(step.command or step.what, CLIP)
        self.at = step.call.at


class Alternation(Rule):
    """Looks at the last eight calls."""

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
        seen = _Seen(step)
        found = self._resolved(seen)
        self._last = [*self._last, seen][-2 * TIMES :]
        if self._alternates():
            found.append(self._suspect(step))
            self._last = []
        return found

    def _alternates(self) -> bool:
        last = self._last
        if len(last) < 2 * TIMES or last[0].input == last[1].input:
            return False
        if any(last[i].input != last[i % 2].input for i in range(2, len(last))):
            return False
        return all(settled(last[i].text) == settled(last[i % 2].text) for i in range(2, len(last)))

    def _suspect(self, step: Step) -> DeadEnd:
        one, other = self._last[0], self._last[1]
        at: tuple[int, ...] = ()
        for seen in self._last:
            at = places(at, seen.at)
        both = sorted([one.what, other.what])
        what = masked_line(f"{masked_line(one.what, 900)} | {masked_line(other.what, 900)}")
        found = step.dead_end("alternating", "suspect", "\0".join(both), what=what, times=TIMES, error="", at=at)
        for seen in (one, other):
            self._open[seen.input] = settled(seen.text), found
        while len(self._open) > _MOST_OPEN:
            del self._open[next(iter(self._open))]
        return found

    def _resolved(self, seen: _Seen) -> list[DeadEnd]:
        known = self._open.get(seen.input)
        if known is None or known[0] == settled(seen.text):
            return []
        found = known[1].changed(status="resolved")
        self._open = {key: value for key, value in self._open.items() if value[1] is not known[1]}
        return [found]

    def person_spoke(self) -> list[DeadEnd]:
        """Begin anew: whatever a person says, the next call is theirs."""
        self._last = []
        return []
