"""Rules that a model breaks, before and after a compaction: ``tests/e2e/held.py`` with a few of
them."""

from __future__ import annotations

from tests.e2e.agents import Agent
from tests.e2e.held import RULES, play

FEW = RULES[:4]
"""Three commands and an edit; two of the four come after the compaction."""


def test_a_model_that_reads_nothing_breaks_every_rule_that_is_only_told(agent: Agent) -> None:
    found = play(agent.name, "told by brim", FEW, obeys=False)
    assert (found.before, found.after) == (2, 2)


def test_a_model_that_obeys_keeps_what_is_in_its_own_file_after_a_compaction(agent: Agent) -> None:
    found = play(agent.name, "CLAUDE.md, AGENTS.md, GEMINI.md", FEW, obeys=True)
    assert (found.before, found.after) == (0, 0)


def test_what_is_blocked_never_runs(agent: Agent) -> None:
    found = play(agent.name, "blocked by brim", FEW, obeys=False)
    assert (found.before, found.after) == (0, 0)
