"""Adds up all sessions: each request once, priced, by day, model, session or project.

``usage_report`` asks the index, which ``read_sessions`` has brought up to
date.
"""

from __future__ import annotations

import os
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache, partial
from typing import Any, Self

from brim.errors import InputError
from brim.sessions.plan_windows import PlanWindow
from brim.sessions.requests import ESTIMATE, QUARTER, REQUEST, REST, IndexedRequest
from brim.sessions.session_files import slug_of
from brim.sessions.sums import UsageCell
from brim.sessions.up_to_date import SessionsReading

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

TIMES = ("day", "week", "month", "block")
COLUMNS = {"agent-type": "agent_type", "skill": "skill", "mcp": "mcp"}
"""Columns of the index that are spelled otherwise for people."""
BY = (*TIMES[:3], "model", "session", "project", "branch", "block", *COLUMNS)
"""What requests can be added up by. A block is a billing window of five hours."""

BLOCK = 5 * 3600.0
"""Seconds of a billing window: it begins with the hour of its first request."""

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
"""What the JSON object has of a sum."""


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
    def of(cls, cells: Iterable[UsageCell], name: str = "", project: str = "") -> Self:
        """Add up *cells*."""
        total = cls(name, project, models=set(), agents=set())
        for cell in cells:
            total.add(cell)
        return total

    def add(self, cell: UsageCell) -> None:
        """Add the requests of *cell*."""
        self.requests += cell.requests
        self.unpriced_requests += cell.unpriced
        self.cost += cell.cost
        self.input_tokens += cell.input
        self.output_tokens += cell.output
        self.cache_creation_input_tokens += cell.write_5m + cell.write_1h
        self.cache_read_input_tokens += cell.cache_read
        self.models = {*self.models, cell.model}
        self.agents = {*self.agents, cell.agent}
        if cell.first is not None and (self.first is None or cell.first < self.first):
            self.first = cell.first
        if cell.last is not None and (self.last is None or cell.last > self.last):
            self.last = cell.last

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
        fields: dict[str, Any] = {name: getattr(self, name) for name in _COUNTED}
        if self.requests and self.unpriced_requests == self.requests:
            fields["cost"] = None
        models = sorted(filter(None, self.models))
        return {**fields, "models": models, "agents": sorted(self.agents)}


def in_calendar(when: float | None, form: str = "%Y-%m-%d", *, utc: bool = False) -> str:
    """Return *when* in the *form* of ``strftime``: here, or in *utc*.

    It is empty if there is none, or no calendar of this machine has it.
    """
    parts = time.localtime
    if utc:
        parts = time.gmtime
    try:  # some systems don't pad early years
        if when is None:
            return ""
        return time.strftime(form, parts(when)).rjust(10, "0")
    except (OverflowError, ValueError, OSError):
        return ""


def grouped(cells: Iterable[UsageCell], by: str, day_of: Callable[..., str]) -> list[Sum]:
    """Return the sums of *cells* by one of ``BY``: times in their order, others the most expensive
    first.

    *day_of* is ``in_calendar``, or as that. A billing window ends five hours after its beginning.
    """
    name_of = _names_by(by, day_of)
    groups: dict[tuple[str, str], list[UsageCell]] = {}
    for cell in sorted(cells, key=_quarter_order):
        # Most projects have a branch of the same name.
        project = ""
        if by == "branch":
            project = cell.project
        groups.setdefault((name_of(cell), project), []).append(cell)
    sums = [Sum.of(group, name, group[0].project) for (name, _), group in groups.items()]
    if by in TIMES:
        return sorted(sums, key=lambda row: row.name)
    return sorted(sums, key=lambda row: (-row.cost, -row.total_tokens, row.name))


def _quarter_order(cell: UsageCell) -> tuple[bool, int]:
    return cell.quarter is not None, cell.quarter or 0


def _names_by(by: str, day_of: Callable[..., str]) -> Callable[[UsageCell], str]:
    """Return what names the row of a cell; cells come in the order of their times.

    A zone's clock is a multiple of a quarter of an hour ahead, so all times in one are of one day.
    """
    if by == "block":
        return _Blocks(day_of).name
    if by == "project":
        return lambda cell: cell.project
    if by in TIMES:
        name_of_day = cache(lambda quarter: _period(day_of(_begin_of(quarter)), by))
        return lambda cell: name_of_day(cell.quarter)
    return lambda cell: cell.name


def _begin_of(quarter: int | None) -> float | None:
    if quarter is None:
        return None
    return float(quarter * QUARTER)


class _Blocks:
    """Names billing windows: each begins with the hour of the first request after the last one."""

    def __init__(self, day_of: Callable[..., str]) -> None:
        self._day_of = day_of
        self._begin = float("-inf")

    def name(self, cell: UsageCell) -> str:
        """Return the beginning of the window that *cell* is in; empty without a time."""
        moment = _begin_of(cell.quarter)
        if moment is None:
            return ""
        if moment - self._begin >= BLOCK:
            self._begin = moment // 3600 * 3600
        return self._day_of(self._begin, "%Y-%m-%d %H:%M")


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
        number = int(before[1])
        unit = before[2]
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


@dataclass(frozen=True)
class UsageReport:
    """Sums by *by*, what the clients' totals have beyond them, and how it was read."""

    by: str
    sums: list[Sum]
    total: Sum
    rest: list[UsageCell]
    """What only clients' totals show, by session."""
    estimates: list[UsageCell]
    """Compactions that no total shows yet."""
    reading: SessionsReading
    filters: Mapping[str, str | None]
    utc: bool
    now: float
    unpriced: dict[str, int]
    """How many requests have no price, by model, those with the most first."""
    plan_windows: tuple[PlanWindow, ...] = ()
    """How much of the plans' windows is used now, as far as it's known."""

    @property
    def unattributed(self) -> dict[str, Any]:
        """The sum of the rests."""
        uncovered = Sum.of(self.rest)
        sessions = {cell.session for cell in self.rest}
        unpriced = {cell.session for cell in self.rest if cell.unpriced == cell.requests}
        cost = None
        if len(unpriced) < len(sessions) or not sessions:
            cost = uncovered.cost
        return {
            "sessions": len(sessions),
            "input_tokens": uncovered.input_tokens,
            "output_tokens": uncovered.output_tokens,
            "cache_creation_input_tokens": uncovered.cache_creation_input_tokens,
            "cache_read_input_tokens": uncovered.cache_read_input_tokens,
            "cost": cost,
            "unpriced_sessions": len(unpriced),
        }

    @property
    def estimated(self) -> dict[str, int]:
        """The compactions that no client's total shows yet, and what they're expected to cost."""
        return {
            "compactions": sum(cell.requests for cell in self.estimates),
            "cost": sum(cell.estimated_cost for cell in self.estimates),
        }

    @property
    def spent(self) -> int:
        """What counts against limits: requests, rests and estimates, in micro-dollars."""
        return self.total.cost + Sum.of(self.rest).cost + self.estimated["cost"]

    def to_dict(self) -> dict[str, Any]:
        """Return the report as JSON can hold it; docs/usage.md describes it."""
        return {
            "schema": SCHEMA,
            "by": self.by,
            "utc": self.utc,
            **self.filters,
            "rows": [self._row(row) for row in self.sums],
            "total": self.total.to_dict(),
            "unattributed": self.unattributed,
            "estimated": self.estimated,
            "spent": self.spent,
            "unpriced": self.unpriced,
            "plan_windows": [window.to_dict() for window in self.plan_windows],
            "read": self.reading.to_dict(),
        }

    def _row(self, total: Sum) -> dict[str, Any]:
        row = {self.by: total.name or None, **total.to_dict()}
        if self.by in ("session", "branch"):
            row |= {"project": total.project or None}
        if self.by in ("session", "block"):
            row |= {"first": iso(total.first), "last": iso(total.last)}
        if self.by == "block" and total.first is not None:
            end = total.first // 3600 * 3600 + BLOCK
            is_active = total.last is not None and self.now < min(end, total.last + BLOCK)
            row |= {"end": iso(end), "active": is_active}
        return row


FIRST_DAY = "0000-01-01"
LAST_DAY = "9999-12-31"


@dataclass(frozen=True)
class UsageFilter:
    """Which requests are added up: *since* and *until* are days, both included."""

    since: str | None = None
    until: str | None = None
    agent: str | None = None
    project: str | None = None

    def to_dict(self) -> dict[str, str | None]:
        """Return it as the report's JSON has it."""
        return {
            "since": self.since,
            "until": self.until,
            "agent": self.agent,
            "project": self.project,
        }

    def lets_pass(self, cell: UsageCell | IndexedRequest, day_of: Callable[..., str]) -> bool:
        """Whether *cell*, or one request, is wanted; *day_of* names the day of a moment."""
        if self.agent and cell.agent != self.agent:
            return False
        if self.project and not is_named(cell.project, self.project):
            return False
        if not (self.since or self.until):
            return True
        day = day_of(_begin_of(cell.quarter))
        return (self.since or FIRST_DAY) <= day <= (self.until or LAST_DAY)


def usage_report(
    reading: SessionsReading,
    *,
    by: str = "day",
    wanted: UsageFilter | None = None,
    utc: bool = False,
    now: float,
    plan_windows: Iterable[PlanWindow] = (),
) -> UsageReport:
    """Add up the requests of *reading* by one of ``BY``, those that are *wanted*.

    *plan_windows* come with the report as they are.
    """
    wanted = wanted or UsageFilter()
    if wanted.since and wanted.until and wanted.since > wanted.until:
        problem = f"--since {wanted.since} is after --until {wanted.until}"
        raise InputError(f"{problem}: no day is between them")
    day_of = partial(in_calendar, utc=utc)
    cells: dict[str, list[UsageCell]] = {REQUEST: [], REST: [], ESTIMATE: []}
    for cell in reading.index.cells(COLUMNS.get(by, by)):
        if cell.kind in cells and wanted.lets_pass(cell, day_of):
            cells[cell.kind].append(cell)
    requests = cells[REQUEST]
    return UsageReport(
        by,
        grouped(requests, by, day_of),
        Sum.of(requests),
        [cell for cell in cells[REST] if _has_something(cell)],
        [cell for cell in cells[ESTIMATE] if cell.estimated_cost],
        reading,
        wanted.to_dict(),
        utc,
        now,
        _unpriced(requests),
        tuple(plan_windows),
    )


def _has_something(cell: UsageCell) -> bool:
    counts = (cell.cost, cell.input, cell.output, cell.cache_read, cell.write_5m, cell.write_1h)
    return any(counts)


def _unpriced(cells: Iterable[UsageCell]) -> dict[str, int]:
    """Return how many requests have no price, by model, those with the most first."""
    counts: Counter[str] = Counter()
    for cell in cells:
        if cell.unpriced:
            counts[cell.model] += cell.unpriced
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


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


@dataclass(frozen=True)
class RequestList:
    """Single requests, the newest first."""

    requests: tuple[IndexedRequest, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return them as JSON has them, costs in micro-dollars."""
        return {"requests": [_as_dict(request) for request in self.requests]}


def request_list(reading: SessionsReading, wanted: UsageFilter, *, utc: bool) -> RequestList:
    """Return the requests of *reading* that are *wanted*."""
    day_of = partial(in_calendar, utc=utc)
    requests = []
    for request in reading.index.requests():
        if wanted.lets_pass(request, day_of):
            requests.append(request)
    requests.sort(key=_time_of, reverse=True)
    return RequestList(tuple(requests))


def _time_of(request: IndexedRequest) -> float:
    return request.time or 0.0


def _as_dict(request: IndexedRequest) -> dict[str, Any]:
    return {
        "key": request.key,
        "time": request.time,
        "agent": request.agent,
        "project": request.project,
        "session": request.session,
        "model": request.model,
        "input_tokens": request.input,
        "output_tokens": request.output,
        "cache_creation_input_tokens": request.write_5m + request.write_1h,
        "cache_read_input_tokens": request.cache_read,
        "cost": request.cost,
    }
