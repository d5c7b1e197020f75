"""The command that agents call: a shell script of three lines that holds where Python is, and always ends well.

Python and command lines end with 2 by themselves when something is missing, and for Claude Code 2 means *block*. So the
script ends with 0 whatever became of Python. The settings of the agents name the script and never change; ``brim
upgrade`` writes the script anew.
"""

from __future__ import annotations

import os

FOLDER, NAME = "bin", "hook"

CODE = "from brim.hooks import main; main()"
"""What Python runs. The event and the agent come after it."""


def launcher_path(home: str) -> str:
    """Return where the launcher is in the user's folder *home*."""
    return os.path.join(home, FOLDER, NAME)


def launcher_text(python: str, package: str | None = None, *, home: str | None = None) -> str:
    """Return the script that runs brim with the interpreter *python*.

    *package* is the folder that holds brim (default: the one that this brim is in). With it Python need not look
    through everything that is installed (``-S``) before it begins. *home* is the user's folder that it is in: an agent
    need not have the ``BRIM_HOME`` of the shell in which brim was installed.
    """
    place = "" if home is None else f"BRIM_HOME=${{BRIM_HOME:-{_quoted(home)}}} "
    code = f"import sys; sys.path.append({(package or package_folder())!r}); {CODE}"
    return f'#!/bin/sh\n{place}{_quoted(python)} -I -S -c {_quoted(code)} "$@" 2>/dev/null\nexit 0\n'


def package_folder() -> str:
    """Return the folder that holds this brim."""
    return os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def install_launcher(home: str, python: str | None = None, *, package: str | None = None) -> str:
    """Write the launcher to the user's folder *home*; return its path. It is replaced in one step, and only if it
    changed.

    *python* is the interpreter (default: this one), *package* as in ``launcher_text``. An ``OSError`` leaves what was
    there.
    """
    import sys

    from brim._atomic import replace_file

    path = launcher_path(home)
    wanted = os.fsencode(launcher_text(python or sys.executable, package, home=os.path.abspath(home)))
    try:
        with open(path, "rb") as file:
            if file.read() == wanted and os.access(path, os.X_OK):
                return path
    except OSError:
        pass
    os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
    replace_file(path, wanted, prepare=lambda beside: os.chmod(beside, 0o700))
    return path


def _quoted(text: str) -> str:
    """Return *text* as one word of a shell."""
    return "'" + text.replace("'", "'\"'\"'") + "'"
