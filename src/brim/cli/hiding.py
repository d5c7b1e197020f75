"""Keeps an agent's settings that are about this machine out of what git shows: by ``.git/info/exclude``.

That file is the machine's own, unlike ``.gitignore``, which is never touched. Lines of brim's stand under a comment of
brim's. A worktree has the file of the repository that it belongs to.
"""

from __future__ import annotations

import os

from brim.cli.saving import save
from brim.errors import BrimError
from brim.store.project import git_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

COMMENT = "# brim: settings of agents that are about this machine"
BACKUP = ".bak"


def hide(paths: Sequence[str]) -> list[str]:
    """Let git show none of *paths* as new files; return those that had to be hidden for that."""
    hidden = []
    for path in not_ignored(paths):
        found = _place(path)
        text = _read(found[0]) if found is not None else None
        if found is None or text is None:
            continue
        exclude, line = found
        before, ours, after = _split(_lines(text))
        if _write(exclude, [*before, COMMENT, *ours, line, *after]):
            hidden.append(path)
    return hidden


def unhide(paths: Iterable[str], *, others: Iterable[str] = ()) -> None:
    """Take *paths* and their backups out again, but what hides one of *others* too: that of another worktree."""
    kept = {_place(path) for path in others}
    for path in paths:
        found = _place(path)
        text = _read(found[0]) if found is not None else None
        if found is None or text is None or found in kept:
            continue
        exclude, line = found
        before, ours, after = _split(_lines(text))
        left = [each for each in ours if each != line and not each.startswith(line + BACKUP)]
        if left != ours:
            _write(exclude, [*before, *([COMMENT, *left] if left else []), *after])


def exclude_file(path: str) -> str:
    """Return the file that hides *path*; empty if it is in no repository."""
    found = _place(path)
    return found[0] if found is not None else ""


def not_ignored(paths: Sequence[str]) -> list[str]:
    """Return those of *paths* that git would show as new files."""
    import subprocess

    found = []
    for path in paths:
        command = ["git", "-C", os.path.dirname(path), "check-ignore", "-q", path]
        try:
            done = subprocess.run(command, capture_output=True, timeout=10, check=False)  # noqa: S603
        except (OSError, subprocess.SubprocessError):
            return []
        if done.returncode == 1:
            found.append(path)
    return found


def _place(path: str) -> tuple[str, str] | None:
    """Return the file that hides *path*, and the line in it; None if it is in no repository."""
    folder = os.path.realpath(os.path.dirname(path))
    steps = [os.path.basename(path)]
    while (git := git_folder(folder)) is None:
        above = os.path.dirname(folder)
        if above == folder:
            return None
        steps.insert(0, os.path.basename(folder))
        folder = above
    line = "/" + "/".join(steps)
    if not line.isprintable() or line != line.rstrip():
        return None
    line = "".join(f"\\{sign}" if sign in "\\*?[" else sign for sign in line)
    return os.path.join(os.path.realpath(_common(git)), "info", "exclude"), line


def _common(git: str) -> str:
    """Return the folder that the worktree with the state in *git* shares with the others."""
    try:
        with open(os.path.join(git, "commondir"), encoding="utf-8", errors="surrogateescape") as file:
            return os.path.join(git, file.readline(4096).strip())
    except OSError:
        return git


def _lines(text: str) -> list[str]:
    lines = text.split("\n")  # and at nothing else: whoever wrote it gets it back as it was
    return lines if lines[-1] else lines[:-1]


def _split(lines: list[str]) -> tuple[list[str], list[str], list[str]]:
    """Return the lines before brim's comment, brim's own after it, and the rest."""
    if COMMENT not in lines:
        return lines, [], []
    at = lines.index(COMMENT)
    end = at + 1
    while end < len(lines) and lines[end].startswith("/"):
        end += 1
    return lines[:at], lines[at + 1 : end], lines[end:]


def _read(path: str) -> str | None:
    """Return what the file holds, nothing if it is not there; None if it cannot be read as text."""
    try:
        with open(path, encoding="utf-8", newline="\n") as file:
            return file.read()
    except FileNotFoundError:
        return ""
    except (OSError, ValueError):
        return None


def _write(path: str, lines: list[str]) -> bool:
    """Write *lines*, or remove the file if there are none; whether that went well. It is a help, and no more."""
    try:
        if not lines:
            os.unlink(path)
            return True
        os.makedirs(os.path.dirname(path), exist_ok=True)
        save(path, "".join(f"{line}\n" for line in lines))
    except (OSError, BrimError):
        return False
    return True
