"""The pages on this machine: which address is which page, and what becomes of errors."""

from __future__ import annotations

import re
import sys
import traceback
from collections.abc import Awaitable, Callable, Mapping
from importlib.resources import files
from typing import Any
from urllib.parse import quote

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from brim import loopback
from brim.errors import BrimError, InputError, StoreError
from brim.loopback import HOST, App, Limits
from brim.ui import money, now, rules, session
from brim.ui.gate import Gate, read_form
from brim.ui.place import Place, page
from brim.ui.work import StillReading

LIMITS = Limits(body_size=1 << 20)

Show = Callable[[Place, Request], Response]
Do = Callable[[Place, dict[str, str]], str]

PAGES: Mapping[str, Show] = {
    "/": now.now,
    "/session/{id}": session.session,
    "/session/{id}/data": session.data,
    "/session/{id}/request/{number:int}": session.at,
    "/session/{id}/export": session.export,
    "/rules": rules.rules,
    "/rules/plan": rules.plan,
    "/rules/{id}": rules.rule,
    "/money": money.money,
}
STREAMS: Mapping[str, Callable[[Place, Request], Awaitable[Response]]] = {
    "/events": now.events,
    "/session/{id}/events": session.events,
}
ACTIONS: Mapping[str, tuple[Do, str]] = {
    "/pause": (now.pause, "/"),
    "/limit": (money.set_limit, "/money"),
    "/learn": (rules.learn, "/rules"),
    "/rule": (rules.change_rule, "/rules"),
    "/review": (rules.review, "/rules"),
}
"""What forms do, and the page that is shown afterwards."""

STATIC = {
    "brim.css": "text/css",
    "brim.js": "text/javascript",
    "chart.js": "text/javascript",
    "uplot.css": "text/css",
    "uplot.js": "text/javascript",
    "icon.svg": "image/svg+xml",
}


def build_app(place: Place, port: int) -> App:
    """Return the application that is served at *port*."""

    def shown(show: Show) -> Any:
        async def endpoint(request: Request) -> Response:
            return await _answered(place, request, lambda: run_in_threadpool(show, place, request))

        return endpoint

    def streamed(stream: Callable[[Place, Request], Awaitable[Response]]) -> Any:
        async def endpoint(request: Request) -> Response:
            return await _answered(place, request, lambda: stream(place, request))

        return endpoint

    def done(do: Do, then: str) -> Any:
        async def endpoint(request: Request) -> Response:
            async def answer() -> Response:
                form = await read_form(request, place.keys)
                back = form.pop("back", "")
                said = await run_in_threadpool(do, place, form)
                target = back if re.fullmatch(r"/[\w/.-]*", back) and back[:2] != "//" else then
                return RedirectResponse(f"{target}?said={quote(said)}", 303)

            return await _answered(place, request, answer)

        return endpoint

    routes = [Route(path, shown(show), methods=["GET"]) for path, show in PAGES.items()]
    routes[:0] = [Route(path, streamed(stream), methods=["GET"]) for path, stream in STREAMS.items()]
    routes += [Route(path, done(*action), methods=["POST"]) for path, action in ACTIONS.items()]
    routes.append(Route("/static/{name}", static, methods=["GET"]))
    return Gate(Starlette(routes=routes), port, place.keys)


async def _answered(place: Place, request: Request, answer: Callable[[], Awaitable[Response]]) -> Response:
    """Return the answer, or a page that says what is wrong."""
    try:
        return await answer()
    except StillReading as still:
        return page("reading.html", place, here="", still=still)
    except BrimError as error:
        code = 503 if isinstance(error, StoreError) else 404 if "session" in request.path_params else 400
        return page("problem_page.html", place, code, here="", problem=str(error))
    except Exception:  # our own mistake: the page says so, and the terminal has the rest
        traceback.print_exc(file=sys.stderr)
        return page("problem_page.html", place, 500, here="", problem="brim made a mistake; its terminal says more.")


async def static(request: Request) -> Response:
    """Return a file of the pages."""
    name = request.path_params["name"]
    if name not in STATIC:
        return Response("no such file\n", 404, media_type="text/plain")
    return Response(files("brim.ui").joinpath("static", name).read_bytes(), media_type=STATIC[name])


def serve_ui(
    environ: Mapping[str, str], cwd: str | None, port: int, *, any_port: bool, ready: Callable[[str, str], object]
) -> None:
    """Serve the pages until the process is told to end.

    *ready* gets two links: one that works as long as the server runs, and one that works once, for starting a browser.
    With *any_port*, another free port is taken if *port* is in use.
    """
    place = Place(environ, cwd)
    try:
        bound = loopback.listen(port)
    except InputError:
        if not any_port:
            raise
        bound = loopback.listen(0)
    with bound:
        port = bound.getsockname()[1]
        link = f"http://{HOST}:{port}/?token="
        ready(link + place.keys.token, link + next(iter(place.keys.once)))

        def ending() -> None:
            place.live.ending = True

        loopback.serve(build_app(place, port), bound, LIMITS, ending=ending)
