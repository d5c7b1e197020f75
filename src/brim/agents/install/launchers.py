"""The scripts that settings name: ``bin/hook`` and ``bin/statusline`` in the user's folder.

They hold where Python and brim are, so an upgrade changes them and never the settings.
"""

from __future__ import annotations

import os
import shlex

from brim.agents.install.entries import launcher_path, status_path
from brim.agents.install.resident import FOLDER, RESIDENT_LAUNCHER, resident_text
from brim.agents.launcher import CODE, install_launcher
from brim.errors import StoreError

STATUS_CODE = "from brim.agents.statusline import main; main()"
"""What Python runs for the status line."""


def install_launchers(home: str, python: str | None = None) -> list[str]:
    """Write the scripts for the interpreter *python* (default: this one); return those that changed."""
    from brim.store.folder import make_folder

    try:
        make_folder(home)
        paths = (launcher_path(home), status_path(home), resident_path(home))
        before = [_read(path) for path in paths]
        install_launcher(os.path.abspath(home), python)
        _write(paths[1], _read(paths[0]).replace(CODE, STATUS_CODE))
        _write(paths[2], resident_text(paths[0], home))
    except OSError as error:
        raise StoreError(f"{home}: the launcher cannot be written: {error.strerror or error}", "failed") from None
    return [path for path, old in zip(paths, before, strict=True) if _read(path) != old]


def remove_launchers(home: str) -> None:
    """Take the scripts away, and their folder if nothing else is in it; and what servers said of themselves."""
    from contextlib import suppress
    from shutil import rmtree

    for path in (launcher_path(home), status_path(home), resident_path(home)):
        with suppress(OSError):
            os.unlink(path)
    with suppress(OSError):
        os.rmdir(os.path.dirname(launcher_path(home)))
    rmtree(os.path.join(home, FOLDER), ignore_errors=True)


def resident_path(home: str) -> str:
    """Return the launcher that says nothing while a server answers."""
    return launcher_path(home).removesuffix("hook") + RESIDENT_LAUNCHER


def interpreter_of(path: str) -> str:
    """Return the Python that the script *path* starts; empty if it cannot be read."""
    for line in _read(path).splitlines()[1:2]:
        try:
            return shlex.split(line)[0]
        except (ValueError, IndexError):
            return ""
    return ""


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            return file.read(65_536)
    except OSError:
        return ""


def _write(path: str, text: str) -> None:
    from brim._atomic import replace_file

    if _read(path) != text or not os.access(path, os.X_OK):
        replace_file(path, os.fsencode(text), prepare=lambda beside: os.chmod(beside, 0o700))
