"""What ``brim init`` writes for Gemini CLI."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from brim.agents.fields import items, value
from brim.agents.settings import AgentSettings


def off_switch(settings: Mapping[str, Any], _: Mapping[str, Any]) -> str:
    """Return what keeps all hooks from running; empty if nothing does."""
    if value(settings, "hooksConfig", "enabled") is False:
        return "hooksConfig.enabled is false there"
    if "brim" in items(settings, "hooksConfig", "disabled"):
        return "hooksConfig.disabled names brim there"
    return ""


SETTINGS = AgentSettings(
    learn_file="commands/learn.toml",
    learn_text="description = \"{about}\"\nprompt = '''\n{task}'''\n",
    learn_rule="{{args}}",
    mcp_command="gemini mcp add --scope user brim {program}{own}",
    remove_plugin="gemini extensions uninstall brim",
    allows_comments=True,
    hook_name="brim",
    ticks=1_000,  # its unit is milliseconds
    off_switch=off_switch,
    instructions=("GEMINI.md",),
)
