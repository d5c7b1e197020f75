"""The page of one session: its chart, what compactions dropped, what fills the window, and the copy
to share.

``Picture`` is the session as it is drawn. Names of files, commands and projects go through
``Names``, so that the same page can be shared without them.
"""

from __future__ import annotations

import json
import time
from bisect import bisect_left
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from importlib.resources import files
from typing import Any

import anyio
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse

from brim.agents.call import Event
from brim.agents.events import Message, ToolResult
from brim.errors import InputError
from brim.figures import counted, dollars, rounded
from brim.memory.lost import CompactionReport
from brim.memory.quotes import masked_line
from brim.money.words import STOPPED_BY
from brim.rules.state import REFUSED, STOPPED, Intervention, RulesState
from brim.run.watch import read_session
from brim.sessions.composition.composed_request import ComposedRequest, RequestPart
from brim.sessions.composition.context import (
    GROUPS,
    ContextReport,
    Moment,
    SessionComposition,
    context_at,
    timeline,
)
from brim.sessions.composition.pieces import MEMORY, RESULTS
from brim.sessions.report.cache import CAUSES, CacheBreak
from brim.sessions.report.overview import LOST_KINDS, Names, Overview, WasteSum, sessions_report
from brim.sessions.report.page import Chart
from brim.sessions.report.page import page as shared_page
from brim.sessions.report.waste import ADVICE, KINDS, Waste
from brim.sessions.session_files import SessionFile, named_files
from brim.sessions.window.live import Reading
from brim.ui.background import AWAKE, INTERVAL
from brim.ui.place import Head, Place, about, clock_time, page, render

SHOWN = 12
"""Parts of a request that are listed."""
LARGEST_NEW = 5
"""New parts of a request that are listed."""
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
        if minutes >= 60:
            return f"{minutes // 60}h{minutes % 60:02}"
        return f"{max(1, minutes)} min"

    @staticmethod
    def came_back(compaction: CompactionReport) -> list[tuple[int, str]]:
        """Return what became of the things that a compaction dropped: how many, and in words."""
        backs = Counter(item.back for item in compaction.items)
        again = backs["read"] + backs["changed"] + backs["run"]
        never = sum(compaction.lost.values()) - sum(compaction.came_back.values())
        again_text = f"found again by the agent {again:,}"
        if compaction.tokens:
            again_text += f" ({rounded(compaction.tokens)} tokens)"
        groups = [
            (backs["hook"], f"brim or another hook {backs['hook']:,}"),
            (backs["you"], f"you {backs['you']:,}"),
            (again, again_text),
            (never, f"never {never:,}"),
        ]
        return [(count, text) for count, text in groups if count]

    @staticmethod
    def wasted(waste: WasteSum) -> list[tuple[str, int]]:
        """Return what was sent for nothing, each thing once, the largest first."""
        sums: Counter[str] = Counter()
        for item in waste.items:
            sums[item.what] += item.tokens * item.requests
        return sums.most_common()

    def at(self, number: int | None = None) -> ContextReport:
        """Return what fills the window at request *number*, or at the last one, and what changed
        before it."""
        last = number or len(self.requests) or None
        before = None
        if last and last > 1:
            before = last - 1
        return context_at(self.reading, self.requests, last, before)

    def largest(self, report: ContextReport) -> list[Leaf]:
        """Return the largest parts of the request in *report*, with what is known about each."""
        largest = leaves(report.parts)[:SHOWN]
        return [replace(leaf, note=self._note(leaf.label)) for leaf in largest]

    def _note(self, label: tuple[str, ...]) -> str:
        """Return what is known of a part in all requests."""
        kind = label[0]
        name = label[-1]
        for waste in self.overview.waste:
            if waste.kind == "repeated" and kind == RESULTS:
                note = _repeated_note(waste, name)
            elif waste.kind == "memory" and kind == MEMORY:
                note = _memory_note(waste, name)
            else:
                note = ""
            if note:
                return note
        return ""

    def chart(self, names: Names) -> dict[str, Any]:
        """Return what is drawn, for JSON."""
        point = self.reading["auto_compact"] or {}
        columns: dict[str, list[Any]] = {
            "numbers": [],
            "clock": [],
            "billed": [],
            "cached": [],
            "causes": [],
        }
        for moment in self.moments:
            columns["numbers"].append(moment.number)
            columns["clock"].append(clock_time(moment.time))
            columns["billed"].append(moment.billed)
            columns["cached"].append(moment.cached)
            columns["causes"].append(self._cause(moment, names))
        return {
            **columns,
            "costs": self._costs(),
            "groups": self._groups(),
            "window": self.reading["context_window"],
            "compacts_at": point.get("at") or 0,
            "warns_at": round(self.reading["warn_threshold"] * self.reading["context_window"]),
            "marks": [_mark_dict(mark, names) for mark in self.marks],
        }

    def _groups(self) -> list[dict[str, Any]]:
        """Return the tokens of each group of parts at each request."""
        groups = []
        for name in GROUPS:
            tokens = [moment.parts[name] for moment in self.moments]
            groups.append({"name": name, "tokens": tokens})
        unexplained = [max(0, moment.rest) for moment in self.moments]
        groups.append({"name": "not explained", "tokens": unexplained})
        return groups

    def _costs(self) -> list[str | None]:
        """Return the cost of each request; None if it isn't known."""
        costs: list[str | None] = []
        for moment in self.moments:
            cost = self.overview.costs.get(moment.id)
            costs.append(None)
            if cost is not None:
                costs[-1] = dollars(cost)
        return costs

    def _cause(self, moment: Moment, names: Names) -> str:
        """Return what made a request so large."""
        if not moment.cause:
            return ""
        return f"{named(moment.cause, names, self.head.folder)}, {rounded(moment.cause_tokens)}"


def _own_items(waste: WasteSum, name: str) -> list[Waste]:
    """Return what *waste* has about the part *name*, without sub-agents."""
    return [item for item in waste.items if item.what == name and not item.agent]


def _repeated_note(waste: WasteSum, name: str) -> str:
    items = _own_items(waste, name)
    if not items:
        return ""
    tokens = rounded(sum(item.tokens for item in items))
    return f"read again unchanged {counted(len(items), 'time')}: {tokens} wasted"


def _memory_note(waste: WasteSum, name: str) -> str:
    items = _own_items(waste, name)
    if not items:
        return ""
    requests = max(item.requests for item in items)
    return f"in {counted(requests, 'request')}"


def _mark_dict(mark: SessionMark, names: Names) -> dict[str, Any]:
    text = mark.text
    if mark.detail and not names.hidden:
        text = f"{mark.text}: {mark.detail}"
    return {"kind": mark.kind, "at": mark.at, "text": text, "clock": clock_time(mark.time)}


def leaves(parts: Iterable[RequestPart], above: tuple[str, ...] = ()) -> list[Leaf]:
    """Return what *parts* are made of, down to what has no parts itself, the largest first."""
    all_leaves = []
    for part in parts:
        label = (*above, part.name)
        if part.parts:
            all_leaves += leaves(part.parts, label)
        elif part.tokens:
            all_leaves.append(Leaf(label, part.tokens, part.items, part.basis))
    return sorted(all_leaves, key=lambda leaf: (-leaf.tokens, leaf.label))


def named(label: Sequence[str], names: Names, folder: str = "") -> str:
    """Return what a part of a request is called.

    Without names if they are hidden; paths are as seen from *folder*.
    """
    if not label:
        return ""
    kind = label[0]
    path = list(label[1:])
    if folder:
        path = [part.removeprefix(f"{folder}/") for part in path]
    if not path:
        return kind
    if kind == RESULTS and len(path) > 1:
        return _named_result(path[0], path[-1], names)
    if kind == MEMORY:
        return names.of(path[-1], "file")
    if names.hidden:
        return kind
    return f"{kind}: {names.of(': '.join(path), kind)}"


def _named_result(tool: str, target: str, names: Names) -> str:
    tool_name = tool
    if tool.startswith("mcp: "):
        tool_name = names.of(tool, "tool")
    kind = "result"
    if tool in _SHELLS:
        kind = "command"
    elif "/" in target or "." in target:
        kind = "file"
    return f"{tool_name}: {names.of(target, kind)}"


def read_picture(
    place: Place, file: SessionFile, id: str, advance: Callable[[int], object]
) -> Picture:
    """Read the session in *file*; *advance* gets the size of each block that was read."""
    head = about(file)
    config = place.workspace().config
    seen: list[Event] = []
    composition = SessionComposition(file.path, index=place.cache)
    reading = read_session(
        file.path,
        config,
        place.environ,
        on_read=advance,
        on_events=lambda events: seen.extend(filter(_matters, events)),
        observer=composition,
    )
    requests = composition.requests(at=1)
    overview = sessions_report(
        named_files([file.path]),
        days=None,
        cache=place.cache,
        models=config.yours["models"],
        now=time.time(),
        on_read=lambda size, *_: advance(size),
    )
    moments = timeline(requests)
    held_calls = _interventions(place, reading["session"] or id)
    marks = sorted(_marks(moments, seen, overview, held_calls), key=lambda mark: mark.at)
    times = [moment.time for moment in moments if moment.time is not None]
    times += [event.time for event in seen if event.time is not None]
    return Picture(
        id,
        head,
        reading,
        requests,
        moments,
        overview,
        marks,
        min(times, default=None),
        max(times, default=None),
    )


def _matters(event: Event) -> bool:
    """Whether *event* is a mark on the timeline."""
    if event.agent:
        return False
    if isinstance(event, Message):
        return event.human and bool(event.text.strip())
    return isinstance(event, ToolResult) and event.error and STOPPED_BY in event.text[:400]


def _interventions(place: Place, session: str) -> list[Intervention]:
    """Return the calls in *session* that rules stopped or refused."""
    with closing(RulesState(place.workspace().home, now=time.time())) as state:
        return [call for call in state.in_session(session) if call.kind in (STOPPED, REFUSED)]


def _marks(
    moments: Sequence[Moment],
    seen: Iterable[Event],
    overview: Overview,
    held_calls: Iterable[Intervention],
) -> Iterator[SessionMark]:
    """Yield what happened, each at its place."""
    place = partial(_place_among, [moment.time or 0.0 for moment in moments])
    for event in seen:
        if isinstance(event, Message):
            text = masked_line(event.text, LONGEST_PROMPT)
            yield SessionMark("prompt", place(event.time), event.time, "prompt", text)
        else:
            yield SessionMark("limit", place(event.time), event.time, "held at a limit")
    for compaction in overview.lost.items:
        if not compaction.sub_agent:
            at = place(compaction.time) - 0.5
            yield SessionMark("compaction", at, compaction.time, _compaction_text(compaction))
    numbers = {moment.id: moment.number for moment in moments}
    for broken in overview.breaks:
        if not broken.agent:
            request = broken.request.partition(":")[0]
            at = numbers.get(request, place(broken.time))
            yield SessionMark("break", at, broken.time, _break_text(broken))
    for stop in held_calls:
        at = place(stop.time)
        yield SessionMark("rules", at, stop.time, f"a call was {stop.kind}", stop.rule)


def _place_among(times: Sequence[float], moment: float | None) -> float:
    """Return the number of the first request after *moment*, or of the last one."""
    if not times:
        return 1
    return min(len(times), bisect_left(times, moment or 0.0) + 1)


def _compaction_text(compaction: CompactionReport) -> str:
    if not compaction.before or not compaction.after:
        return "compaction"
    return f"compaction {rounded(compaction.before)} → {rounded(compaction.after)}"


def _break_text(broken: CacheBreak) -> str:
    cost = ""
    if broken.cost:
        cost = f" −{dollars(broken.cost)}"
    return f"cache break{cost}, {CAUSES[broken.cause]}"


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


def _values(picture: Picture, names: Names, number: int | None = None) -> dict[str, Any]:
    """Return what the templates of a session need."""
    report = picture.at(number)
    came = []
    if report.change:
        came = leaves(report.change.came)[:LARGEST_NEW]
    folder = picture.head.folder
    return {
        "picture": picture,
        "names": names,
        "named": lambda label: named(label, names, folder),
        "short": lambda path: path.removeprefix(f"{folder}/"),
        "report": report,
        "largest": picture.largest(report),
        "came": came,
        "kinds": KINDS,
        "advice": ADVICE,
        "lost_kinds": LOST_KINDS,
    }


def session(place: Place, request: Request) -> Response:
    """Show the page."""
    id = request.path_params["id"]
    drawn = picture(place, id)
    live = time.time() - place.file(id).stamp.modified / 1e9 < AWAKE
    chart = json.dumps(drawn.chart(Names()))
    values = _values(drawn, Names())
    return page("session.html", place, here="", live=live, chart=chart, **values)


def data(place: Place, request: Request) -> Response:
    """Return the chart, and the parts of the page that change with it."""
    drawn = picture(place, request.path_params["id"])
    values = _values(drawn, Names())
    parts = {}
    for name in ("heading", "dropped", "advice"):
        parts[name] = render(f"{name}.html", place, **values)
    return JSONResponse({"chart": drawn.chart(Names()), "parts": parts})


def at(place: Place, request: Request) -> Response:
    """Return what fills the window at one request, as a part of the page."""
    number = request.path_params["number"]
    drawn = picture(place, request.path_params["id"])
    if not 1 <= number <= len(drawn.requests):
        raise InputError(f"This session has {len(drawn.requests):,} requests.")
    return page("request.html", place, **_values(drawn, Names(), number))


async def events(place: Place, request: Request) -> Response:
    """Say whenever the session has grown."""
    file = place.file(request.path_params["id"])
    followed = place.live.follow(file.path, place.workspace().config, place.environ)

    async def stream() -> AsyncIterator[str]:
        changes = followed.changes
        drawn_at = time.monotonic()
        while not place.live.ending:
            took = max(LEAST_PAUSE, min(MOST_PAUSE, 3 * place.work.longest("session", file.path)))
            if followed.changes != changes and time.monotonic() - drawn_at >= took:
                changes = followed.changes
                drawn_at = time.monotonic()
                yield "data: grew\n\n"
            yield ": here\n\n"
            await anyio.sleep(INTERVAL)

    return StreamingResponse(stream(), media_type="text/event-stream")


def export(place: Place, request: Request) -> Response:
    """Return the report of the session as one page to share, without names of files, commands and
    projects."""
    drawn = picture(place, request.path_params["id"])
    names = Names(hidden=True)
    data = json.dumps(drawn.chart(names))
    chart = Chart(
        html=render("drawing.html", place, picture=drawn, names=names, chart=data),
        script=_static("uplot.js", "chart.js"),
        style=_static("uplot.css", "brim.css"),
    )
    text = shared_page(drawn.overview, full=False, now=time.time(), chart=chart)
    headers = {"Content-Disposition": 'attachment; filename="brim-session.html"'}
    return HTMLResponse(text, headers=headers)


def _static(*names: str) -> str:
    folder = files("brim.ui") / "static"
    return "\n".join((folder / name).read_text(encoding="utf-8") for name in names)
