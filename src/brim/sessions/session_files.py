"""Finds the agents' session files, picks the newest, and reads the requests in them.

Most of a Claude Code transcript is tool results, so only lines that may report usage are parsed,
and a file that grew is read from where it ended. Files of other agents are read whole, by their
readers.
"""

from __future__ import annotations

import json
import os
import pickle
import re
import stat
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from io import FileIO
from operator import attrgetter
from threading import active_count
from typing import Any, BinaryIO, NamedTuple, Protocol, Self

from brim.agents import agent_named, every_agent
from brim.agents.call import Event
from brim.agents.claude.reports import report_of
from brim.agents.events import RunTotal, StateSeen, Usage
from brim.agents.fields import parsed_line, text, value
from brim.agents.readers import AnyReader, format_of
from brim.agents.stream import BLOCK, LONGEST_LINE, read, subagent_of
from brim.config.places import home_folder, user_folder
from brim.errors import InputError
from brim.files import sha256_hex
from brim.models.usage import Tokens

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
PLACE = "@"
"""The first character of the key of a request that has no id: then the key is its place in a
file."""
ENOUGH = 8_000_000
"""Bytes that are worth starting a second process for."""
MOST_PROCESSES = 8

_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$")
_SLUG = re.compile(r"-|[A-Za-z]--")
"""How Claude Code's names for folders begin: a path begins with a slash or a drive."""
_SUB_AGENT = re.compile(
    rb'"(?:thread_source|kind)"\s*:\s*"subagent"|"source"\s*:\s*\{\s*"subagent"|"parent_thread_id"\s*:\s*"'
)
_CHECKED = 1_024
_LOOKED_AT = 1 << 20


class Stamp(NamedTuple):
    """Identifies a version of a file: with the same stamp, nothing was written since."""

    inode: int
    size: int
    modified: int
    """Nanoseconds."""

    @classmethod
    def of(cls, found: os.stat_result) -> Self:
        """Return the stamp of a file."""
        return cls(found.st_ino, found.st_size, found.st_mtime_ns)


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
        """The session's id, by the file's name; Gemini CLI's has only how it begins."""
        stem = os.path.splitext(os.path.basename(self.path))[0]
        found = _ID.search(stem)
        return (
            found[0] if found else stem.rpartition("-")[2] if stem.startswith("session-") else stem
        )

    @property
    def unread(self) -> int:
        """Bytes that are still to be read."""
        return self.stamp.size - self.start

    def scan(self, observer: Observer | None = None) -> Scan:
        """Read its usage, from ``start`` on if the file before it is the same."""
        where = {"start": self.start, "check": self.check}
        return scan(self.path, format=self.format, slug=self.slug, **where, observer=observer)


def default_folders(environ: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return the folders of the agents, each with its agent, whether they exist or not.

    >>> default_folders({"HOME": "/home/user", "CODEX_HOME": "/opt/codex"})[-2:]
    [('gemini', '/home/user/.gemini/tmp'), ('opencode', '/home/user/.brim/opencode')]
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
    found: list[SessionFile] = []
    for name, folder in default_folders(environ):
        if name not in agents:
            continue
        agent = agent_named(name)
        root = os.path.abspath(folder)
        for file in _files(root, on_problem):
            parts = file.path[len(root) :].lstrip(os.sep).split(os.sep)
            slug = agent.session_slug(parts)
            if slug is not None:
                found.append(file._replace(format=agent.transcripts.format, slug=slug))
    if TRANSCRIPT_AGENT in agents:
        runs = os.path.join(user_folder(environ), RUNS)
        for file in _files(runs, on_problem):
            found.append(file._replace(format=TRANSCRIPT))
    return _once(found)


def named_files(
    paths: Iterable[str], *, on_problem: Callable[[str], object] = str
) -> list[SessionFile]:
    """Return the files that *paths* name: a session's with those of its sub-agents, or every
    session in a folder.

    A path that doesn't exist is an error. *on_problem* gets a sentence about each folder that can't
    be read.
    """
    found: list[SessionFile] = []
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
            found.append(_file(path, about))
            root = os.path.join(os.path.splitext(path)[0], "subagents")
        else:
            projects = os.path.join(path, "projects")
            root = projects if os.path.isdir(projects) else path
        found += _files(root, on_problem)
    return _once(found)


class Newest(NamedTuple):
    """The session that is meant when none is named."""

    path: str
    here: bool
    """Whether it belongs to the project that was asked for."""


def newest(environ: Mapping[str, str], folder: str | None) -> Newest:
    """Return the session that was written to last for the project in *folder*, else the newest of
    all."""
    found = next(newest_first(environ, folder), None)
    if found is None:
        raise InputError(
            "no session of Claude Code, Codex or Gemini was found: name its file, or pipe a stream: "
            "claude -p ... --output-format stream-json --verbose | brim context --watch -"
        )
    return Newest(found[0].path, found[1])


def newest_first(
    environ: Mapping[str, str], folder: str | None, files: Iterable[SessionFile] | None = None
) -> Iterator[tuple[SessionFile, bool]]:
    """Yield the sessions of the project in *folder*, then all others, each with whether it is one
    of the project.

    The one that was written to last comes first; files of sub-agents are left out. *files* are
    ``own_files``, if they were listed before.
    """
    files = [each for each in files or own_files(environ) if not subagent_of(each.path)]
    files.sort(key=lambda each: (-each.stamp.modified, each.path))
    projects: list[
        str
    ] = []  # an agent may have been started at the top of the project, but never at home
    while folder and folder not in (home_folder(environ), os.path.dirname(folder)):
        projects.append(folder)
        folder = os.path.dirname(folder)
    slugs, opened, others = {slug_of(project) for project in projects}, 0, []
    for each in files:
        is_here = each.slug in slugs
        if each.format != TRANSCRIPT:
            opened += 1
            is_here = opened <= MOST_OPENED and _names_one(_first_line(each.path), projects)
        if is_here:
            yield each, True
        else:
            others.append(each)
    for each in others:
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
        sha256_hex(os.fsencode(each)) for each in projects
    }


def _file(path: str, about: os.stat_result) -> SessionFile:
    """Return the file *path*, with the name of its project's folder if it lies where the agents
    keep theirs.

    That is the last folder after a ``projects`` that can be one of Claude Code's, or the one before
    the ``chats`` of a session of Gemini CLI.
    """
    parts = path.split(os.sep)
    slug = parts[-3] if parts[-2] == "chats" and parts[-1].startswith("session-") else ""
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


def _once(found: list[SessionFile]) -> list[SessionFile]:
    by_file: dict[object, SessionFile] = {}
    for each in sorted(found, key=lambda each: each.path):
        by_file.setdefault(each.identity, each)
    return list(by_file.values())


_COUNTS: Callable[[object], tuple[int, int, int, int, int]] = attrgetter(
    "input", "output", "cache_read", "cache_write_5m", "cache_write_1h"
)


class Request(NamedTuple):
    """What one request took. ``key`` names it, whichever files report it.

    ``cost`` is in micro-dollars, None until it is priced and if there is no price; ``reported`` is
    what the client says that it cost, or None.
    """

    key: str
    main: bool
    final: bool
    model: str
    time: float | None
    session: str
    input: int
    output: int
    cache_read: int
    cache_write_5m: int
    cache_write_1h: int
    writes_are_input: bool = False
    factors: Sequence[str] = ()
    reported: int | None = None
    cost: int | None = None
    extras: Sequence[int] = ()
    compactions: Sequence[Sequence[Any]] = ()
    """The fields of each ``Tokens`` in the usage's ``compactions``, as JSON can hold them."""
    branch: str = ""
    """The git branch that the agent was on, empty if no line says."""

    @classmethod
    def of(cls, event: Usage, path: str, branch: str = "") -> Self:
        """Return the request of a reader's *event* from the file *path*; without a key, its place
        is the key."""
        used, key = event.tokens, event.request or f"{PLACE}{event.at}:{path}"
        about = (not event.agent, event.final, event.model, event.time, event.session)
        compactions = [
            [getattr(each, name) for name in Tokens.__match_args__] for each in used.compactions
        ]
        priced: dict[str, Any] = {
            "reported": event.cost,
            "extras": used.extras,
            "compactions": compactions,
        }
        return cls(
            key,
            *about,
            *_COUNTS(used),
            used.writes_are_input,
            used.factors,
            **priced,
            branch=branch,
        )

    @property
    def tokens(self) -> Tokens:
        """What the request is charged for."""
        compactions = tuple(Tokens(*each) for each in self.compactions)
        charged = self.writes_are_input, tuple(self.factors), tuple(self.extras), compactions
        return Tokens(*_COUNTS(self), *charged)

    @property
    def message(self) -> str:
        """The id of the message that the request answered with: the part of the key before the
        request's own id."""
        return self.key if self.key.startswith(PLACE) else self.key.partition(":")[0]

    @property
    def counts(self) -> tuple[int, ...]:
        """The counters, in the order that ``Total.tokens`` has."""
        return _COUNTS(self)

    @property
    def prompt(self) -> int:
        """The whole prompt, cached tokens included."""
        return self.input + self.cache_read + self.cache_write_5m + self.cache_write_1h

    @property
    def rank(self) -> tuple[bool, bool, int, int, float]:
        """Which report of a request counts: the highest rank, in whatever order they were read.

        The main thread beats a sub-agent's replay of it, a final report beats a placeholder, then
        more output wins (streams report while the model still writes), then the larger prompt, then
        the earlier time.
        """
        return (
            self.main,
            self.final,
            self.output,
            self.prompt,
            -self.time if self.time is not None else float("-inf"),
        )


@dataclass(slots=True)
class Total:
    """A client's own total for a session so far, every request included.

    ``tokens`` is by model, in the order input, output, cache read, cache write for 5 minutes, for
    an hour. A client that doesn't tell its models apart has all of it under an empty name.
    ``until`` is the time of the first request that came after it, None if none did.
    """

    session: str
    cost: int | None
    tokens: dict[str, list[int]]
    until: float | None = None

    @classmethod
    def of(cls, event: RunTotal) -> Self:
        """Return what a reader's *event* says."""
        by_model = event.tokens or ({"": event.usage} if event.usage else {})
        return cls(
            event.session,
            event.cost,
            {model: list(_COUNTS(each)) for model, each in by_model.items()},
        )

    def covers(self, request: Request) -> bool:
        """Whether *request*, of this session, was made before the client wrote this."""
        return self.until is None or request.time is None or request.time < self.until

    @property
    def rank(self) -> tuple[int, int]:
        """Which total of a session is the last: totals only grow, so it is the largest."""
        return self.cost or 0, sum(map(sum, self.tokens.values()))


@dataclass(slots=True)
class FileUsage:
    """What one file reports: its requests by key, and the last total of each session."""

    requests: dict[str, Request] = field(default_factory=dict)
    totals: dict[str, Total] = field(default_factory=dict)
    folder: str = ""
    """The folder that the agent worked in, empty if no line says."""
    broken: int = 0
    """Lines that couldn't be read; without an observer, only those that should report usage are
    looked at."""
    branch: str = ""
    """The git branch that the last line says."""

    def add(self, found: Request | Total) -> None:
        """Add a request or a total, if it ranks above what is known."""
        kept: dict[str, Any] = self.requests if isinstance(found, Request) else self.totals
        key = found.key if isinstance(found, Request) else found.session
        if (
            isinstance(found, Request)
            and key not in kept
            and (total := self.totals.get(found.session))
        ):
            total.until = found.time if total.until is None else total.until
        if key not in kept or found.rank > kept[key].rank:
            kept[key] = found

    def take(self, event: Event | None, path: str) -> None:
        """Add what a reader's *event* from the file *path* says."""
        if isinstance(event, Usage):
            self.add(Request.of(event, path, self.branch))
        elif isinstance(event, RunTotal) and not event.agent:
            self.add(Total.of(event))
        elif isinstance(event, StateSeen) and event.name == "folder":
            self.folder = self.folder or event.value
        elif isinstance(event, StateSeen) and event.name == "branch":
            self.branch = event.value

    def merge(self, newer: FileUsage) -> Self:
        """Add what was read after this, and return all of it."""
        added: list[Request | Total] = [*newer.requests.values(), *newer.totals.values()]
        for found in added:
            self.add(found)
        self.broken += newer.broken
        self.folder = self.folder or newer.folder
        return self

    def to_row(self) -> list[Any]:
        """Return it as JSON can hold it."""
        totals = [
            [each.session, each.cost, each.tokens, each.until] for each in self.totals.values()
        ]
        return [list(self.requests.values()), totals, self.folder, self.broken]

    @classmethod
    def from_row(cls, row: Any) -> Self:
        """Return what ``to_row`` wrote."""
        requests, totals, folder, broken = row
        by_key = {each[0]: Request._make(each) for each in requests}
        return cls(by_key, {each[0]: Total(*each) for each in totals}, folder, broken)


class Observer(Protocol):
    """Sees every event of one file, and every line of a Claude Code transcript before its
    events."""

    def line(self, line: Mapping[str, Any]) -> None:
        """Take the next line."""

    def take(self, event: Event) -> None:
        """Take the next event."""

    def finish(self) -> Any:
        """Return what was found, as JSON can hold it."""


@dataclass(slots=True)
class Scan:
    """What was read of a file: its usage, up to which byte, and what it was then.

    ``check`` is a sum of the first and the last bytes before ``offset``, to be compared when
    reading goes on there. ``usage`` is of the lines after the start that was asked for if
    ``resumed``, else of the whole file.
    """

    usage: FileUsage
    stamp: Stamp
    format: str
    offset: int = 0
    check: int = 0
    resumed: bool = False
    findings: str = ""
    """What an observer found, as JSON; empty without one."""

    def is_beginning_of(self, file: SessionFile) -> bool:
        """Whether *file* is a transcript that seems to have grown since."""
        grown = self.stamp.inode == file.stamp.inode and self.stamp.size < file.stamp.size
        return grown and self.format == TRANSCRIPT and file.format in ("", TRANSCRIPT)


def scan(
    path: str,
    *,
    format: str = "",
    slug: str = "",
    start: int = 0,
    check: int = 0,
    observer: Observer | None = None,
) -> Scan:
    """Read the usage of the file *path*, of *format* or of the one that its first lines have.

    *slug* is the name of the project's folder, if it has one. With *start*, and if the file before
    it is still the one that *check* was made of, a transcript is read from there on. An *observer*
    gets every event, so with one the whole file is read. Raises ``InputError`` if the file can't be
    read.
    """
    start = start if observer is None else 0
    try:
        # Without waiting: opening a pipe would wait until something is written to it.
        with open(
            path,
            "rb",
            BLOCK,
            opener=lambda name, flags: os.open(name, flags | getattr(os, "O_NONBLOCK", 0)),
        ) as file:
            about = os.fstat(file.fileno())
            if not stat.S_ISREG(about.st_mode):
                raise InputError(f"{path}: is not a regular file")
            resumed = (
                format in ("", TRANSCRIPT)
                and 0 < start <= about.st_size
                and check_before(file, start) == check
            )
            format = TRANSCRIPT if resumed else format or _format(file)
            if format == TRANSCRIPT:
                usage, offset = _transcript(file, path, slug, start if resumed else 0, observer)
                found = Scan(
                    usage, Stamp.of(about), format, offset, check_before(file, offset), resumed
                )
                return _observed(found, observer)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from None
    usage, broken = FileUsage(), list[int]()
    for event in read(path, format=format or None, subagents=False, on_broken=broken.append):
        usage.take(event, path)
        if observer is not None:
            observer.take(event)
    usage.broken = sum(broken)
    return _observed(Scan(usage, Stamp.of(about), format), observer)


def _observed(found: Scan, observer: Observer | None) -> Scan:
    if observer is not None:
        found.findings = json.dumps(observer.finish(), separators=(",", ":"))
    return found


def _transcript(
    file: BinaryIO, path: str, slug: str, offset: int, observer: Observer | None
) -> tuple[FileUsage, int]:
    """Return what a transcript has from byte *offset* on, and where its last whole line ends."""
    found, at, last = FileUsage(), offset, None
    agent = subagent_of(path) if os.path.basename(os.path.dirname(path)) == "subagents" else ""
    reader = AnyReader(TRANSCRIPT)
    reader.agent = agent
    file.seek(offset)
    while line := file.readline(LONGEST_LINE):
        reports = (
            b'"usage"' in line or b'"cost-state"' in line
        )  # one line in two; the others have most of the bytes
        parsed = None
        if reports or observer is not None:
            parsed = parsed_line(line if at else line.removeprefix(b"\xef\xbb\xbf"))
            # A half line may be completed later.
            is_whole = line.endswith(b"\n") and not line.isspace()
            found.broken += is_whole and not isinstance(parsed, dict)
        if observer is not None and isinstance(parsed, dict):
            observer.line(parsed)
            for seen in reader.events(parsed, at):
                observer.take(seen)
        if reports and isinstance(parsed, dict):
            message, said = value(parsed, "message"), None
            if isinstance(message, dict) and message.get("id"):
                said = (
                    message["id"],
                    message.get("usage"),
                    parsed.get("requestId"),
                    parsed.get("isSidechain"),
                )
            if said is None or said != last:  # most lines repeat the one before
                found.branch = text(parsed, "gitBranch")
                event = report_of(parsed, agent=agent, at=at)
                found.take(event, path)
                if isinstance(event, Usage):
                    last, cwd = said, text(parsed, "cwd")
                    # The folder that the project's is named after: an agent may go to others later.
                    found.folder = found.folder or (cwd if not slug or slug_of(cwd) == slug else "")
        at += len(line)
        offset = at if line.endswith(b"\n") else offset
    return found, offset


def check_before(file: BinaryIO | FileIO, offset: int) -> int:
    """Return a sum of the first and the last bytes before *offset*."""
    size, check = min(_CHECKED, offset), 0
    for place in (0, offset - size):
        file.seek(place)
        check = zlib.crc32(file.read(size), check)
    return check


def _format(file: BinaryIO) -> str:
    """Return the format that the first lines have; empty if none of them has one."""
    file.seek(0)
    while file.tell() < _LOOKED_AT and (line := file.readline(LONGEST_LINE)):
        parsed = parsed_line(line.removeprefix(b"\xef\xbb\xbf"))
        format = format_of(parsed) if isinstance(parsed, dict) else None
        if format:
            return format
    return ""


def scan_many(
    files: Sequence[SessionFile],
    read: Callable[[SessionFile], Scan] = SessionFile.scan,
    *,
    processes: int = 0,
) -> Iterator[tuple[int, Scan | InputError]]:
    """Yield the place of each of *files* and its scan, or why it can't be read, in the order in
    which they are done.

    *processes* is how many to use: 0 is as many as there are processors and work for. If one ends
    early, its files are read here.
    """
    left = set(range(len(files)))
    if not processes:
        worthwhile = sum(file.unread for file in files) >= ENOUGH and _can_fork()
        processes = min(len(files), MOST_PROCESSES, os.cpu_count() or 1) if worthwhile else 1
    for place, found in _in_processes(files, read, processes) if processes > 1 else ():
        left.discard(place)
        yield place, found
    for place in sorted(left):
        yield place, _scan_or_error(files[place], read)


def _can_fork() -> bool:
    """Whether a child may go on: of a process with threads, it may wait for a lock that no thread
    of its own holds."""

    return hasattr(os, "fork") and active_count() == 1


def _scan_or_error(file: SessionFile, read: Callable[[SessionFile], Scan]) -> Scan | InputError:
    try:
        return read(file)
    except InputError as error:
        return error


def _in_processes(
    files: Sequence[SessionFile], read: Callable[[SessionFile], Scan], count: int
) -> Iterator[tuple[int, Scan | InputError]]:
    """Yield what *count* children read.

    Each gets as many files as the others, of about the same sizes.
    """

    largest = sorted(range(len(files)), key=lambda place: -files[place].unread)
    children: list[int] = []
    pipes: list[BinaryIO] = []
    try:
        for at in range(count):
            receiving, sending = os.pipe()
            child = os.fork()
            if child == 0:
                try:
                    # If the parent is killed, sending must fail, not wait for a sibling that could
                    # still receive.
                    for descriptor in (receiving, *(pipe.fileno() for pipe in pipes)):
                        os.close(descriptor)
                    with open(sending, "wb") as answers:
                        for place in largest[at::count]:
                            pickle.dump((place, _scan_or_error(files[place], read)), answers)
                finally:
                    os._exit(0)
            os.close(sending)
            children.append(child)
            pipes.append(open(receiving, "rb"))  # noqa: SIM115 - closed below
        while pipes:
            for pipe in list(pipes):
                try:
                    yield pickle.load(pipe)  # noqa: S301 - of our own child
                except (EOFError, OSError, pickle.UnpicklingError):
                    pipe.close()
                    pipes.remove(pipe)
    finally:
        for pipe in pipes:
            pipe.close()
        for child in children:
            os.waitpid(child, 0)
