"""Which files hold settings, and where the states of sessions are.

The project file is ``.brim/config.yaml`` in the folder that ``CLAUDE_PROJECT_DIR`` names, else in
the nearest one upwards that has a ``.brim/``, up to git's top level; never the home folder's own.
The user file is ``config.yaml`` in ``$BRIM_HOME``, else in ``~/.brim``.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Mapping
from typing import Any

from brim.errors import ConfigError
from brim.files import read_safely, sha256_hex

NAME = "config.yaml"
_OF_A_USER = ("secret", "index.db")
"""Files that are in a user's folder, and never in a project's."""

_problems: dict[tuple[str, str, str], str] = {}


def config_paths(environ: Mapping[str, str], cwd: str | None) -> dict[str, str]:
    """Return the paths of the settings files, ``user`` before ``project``.

    The files may not exist.

    There is no ``project`` if *cwd* isn't in one, or is None: it was deleted, or its project isn't
    trusted.
    """
    user_file = os.path.join(user_folder(environ), NAME)
    paths = {"user": user_file}
    if cwd is None:
        return paths
    project = project_folder(environ, cwd)
    if project is None:
        return paths
    project_file = os.path.join(project, ".brim", NAME)
    if os.path.realpath(project_file) != os.path.realpath(user_file):
        paths["project"] = project_file
    return paths


def user_folder(environ: Mapping[str, str]) -> str:
    """Return the folder of the user's own files; ``ConfigError`` if ``BRIM_HOME`` can't be that."""
    problem = _bad_home(environ)
    if problem:
        remedy = "name an absolute folder outside of projects, or unset it"
        raise ConfigError(f"config: BRIM_HOME: {problem}: {remedy}")
    return environ.get("BRIM_HOME") or os.path.join(home_folder(environ), ".brim")


def without_bad_home(environ: Mapping[str, str]) -> Mapping[str, str]:
    """Return *environ* without an unusable ``BRIM_HOME``: hooks then use the default folder."""
    if not _bad_home(environ):
        return environ
    usable = dict(environ)
    del usable["BRIM_HOME"]
    return usable


def _bad_home(environ: Mapping[str, str]) -> str:
    """Return why ``BRIM_HOME`` can't be used: a project could set it to a folder of its own, with
    programs to run."""
    brim_home = environ.get("BRIM_HOME", "")
    if not brim_home:
        return ""
    question = (brim_home, home_folder(environ), environ.get("CLAUDE_PROJECT_DIR", ""))
    if question not in _problems:  # a hook asks a dozen times, and has not imported functools yet
        _problems[question] = _problem_with(*question)
    return _problems[question]


def _problem_with(brim_home: str, home: str, project: str) -> str:
    if not os.path.isabs(brim_home) or "\0" in brim_home:
        return f"{brim_home!r} is not an absolute path"
    home = os.path.realpath(home)
    open_project = ""
    if _is_folder(project):
        open_project = os.path.realpath(project)
    folder = os.path.realpath(brim_home)
    is_project = folder == open_project or _has(folder, ".git")  # its own .brim/ is no project's
    while folder not in (home, os.path.dirname(folder)):
        if is_project:
            return f"{brim_home} is in the project {folder}"
        folder = os.path.dirname(folder)
        is_project = folder == open_project or _has(folder, ".git") or _has(folder, ".brim")
    return ""


def _has(folder: str, name: str) -> bool:
    return os.path.lexists(os.path.join(folder, name))


def project_folder(environ: Mapping[str, str], cwd: str) -> str | None:
    """Return the project folder that contains *cwd*, or None.

    It is the nearest folder with a ``.brim/``, or else git's top level. Folders above git's top
    level and folders of other users are ignored: someone else's ``.brim`` there must not take over
    the folders below.

    An agent that names its project (``CLAUDE_PROJECT_DIR``) by an absolute path is believed. The
    home folder is never a project, nor is a folder whose ``.brim/`` is a user's own: another home
    than this process has, as in a container or with a changed ``HOME``.
    """
    # The working folder comes with its links resolved, so the home folder has to be as well.
    home = os.path.realpath(home_folder(environ))
    named_project = environ.get("CLAUDE_PROJECT_DIR", "")
    if _is_folder(named_project) and os.path.realpath(named_project) != home:
        return os.path.realpath(named_project)
    folder = os.path.realpath(cwd)
    owner = _owner(folder)
    while True:
        is_repository = os.path.exists(os.path.join(folder, ".git"))
        has_brim = _has_brim(folder)
        if folder != home and (is_repository or has_brim):
            return folder
        above = os.path.dirname(folder)
        if is_repository or above == folder:
            return None
        if _owner(above) not in (owner, _uid()):
            return None
        folder = above


def _has_brim(folder: str) -> bool:
    """Whether *folder* has a project's ``.brim/``: only a user's has a secret or an index."""
    own_folder = os.path.join(folder, ".brim")
    if not os.path.exists(own_folder):
        return False
    return not any(os.path.exists(os.path.join(own_folder, name)) for name in _OF_A_USER)


def _is_folder(path: str) -> bool:
    return os.path.isabs(path) and "\0" not in path and os.path.isdir(path)


def _owner(folder: str) -> int:
    """Return the owner of *folder*; -1 if it's gone."""
    try:
        return os.stat(folder).st_uid
    except OSError:
        return -1


def _uid() -> int:
    if hasattr(os, "getuid"):
        return os.getuid()
    return 0


def home_folder(environ: Mapping[str, str]) -> str:
    """Return the person's home folder.

    On Windows, agents go by ``USERPROFILE``; Git sets ``HOME`` too.
    """
    variables = ["HOME", "USERPROFILE"]
    if os.name == "nt":
        variables.reverse()
    for variable in variables:
        if environ.get(variable):
            return os.path.abspath(environ[variable])
    return os.path.abspath(os.path.expanduser("~"))


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


_HEAD = "ref: refs/heads/"
_LARGEST_HEAD = 4_096


def branch_of(folder: str) -> str:
    """Return the branch that is checked out around *folder*; empty without one."""
    git: str | None = None
    current = os.path.realpath(folder)
    while git is None:
        git = git_folder(current)
        above = os.path.dirname(current)
        if above == current:
            break
        current = above
    if git is None:
        return ""
    try:
        text = read_safely(os.path.join(git, "HEAD"), at_most=_LARGEST_HEAD)
    except (OSError, ValueError):
        return ""
    head = text.decode("utf-8", "replace").strip()
    if head.startswith(_HEAD):
        return head.removeprefix(_HEAD)
    return ""


# The states of sessions ---------------------------------------------------------------------------

STATES = "state"
"""The folder in the user's folder with a file for each session."""

LARGEST_STATE = 1 << 20
"""Bytes of a state file that are read; a larger one isn't ours."""

_HARMLESS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"


def state_path(home: str, session: str) -> str:
    """Return the file with what is remembered of *session* in the user's folder *home*."""
    return os.path.join(home, STATES, f"{file_id(session)}.json")


def file_id(session: str) -> str:
    """Return *session* as part of a file name: unchanged if it is harmless, else its SHA-256."""
    if 0 < len(session) <= 64 and not session.strip(_HARMLESS):
        return session
    return sha256_hex(session.encode("utf-8", "surrogatepass"))


def read_state(path: str) -> dict[str, Any]:
    """Return what the state file *path* holds; nothing if it is missing or broken."""
    try:
        return mapping_of(json.loads(read_safely(path, at_most=LARGEST_STATE).decode()))
    except (OSError, ValueError, RecursionError):
        return {}


def mapping_of(value: object) -> dict[str, Any]:
    """Return *value* if it is a mapping, else an empty one."""
    if isinstance(value, dict):
        return value
    return {}
