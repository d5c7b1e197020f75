"""How the shell of an agent reads a command, and how brim reads it back.

On Linux and macOS that is a POSIX shell. On Windows it is Git Bash for Claude Code, or PowerShell where that isn't
installed, and PowerShell for Codex and Gemini CLI. No quoted program is one to both: Git Bash runs ``"C:/my dir/x"``,
and to PowerShell that is a text unless ``&`` comes first. So a path is quoted there only if it has to be.
"""

from __future__ import annotations

import os
import re
import shlex

from brim.files import WINDOWS

_PLAIN = re.compile(r"[\w.:~/\\-]+")
"""A path that Git Bash, PowerShell and cmd.exe all read as it is, once its slashes are theirs."""
_COMMAND = re.compile(r"""(?:& )?(?:'((?:[^']|'')+)'|"([^"]+)"|([^\s'"&]+))((?: [\w-]+)*)""")


def program_in(agent: str, path: str, *, person: str = "", windows: bool = WINDOWS) -> str:
    """Return the program *path* as the shell of *agent* reads it at the beginning of a command.

    *person* is the home folder: a path in it that needs quotes is written with ``~`` for Claude Code, which both of
    its shells on Windows read.
    """
    if not windows:
        return shlex.quote(path)
    if agent != "claude":
        return path if _PLAIN.fullmatch(path) else "& '" + re.sub("(['‘’‚‛])", r"\1\1", path) + "'"
    path, person = path.replace("\\", "/"), person.replace("\\", "/").rstrip("/")
    inside = path.removeprefix(f"{person}/")
    if not _PLAIN.fullmatch(path) and person and inside != path and _PLAIN.fullmatch(inside):
        return f"~/{inside}"
    return path if _PLAIN.fullmatch(path) else '"' + re.sub(r"([$`])", r"\\\1", path) + '"'


def words_in(command: str, *, person: str = "", windows: bool = WINDOWS) -> list[str]:
    """Return the words of *command* as a shell splits it; nothing if it isn't a plain call of one program.

    The program is a path of this system, however it was written.
    """
    if not windows:
        try:
            return shlex.split(command)
        except ValueError:
            return []
    found = _COMMAND.fullmatch(command)
    if found is None:
        return []
    single, double, plain, rest = found.groups()
    program = plain or ""
    if single:
        program = re.sub("(['‘’‚‛])\\1", r"\1", single)
    elif double:
        program = re.sub(r"\\([$`])", r"\1", double)
    if program.startswith("~/") and person:
        program = person + program[1:]
    return [os.path.normpath(program), *rest.split()]


def typed(path: str, *, windows: bool = WINDOWS) -> str:
    """Return *path* as a person types it after the name of a program."""
    if not windows:
        return shlex.quote(path)
    return path if _PLAIN.fullmatch(path) else f'"{path}"'


def program_name(path: str, *, windows: bool = WINDOWS) -> str:
    """Return the name of the program *path* without its folder and, on Windows, its ending."""
    name = os.path.basename(path.replace("\\", "/") if windows else path)
    return os.path.splitext(name)[0].lower() if windows else name
