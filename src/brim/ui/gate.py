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
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
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

_HEAD = (
    '<!doctype html><html lang="en"><meta charset="utf-8"><title>brim</title>'
    '<link rel="icon" href="data:,">'
)
_ENTER = (
    f'{_HEAD}<meta http-equiv="refresh" content="0;url=/"><p><a href="/">Open brim</a></p></html>'
)
_STRANGER = (
    f"{_HEAD}<p>This page needs the link that <code>brim ui</code> printed when it started. "
    "If you have lost it, press Ctrl-C there and run <code>brim ui</code> again.</p></html>"
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

    def admit(self, text: str) -> bool:
        """Whether *text* is a token; one that works once is used up."""
        if _is_same(text, self.token):
            return True
        for token in self.once:
            if _is_same(text, token):
                self.once.remove(token)
                return True
        return False


def _is_same(text: str, secret: str) -> bool:
    """Whether *text* is the *secret*, without telling by the time how much of it is right."""
    return compare_digest(text.encode(), secret.encode())


class Gate:
    """Stands before *app*, which is served at *port*."""

    def __init__(self, app: App, port: int, keys: Keys) -> None:
        self._app = app
        self._keys = keys
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

        answer: App = self._answer(Request(scope)) or self._app
        await answer(scope, receive, guarded)

    def _answer(self, request: Request) -> Response | None:
        """Return the answer to a request that doesn't reach the pages; None if it does."""
        headers = request.headers
        if headers.getlist("host") not in [[host] for host in self._hosts]:
            return _refused(f"brim is at {self._home}", 421)
        if not self._may_come_from(headers.get("origin"), request.method):
            return _refused("not from a page of brim", 403)
        if request.url.path == "/" and "token" in request.query_params and request.method == "GET":
            return self._enter(request.query_params["token"])
        if headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
            return _refused("not from a page of brim", 403)
        if not self._has_cookie(headers):
            return HTMLResponse(_STRANGER, 401)
        return None

    def _may_come_from(self, origin: str | None, method: str) -> bool:
        """Whether a request with this ``Origin`` is from a page of brim, or changes nothing."""
        if origin is None:
            return method in ("GET", "HEAD")
        return origin in self._origins

    def _enter(self, token: str) -> Response:
        """Answer the link with the *token*: the browser gets the cookie."""
        if not self._keys.admit(token):
            return HTMLResponse(_STRANGER, 403)
        answer = HTMLResponse(_ENTER)
        answer.set_cookie(
            self._cookie, self._keys.cookie, path="/", httponly=True, samesite="strict"
        )
        return answer

    def _has_cookie(self, headers: Headers) -> bool:
        try:
            cookie = SimpleCookie(headers.get("cookie", "")).get(self._cookie)
        except CookieError:
            return False
        return cookie is not None and _is_same(cookie.value, self._keys.cookie)


def _refused(text: str, code: int) -> Response:
    return Response(f"{text}\n", code, media_type="text/plain")


async def read_form(request: Request, keys: Keys) -> dict[str, str]:
    """Return the fields of a form of ours; ``InputError`` if it isn't one."""
    content_type = request.headers.get("content-type", "").partition(";")[0].strip()
    if content_type != "application/x-www-form-urlencoded":
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
