"""opencode: its plugin (``install/data/opencode.js``) sends Claude Code's events, and puts the
answers in their place.

The plugin also notes what each step took and cost, in a file of brim's own without texts: limits
hold, but loops go unnoticed.
"""

from __future__ import annotations

from brim.hooks.claude import Claude
from brim.hooks.client import EVENTS

_SENT = {
    name: EVENTS[name]
    for name in (
        "SessionStart",
        "UserPromptSubmit",
        "PreToolUse",
        "PostToolUse",
        "PreCompact",
        "Stop",
    )
}


class Opencode(Claude):
    """opencode."""

    agent = "opencode"
    variable = ""  # the plugin always names the session
    EVENTS = _SENT


CLIENT = Opencode()
