"""Limits in the real programs: what was sent after a limit was reached, by the API's own count."""

from __future__ import annotations

import itertools
import json

import pytest

from brim.agents import agent_named
from tests.e2e.agents import Agent
from tests.e2e.script import Asked, Call, Say, Step
from tests.e2e.world import Terminal, World

REFUSED = "Stopped by your user's limit"


def never_stops(agent: Agent, *, tokens: int = 20_000) -> None:
    """Let the model call a tool in every answer, with *tokens* more that no cache has."""
    requests = itertools.count(1)

    def model(asked: Asked) -> Step:
        return agent.shell("echo again >> again.txt", tokens=tokens * next(requests))

    agent.world.api.will(*[model] * 40)


def ran(agent: Agent) -> int:
    """Return how many of the model's commands ran."""
    made = agent.world.project / "again.txt"
    return len(made.read_text().split()) if made.exists() else 0


def spent(world: World, agent: Agent) -> int:
    """Return what brim counts."""
    usage = world.brim("usage", "--json", environ=agent.environ())
    return int(json.loads(usage.out)["total"]["total_tokens"])


def limit_spent(agent: Agent) -> int:
    """Return what counts against the one limit there is."""
    said = json.loads(agent.world.brim("limit", "--json", environ=agent.environ()).out)
    (limit,) = said["limits"]
    return int(limit["spent"])


def test_a_model_that_never_stops_calling_tools_is_stopped(agent: Agent) -> None:
    agent.install()
    agent.world.brim("limit", "70k tokens/day")
    never_stops(agent)
    agent.ask("Say hello.")
    # Four requests reach 70k tokens. One more may wrap up; Codex can only be refused.
    turns = len(agent.world.api.turns)
    assert ran(agent) <= 4
    if agent_named(agent.name).answers.ends_turns:
        assert turns <= 5
    before = len(agent.world.api.asked)
    for _ in range(3):
        agent.ask("Go on.")
    assert len(agent.world.api.asked) == before, "a refused prompt makes no request"


def test_a_model_that_only_talks_is_refused_with_the_next_prompt(agent: Agent) -> None:
    agent.install()
    agent.world.brim("limit", "70k tokens/day")
    agent.world.api.will(Say("Hello.", tokens=80_000), *[Say("Again.")] * 5)
    agent.ask("Say hello.")
    before = len(agent.world.api.turns)
    assert before == 1
    for _ in range(2):
        agent.ask("Go on.")
    assert len(agent.world.api.turns) == before


def test_a_person_raises_the_limit_and_goes_on(agent: Agent) -> None:
    agent.install()
    agent.world.brim("limit", "70k tokens/day")
    agent.world.api.will(*[Say("Hello.", tokens=80_000)] * 8)
    agent.ask("Say hello.")
    agent.ask("Go on.")
    assert len(agent.world.api.turns) == 1
    agent.world.brim("limit", "raise", "500k tokens/day")
    agent.ask("Go on.")
    assert len(agent.world.api.turns) == 2
    agent.world.brim("limit", "remove")
    agent.ask("Go on.")
    assert len(agent.world.api.turns) == 3


def test_a_limit_in_dollars_ends_the_turn_before_the_request_that_goes_over(
    claude: Agent,
) -> None:
    claude.install()
    claude.world.brim("limit", "1/day")
    never_stops(claude, tokens=40_000)
    claude.ask("Say hello.")
    said = json.loads(claude.world.brim("limit", "--json", environ=claude.environ()).out)
    (limit,) = said["limits"]
    assert limit["stopped"]
    most = limit["amount"] * 1.1
    assert limit["spent"] <= most


def test_a_loop_of_fresh_runs_ends_at_the_limit(agent: Agent) -> None:
    """Each ``claude -p`` is a session of its own, with nothing to estimate its first request by."""
    agent.install()
    agent.world.brim("limit", "200k tokens/day")
    requests = itertools.count(1)

    def model(_: Asked) -> Step:
        number = next(requests)
        if number % 2:
            return agent.shell("echo again >> again.txt", tokens=20_000 * number)
        return Say("Done.", tokens=20_000 * number)

    agent.world.api.will(*[model] * 40)
    made = []
    for run in range(10):
        before = len(agent.world.api.asked)
        agent.ask(f"Do part {run}.")
        made.append(len(agent.world.api.asked) - before)
    assert made[0] >= 2
    first_refused = made.index(0)
    assert not any(made[first_refused:]), "a refused prompt makes no request"
    # A turn is two requests: where no answer of a hook ends it, the second one is made too.
    unforeseen = 20_000 if agent.name in ("claude", "gemini") else 40_000
    assert 200_000 * 0.9 <= limit_spent(agent) <= 200_000 + unforeseen


def test_a_limit_for_each_session_starts_over_with_the_next(agent: Agent) -> None:
    agent.install()
    agent.world.brim("limit", "70k tokens/session")
    # The second prompt begins as the first one: what the provider has of it doesn't count.
    agent.world.api.will(Say("Hello.", tokens=80_000), *[Say("Hello.", tokens=160_000)] * 3)
    agent.ask("Say hello.")
    agent.ask("Say hello.")
    assert len(agent.world.api.turns) == 2
    agent.ask_again("Go on.")
    assert len(agent.world.api.turns) == 2


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
        Say("It looks around."),  # newer clients go on meanwhile, older ones wait for it
    ]
    of_agent: list[Step] = [
        claude.shell(f"echo {at} >> sub.txt", tokens=100_000 * (at + 1)) for at in range(6)
    ]

    def model(asked: Asked) -> Step:
        steps = of_main if asked.holding("Say hello.") else of_agent
        return steps.pop(0) if steps else Say("That is all.")

    claude.world.api.will(*[model] * 20)
    claude.ask("Say hello.", "--allowedTools", "Bash", "Agent")
    claude.world.api.will(claude.shell("echo main >> main.txt"), Say())
    claude.ask_again("Go on.")
    assert (claude.world.project / "sub.txt").read_text().split() in (["0"], ["0", "1"])
    assert (claude.world.project / "main.txt").exists()
    assert len(of_agent) >= 3


def test_three_sub_agents_at_once_each_end_within_a_request(claude: Agent) -> None:
    claude.install()
    claude.world.brim("limit", "300k tokens/day")
    starts = [
        Call(
            "Agent",
            {
                "description": f"look {at}",
                "prompt": f"Look around, helper {at}.",
                "subagent_type": "general-purpose",
                "run_in_background": True,
            },
        )
        for at in range(3)
    ]
    of_main: list[Step] = [*starts, Say("They look around.")]

    def model(asked: Asked) -> Step:
        if asked.holding("Say hello."):
            return of_main.pop(0) if of_main else Say("That is all.")
        helper = next(at for at in range(3) if asked.holding(f"helper {at}."))
        requests[helper] += 1
        return claude.shell("echo again >> again.txt", tokens=40_000 * requests[helper])

    requests = [0, 0, 0]
    claude.world.api.will(*[model] * 60)
    claude.ask("Say hello.", "--allowedTools", "Bash", "Agent")
    # Each request adds 40,000 tokens, so seven are below the limit, without those of the main thread.
    # One more may be on its way for each of the three.
    assert min(requests) >= 1
    assert sum(requests) <= 7 + 3
    assert 280_000 <= limit_spent(claude) <= 300_000 + 3 * 40_000


def test_a_person_who_compacts_at_the_limit_is_refused(claude: Agent) -> None:
    claude.install()
    claude.world.brim("limit", "70k tokens/day")
    claude.world.api.will(*[Say("Hello.", tokens=80_000)] * 4)
    claude.ask("Say hello.")
    before = len(claude.world.api.asked)
    claude.ask_again("/compact")
    assert len(claude.world.api.asked) == before


def test_a_person_who_compacts_codex_at_the_limit_is_refused(codex: Agent) -> None:
    """Only its terminal has ``/compact``."""
    world = codex.world
    codex.install()
    world.brim("limit", "70k tokens/day")
    world.api.will(*[Say("It is done.", tokens=80_000)] * 4)
    command = [codex.program, "--dangerously-bypass-hook-trust", "Say hello."]
    environ = {**world.environ, **codex.environ()}
    with Terminal(command, world.project, environ) as terminal:
        terminal.wait_for("Use existing model")
        terminal.enter("2")
        terminal.wait_for("Worked for")  # a turn that still ends takes no /compact
        before = len(world.api.asked)
        terminal.enter("/compact")
        terminal.wait_for("The conversation wasn't compacted")
    assert len(world.api.asked) == before
    assert not world.api.compactions


def test_a_plan_that_codex_has_used_up_holds_its_prompts(codex: Agent, world: World) -> None:
    codex.install()
    world.brim("limit", "90%/5h")
    codex.world.api.will(*[Say("Hello.")] * 3)
    codex.ask("Say hello.")
    assert len(codex.world.api.turns) == 1
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
    assert said["limits"][0]["spent"] == 93
    codex.ask("Go on.")
    assert len(codex.world.api.turns) == 1


@pytest.mark.parametrize("old", ["2.1.197"])
def test_an_older_claude_code_takes_an_event_that_it_does_not_know(claude: Agent, old: str) -> None:
    """Settings with an event of another version are read all the same: other hooks run."""
    claude.install()
    settings = claude.world.home / ".claude" / "settings.json"
    data = json.loads(settings.read_text())
    assert "PostToolBatch" in data["hooks"]
    data["hooks"][f"NotIn{old.replace('.', '')}"] = data["hooks"]["PostToolBatch"]
    settings.write_text(json.dumps(data))
    claude.world.brim("limit", "0/day")
    claude.world.api.will(Say("Hello."))
    claude.ask("Say hello.")
    assert claude.world.api.turns == []
