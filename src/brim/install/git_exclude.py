"""Settings that are about this machine, hidden from git by ``.git/info/exclude``.

That file is the machine's own, unlike ``.gitignore``, which brim never touches. brim's lines stand
under a comment of its own. A worktree uses the file of the repository that it belongs to.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from brim.errors import BrimError
from brim.files import save

COMMENT = "# brim: settings of agents that are about this machine"


def hide(paths: Sequence[str]) -> list[str]:
    """Hide those of *paths* that git would show as new files; return them."""
    hidden = []
    for path in not_ignored(paths):
        place = _place(path)
        if place is not None and place.add():
            hidden.append(path)
    return hidden


def unhide(paths: Iterable[str], *, other_paths: Iterable[str] = ()) -> None:
    """Take *paths* and their backups out again, except for a line that hides one of *other_paths*,
    in another worktree."""
    used_places = {_place(path) for path in other_paths}
    for path in paths:
        place = _place(path)
        if place is not None and place not in used_places:
            place.remove()


def exclude_file(path: str) -> str:
    """Return the file that hides *path*; empty if it's in no repository."""
    place = _place(path)
    if place is None:
        return ""
    return place.file


def not_ignored(paths: Sequence[str]) -> list[str]:
    """Return those of *paths* that git would show as new files."""
    visible = []
    for path in paths:
        check = _git("-C", os.path.dirname(path), "check-ignore", "-q", path)
        if check is not None and check.returncode == 1:
            visible.append(path)
    return visible


@dataclass(frozen=True)
class _ExcludeParts:
    """The lines of an exclude file: *before* brim's comment, brim's own, and those *after*."""

    before: list[str]
    ours: list[str]
    after: list[str]


@dataclass(frozen=True)
class _Place:
    """The exclude *file* of a repository, and the *line* in it that hides one path."""

    file: str
    line: str

    def add(self) -> bool:
        """Add the line; return whether that worked."""
        parts = self._parts()
        if parts is None:
            return False
        return self._write([*parts.before, COMMENT, *parts.ours, self.line, *parts.after])

    def remove(self) -> None:
        """Remove the line, and those of the path's backups."""
        parts = self._parts()
        if parts is None:
            return
        backups = f"{self.line}.bak"
        ours = []
        for line in parts.ours:
            if line != self.line and not line.startswith(backups):
                ours.append(line)
        if ours == parts.ours:
            return
        if ours:
            ours.insert(0, COMMENT)
        self._write([*parts.before, *ours, *parts.after])

    def _parts(self) -> _ExcludeParts | None:
        """Return what is in the file; None if it isn't text."""
        try:
            with open(self.file, encoding="utf-8", newline="\n") as file:
                content = file.read()
        except FileNotFoundError:
            content = ""
        except (OSError, ValueError):
            return None
        # It is split at no other line end: those stay.
        lines = content.removesuffix("\n").split("\n")
        if lines == [""]:
            lines = []
        if COMMENT not in lines:
            return _ExcludeParts(lines, [], [])
        begin = lines.index(COMMENT) + 1
        end = begin
        while end < len(lines) and lines[end].startswith("/"):
            end += 1
        return _ExcludeParts(lines[: begin - 1], lines[begin:end], lines[end:])

    def _write(self, lines: list[str]) -> bool:
        """Write *lines*, or remove the file if there are none; return whether that worked: it's
        only a help."""
        try:
            if lines:
                os.makedirs(os.path.dirname(self.file), exist_ok=True)
                save(self.file, "".join(f"{line}\n" for line in lines))
            else:
                os.unlink(self.file)
        except (OSError, BrimError):
            return False
        return True


def _place(path: str) -> _Place | None:
    """Return what hides *path*, a file below its project; None if that's in no repository."""
    folder = _existing_folder(os.path.dirname(os.path.dirname(path)))
    name = os.path.relpath(path, folder).replace(os.sep, "/")
    answer = _git("-C", folder, "rev-parse", "--git-path", "info/exclude", "--show-prefix")
    if answer is None or answer.returncode:
        return None
    exclude, prefix, _ = os.fsdecode(answer.stdout).split("\n", 2)
    line = f"/{prefix}{name}"
    if not line.isprintable() or line != line.rstrip():
        return None
    line = re.sub(r"([\\*?[])", r"\\\1", line)
    git = os.path.realpath(os.path.join(folder, os.path.dirname(os.path.dirname(exclude))))
    file = os.path.join(git, "info", "exclude")
    if os.path.realpath(file) != file:  # a link may lead anywhere
        return None
    return _Place(file, line)


def _existing_folder(folder: str) -> str:
    """Return *folder*, or the first one above it that exists: it may be removed with its file."""
    while not os.path.isdir(folder) and folder != os.path.dirname(folder):
        folder = os.path.dirname(folder)
    return folder


def _git(*words: str) -> subprocess.CompletedProcess[bytes] | None:
    """Run git, without programs that a repository's own settings or the environment name."""
    safe = ("-c", "core.fsmonitor=false", "-c", f"core.hooksPath={os.devnull}")
    environ = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        return subprocess.run(  # noqa: S603
            ["git", *safe, *words],  # noqa: S607
            capture_output=True,
            timeout=10,
            check=False,
            env=environ,
        )
    except (OSError, subprocess.SubprocessError):
        return None
