"""Which file of which agent: where each keeps the settings that hold its hooks, and whether brim may write there."""

from __future__ import annotations

import os
import stat

from brim._frozen import Frozen
from brim.errors import InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

LARGEST = 8_000_000
"""Bytes of settings that are read."""

NAMES = {"claude": "Claude Code", "codex": "Codex", "gemini": "Gemini CLI"}
"""The agents, and what people call them."""

_IN_PROJECT = {"claude": ".claude/settings.local.json", "codex": ".codex/hooks.json", "gemini": ".gemini/settings.json"}


class Target(Frozen):
    """A settings file of *agent*: the ``user``'s, for every project, or one in a ``project``."""

    __slots__ = ("agent", "scope", "path")

    agent: str
    scope: str
    path: str

    def __init__(self, agent: str, scope: str, path: str) -> None:
        self._fill(agent=agent, scope=scope, path=path)

    @property
    def comments(self) -> bool:
        """Whether the agent allows comments in it."""
        return self.agent == "gemini"

    @property
    def is_orphan(self) -> bool:
        """Whether the project that it was in is gone: moved, deleted, or on a disk that is not there now."""
        return self.scope == "project" and not os.path.isdir(os.path.dirname(os.path.dirname(self.path)))


def user_target(agent: str, environ: Mapping[str, str]) -> Target:
    """Return the file with the settings that count in every project."""
    if agent == "claude":
        path = os.path.join(environ.get("CLAUDE_CONFIG_DIR") or _home(environ, ".claude"), "settings.json")
    elif agent == "codex":
        path = os.path.join(environ.get("CODEX_HOME") or _home(environ, ".codex"), "hooks.json")
    else:
        path = os.path.join(environ.get("GEMINI_CLI_HOME") or _home(environ), ".gemini", "settings.json")
    return Target(agent, "user", os.path.abspath(path))


def project_target(agent: str, project: str) -> Target:
    """Return the file in *project* that is meant for this machine alone, as far as the agent has one."""
    return Target(agent, "project", os.path.join(project, *_IN_PROJECT[agent].split("/")))


def is_present(agent: str, environ: Mapping[str, str]) -> bool:
    """Whether somebody uses *agent* here: its folder is there, or its command is."""
    from shutil import which

    folder = os.path.dirname(user_target(agent, environ).path)
    return os.path.isdir(folder) or which(agent, path=environ.get("PATH", os.defpath)) is not None


def why_not(target: Target) -> str:
    """Say why brim must not write into a project's file; empty if it may."""
    from brim.store.project import is_tracked

    if target.scope == "project" and is_tracked(target.path):
        return (
            f"{target.path}: git tracks it, and what brim writes is about this machine only; "
            "leave out --project to install for every project"
        )
    return ""


def read_settings_file(path: str) -> str | None:
    """Return what the file *path* holds, with its line ends; None if it is not there."""
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}; nothing was changed") from None
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise InputError(f"{path}: is not a file; nothing was changed")
    with os.fdopen(handle, "rb") as file:
        data = file.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise InputError(f"{path}: is larger than {LARGEST:,} bytes, so brim leaves it alone")
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: byte {error.start} is not UTF-8; nothing was changed: correct it first") from None


def check_writable(path: str) -> None:
    """Raise if the file *path* is read-only: it could be replaced all the same, but against its owner's will.

    Its folder, or the one that it would be made in, has to take a new file and a backup.
    """
    real = os.path.realpath(path)
    folder = os.path.dirname(real)
    while not os.path.lexists(folder):
        folder = os.path.dirname(folder)
    if not os.access(folder, os.W_OK | os.X_OK):
        raise InputError(f"{folder}: is read-only, so {path} is as it was: 'chmod u+w' it if brim may write there")
    try:
        mode = os.stat(real).st_mode
    except FileNotFoundError:
        return
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror or error}; it is as it was") from None
    if not mode & 0o222 or not os.access(real, os.W_OK):
        raise InputError(f"{path}: is read-only, so it is as it was: 'chmod u+w' it if brim may write there")


def _home(environ: Mapping[str, str], *names: str) -> str:
    return os.path.join(environ.get("HOME") or os.path.expanduser("~"), *names)
