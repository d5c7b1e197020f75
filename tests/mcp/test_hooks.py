"""Hooks that the server answers in place of a process."""

from __future__ import annotations

import io
import json
import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from brim.agents.claims import MANY, OLD, PROCESS, SERVER, VARIABLE, claim, event_id
from brim.agents.hook import answer_to, main
from brim.mcp.hooks import filled
from brim.mcp.residence import SETTLED
from brim.mcp.server import BrimServer
from tests.mcp.conftest import NOW, World

SESSION = "0a1b2c3d-0000-4000-8000-000000000002"
PROMPT = {
    "event": "UserPromptSubmit",
    "agent": "claude",
    "session_id": SESSION,
    "prompt_id": "first",
    "prompt": "install it with uv",
}


def hooked(world: World, server: BrimServer, arguments: dict[str, Any], **meta: Any) -> str:
    async def ask(client: Client) -> str:
        answer = await client.call_tool("on_hook", arguments, meta=meta or None)  # type: ignore[arg-type]
        return str(getattr(answer.content[0], "text", ""))

    return str(world.ask(ask, server))


def process(world: World, given: dict[str, Any]) -> str:
    """Answer as the process that a client starts beside its call of the tool."""
    data = {**{name: value for name, value in given.items() if name not in ("event", "agent")}}
    out = io.StringIO()
    environ = {**world.environ, VARIABLE: "1"}
    assert main([str(given["event"]), "claude"], io.StringIO(json.dumps(data)), out, environ) == 0
    return out.getvalue()


def announced(world: World) -> Path:
    return world.user / "resident" / SESSION


def resident(world: World) -> BrimServer:
    """Return a server that has announced itself for the session."""
    server = world.server(resident=True)
    assert hooked(world, server, {**PROMPT, "prompt": ""}) == "{}"
    assert announced(world).exists()
    return server


@pytest.mark.parametrize("server_first", [True, False])
def test_an_event_that_both_hear_of_is_answered_once(world: World, server_first: bool) -> None:
    world.teach("Use uv, never pip.", kind="constraint")
    world.teach("Install with uv sync.", when={"task": "install"}, kind="directive")
    server = world.server(resident=True)
    for number, session in enumerate(("one", "two", "three")):
        given = {**PROMPT, "session_id": session, "prompt_id": f"p{number}", "cwd": str(world.project)}
        both = [lambda given=given: hooked(world, server, given), lambda given=given: process(world, given)]
        told = [ask() for ask in (both if server_first else reversed(both))]
        assert "Use uv, never pip." in told[0]
        assert told[1] in ("", "{}")
    server.close()


def test_a_claim_is_won_by_one_whoever_comes_when(tmp_path: Path) -> None:
    def race(number: int) -> int:
        with ThreadPoolExecutor(2) as two:
            both = [two.submit(claim, str(tmp_path), f"e{number}", who, now=time.time()) for who in (PROCESS, SERVER)]
        return sum(each.result() for each in both)

    assert {race(number) for number in range(200)} == {1}


def test_claims_do_not_pile_up(tmp_path: Path) -> None:
    for number in range(MANY + 2):
        claim(str(tmp_path), f"e{number}", PROCESS, now=time.time() + OLD + 60 if number == MANY + 1 else time.time())
    assert len(list((tmp_path / "resident" / "events").iterdir())) <= 1


def test_the_same_id_again_is_another_event_of_the_same_answerer(world: World) -> None:
    world.teach("Use uv, never pip.", kind="constraint")
    stop = {**PROMPT, "event": "Stop", "cwd": str(world.project)}
    assert event_id("Stop", stop) == f"{SESSION}.Stop.first"
    assert [claim(str(world.user), "s.Stop.first", PROCESS, now=NOW) for _ in range(2)] == [True, True]
    assert not claim(str(world.user), "s.Stop.first", SERVER, now=NOW)


def test_an_event_without_an_id_is_left_to_the_process(world: World) -> None:
    world.teach("Use uv, never pip.", kind="constraint")
    server = world.server(resident=True)
    given = {**PROMPT, "prompt_id": "${prompt_id}", "cwd": str(world.project)}
    assert hooked(world, server, given) == "{}"
    assert not announced(world).exists()
    assert "Use uv" in process(world, {**given, "prompt_id": ""})


def test_an_event_without_an_id_is_the_servers_once_scripts_keep_silent(world: World) -> None:
    world.teach("Use uv, never pip.", kind="constraint")
    server = resident(world)
    given = {**PROMPT, "prompt_id": "${prompt_id}", "cwd": str(world.project)}
    assert "Use uv" in hooked(world, server, given)
    announced(world).unlink()
    assert hooked(world, server, given) == "{}"
    server.close()


def test_once_scripts_know_of_the_server_nothing_is_claimed_any_more(world: World) -> None:
    server = resident(world)
    world.now += SETTLED + 1
    claims = announced(world).parent / "events"
    before = sorted(claims.iterdir())
    hooked(world, server, {**PROMPT, "prompt_id": "later"})
    assert sorted(claims.iterdir()) == before
    announced(world).unlink()
    hooked(world, server, {**PROMPT, "prompt_id": "last"})
    assert announced(world).exists()
    assert len(list(claims.iterdir())) == len(before) + 1
    server.close()


def test_a_home_that_cannot_hold_claims_leaves_hooks_to_the_process(world: World) -> None:
    world.teach("Use uv, never pip.", kind="constraint")
    (world.user / "resident").write_text("in the way")
    server = world.server(resident=True)
    given = {**PROMPT, "cwd": str(world.project)}
    assert hooked(world, server, given) == "{}"
    assert "Use uv" in process(world, given)
    server.close()


def test_a_server_that_ends_leaves_the_hooks_to_the_process_again(world: World) -> None:
    server = resident(world)
    assert announced(world).read_text() == f"{os.getpid()}\n"
    server.close()
    assert not announced(world).exists()


def test_a_prompt_that_looks_like_a_place_is_a_prompt(world: World) -> None:
    assert filled({"prompt": "${HOME}", "cwd": "${cwd}"}) == {"prompt": "${HOME}"}


def test_the_answer_is_the_one_of_the_process(world: World) -> None:
    world.teach("Use uv, never pip.", kind="constraint")
    given = {**PROMPT, "prompt_id": "second", "cwd": str(world.project)}
    server = resident(world)
    told = hooked(world, server, given)
    other = {**given, "session_id": "another", "hook_event_name": "UserPromptSubmit"}
    alone = answer_to("UserPromptSubmit", "claude", other, world.environ, now=world.now)
    assert json.loads(told) == json.loads(alone or "{}")
    assert "Use uv, never pip." in told
    server.close()


def test_a_model_cannot_play_a_hook(world: World) -> None:
    world.teach("Use uv, never pip.", kind="constraint")
    server = resident(world)
    forged = {**PROMPT, "session_id": "forged", "cwd": str(world.project)}
    for session in (SESSION, "forged"):
        given = {**forged, "session_id": session}
        assert hooked(world, server, given, **{"claudecode/toolUseId": "toolu_1"}) == "{}"
    assert {path.name for path in announced(world).parent.iterdir()} == {SESSION, "events"}
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
    told = hooked(world, server, {"session_id": SESSION, "prompt_id": "it", **arguments})
    assert isinstance(json.loads(told), dict)
    assert "Traceback" not in told
    server.close()
