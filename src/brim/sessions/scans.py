"""Reads the requests in one session file.

Most of a Claude Code transcript is tool results, so only lines that may report usage are parsed,
and a file that grew is read from where it ended. Files of other agents are read whole, by their
readers.
"""

from __future__ import annotations

import json
import os
import stat
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from io import FileIO
from operator import attrgetter
from typing import Any, BinaryIO, NamedTuple, Protocol, Self

from brim.agents.agent import subagent_of
from brim.agents.call import Event
from brim.agents.claude.reports import report_of
from brim.agents.events import RunTotal, StateSeen, Usage
from brim.agents.fields import parsed_line, text, value
from brim.agents.readers import AnyReader, format_of
from brim.agents.stream import BLOCK, LONGEST_LINE, read
from brim.errors import InputError
from brim.models.usage import Tokens
from brim.sessions.session_files import TRANSCRIPT, SessionFile, Stamp, slug_of

PLACE = "@"
"""The first character of the key of a request that has no id: then the key is its place in a
file."""

_COUNTS: Callable[[object], tuple[int, int, int, int, int]] = attrgetter(
    "input", "output", "cache_read", "cache_write_5m", "cache_write_1h"
)
_CHECKED = 1_024
_LOOKED_AT = 1 << 20


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


def scan_file(file: SessionFile, observer: Observer | None = None) -> Scan:
    """Read the usage in *file*, from ``start`` on if the file before it is the same."""
    where = {"start": file.start, "check": file.check}
    return scan(file.path, format=file.format, slug=file.slug, **where, observer=observer)


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
