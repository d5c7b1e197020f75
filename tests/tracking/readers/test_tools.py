"""A tool is known by what it does, whichever agent names it."""

from __future__ import annotations

from importlib import resources

import pytest

from brim.tracking.events import TOOLS
from brim.tracking.readers.tools import tool_of


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
    assert tool_of(name) == tool


def test_case_does_not_matter() -> None:
    assert tool_of("BASH") == tool_of("bash") == "shell"


def test_the_table_holds_only_tools_that_events_know() -> None:
    table = (
        resources.files("brim.tracking.readers")
        .joinpath("data", "tools.tsv")
        .read_text(encoding="utf-8")
    )
    rows = [line.split("\t") for line in table.splitlines() if not line.startswith("#")]
    assert {tool for tool, _ in rows} <= set(TOOLS)
