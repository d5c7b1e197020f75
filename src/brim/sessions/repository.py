"""Which project does a folder belong to? Its git repository: all worktrees of one are one project.

Without a repository, a project is the folder itself.
"""

from __future__ import annotations

import os
import stat

LONGEST_LINE = 4096


def project_of(folder: str, home: str = "") -> str:
    """Return the main folder of the repository that *folder* is in, else *folder* itself.

    *home* is never a project, even if a person keeps its settings in a repository.
    """
    above = folder
    while above and above != os.path.dirname(above) and above != home:
        mark = os.path.join(above, ".git")
        kind = _mode(mark)
        if stat.S_ISDIR(kind):
            return above
        if stat.S_ISREG(kind):
            return _main_folder(above, mark)
        above = os.path.dirname(above)
    return folder


def _mode(path: str) -> int:
    try:
        return os.stat(path).st_mode
    except (OSError, ValueError):
        return 0


def _main_folder(checkout: str, mark: str) -> str:
    """Return the main folder of the repository whose worktree *checkout* is.

    A submodule has a ``.git`` file too, but no ``commondir``: it's a repository of its own.
    """
    try:
        git = os.path.join(checkout, _first_line(mark).removeprefix("gitdir: "))
        common = os.path.realpath(os.path.join(git, _first_line(os.path.join(git, "commondir"))))
    except (OSError, ValueError):
        return checkout
    if os.path.basename(common) == ".git":
        return os.path.dirname(common)
    return common


def _first_line(path: str) -> str:
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        return file.readline(LONGEST_LINE).strip()
