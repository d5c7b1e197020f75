"""Files such as CLAUDE.md: the program that loads one by itself isn't told its rules again, the others
are told them."""

from __future__ import annotations

from tests.e2e.agents import Agent
from tests.e2e.test_memory import compacted

FILES = {
    "claude": "CLAUDE.md",
    "codex": "AGENTS.md",
    "gemini": "GEMINI.md",
    "copilot": "AGENTS.md",
    "qwen": "QWEN.md",
}
OTHER_FILES = {"claude": "GEMINI.md", "codex": "CLAUDE.md", "gemini": "AGENTS.md"}
RULE = "Never touch the files under legacy/."


def teach(agent: Agent, name: str) -> None:
    """Write a rule into the project's file *name*, in a project that is trusted."""
    agent.world.write(name, f"- {RULE}\n")
    agent.world.brim("rules", "trust", "--yes")


def test_what_the_program_reads_on_its_own_is_there_once(agent: Agent) -> None:
    teach(agent, FILES[agent.name])
    agent.install()
    agent.ask("Say hello.")
    assert agent.world.api.turns[0].times(RULE) == 1


def test_it_is_there_once_after_a_compaction(agent: Agent) -> None:
    teach(agent, FILES[agent.name])
    compacted(agent)
    assert agent.world.api.turns[-1].times(RULE) == 1


def test_a_file_of_another_program_is_told_once(agent: Agent) -> None:
    teach(agent, OTHER_FILES[agent.name])
    agent.install()
    agent.ask("Say hello.")
    first = agent.world.api.turns[0]
    assert first.only(RULE).role == (agent.start_role or agent.role)
    assert [told for told in agent.told(first) if RULE in told.text]
