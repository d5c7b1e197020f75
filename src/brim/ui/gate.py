"""Who may see the pages: the browser that was opened with the token, on this machine, from our own
pages.

A cookie is sent to every port of a host, and a page of another program on this machine counts as
the same site. So ``Host``, ``Origin`` and ``Sec-Fetch-Site`` are looked at as well, and every form
carries a token of its own.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from hmac import compare_digest
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from brim.errors import InputError
from brim.loopback import HOST, NAMES, App

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
"""What a page may load: nothing that isn't ours, and nothing inline."""

HEADERS = {
    "Content-Security-Policy": POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "same-origin",  # with no-referrer, browsers hide the Origin of our own forms
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cache-Control": "no-store",
}

LARGEST_FORM = 1 << 20
"""Bytes of a form."""

_ENTER = (
    '<!doctype html><html lang="en"><meta charset="utf-8"><title>brim</title><link rel="icon" href="data:,">'
    '<meta http-equiv="refresh" content="0;url=/"><p><a href="/">Open brim</a></p></html>'
)
_STRANGER = (
    '<!doctype html><html lang="en"><meta charset="utf-8"><title>brim</title><link rel="icon" href="data:,">'
    "<p>This page needs the link that <code>brim ui</code> printed when it started. If you have lost it, press Ctrl-C "
    "there and run <code>brim ui</code> again.</p></html>"
)


def _secret() -> str:
    return secrets.token_urlsafe(32)


@dataclass(frozen=True)
class Keys:
    """The secrets of one start."""

    token: str = field(default_factory=_secret)
    """In the link that is printed: works as long as the server runs."""
    once: set[str] = field(default_factory=lambda: {_secret()})
    """In the link that a browser is started with, which other users of the machine may see: works
    once."""
    cookie: str = field(default_factory=_secret)
    form: str = field(default_factory=_secret)
    """In every form."""

    def admit(self, given: str) -> bool:
        """Whether *given* is a token; one that works once is used up."""
        if compare_digest(given.encode(), self.token.encode()):
            return True
        found = next(
            (each for each in self.once if compare_digest(given.encode(), each.encode())), None
        )
        self.once.discard(found or "")
        return found is not None


class Gate:
    """Stands before *app*, which is served at *port*."""

    def __init__(self, app: App, port: int, keys: Keys) -> None:
        self._app, self._keys = app, keys
        self._hosts = [f"{name}:{port}" for name in NAMES]
        self._origins = [f"http://{host}" for host in self._hosts]
        self._home = f"http://{HOST}:{port}/"
        self._cookie = f"brim-{port}"

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer who may not come in.

        Let the others through, with the headers that every answer has.
        """
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def guarded(message: Any) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        answer = self._answer(Request(scope))
        await (self._app if answer is None else answer)(scope, receive, guarded)

    def _answer(self, request: Request) -> Response | None:
        """Return the answer to a request that doesn't reach the pages; None if it does."""
        headers = request.headers
        if headers.getlist("host") not in [[host] for host in self._hosts]:
            return _refused(f"brim is at {self._home}", 421)
        origin = headers.get("origin")
        if origin not in (None, *self._origins) or (
            origin is None and request.method not in ("GET", "HEAD")
        ):
            return _refused("not from a page of brim", 403)
        if request.url.path == "/" and "token" in request.query_params and request.method == "GET":
            if not self._keys.admit(request.query_params["token"]):
                return HTMLResponse(_STRANGER, 403)
            answer = HTMLResponse(_ENTER)
            answer.set_cookie(
                self._cookie, self._keys.cookie, path="/", httponly=True, samesite="strict"
            )
            return answer
        if headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
            return _refused("not from a page of brim", 403)
        return None if self._knows(headers) else HTMLResponse(_STRANGER, 401)

    def _knows(self, headers: Headers) -> bool:
        try:
            given = SimpleCookie(headers.get("cookie", "")).get(self._cookie)
        except CookieError:
            return False
        return given is not None and compare_digest(
            given.value.encode(), self._keys.cookie.encode()
        )


def _refused(text: str, code: int) -> Response:
    return Response(f"{text}\n", code, media_type="text/plain")


async def read_form(request: Request, keys: Keys) -> dict[str, str]:
    """Return the fields of a form of ours; ``InputError`` if it isn't one."""
    if (
        request.headers.get("content-type", "").partition(";")[0].strip()
        != "application/x-www-form-urlencoded"
    ):
        raise InputError("this isn't a form of brim's")
    body = b""
    async for piece in request.stream():
        body += piece
        if len(body) > LARGEST_FORM:
            raise InputError(f"the form is larger than {LARGEST_FORM:,} bytes: nothing was changed")
    try:
        fields = parse_qs(
            body.decode("ascii"), keep_blank_values=True, strict_parsing=bool(body), errors="strict"
        )
    except ValueError:
        raise InputError("the form can't be read: nothing was changed") from None
    form = {name: values[-1].replace("\r\n", "\n") for name, values in fields.items()}
    if not compare_digest(form.pop("form_token", "").encode(), keys.form.encode()):
        raise InputError(
            "this form is of an earlier start of brim ui: nothing was changed; load the page again"
        )
    return form
