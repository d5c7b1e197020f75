"""The server over streamable HTTP: on this machine only, for clients that bring the token, each within ``Limits``."""

from __future__ import annotations

import asyncio
import hmac
import os
import socket
import stat
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import h11
import uvicorn
from mcp.server import MCPServer
from mcp.server.transport_security import TransportSecuritySettings
from uvicorn.protocols.http.h11_impl import H11Protocol

from brim.errors import InputError, StoreError
from brim.files import write_new

App = Callable[[Any, Any, Any], Awaitable[None]]


HOST = "127.0.0.1"
PATH = "/mcp"
NAMES = (HOST, "localhost")
"""What a client may call this machine. A page that was loaded from elsewhere calls it something else."""


@dataclass(frozen=True)
class Limits:
    """What clients may take. Times are in seconds, sizes in bytes."""

    head: float = 5.0
    """For the headers of a request to arrive, counted from its first byte or the connection."""
    body: float = 30.0
    """For the rest of it to arrive, however steadily."""
    head_size: int = 16_384
    body_size: int = 4 << 20
    connections: int = 100
    """Beyond them, a request is answered with 503; beyond twice as many, a connection is closed at once."""
    sessions: int = 100
    idle: float = 1_800.0
    """After so long without a request or an open stream, a session ends."""


LIMITS = Limits()


def serve_http(
    server: MCPServer, token: str, port: int, *, ready: Callable[[str], object], limits: Limits = LIMITS
) -> None:
    """Serve until the process is told to end. *ready* gets the address; *port* 0 takes any that is free."""

    class Connection(BoundedConnection):
        allowed = limits

    with _bound(port) as bound:
        address = f"http://{HOST}:{bound.getsockname()[1]}{PATH}"
        config = uvicorn.Config(
            guarded_app(server, token, bound.getsockname()[1], limits),
            http=Connection,
            ws="none",
            log_level="critical",
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=2,
            h11_max_incomplete_event_size=limits.head_size,
            limit_concurrency=limits.connections,
        )
        ready(address)
        uvicorn.Server(config).run(sockets=[bound])


class BoundedConnection(H11Protocol):
    """A connection that is closed if a request takes too long to arrive: uvicorn would wait for ever."""

    allowed = LIMITS
    _awaited: object = None
    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as uvicorn does
        """Begin to wait for a request, unless there are too many connections."""
        super().connection_made(transport)
        if len(self.connections) > 2 * self.allowed.connections:
            transport.abort()
        else:
            self._watch()

    def data_received(self, data: bytes) -> None:
        """Take what came. More of the same gives a client no more time."""
        super().data_received(data)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        if self._timer is not None:
            self._timer.cancel()
        super().connection_lost(exc)

    def _watch(self) -> None:
        awaited = self.conn.their_state
        if awaited is self._awaited or self.transport.is_closing():
            return
        self._awaited = awaited
        if self._timer is not None:
            self._timer.cancel()
        seconds = {h11.IDLE: self.allowed.head, h11.SEND_BODY: self.allowed.body}.get(awaited)
        self._timer = None if seconds is None else self.loop.call_later(seconds, self.transport.abort)


def guarded_app(server: MCPServer, token: str, port: int, limits: Limits = LIMITS) -> App:
    """Return the application: ``Host`` and ``Origin`` must be this machine's, and the token the right one."""
    places = [f"{name}:{port}" for name in NAMES]
    security = TransportSecuritySettings(allowed_hosts=places, allowed_origins=[f"http://{place}" for place in places])
    app = server.streamable_http_app(
        streamable_http_path=PATH,
        transport_security=security,
        max_request_body_size=limits.body_size,
        session_idle_timeout=limits.idle,
        max_sessions=limits.sessions,
    )
    return _with_token(app, token)


def _with_token(app: App, token: str) -> App:
    expected = f"Bearer {token}".encode()

    async def asked(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await app(scope, receive, send)
            return
        given = [value for name, value in scope["headers"] if name == b"authorization"]
        if len(given) == 1 and hmac.compare_digest(given[0], expected):
            await app(scope, receive, send)
            return
        # The connection is closed, so that a body is never waited for.
        headers = [(b"content-type", b"text/plain"), (b"www-authenticate", b'Bearer realm="brim"')]
        await send({"type": "http.response.start", "status": 401, "headers": [*headers, (b"connection", b"close")]})
        await send({"type": "http.response.body", "body": b"the token of brim mcp is missing or wrong\n"})

    return asked


def _bound(port: int) -> socket.socket:
    bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((HOST, port))
        bound.listen()  # who is told the address may come at once
    except (OSError, OverflowError) as error:
        bound.close()
        raise InputError(f"port {port} cannot be used: {error}; take another one with --port, or 0 for any") from None
    return bound


# The token ------------------------------------------------------------------------------------------------------

LENGTH = 32
"""Bytes of chance in a token."""
SHORTEST = 32
"""Characters that a token must have to be one."""


def token_file(home: str) -> str:
    """Return where the token is kept in the user's folder *home*."""
    return os.path.join(home, "mcp-token")


def read_token(home: str) -> str:
    """Return the token, made now if there is none. One that others can read or have written is refused."""
    path = token_file(home)
    try:
        os.makedirs(home, 0o700, exist_ok=True)
        with suppress(FileExistsError):
            write_new(path, f"{os.urandom(LENGTH).hex()}\n".encode())
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
        with os.fdopen(handle, encoding="ascii", errors="replace") as file:
            _check(path, os.fstat(file.fileno()))
            token = file.read(1_000).strip()
    except OSError as error:
        raise StoreError(f"{path}: cannot be used: {error.strerror or error}") from None
    if len(token) < SHORTEST or not token.isalnum():
        raise StoreError(f"{path}: holds no token: remove it, and a new one is made", "damaged")
    return token


def _check(path: str, found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise StoreError(f"{path}: not a regular file, so it isn't used", "refused")
    if not hasattr(os, "getuid"):
        return
    if found.st_uid != os.getuid() or found.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise StoreError(
            f"{path}: others can read it, so it isn't secret: remove it, and brim makes a new one", "refused"
        )
