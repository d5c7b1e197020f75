"""What happened in past sessions: what they cost, what compactions dropped, what broke the cache,
what was wasted.

``sessions_report`` does all of it, from the agents' own files. What the index knows isn't read
again.
"""

from __future__ import annotations

import os
import statistics
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from brim.config.retention import DAY
from brim.figures import home_path
from brim.memory.lost import CompactionReport
from brim.models.price_list import PriceList
from brim.models.usage import Tokens
from brim.models.versions import price_version
from brim.sessions.files import IndexedFile
from brim.sessions.report.cache import CacheBreak
from brim.sessions.report.findings import Findings, FindingsReading
from brim.sessions.report.money import Bill, SummaryRequest, bill
from brim.sessions.report.own_texts import OwnTexts
from brim.sessions.report.usage import is_named, iso
from brim.sessions.report.waste import ADVICE, KINDS, Waste
from brim.sessions.requests import IndexedRequest
from brim.sessions.session_files import SessionFile
from brim.sessions.up_to_date import SessionsReading, read_sessions

SCHEMA = 1
"""Raised when a key of the JSON object changes its meaning or goes; a new key doesn't raise it."""

LOST_KINDS = ("file", "command", "decision", "instruction")
"""What compactions lose."""

DAYS = 30
"""Days that are looked at if nothing else is asked for."""

BASIS = (
    "text sizes are estimated from bytes, with the ratio of bytes to billed tokens in that session"
)


@dataclass(frozen=True)
class WasteSum:
    """All waste of one kind: ``items``, the most expensive first, their tokens in all requests, and
    their cost."""

    kind: str
    items: list[Waste]

    @property
    def tokens(self) -> int:
        """Tokens that were sent for nothing, each time that they were."""
        return sum(each.tokens * each.requests for each in self.items)

    @property
    def cost(self) -> int:
        """Micro-dollars, of those that have a price."""
        return sum(each.cost or 0 for each in self.items)

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON can hold it."""
        items = [_readable(each) for each in self.items]
        about = {"kind": self.kind, "what": KINDS[self.kind], "advice": ADVICE[self.kind]}
        return {
            **about,
            "count": len(self.items),
            "tokens": self.tokens,
            "cost": self.cost,
            "items": items,
        }


@dataclass(frozen=True)
class LostSum:
    """What all compactions together lost, in the order of their time."""

    items: list[CompactionReport]
    cost: int
    """Micro-dollars that finding things again took, of those that have a price."""

    @property
    def counts(self) -> dict[str, tuple[int, int, int]]:
        """How many things of each kind there were, how many were lost, and how many of these came
        back."""
        found = {}
        for kind in LOST_KINDS:
            before = sum(report.in_window.get(kind, 0) for report in self.items)
            lost = sum(report.lost.get(kind, 0) for report in self.items)
            came_back = sum(report.came_back.get(kind, 0) for report in self.items)
            if before:
                found[kind] = (before, lost, came_back)
        return found

    @property
    def given_back(self) -> int:
        """Things that brim gave back."""
        return sum(len(report.given_back) for report in self.items)

    @property
    def used_again(self) -> int:
        """Those of them that the agent used afterwards."""
        return sum(item.used_again for report in self.items for item in report.given_back)

    def steps(self, *, with_brim: bool) -> tuple[int, float] | None:
        """Return how many compactions an edit followed, and the calls until then, on average.

        Only those count after which brim gave something back (*with_brim*), or didn't; None if
        there is none.
        """
        steps = []
        for report in self.items:
            if report.steps is not None and bool(report.given_back) == with_brim:
                steps.append(report.steps)
        if not steps:
            return None
        return len(steps), sum(steps) / len(steps)

    @property
    def read_again(self) -> int:
        """Lost files that the agent read again."""
        return sum(
            item.kind == "file" and item.back == "read"
            for each in self.items
            for item in each.items
        )

    @property
    def tokens(self) -> int:
        """Tokens that finding things again took."""
        return sum(each.tokens for each in self.items)

    @property
    def unreadable(self) -> int:
        """Compactions whose summary can't be read: what they lost isn't known."""
        return sum(not each.readable for each in self.items)

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON can hold it."""
        counts = {
            kind: {"had": had, "lost": lost, "came_back": back}
            for kind, (had, lost, back) in self.counts.items()
        }
        sums = {"count": len(self.items), "unreadable": self.unreadable, "counts": counts}
        sums |= {"files_read_again": self.read_again, "tokens": self.tokens, "cost": self.cost}
        sums |= {"given_back": self.given_back, "used_again": self.used_again}
        sums["steps_to_edit"] = {
            "with_brim": self.steps(with_brim=True),
            "without": self.steps(with_brim=False),
        }
        return {
            **sums,
            "items": [{**each.to_dict(), "time": iso(each.time)} for each in self.items],
        }


@dataclass(frozen=True)
class Overview:
    """What the report says."""

    days: int | None
    """None: everything in the files."""
    project: str | None
    bill: Bill
    lost: LostSum
    breaks: list[CacheBreak]
    """The most expensive first."""
    waste: list[WasteSum]
    start: int | None
    """Tokens with which a session begins before anything is typed: the median."""
    projects: Mapping[str, str]
    """The project of each session."""
    costs: Mapping[str, int | None]
    """What each request cost, by the id of the message that answered it."""
    reading: SessionsReading
    own_texts: list[OwnTexts]
    """What brim's own texts took."""

    @property
    def break_cost(self) -> int:
        """What all breaks cost, in micro-dollars."""
        return sum(each.cost or 0 for each in self.breaks)

    @property
    def memory(self) -> int | None:
        """Tokens of the memory files with which a session begins: the median; None if no client
        records it."""
        sums: dict[str, int] = {}
        for each in self._items("memory"):
            sums[each.session] = sums.get(each.session, 0) + (each.tokens if not each.agent else 0)
        return round(statistics.median(sums.values())) if sums else None

    @property
    def idle_tools(self) -> tuple[int, int]:
        """How many tools of MCP servers were never called, and the tokens of their descriptions."""
        tools: dict[str, int] = {}
        for each in self._items("tool"):
            tools[each.what] = max(each.tokens, tools.get(each.what, 0))
        return len(tools), sum(tools.values())

    def _items(self, kind: str) -> list[Waste]:
        return next((each.items for each in self.waste if each.kind == kind), [])

    @property
    def headline(self) -> dict[str, Any]:
        """The report in a few numbers."""
        return {
            "days": self.days,
            "sessions": self.bill.sessions,
            "cost": self.bill.total,
            "compactions": len(self.lost.items),
            "cache_breaks": len(self.breaks),
            "cache_break_cost": self.break_cost,
            "start_tokens": self.start,
            "unread_bytes": self.reading.unread,
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the report as JSON can hold it; docs/report.md describes it."""
        breaks = [
            {**_readable(each), "project": self.projects.get(each.session) or None}
            for each in self.breaks
        ]
        return {
            "schema": SCHEMA,
            "days": self.days,
            "project": self.project,
            "money": self.bill.to_dict(),
            "compactions": self.lost.to_dict(),
            "cache": {
                "breaks": breaks,
                "tokens": sum(each.tokens for each in self.breaks),
                "cost": self.break_cost,
            },
            "waste": [each.to_dict() for each in self.waste],
            "start_tokens": self.start,
            "memory_tokens": self.memory,
            "basis": BASIS,
            "read": {**self.reading.to_dict(), "unread": self.reading.unread},
        }


def _readable(found: CacheBreak | Waste) -> dict[str, Any]:
    return {**asdict(found), "time": iso(found.time)}


@dataclass(frozen=True)
class _Wanted:
    """What a report is about: a project, or all, since a moment, or ever."""

    project: str | None
    since: float | None

    def has(self, project: str, when: float | None) -> bool:
        """Whether something in *project* at that moment belongs to the report."""
        if self.project and not is_named(project, self.project):
            return False
        return self.since is None or when is None or when >= self.since


def sessions_report(
    files: list[SessionFile],
    *,
    days: int | None = DAYS,
    project: str | None = None,
    index: str | None = None,
    cache: str | None = None,
    home: str = "",
    models: Mapping[str, Any],
    now: float,
    on_read: Callable[[int, int, int], object] = lambda *_: None,
    most: int | None = None,
) -> Overview:
    """Read *files* and return what happened in them in the last *days*, in all projects or in one.

    *index* is the path of the index of requests, *cache* that of what reports have found, *models*
    the configuration's own prices. If there is more to read than *most* bytes, only what is known
    is used.
    """
    since = None if days is None else now - days * DAY
    recent = [file for file in files if since is None or file.stamp.modified / 1e9 >= since]
    findings = FindingsReading(recent, cache)
    is_too_much = most is not None and findings.unread > most
    reading = read_sessions(
        recent,
        index=index,
        home=home,
        price_version=price_version(models),
        on_read=on_read if is_too_much else lambda *_: None,
        up_to=most if is_too_much else None,
    )
    if is_too_much:
        reading.unread = findings.unread
    else:
        findings.read(on_read)
    reading.notes += findings.notes
    with reading.index:
        return _overview(reading, findings, _Wanted(project, since), days)


def _overview(
    reading: SessionsReading, findings: FindingsReading, wanted: _Wanted, days: int | None
) -> Overview:
    index = reading.index
    prices = PriceList()
    requests: dict[str, IndexedRequest] = {}
    partly = index.forked_sessions()
    for request in index.requests():
        if wanted.has(request.project, request.time):
            requests[request.key] = request
        else:
            partly.add(request.session)
    owners = index.owners()
    sessions = {request.session for request in requests.values()}
    totals = {
        session: total
        for session, total in index.totals().items()
        if session in sessions and session not in partly
    }
    rests = [
        rest for rest in index.rests() if wanted.has(owners.get(rest.session, NOBODY)[1], rest.time)
    ]
    found = _found_in(index.files(), findings)
    waste = _waste(found, list(requests.values()), wanted, prices)
    starts = [item.tokens for item in waste.get("start", []) if not item.agent]
    compactions = [(source, one.compactions) for source, one in found]
    breaks = [item for _, one in found for item in one.breaks]
    return Overview(
        days=days,
        project=wanted.project,
        bill=bill(list(requests.values()), totals, rests, _summaries(found), prices),
        lost=_lost(compactions, wanted, requests, prices),
        breaks=_breaks(breaks, requests, prices),
        waste=[WasteSum(kind, waste[kind]) for kind in KINDS if kind in waste],
        start=round(statistics.median(starts)) if starts else None,
        projects={session: project for session, (_, project) in owners.items()},
        costs={request.message: request.cost for request in requests.values()},
        reading=reading,
        own_texts=[texts for _, one in found for texts in one.own_texts],
    )


NOBODY = ("", "")
"""Agent and project of a session that has no requests."""


class FindingsSource(NamedTuple):
    """Whose file findings are from: its agent and its project."""

    agent: str
    project: str


def _found_in(
    files: Mapping[str, IndexedFile], findings: FindingsReading
) -> list[tuple[FindingsSource, Findings]]:
    """Return the findings of each file with its source."""
    return [
        (FindingsSource(files[path].agent, files[path].project), one)
        for path, one in findings.by_file().items()
        if path in files
    ]


def _summaries(found: list[tuple[FindingsSource, Findings]]) -> list[SummaryRequest]:
    """Return the requests of compactions, each once: a session's stream and its transcript both
    have one."""
    by_prompt: dict[tuple[str, int], SummaryRequest] = {}
    for source, one in found:
        if source.agent == "claude":
            for summary in one.summaries:
                by_prompt.setdefault((summary.session, summary.prompt), summary)
    return list(by_prompt.values())


def _lost(
    found: list[tuple[FindingsSource, list[CompactionReport]]],
    wanted: _Wanted,
    requests: Mapping[str, IndexedRequest],
    prices: PriceList,
) -> LostSum:
    """Return the compactions, each once: a stream repeats those of its transcript, a fork those of
    its parent."""
    by_session: dict[tuple[str, str], list[CompactionReport]] = {}
    for source, compactions in found:
        mine: dict[tuple[str, str], list[CompactionReport]] = {}
        for each in compactions:
            if wanted.has(source.project, each.time):
                mine.setdefault((each.session, each.sub_agent), []).append(each)
        for key, some in mine.items():
            by_session[key] = max(
                by_session.get(key, some), some, key=lambda all: (len(all), all[0].time is not None)
            )
    every = {
        (each.time or key, each.before): each for key, some in by_session.items() for each in some
    }
    models = {request.session: request.model for request in requests.values()}
    items = sorted(every.values(), key=lambda each: each.time or 0.0)
    costs = []
    for each in items:
        written = Tokens(cache_write_5m=each.tokens, writes_are_input=True)
        costs.append(prices.request(written, models.get(each.session, ""), each.time))
    return LostSum(items, sum(cost or 0 for cost in costs))


def _breaks(
    found: list[CacheBreak], requests: Mapping[str, IndexedRequest], prices: PriceList
) -> list[CacheBreak]:
    """Return the breaks by one of *requests*, each once, with what they cost, the most expensive
    first."""
    by_key = {each.request: each for each in reversed(found) if each.request in requests}
    priced = [each.priced(requests[key], prices) for key, each in by_key.items()]
    return sorted(priced, key=lambda each: (-(each.cost or 0), -each.tokens, each.request))


def _waste(
    found: list[tuple[FindingsSource, Findings]],
    requests: list[IndexedRequest],
    wanted: _Wanted,
    prices: PriceList,
) -> dict[str, list[Waste]]:
    """Return the waste in *requests* by kind, each thing once, with what it cost, the most
    expensive first.

    A tool that any session of the project called isn't waste. Nothing cost more than the *requests*
    of its session: a session may have begun before the period, or with what an earlier one had left
    in the cache.
    """
    sessions = {request.session for request in requests}
    most: dict[tuple[str, bool], int] = {}
    for request in requests:
        key = request.session, request.main
        most[key] = most.get(key, 0) + (request.cost or 0)
    by_key: dict[tuple[str, str], Waste] = {}
    called = {(source.project, name) for source, one in found for name in one.called}
    for source, each in ((source, each) for source, one in found for each in one.waste):
        idle = each.kind != "tool" or (source.project, each.what) not in called
        if (
            idle
            and each.session in sessions
            and (each.kind == "start" or wanted.has(source.project, each.time))
        ):
            known = by_key.get((each.kind, each.key))
            by_key[each.kind, each.key] = (
                each if known is None or each.requests > known.requests else known
            )
    by_kind: dict[str, list[Waste]] = {}
    priced = [
        each.priced(prices, most.get((each.session, not each.agent), 0)) for each in by_key.values()
    ]
    for each in sorted(
        priced, key=lambda each: (-(each.cost or 0), -each.tokens * each.requests, each.key)
    ):
        by_kind.setdefault(each.kind, []).append(each)
    return by_kind


class Names:
    """What paths, commands and projects are called: as they are, or, *hidden*, by a number."""

    def __init__(self, *, hidden: bool = False) -> None:
        self.hidden = hidden
        self._numbers: dict[tuple[str, str], int] = {}

    def of(self, text: str, kind: str) -> str:
        """Return the name of *text*, which is of a *kind*: ``file``, ``command``, ``project`` or
        ``session``."""
        if not self.hidden or not text:
            return home_path(text)
        kind = "file" if kind == "result" and "/" in text and " " not in text else kind
        number = self._numbers.setdefault(
            (kind, text), 1 + sum(each[0] == kind for each in self._numbers)
        )
        ending = os.path.splitext(text)[1] if kind == "file" else ""
        return (
            f"{kind} {number}{f' ({ending})' if ending.isascii() and 1 < len(ending) < 8 else ''}"
        )

    def part(self, label: str) -> str:
        """Return the name of a part of a request; hidden, only what kind of part it is."""
        return label.partition(":")[0] if self.hidden else label
