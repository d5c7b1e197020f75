"""Which session is meant when none is named: the newest that an agent wrote for this project, else the newest of all.

Claude Code, Codex and Gemini keep one file per session, each in a folder of its own. What is newest is what was written
to last.
"""

from __future__ import annotations

import os
import re

from brim.errors import InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

FIRST_BYTES = 64_000
"""How much of a file is read to learn which project it belongs to."""

MOST_LOOKED_AT = 50
"""Of Codex's files only that many are opened, the newest: their folders are by day, not by project."""


class Found:
    """A session's file. ``here`` is whether it belongs to the project that was asked for."""

    __slots__ = ("here", "path")

    def __init__(self, path: str, *, here: bool) -> None:
        self.path, self.here = path, here


def newest(environ: Mapping[str, str], folder: str | None) -> Found:
    """Return the newest session for the project in *folder*, else the newest of all."""
    home = environ.get("HOME") or os.path.expanduser("~")
    projects = list(_projects(folder, home))
    files = sorted(_all_sessions(environ, home), reverse=True)
    for path in _of_project(files, projects):
        return Found(path, here=True)
    if files:
        return Found(files[0][1], here=False)
    raise InputError(
        "no session of Claude Code, Codex or Gemini was found: name its file, or pipe a stream: "
        "claude -p ... --output-format stream-json --verbose | brim watch -"
    )


def _projects(folder: str | None, home: str) -> Iterator[str]:
    """Give *folder* and those above it: an agent may have been started at the top of the project; never home itself."""
    while folder and folder not in (home, os.path.dirname(folder)):
        yield folder
        folder = os.path.dirname(folder)


def _all_sessions(environ: Mapping[str, str], home: str) -> Iterator[tuple[float, str, str]]:
    """Give the time of the last change, the path and the agent of every session."""
    configured = environ.get("CLAUDE_CONFIG_DIR", "")
    roots = [root.strip() for root in configured.split(",") if root.strip()]
    for root in roots or [os.path.join(home, ".claude"), os.path.join(home, ".config", "claude")]:
        for project in _folders(os.path.join(root, "projects")):
            yield from _sessions(project, "claude")
    codex = environ.get("CODEX_HOME") or os.path.join(home, ".codex")
    for year in _folders(os.path.join(codex, "sessions")):
        for month in _folders(year):
            for day in _folders(month):
                yield from _sessions(day, "codex")
    for project in _folders(os.path.join(home, ".gemini", "tmp")):
        yield from _sessions(os.path.join(project, "chats"), "gemini")


def _of_project(files: list[tuple[float, str, str]], projects: list[str]) -> Iterator[str]:
    """Give the *files* that belong to one of *projects*, the newest first."""
    slugs = {re.sub(r"[^A-Za-z0-9]", "-", project) for project in projects}
    opened = 0
    for _, path, agent in files:
        if agent == "claude":
            if os.path.basename(os.path.dirname(path)) in slugs:
                yield path
        elif opened < MOST_LOOKED_AT:
            opened += 1
            if _is_of(path, projects):
                yield path


def _is_of(path: str, projects: list[str]) -> bool:
    """Whether the first line of *path* names one of *projects*: by its folder (Codex) or its hash (Gemini)."""
    import json

    try:
        with open(path, "rb") as file:
            first = file.readline(FIRST_BYTES)
    except OSError:
        return False
    named = re.search(rb'"cwd"\s*:\s*("(?:[^"\\]|\\.)*")', first)
    if named:
        try:
            return json.loads(named[1]) in projects
        except ValueError:
            return False
    hashed = re.search(rb'"projectHash"\s*:\s*"([0-9a-f]{64})"', first)
    if hashed is None:
        return False
    from hashlib import sha256

    return hashed[1].decode() in {sha256(project.encode(errors="surrogateescape")).hexdigest() for project in projects}


def _folders(folder: str) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return [entry.path for entry in entries if entry.is_dir()]
    except OSError:
        return []


def _sessions(folder: str, agent: str) -> Iterator[tuple[float, str, str]]:
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.endswith(".jsonl") and entry.is_file():
                    yield entry.stat().st_mtime, entry.path, agent
    except OSError:
        return
