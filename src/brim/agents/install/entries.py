"""What brim writes into an agent's settings, and how its own entries are told from those of others.

Each hook calls the launcher with an event and an agent, and says if it only injects. The words never change from
version to version: Codex asks for trust again when they do. Timeouts are in the unit of the agent: seconds, for Gemini
CLI milliseconds.
"""

from __future__ import annotations

import os
import shlex

from brim.agents.install.merging import Entry

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

ALL, INJECTION_ONLY = "all", "injection-only"
HOOKS = (ALL, INJECTION_ONLY)
"""How much is installed: everything, or only what tells the agent something."""

SERVER, TOOL = "brim", "on_hook"
"""The MCP server and its tool that a resident hook calls."""


def launcher_path(home: str) -> str:
    """Return the launcher of hooks in the user's folder *home*."""
    return os.path.join(os.path.abspath(home), "bin", "hook")


def status_path(home: str) -> str:
    """Return the launcher of the status line in the user's folder *home*."""
    return os.path.join(os.path.abspath(home), "bin", "statusline")


def entries_for(agent: str, home: str, *, hooks: str = ALL, resident: bool = False) -> list[Entry]:
    """Return what is installed for *agent*."""
    from brim.agents.install.resident import FIELDS
    from brim.hooks.client import client_of

    found = []
    for name, event in client_of(agent).EVENTS.items():
        if hooks == INJECTION_ONLY and not event.injects:
            continue
        hook = hook_for(agent, name, home, seconds=event.timeout, hooks=hooks, resident=resident and name in FIELDS)
        found.append(Entry(name, event.matcher, hook))
        if resident and name in FIELDS:
            found.append(Entry(name, event.matcher, _tool_hook(agent, name, event.timeout)))
    return found


def hook_for(
    agent: str, event: str, home: str, *, seconds: int, hooks: str = ALL, resident: bool = False
) -> dict[str, Any]:
    """Return the hook that starts a process; a *resident* one only if no server answers for the session."""
    words = [launcher_path(home), event, agent, *([] if hooks == ALL else [hooks])]
    if resident:
        words[0] += "-unless-resident"
    timeout = seconds * 1000 if agent == "gemini" else seconds
    named = {"name": "brim"} if agent == "gemini" else {}
    return {"type": "command", **named, "command": shlex.join(words), "timeout": timeout}


def status_value(home: str) -> dict[str, Any]:
    """Return the entry for the status line."""
    return {"type": "command", "command": shlex.quote(status_path(home))}


class Ours:
    """Knows brim's entries: those that call a launcher in the user's folder *home*, or in any other ``.brim``."""

    def __init__(self, home: str) -> None:
        self._folder = os.path.join(os.path.abspath(home), "bin")

    def hook(self, hook: Any) -> bool:
        """Whether *hook* is brim's."""
        if not isinstance(hook, dict):
            return False
        if hook.get("type") == "mcp_tool":
            return hook.get("server") == SERVER and hook.get("tool") == TOOL
        words = words_of(hook)
        return len(words) in (3, 4) and words[3:] in ([], [INJECTION_ONLY]) and self._calls(words[0], "hook")

    def status(self, value: Any) -> bool:
        """Whether *value* is brim's status line: by its launcher, or by the command that people type."""
        words = words_of(value) if isinstance(value, dict) else []
        if len(words) == 2 and os.path.basename(words[0]) == "brim" and words[1] == "statusline":
            return True
        return len(words) == 1 and self._calls(words[0], "statusline")

    def _calls(self, program: str, name: str) -> bool:
        folder, base = os.path.split(program)
        if base.removesuffix("-unless-resident") != name:
            return False
        return folder == self._folder or folder.endswith(os.path.join(".brim", "bin"))


def words_of(hook: dict[str, Any]) -> list[str]:
    """Return the command of *hook* as the shell splits it; nothing if it is none, or more than words."""
    command = hook.get("command")
    if not isinstance(command, str):
        return []
    try:
        return shlex.split(command)
    except ValueError:
        return []


def _tool_hook(agent: str, event: str, seconds: int) -> dict[str, Any]:
    from brim.agents.install.resident import FIELDS

    fields = {name: f"${{{name}}}" for name in FIELDS.get(event, ())}
    given = {"event": event, "agent": agent, **fields}
    return {"type": "mcp_tool", "server": SERVER, "tool": TOOL, "input": given, "timeout": seconds}
