"""What calls change in files, and the versions that a file goes through.

Of a version its hash is remembered, and of each edit a line that says what it was; never the file.
Where a client reports the whole text before an edit, a version is that text's hash. Where it
reports only what was replaced, a version is the one before it and the replacement; the opposite
replacement leads back.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from brim.agents.call import ToolCall
from brim.agents.fields import value
from brim.files import data_lines
from brim.memory.quotes import masked_line
from brim.memory.repetition.commands import any_of
from brim.record import PlainData

_MOST_CHANGES = 50
_MOST_PROBES = 20
_MOST_VERSIONS = 64
_WIDEST = 300
_LONGEST_PIECE = 300
"""Characters of the text before and after a change that are shown."""
_COMMENTS = ("#", "//", "/*", "*", "--")
_TEMPORARY = re.compile(
    r"(?i)(?:^|/)(?:tmp|temp|var/tmp|var/folders|private/tmp)/|\\temp\\",
)


@dataclass(frozen=True)
class FileChange(PlainData):
    """One change of one file: it became ``whole``, or ``old`` in it became ``new``.

    None is a text that the client doesn't report.
    """

    path: str
    old: str | None = None
    new: str | None = None
    whole: str | None = None
    by: str = ""
    """The shell command that did it; empty if a tool for files did."""

    @property
    def is_reported(self) -> bool:
        """Whether more is reported than the file."""
        if self.by:
            return True
        return not (self.old is None and self.new is None and self.whole is None)

    @property
    def summary(self) -> str:
        """The change in words, masked: what became what."""
        if self.by:
            return f"{self.path}: by {masked_line(self.by, _LONGEST_PIECE)}"
        if self.old is None and self.new is None:
            if self.whole is None:
                return self.path
            return f"{self.path} rewritten"
        return f"{self.path}: {_piece(self.old)} -> {_piece(self.new)}"


def _piece(text: str | None) -> str:
    return masked_line(text or "", _LONGEST_PIECE) or "(nothing)"


def changes(call: ToolCall, command: str, written: list[str]) -> list[FileChange]:
    """Return what *call* changes.

    If it is a shell *command*, it writes the files in *written*.
    """
    if call.kind == "shell":
        return [FileChange(path, by=command) for path in written[:_MOST_CHANGES]]
    if not call.changes_files:
        return []
    if not call.files:
        return [FileChange(path) for path in _patched_paths(call.input)]
    path = call.files[0]
    content = call.input.get("content")
    if isinstance(content, str):
        return [FileChange(path, whole=content)]
    edits = call.input.get("edits")
    if not isinstance(edits, list):
        return [_replacement(path, call.input)]
    return [_replacement(path, edit) for edit in edits[:_MOST_CHANGES]]


def _patched_paths(values: Mapping[str, object]) -> list[str]:
    """Return the files of a patch, whose texts aren't reported."""
    listed = values.get("changes")
    if not isinstance(listed, list | dict):
        return []
    paths = []
    for item in list(listed)[:_MOST_CHANGES]:
        path = value(item, "path") or item
        if isinstance(path, str):
            paths.append(path)
    return paths


def _replacement(path: str, edit: object) -> FileChange:
    new_text = value(edit, "new_string")
    if new_text is None:
        new_text = value(edit, "new_source")
    return FileChange(path, old=_reported(value(edit, "old_string")), new=_reported(new_text))


def _reported(text: object) -> str | None:
    if isinstance(text, str):
        return text
    return None


def is_temporary(path: str, root: str = "") -> bool:
    """Whether *path* is where people put what they throw away.

    Where the project in *root* itself lies says nothing.
    """
    above = root.rstrip("/") + "/"
    if root and path.startswith(above):
        path = path[len(above) :]
    return _TEMPORARY.search(path) is not None


def is_prose(path: str) -> bool:
    """Whether *path* is read and not run: ``data/prose.txt``."""
    return path.lower().endswith(tuple(data_lines(__file__, "prose.txt")))


def _replaced(before: str | None, change: FileChange, every: bool) -> str | None:
    """Return the text *before* with *change* in it; None if it doesn't have what is replaced."""
    if before is None or not change.old or change.old not in before:
        return None
    count = -1 if every else 1
    return before.replace(change.old, change.new or "", count)


def only_looks(old: str | None, new: str | None) -> bool:
    """Whether a change only adds lines that show what happens: ``data/probes.txt``.

    Braces and comments may come with them.
    """
    before = _line_set(old)
    after = _line_set(new)
    if before == after:
        return (old, new) != (None, None)
    telling = [line[:_WIDEST] for line in after - before if _says_something(line)]
    removed = before - after
    if not after - before or len(telling) > _MOST_PROBES or len(removed) > len(telling):
        return False
    probe = any_of("probes.txt")
    return all(probe.search(line) for line in telling)


def _line_set(text: str | None) -> set[str]:
    """Return the lines of *text* that aren't blank."""
    return {line.strip() for line in (text or "").splitlines()} - {""}


def _says_something(line: str) -> bool:
    """Whether *line* has more than braces or a comment."""
    return bool(line.strip("{}()[];, ")) and not line.startswith(_COMMENTS)


class Edit:
    """One edit that is still in the file."""

    def __init__(
        self, change: FileChange, *, before: str | None, at: int, turn: int, when: int
    ) -> None:
        self.mark = hash(change)
        self.old = hash(change.old)
        self.new = hash(change.new)
        self.summary = change.summary
        if change.whole is None:
            self.only_looks = only_looks(change.old, change.new)
        else:
            self.only_looks = before is not None and only_looks(before, change.whole)
        self.at = at
        self.turn = turn
        self.when = when

    def is_opposite_of(self, other: Edit) -> bool:
        """Whether it replaces what *other* put in by what *other* replaced."""
        return self.new == other.old and self.old == other.new


@dataclass
class Version:
    """One version of a file, and the edit that led to it."""

    mark: int
    edit: Edit | None
    """None if it is unknown, or was made outside."""


class Versions:
    """The versions of one file, oldest first."""

    def __init__(self) -> None:
        self._versions: list[Version] = []

    def apply(
        self, change: FileChange, edit: Edit, *, before: str | None, every: bool
    ) -> tuple[list[Edit], int]:
        """Take in *change* as *edit*; return the edits that it takes back, and the version left.

        *before* is the whole text of the file before it, None if it isn't reported; *every* is
        whether it replaces all places.
        """
        self._begin(before)
        left = self._versions[-1].mark
        mark = self._mark_after(change, edit, before, every)
        if mark == left:
            return [], left
        for place, version in enumerate(self._versions):
            if version.mark == mark:
                return self._go_back_to(place), left
        opposite = self._opposite(change, edit)
        if opposite is not None:
            for version in self._versions:
                if version.edit is opposite:
                    version.edit = None
            self._versions.append(Version(mark, None))
            return [opposite], left
        self._versions.append(Version(mark, edit))
        del self._versions[:-_MOST_VERSIONS]
        return [], left

    def _go_back_to(self, place: int) -> list[Edit]:
        """Forget the versions after *place*; return their edits."""
        later = self._versions[place + 1 :]
        del self._versions[place + 1 :]
        return [version.edit for version in later if version.edit is not None]

    def _begin(self, before: str | None) -> None:
        if not self._versions:
            mark = 0 if before is None else hash(before)
            self._versions.append(Version(mark, None))
            return
        if before is None or self._versions[-1].mark == hash(before):
            return
        # It was changed outside, or the version before was known only by its replacements.
        edit = self._versions[-1].edit
        if edit is not None:
            self._versions.pop()
        self._versions.append(Version(hash(before), edit))

    def _mark_after(self, change: FileChange, edit: Edit, before: str | None, every: bool) -> int:
        if change.whole is not None:
            return hash(change.whole)
        last = self._versions[-1]
        if change.by or (change.old is None and change.new is None):
            return hash((last.mark, edit.at, edit.when))
        after = _replaced(before, change, every)
        if after is not None:
            return hash(after)
        if self._takes_back_last(edit):
            return self._versions[-2].mark
        return hash((last.mark, edit.old, edit.new))

    def _takes_back_last(self, edit: Edit) -> bool:
        """Whether *edit* is the opposite of the last one, and the version before that is known."""
        last_edit = self._versions[-1].edit
        if last_edit is None or len(self._versions) < 2:
            return False
        return edit.is_opposite_of(last_edit)

    def _opposite(self, change: FileChange, edit: Edit) -> Edit | None:
        """Return the last edit that *edit* is the opposite of, if both texts are reported."""
        if change.old is None or change.new is None:
            return None
        for version in reversed(self._versions[1:]):
            if version.edit is not None and edit.is_opposite_of(version.edit):
                return version.edit
        return None
