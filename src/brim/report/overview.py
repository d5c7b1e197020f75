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
from typing import Any

from brim.config.retention import DAY
from brim.figures import home_path
from brim.memory.lost import CompactionReport
from brim.models.usage import Tokens
from brim.report.cache import CacheBreak
from brim.report.findings import Findings, FindingsReader
from brim.report.money import Bill, bill
from brim.report.usage import UsageReading, UsageSource, is_named, iso, price_version, read_all
from brim.report.waste import ADVICE, KINDS, Waste
from brim.spend.money import PriceList
from brim.tracking.sessions import Request, SessionFile

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
        counts: dict[str, tuple[int, int, int]] = {}
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
    reading: UsageReading

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
        read = ("files", "bytes", "new_bytes", "unread", "broken_lines", "failed", "index")
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
            "read": {name: getattr(self.reading, name) for name in read},
        }


def _readable(found: CacheBreak | Waste) -> dict[str, Any]:
    return {**asdict(found), "time": iso(found.time)}


def sessions_report(
    files: list[SessionFile],
    *,
    days: int | None = DAYS,
    project: str | None = None,
    index: str | None = None,
    models: Mapping[str, Any],
    now: float,
    on_read: Callable[[int, int, int], object] = lambda *_: None,
    most: int | None = None,
) -> Overview:
    """Read *files* and return what happened in them in the last *days*, in all projects or in one.

    *index* is the path of the file that remembers what was read, *models* the configuration's own
    prices. *on_read* and *most* are as in ``read_all``.
    """
    since = None if days is None else now - days * DAY
    recent = [file for file in files if since is None or file.stamp.modified / 1e9 >= since]
    reading = read_all(
        recent,
        index=index,
        prices=price_version(models),
        on_read=on_read,
        observe=FindingsReader,
        most=most,
    )

    def is_wanted(source: UsageSource, when: float | None) -> bool:
        return (not project or is_named(source.project, project)) and (
            since is None or when is None or when >= since
        )

    gathered, prices = reading.gathered, PriceList()
    every = gathered.requests()
    wanted = {request.key: request for request, source in every if is_wanted(source, request.time)}
    partly = gathered.forked | {
        request.session for request, _ in every if request.key not in wanted
    }
    rests = [
        each
        for each in gathered.unattributed()
        if is_wanted(gathered.sources[each.session], each.time)
    ]
    sessions = {request.session for request in wanted.values()}
    totals = {
        name: total
        for name, total in gathered.totals.items()
        if name in sessions and name not in partly
    }
    found = [(source, Findings.from_json(text)) for source, text in reading.findings]
    summaries = [
        each for source, one in found for each in one.summaries if source.agent == "claude"
    ]
    # A session's stream and its transcript both have a compaction's request.
    summaries = list({(each.session, each.prompt): each for each in reversed(summaries)}.values())
    waste = _waste(found, list(wanted.values()), is_wanted, prices)
    starts = [each.tokens for each in waste.get("start", []) if not each.agent]
    return Overview(
        days=days,
        project=project,
        bill=bill(list(wanted.values()), totals, rests, summaries, prices),
        lost=_lost([(source, one.compactions) for source, one in found], is_wanted, wanted, prices),
        breaks=_breaks([each for _, one in found for each in one.breaks], wanted, prices),
        waste=[WasteSum(kind, waste[kind]) for kind in KINDS if kind in waste],
        start=round(statistics.median(starts)) if starts else None,
        projects={session: source.project for session, source in gathered.sources.items()},
        reading=reading,
    )


def _lost(
    found: list[tuple[UsageSource, list[CompactionReport]]],
    is_wanted: Callable[[UsageSource, float | None], bool],
    requests: Mapping[str, Request],
    prices: PriceList,
) -> LostSum:
    """Return the compactions, each once: a stream repeats those of its transcript, a fork those of
    its parent."""
    by_session: dict[tuple[str, str], list[CompactionReport]] = {}
    for source, compactions in found:
        mine: dict[tuple[str, str], list[CompactionReport]] = {}
        for each in compactions:
            if is_wanted(source, each.time):
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
    found: list[CacheBreak], requests: Mapping[str, Request], prices: PriceList
) -> list[CacheBreak]:
    """Return the breaks by one of *requests*, each once, with what they cost, the most expensive
    first."""
    by_key = {each.request: each for each in reversed(found) if each.request in requests}
    priced = [each.priced(requests[key], prices) for key, each in by_key.items()]
    return sorted(priced, key=lambda each: (-(each.cost or 0), -each.tokens, each.request))


def _waste(
    found: list[tuple[UsageSource, Findings]],
    requests: list[Request],
    is_wanted: Callable[[UsageSource, float | None], bool],
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
            and (each.kind == "start" or is_wanted(source, each.time))
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
