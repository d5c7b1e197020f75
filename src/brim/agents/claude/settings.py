"""What ``brim init`` writes for Claude Code."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from brim.agents.settings import AgentSettings


def off_switch(settings: Mapping[str, Any], _: Mapping[str, Any]) -> str:
    """Return what keeps all hooks from running; empty if nothing does."""
    return "disableAllHooks is true there" if settings.get("disableAllHooks") is True else ""


SETTINGS = AgentSettings(
    learn_file="commands/learn.md",
    learn_text="---\ndescription: {about}\nargument-hint: [rule]\nallowed-tools: {allowed}\n"
    "---\n{task}",
    mcp_command="claude mcp add --scope user brim{own} -- {program}",
    remove_plugin="claude plugin uninstall brim@brim",
    has_status_line=True,
    reads_posix_paths=True,
    own_models="claude-",
    off_switch=off_switch,
    instructions=("CLAUDE.md", ".claude/CLAUDE.md", "CLAUDE.local.md", "AGENTS.md"),
    hidden_by=("CLAUDE.md", ".claude/CLAUDE.md", "CLAUDE.local.md"),
)
