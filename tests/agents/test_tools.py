"""A tool is known by what it does, whichever agent names it."""

from __future__ import annotations

import pytest

from brim.agents import AGENTS, agent_named, kind_of_tool
from brim.agents.call import KINDS


@pytest.mark.parametrize(
    ("name", "tool"),
    [
        ("Bash", "shell"),
        ("exec_command", "shell"),
        ("run_shell_command", "shell"),
        ("Write", "write"),
        ("write_file", "write"),
        ("Edit", "edit"),
        ("MultiEdit", "edit"),
        ("NotebookEdit", "edit"),
        ("apply_patch", "edit"),
        ("replace", "edit"),
        ("Read", "read"),
        ("Grep", "search"),
        ("TodoWrite", "todo"),
        ("update_plan", "todo"),
        ("Task", "agent"),
        ("Agent", "agent"),
        ("AskUserQuestion", "question"),
        ("ExitPlanMode", "plan"),
        ("mcp__server__write", ""),
        ("", ""),
    ],
)
def test_tools_of_every_agent_are_known(name: str, tool: str) -> None:
    assert kind_of_tool(name) == tool


def test_case_does_not_matter() -> None:
    assert kind_of_tool("BASH") == kind_of_tool("bash") == "shell"


@pytest.mark.parametrize("agent", AGENTS)
def test_every_tool_has_a_kind_that_calls_know(agent: str) -> None:
    assert set(agent_named(agent).tools.names) <= set(KINDS)
