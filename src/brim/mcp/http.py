"""The server over streamable HTTP: on this machine only, for clients that bring the token."""

from __future__ import annotations

import hmac
import os
import socket
import stat
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import uvicorn
from mcp.server import MCPServer
from mcp.server.transport_security import TransportSecuritySettings

from brim.errors import InputError, StoreError
from brim.files import write_new

App = Callable[[Any, Any, Any], Awaitable[None]]


HOST = "127.0.0.1"
PATH = "/mcp"
NAMES = (HOST, "localhost")
"""What a client may call this machine. A page that was loaded from elsewhere calls it something else."""
_MOST_DRAINED = 1 << 16
"""Bytes that are read of a request without the token."""


def serve_http(server: MCPServer, token: str, port: int, *, ready: Callable[[str], object]) -> None:
    """Serve until the process is told to end. *ready* gets the address; *port* 0 takes any that is free."""
    with _bound(port) as bound:
        address = f"http://{HOST}:{bound.getsockname()[1]}{PATH}"
        app = guarded_app(server, token, bound.getsockname()[1])
        config = uvicorn.Config(
            app, log_level="critical", access_log=False, server_header=False, timeout_graceful_shutdown=2
        )
        ready(address)
        uvicorn.Server(config).run(sockets=[bound])


def guarded_app(server: MCPServer, token: str, port: int) -> App:
    """Return the application: ``Host`` and ``Origin`` must be this machine's, and the token the right one."""
    places = [f"{name}:{port}" for name in NAMES]
    security = TransportSecuritySettings(allowed_hosts=places, allowed_origins=[f"http://{place}" for place in places])
    return _with_token(server.streamable_http_app(streamable_http_path=PATH, transport_security=security), token)


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
        await _drain(receive)
        headers = [(b"content-type", b"text/plain"), (b"www-authenticate", b'Bearer realm="brim"')]
        await send({"type": "http.response.start", "status": 401, "headers": headers})
        await send({"type": "http.response.body", "body": b"the token of brim mcp is missing or wrong\n"})

    return asked


async def _drain(receive: Any) -> None:
    """Read what was sent with a request, within bounds: one closed unread may be reset before it is answered."""
    taken = 0
    while taken < _MOST_DRAINED:
        message = await receive()
        taken += len(message.get("body", b""))
        if not message.get("more_body"):
            return


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
