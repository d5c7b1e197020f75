"""Confirmed: the same test failing the same way after two different edits.

It must have failed that way before the first of them too: a test that is written first fails by design. A test is the
same when its errors are, whatever flags it ran with; what a builder or type checker says counts as well, what a linter
says does not. A run of everything counts only if its failure, or the command, names a file that was edited: a test that
has been broken all along says nothing about work elsewhere. Prose, temporary files and lines that only show what
happens are no try.
"""

from __future__ import annotations

from brim.scratch.dead_ends.edits import Change, is_prose, is_temporary, only_looks
from brim.scratch.dead_ends.finding import DeadEnd, masked_line, places
from brim.scratch.dead_ends.signatures import moved
from brim.scratch.dead_ends.step import Rule, Step, grown

EDITS = 2
_MOST = 64
_MOST_EDITS = 128
_UNTELLING = ("index", "main", "mod", "lib", "__init__", "init", "app")


class _Tried:
    """One edit: enough of it to tell it from others."""

    __slots__ = ("mark", "number", "path", "said")

    def __init__(self, number: int, change: Change) -> None:
        self.number, self.path, self.said = number, change.path, change.said
        # An edit of which only the file is told is not known to be the same as any other.
        self.mark = change.mark if change.is_told else hash((change.path, number))


class _Failure:
    """One way of failing, and the edits that did not change it."""

    __slots__ = ("at", "name", "quoted", "seen", "target", "tries", "what")

    def __init__(self, name: str, target: str) -> None:
        self.name, self.target = name, target
        self.quoted: tuple[tuple[int, int], ...] = ()
        self.seen = 0
        self.tries: set[int] = set()
        self.at: tuple[int, ...] = ()
        self.what: list[str] = []


class FailingTests(Rule):
    """Counts for each way of failing the edits that did not change it."""

    def __init__(self) -> None:
        self._failures: dict[str, _Failure] = {}
        self._edits: list[_Tried] = []
        self._number = 0

    def step(self, step: Step) -> list[DeadEnd]:
        """Take in edits, and compare each failing check with the ones before."""
        for change in step.changes:
            passing = is_prose(change.path) or is_temporary(change.path, step.root) or _only_looks(change)
            if not passing:
                self._number += 1
                self._edits = [*self._edits, _Tried(self._number, change)][-_MOST_EDITS:]
        check = step.check
        if check is None or check.kind == "lint":
            return []
        if step.outcome.kind == "ok":
            gone = [key for key, one in self._failures.items() if one.name == check.name and one.target == check.target]
            for key in gone:
                del self._failures[key]
            return []
        if not step.failed or not step.signature:
            return []
        return self._failed(step, check.name, check.target)

    def _failed(self, step: Step, name: str, target: str) -> list[DeadEnd]:
        key = step.signature
        failure = self._failures.pop(key, None)
        if failure is None or moved(failure.quoted, step.quoted):
            failure = _Failure(name, target)
            failure.seen = self._number
        failure.quoted = step.quoted
        self._failures[key] = failure
        while len(self._failures) > _MOST:
            del self._failures[next(iter(self._failures))]
        failure.at = places(failure.at, step.call.at)
        since = [edit for edit in self._edits if edit.number > failure.seen]
        failure.seen = self._number
        told = "" if target else f"{step.command}\n{step.result.text[:20_000]}\n{step.result.text[-20_000:]}".lower()
        tries = [edit for edit in since if target or _names(told, edit.path)]
        if not tries:
            return []
        mark = hash(tuple([edit.mark for edit in tries]))
        if mark in failure.tries:
            return []
        failure.tries.add(mark)
        failure.what = [*failure.what, tries[-1].said][-3:]
        if not grown(len(failure.tries), EDITS):
            return []
        edits = " | ".join(failure.what)
        what = masked_line(f"{masked_line(step.command, 300)} after {len(failure.tries)} edits: {edits}")
        return [
            step.dead_end(
                "failing-test",
                "confirmed",
                f"{key}\0{failure.at[0]}",
                what=what,
                times=len(failure.tries) + 1,
                error=step.error,
                at=failure.at,
            )
        ]


def _only_looks(change: Change) -> bool:
    return only_looks(change.old, change.new) or only_looks(change.new, change.old)


def _names(told: str, path: str) -> bool:
    """Whether an output names the file *path*; where its own name tells nothing, the folder that it is in."""
    pieces = path.lower().replace("\\", "/").rsplit("/", 2)
    stem = pieces[-1].split(".", 1)[0]
    if stem in _UNTELLING or len(stem) < 3:
        return pieces[-1] in told or (len(pieces) > 1 and len(pieces[-2]) > 2 and pieces[-2] in told)
    return stem in told
