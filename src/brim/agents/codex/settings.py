"""What ``brim init`` writes for Codex."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from brim.agents.fields import value
from brim.agents.settings import AgentSettings


def off_switch(_: Mapping[str, Any], config: Mapping[str, Any]) -> str:
    """Return what keeps all hooks from running; empty if nothing does."""
    is_off = value(config, "features", "hooks") is False
    return "features.hooks is false in config.toml" if is_off else ""


SETTINGS = AgentSettings(
    learn_file="skills/learn/SKILL.md",  # Codex has skills in place of commands
    learn_text="---\nname: learn\n"
    "description: {about}. For $learn, or when asked to keep a rule.\n---\n{task}",
    learn_rule="what the user wrote with $learn.",
    learn_called="$learn",
    mcp_command="codex mcp add brim{own} -- {program}",
    remove_plugin="codex plugin remove brim@brim",
    config_file="config.toml",
    asks_for_trust="Codex asks once, when it starts, whether it may run these hooks: "
    "choose to trust them",
    unasked="what Codex types into a command that runs already, and its web searches",
    off_switch=off_switch,
    instructions=("AGENTS.override.md", "AGENTS.md"),
    hidden_by=("AGENTS.override.md",),
    most_instructions=32_768,
)
