"""The server over streamable HTTP: on this machine, for clients that bring the token, each within
``HttpLimits``."""

from __future__ import annotations

import hmac
import os
import stat
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from mcp.server import MCPServer
from mcp.server.transport_security import TransportSecuritySettings
from starlette.responses import PlainTextResponse

from brim import loopback
from brim.errors import StoreError
from brim.files import write_new
from brim.loopback import HOST, NAMES, App

PATH = "/mcp"


@dataclass(frozen=True)
class HttpLimits(loopback.RequestLimits):
    """What clients may take. Times are in seconds."""

    sessions: int = 100
    idle: float = 1_800.0
    """After so long without a request or an open stream, a session ends."""


LIMITS = HttpLimits()


def serve_http(
    server: MCPServer,
    token: str,
    port: int,
    *,
    ready: Callable[[str], object],
    limits: HttpLimits = LIMITS,
) -> None:
    """Serve until the process is told to end.

    *ready* gets the address; *port* 0 takes any that is free.
    """
    with loopback.listen(port) as bound:
        port = bound.getsockname()[1]
        ready(f"http://{HOST}:{port}{PATH}")
        loopback.serve(guarded_app(server, token, port, limits), bound, limits)


def guarded_app(server: MCPServer, token: str, port: int, limits: HttpLimits = LIMITS) -> App:
    """Return the application: ``Host`` and ``Origin`` must be this machine's, and the token the
    right one."""
    places = [f"{name}:{port}" for name in NAMES]
    security = TransportSecuritySettings(
        allowed_hosts=places, allowed_origins=[f"http://{place}" for place in places]
    )
    mcp_app = server.streamable_http_app(
        streamable_http_path=PATH,
        transport_security=security,
        max_request_body_size=limits.body_size,
        session_idle_timeout=limits.idle,
        max_sessions=limits.sessions,
    )
    return _with_token(mcp_app, token)


def _with_token(app: App, token: str) -> App:
    expected = f"Bearer {token}".encode()
    # The connection is closed, so that a body is never waited for.
    headers = {"www-authenticate": 'Bearer realm="brim"', "connection": "close"}
    refusal = PlainTextResponse("the token of brim mcp is missing or wrong\n", 401, headers)

    async def with_token(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http" and not _has_authorization(scope, expected):
            await refusal(scope, receive, send)
        else:
            await app(scope, receive, send)

    return with_token


def _has_authorization(scope: Any, expected: bytes) -> bool:
    """Whether a request has one such header, and it's the *expected* one."""
    values = [value for name, value in scope["headers"] if name == b"authorization"]
    return len(values) == 1 and hmac.compare_digest(values[0], expected)


# The token ----------------------------------------------------------------------------------------

LENGTH = 32
"""Bytes of chance in a token."""
SHORTEST = 32
"""Characters that a token must have to be one."""


def token_file(home: str) -> str:
    """Return where the token is kept in the user's folder *home*."""
    return os.path.join(home, "mcp-token")


def read_token(home: str) -> str:
    """Return the token, and make one if there is none.

    A file that others can read or write is refused.
    """
    path = token_file(home)
    try:
        os.makedirs(home, 0o700, exist_ok=True)
        with suppress(FileExistsError):
            write_new(path, f"{os.urandom(LENGTH).hex()}\n".encode())
        handle = os.open(
            path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        )
        with os.fdopen(handle, encoding="ascii", errors="replace") as file:
            status = os.fstat(file.fileno())
            token = file.read(1_000).strip()
    except OSError as error:
        raise StoreError(f"{path}: cannot be used: {error.strerror or error}") from None
    if not stat.S_ISREG(status.st_mode):
        raise StoreError(f"{path}: not a regular file, so it isn't used", "refused")
    if _is_open_to_others(status):
        why = "others can read it, so it isn't secret: remove it, and brim makes a new one"
        raise StoreError(f"{path}: {why}", "refused")
    if len(token) < SHORTEST or not token.isalnum():
        raise StoreError(f"{path}: holds no token: remove it, and a new one is made", "damaged")
    return token


def _is_open_to_others(status: os.stat_result) -> bool:
    """Whether a file is another user's, or others can read or write it."""
    if not hasattr(os, "getuid"):
        return False
    if status.st_uid != os.getuid():
        return True
    return bool(status.st_mode & (stat.S_IRWXG | stat.S_IRWXO))
