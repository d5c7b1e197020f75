"""The page of one session: its chart, what compactions dropped, what fills the window, and the copy to share."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import AsyncIterator
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any

import anyio
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse

from brim.errors import InputError
from brim.report.overview import LOST_KINDS, Names
from brim.report.waste import ADVICE, KINDS
from brim.ui.live import AWAKE, INTERVAL
from brim.ui.picture import Leaf, Picture, leaves, named, read_picture
from brim.ui.place import Place, page, render

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
        "came": _changed(report.change.came if report.change else ()),
        "kinds": KINDS,
        "advice": ADVICE,
        "lost_kinds": LOST_KINDS,
    }


def _changed(parts: Any) -> list[Leaf]:
    return sorted(leaves(parts), key=lambda each: (-each.tokens, each.label))[:5]


def session(place: Place, request: Request) -> Response:
    """Show the page."""
    id = request.path_params["id"]
    found = picture(place, id)
    names = Names()
    live = time.time() - place.file(id).stamp.modified / 1e9 < AWAKE
    chart = json.dumps(found.chart(names))
    return page("session.html", place, here="", live=live, chart=chart, **_shown(found, names))


def data(place: Place, request: Request) -> Response:
    """Return the chart, and the parts of the page that change with it."""
    found = picture(place, request.path_params["id"])
    shown = _shown(found, Names())
    parts = {name: render(f"{name}.html", place, **shown) for name in ("heading", "dropped", "advice")}
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
    config = place.workspace().config
    followed = place.live.follow(file.path, config, place.environ)

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


@cache
def _static(name: str) -> str:
    return files("brim.ui").joinpath("static", name).read_text(encoding="utf-8")


def export(place: Place, request: Request) -> Response:
    """Return the session as one page to share: without names of files, commands, rules and projects, without words."""
    found = picture(place, request.path_params["id"])
    names = Names(hidden=True)
    script = "\n".join(_static(name) for name in ("uplot.js", "chart.js"))
    digest = base64.b64encode(sha256(script.encode()).digest()).decode()
    style = "\n".join(_static(name) for name in ("uplot.css", "brim.css"))
    text = render(
        "export.html",
        place,
        script=script,
        style=style,
        policy=f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'",
        chart=json.dumps(found.chart(names)),
        **_shown(found, names),
    )
    return HTMLResponse(text, headers={"Content-Disposition": 'attachment; filename="brim-session.html"'})
