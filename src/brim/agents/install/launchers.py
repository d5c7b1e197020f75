"""The scripts that settings name: ``bin/hook`` and ``bin/statusline`` in the user's folder.

They hold where Python and brim are, so an upgrade changes them and never the settings.
"""

from __future__ import annotations

import os
import shlex

from brim.agents.install.entries import launcher_path, status_path
from brim.agents.install.receipt import LOCK
from brim.agents.install.resident import FOLDER, RESIDENT_LAUNCHER, resident_text
from brim.agents.launcher import CODE, install_launcher
from brim.errors import StoreError

STATUS_CODE = "from brim.hooks.statusline import main; main()"
"""What Python runs for the status line."""


def install_launchers(home: str, python: str | None = None) -> list[str]:
    """Write the scripts for the interpreter *python* (default: this one); return those that changed."""
    from brim.store.project import make_folder

    try:
        make_folder(home)
        paths = (launcher_path(home), status_path(home), resident_path(home))
        before = [_read(path) for path in paths]
        install_launcher(os.path.abspath(home), python)
        _write(paths[1], _read(paths[0]).replace(CODE, STATUS_CODE))
        _write(paths[2], resident_text(paths[0], home))
    except OSError as error:
        raise StoreError(f"{home}: the launcher cannot be written: {error.strerror or error}", "failed") from None
    changed = [path for path, old in zip(paths, before, strict=True) if _read(path) != old]
    if changed:
        remove_bundles(home)  # of another Python, perhaps, which nobody would ever read again
    return changed


def remove_launchers(home: str) -> None:
    """Take away the scripts, what made them faster, and what servers said of themselves.

    Folders go if nothing else is in them: so what was learned stays, and a home that holds nothing does not.
    """
    from contextlib import suppress
    from shutil import rmtree

    for path in (launcher_path(home), status_path(home), resident_path(home), os.path.join(home, LOCK)):
        with suppress(OSError):
            os.unlink(path)
    remove_bundles(home)
    rmtree(os.path.join(home, FOLDER), ignore_errors=True)
    for folder in (os.path.dirname(launcher_path(home)), os.path.join(home, "cache")):
        with suppress(OSError):
            os.rmdir(folder)
    with suppress(OSError):
        if os.listdir(home) == [".gitignore"]:
            os.unlink(os.path.join(home, ".gitignore"))
        os.rmdir(home)


def remove_bundles(home: str) -> None:
    """Remove the modules that hooks have kept: the next ones keep their own."""
    from contextlib import suppress
    from glob import escape, glob

    for path in glob(os.path.join(escape(home), "cache", "hook-*.bin")):
        with suppress(OSError):
            os.unlink(path)


def resident_path(home: str) -> str:
    """Return the launcher that says nothing while a server answers."""
    return launcher_path(home).removesuffix("hook") + RESIDENT_LAUNCHER


def interpreter_of(path: str) -> str:
    """Return the Python that the script *path* starts; empty if it cannot be read."""
    try:
        words = shlex.split(_read(path).partition("\n")[2])
    except ValueError:
        return ""
    return next((word for word in words if not word.startswith("BRIM_HOME=")), "")


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
