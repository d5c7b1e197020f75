"""An HTTP server on this machine alone: the socket, and connections that can't be kept open for
nothing."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from brim.errors import InputError

App = Callable[[Any, Any, Any], Awaitable[None]]

HOST = "127.0.0.1"
NAMES = (HOST, "localhost")
"""What a client may call this machine.

A page that was loaded from elsewhere calls it something else.
"""


@dataclass(frozen=True)
class RequestLimits:
    """What clients may take. Times are in seconds, sizes in bytes."""

    head: float = 5.0
    """For the headers of a request to arrive, counted from its first byte or the connection."""
    body: float = 30.0
    """For the rest of it to arrive, however steadily."""
    head_size: int = 16_384
    body_size: int = 4 << 20
    connections: int = 100
    """Beyond them, a request is answered with 503.

    Beyond twice as many, a connection is closed at once.
    """


class BoundedConnection(H11Protocol):
    """A connection that is closed if a request takes too long to arrive: uvicorn would wait for
    ever."""

    allowed = RequestLimits()
    _awaited: object = None
    _timer: asyncio.TimerHandle | None = None

    # The type of the transport is as in uvicorn.
    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
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
        self._timer = None
        seconds = {h11.IDLE: self.allowed.head, h11.SEND_BODY: self.allowed.body}.get(awaited)
        if seconds is not None:
            self._timer = self.loop.call_later(seconds, self.transport.abort)


def with_small_heads(app: App, largest: int) -> App:
    """Return *app* behind an answer of 431 to requests whose headers are larger than *largest*.

    uvicorn compares only a head that arrives in pieces.
    """

    async def answer(scope: Any, receive: Any, send: Any) -> None:
        size = len(scope.get("raw_path", b"")) + len(scope.get("query_string", b""))
        size += sum(len(name) + len(value) for name, value in scope.get("headers", ()))
        if scope["type"] != "http" or size <= largest:
            await app(scope, receive, send)
            return
        headers = [(b"content-type", b"text/plain"), (b"connection", b"close")]
        await send({"type": "http.response.start", "status": 431, "headers": headers})
        body = f"the headers are larger than {largest:,} bytes\n".encode()
        await send({"type": "http.response.body", "body": body})

    return answer


def listen(port: int) -> socket.socket:
    """Return a socket that listens on *port* of this machine; 0 takes any that is free."""
    bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((HOST, port))
        bound.listen()  # who is told the address may come at once
    except (OSError, OverflowError) as error:
        bound.close()
        raise InputError(
            f"port {port} cannot be used: {error}; take another one with --port, or 0 for any"
        ) from None
    return bound


def serve(
    app: App, bound: socket.socket, limits: RequestLimits, *, ending: Callable[[], object] = int
) -> None:
    """Serve *app* until the process is told to end.

    *ending* is called then, so that streams can end.
    """

    class Connection(BoundedConnection):
        allowed = limits

    class Server(uvicorn.Server):
        def handle_exit(self, sig: int, frame: Any) -> None:
            ending()
            super().handle_exit(sig, frame)

    config = uvicorn.Config(
        with_small_heads(app, limits.head_size),
        http=Connection,
        ws="none",
        log_level="critical",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=2,
        h11_max_incomplete_event_size=limits.head_size,
        limit_concurrency=limits.connections,
    )
    Server(config).run(sockets=[bound])
