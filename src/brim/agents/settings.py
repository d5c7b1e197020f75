"""What ``brim init`` writes for an agent, and what it reads of the agent's own settings.

Each agent's ``settings.py`` has one value, ``SETTINGS``. Hooks don't load it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from brim.record import PlainData

LEARN_ABOUT = "Teach a rule that brim keeps and tells your agents when it matters"
"""What the command that teaches a rule is for, as agents show it."""

LEARN_TEXT = "---\ndescription: {about}\n---\n{task}"
"""The file of that command, where nothing else is needed."""


def never_off(_settings: Mapping[str, Any], _config: Mapping[str, Any]) -> str:
    """Return nothing: the agent has no switch for all hooks."""
    return ""


@dataclass(frozen=True)
class AgentSettings(PlainData):
    """What brim writes for an agent, and how the agent's own settings are read."""

    learn_file: str
    """The file of the command that teaches a rule, below the agent's folder."""
    mcp_command: str
    """What a person types to add brim's MCP server, with ``{own}`` and ``{program}``."""
    learn_text: str = LEARN_TEXT
    """That file, with ``{about}``, ``{allowed}`` and ``{task}``."""
    learn_rule: str = "$ARGUMENTS"
    """How the file names what the person typed."""
    learn_called: str = "/learn"
    """What a person types."""
    remove_plugin: str = ""
    """What a person types to remove brim's plugin; empty if there is none."""
    allows_comments: bool = False
    """Whether the agent allows comments in its settings."""
    own_file: str = ""
    """The data file that is the whole of the agent's file, with ``{launcher}``."""
    own_file_begins: str = ""
    """How brim knows that file."""
    has_status_line: bool = False
    """Whether the agent shows a status line of ours."""
    hook_name: str = ""
    """The name that a hook has in the settings, if it has one."""
    ticks: int = 1
    """Units of a timeout in a second."""
    config_file: str = ""
    """A second settings file in the agent's folder, in TOML."""
    asks_for_trust: str = ""
    """What to tell the person if the agent asks whether it may run hooks."""
    unasked: str = ""
    """What the agent does without asking any hook."""
    reads_posix_paths: bool = False
    """Whether its shell on Windows reads POSIX paths: Git Bash."""
    own_models: str = ""
    """How names of models begin that can be looked up, where it has short names of its own."""
    off_switch: Callable[[Mapping[str, Any], Mapping[str, Any]], str] = never_off
    """Says what in its settings, and in its second file, keeps all hooks from running."""
    instructions: tuple[str, ...] = ()
    """The rule files in a project that it loads on its own."""
    hidden_by: tuple[str, ...] = ()
    """The files that keep it from loading the last of them."""
    most_instructions: int | None = None
    """Bytes of a rule file after which it cuts off what it loads."""

    def hook(self, command: str, timeout: int) -> dict[str, Any]:
        """Return the entry of a hook; *timeout* is in seconds."""
        entry: dict[str, Any] = {"type": "command"}
        if self.hook_name:
            entry["name"] = self.hook_name
        entry["command"] = command
        entry["timeout"] = timeout * self.ticks
        return entry


def settings_for(agent: str) -> AgentSettings:
    """Return what brim writes for *agent*."""
    module = f"brim.agents.{agent}.settings"
    __import__(module)
    settings: AgentSettings = sys.modules[module].SETTINGS
    return settings
