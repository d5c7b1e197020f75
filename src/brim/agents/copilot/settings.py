"""What ``brim init`` writes for GitHub Copilot CLI, and what it reads of its settings.

It refuses every call if a hook before a tool fails, also one whose program is missing. So the line
of each hook ends with 0 whatever happens.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from brim.agents.copilot.value import AGENT
from brim.agents.settings import (
    AgentSettings,
    Instructions,
    StatusPlace,
    disable_all_hooks,
    is_enabled_plugin,
    json_settings,
)

SETTINGS_FILE = "settings.json"


def has_plugin(environ: Mapping[str, str]) -> bool:
    """Whether brim's plugin is enabled, from whichever marketplace it came."""
    home = AGENT.places.home(environ)
    return is_enabled_plugin(json_settings(os.path.join(home, SETTINGS_FILE)))


def server_settings(environ: Mapping[str, str], project: str | None) -> list[Mapping[str, Any]]:
    """Return ``mcp-config.json`` and the project's ``.mcp.json``."""
    paths = [os.path.join(AGENT.places.home(environ), "mcp-config.json")]
    if project is not None:
        paths.append(os.path.join(project, ".mcp.json"))
    return [json_settings(path) for path in paths]


SETTINGS = AgentSettings(
    tested=("1.0.102",),
    notes={
        "end a turn": "at the second command or change of a file; other calls are refused",
        "steer a compaction": "brim gives back what the summary dropped",
    },
    status_line=StatusPlace(file=SETTINGS_FILE, word=AGENT.name),
    learn_file="skills/learn/SKILL.md",
    learn_text="---\nname: learn\n"
    "description: {about}. For /learn, or when asked to keep a rule.\n---\n{task}",
    learn_rule="what the user wrote with /learn.",
    mcp_command="copilot mcp add brim{own} -- {program}",
    has_plugin=has_plugin,
    remove_plugin="copilot plugin uninstall brim@brim",
    allows_comments=True,
    off_switch=disable_all_hooks,
    server_settings=server_settings,
    never_fails=True,
    instructions=Instructions(
        files=("AGENTS.md", "CLAUDE.md", "GEMINI.md"),
        root_files=(".github/copilot-instructions.md",),
        folders={".github/instructions": ".instructions.md", ".claude/rules": ".md"},
        own_files=("copilot-instructions.md",),
        own_folders={"instructions": ".instructions.md"},
    ),
)
