"""Limits per day, session and sub-agent, in dollars and tokens, in the real programs."""

from __future__ import annotations

import json

import pytest

from tests.e2e.agents import Agent
from tests.e2e.script import Asked, Call, Say, Step
from tests.e2e.world import World


def spend(agent: Agent, name: str, *, calls: int = 3) -> tuple[list[str], list[str]]:
    """Run a session whose every answer takes 50,000 tokens more; return the calls that ran, and
    what was refused."""
    made = agent.world.project / f"{name}.txt"
    steps = [
        agent.shell(f"echo {at} >> {made.name}", tokens=50_000 * (at + 1)) for at in range(calls)
    ]
    agent.world.api.will(*steps, Say("Wrapped up."))
    ran = agent.ask("Say hello.")
    assert ran.code == 0, ran.told
    results = [part.text for part in agent.world.api.turns[-1].parts if part.kind == "result"]
    refused = [text for text in results if "Held by your user's limit" in text]
    return made.read_text().split() if made.exists() else [], refused


@pytest.mark.parametrize(
    ("limit", "said"),
    [
        ("0.01/day", "of $0.01 is spent today"),
        ("40k tokens/week", "of 40k tokens is spent this week"),
    ],
)
def test_a_limit_per_period_holds_the_next_call_in_every_session(
    agent: Agent, limit: str, said: str
) -> None:
    agent.install()
    agent.world.brim("limit", limit)
    ran, refused = spend(agent, "first")
    assert ran in ([], ["0"]), (
        "the first may run before the client has written down what the answer cost"
    )
    assert len(refused) == 3 - len(ran)
    assert all(said in text and "brim limit" not in text for text in refused)
    ran, refused = spend(agent, "second")
    assert (ran, len(refused)) == ([], 3)
    agent.world.brim("limit", "remove")
    assert spend(agent, "third")[0] == ["0", "1", "2"]


def test_a_limit_for_each_session_starts_over_with_the_next(agent: Agent) -> None:
    agent.install()
    agent.world.brim("limit", "100k tokens/session")
    ran, refused = spend(agent, "first", calls=4)
    assert ran[:1] == ["0"]
    assert len(ran) + len(refused) == 4
    assert refused
    assert "of 100k tokens is spent in this session" in refused[0]
    assert spend(agent, "second", calls=1)[0] == ["0"]


def test_a_limit_for_sub_agents_holds_the_sub_agent_and_not_the_session(claude: Agent) -> None:
    claude.install()
    claude.world.brim("limit", "--subagent", "150k tokens")
    starts = {
        "description": "look",
        "prompt": "Look around in the project.",
        "subagent_type": "general-purpose",
    }
    of_main: list[Step] = [
        Call("Agent", starts),
        Say("It looks around."),
        claude.shell("echo main >> main.txt"),
        Say(),
    ]
    of_agent: list[Step] = [
        claude.shell(f"echo {at} >> sub.txt", tokens=100_000 * (at + 1)) for at in range(4)
    ]

    def model(asked: Asked) -> Step:
        steps = of_main if asked.holding("Say hello.") else of_agent
        return steps.pop(0) if steps else Say("That is all.")

    claude.world.api.will(*[model] * 20)
    ran = claude.ask("Say hello.", "--allowedTools", "Bash", "Agent")
    assert ran.code == 0, ran.told
    assert (claude.world.project / "sub.txt").read_text().split() in (["0"], ["0", "1"])
    assert (claude.world.project / "main.txt").exists()
    told = [
        part.text
        for asked in claude.world.api.turns
        for part in asked.parts
        if "Held by your" in part.text
    ]
    assert told
    assert "of 150k tokens is spent" in told[0]


def test_a_plan_that_codex_has_used_up_holds_its_calls(codex: Agent, world: World) -> None:
    codex.install()
    world.brim("limit", "90%/5h")
    assert spend(codex, "before", calls=1)[0] == ["0"]
    rollouts = sorted((world.home / ".codex" / "sessions").rglob("rollout-*.jsonl"))
    lines = [json.loads(line) for line in rollouts[-1].read_text().splitlines()]
    counted = next(line for line in reversed(lines) if line["payload"].get("type") == "token_count")
    resets = 4_000_000_000
    counted["payload"]["rate_limits"] |= {
        "primary": {"used_percent": 93.0, "window_minutes": 300, "resets_at": resets}
    }
    with rollouts[-1].open("a") as file:
        file.write(json.dumps(counted) + "\n")
    said = json.loads(world.brim("limit", "--json", environ=codex.environ()).out)
    assert said["projects"][0]["limits"][0]["spent"] == 93
