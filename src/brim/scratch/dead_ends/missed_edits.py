"""Suspect: three edits of one file whose old text is not in it, with no edit of that file going well in between."""

from __future__ import annotations

from brim.scratch.dead_ends.finding import DeadEnd, masked_line, places
from brim.scratch.dead_ends.step import Rule, Step, grown

TIMES = 3
_MOST = 128


class _Misses:
    """The edits of one file that found nothing to replace."""

    __slots__ = ("at", "error", "reported", "times")

    def __init__(self) -> None:
        self.times = 0
        self.at: tuple[int, ...] = ()
        self.error = ""
        self.reported = False


class MissedEdits(Rule):
    """Counts the misses of each file."""

    def __init__(self) -> None:
        self._misses: dict[str, _Misses] = {}

    def step(self, step: Step) -> list[DeadEnd]:
        """Count *step*; a change of the file that goes well resolves what was suspected."""
        found = []
        for change in step.changes:
            misses = self._misses.pop(change.path, None)
            if misses is not None and misses.reported:
                found.append(self._found(step, change.path, misses, "resolved"))
        path = step.call.input.get("file_path")
        if not step.outcome.not_found or not isinstance(path, str) or not path:
            return found
        misses = self._misses.pop(path, None) or _Misses()
        self._misses[path] = misses
        while len(self._misses) > _MOST:
            del self._misses[next(iter(self._misses))]
        misses.times += 1
        misses.at = places(misses.at, step.call.at)
        if grown(misses.times, TIMES):
            misses.reported, misses.error = True, step.error
            found.append(self._found(step, path, misses, "suspect"))
        return found

    def _found(self, step: Step, path: str, misses: _Misses, status: str) -> DeadEnd:
        what = masked_line(f"edit {path}")
        return step.dead_end(
            "missed-edit", status, path, what=what, times=misses.times, error=misses.error, at=misses.at
        )
