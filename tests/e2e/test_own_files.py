"""Which files each program loads on its own, at the start and after a compaction: what brim then
leaves out."""

from __future__ import annotations

import pytest

from tests.e2e.agents import Agent
from tests.e2e.test_memory import compacted

FILES = {"claude": "CLAUDE.md", "codex": "AGENTS.md", "gemini": "GEMINI.md"}
RULE = "Never touch the files under legacy/."


@pytest.fixture
def teaching(agent: Agent) -> Agent:
    """The program in a project whose own file has a rule, which brim has too."""
    agent.world.write(FILES[agent.name], f"- {RULE}\n")
    agent.world.brim("rules", "import", "--yes", environ=agent.environ())
    return agent


def test_what_the_program_reads_on_its_own_is_there_once(teaching: Agent) -> None:
    teaching.install()
    teaching.ask("Say hello.")
    assert teaching.world.api.turns[0].times(RULE) == 1


def test_it_is_there_once_after_a_compaction(teaching: Agent) -> None:
    compacted(teaching)
    assert teaching.world.api.turns[-1].times(RULE) == 1
