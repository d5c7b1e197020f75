"""What calls change in files, and the versions that a file goes through.

Of a version its hash is kept, and of each edit a line that says what it was; never the file. Where
a client tells the whole text before an edit, a version is that text's hash. Where it tells only
what was replaced, a version is the one before it and the replacement; the opposite replacement
leads back.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from brim.agents.call import ToolCall
from brim.files import data_lines
from brim.memory.calls import PATHS
from brim.memory.quotes import masked_line
from brim.memory.repetition.commands import any_of
from brim.record import PlainData

_MOST = 50
_MOST_PROBES = 20
_MOST_VERSIONS = 64
_WIDEST = 300
_LONGEST_PIECE = 300
"""Of the text before and after a change, so many characters are told each."""
_COMMENTS = ("#", "//", "/*", "*", "--")
_TEMPORARY = r"(?i)(?:^|/)(?:tmp|temp|var/tmp|var/folders|private/tmp)/|\\temp\\"


@dataclass(frozen=True)
class FileChange(PlainData):
    """One change of one file: ``whole`` is all of it afterwards, or ``old`` became ``new``. None
    isn't told."""

    path: str
    old: str | None = None
    new: str | None = None
    whole: str | None = None
    by: str = ""
    """The shell command that did it; empty if a tool for files did."""

    @property
    def is_told(self) -> bool:
        """Whether more is told than the file."""
        return bool(self.by) or not self.old is self.new is self.whole is None

    @property
    def said(self) -> str:
        """The change in words, masked: what became what."""
        if self.by:
            return f"{self.path}: by {masked_line(self.by, _LONGEST_PIECE)}"
        if self.old is None and self.new is None:
            return self.path if self.whole is None else f"{self.path} rewritten"
        return f"{self.path}: {_short(self.old)} -> {_short(self.new)}"


def _short(text: str | None) -> str:
    return masked_line(text or "", _LONGEST_PIECE) or "(nothing)"


def changes(call: ToolCall, command: str, written: list[str]) -> list[FileChange]:
    """Return what *call* changes; *written* are the files that it writes if it is a shell
    *command*."""
    given = call.input
    if call.kind == "shell":
        return [FileChange(path, by=command) for path in written[:_MOST]]
    if call.kind not in ("write", "edit"):
        return []
    path = next((path for name in PATHS if isinstance(path := given.get(name), str) and path), "")
    if not path:
        several = given.get("changes")
        items = list(several)[:_MOST] if isinstance(several, list | dict) else []
        paths = [item.get("path") if isinstance(item, dict) else item for item in items]
        return [FileChange(path) for path in paths if isinstance(path, str)]
    if isinstance(given.get("content"), str):
        return [FileChange(path, whole=given["content"])]
    several = given.get("edits")
    pairs = (
        [edit for edit in several[:_MOST] if isinstance(edit, dict)]
        if isinstance(several, list)
        else [given]
    )
    texts = [
        (pair.get("old_string"), pair.get("new_string", pair.get("new_source"))) for pair in pairs
    ]
    return [FileChange(path, old=_text(old), new=_text(new)) for old, new in texts]


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def is_temporary(path: str, root: str = "") -> bool:
    """Whether *path* is where people put what they throw away. Where the project in *root* itself
    lies says nothing."""
    inside = root and path.startswith(root.rstrip("/") + "/")
    return bool(re.search(_TEMPORARY, path[len(root.rstrip("/")) + 1 :] if inside else path))


def is_prose(path: str) -> bool:
    """Whether *path* is read and not run: ``data/prose.txt``."""
    return path.lower().endswith(tuple(data_lines(__file__, "prose.txt")))


def only_looks(old: str | None, new: str | None) -> bool:
    """Whether a change from *old* to *new* only adds lines that show what happens:
    ``data/probes.txt``.

    Braces and comments may come with them.
    """
    before = {line.strip() for line in (old or "").splitlines()}
    after = {line.strip() for line in (new or "").splitlines()}
    added = [line[:_WIDEST] for line in after - before if line]
    telling = [line for line in added if line.strip("{}()[];, ") and not line.startswith(_COMMENTS)]
    removed = before - after - {""}
    if not added and not removed:
        return old is not None or new is not None
    if not added or len(telling) > _MOST_PROBES or len(removed) > len(telling):
        return False
    probe = any_of("probes.txt")
    return all(probe.search(line) for line in telling)


class Edit:
    """One edit that is still in the file."""

    def __init__(
        self, change: FileChange, *, before: str | None, at: int, turn: int, when: int
    ) -> None:
        self.mark = hash(change)
        self.old, self.new = hash(change.old), hash(change.new)
        self.said = change.said
        if change.whole is None:
            self.only_looks = only_looks(change.old, change.new)
        else:
            self.only_looks = before is not None and only_looks(before, change.whole)
        self.at, self.turn, self.when = at, turn, when


class Versions:
    """The versions of one file, oldest first, each with the edit that led to it (None: unknown, or
    made outside)."""

    def __init__(self) -> None:
        self._known: list[tuple[int, Edit | None]] = []

    def apply(
        self, change: FileChange, edit: Edit, *, before: str | None, every: bool
    ) -> tuple[list[Edit], int]:
        """Take *change* in as *edit*, and return the edits that it takes back, and the version that
        it leaves.

        *before* is the whole text of the file before it, None if that is not told; *every* is
        whether it replaces all.
        """
        self._begin(before)
        left = self._known[-1][0]
        version = self._after(change, edit, before, every)
        if version == left:
            return [], left
        place = next((i for i, (known, _) in enumerate(self._known) if known == version), None)
        if place is not None:
            undone = [done for _, done in self._known[place + 1 :] if done is not None]
            del self._known[place + 1 :]
            return undone, left
        if done := self._opposite(change, edit):
            self._known = [(known, None if kept is done else kept) for known, kept in self._known]
            self._known.append((version, None))
            return [done], left
        self._known.append((version, edit))
        del self._known[:-_MOST_VERSIONS]
        return [], left

    def _begin(self, before: str | None) -> None:
        if not self._known:
            self._known.append((hash(before) if before is not None else 0, None))
        elif before is not None and self._known[-1][0] != hash(before):
            # It was changed outside, or the version before was known only by its replacements.
            edit = self._known[-1][1]
            if edit is not None:
                self._known.pop()
            self._known.append((hash(before), edit))

    def _after(self, change: FileChange, edit: Edit, before: str | None, every: bool) -> int:
        if change.whole is not None:
            return hash(change.whole)
        if change.by or (change.old is None and change.new is None):
            return hash((self._known[-1][0], edit.at, edit.when))
        if before is not None and change.old and change.old in before:
            return hash(before.replace(change.old, change.new or "", -1 if every else 1))
        last = self._known[-1][1]
        if (
            last is not None
            and last.old == edit.new
            and last.new == edit.old
            and len(self._known) > 1
        ):
            return self._known[-2][0]
        return hash((self._known[-1][0], edit.old, edit.new))

    def _opposite(self, change: FileChange, edit: Edit) -> Edit | None:
        """Return the last edit that *edit* is the opposite of, if *change* tells both texts."""
        edits = (
            []
            if change.old is None or change.new is None
            else [done for _, done in reversed(self._known[1:])]
        )
        return next(
            (done for done in edits if done and done.old == edit.new and done.new == edit.old), None
        )
