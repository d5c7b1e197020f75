"""The scripts that settings name: ``bin/hook`` and ``bin/statusline`` in the user's folder.

They hold where Python and brim are, so an upgrade changes them and never the settings. They always
end with 0: Python ends with 2 when a module is missing, and for Claude Code 2 means *block*.

On Windows they are ``bin\\hook.cmd`` and ``bin\\statusline.cmd``, each with a script in Python next
to it: cmd.exe reads only ASCII the same everywhere, and a person's name may be in every path.
"""

from __future__ import annotations

import ntpath
import os
import re
import shlex
import sys
from contextlib import suppress
from glob import escape, glob

from brim._startup import PACKAGE
from brim._startup.compiler import Unsupported
from brim._startup.writer import write_startup
from brim.config.own_folder import make_folder
from brim.errors import InputError, StoreError
from brim.files import WINDOWS, replace_file
from brim.install.agents import launcher_path, status_path
from brim.install.changes import LOCK

CODE = "from brim._startup import hook; hook()"
"""What Python runs for a hook. The event and the agent are its arguments."""
TOKENS = "BRIM_TOKEN_BUDGET"
"""The variable of the token budget; ``brim init --token-budget`` sets it where the environment
would be stronger."""
STATUS_CODE = "from brim._startup import status_line; status_line()"
"""What Python runs for the status line."""


def launcher_text(
    python: str,
    package: str | None = None,
    *,
    home: str | None = None,
    code: str = CODE,
    tokens: str = "",
) -> str:
    """Return the script that runs *code* with the interpreter *python*.

    *package* is the folder that holds brim (default: this one's): with it, Python need not look
    through everything that is installed (``-S``). *home* is the user's folder. It and the person's
    home replace ``BRIM_HOME`` and ``HOME`` of the agent's environment, which a project's settings
    can set: brim runs programs that the user's folder names. *tokens* is a token budget that is
    stronger than the environment's.
    """
    place = ""
    if home is not None:
        place = f"BRIM_HOME={_quoted(home)} HOME={_quoted(_person(home))} "
    if tokens:
        place += f"{TOKENS}={_quoted(tokens)} "
    code = f"import sys; sys.path.append({package or PACKAGE!r}); {code}"
    return (
        f'#!/bin/sh\n{place}{_quoted(python)} -I -S -c {_quoted(code)} "$@" 2>/dev/null\nexit 0\n'
    )


def windows_texts(
    path: str,
    python: str,
    package: str | None = None,
    *,
    home: str,
    code: str = CODE,
    tokens: str = "",
) -> dict[str, str]:
    """Return the launcher *path* for Windows and the script in Python that it runs, by their paths.

    The script sets what ``launcher_text`` sets. Python is named from the launcher's folder if it's
    on the same drive, so that the person's name isn't in it.
    """
    interpreter = _from_launcher(path, python)
    script = _python_script(path)
    places = {"BRIM_HOME": home, "HOME": _person(home), "USERPROFILE": _person(home)}
    if tokens:
        places[TOKENS] = tokens
    lines = [
        "import os, sys",
        f"os.environ.update({places!r})",
        f"sys.path.append({package or PACKAGE!r})",
        code,
    ]
    batch_lines = [
        "@echo off",
        f'"{interpreter}" -I -S "%~dp0{ntpath.basename(script)}" %* 2>nul',
        "exit /b 0",
        "",
    ]
    return {path: "\r\n".join(batch_lines), script: "\n".join([*lines, ""])}


def _from_launcher(path: str, python: str) -> str:
    """Return *python* as the batch file *path* names it."""
    try:
        relative = ntpath.relpath(python, ntpath.dirname(path))
    except ValueError:  # on another drive
        relative = python
    if not relative.isascii():
        why = "isn't ASCII, so a batch file can't hold it, and hooks need one on Windows"
        raise InputError(f"{python}: {why}: run 'uv tool install brim', then 'brim init'")
    escaped = relative.replace("%", "%%")
    if ntpath.isabs(relative):
        return escaped
    return f"%~dp0{escaped}"


def _texts(
    path: str,
    python: str,
    package: str | None = None,
    *,
    home: str,
    code: str = CODE,
    tokens: str = "",
) -> dict[str, str]:
    """Return the launcher *path*, and what it needs next to it, by their paths."""
    if WINDOWS:
        return windows_texts(path, python, package, home=home, code=code, tokens=tokens)
    return {path: launcher_text(python, package, home=home, code=code, tokens=tokens)}


def _python_script(path: str) -> str:
    """Return the script in Python that the batch file *path* runs."""
    return os.path.splitext(path)[0] + ".py"


def _person(home: str) -> str:
    """Return the home folder of the person whose folder *home* is."""
    folder, name = os.path.split(home)
    return folder if name == ".brim" else os.path.expanduser("~")


def install_launcher(home: str, python: str | None = None, *, package: str | None = None) -> str:
    """Write the launcher of hooks to the user's folder *home*, if it changed; return its path."""
    path = launcher_path(home)
    texts = _texts(path, python or sys.executable, package, home=os.path.abspath(home))
    for script, text in texts.items():
        _write(script, text)
    return path


def install_launchers(home: str, *, tokens: str | None = None) -> list[str]:
    """Write the scripts for this interpreter; return those that changed. One in a cache is refused.

    *tokens* is a token budget that is stronger than the environment's (default: the one that is
    there).
    """
    check_lasting()
    home = os.path.abspath(home)
    python = sys.executable
    if tokens is None:
        tokens = _tokens_in(launcher_path(home))
    texts = _texts(launcher_path(home), python, home=home, tokens=tokens)
    texts |= _texts(status_path(home), python, home=home, code=STATUS_CODE)
    try:
        make_folder(home)
        changed = [path for path, text in texts.items() if _write(path, text)]
    except OSError as error:
        raise StoreError(
            f"{home}: the launcher cannot be written: {error.strerror or error}", "failed"
        ) from None
    if changed:
        remove_bundles(home)  # perhaps of another Python, and then never read again
    with suppress(OSError, Unsupported):  # hooks start without it, only slower
        write_startup(home)
    return changed


def check_lasting(prefix: str = sys.prefix) -> None:
    """Raise ``InputError`` if the environment in *prefix* is in a cache, as that of ``uvx`` or
    ``pipx run`` is.

    Such a cache has ``CACHEDIR.TAG`` in its folder (bford.info/cachedir). Environments have one of
    their own, so only the folders above count.
    """
    folder = os.path.dirname(os.path.abspath(prefix))
    while not os.path.exists(os.path.join(folder, "CACHEDIR.TAG")):
        above = os.path.dirname(folder)
        if above == folder:
            return
        folder = above
    how = "uv tool install brim"
    if "pipx" in folder.split(os.sep):
        how = "pipx install brim"
    raise InputError(
        f"this brim runs from a cache ({folder}) that may be emptied at any time, "
        f"and the hooks with it: run '{how}', then 'brim init'"
    )


def copy_launcher(launcher: str, folder: str, home: str) -> str:
    """Write the script *launcher* into *folder*, for another user's folder *home*; return its path,
    to try it there."""
    path = os.path.join(folder, os.path.basename(launcher))
    if WINDOWS:
        for script, text in windows_texts(path, interpreter_of(launcher), home=home).items():
            _write(script, text)
        return path
    own = re.compile(r"(?m)^BRIM_HOME=(?:'[^']*'|\"'\")+ ")
    _write(path, own.sub(lambda _: f"BRIM_HOME={_quoted(home)} ", _read(launcher)))
    return path


def remove_launchers(home: str) -> None:
    """Remove the scripts and what made them faster, and the folders that are empty after that."""
    remove_bundles(home)
    scripts = [launcher_path(home), status_path(home)]
    for path in (*scripts, *map(_python_script, scripts), os.path.join(home, LOCK)):
        with suppress(OSError):
            os.unlink(path)
    for folder in ("bin", "cache"):
        with suppress(OSError):
            os.rmdir(os.path.join(home, folder))
    with suppress(OSError):
        if os.listdir(home) == [".gitignore"]:
            os.unlink(os.path.join(home, ".gitignore"))
        os.rmdir(home)


def remove_bundles(home: str) -> None:
    """Remove the start-up files of hooks."""
    for path in glob(os.path.join(escape(home), "cache", "*.bin")):
        with suppress(OSError):
            os.unlink(path)


def interpreter_of(path: str) -> str:
    """Return the Python that the script *path* starts; empty if it can't be read."""
    if WINDOWS:
        match = re.search(r'(?m)^"(%~dp0)?([^"]+)"', _read(path))
        if match is None:
            return ""
        relative = match[2].replace("%%", "%")
        return ntpath.normpath(ntpath.join(ntpath.dirname(path), relative))
    try:
        words = shlex.split(_read(path).partition("\n")[2])
    except ValueError:
        return ""
    return next((word for word in words if not word.startswith(("BRIM_", "HOME="))), "")


def _tokens_in(path: str) -> str:
    """Return the token budget that the script *path* sets; empty if it sets none."""
    if WINDOWS:
        path = _python_script(path)
    budget = re.search(rf"\b{TOKENS}\b\W+(\d+)", _read(path))
    if budget is None:
        return ""
    return budget[1]


def _read(path: str) -> str:
    """Return the script *path*; empty if it can't be read."""
    try:
        with open(path, encoding="utf-8", errors="surrogateescape", newline="") as file:
            return file.read(65_536)
    except OSError:
        return ""


def _write(path: str, text: str) -> bool:
    """Write the script *path*, if it isn't so; return whether it was written."""
    if _read(path) == text and os.access(path, os.X_OK):
        return False
    os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
    replace_file(path, os.fsencode(text), prepare=lambda beside: os.chmod(beside, 0o700))
    return True


def _quoted(text: str) -> str:
    """Return *text* as one word of a shell, in quotes even where ``shlex.quote`` needs none."""
    return "'" + text.replace("'", "'\"'\"'") + "'"
