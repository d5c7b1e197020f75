"""What a call changes in files, whichever client it is: where, and the text before and after as far as it is told."""

from __future__ import annotations

from brim._frozen import Frozen
from brim._patterns import IGNORE_CASE, pattern
from brim.scratch.dead_ends.finding import masked_line
from brim.scratch.dead_ends.tables import any_of, lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from brim.tracking.events import ToolCall

_MOST = 50
_MOST_PROBES = 20
_WIDEST = 300
_LONGEST_PIECE = 300
"""Of the text before and after a change, so many characters are told each."""
_COMMENTS = ("#", "//", "/*", "*", "--")
_TEMPORARY = pattern(r"(?:^|/)(?:tmp|temp|var/tmp|var/folders|private/tmp)/|\\temp\\", IGNORE_CASE)


class Change(Frozen):
    """One change of one file: ``whole`` is all of it afterwards, or ``old`` became ``new``. None is not told."""

    __slots__ = ("by", "new", "old", "path", "whole")

    path: str
    old: str | None
    new: str | None
    whole: str | None
    by: str
    """The shell command that did it; empty if a tool for files did."""

    def __init__(
        self, *, path: str, old: str | None = None, new: str | None = None, whole: str | None = None, by: str = ""
    ) -> None:
        self._fill(path=path, old=old, new=new, whole=whole, by=by)

    @property
    def is_told(self) -> bool:
        """Whether more is told than the file."""
        return bool(self.by) or not self.old is self.new is self.whole is None

    @property
    def mark(self) -> int:
        """A number that two changes share only if they do the same."""
        return hash((self.path, self.old, self.new, self.whole, self.by))

    @property
    def said(self) -> str:
        """The change in words, masked: what became what."""
        if self.by:
            return f"{self.path}: by {masked_line(self.by, _LONGEST_PIECE)}"
        if self.old is None and self.new is None:
            return self.path if self.whole is None else f"{self.path} written anew"
        return f"{self.path}: {_short(self.old)} -> {_short(self.new)}"


def _short(text: str | None) -> str:
    return masked_line(text or "", _LONGEST_PIECE) or "(nothing)"


def changes(call: ToolCall, command: str, written: list[str]) -> list[Change]:
    """Return what *call* changes; *written* are the files that it writes if it is a shell *command*."""
    given = call.input
    if call.tool == "shell":
        return [Change(path=path, by=command) for path in written[:_MOST]]
    if call.tool not in ("write", "edit"):
        return []
    names = ("file_path", "notebook_path", "filePath", "path")
    path = next((_text(given, name) for name in names if _text(given, name)), "")
    return _of_file(path, given) if path else [Change(path=where) for where in _paths(given.get("changes"))]


def _of_file(path: str, given: Mapping[str, Any]) -> list[Change]:
    if isinstance(given.get("content"), str):
        return [Change(path=path, whole=given["content"])]
    several = given.get("edits")
    if isinstance(several, list):
        pairs = [edit for edit in several[:_MOST] if isinstance(edit, dict)]
        return [Change(path=path, old=_text(edit, "old_string"), new=_text(edit, "new_string")) for edit in pairs]
    old, new = given.get("old_string"), given.get("new_string", given.get("new_source"))
    return [Change(path=path, old=_known(old), new=_known(new))]


def _known(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _text(given: Mapping[str, Any], name: str) -> str:
    value = given.get(name)
    return value if isinstance(value, str) else ""


def _paths(value: object) -> list[str]:
    if isinstance(value, dict):
        return [path for path in list(value)[:_MOST] if isinstance(path, str)]
    found = value[:_MOST] if isinstance(value, list) else []
    return [item["path"] for item in found if isinstance(item, dict) and isinstance(item.get("path"), str)]


def is_temporary(path: str, root: str = "") -> bool:
    """Whether *path* is where people put what they throw away. Where the project in *root* itself lies says nothing."""
    inside = root and path.startswith(root.rstrip("/") + "/")
    return bool(_TEMPORARY.search(path[len(root.rstrip("/")) + 1 :] if inside else path))


def is_prose(path: str) -> bool:
    """Whether *path* is read and not run: ``data/prose.txt``."""
    return path.lower().endswith(tuple(lines("prose.txt")))


def only_looks(old: str | None, new: str | None) -> bool:
    """Whether a change from *old* to *new* only adds lines that show what happens: ``data/probes.txt``.

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
