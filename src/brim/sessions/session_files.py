"""Finds the agents' session files, and picks the newest."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import NamedTuple, Self

from brim.agents import agent_named, every_agent
from brim.agents.agent import subagent_of
from brim.agents.fields import parsed_line
from brim.config.places import home_folder, user_folder
from brim.errors import InputError
from brim.files import sha256_hex

AGENTS = tuple([agent.name for agent in every_agent() if agent.session_folders is not None])
"""The agents whose own folders are known."""

TRANSCRIPT = "claude-transcript"
TRANSCRIPT_AGENT = "claude"
RUNS = "runs"
"""The folder with what runs have spent whose agents keep no session files, as transcripts."""
FIRST_BYTES = 64_000
"""How much of a file is read to learn which project it belongs to."""
MOST_OPENED = 50
"""Files that are opened to learn that, the newest: Codex's folders are by day, not by project."""

_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$")
_SLUG = re.compile(r"-|[A-Za-z]--")
"""How Claude Code's names for folders begin: a path begins with a slash or a drive."""
_SUB_AGENT = re.compile(
    rb'"(?:thread_source|kind)"\s*:\s*"subagent"|"source"\s*:\s*\{\s*"subagent"|"parent_thread_id"\s*:\s*"'
)


class Stamp(NamedTuple):
    """Identifies a version of a file: with the same stamp, nothing was written since."""

    inode: int
    size: int
    modified: int
    """Nanoseconds."""

    @classmethod
    def of(cls, about: os.stat_result) -> Self:
        """Return the stamp of a file."""
        return cls(about.st_ino, about.st_size, about.st_mtime_ns)


class SessionFile(NamedTuple):
    """A session's file."""

    path: str
    stamp: Stamp
    identity: object
    """The same for every path that leads to the file."""
    format: str = ""
    """Empty: look into it."""
    slug: str = ""
    """The name of the folder that an agent keeps a project's sessions in, empty if it has none."""
    start: int = 0
    """The byte up to which it was read before, and the ``Scan.check`` of then."""
    check: int = 0

    @property
    def session(self) -> str:
        """The session's id, by the name of the file or of its folder; Gemini CLI's has only how it
        begins."""
        stem = os.path.splitext(os.path.basename(self.path))[0]
        match = _ID.search(stem) or _ID.search(os.path.basename(os.path.dirname(self.path)))
        if match:
            return match[0]
        if stem.startswith("session-"):
            return stem.rpartition("-")[2]
        return stem

    @property
    def unread(self) -> int:
        """Bytes that are still to be read."""
        return self.stamp.size - self.start


def default_folders(environ: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return the folders of the agents, each with its agent, whether they exist or not.

    >>> folders = dict(default_folders({"HOME": "/home/user", "CODEX_HOME": "/opt/codex"}))
    >>> folders["codex"], folders["gemini"], folders["opencode"]
    ('/opt/codex/archived_sessions', '/home/user/.gemini/tmp', '/home/user/.brim/opencode')
    """
    folders = []
    for agent in every_agent():
        if agent.session_folders is not None:
            folders += [(agent.name, folder) for folder in agent.session_folders(environ)]
    return folders


def own_files(
    environ: Mapping[str, str],
    agents: Iterable[str] = AGENTS,
    *,
    on_problem: Callable[[str], object] = str,
) -> list[SessionFile]:
    """Return the files in the folders of *agents*, in the order of their paths.

    *on_problem* gets a sentence about each folder that can't be read.
    """
    session_files: list[SessionFile] = []
    for name, folder in default_folders(environ):
        if name not in agents:
            continue
        agent = agent_named(name)
        root = os.path.abspath(folder)
        for file in _files(root, on_problem):
            parts = file.path[len(root) :].lstrip(os.sep).split(os.sep)
            slug = agent.session_slug(parts)
            if slug is not None:
                session_files.append(file._replace(format=agent.transcripts.format, slug=slug))
    if TRANSCRIPT_AGENT in agents:
        runs = os.path.join(user_folder(environ), RUNS)
        for file in _files(runs, on_problem):
            session_files.append(file._replace(format=TRANSCRIPT))
    return _once(session_files)


def named_files(
    paths: Iterable[str], *, on_problem: Callable[[str], object] = str
) -> list[SessionFile]:
    """Return the files that *paths* name: a session's with those of its sub-agents, or every
    session in a folder.

    A path that doesn't exist is an error. *on_problem* gets a sentence about each folder that can't
    be read.
    """
    session_files: list[SessionFile] = []
    for named in paths:
        path = os.path.abspath(named)
        try:
            about = os.stat(path)
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or "no such file"
            raise InputError(
                f"{named}: {reason}; give a session's file, or a folder of them"
            ) from None
        if not stat.S_ISDIR(about.st_mode):
            if not stat.S_ISREG(about.st_mode):
                raise InputError(
                    f"{named}: is not a regular file; give a session's file, or a folder of them"
                )
            session_files.append(_file(path, about))
            root = os.path.join(os.path.splitext(path)[0], "subagents")
        else:
            projects = os.path.join(path, "projects")
            root = path
            if os.path.isdir(projects):
                root = projects
        session_files += _files(root, on_problem)
    return _once(session_files)


class Newest(NamedTuple):
    """The session that is meant when none is named."""

    path: str
    here: bool
    """Whether it belongs to the project that was asked for."""


def newest(environ: Mapping[str, str], folder: str | None) -> Newest:
    """Return the session that was written to last for the project in *folder*, else the newest of
    all."""
    newest_file = next(newest_first(environ, folder), None)
    if newest_file is None:
        raise InputError(
            "no session of Claude Code, Codex or Gemini was found: name its file, or pipe a stream: "
            "claude -p ... --output-format stream-json --verbose | brim context --watch -"
        )
    return Newest(newest_file[0].path, newest_file[1])


def newest_first(
    environ: Mapping[str, str], folder: str | None, files: Iterable[SessionFile] | None = None
) -> Iterator[tuple[SessionFile, bool]]:
    """Yield the sessions of the project in *folder*, then all others, each with whether it is one
    of the project.

    The one that was written to last comes first; files of sub-agents are left out. *files* are
    ``own_files``, if they were listed before.
    """
    files = [file for file in files or own_files(environ) if not subagent_of(file.path)]
    files.sort(key=lambda file: (-file.stamp.modified, file.path))
    projects: list[
        str
    ] = []  # an agent may have been started at the top of the project, but never at home
    while folder and folder not in (home_folder(environ), os.path.dirname(folder)):
        projects.append(folder)
        folder = os.path.dirname(folder)
    slugs = {slug_of(project) for project in projects}
    opened = 0
    other_projects = []
    for each in files:
        is_here = each.slug in slugs
        if each.format != TRANSCRIPT:
            opened += 1
            is_here = opened <= MOST_OPENED and _names_one(_first_line(each.path), projects)
        if is_here:
            yield each, True
        else:
            other_projects.append(each)
    for each in other_projects:
        if each.format == TRANSCRIPT or not _SUB_AGENT.search(_first_line(each.path)):
            yield each, False


def slug_of(folder: str) -> str:
    """Return how Claude Code names the folder that it keeps the sessions of *folder* in."""
    return re.sub(r"[^A-Za-z0-9]", "-", folder)


def _first_line(path: str) -> bytes:
    with suppress(OSError), open(path, "rb") as file:
        return file.readline(FIRST_BYTES)
    return b""


def _names_one(first: bytes, projects: list[str]) -> bool:
    """Whether the *first* line of a file names one of *projects*: by its folder (Codex) or its hash
    (Gemini).

    Codex and Gemini keep the files of sub-agents next to those of sessions: these name none.
    """
    if _SUB_AGENT.search(first):
        return False
    named = re.search(rb'"cwd"\s*:\s*("(?:[^"\\]|\\.)*")', first)
    if named:
        return parsed_line(named[1]) in projects
    hashed = re.search(rb'"projectHash"\s*:\s*"([0-9a-f]{64})"', first)
    return hashed is not None and hashed[1].decode() in {
        sha256_hex(os.fsencode(project)) for project in projects
    }


def _file(path: str, about: os.stat_result) -> SessionFile:
    """Return the file *path*, with the name of its project's folder if it lies where the agents
    keep theirs.

    That is the last folder after a ``projects`` that can be one of Claude Code's, or the one before
    the ``chats`` of a session of Gemini CLI.
    """
    parts = path.split(os.sep)
    slug = ""
    if parts[-2] == "chats" and parts[-1].startswith("session-"):
        slug = parts[-3]
    for at in range(1, len(parts) - 1):
        if parts[at - 1] == "projects" and _SLUG.match(parts[at]):
            slug = parts[at]
    return SessionFile(
        path, Stamp.of(about), (about.st_dev, about.st_ino) if about.st_ino else path, slug=slug
    )


def _files(root: str, on_problem: Callable[[str], object]) -> Iterator[SessionFile]:
    """Yield the ``.jsonl`` files under *root*, if it exists.

    Links are followed last, for a folder is found once.
    """
    waiting = [root]
    visited = set()
    while waiting:
        folder = waiting.pop()
        try:
            about = os.stat(folder)
            if (about.st_dev, about.st_ino) in visited:
                continue
            visited.add((about.st_dev, about.st_ino))
            entries = list(os.scandir(folder))
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            on_problem(
                f"{folder}: cannot be looked into: {error.strerror or error}; what is in it is not counted"
            )
            continue
        for entry in entries:
            with suppress(OSError):
                if entry.is_dir():
                    waiting.insert(0 if entry.is_symlink() else len(waiting), entry.path)
                elif entry.name.endswith(".jsonl") and entry.is_file():
                    yield _file(entry.path, entry.stat())


def _once(session_files: list[SessionFile]) -> list[SessionFile]:
    by_file: dict[object, SessionFile] = {}
    for file in sorted(session_files, key=lambda file: file.path):
        by_file.setdefault(file.identity, file)
    return list(by_file.values())
