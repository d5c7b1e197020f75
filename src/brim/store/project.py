"""What can be told of a project by looking at it: its branch, its types, and where it runs. No git is started."""

from __future__ import annotations

import os

from brim.store.tracked import git_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

_HEAD = "ref: refs/heads/"


def branch(project: str) -> str | None:
    """Return the branch that is checked out in *project*; None if there is none, or no git.

    *project* may be any folder of a checkout, also of a worktree.
    """
    git = git_folder(project)
    folder = project if git is not None else os.path.realpath(project)
    while git is None:
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder, git = parent, git_folder(parent)
    try:
        with open(os.path.join(git, "HEAD"), encoding="utf-8", errors="replace") as file:
            head = file.readline(4096).strip()
    except OSError:
        return None
    return head.removeprefix(_HEAD) or None if head.startswith(_HEAD) else None


def project_types(project: str) -> tuple[str, ...]:
    """Return what *project* is, by the files in its folder: each type once, in the order of the table."""
    try:
        names = set(os.listdir(project))
    except OSError:
        return ()
    found: dict[str, None] = {}
    for mark, type in _marks():
        if mark in names or (mark.startswith("*") and any(name.endswith(mark[1:]) for name in names)):
            found[type] = None
    return tuple(found)


def environment(environ: Mapping[str, str]) -> str | None:
    """Return ``ci`` if a build server has set ``CI``; else None."""
    return "ci" if environ.get("CI", "").lower() not in ("", "0", "false", "no", "off") else None


def _marks() -> list[tuple[str, str]]:
    with open(os.path.join(os.path.dirname(__file__), "data", "project_types.tsv"), encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file if line.strip() and not line.startswith("#")]
    return [(mark, type) for mark, type in rows]
