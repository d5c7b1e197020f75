"""The scripts that settings name: ``bin/hook`` and ``bin/statusline`` in the user's folder.

They hold where Python and brim are, so an upgrade changes them and never the settings. They always end with 0: Python
ends with 2 when a module is missing, and for Claude Code 2 means *block*.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
from contextlib import suppress
from glob import escape, glob

from brim.errors import InputError, StoreError
from brim.files import replace_file
from brim.hooks.startup import write_startup
from brim.install.agents import launcher_path, status_path
from brim.install.receipt import LOCK
from brim.store.project import make_folder

CODE = "from brim.hooks import main; main()"
"""What Python runs for a hook. The event and the agent are its arguments."""
STATUS_CODE = "from brim.hooks.process import status_line; status_line()"
"""What Python runs for the status line."""
RESIDENT = ("bin/hook-unless-resident", "resident")
"""What 0.1 left in the user's folder for resident hooks."""


def launcher_text(python: str, package: str | None = None, *, home: str | None = None, code: str = CODE) -> str:
    """Return the script that runs *code* with the interpreter *python*.

    *package* is the folder that holds brim (default: this one's): with it, Python need not look through everything that
    is installed (``-S``). *home* is the user's folder. It and the person's home replace ``BRIM_HOME`` and ``HOME`` of
    the agent's environment, which a project's settings can set: brim runs programs that the user's folder names.
    """
    package = package or os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    folder, name = os.path.split(home or "")
    person = folder if name == ".brim" else os.path.expanduser("~")
    place = "" if home is None else f"BRIM_HOME={_quoted(home)} HOME={_quoted(person)} "
    code = f"import sys; sys.path.append({package!r}); {code}"
    return f'#!/bin/sh\n{place}{_quoted(python)} -I -S -c {_quoted(code)} "$@" 2>/dev/null\nexit 0\n'


def install_launcher(home: str, python: str | None = None, *, package: str | None = None) -> str:
    """Write the launcher of hooks to the user's folder *home*, if it changed; return its path."""
    path = launcher_path(home)
    _write(path, launcher_text(python or sys.executable, package, home=os.path.abspath(home)))
    return path


def install_launchers(home: str) -> list[str]:
    """Write the scripts for this interpreter; return those that changed. One in a cache is refused."""
    check_lasting()
    home, python = os.path.abspath(home), sys.executable
    texts = {
        launcher_path(home): launcher_text(python, home=home),
        status_path(home): launcher_text(python, home=home, code=STATUS_CODE),
    }
    try:
        make_folder(home)
        changed = [path for path, text in texts.items() if _write(path, text)]
    except OSError as error:
        raise StoreError(f"{home}: the launcher cannot be written: {error.strerror or error}", "failed") from None
    if changed:
        remove_bundles(home)  # perhaps of another Python, and then never read again
    with suppress(OSError):  # hooks start without it, only slower
        write_startup(home)
    return changed


def check_lasting(prefix: str = sys.prefix) -> None:
    """Raise ``InputError`` if the environment in *prefix* is in a cache, as that of ``uvx`` or ``pipx run`` is.

    Such a cache has ``CACHEDIR.TAG`` in its folder (bford.info/cachedir). Environments have one of their own, so only
    the folders above count.
    """
    folder = os.path.dirname(os.path.abspath(prefix))
    while not os.path.exists(os.path.join(folder, "CACHEDIR.TAG")):
        above = os.path.dirname(folder)
        if above == folder:
            return
        folder = above
    how = "pipx install brim" if "pipx" in folder.split(os.sep) else "uv tool install brim"
    raise InputError(
        f"this brim runs from a cache ({folder}) that may be emptied at any time, and the hooks with it: "
        f"run '{how}', then 'brim init'"
    )


def copy_launcher(launcher: str, path: str, home: str) -> None:
    """Write the script *launcher* to *path*, for another user's folder *home*, to try it there."""
    _write(
        path, re.sub(r"(?m)^BRIM_HOME=(?:'[^']*'|\"'\")+ ", lambda _: f"BRIM_HOME={_quoted(home)} ", _read(launcher))
    )


def remove_launchers(home: str) -> None:
    """Remove the scripts and what made them faster, and the folders that are empty after that."""
    remove_resident(home)
    remove_bundles(home)
    for path in (launcher_path(home), status_path(home), os.path.join(home, LOCK)):
        with suppress(OSError):
            os.unlink(path)
    for folder in ("bin", "cache"):
        with suppress(OSError):
            os.rmdir(os.path.join(home, folder))
    with suppress(OSError):
        if os.listdir(home) == [".gitignore"]:
            os.unlink(os.path.join(home, ".gitignore"))
        os.rmdir(home)


def remove_resident(home: str) -> None:
    """Remove what 0.1 kept for resident hooks."""
    script, folder = (os.path.join(home, name) for name in RESIDENT)
    with suppress(OSError):
        os.unlink(script)
    shutil.rmtree(folder, ignore_errors=True)


def remove_bundles(home: str) -> None:
    """Remove the start-up files of hooks."""
    for path in glob(os.path.join(escape(home), "cache", "*.bin")):
        with suppress(OSError):
            os.unlink(path)


def interpreter_of(path: str) -> str:
    """Return the Python that the script *path* starts; empty if it can't be read."""
    try:
        words = shlex.split(_read(path).partition("\n")[2])
    except ValueError:
        return ""
    return next((word for word in words if not word.startswith(("BRIM_HOME=", "HOME="))), "")


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            return file.read(65_536)
    except OSError:
        return ""


def _write(path: str, text: str) -> bool:
    if _read(path) == text and os.access(path, os.X_OK):
        return False
    os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
    replace_file(path, os.fsencode(text), prepare=lambda beside: os.chmod(beside, 0o700))
    return True


def _quoted(text: str) -> str:
    """Return *text* as one word of a shell, as 0.1 wrote it: quoted even where ``shlex.quote`` would not."""
    return "'" + text.replace("'", "'\"'\"'") + "'"
