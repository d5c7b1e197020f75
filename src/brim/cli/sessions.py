"""Which session is meant when none is named: the newest that an agent wrote for this project, else the newest of all.

Claude Code, Codex and Gemini keep a file per session, each in a folder of its own. The newest is the one that was
written to last.
"""

from __future__ import annotations

import os
import re

from brim.errors import InputError
from brim.tracking.readers.files import subagent_of
from brim.tracking.readers.scan import TRANSCRIPT
from brim.tracking.readers.scan_files import own_files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from brim.tracking.readers.scan_files import UsageFile

FIRST_BYTES = 64_000
"""How much of a file is read to learn which project it belongs to."""

MOST_OPENED = 50
"""Files that are opened to learn that, the newest: Codex's folders are by day, not by project."""

_SUB_AGENT = re.compile(
    rb'"(?:thread_source|kind)"\s*:\s*"subagent"|"source"\s*:\s*\{\s*"subagent"|"parent_thread_id"\s*:\s*"'
)


class Found:
    """A session's file. ``here`` is whether it belongs to the project that was asked for."""

    __slots__ = ("here", "path")

    def __init__(self, path: str, *, here: bool) -> None:
        self.path, self.here = path, here


def newest(environ: Mapping[str, str], folder: str | None) -> Found:
    """Return the newest session for the project in *folder*, else the newest of all."""
    files = [each for each in own_files(environ) if not subagent_of(each.path)]
    files.sort(key=lambda each: (-each.stamp.modified, each.path))
    projects = list(_projects(folder, environ.get("HOME") or os.path.expanduser("~")))
    for path in _of_project(files, projects):
        return Found(path, here=True)
    for each in files:
        if each.format == TRANSCRIPT or not _is_sub_agents(_first_line(each.path)):
            return Found(each.path, here=False)
    raise InputError(
        "no session of Claude Code, Codex or Gemini was found: name its file, or pipe a stream: "
        "claude -p ... --output-format stream-json --verbose | brim watch -"
    )


def _projects(folder: str | None, home: str) -> Iterator[str]:
    """Give *folder* and those above it, for an agent that was started at the top of the project; never home itself."""
    while folder and folder not in (home, os.path.dirname(folder)):
        yield folder
        folder = os.path.dirname(folder)


def _of_project(files: list[UsageFile], projects: list[str]) -> Iterator[str]:
    """Give the *files* that belong to one of *projects*, in their order."""
    slugs = {re.sub(r"[^A-Za-z0-9]", "-", project) for project in projects}
    opened = 0
    for each in files:
        if each.format == TRANSCRIPT:
            if each.slug in slugs:
                yield each.path
        elif opened < MOST_OPENED:
            opened += 1
            if _names_one(each.path, projects):
                yield each.path


def _first_line(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.readline(FIRST_BYTES)
    except OSError:
        return b""


def _is_sub_agents(first: bytes) -> bool:
    """Whether the *first* line of a file says that it is a sub-agent's: Codex and Gemini keep these beside sessions."""
    return _SUB_AGENT.search(first) is not None


def _names_one(path: str, projects: list[str]) -> bool:
    """Whether the first line of *path* names one of *projects*: by its folder (Codex) or its hash (Gemini)."""
    import json

    first = _first_line(path)
    if _is_sub_agents(first):
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

    return hashed[1].decode() in {sha256(os.fsencode(project)).hexdigest() for project in projects}
