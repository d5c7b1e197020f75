"""Hooks that the server answers in place of a process."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from brim.agents.hook import answer_to
from brim.mcp.server import BrimServer
from tests.mcp.conftest import World

SESSION = "0a1b2c3d-0000-4000-8000-000000000002"
PROMPT = {"event": "UserPromptSubmit", "agent": "claude", "session_id": SESSION, "prompt": "install it with uv"}


def hooked(world: World, server: BrimServer, arguments: dict[str, Any], **meta: Any) -> str:
    async def ask(client: Client) -> str:
        answer = await client.call_tool("on_hook", arguments, meta=meta or None)  # type: ignore[arg-type]
        return str(getattr(answer.content[0], "text", ""))

    return str(world.ask(ask, server))


def announced(world: World) -> Path:
    return world.user / "resident" / SESSION


def resident(world: World) -> BrimServer:
    """Return a server that has announced itself for the session."""
    server = world.server(resident=True, delay=0.0)
    assert hooked(world, server, {**PROMPT, "prompt": ""}) == "{}"
    until = time.monotonic() + 20
    while not announced(world).exists() and time.monotonic() < until:
        time.sleep(0.005)
    return server


def test_the_first_events_are_left_to_the_process(world: World) -> None:
    server = world.server(resident=True, delay=3_600.0)
    assert hooked(world, server, PROMPT) == "{}"
    assert hooked(world, server, PROMPT) == "{}"
    assert not announced(world).exists()
    server.close()


def test_a_server_that_ends_leaves_the_hooks_to_the_process_again(world: World) -> None:
    server = resident(world)
    assert announced(world).read_text() == f"{os.getpid()}\n"
    server.close()
    assert not announced(world).exists()


def test_the_answer_is_the_one_of_the_process(world: World) -> None:
    world.teach("Use uv, never pip.", kind="constraint")
    given = {**PROMPT, "cwd": str(world.project)}
    server = resident(world)
    told = hooked(world, server, given)
    other = {**given, "session_id": "another", "hook_event_name": "UserPromptSubmit"}
    process = answer_to("UserPromptSubmit", "claude", other, world.environ, now=world.now)
    assert json.loads(told) == json.loads(process or "{}")
    assert "Use uv, never pip." in told
    server.close()


def test_a_model_cannot_play_a_hook(world: World) -> None:
    world.teach("Use uv, never pip.", kind="constraint")
    server = resident(world)
    forged = {**PROMPT, "session_id": "forged", "cwd": str(world.project)}
    for session in (SESSION, "forged"):
        given = {**forged, "session_id": session}
        assert hooked(world, server, given, **{"claudecode/toolUseId": "toolu_1"}) == "{}"
    assert [path.name for path in announced(world).parent.iterdir()] == [SESSION]
    assert world.call("status", server).data["session"] == SESSION
    server.close()


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"event": 5},
        {"event": "NoSuchEvent"},
        {"event": "PreToolUse", "tool_input": "{broken", "tool_name": ["x"]},
        {"event": "PostToolUse", "tool_response": "[" * 5_000, "tool_input": "${tool_input}"},
        {"event": "UserPromptSubmit", "prompt": "\x00", "agent": "nobody"},
    ],
)
def test_garbage_is_answered_with_nothing(world: World, arguments: dict[str, Any]) -> None:
    server = resident(world)
    told = hooked(world, server, {"session_id": SESSION, **arguments})
    assert isinstance(json.loads(told), dict)
    assert "Traceback" not in told
    server.close()
