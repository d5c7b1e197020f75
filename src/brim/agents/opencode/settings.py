"""What ``brim init`` writes for opencode, which runs every file in a folder."""

from __future__ import annotations

from brim.agents.settings import AgentSettings

SETTINGS = AgentSettings(
    learn_file="command/learn.md",
    mcp_command="opencode mcp add",
    own_file="opencode.js",
    own_file_begins="// brim for opencode:",
)
