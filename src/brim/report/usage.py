"""Adds up all sessions: each request once, priced, by day, model, session or project.

``usage_report`` takes what the index knows from there, reads the rest, and adds it to the index.
"""

from __future__ import annotations

import os
import re
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from datetime import date, timedelta
from functools import cache, partial
from typing import Any, NamedTuple, Self

import brim.models
from brim import __version__
from brim.agents.readers import agent_formats
from brim.errors import InputError
from brim.models.names import split_window
from brim.report.index import load_index, save_index
from brim.spend.money import PriceList
from brim.tracking.plan_windows import PlanWindow
from brim.tracking.sessions import (
    TRANSCRIPT,
    FileUsage,
    Observer,
    Request,
    Scan,
    SessionFile,
    Total,
    scan_many,
    slug_of,
)

SCHEMA = 1
"""Raised when a key of the JSON object changes its meaning or goes; a new key doesn't raise it."""

GROUPINGS = {
    "daily": "day",
    "weekly": "week",
    "monthly": "month",
    "session": "session",
    "blocks": "block",
}
"""Other tools' words for what a row is, and ours."""

BY = ("day", "week", "month", "model", "session", "project", "branch", "block")
"""What requests can be added up by. A block is a billing window of five hours."""

BLOCK = 5 * 3600.0
"""Seconds of a billing window: it begins with the hour of its first request."""

_NONE = [0] * 5
_COUNTED = (
    "requests",
    "input_tokens",
    "output_tokens",
    "cache_creation_input_tokens",
    "cache_read_input_tokens",
    "total_tokens",
    "cost",
    "unpriced_requests",
)
_READ = ("files", "bytes", "new_bytes", "broken_lines", "failed", "index")
"""What the JSON object has of a sum and of a reading."""
_SLUGGED = (TRANSCRIPT, "gemini-transcript")
"""The formats of the files whose place says whose project they are."""


class UsageSource(NamedTuple):
    """Where a request was found: whose file it is (``claude``, ``codex``, ``gemini`` or ``other``)
    and its project."""

    agent: str
    project: str


class Gathered:
    """Everything that files report: each request once, whichever files report it and in whichever
    order."""

    def __init__(self) -> None:
        self._requests: dict[str, tuple[Request, UsageSource]] = {}
        self._copies: dict[tuple[str, str], Request] = {}
        self.totals: dict[str, Total] = {}
        self.sources: dict[str, UsageSource] = {}
        """Where each session was found first."""

    def add(self, found: FileUsage, source: UsageSource) -> None:
        """Add what a file reports."""
        for key, request in found.requests.items():
            known = self._requests.get(key)
            if known is not None and known[0].session != request.session:
                self._copies[known[0].session, key] = known[0]
                self._copies[request.session, key] = request
            if known is None or request.rank > known[0].rank:
                self._requests[key] = (request, source)
            self.sources.setdefault(request.session, source)
        for session, total in found.totals.items():
            self.sources.setdefault(session, source)
            self.totals[session] = max(
                self.totals.get(session, total), total, key=lambda each: each.rank
            )

    def requests(self) -> list[tuple[Request, UsageSource]]:
        """Return every request once, without the replays of the main thread in sub-agents'
        files."""
        found, messages = (
            self._requests,
            {key: request.message for key, (request, _) in self._requests.items()},
        )
        dropped = set()
        for (
            key,
            message,
        ) in messages.items():  # one file may name a request by its message alone, another in full
            if message != key and message in found:
                dropped.add(key if found[message][0].rank > found[key][0].rank else message)
        kept = {key: each for key, each in found.items() if key not in dropped}
        main = {messages[key] for key, (request, _) in kept.items() if request.main}
        return [each for key, each in kept.items() if each[0].main or messages[key] not in main]

    @property
    def forked(self) -> set[str]:
        """The sessions that have requests of each other: a fork begins with the lines of its
        parent."""
        return {session for session, _ in self._copies}

    def unattributed(self) -> list[Unattributed]:
        """Return what the clients' totals of each session have beyond its requests; never below 0.

        A compaction is a request that is in no line. Copies of another session's requests are taken
        off too: a fork begins with the lines of its parent, its total may go on from the other's,
        and what is counted there must not be a rest here. The client's own prices are in its
        totals: where they are lower than the table's, nothing may be left.
        """
        if not self.totals:
            return []
        requests = [request for request, _ in self.requests()]
        requests += [
            each
            for (session, key), each in self._copies.items()
            if self._requests[key][0].session != session
        ]
        return unattributed(requests, self.totals)


class Unattributed(NamedTuple):
    """The rest of one session: tokens as in ``Total``, and ``cost`` in micro-dollars, None if the
    client says none.

    ``time`` is that of the session's last request, because totals have none.
    """

    session: str
    tokens: list[int]
    cost: int | None
    time: float | None
    by_model: dict[str, list[int]]


def unattributed(requests: Iterable[Request], totals: Mapping[str, Total]) -> list[Unattributed]:
    """Return what is left of the *totals* of each session when its *requests* are taken off."""
    known: dict[tuple[str, str], list[int]] = {}
    costs: Counter[str] = Counter()
    times: dict[str, float] = {}
    for request in requests:
        session = request.session
        if session in totals and totals[session].covers(request):
            for key in {
                (session, _bare(request.model)),
                (session, ""),
            }:  # without a name: all models together
                known[key] = [
                    sum(pair) for pair in zip(known.get(key, _NONE), request.counts, strict=True)
                ]
            costs[session] += request.cost or 0
            if request.time is not None:
                times[session] = max(request.time, times.get(session, request.time))
    found = []
    for session, total in sorted(totals.items()):
        rests = {
            model: [
                max(0, more - less)
                for more, less in zip(sums, known.get((session, _bare(model)), _NONE), strict=True)
            ]
            for model, sums in total.tokens.items()
        }
        rest = [sum(column) for column in zip(_NONE, *rests.values(), strict=True)]
        cost = None if total.cost is None else max(0, total.cost - costs[session])
        if any(rest) or cost:
            found.append(Unattributed(session, rest, cost, times.get(session), rests))
    return found


def _bare(model: str) -> str:
    """Return *model* without what asks for a larger window: totals have it, answers don't."""
    return split_window(model)[0]


def priced(request: Request, prices: PriceList) -> Request:
    """Return *request* with what it costs: by *prices*, else what its client says, else None."""
    cost = prices.request(request.tokens, request.model, request.time)
    return request._replace(cost=request.reported if cost is None else cost)


def put_costs(usage: FileUsage, prices: PriceList) -> None:
    """Price every request of *usage*."""
    usage.requests = {key: priced(request, prices) for key, request in usage.requests.items()}


def price_version(overrides: Mapping[str, Any]) -> str:
    """Return what changes when prices do: the version, the tables of models, and the
    configuration's *overrides*."""
    folder = os.path.join(os.path.dirname(brim.models.__file__), "data")
    tables = sorted(
        (each.name, each.stat().st_size, each.stat().st_mtime_ns) for each in os.scandir(folder)
    )
    said = repr((tables, sorted(overrides.items(), key=repr)))
    return f"{__version__}-{zlib.crc32(said.encode('utf-8', 'surrogatepass')):08x}"


@dataclass
class Sum:
    """What some requests took together.

    ``cost`` is of those that have a price; ``unpriced_requests`` have none.
    """

    name: str = ""
    project: str = ""
    requests: int = 0
    unpriced_requests: int = 0
    cost: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cache_creation_input_tokens: int = 0
    cache_read_input_tokens: int = 0
    models: Set[str] = frozenset()
    agents: Set[str] = frozenset()
    first: float | None = None
    last: float | None = None

    @classmethod
    def of(
        cls, found: Sequence[tuple[Request, UsageSource]], name: str = "", project: str = ""
    ) -> Self:
        """Add up the requests that were *found*."""
        requests = [request for request, _ in found]
        times = [request.time for request in requests if request.time is not None]
        return cls(
            name,
            project,
            requests=len(requests),
            unpriced_requests=sum([request.cost is None for request in requests]),
            cost=sum([request.cost or 0 for request in requests]),
            input_tokens=sum([request.input for request in requests]),
            output_tokens=sum([request.output for request in requests]),
            cache_creation_input_tokens=sum(
                [each.cache_write_5m + each.cache_write_1h for each in requests]
            ),
            cache_read_input_tokens=sum([request.cache_read for request in requests]),
            models={request.model for request in requests},
            agents={source.agent for _, source in found},
            first=min(times, default=None),
            last=max(times, default=None),
        )

    @property
    def total_tokens(self) -> int:
        """All tokens: read, written and cached."""
        return (
            self.input_tokens
            + self.output_tokens
            + self.cache_creation_input_tokens
            + self.cache_read_input_tokens
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the sum as JSON can hold it."""
        found: dict[str, Any] = {name: getattr(self, name) for name in _COUNTED}
        if self.requests and self.unpriced_requests == self.requests:
            found["cost"] = None
        return {**found, "models": sorted(filter(None, self.models)), "agents": sorted(self.agents)}


def in_calendar(when: float | None, form: str = "%Y-%m-%d", *, utc: bool = False) -> str:
    """Return *when* in the *form* of ``strftime``: here, or in *utc*.

    It is empty if there is none, or no calendar of this machine has it.
    """
    parts = time.gmtime if utc else time.localtime
    try:  # some systems don't pad early years
        return "" if when is None else time.strftime(form, parts(when)).rjust(10, "0")
    except (OverflowError, ValueError, OSError):
        return ""


def grouped(
    requests: Iterable[tuple[Request, UsageSource]], by: str, day_of: Callable[..., str]
) -> list[Sum]:
    """Return the sums of *requests* by one of ``BY``: times in their order, others the most
    expensive first.

    *day_of* is ``in_calendar``, or as that. A billing window ends five hours after its beginning.
    """
    # A zone's clock is a multiple of a quarter of an hour ahead, so every time in one has the same
    # day.
    period = cache(lambda quarter: _period(day_of(None if quarter is None else quarter * 900), by))
    groups: dict[tuple[str, str], list[tuple[Request, UsageSource]]] = {}
    begin = float("-inf")
    if by == "block":
        requests = sorted(
            requests, key=lambda each: (each[0].time is not None, each[0].time or 0.0)
        )
    for each in requests:
        request, source = each
        if by == "block" and request.time is not None:
            begin = request.time // 3600 * 3600 if request.time - begin >= BLOCK else begin
            name = day_of(begin, "%Y-%m-%d %H:%M")
        elif by in ("model", "session", "branch"):
            name = getattr(request, by)
        elif by == "project":
            name = source.project
        else:
            name = period(None if request.time is None else request.time // 900)
        key = (
            name,
            source.project if by == "branch" else "",
        )  # most projects have a branch of the same name
        groups.setdefault(key, []).append(each)
    sums = [Sum.of(found, name, found[0][1].project) for (name, _), found in groups.items()]
    if by in ("day", "week", "month", "block"):
        return sorted(sums, key=lambda each: each.name)
    return sorted(sums, key=lambda each: (-each.cost, -each.total_tokens, each.name))


def _period(day: str, by: str) -> str:
    """Return the *day* itself, the Monday of its week, or its month."""
    if by == "month":
        return day[:-3]
    if by == "week" and day:
        monday = date.fromisoformat(day)
        return (monday - timedelta(days=monday.weekday())).isoformat()
    return day


def parse_day(text: str, today: date) -> str:
    """Return the day that *text* means, as ``2026-11-15``.

    It may be written like that, as ``20261115``, or as ``7d``, ``2w`` or ``1m`` before *today*.

    >>> parse_day("2w", date(2026, 11, 15)), parse_day("1m", date(2026, 3, 31)), parse_day("20261115", date.today())
    ('2026-11-01', '2026-02-28', '2026-11-15')
    """
    before = re.fullmatch(r"([0-9]+)([dwm])", text)
    try:
        if before is None:
            return date.fromisoformat(text).isoformat()
        number, unit = int(before[1]), before[2]
        if unit != "m":
            return (today - timedelta(days=number * (7 if unit == "w" else 1))).isoformat()
        first = today.replace(day=1)
        for _ in range(number):
            first = (first - timedelta(days=1)).replace(day=1)
        last = (first + timedelta(days=31)).replace(day=1) - timedelta(days=1)
        return first.replace(day=min(today.day, last.day)).isoformat()
    except (ValueError, OverflowError):
        raise InputError(
            f"{text!r} isn't a date: write it as 2026-11-15, or as 7d, 2w or 1m before today"
        ) from None


@dataclass
class UsageReading:
    """The result of reading files: what was ``gathered``, how much was read, and what failed."""

    gathered: Gathered = field(default_factory=Gathered)
    files: int = 0
    bytes: int = 0
    new_bytes: int = 0
    """Bytes that the index did not know."""
    unread: int = 0
    """Bytes that were left unread because there were too many."""
    broken_lines: int = 0
    failed: list[str] = field(default_factory=list)
    index: str = "off"
    """``off``, ``used``, or ``unavailable`` if it could not be written."""
    notes: list[str] = field(default_factory=list)
    """Problems with the index, to show to the user."""
    findings: list[tuple[UsageSource, str]] = field(default_factory=list)
    """What observers found in each file, as JSON."""

    def lacks(self, paths: Iterable[str]) -> bool:
        """Whether one of the files that *paths* name could not be read."""
        named = [os.path.realpath(path) for path in paths if not os.path.isdir(path)]
        return any(problem.startswith(f"{path}: ") for problem in self.failed for path in named)

    def add(self, file: SessionFile, scan: Scan, names: Mapping[str, str]) -> None:
        """Add what is in *file*.

        *names* are the projects' folders by the names that agents give them.
        """
        usage, has_slug = scan.usage, file.slug and scan.format in _SLUGGED
        project = (names.get(file.slug, file.slug) if has_slug else "") or usage.folder
        source = UsageSource(_writer_of(scan.format), project)
        self.gathered.add(usage, source)
        if scan.findings:
            self.findings.append((source, scan.findings))
        self.files += 1
        self.bytes += file.stamp.size
        self.broken_lines += usage.broken


def read_all(
    files: list[SessionFile],
    *,
    index: str | None,
    prices: str,
    on_read: Callable[[int, int, int], object] = lambda *_: None,
    observe: Callable[[SessionFile], Observer] | None = None,
    most: int | None = None,
) -> UsageReading:
    """Read *files*, with the index at the path *index* if one is given.

    *prices* names the prices in force.

    *on_read* is called for each file that was read, with its bytes, those of all files to read, and
    their number. *observe* makes the observer of a file, which sees all its events. If there is
    more to read than *most* bytes, only what the index knows is used.
    """
    reading, pricing = UsageReading(), PriceList()
    known = load_index(index, [file.path for file in files], reading.notes.append) if index else {}
    changed: dict[str, Scan] = {}
    for path, (scan, priced_by) in known.items():
        if priced_by != prices:
            put_costs(scan.usage, pricing)
            changed[path] = scan
    found, jobs = _unread(
        files, {path: scan for path, (scan, _) in known.items()}, observing=observe is not None
    )
    size = sum(file.unread for file in jobs)
    if most is not None and size > most:
        reading.unread, jobs = size, []

    def read_one(file: SessionFile) -> Scan:
        scan = file.scan(observe(file) if observe else None)
        put_costs(scan.usage, pricing)
        return scan

    try:
        for place, scanned in scan_many(jobs, read_one):
            file = jobs[place]
            if isinstance(scanned, InputError):
                if os.path.lexists(file.path):  # one that vanished meanwhile isn't a problem
                    reading.failed.append(str(scanned))
            else:
                reading.new_bytes += scanned.stamp.size - (file.start if scanned.resumed else 0)
                if scanned.resumed:
                    scanned.usage = known[file.path][0].usage.merge(scanned.usage)
                found[file.path] = changed[file.path] = scanned
            on_read(file.unread, size, len(jobs))
    finally:  # what was read before an interruption isn't read again
        if index:
            reading.index = (
                "used" if not changed or save_index(index, changed, prices) else "unavailable"
            )
    _add_scans(reading, files, found)
    return reading


def _add_scans(reading: UsageReading, files: list[SessionFile], scans: Mapping[str, Scan]) -> None:
    """Add to *reading* what each of *files* holds."""
    read = [(file, scans[file.path]) for file in files if file.path in scans]
    names = {
        file.slug: scan.usage.folder
        for file, scan in read
        if scan.usage.folder and scan.format in _SLUGGED
    }
    for file, scan in read:
        reading.add(file, scan, names)


def _unread(
    files: list[SessionFile], known: Mapping[str, Scan], *, observing: bool
) -> tuple[dict[str, Scan], list[SessionFile]]:
    """Return what is *known* of *files* that haven't changed, and the others, each from where it is
    to be read."""
    found: dict[str, Scan] = {}
    jobs: list[SessionFile] = []
    for file in files:
        scan = known.get(file.path)
        if scan is not None and scan.stamp == file.stamp and file.format in ("", scan.format):
            if scan.findings or not observing:
                found[file.path] = scan
                continue
        elif scan is not None and not observing and scan.is_beginning_of(file):
            file = file._replace(start=scan.offset, check=scan.check)  # noqa: PLW2901 - only what is new is read
        jobs.append(file)
    return found, jobs


@dataclass(frozen=True)
class UsageReport:
    """Sums by *by*, what the clients' totals have beyond them, and how it was read."""

    by: str
    sums: list[Sum]
    total: Sum
    rest: list[Unattributed]
    reading: UsageReading
    filters: Mapping[str, str | None]
    utc: bool
    now: float
    unpriced: dict[str, int]
    """How many requests have no price, by model, the most first."""
    plan_windows: tuple[PlanWindow, ...] = ()
    """How much of the plans' windows is used now, as far as it's known."""

    @property
    def unattributed(self) -> dict[str, Any]:
        """The sum of the rests."""
        input, output, read, *written = (
            sum(each.tokens[at] for each in self.rest) for at in range(5)
        )
        costs = [each.cost for each in self.rest if each.cost is not None]
        return {
            "sessions": len(self.rest),
            "input_tokens": input,
            "output_tokens": output,
            "cache_creation_input_tokens": sum(written),
            "cache_read_input_tokens": read,
            "cost": sum(costs) if costs or not self.rest else None,
            "unpriced_sessions": len(self.rest) - len(costs),
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the report as JSON can hold it; docs/usage.md describes it."""
        return {
            "schema": SCHEMA,
            "by": self.by,
            "utc": self.utc,
            **self.filters,
            "rows": [self._row(each) for each in self.sums],
            "total": self.total.to_dict(),
            "unattributed": self.unattributed,
            "unpriced": self.unpriced,
            "plan_windows": [each.to_dict() for each in self.plan_windows],
            "read": {name: getattr(self.reading, name) for name in _READ},
        }

    def _row(self, each: Sum) -> dict[str, Any]:
        row = {self.by: each.name or None, **each.to_dict()}
        if self.by in ("session", "branch"):
            row |= {"project": each.project or None}
        if self.by in ("session", "block"):
            row |= {"first": iso(each.first), "last": iso(each.last)}
        if self.by == "block" and each.first is not None:
            end = each.first // 3600 * 3600 + BLOCK
            row |= {
                "end": iso(end),
                "active": each.last is not None and self.now < min(end, each.last + BLOCK),
            }
        return row


def usage_report(
    files: list[SessionFile],
    *,
    by: str = "day",
    since: str | None = None,
    until: str | None = None,
    agent: str | None = None,
    project: str | None = None,
    utc: bool = False,
    index: str | None = None,
    models: Mapping[str, Any],
    now: float,
    on_read: Callable[[int, int, int], object] = lambda *_: None,
    plan_windows: Iterable[PlanWindow] = (),
) -> UsageReport:
    """Read *files* and add up their requests by one of ``BY``.

    *since* and *until* are days, both included. *models* are the configuration's own prices.
    *index* is the path of the file that remembers what was read; without it everything is read.
    *on_read* is as in ``read_all``, *plan_windows* come with the report as they are.
    """
    if since and until and since > until:
        raise InputError(f"--since {since} is after --until {until}: no day is between them")
    reading = read_all(files, index=index, prices=price_version(models), on_read=on_read)
    day_of = partial(in_calendar, utc=utc)

    def is_wanted(source: UsageSource, when: float | None) -> bool:
        if (agent and source.agent != agent) or (project and not is_named(source.project, project)):
            return False
        day = day_of(when) if since or until else ""
        return (not since or day >= since) and (not until or "" < day <= until)

    gathered = reading.gathered
    wanted = [each for each in gathered.requests() if is_wanted(each[1], each[0].time)]
    rest = [
        each
        for each in gathered.unattributed()
        if is_wanted(gathered.sources[each.session], each.time)
    ]
    counts = Counter(request.model for request, _ in wanted if request.cost is None)
    unpriced = dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
    filters = {"since": since, "until": until, "agent": agent, "project": project}
    sums, plan = grouped(wanted, by, day_of), tuple(plan_windows)
    return UsageReport(by, sums, Sum.of(wanted), rest, reading, filters, utc, now, unpriced, plan)


def _writer_of(format: str) -> str:
    """Return the agent that writes *format*, ``other`` if it isn't an agent's."""
    formats = agent_formats()
    return formats[format][0].name if format in formats else "other"


def is_named(project: str, wanted: str) -> bool:
    """Whether *wanted* means *project*: its folder, the last part of it, or its name in the agent's
    folder."""
    return (
        wanted in (project, os.path.basename(project), slug_of(project))
        or os.path.abspath(wanted) == project
    )


def iso(when: float | None) -> str | None:
    """Return *when* as an ISO 8601 text in UTC; None if there is none or no calendar has it."""
    return in_calendar(when, "%Y-%m-%dT%H:%M:%SZ", utc=True) or None
