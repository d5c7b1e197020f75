"""Finds the files that agents keep of their sessions: in their own folders, or where somebody says."""

from __future__ import annotations

import os
import re
import stat

from brim.errors import InputError
from brim.tracking.readers.scan import TRANSCRIPT, Stamp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

AGENTS = ("claude", "codex", "gemini")
"""The agents whose own folders are known."""

_SLUG = re.compile(r"-|[A-Za-z]--")
"""How the name begins that Claude Code makes of a folder: each one begins with a slash, or with a drive."""


class UsageFile:
    """A file to read: its ``path``, its ``stamp``, its ``format`` (empty: look into it) and ``slug``, the name of the
    folder that an agent keeps a project's sessions in, empty if it has none."""

    __slots__ = ("format", "identity", "path", "slug", "stamp")

    def __init__(self, path: str, about: os.stat_result, format: str = "", slug: str = "") -> None:
        self.path, self.stamp, self.format, self.slug = path, Stamp.of(about), format, slug
        self.identity = (about.st_dev, about.st_ino) if about.st_ino else path


def default_folders(environ: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return the folders of the agents, each with its agent, whether they are there or not.

    >>> default_folders({"HOME": "/home/user", "CODEX_HOME": "/opt/codex"})[-2:]
    [('codex', '/opt/codex/archived_sessions'), ('gemini', '/home/user/.gemini/tmp')]
    """
    home = environ.get("HOME") or os.path.expanduser("~")
    named = [part.strip() for part in environ.get("CLAUDE_CONFIG_DIR", "").split(",") if part.strip()]
    settings = environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config")
    claude = named or [os.path.join(settings, "claude"), os.path.join(home, ".claude")]
    codex = environ.get("CODEX_HOME") or os.path.join(home, ".codex")
    return [
        *[("claude", os.path.join(folder, "projects")) for folder in claude],
        ("codex", os.path.join(codex, "sessions")),
        ("codex", os.path.join(codex, "archived_sessions")),
        ("gemini", os.path.join(environ.get("GEMINI_CLI_HOME") or home, ".gemini", "tmp")),
    ]


def own_files(
    environ: Mapping[str, str], agents: Iterable[str] = AGENTS, *, on_problem: Callable[[str], object] = str
) -> list[UsageFile]:
    """Return the files in the folders of *agents*, in the order of their paths.

    *on_problem* is told, in a sentence, of each folder that cannot be looked into.
    """
    found: list[UsageFile] = []
    for agent, root in default_folders(environ):
        if agent in agents:
            for path, about in _files(os.path.abspath(root), on_problem):
                format, slug = _of_agent(agent, os.path.relpath(path, os.path.abspath(root)).split(os.sep))
                if format:
                    found.append(UsageFile(path, about, format, slug))
    return _once(found)


def named_files(paths: Iterable[str], *, on_problem: Callable[[str], object] = str) -> list[UsageFile]:
    """Return the files that *paths* name: a session's with those of its sub-agents, or every session in a folder.

    A path that is not there is an error. *on_problem* is told of each folder that cannot be looked into.
    """
    found: list[UsageFile] = []
    for named in paths:
        path = os.path.abspath(named)
        try:
            about = os.stat(path)
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or "no such file"
            raise InputError(f"{named}: {reason}; give a session's file, or a folder of them") from None
        if not stat.S_ISDIR(about.st_mode):
            if not stat.S_ISREG(about.st_mode):
                raise InputError(f"{named}: is not a regular file; give a session's file, or a folder of them")
            found.append(UsageFile(path, about, "", _slug(path)))
            root = os.path.join(os.path.splitext(path)[0], "subagents")
        else:
            projects = os.path.join(path, "projects")
            root = projects if os.path.isdir(projects) else path
        found += [UsageFile(each, of_it, "", _slug(each)) for each, of_it in _files(root, on_problem)]
    return _once(found)


def _of_agent(agent: str, parts: list[str]) -> tuple[str, str]:
    """Return format and slug of a file in an agent's folder; no format if it is no session."""
    if agent == "claude":
        return TRANSCRIPT, parts[0] if len(parts) > 1 and _SLUG.match(parts[0]) else ""
    if agent == "codex":
        return ("codex-rollout" if parts[-1].startswith("rollout-") else ""), ""
    is_chat = len(parts) >= 3 and parts[1] == "chats"
    return ("gemini-transcript" if is_chat else ""), parts[0]


def _slug(path: str) -> str:
    """Return the name of the project's folder in *path*, if it lies as the agents keep it: the last folder after a
    ``projects`` that can be one of Claude Code's, or the one before the ``chats`` of a session of Gemini CLI."""
    parts = path.split(os.sep)
    for at in range(len(parts) - 2, 0, -1):
        if parts[at - 1] == "projects" and _SLUG.match(parts[at]):
            return parts[at]
    return parts[-3] if parts[-2] == "chats" and parts[-1].startswith("session-") else ""


def _files(root: str, on_problem: Callable[[str], object]) -> Iterator[tuple[str, os.stat_result]]:
    """Yield the ``.jsonl`` files under *root*, if it is there; links are followed last, for a folder is found once."""
    waiting, seen = [root], set()
    while waiting:
        folder = waiting.pop()
        try:
            about = os.stat(folder)
            if (about.st_dev, about.st_ino) in seen:
                continue
            seen.add((about.st_dev, about.st_ino))
            entries = list(os.scandir(folder))
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            on_problem(f"{folder}: cannot be looked into: {error.strerror or error}; what is in it is not counted")
            continue
        for entry in entries:
            try:
                if entry.is_dir():
                    waiting.insert(0 if entry.is_symlink() else len(waiting), entry.path)
                elif entry.name.endswith(".jsonl") and entry.is_file():
                    yield entry.path, entry.stat()
            except OSError:
                continue


def _once(found: list[UsageFile]) -> list[UsageFile]:
    """Return *found* in the order of their paths, each file once, whatever paths lead to it."""
    by_file: dict[object, UsageFile] = {}
    for each in sorted(found, key=lambda each: each.path):
        by_file.setdefault(each.identity, each)
    return list(by_file.values())
