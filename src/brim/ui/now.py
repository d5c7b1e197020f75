"""The page Now: live sessions, what needs attention, and today's money."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import date

import anyio
from starlette.background import BackgroundTask
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from brim.errors import BrimError
from brim.install import pausing
from brim.install.status import home_status
from brim.sessions.report.usage import UsageReport
from brim.sessions.window.live import Reading
from brim.sessions.window.windows import AutoCompact
from brim.ui.background import AWAKE, INTERVAL, MOST, PATIENCE, Followed, StillReading
from brim.ui.money import limit_bars, read_usage
from brim.ui.place import Head, Place, about, page, render

RECENT = 12
"""Sessions that are listed though they rest."""
LOOK = 2.0
"""Seconds between two looks at what is not a session's own file."""


@dataclass(frozen=True)
class Card:
    """One session on the page."""

    id: str
    head: Head
    modified: float
    followed: Followed | None = None

    @property
    def reading(self) -> Reading | None:
        """Its state; None while it is read, and if it rests."""
        if self.followed is None:
            return None
        return self.followed.reading

    @property
    def headroom(self) -> str:
        """How far it is to the point where the agent compacts on its own."""
        reading = self.reading
        if not reading or not reading["auto_compact"]:
            return ""
        if not reading["used_tokens"]:
            return ""
        point = AutoCompact(**reading["auto_compact"])
        return point.told(reading["used_tokens"] + reading["answer_tokens"])[0]

    @property
    def level(self) -> str:
        """How full it is: ``ok``, ``warn`` or ``compact``."""
        reading = self.reading
        if not reading or reading["utilization"] < reading["warn_threshold"]:
            return "ok"
        if reading["utilization"] >= reading["compact_threshold"]:
            return "compact"
        return "warn"


def cards(place: Place, *, follow: bool = True) -> tuple[list[Card], list[Card]]:
    """Return the live sessions, and the last ones that rest.

    Without *follow*, only what is known is used.
    """
    live: list[Card] = []
    resting: list[Card] = []
    config = place.workspace().config
    for file in place.newest(MOST + RECENT):
        modified = file.stamp.modified / 1e9
        is_live = time.time() - modified < AWAKE and len(live) < MOST
        if not is_live:
            resting.append(Card(file.session, about(file), modified))
            continue
        followed = place.live.get(file.path)
        if follow:
            followed = place.live.follow(file.path, config, place.environ)
        live.append(Card(file.session, about(file), modified, followed))
    return live, resting[:RECENT]


def today(place: Place, patience: float | None = PATIENCE) -> UsageReport | None:
    """Return what was used today, by project; None if that is still being read, or with a
    *patience* of None wasn't."""
    midnight = time.mktime(date.today().timetuple())
    files = place.files(midnight)

    def read(_: object) -> UsageReport:
        return read_usage(place, files, "project", date.today(), lambda *_: None)

    key = ("today", *files)
    if patience is None and not place.work.knows(key):
        return None
    size = sum(file.unread for file in files)
    try:
        return place.work.get(key, "today's sessions", size, read, patience or 0.0)
    except StillReading:
        return None


def _standing(place: Place) -> str:
    """Return the part that says what needs attention, and which limits have stopped agents."""
    workspace = place.workspace()
    workspace.goes_on = True
    bars = [limit for _, limits, _ in limit_bars(workspace) for limit in limits]
    waiting = [limit for limit in bars if limit.go_on]
    return render("standing.html", place, status=home_status(workspace), waiting=waiting)


def fragments(
    place: Place, live: list[Card], resting: list[Card], *, patience: float | None = 0.02
) -> dict[str, str]:
    """Return the parts of the page that change, each by its id. *patience* is as in ``today``."""
    return {
        "problem": "",
        "live": render("live.html", place, live=live),
        "recent": render("recent.html", place, resting=resting),
        "standing": _standing(place),
        "today": render("today.html", place, today=today(place, patience)),
    }


def now(place: Place, request: Request) -> Response:
    """Show the page."""
    message = request.query_params.get("said", "")
    live, resting = cards(place, follow=False)
    parts = fragments(place, live, resting, patience=None)
    answer = page("now.html", place, here="now", said=message, parts=parts)
    # What takes longer begins when the page is there: the stream of events brings it.
    answer.background = BackgroundTask(lambda: fragments(place, *cards(place)))
    return answer


async def events(place: Place, _: Request) -> Response:
    """Send the parts of the page whenever they change."""

    async def stream() -> AsyncIterator[str]:
        sent: dict[str, str] = {}
        live: list[Card] = []
        looked = float("-inf")
        while not place.live.ending:
            parts = {"live": render("live.html", place, live=live)}
            if time.monotonic() - looked >= LOOK:
                try:
                    live, resting = await run_in_threadpool(cards, place)
                    parts = await run_in_threadpool(fragments, place, live, resting)
                except BrimError as error:  # a store that is locked for a moment
                    parts = {"problem": render("problem.html", place, problem=str(error))}
                looked = time.monotonic()
            for id, html in parts.items():
                if sent.get(id) != html:
                    sent[id] = html
                    yield f"data: {json.dumps({'id': id, 'html': html})}\n\n"
            yield ": here\n\n"
            await anyio.sleep(INTERVAL)

    return StreamingResponse(stream(), media_type="text/event-stream")


def pause(place: Place, form: dict[str, str]) -> str:
    """Pause the hooks for as long as the form says, or end the pause."""
    length = form.get("for", "")
    if length == "resume":
        pausing.resume(place.environ)
        return "Hooks answer again."
    if not length:
        pausing.pause(place.environ, seconds=None)
        return "Hooks are paused until you resume them."
    pausing.pause(place.environ, seconds=pausing.duration(length))
    return f"Hooks are paused for {length}."
