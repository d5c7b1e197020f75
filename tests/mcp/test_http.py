"""Over HTTP, a client that is slow, silent, greedy or without the token takes nothing from the
others."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.waiting import wait_until

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no such signal there")

SERVE = """\
import json, os, sys
from brim.mcp.http import HttpLimits, serve_http
from brim.mcp.server import build_server
limits = HttpLimits(head=0.5, connections=8, body_size=200_000, **json.loads(sys.argv[1]))
server = build_server(os.environ, None, shared=True)
serve_http(server, "t" * 64, 0, ready=lambda address: print(address, flush=True), limits=limits)
"""
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
TOKEN = "Authorization: Bearer " + "t" * 64


class Served(NamedTuple):
    """A server with short times; each call is a connection of its own."""

    port: int

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=300)

    def head(self, *headers: str, length: int = 0) -> bytes:
        known = ["Content-Type: application/json", "Accept: application/json, text/event-stream"]
        sized = [f"Content-Length: {length}"] if length else []
        lines = ["POST /mcp HTTP/1.1", f"Host: 127.0.0.1:{self.port}", *known, *sized, *headers]
        return "\r\n".join([*lines, "", ""]).encode()

    def ask(self, *headers: str, body: bytes = json.dumps(HELLO).encode()) -> bytes:
        """Return the whole answer to a request that is sent at once."""
        with self.connect() as client:
            client.sendall(self.head("Connection: close", *headers, length=len(body)) + body)
            return ended(client)


def ended(client: socket.socket) -> bytes:
    """Return what comes until the server closes the connection."""
    found = b""
    try:
        while piece := client.recv(65_536):
            found += piece
    except ConnectionResetError:
        pass
    return found


def taken(client: socket.socket, piece: bytes, pause: float = 0.0) -> int:
    """Send *piece* again and again; return how many bytes went out until the connection was
    closed."""
    sent = 0
    while True:
        try:
            sent += client.send(piece)
        except OSError:
            return sent
        time.sleep(pause)


def status(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1])


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(tmp_path_factory.mktemp("home"), body=1.0, idle=1.0, sessions=1_000) as server:
        yield server


@contextmanager
def serving(home: Path, **limits: float) -> Iterator[Served]:
    """Start a server with *limits*."""
    server = subprocess.Popen(
        [sys.executable, "-c", SERVE, json.dumps(limits)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "HOME": str(home)},
    )
    assert server.stdout is not None
    assert server.stderr is not None
    yield Served(int(server.stdout.readline().split(":")[2].split("/")[0]))
    server.send_signal(signal.SIGTERM)
    server.wait(timeout=300)
    assert server.stderr.read() == ""
    server.stdout.close()
    server.stderr.close()


@pytest.mark.parametrize("begun", [b"", b"POST /m", b"POST /mcp HTTP/1.1\r\nHost: x\r\nX-More: "])
def test_a_connection_without_a_whole_head_is_closed(served: Served, begun: bytes) -> None:
    with served.connect() as client:
        client.sendall(begun)
        assert ended(client) == b""


@pytest.mark.parametrize("length", ["Content-Length: 1000", "Transfer-Encoding: chunked"])
def test_a_body_that_does_not_come_is_not_waited_for(served: Served, length: str) -> None:
    with served.connect() as client:
        client.sendall(served.head(TOKEN, length) + b"3\r\n{")
        ended(client)


@pytest.mark.parametrize("part", ["head", "body", "second head"])
def test_a_client_that_drips_gets_no_more_time(served: Served, part: str) -> None:
    begun = {"head": b"GET /mcp HTTP/1.1\r\nX: ", "body": served.head(TOKEN, length=100_000)}
    hello = json.dumps(HELLO).encode()
    with served.connect() as client:
        client.sendall(begun.get(part, served.head(TOKEN, length=len(hello)) + hello + b"GET /"))
        assert taken(client, b" ", pause=0.05) < 200


def test_without_the_token_a_body_is_never_asked_for_or_awaited(served: Served) -> None:
    for extra in (
        "Content-Length: 100000000",
        "Transfer-Encoding: chunked",
        "Authorization: Bearer x",
    ):
        with served.connect() as client:
            client.settimeout(300)
            client.sendall(served.head(extra, "Expect: 100-continue"))
            answer = ended(client)
            assert status(answer) == 401
            assert b"connection: close" in answer.lower()
    with served.connect() as client:
        client.sendall(served.head("Content-Length: 100000000"))
        assert taken(client, b"x" * 65_536) < 50_000_000


def test_a_head_or_body_that_is_too_large_is_refused(served: Served) -> None:
    with served.connect() as client:
        client.sendall(b"GET /mcp HTTP/1.1\r\nX: ")
        assert taken(client, b"x" * 65_536) < 50_000_000
    assert status(served.ask(TOKEN, body=b" " * 300_000)) == 413
    assert status(served.ask(TOKEN, body=b"[" * 190_000)) == 400
    assert status(served.ask(TOKEN)) == 200


def test_silent_connections_do_not_keep_others_out_for_long(served: Served) -> None:
    with ExitStack() as stack:
        silent = [stack.enter_context(served.connect()) for _ in range(60)]
        assert all(ended(each) == b"" for each in silent)
        assert status(served.ask(TOKEN)) == 200


def test_too_many_streams_are_answered_with_503(tmp_path: Path) -> None:
    with serving(tmp_path, body=3_600, idle=3_600, sessions=1_000) as server:
        with ExitStack() as stack:
            hello = json.dumps(HELLO).encode()
            for _ in range(7):  # each is served, and stays open until the body comes
                stack.enter_context(server.connect()).sendall(server.head(TOKEN, length=len(hello)))
            wait_for_status(server, 503)
        wait_for_status(server, 200)


def wait_for_status(server: Served, wanted: int) -> None:
    """Ask until the answer has this status: the server takes note of connections when it comes to
    them."""
    wait_until(lambda: status(server.ask(TOKEN)) == wanted)


def test_there_are_so_many_sessions(tmp_path: Path) -> None:
    with serving(tmp_path, body=3_600, idle=3_600, sessions=3) as server:
        assert [status(server.ask(TOKEN)) for _ in range(4)] == [200, 200, 200, 503]


def test_idle_sessions_end(served: Served) -> None:
    answer = served.ask(TOKEN)
    [line] = [line for line in answer.split(b"\r\n") if line.lower().startswith(b"mcp-session-id:")]
    time.sleep(2)
    # Asking keeps it, so the pause is longer than it may be idle.
    wait_until(lambda: status(served.ask(TOKEN, line.decode())) == 404, pause=2)
