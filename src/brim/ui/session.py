"""The page of one session: its chart, what compactions dropped, what fills the window, and the copy
to share.

``Picture`` is the session as it is drawn. Names of files, commands and projects go through
``Names``, so that the same page can be shared without them.
"""

from __future__ import annotations

import json
import os
import time
from bisect import bisect_left
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib.resources import files
from typing import Any

import anyio
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse

from brim.agents.call import Event
from brim.agents.events import Message, ToolResult
from brim.errors import BrimError, InputError
from brim.figures import counted, dollars, rounded
from brim.hooks.limit_words import HELD
from brim.memory.lost import CompactionReport
from brim.memory.quotes import masked_line
from brim.report.cache import CAUSES
from brim.report.context import (
    GROUPS,
    ContextReport,
    Moment,
    context_at,
    session_requests,
    timeline,
)
from brim.report.overview import LOST_KINDS, Names, Overview, WasteSum, sessions_report
from brim.report.page import Chart
from brim.report.page import page as shared_page
from brim.report.waste import ADVICE, KINDS
from brim.report.watch import Reading, read_session
from brim.tracking.requests import ComposedRequest, RequestPart
from brim.tracking.requests.composition import REMAINDER
from brim.tracking.requests.pieces import MEMORY, RESULTS
from brim.tracking.sessions import SessionFile, named_files
from brim.ui.background import AWAKE, INTERVAL
from brim.ui.place import Head, Place, about, clock_time, page, render

SHOWN = 12
"""Parts of a request that are listed."""
LONGEST_PROMPT = 160
_SHELLS = ("Bash", "shell", "run_shell_command", "exec_command", "local_shell")


@dataclass(frozen=True)
class SessionMark:
    """Something that happened, at a place on the timeline: ``at`` is a request's number, or between
    two."""

    kind: str
    """``prompt``, ``compaction``, ``break``, ``limit`` or ``rules``."""
    at: float
    time: float | None
    text: str
    detail: str = ""
    """What only the page itself says: words of a person, names of rules."""


@dataclass(frozen=True)
class Leaf:
    """A part of a request that has no parts itself."""

    label: tuple[str, ...]
    tokens: int
    items: int
    basis: str
    note: str = ""
    """What is known about it in all requests."""


@dataclass(frozen=True)
class Picture:
    """One session."""

    id: str
    head: Head
    reading: Reading
    requests: list[ComposedRequest]
    moments: list[Moment]
    overview: Overview
    marks: list[SessionMark]
    begin: float | None
    end: float | None

    @property
    def compactions(self) -> list[CompactionReport]:
        """Its compactions, and those of its sub-agents."""
        return self.overview.lost.items

    @property
    def lasted(self) -> str:
        """How long it took, from the first to the last line with a time: ``2h10``."""
        minutes = round(((self.end or 0.0) - (self.begin or 0.0)) / 60)
        return f"{minutes // 60}h{minutes % 60:02}" if minutes >= 60 else f"{max(1, minutes)} min"

    @staticmethod
    def came_back(each: CompactionReport) -> list[tuple[int, str]]:
        """Return what became of the things that a compaction dropped: how many, and in words."""
        backs = [item.back for item in each.items]
        by_hook, by_you = backs.count("hook"), backs.count("you")
        again = sum(back in ("read", "changed", "run") for back in backs)
        never = sum(each.lost.values()) - sum(each.came_back.values())
        cost = f" ({rounded(each.tokens)} tokens)" if each.tokens else ""
        found = [
            (by_hook, f"brim or another hook {by_hook:,}"),
            (by_you, f"you {by_you:,}"),
            (again, f"found again by the agent {again:,}{cost}"),
            (never, f"never {never:,}"),
        ]
        return [pair for pair in found if pair[0]]

    @staticmethod
    def wasted(waste: WasteSum) -> list[tuple[str, int]]:
        """Return what was sent for nothing, each thing once, the largest first."""
        sums: Counter[str] = Counter()
        for each in waste.items:
            sums[each.what] += each.tokens * each.requests
        return sums.most_common()

    def at(self, number: int | None = None) -> ContextReport:
        """Return what fills the window at request *number*, or at the last one, and what changed
        before it."""
        last = number or len(self.requests) or None
        return context_at(
            self.reading, self.requests, last, last - 1 if last and last > 1 else None
        )

    def largest(self, report: ContextReport) -> list[Leaf]:
        """Return the largest parts of the request in *report*, with what is known about each."""
        known = [
            part for part in report.parts if part.name != REMAINDER
        ]  # that has a line of its own
        return [replace(each, note=self._note(each.label)) for each in leaves(known)[:SHOWN]]

    def _note(self, label: tuple[str, ...]) -> str:
        for waste in self.overview.waste:
            mine = [each for each in waste.items if each.what == label[-1] and not each.agent]
            if waste.kind == "repeated" and mine and label[0] == RESULTS:
                tokens = sum(each.tokens for each in mine)
                return (
                    f"read again unchanged {counted(len(mine), 'time')}: {rounded(tokens)} wasted"
                )
            if waste.kind == "memory" and mine and label[0] == MEMORY:
                return f"in {counted(max(each.requests for each in mine), 'request')}"
        return ""

    def chart(self, names: Names) -> dict[str, Any]:
        """Return what is drawn, for JSON."""
        costs = {
            request.message: request.cost
            for request, _ in self.overview.reading.gathered.requests()
        }
        point = self.reading["auto_compact"] or {}
        return {
            "numbers": [each.number for each in self.moments],
            "clock": [clock_time(each.time) for each in self.moments],
            "billed": [each.billed for each in self.moments],
            "cached": [each.cached for each in self.moments],
            "costs": [
                None if (cost := costs.get(each.id)) is None else dollars(cost)
                for each in self.moments
            ],
            "groups": [
                *(
                    {"name": name, "tokens": [each.parts[name] for each in self.moments]}
                    for name in GROUPS
                ),
                {"name": "not explained", "tokens": [max(0, each.rest) for each in self.moments]},
            ],
            "causes": [
                f"{named(each.cause, names, self.head.folder)}, {rounded(each.cause_tokens)}"
                if each.cause
                else ""
                for each in self.moments
            ],
            "window": self.reading["context_window"],
            "compacts_at": point.get("at") or 0,
            "marks": [
                {
                    "kind": each.kind,
                    "at": each.at,
                    "text": each.text
                    if names.hidden or not each.detail
                    else f"{each.text}: {each.detail}",
                    "clock": clock_time(each.time),
                }
                for each in self.marks
            ],
        }


def leaves(parts: Iterable[RequestPart], above: tuple[str, ...] = ()) -> list[Leaf]:
    """Return what *parts* are made of, down to what has no parts itself, the largest first."""
    found = []
    for part in parts:
        label = (*above, part.name)
        if part.parts:
            found += leaves(part.parts, label)
        elif part.tokens:
            found.append(Leaf(label, part.tokens, part.items, part.basis))
    return sorted(found, key=lambda each: (-each.tokens, each.label))


def named(label: Sequence[str], names: Names, folder: str = "") -> str:
    """Return what a part of a request is called: without names if they are hidden, paths as seen
    from *folder*."""
    kind, *rest = label or ("",)
    rest = [each.removeprefix(f"{folder}/") for each in rest] if folder else rest
    if not rest:
        return kind
    if kind == RESULTS and len(rest) > 1:
        tool, target = rest[0], rest[-1]
        shown = names.of(tool, "tool") if tool.startswith("mcp: ") else tool
        what = (
            "command" if tool in _SHELLS else "file" if "/" in target or "." in target else "result"
        )
        return f"{shown}: {names.of(target, what)}"
    if kind == MEMORY:
        return names.of(rest[-1], "file")
    return f"{kind}: {names.of(': '.join(rest), kind)}" if not names.hidden else kind


def read_picture(
    place: Place, file: SessionFile, id: str, advance: Callable[[int], object]
) -> Picture:
    """Read the session in *file*; *advance* gets the size of each block that was read."""
    head, config = about(file), place.workspace().config
    seen: list[Event] = []
    reading = read_session(
        file.path,
        config,
        place.environ,
        taken=advance,
        seen=lambda new: seen.extend(filter(_matters, new)),
    )
    requests = session_requests(file.path, at=1, index=place.index, on_read=advance)
    overview = sessions_report(
        named_files([file.path]),
        days=None,
        index=place.index,
        models=config.yours["models"],
        now=time.time(),
        on_read=lambda size, *_: advance(size),
    )
    moments = timeline(requests)
    times = [
        time
        for time in (*(each.time for each in moments), *(each.time for each in seen))
        if time is not None
    ]
    told = _told(place, head.folder, reading["session"] or id)
    marks = sorted(_marks(moments, seen, overview, told), key=lambda each: each.at)
    ends = (min(times), max(times)) if times else (None, None)
    return Picture(id, head, reading, requests, moments, overview, marks, *ends)


def _matters(event: Event) -> bool:
    """Whether *event* is a mark on the timeline."""
    if event.agent:
        return False
    if isinstance(event, Message):
        return event.human and bool(event.text.strip())
    return isinstance(event, ToolResult) and event.error and HELD in event.text[:400]


def _told(place: Place, folder: str, session: str) -> list[tuple[float, str, str]]:
    """Return what brim told and refused in *session* of the project in *folder*: when, what, and
    the rules' names."""
    found: list[tuple[float, str, str]] = []
    where = folder if os.path.isabs(folder) and os.path.isdir(folder) else None
    with suppress(BrimError), place.workspace(where).open(create=False) as scopes:
        events = [
            each for store in scopes.stores.values() for each in store.events(session=session)
        ]
        ids = {id for each in events for id in (*each.detail.get("ids", ()), each.behavior) if id}
        names = {id: rule.name for id, rule in scopes.get_many(ids).items()}
        told: dict[float, list[str]] = {}
        for event in events:
            if event.kind == "injected":
                told.setdefault(event.time, []).extend(
                    names.get(id, id) for id in event.detail.get("ids", ())
                )
            elif event.kind in ("held", "blocked"):
                found.append(
                    (event.time, "a call was refused", names.get(event.behavior or "", ""))
                )
        found += [
            (moment, f"{counted(len(rules), 'rule')} told", ", ".join(rules))
            for moment, rules in told.items()
        ]
    return found


def _marks(
    moments: Sequence[Moment],
    seen: Iterable[Event],
    overview: Overview,
    told: Iterable[tuple[float, str, str]],
) -> Iterator[SessionMark]:
    """Yield what happened, each at its place."""
    times = [each.time or 0.0 for each in moments]

    def place(moment: float | None) -> float:
        return min(len(times), bisect_left(times, moment or 0.0) + 1) if times else 1

    for event in seen:
        if isinstance(event, Message):
            yield SessionMark(
                "prompt",
                place(event.time),
                event.time,
                "prompt",
                masked_line(event.text, LONGEST_PROMPT),
            )
        else:
            yield SessionMark("limit", place(event.time), event.time, "held at a limit")
    for each in overview.lost.items:
        if not each.sub_agent:
            size = (
                f" {rounded(each.before)} → {rounded(each.after)}"
                if each.before and each.after
                else ""
            )
            yield SessionMark("compaction", place(each.time) - 0.5, each.time, f"compaction{size}")
    numbers = {each.id: each.number for each in moments}
    for broken in overview.breaks:
        if not broken.agent:
            cost = "" if not broken.cost else f" −{dollars(broken.cost)}"
            at = numbers.get(broken.request.partition(":")[0], place(broken.time))
            yield SessionMark(
                "break", at, broken.time, f"cache break{cost}, {CAUSES[broken.cause]}"
            )
    for moment, what, rules in told:
        yield SessionMark("rules", place(moment), moment, what, rules)


# The page -----------------------------------------------------------------------------------------

LEAST_PAUSE = 1.0
"""Seconds between two drawings of a session that grows."""
MOST_PAUSE = 30.0


def picture(place: Place, id: str) -> Picture:
    """Return the session *id*, read now or kept from before if nothing was written since."""
    file = place.file(id)
    return place.work.get(
        ("session", file.path, file.stamp),
        "this session",
        3 * file.stamp.size,  # for its state, its requests and its findings
        lambda advance: read_picture(place, file, id, advance),
    )


def _shown(found: Picture, names: Names, number: int | None = None) -> dict[str, Any]:
    """Return what the templates of a session need."""
    report = found.at(number)
    return {
        "picture": found,
        "names": names,
        "named": lambda label: named(label, names, found.head.folder),
        "short": lambda what: what.removeprefix(f"{found.head.folder}/"),
        "report": report,
        "largest": found.largest(report),
        "came": leaves(report.change.came)[:5] if report.change else [],
        "kinds": KINDS,
        "advice": ADVICE,
        "lost_kinds": LOST_KINDS,
    }


def session(place: Place, request: Request) -> Response:
    """Show the page."""
    id = request.path_params["id"]
    found = picture(place, id)
    live = time.time() - place.file(id).stamp.modified / 1e9 < AWAKE
    chart = json.dumps(found.chart(Names()))
    return page("session.html", place, here="", live=live, chart=chart, **_shown(found, Names()))


def data(place: Place, request: Request) -> Response:
    """Return the chart, and the parts of the page that change with it."""
    found = picture(place, request.path_params["id"])
    shown = _shown(found, Names())
    parts = {
        name: render(f"{name}.html", place, **shown) for name in ("heading", "dropped", "advice")
    }
    return JSONResponse({"chart": found.chart(Names()), "parts": parts})


def at(place: Place, request: Request) -> Response:
    """Return what fills the window at one request, as a part of the page."""
    given = request.path_params["number"]
    found = picture(place, request.path_params["id"])
    if not 1 <= given <= len(found.requests):
        raise InputError(f"This session has {len(found.requests):,} requests.")
    return page("request.html", place, **_shown(found, Names(), given))


async def events(place: Place, request: Request) -> Response:
    """Say whenever the session has grown."""
    file = place.file(request.path_params["id"])
    followed = place.live.follow(file.path, place.workspace().config, place.environ)

    async def stream() -> AsyncIterator[str]:
        told, drawn = followed.changes, time.monotonic()
        while not place.live.ending:
            took = max(LEAST_PAUSE, min(MOST_PAUSE, 3 * place.work.longest("session", file.path)))
            if followed.changes != told and time.monotonic() - drawn >= took:
                told, drawn = followed.changes, time.monotonic()
                yield "data: grew\n\n"
            yield ": here\n\n"
            await anyio.sleep(INTERVAL)

    return StreamingResponse(stream(), media_type="text/event-stream")


def export(place: Place, request: Request) -> Response:
    """Return the report of the session as one page to share, without names of files, commands and
    projects."""
    found = picture(place, request.path_params["id"])
    names = Names(hidden=True)
    chart = Chart(
        html=render(
            "drawing.html", place, picture=found, names=names, chart=json.dumps(found.chart(names))
        ),
        script=_static("uplot.js", "chart.js"),
        style=_static("uplot.css", "brim.css"),
    )
    text = shared_page(found.overview, full=False, now=time.time(), chart=chart)
    return HTMLResponse(
        text, headers={"Content-Disposition": 'attachment; filename="brim-session.html"'}
    )


def _static(*names: str) -> str:
    return "\n".join(
        (files("brim.ui") / "static" / name).read_text(encoding="utf-8") for name in names
    )
