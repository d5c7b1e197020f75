"""How things stand."""

from __future__ import annotations

import json
import os
import re
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp_types import Implementation

from brim.hooks.state import SessionState
from brim.sessions.window.windows import UsageSeen
from tests.mcp.conftest import World

SESSION = "0a1b2c3d-0000-4000-8000-000000000001"


def transcript(world: World, tokens: int, session: str = SESSION) -> None:
    """Write the session of this project as Claude Code would."""
    slug = re.sub(r"[^A-Za-z0-9]", "-", str(world.project))
    path = world.home / ".claude" / "projects" / slug / f"{session}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    message = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-4-5",
        "content": [{"type": "text", "text": "ok"}],
        "usage": {
            "input_tokens": 5,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": tokens - 5,
            "output_tokens": 3,
        },
    }
    line = {
        "type": "assistant",
        "isSidechain": False,
        "sessionId": session,
        "requestId": "req_1",
        "message": message,
    }
    path.write_text(json.dumps(line) + "\n")
    os.utime(path, (world.now - 60, world.now - 60))


def seen(world: World, tokens: int, session: str) -> None:
    """Leave what the status line was told."""
    state = SessionState.load(str(world.user), session)
    state.usage = UsageSeen(tokens, 200_000, "claude-sonnet-4-5", world.now, "statusline")
    state.save()


def test_without_a_session_the_window_is_not_known(world: World) -> None:
    data = world.call("status").data
    assert data["window"] is None
    assert data["spent"] is None
    assert data["project"] == "shop"
    assert data["trusted"]


@pytest.mark.parametrize(
    ("tokens", "state"), [(20_000, "ok"), (140_000, "warn"), (156_000, "compact")]
)
def test_the_window_is_read_from_the_newest_transcript_of_the_project(
    world: World, tokens: int, state: str
) -> None:
    transcript(world, tokens)
    data = world.call("status").data
    assert data["session"] == SESSION
    assert data["window"]["tokens"] == tokens
    assert data["window"]["context_window"] == 200_000
    assert data["window"]["state"] == state
    assert data["window"]["seconds_ago"] == 60


def test_what_the_status_line_saw_is_newer(world: World) -> None:
    transcript(world, 20_000)
    seen(world, 30_000, SESSION)
    window = world.call("status").data["window"]
    assert (window["tokens"], window["source"], window["seconds_ago"]) == (30_000, "statusline", 0)
    assert json.loads(world.read("brim://context"))["window"] == window


def test_a_client_that_names_its_session_is_told_of_that_one(world: World) -> None:
    transcript(world, 20_000)
    seen(world, 50_000, "thread-2")
    server = world.server()

    async def ask(client: object) -> list[int]:
        named = await client.call_tool("status", {}, meta={"threadId": "thread-2"})  # type: ignore[attr-defined]
        again = await client.call_tool("status", {})  # type: ignore[attr-defined]
        return [each.structured_content["window"]["tokens"] for each in (named, again)]

    assert world.ask(ask, server) == [50_000, 50_000]
    assert world.ask(ask, world.server(shared=True)) == [50_000, 20_000]


def test_what_the_project_has_spent_is_told(world: World) -> None:
    assert world.call("status").data["spent"] is None
    (world.user / "config.yaml").write_text('limits: {"*": ["10/day"]}\n')
    assert world.call("status").data["spent"] == {"usd": 0.0, "limit_usd": 10.0, "state": "open"}


def test_rules_and_notes_are_counted(world: World) -> None:
    world.teach("Use uv.")
    world.call("learn", right="Run the linter before a commit.")
    data = world.call("status").data
    assert (data["rules"], data["unconfirmed"]) == (1, 1)


def test_an_agent_is_not_told_the_window_of_another_agents_session(world: World) -> None:
    transcript(world, 20_000)
    folder = world.home / ".gemini" / "tmp" / "shop" / "chats"
    folder.mkdir(parents=True)
    usage = {"input": 7_000, "output": 5, "cached": 0, "thoughts": 0, "tool": 0, "total": 7_005}
    line = {
        "id": "m1",
        "type": "gemini",
        "content": "ok",
        "tokens": usage,
        "model": "gemini-2.5-flash",
    }
    (folder / "session-2026-11-15T21-02-c9ac061a.jsonl").write_text(
        "".join(
            json.dumps(each) + "\n" for each in ({"sessionId": "c9ac061a-1", "kind": "main"}, line)
        )
    )

    def told(name: str) -> Any:
        async def main() -> Any:
            info = Implementation(name=name, version="1")
            async with Client(world.server(), client_info=info) as client:
                return (await client.call_tool("status", {})).structured_content

        return anyio.run(main)

    assert told("claude-code")["session"] == SESSION
    assert told("codex-mcp-client")["window"] is None
    assert told("gemini-cli-mcp-client-brim")["window"] is None
    (world.home / ".gemini" / "projects.json").write_text(
        json.dumps({"projects": {str(world.project): "shop"}})
    )
    found = told("gemini-cli-mcp-client-brim")
    assert (found["session"], found["window"]["tokens"]) == ("c9ac061a-1", 7_000)
