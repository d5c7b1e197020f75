"""Which repository is a project? Its worktrees are one with it.

Git's files are read instead of running git, because a hook has no time for that.
"""

from __future__ import annotations

import os
import stat


def place_of(project: str) -> str:
    """Return the main folder of the repository of *project* (a real path), so that its worktrees
    count as one."""
    git = git_folder(project)
    if git is None or git == os.path.join(project, ".git"):
        return project
    try:
        with open(
            os.path.join(git, "commondir"), encoding="utf-8", errors="surrogateescape"
        ) as file:
            common = os.path.realpath(os.path.join(git, file.readline(4096).strip()))
    except (OSError, ValueError):
        return project  # a submodule
    return os.path.dirname(common) if os.path.basename(common) == ".git" else common


def git_folder(folder: str) -> str | None:
    """Return the git folder of the checkout *folder*; None if it isn't one.

    In a worktree or a submodule ``.git`` is a file that says where it is.
    """
    mark = os.path.join(folder, ".git")
    try:
        mode = os.stat(mark).st_mode
        if stat.S_ISDIR(mode):
            return mark
        if not stat.S_ISREG(mode):
            return None  # a pipe would be waited for
        with open(mark, encoding="utf-8", errors="surrogateescape") as file:
            first = file.readline(4096)
    except (OSError, ValueError):
        return None
    return os.path.join(folder, first[8:].strip()) if first.startswith("gitdir: ") else None
