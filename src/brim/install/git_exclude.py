"""Settings that are about this machine, hidden from git by ``.git/info/exclude``.

That file is the machine's own, unlike ``.gitignore``, which brim never touches. brim's lines stand
under a comment of its own. A worktree uses the file of the repository that it belongs to.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from brim.errors import BrimError
from brim.files import save

COMMENT = "# brim: settings of agents that are about this machine"


def hide(paths: Sequence[str]) -> list[str]:
    """Hide those of *paths* that git would show as new files; return them."""
    return [
        path for path in not_ignored(paths) if (place := _place(path)) is not None and place.add()
    ]


def unhide(paths: Iterable[str], *, others: Iterable[str] = ()) -> None:
    """Take *paths* and their backups out again, except for a line that hides one of *others*, in
    another worktree."""
    kept = {_place(path) for path in others}
    for place in map(_place, paths):
        if place is not None and place not in kept:
            place.remove()


def exclude_file(path: str) -> str:
    """Return the file that hides *path*; empty if it's in no repository."""
    place = _place(path)
    return place.file if place is not None else ""


def not_ignored(paths: Sequence[str]) -> list[str]:
    """Return those of *paths* that git would show as new files."""
    asked = {path: _git("-C", os.path.dirname(path), "check-ignore", "-q", path) for path in paths}
    return [path for path, done in asked.items() if done is not None and done.returncode == 1]


@dataclass(frozen=True)
class _Place:
    """The exclude *file* of a repository, and the *line* in it that hides one path."""

    file: str
    line: str

    def add(self) -> bool:
        """Add the line; return whether that worked."""
        parts = self._parts()
        return parts is not None and self._write(
            [*parts[0], COMMENT, *parts[1], self.line, *parts[2]]
        )

    def remove(self) -> None:
        """Remove the line, and those of the path's backups."""
        if (parts := self._parts()) is not None:
            before, ours, after = parts
            left = [
                each
                for each in ours
                if each != self.line and not each.startswith(f"{self.line}.bak")
            ]
            if left != ours:
                self._write([*before, *([COMMENT, *left] if left else []), *after])

    def _parts(self) -> tuple[list[str], list[str], list[str]] | None:
        """Return the lines before brim's comment, brim's own, and the rest; None if the file isn't
        text."""
        try:
            with open(self.file, encoding="utf-8", newline="\n") as file:
                lines = (
                    file.read().removesuffix("\n").split("\n")
                )  # and at no other line end: those stay
        except FileNotFoundError:
            lines = []
        except (OSError, ValueError):
            return None
        lines = [] if lines == [""] else lines
        at = end = lines.index(COMMENT) + 1 if COMMENT in lines else len(lines) + 1
        while end < len(lines) and lines[end].startswith("/"):
            end += 1
        return lines[: at - 1], lines[at:end], lines[end:]

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
    folder, last = os.path.split(os.path.dirname(path))
    name = f"{last}/{os.path.basename(path)}"
    while not os.path.isdir(folder) and folder != os.path.dirname(
        folder
    ):  # it was removed with the file
        folder, last = os.path.split(folder)
        name = f"{last}/{name}"
    asked = _git("-C", folder, "rev-parse", "--git-path", "info/exclude", "--show-prefix")
    if asked is None or asked.returncode:
        return None
    exclude, prefix, _ = os.fsdecode(asked.stdout).split("\n", 2)
    line = f"/{prefix}{name}"
    if not line.isprintable() or line != line.rstrip():
        return None
    line = "".join(f"\\{sign}" if sign in "\\*?[" else sign for sign in line)
    git = os.path.realpath(os.path.join(folder, os.path.dirname(os.path.dirname(exclude))))
    file = os.path.join(git, "info", "exclude")
    return (
        _Place(file, line) if os.path.realpath(file) == file else None
    )  # a link may lead anywhere


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
