"""What happened in past sessions: what they cost, what compactions dropped, what broke the cache,
what was wasted.

``sessions_report`` does all of it, from the agents' own files. What the index knows isn't read
again.
"""

from __future__ import annotations

import os
import statistics
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from brim.config.retention import DAY
from brim.figures import counted, home_path
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
        return sum(item.tokens * item.requests for item in self.items)

    @property
    def cost(self) -> int:
        """Micro-dollars, of those that have a price."""
        return sum(item.cost or 0 for item in self.items)

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON can hold it."""
        items = [_readable(item) for item in self.items]
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
        counts = {}
        for kind in LOST_KINDS:
            before = sum(report.in_window.get(kind, 0) for report in self.items)
            lost = sum(report.lost.get(kind, 0) for report in self.items)
            came_back = sum(report.came_back.get(kind, 0) for report in self.items)
            if before:
                counts[kind] = (before, lost, came_back)
        return counts

    @property
    def given_back(self) -> int:
        """Things that brim gave back."""
        return sum(len(report.given_back) for report in self.items)

    @property
    def usable(self) -> int:
        """Those of them that an agent can use: files and commands."""
        return sum(item.is_usable for report in self.items for item in report.given_back)

    @property
    def used_again(self) -> int:
        """Those of them that the agent used afterwards."""
        return sum(item.used_again for report in self.items for item in report.given_back)

    @property
    def given_back_words(self) -> str:
        """How much was given back, and what became of it."""
        words = f"{counted(self.given_back, 'thing')} given back"
        if self.usable:
            words += f", {self.used_again:,} of {self.usable:,} files and commands used again"
        return words

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
            for report in self.items
            for item in report.items
        )

    @property
    def tokens(self) -> int:
        """Tokens that finding things again took."""
        return sum(report.tokens for report in self.items)

    @property
    def unreadable(self) -> int:
        """Compactions whose summary can't be read: what they lost isn't known."""
        return sum(not report.readable for report in self.items)

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON can hold it."""
        counts = {
            kind: {"had": before, "lost": lost, "came_back": back}
            for kind, (before, lost, back) in self.counts.items()
        }
        sums = {"count": len(self.items), "unreadable": self.unreadable, "counts": counts}
        sums |= {"files_read_again": self.read_again, "tokens": self.tokens, "cost": self.cost}
        sums |= {
            "given_back": self.given_back,
            "usable": self.usable,
            "used_again": self.used_again,
        }
        sums["steps_to_edit"] = {
            "with_brim": self.steps(with_brim=True),
            "without": self.steps(with_brim=False),
        }
        return {
            **sums,
            "items": [{**report.to_dict(), "time": iso(report.time)} for report in self.items],
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
        return sum(broken.cost or 0 for broken in self.breaks)

    @property
    def memory(self) -> int | None:
        """Tokens of the memory files with which a session begins: the median; None if no client
        records it."""
        sums: dict[str, int] = {}
        for item in self._items("memory"):
            sums[item.session] = sums.get(item.session, 0) + (item.tokens if not item.agent else 0)
        if sums:
            return round(statistics.median(sums.values()))
        return None

    @property
    def idle_tools(self) -> tuple[int, int]:
        """How many tools of MCP servers were never called, and the tokens of their descriptions."""
        tools: dict[str, int] = {}
        for item in self._items("tool"):
            tools[item.what] = max(item.tokens, tools.get(item.what, 0))
        return len(tools), sum(tools.values())

    def _items(self, kind: str) -> list[Waste]:
        return next((waste.items for waste in self.waste if waste.kind == kind), [])

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


def _readable(item: CacheBreak | Waste) -> dict[str, Any]:
    return {**asdict(item), "time": iso(item.time)}


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
    estimated = 0
    for row in index.requests("kind = 'estimate'"):
        if wanted.has(row.project, row.time):
            estimated += row.estimated_cost
    sources = _found_in(index.files(), findings)
    waste = _waste(sources, list(requests.values()), wanted, prices)
    starts = [item.tokens for item in waste.get("start", []) if not item.agent]
    compactions = [(source, one.compactions) for source, one in sources]
    breaks = [item for _, one in sources for item in one.breaks]
    return Overview(
        days=days,
        project=wanted.project,
        bill=bill(
            list(requests.values()), totals, rests, _summaries(sources), prices, estimated=estimated
        ),
        lost=_lost(compactions, wanted, requests, prices),
        breaks=_breaks(breaks, requests, prices),
        waste=[WasteSum(kind, waste[kind]) for kind in KINDS if kind in waste],
        start=round(statistics.median(starts)) if starts else None,
        projects={session: project for session, (_, project) in owners.items()},
        costs={request.message: request.cost for request in requests.values()},
        reading=reading,
        own_texts=[texts for _, one in sources for texts in one.own_texts],
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


def _summaries(sources: list[tuple[FindingsSource, Findings]]) -> list[SummaryRequest]:
    """Return the requests of compactions, each once: a session's stream and its transcript both
    have one."""
    by_prompt: dict[tuple[str, int], SummaryRequest] = {}
    for source, one in sources:
        if source.agent == "claude":
            for summary in one.summaries:
                by_prompt.setdefault((summary.session, summary.prompt), summary)
    return list(by_prompt.values())


def _lost(
    sources: list[tuple[FindingsSource, list[CompactionReport]]],
    wanted: _Wanted,
    requests: Mapping[str, IndexedRequest],
    prices: PriceList,
) -> LostSum:
    """Return the compactions, each once: a stream repeats those of its transcript, a fork those of
    its parent."""
    by_session: dict[tuple[str, str], list[CompactionReport]] = {}
    for source, compactions in sources:
        of_file: dict[tuple[str, str], list[CompactionReport]] = {}
        for report in compactions:
            if wanted.has(source.project, report.time):
                of_file.setdefault((report.session, report.sub_agent), []).append(report)
        for key, reports in of_file.items():
            if key not in by_session or _says_more(reports, by_session[key]):
                by_session[key] = reports
    every: dict[object, CompactionReport] = {}
    for key, reports in by_session.items():
        for report in reports:
            every[report.time or key, report.before] = report
    models = {request.session: request.model for request in requests.values()}
    items = sorted(every.values(), key=lambda report: report.time or 0.0)
    costs = []
    for report in items:
        written = Tokens(cache_write_5m=report.tokens, writes_are_input=True)
        costs.append(prices.request(written, models.get(report.session, ""), report.time))
    return LostSum(items, sum(cost or 0 for cost in costs))


def _says_more(reports: list[CompactionReport], earlier: list[CompactionReport]) -> bool:
    """Whether a file says more about a session's compactions than another: a stream has no
    times."""
    if len(reports) != len(earlier):
        return len(reports) > len(earlier)
    return reports[0].time is not None and earlier[0].time is None


def _breaks(
    breaks: list[CacheBreak], requests: Mapping[str, IndexedRequest], prices: PriceList
) -> list[CacheBreak]:
    """Return the breaks by one of *requests*, each once, with what they cost, the most expensive
    first."""
    by_key = {broken.request: broken for broken in reversed(breaks) if broken.request in requests}
    priced = [broken.priced(requests[key], prices) for key, broken in by_key.items()]
    return sorted(priced, key=lambda broken: (-(broken.cost or 0), -broken.tokens, broken.request))


def _waste(
    sources: list[tuple[FindingsSource, Findings]],
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
    session_costs: dict[tuple[str, bool], int] = {}
    for request in requests:
        key = request.session, request.main
        session_costs[key] = session_costs.get(key, 0) + (request.cost or 0)
    by_key: dict[tuple[str, str], Waste] = {}
    for item in _wanted_waste(sources, {request.session for request in requests}, wanted):
        earlier = by_key.get((item.kind, item.key))
        if earlier is None or item.requests > earlier.requests:
            by_key[item.kind, item.key] = item
    priced = []
    for item in by_key.values():
        session_cost = session_costs.get((item.session, not item.agent), 0)
        priced.append(item.priced(prices, session_cost))
    priced.sort(key=lambda item: (-(item.cost or 0), -item.tokens * item.requests, item.key))
    by_kind: dict[str, list[Waste]] = {}
    for item in priced:
        by_kind.setdefault(item.kind, []).append(item)
    return by_kind


def _wanted_waste(
    sources: list[tuple[FindingsSource, Findings]], sessions: set[str], wanted: _Wanted
) -> Iterator[Waste]:
    """Yield the waste of *sessions*, without tools that any session of the project called."""
    called: set[tuple[str, str]] = set()
    for source, findings in sources:
        called.update((source.project, name) for name in findings.called)
    for source, findings in sources:
        for item in findings.waste:
            if item.session not in sessions:
                continue
            if item.kind == "tool" and (source.project, item.what) in called:
                continue
            if item.kind == "start" or wanted.has(source.project, item.time):
                yield item


LONGEST_ENDING = 8
"""Characters that the ending of a hidden file's name must have less than: else it is a name."""


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
        if kind == "result" and "/" in text and " " not in text:
            kind = "file"
        if (kind, text) not in self._numbers:
            numbered = [other for other, _ in self._numbers if other == kind]
            self._numbers[kind, text] = len(numbered) + 1
        name = f"{kind} {self._numbers[kind, text]}"
        if kind != "file":
            return name
        ending = os.path.splitext(text)[1]
        if not ending.isascii() or not 1 < len(ending) < LONGEST_ENDING:
            return name
        return f"{name} ({ending})"

    def part(self, label: str) -> str:
        """Return the name of a part of a request; hidden, only what kind of part it is."""
        if self.hidden:
            return label.partition(":")[0]
        return label
