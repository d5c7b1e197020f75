"""The pages on this machine: which address is which page, and what becomes of errors."""

from __future__ import annotations

import re
import sys
import traceback
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from functools import partial
from importlib import import_module
from importlib.resources import files
from threading import Thread
from typing import Any
from urllib.parse import quote

from anyio.to_thread import current_default_thread_limiter
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from brim import loopback
from brim.errors import BrimError, InputError, StoreError
from brim.loopback import HOST, App, RequestLimits
from brim.ui.background import StillReading
from brim.ui.gate import Gate, read_form
from brim.ui.place import Place, page, templates

LIMITS = RequestLimits(body_size=1 << 20)
THREADS = 6

PAGES = {
    "/": "now.now",
    "/session/{id}": "session.session",
    "/session/{id}/data": "session.data",
    "/session/{id}/request/{number:int}": "session.at",
    "/session/{id}/export": "session.export",
    "/rules": "rules.rules",
    "/rules/plan": "rules.plan",
    "/rules/{id:path}": "rules.rule",
    "/money": "money.money",
}
"""Which function shows which page.

Its module is imported when the page is first shown, or when there is time.
"""

STREAMS = {"/events": "now.events", "/session/{id}/events": "session.events"}

ACTIONS = {
    "/pause": ("now.pause", "/"),
    "/limit": ("money.set_limit", "/money"),
    "/learn": ("rules.learn", "/rules"),
    "/rule": ("rules.change_rule", "/rules"),
    "/review": ("rules.review", "/rules"),
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

    routes = [Route("/static/{name}", static, methods=["GET"])]
    for path, name in STREAMS.items():
        routes.append(Route(path, _stream(place, name), methods=["GET"]))
    for path, name in PAGES.items():
        routes.append(Route(path, _page(place, name), methods=["GET"]))
    for path, (name, next_page) in ACTIONS.items():
        routes.append(Route(path, _action(place, name, next_page), methods=["POST"]))
    problems: Any = dict.fromkeys((StillReading, BrimError, Exception), partial(_problem, place))
    return Gate(
        Starlette(routes=routes, lifespan=_few_threads, exception_handlers=problems),
        port,
        place.keys,
    )


def _page(place: Place, name: str) -> Any:
    """Return an endpoint that shows a page."""

    def endpoint(request: Request) -> Any:
        return _call(name, place, request)

    return endpoint


def _stream(place: Place, name: str) -> Any:
    """Return an endpoint that sends events."""

    async def endpoint(request: Request) -> Any:
        return await _call(name, place, request)

    return endpoint


def _action(place: Place, name: str, next_page: str) -> Any:
    """Return an endpoint that does what a form says, and then shows *next_page*, or the page that
    the form names."""

    async def endpoint(request: Request) -> Response:
        form = await read_form(request, place.keys)
        back = form.pop("back", "")
        message = await run_in_threadpool(_call, name, place, form)
        target = next_page
        if re.fullmatch(r"/[\w/.-]*", back) and back[:2] != "//":
            target = back
        return RedirectResponse(f"{target}?said={quote(message)}", 303)

    return endpoint


@asynccontextmanager
async def _few_threads(_: Starlette) -> AsyncIterator[None]:
    """Let pages share a few threads: each takes memory, and there is one person to read them."""
    current_default_thread_limiter().total_tokens = THREADS
    yield


def _call(name: str, place: Place, argument: Any) -> Any:
    """Call a function of a page: with its request, or with the fields of a form."""
    module, _, function = name.partition(".")
    return getattr(import_module(f"brim.ui.{module}"), function)(place, argument)


def _prepare(place: Place) -> None:
    """Do what the first page would wait for: while the browser starts, there is time for it."""
    import_module("brim.ui.now")
    for name in ("now", "live", "recent", "standing", "today"):
        templates().get_template(f"{name}.html")
    with suppress(BrimError, OSError):
        place.files()


def _problem(place: Place, request: Request, error: Exception) -> Response:
    """Return a page that says what is wrong."""
    if isinstance(error, StillReading):
        return page("reading.html", place, 202, here="", still=error)
    problem = str(error)
    code = 400
    if not isinstance(error, BrimError):
        # Our own mistake: the page says so, and the terminal has the rest.
        traceback.print_exception(error, file=sys.stderr)
        problem = "brim made a mistake; its terminal says more."
        code = 500
    elif isinstance(error, StoreError):
        code = 503
    elif "session" in request.path_params:
        code = 404
    return page("problem_page.html", place, code, here="", problem=problem)


async def static(request: Request) -> Response:
    """Return a file of the pages."""
    name = request.path_params["name"]
    if name not in STATIC:
        return Response("no such file\n", 404, media_type="text/plain")
    content = files("brim.ui").joinpath("static", name).read_bytes()
    return Response(content, media_type=STATIC[name])


def serve_ui(
    environ: Mapping[str, str],
    cwd: str | None,
    port: int,
    *,
    any_port: bool,
    ready: Callable[[str, str], object],
    store: str = "",
) -> None:
    """Serve the pages until the process is told to end.

    *ready* gets two links: one that works as long as the server runs, and one that works once, for
    starting a browser. With *any_port*, another free port is taken if *port* is in use. *store* is
    the address of a team's ledger, for the page Money.
    """
    place = Place(environ, cwd, store)
    try:
        bound = loopback.listen(port)
    except InputError:
        if not any_port:
            raise
        bound = loopback.listen(0)
    with bound:
        port = bound.getsockname()[1]
        link = f"http://{HOST}:{port}/?token="
        Thread(target=_prepare, args=(place,), daemon=True, name="brim prepares").start()
        ready(link + place.keys.token, link + next(iter(place.keys.once)))

        loopback.serve(build_app(place, port), bound, LIMITS, ending=place.live.end)
