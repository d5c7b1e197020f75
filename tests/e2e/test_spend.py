"""A budget that is spent stops the run: no call is made any more, and the agent is told to wrap up."""

from __future__ import annotations

import json

import pytest

from tests.e2e.agents import Agent
from tests.e2e.api.script import Say
from tests.e2e.world import World


def spent(world: World, scope: str = "project") -> int:
    """Return what the ledger says was spent, in micro-dollars."""
    scopes = json.loads(world.brim("spend", "status", "--json").out)["scopes"]
    return next((int(each["spent"]) for each in scopes if each["scope"] == scope), 0)


def test_a_spent_budget_denies_the_next_call_and_says_what_lifts_it(agent: Agent) -> None:
    agent.install()
    agent.world.brim("spend", "limit", "project", "0.02")
    agent.world.api.will(
        agent.shell("echo one >> calls.txt", tokens=100_000),
        agent.shell("echo two >> calls.txt", tokens=110_000),
        agent.shell("echo three >> calls.txt", tokens=120_000),
        Say("Wrapped up."),
    )
    ran = agent.ask("Say hello.")
    assert ran.code == 0, ran.told
    assert spent(agent.world) > 20_000
    made = agent.world.project / "calls.txt"
    calls = made.read_text().split() if made.exists() else []
    assert calls in ([], ["one"]), "the first may run before the client has written down what the answer cost"
    results = [part.text for part in agent.world.api.turns[-1].parts if part.kind == "result"]
    denied = [text for text in results if "brim spend continue|raise|wrap-up|stop project" in text]
    assert len(denied) == len(results) - len(calls) >= 2
    assert all("$0.02" in text for text in denied)


def test_an_agent_that_asks_on_and_on_is_never_let_through(agent: Agent) -> None:
    agent.install()
    agent.world.brim("spend", "limit", "project", "0")
    agent.world.api.will(*[agent.shell(f"echo {at} >> calls.txt") for at in range(6)], Say("Wrapped up."))
    ran = agent.ask("Say hello.")
    assert not (agent.world.project / "calls.txt").exists(), ran.told


def test_a_budget_that_was_raised_lets_the_next_call_pass(claude: Agent) -> None:
    claude.install()
    claude.world.brim("spend", "limit", "project", "0.02")
    claude.world.api.will(Say(tokens=100_000))
    claude.ask("Say hello.")
    claude.world.api.will(claude.shell("echo two >> calls.txt"), Say())
    claude.ask_again("Say hello.")
    assert not (claude.world.project / "calls.txt").exists()
    claude.world.brim("spend", "raise", "project", "50")
    claude.world.api.will(claude.shell("echo three >> calls.txt"), Say())
    claude.ask_again("Say hello.")
    assert (claude.world.project / "calls.txt").read_text() == "three\n"


def test_the_ledger_and_the_program_agree_on_what_a_session_cost(claude: Agent) -> None:
    claude.install()
    claude.world.brim("spend", "limit", "project", "100")
    claude.world.api.will(claude.shell("echo one", tokens=100_000), Say(tokens=110_000, output_tokens=2_000))
    ran = claude.ask("Say hello.")
    said = ran.of("result")[-1]["total_cost_usd"]
    assert spent(claude.world) == pytest.approx(said * 1_000_000, abs=2)
    assert said > 0.5


def test_what_a_session_cost_is_in_the_ledger_when_it_is_over(agent: Agent) -> None:
    agent.install()
    agent.world.brim("spend", "limit", "project", "100")
    agent.world.api.will(agent.shell("echo one", tokens=100_000), Say(tokens=110_000))
    agent.ask("Say hello.")
    assert spent(agent.world) > 30_000
