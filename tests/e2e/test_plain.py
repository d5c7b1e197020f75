"""The real programs, without brim, against the API of these tests: what everything else here rests on."""

from __future__ import annotations

from tests.e2e.agents import Agent
from tests.e2e.api.script import Say


def test_a_program_runs_a_command_and_ends_without_a_network(agent: Agent) -> None:
    agent.world.api.will(agent.shell("echo hello > made.txt"), Say("All of it is done."))
    ran = agent.ask("Say hello.")
    assert ran.code == 0, ran.told
    assert "All of it is done." in ran.out
    assert (agent.world.project / "made.txt").read_text() == "hello\n"
    assert len(agent.world.api.turns) == 2
    assert agent.told(agent.world.api.turns[-1]) == []
