"""The real command, asked over standard input and over HTTP by the SDK's own client."""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

from tests.mcp.conftest import World

COMMAND = str(Path(sys.executable).with_name("brim"))
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}


def environ_of(world: World) -> dict[str, str]:
    return {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C.UTF-8", **world.environ}


async def everything(client: Client) -> tuple[str, str, int, str]:
    """Ask a little of each kind."""
    learned = await client.call_tool("learn", {"right": "Use uv, never pip."})
    active = await client.read_resource("brim://behaviors/active")
    counted = await client.call_tool("count", {"text": "Hello world", "model": "gpt-4o"})
    wrong = await client.call_tool("why", {"id": "nobody"})
    assert learned.structured_content is not None
    assert counted.structured_content is not None
    assert wrong.is_error
    return (
        learned.structured_content["name"],
        getattr(active.contents[0], "text", ""),
        counted.structured_content["tokens"],
        getattr(wrong.content[0], "text", ""),
    )


TOLD = (
    "use-uv-never-pip",
    "",
    2,
    "why: no rule is called 'nobody': the tool 'list' has their names",
)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_client_starts_it_and_asks_over_standard_input(
    world: World, mode: str, tmp_path: Path
) -> None:
    errors = tmp_path / "errors"
    started = StdioServerParameters(
        command=COMMAND, args=["mcp"], cwd=str(world.project), env=environ_of(world)
    )

    async def main() -> tuple[str, str, int, str]:
        with errors.open("w") as errlog:
            async with Client(stdio_client(started, errlog=errlog), mode=mode) as client:
                return await everything(client)

    assert anyio.run(main) == TOLD
    assert errors.read_text() == ""


def test_garbage_is_survived_and_a_closed_input_ends_it_well(world: World) -> None:
    lines = ["this is no JSON", "[1, 2", '{"jsonrpc": "2.0"}', json.dumps(HELLO)]
    ran = subprocess.run(
        [COMMAND, "mcp"],
        input="\n".join(lines) + "\n",
        capture_output=True,
        text=True,
        env=environ_of(world),
        cwd=world.project,
        timeout=300,
        check=False,
    )
    assert ran.returncode == 0
    assert "Traceback" not in ran.stderr
    answers = [json.loads(line) for line in ran.stdout.splitlines()]
    assert [each["result"]["serverInfo"]["name"] for each in answers if "result" in each] == [
        "brim"
    ]


@pytest.fixture
def started(world: World) -> Iterator[subprocess.Popen[str]]:
    """Start the command and greet it."""
    server = subprocess.Popen(
        [COMMAND, "mcp"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environ_of(world),
        cwd=world.project,
    )
    asked(server, HELLO)
    yield server
    assert server.communicate(timeout=300)[1] == ""


def asked(server: subprocess.Popen[str], message: dict[str, Any]) -> Any:
    """Return what the server answers to *message*."""
    assert server.stdin is not None
    assert server.stdout is not None
    server.stdin.write(json.dumps(message) + "\n")
    server.stdin.flush()
    found, _, _ = select.select([server.stdout], [], [], 30)
    assert found, "nothing was answered"
    return json.loads(server.stdout.readline())


@pytest.mark.skipif(sys.platform == "win32", reason="pipes cannot be waited for there")
def test_a_text_that_a_client_has_cut_within_a_character_is_answered(
    started: subprocess.Popen[str],
) -> None:
    given = {"name": "count", "arguments": {"text": "a \ud83d b \ud83d\ude00", "model": "gpt-4o"}}
    told = asked(started, {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": given})
    assert told["result"]["structuredContent"]["tokens"] > 2


@pytest.mark.skipif(sys.platform == "win32", reason="signals are of another kind there")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_though_the_client_stays(
    started: subprocess.Popen[str], number: int
) -> None:
    started.send_signal(number)
    assert started.wait(timeout=300) == 128 + number


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such shell there")
@pytest.mark.parametrize("closed", ["<&-", ">&-"])
def test_without_standard_streams_it_says_so(world: World, closed: str) -> None:
    command = ["sh", "-c", f'"$0" mcp {closed}', COMMAND]
    ran = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env=environ_of(world),
        check=False,
    )
    assert ran.returncode == 2
    assert "Traceback" not in ran.stderr
    assert "--http" in ran.stderr


@pytest.fixture
def served(world: World) -> Iterator[tuple[str, str]]:
    """Serve over HTTP; give the address and the token."""
    server = subprocess.Popen(
        [COMMAND, "mcp", "--http", "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environ_of(world),
        cwd=world.project,
    )
    assert server.stdout is not None
    assert server.stderr is not None
    address = server.stdout.readline().split()[0]
    yield address, (world.user / "mcp-token").read_text().strip()
    server.send_signal(signal.SIGTERM)
    server.wait(timeout=300)
    assert "Traceback" not in server.stderr.read()
    server.stdout.close()
    server.stderr.close()


def status_of(address: str, headers: dict[str, str]) -> int:
    """Return how the server answers a client's first request."""
    known = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    request = urllib.request.Request(address, json.dumps(HELLO).encode(), {**known, **headers})
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=300) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        with error:
            return error.code


@pytest.mark.skipif(sys.platform == "win32", reason="no such signal there")
def test_over_http_clients_that_go_away_do_not_end_the_server(served: tuple[str, str]) -> None:
    address, token = served
    port = int(address.split(":")[2].split("/")[0])
    body = json.dumps(HELLO).encode()
    head = f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\n"
    known = f"Content-Length: {len(body)}\r\nContent-Type: application/json\r\n"
    known += "Accept: application/json, text/event-stream\r\n\r\n"
    for _ in range(20):
        with socket.create_connection(("127.0.0.1", port)) as client:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            client.sendall((head + known).encode() + body)
    assert status_of(address, {"Authorization": f"Bearer {token}"}) == 200


def test_over_http_a_client_that_brings_the_token_is_served_and_nobody_else(
    served: tuple[str, str],
) -> None:
    address, token = served
    right = {"Authorization": f"Bearer {token}"}

    async def main() -> Any:
        async with (
            httpx2.AsyncClient(headers=right, trust_env=False) as http,
            Client(streamable_http_client(address, http_client=http)) as client,
        ):
            return await everything(client)

    assert address.startswith("http://127.0.0.1:")
    assert anyio.run(main) == TOLD
    assert status_of(address, right) == 200
    assert status_of(address, {**right, "Origin": address.removesuffix("/mcp")}) == 200
    assert status_of(address, {}) == 401
    assert status_of(address, {"Authorization": f"Bearer {token[:-1]}x"}) == 401
    assert status_of(address, {"Authorization": token}) == 401
    assert status_of(address, {**right, "Host": "evil.example:80"}) == 421
    assert status_of(address, {**right, "Host": "127.0.0.1.evil.example"}) == 421
    assert status_of(address, {**right, "Origin": "http://evil.example"}) == 403
    assert status_of(address, {**right, "Origin": "null"}) == 403
