"""The server inside the real programs: a model calls its tools and is shown little of them; hooks
are answered once."""

from __future__ import annotations

import json

import pytest

import brim
from tests.e2e.agents import Agent
from tests.e2e.conftest import agent_in
from tests.e2e.script import Asked, Call, Say
from tests.e2e.world import World

TOOL = {"claude": "mcp__brim__{}", "gemini": "mcp_brim_{}"}
"""What a client calls a tool of the server. Codex lets a model call only what it has searched
for."""
MOST = {"claude": 200, "codex": 600, "gemini": 2_200}
"""Tokens that a request grows by: Gemini CLI shows every schema with words of its own, Codex gets
tools to search."""


def add_server(agent: Agent) -> None:
    """Let the program start the server, as the documentation says."""
    words = {
        "claude": ["mcp", "add", "--scope", "user", "brim", "--", "brim", "mcp"],
        "codex": ["mcp", "add", "brim", "--", "brim", "mcp"],
        "gemini": ["mcp", "add", "--scope", "user", "brim", "brim", "mcp"],
    }
    ran = agent.world.run([agent.program, *words[agent.name]], environ=agent.environ())
    assert ran.code == 0, ran.told


def allowed(agent: Agent) -> list[str]:
    return ["--allowedTools", "mcp__brim", "Bash"] if agent.name == "claude" else []


def size(asked: Asked) -> int:
    return int(
        brim.count(json.dumps({key: asked.body[key] for key in asked.body if key != "metadata"}))
    )


@pytest.mark.parametrize("name", list(TOOL))
def test_a_model_teaches_asks_and_sees_its_window(name: str, world: World) -> None:
    agent = agent_in(world, name)
    world.learn("Use uv, never pip.")
    add_server(agent)
    named = TOOL[agent.name].format
    world.api.will(
        Call(named("learn"), {"right": "Sort imports with ruff."}),
        Call(named("active"), {}),
        Call(named("status"), {}),
        Say(),
    )
    ran = agent.ask("Say hello.", *allowed(agent))
    assert ran.code == 0, ran.told
    results = [part.text for part in world.api.turns[-1].parts if part.kind == "result"]
    learned, active, status = results
    assert "noted" in learned
    assert "Use uv, never pip." in active
    assert "ruff" not in active, "a note is no rule before a person accepts it"
    assert '"window' in status.replace("\\", "")
    assert 'null,"spent' not in status.replace("\\", ""), status
    instructions = json.loads(world.brim("mcp", "--list", "--json").out)["instructions"]
    assert instructions in json.dumps(world.api.turns[-1].body, ensure_ascii=False)


def test_the_server_adds_few_tokens_to_a_session(agent: Agent) -> None:
    agent.ask("Say hello.")
    before = size(agent.world.api.turns[-1])
    add_server(agent)
    agent.ask("Say hello.")
    added = size(agent.world.api.turns[-1]) - before
    assert 0 < added < MOST[agent.name]
