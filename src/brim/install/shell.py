"""How the shell of an agent reads a command, and how brim reads it back.

On Linux and macOS that is a POSIX shell. On Windows it is Git Bash for Claude Code, or PowerShell
where that isn't installed, and PowerShell for Codex and Gemini CLI. No quoted program is one to
both: Git Bash runs "C:/my dir/x", and to PowerShell that is a text unless & comes first. So a path
is quoted there only if it has to be.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
from collections.abc import Mapping
from typing import Any

from brim.agents.fields import text
from brim.agents.settings import GUARD, settings_for
from brim.files import WINDOWS

_PLAIN = re.compile(r"[\w.:~/\\-]+")
"""A path that Git Bash, PowerShell and cmd.exe all read as it is, once its slashes are theirs."""
_COMMAND = re.compile(r"""(?:& )?(?:'((?:[^']|'')+)'|"([^"]+)"|([^\s'"&]+))((?: [\w-]+)*)""")


def program_in(agent: str, path: str, *, person: str = "", windows: bool = WINDOWS) -> str:
    """Return the program *path* as the shell of *agent* reads it at the beginning of a command.

    *person* is the home folder: a path in it that needs quotes is written with ``~`` for Claude
    Code, which both of its shells on Windows read.
    """
    if not windows:
        return shlex.quote(path)
    if settings_for(agent).reads_posix_paths:
        return _for_git_bash(path.replace("\\", "/"), person.replace("\\", "/").rstrip("/"))
    if _PLAIN.fullmatch(path):
        return path
    return "& '" + re.sub("(['‘’‚‛])", r"\1\1", path) + "'"


def _for_git_bash(path: str, person: str) -> str:
    """Return *path*, which has slashes, as both shells of Claude Code on Windows read it."""
    if _PLAIN.fullmatch(path):
        return path
    inside = path.removeprefix(f"{person}/")
    if person and inside != path and _PLAIN.fullmatch(inside):
        return f"~/{inside}"
    return '"' + re.sub(r"([$`])", r"\\\1", path) + '"'


def words_in(command: str, *, person: str = "", windows: bool = WINDOWS) -> list[str]:
    """Return the words of *command* as a shell splits it; nothing if it isn't a plain call of one
    program.

    The program is a path of this system, however it was written.
    """
    if not windows:
        try:
            return shlex.split(command.removesuffix(GUARD))
        except ValueError:
            return []
    match = _COMMAND.fullmatch(command)
    if match is None:
        return []
    single, double, plain, arguments = match.groups()
    program = plain or ""
    if single:
        program = re.sub("(['‘’‚‛])\\1", r"\1", single)
    elif double:
        program = re.sub(r"\\([$`])", r"\1", double)
    if program.startswith("~/") and person:
        program = person + program[1:]
    return [os.path.normpath(program), *arguments.split()]


def words_of(hook: Any) -> list[str]:
    """Return the command of *hook* as the shell splits it; nothing if it has none."""
    return words_in(text(hook, "command"), person=os.path.expanduser("~"))


def typed(path: str, *, windows: bool = WINDOWS) -> str:
    """Return *path* as a person types it after the name of a program."""
    if not windows:
        return shlex.quote(path)
    return path if _PLAIN.fullmatch(path) else f'"{path}"'


def program_name(path: str, *, windows: bool = WINDOWS) -> str:
    """Return the name of the program *path* without its folder and, on Windows, its ending."""
    if not windows:
        return os.path.basename(path)
    name = os.path.basename(path.replace("\\", "/"))
    return os.path.splitext(name)[0].lower()


def brim_program() -> str:
    """Return the path of the program that runs now."""
    name = "brim.exe" if WINDOWS else "brim"
    program = os.path.join(os.path.dirname(sys.executable), name)
    if os.path.exists(program):
        return program
    return os.path.abspath(sys.argv[0])


def server_command(agent: str, environ: Mapping[str, str], home: str) -> str:
    """Return what a person types to let *agent* use the MCP server in every project."""
    program = brim_program()
    on_path = shutil.which("brim") or ""
    called = typed(program)
    if os.path.realpath(on_path) == os.path.realpath(program):
        called = "brim"
    own = ""
    if environ.get("BRIM_HOME"):
        own = f" --env {typed(f'BRIM_HOME={home}')}"
    command = settings_for(agent).mcp_command
    return command.replace("{own}", own).replace("{program}", f"{called} mcp")
