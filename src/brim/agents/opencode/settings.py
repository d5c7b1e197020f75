"""What ``brim init`` writes for opencode, which has no settings for hooks but runs every file in a
folder."""

from __future__ import annotations

import json

from brim.agents.settings import AgentSettings
from brim.files import data_file


def plugin_text(launcher: str) -> str:
    """Return the plugin that opencode runs, which calls *launcher*."""
    return data_file(__file__, "brim.js").decode().replace('"{launcher}"', json.dumps(launcher))


SETTINGS = AgentSettings(
    tested=("1.18.33",),
    notes={
        "add text": "what belongs before a call comes with its result",
        "end a turn": "every further call is refused, and the next prompt",
        "status line": "opencode has none: brim context says how full the window is",
        "usage": "the plugin notes what each step took; loops go unnoticed",
    },
    learn_file="command/learn.md",
    mcp_command="opencode mcp add",
    own_file=plugin_text,
    own_file_begins="// brim for opencode:",
)
