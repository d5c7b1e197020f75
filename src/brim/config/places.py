"""Which files hold settings.

The project file is ``.brim/config.yaml`` in the folder that ``CLAUDE_PROJECT_DIR`` names, else in the nearest one
upwards that has a ``.brim/``, else at git's top level; never the home folder's own. The user file is ``config.yaml`` in
``$BRIM_HOME``, else in ``~/.brim``.
"""

from __future__ import annotations

import os.path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

NAME = "config.yaml"


def config_paths(environ: Mapping[str, str], cwd: str | None) -> dict[str, str]:
    """Return the paths of the settings files, ``user`` before ``project``.

    The files may not exist.

    There is no ``project`` if *cwd* lies in none, or is None: a folder that went away, or one that is not trusted.
    """
    found = {"user": os.path.join(user_folder(environ), NAME)}
    project = project_folder(environ, cwd) if cwd is not None else None
    if project is not None:
        path = os.path.join(project, ".brim", NAME)
        if os.path.realpath(path) != os.path.realpath(found["user"]):
            found["project"] = path
    return found


def config_files(environ: Mapping[str, str], cwd: str | None) -> list[str]:
    """Return the configuration files that exist, the weaker first."""
    return [path for path in config_paths(environ, cwd).values() if os.path.exists(path)]


def user_folder(environ: Mapping[str, str]) -> str:
    """Return the folder of the user's own files."""
    return environ.get("BRIM_HOME") or os.path.join(_home(environ), ".brim")


def project_folder(environ: Mapping[str, str], cwd: str) -> str | None:
    """Return the project folder that contains *cwd*, or None.

    It is the nearest folder with a ``.brim/``, or else git's top level.

    An agent that names its project (``CLAUDE_PROJECT_DIR``) is believed. The home folder is never a project.
    """
    # The working folder comes with its links resolved, so the home folder has to be as well.
    home, folder = os.path.realpath(_home(environ)), os.path.realpath(cwd)
    named = environ.get("CLAUDE_PROJECT_DIR", "")
    if named and os.path.isdir(named) and os.path.realpath(named) != home:
        return os.path.realpath(named)
    above = [folder]
    while (parent := os.path.dirname(folder)) != folder:
        folder = parent
        above.append(folder)
    for mark in (".brim", ".git"):
        for folder in above:
            if folder != home and os.path.exists(os.path.join(folder, mark)):
                return folder
    return None


def _home(environ: Mapping[str, str]) -> str:
    return os.path.abspath(environ.get("HOME") or environ.get("USERPROFILE") or os.path.expanduser("~"))
