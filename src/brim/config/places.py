"""Which files hold settings.

The project file is ``.brim/config.yaml`` in the folder that ``CLAUDE_PROJECT_DIR`` names, else in
the nearest one upwards that has a ``.brim/``, up to git's top level; never the home folder's own.
The user file is ``config.yaml`` in ``$BRIM_HOME``, else in ``~/.brim``.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping

from brim.errors import ConfigError

NAME = "config.yaml"

_problems: dict[tuple[str, str, str], str] = {}


def config_paths(environ: Mapping[str, str], cwd: str | None) -> dict[str, str]:
    """Return the paths of the settings files, ``user`` before ``project``.

    The files may not exist.

    There is no ``project`` if *cwd* isn't in one, or is None: it was deleted, or its project isn't
    trusted.
    """
    found = {"user": os.path.join(user_folder(environ), NAME)}
    project = project_folder(environ, cwd) if cwd is not None else None
    if project is not None:
        path = os.path.join(project, ".brim", NAME)
        if os.path.realpath(path) != os.path.realpath(found["user"]):
            found["project"] = path
    return found


def user_folder(environ: Mapping[str, str]) -> str:
    """Return the folder of the user's own files; ``ConfigError`` if ``BRIM_HOME`` can't be that."""
    if problem := _bad_home(environ):
        raise ConfigError(
            f"config: BRIM_HOME: {problem}: name an absolute folder outside of projects, or unset it"
        )
    return environ.get("BRIM_HOME") or os.path.join(home_folder(environ), ".brim")


def without_bad_home(environ: Mapping[str, str]) -> Mapping[str, str]:
    """Return *environ* without an unusable ``BRIM_HOME``: hooks then use the default folder."""
    return (
        {name: environ[name] for name in environ if name != "BRIM_HOME"}
        if _bad_home(environ)
        else environ
    )


def _bad_home(environ: Mapping[str, str]) -> str:
    """Return why ``BRIM_HOME`` can't be used: a project could set it to a folder of its own, with
    programs to run."""
    named = environ.get("BRIM_HOME", "")
    if not named:
        return ""
    asked = named, home_folder(environ), environ.get("CLAUDE_PROJECT_DIR", "")
    if asked not in _problems:  # a hook asks a dozen times, and has not imported functools yet
        _problems[asked] = _problem_with(*asked)
    return _problems[asked]


def _problem_with(named: str, home: str, project: str) -> str:
    if not os.path.isabs(named) or "\0" in named:
        return f"{named!r} is not an absolute path"
    folder, home = os.path.realpath(named), os.path.realpath(home)
    inside = os.path.realpath(project) if _is_folder(project) else ""
    marks: tuple[str, ...] = (".git",)
    while folder not in (home, os.path.dirname(folder)):
        if folder == inside or any(os.path.lexists(os.path.join(folder, mark)) for mark in marks):
            return f"{named} is in the project {folder}"
        folder, marks = os.path.dirname(folder), (".git", ".brim")
    return ""


def project_folder(environ: Mapping[str, str], cwd: str) -> str | None:
    """Return the project folder that contains *cwd*, or None.

    It is the nearest folder with a ``.brim/``, or else git's top level. Folders above git's top
    level and folders of other users are ignored: someone else's ``.brim`` there must not take over
    the folders below.

    An agent that names its project (``CLAUDE_PROJECT_DIR``) by an absolute path is believed. The
    home folder is never a project.
    """
    # The working folder comes with its links resolved, so the home folder has to be as well.
    home = os.path.realpath(home_folder(environ))
    named = environ.get("CLAUDE_PROJECT_DIR", "")
    if _is_folder(named) and (project := os.path.realpath(named)) != home:
        return project
    folder = os.path.realpath(cwd)
    owner = _owner(folder)
    while True:
        marks = [mark for mark in (".brim", ".git") if os.path.exists(os.path.join(folder, mark))]
        if marks and folder != home:
            return folder
        above = os.path.dirname(folder)
        if ".git" in marks or above == folder or _owner(above) not in (owner, _uid()):
            return None
        folder = above


def _is_folder(named: str) -> bool:
    return os.path.isabs(named) and "\0" not in named and os.path.isdir(named)


def _owner(folder: str) -> int:
    """Return the owner of *folder*; -1 if it's gone."""
    try:
        return os.stat(folder).st_uid
    except OSError:
        return -1


def _uid() -> int:
    return os.getuid() if hasattr(os, "getuid") else 0


def home_folder(environ: Mapping[str, str]) -> str:
    """Return the person's home folder.

    On Windows, agents go by ``USERPROFILE``; Git sets ``HOME`` too.
    """
    first, second = ("USERPROFILE", "HOME") if os.name == "nt" else ("HOME", "USERPROFILE")
    return os.path.abspath(environ.get(first) or environ.get(second) or os.path.expanduser("~"))


# Git's files are read instead of running git, because a hook has no time for that.


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
