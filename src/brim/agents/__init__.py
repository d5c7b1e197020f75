"""What do agents send, what do they accept, and where do they write things down?

``TABLE`` lists all agents, one line each. ``agent`` says what an ``Agent`` is, and ``call`` has the
neutral words: ``ToolCall``, ``HookCall`` and ``Answer``. Each agent is a folder: ``value.py`` is
what hooks load, ``transcript.py`` reads its files, ``settings.py`` is what ``brim init`` writes for
it, and ``run.py`` how ``brim run`` starts it.

``events`` are what happened in a session, whichever agent wrote it down. ``readers`` finds out
which format a line has, ``stream`` reads files as they grow, ``usage`` only what requests took,
and ``responses`` reads plain responses of providers. ``lines``, ``fields`` and ``times`` are
what readers share. Readers never raise on what is in a line.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from brim._lazy import exports
from brim.config.places import home_folder
from brim.record import PlainData

if TYPE_CHECKING:
    from brim.agents.agent import Agent as Agent
    from brim.agents.call import Event as Event
    from brim.agents.call import ToolCall as ToolCall
    from brim.agents.events import Compaction as Compaction
    from brim.agents.events import End as End
    from brim.agents.events import Message as Message
    from brim.agents.events import ModelSeen as ModelSeen
    from brim.agents.events import RunTotal as RunTotal
    from brim.agents.events import StateSeen as StateSeen
    from brim.agents.events import ToolResult as ToolResult
    from brim.agents.events import Usage as Usage
    from brim.agents.readers import format_of as format_of
    from brim.agents.readers import known_formats as known_formats
    from brim.agents.stream import Feed as Feed
    from brim.agents.stream import read as read
else:
    __getattr__, __dir__ = exports(
        __name__,
        agent="Agent",
        call="Event ToolCall",
        events="Compaction End Message ModelSeen RunTotal StateSeen ToolResult Usage",
        readers="format_of known_formats",
        stream="Feed read",
    )


@dataclass(frozen=True)
class UserRules(PlainData):
    """Where an agent's file with the user's own rules is."""

    variable: str
    """The variable that can name another folder than the home."""
    below_variable: str
    below_home: str

    def path(self, environ: Mapping[str, str]) -> str:
        """Return the path of the file, whether it exists or not."""
        folder = environ.get(self.variable)
        if folder:
            return os.path.join(folder, self.below_variable)
        return os.path.join(home_folder(environ), self.below_home)


@dataclass(frozen=True)
class TableLine(PlainData):
    """What is known of an agent without its value, for a quick look at any agent's call."""

    name: str
    title: str
    """What people call it."""
    folder: str
    """Its folder in a home or a project."""
    hook_files: tuple[str, ...]
    """The names of the files in which its hooks are set."""
    user_rules: UserRules
    """The file with rules that it loads in every project."""
    hook_signs: tuple[str, ...] = ()
    """Variables that it sets for hooks alone: they tell that a hook which is meant for another
    agent runs in this one."""
    is_supervised: bool = False
    """Whether ``brim run`` can start it: then it has a ``run.py``."""


TABLE = (
    TableLine(
        "claude",
        "Claude Code",
        ".claude",
        ("settings.json", "settings.local.json"),
        UserRules("CLAUDE_CONFIG_DIR", "CLAUDE.md", ".claude/CLAUDE.md"),
        is_supervised=True,
    ),
    TableLine(
        "codex",
        "Codex",
        ".codex",
        ("hooks.json", "config.toml"),
        UserRules("CODEX_HOME", "AGENTS.md", ".codex/AGENTS.md"),
        is_supervised=True,
    ),
    TableLine(
        "gemini",
        "Gemini CLI",
        ".gemini",
        ("settings.json",),
        UserRules("GEMINI_CLI_HOME", ".gemini/GEMINI.md", ".gemini/GEMINI.md"),
        is_supervised=True,
    ),
    TableLine(
        "opencode",
        "opencode",
        ".opencode",
        ("brim.js",),
        UserRules("XDG_CONFIG_HOME", "opencode/AGENTS.md", ".config/opencode/AGENTS.md"),
    ),
    TableLine(
        "copilot",
        "Copilot CLI",
        ".copilot",
        ("brim.json", "settings.json"),
        UserRules("COPILOT_HOME", "copilot-instructions.md", ".copilot/copilot-instructions.md"),
        hook_signs=("COPILOT_PROJECT_DIR",),
    ),
    TableLine(
        "qwen",
        "Qwen Code",
        ".qwen",
        ("settings.json",),
        UserRules("QWEN_HOME", "QWEN.md", ".qwen/QWEN.md"),
        hook_signs=("QWEN_PROJECT_DIR",),
    ),
)

AGENTS = tuple([line.name for line in TABLE])
"""The names of all agents."""

_OTHER_SIGNS = {"BRIM_RUN_ID": "brim run", "AI_AGENT": "an agent"}


def table_line(name: str) -> TableLine:
    """Return the line of the agent *name*; a ``KeyError`` if there is none."""
    for line in TABLE:
        if line.name == name:
            return line
    raise KeyError(name)


def agent_named(name: str) -> Agent:
    """Return the agent *name*; a ``KeyError`` if there is none."""
    table_line(name)
    module = f"brim.agents.{name}.value"
    __import__(module)
    agent: Agent = sys.modules[module].AGENT
    return agent


def every_agent() -> Iterator[Agent]:
    """Give the value of each agent, in the order of the table."""
    for line in TABLE:
        yield agent_named(line.name)


def user_rule_files(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the path of the user's rules for each agent, by its name, of those that exist."""
    paths = {}
    for line in TABLE:
        path = line.user_rules.path(environ)
        if os.path.isfile(path):
            paths[line.name] = path
    return paths


def unloaded_rule_files(agent: Agent, environ: Mapping[str, str]) -> list[str]:
    """Return the user's rules for other agents, which *agent* doesn't load by itself."""
    paths = user_rule_files(environ)
    for name in agent.native_files.users_of:
        if name in paths:
            loaded = os.path.realpath(paths[name])
            return [path for path in paths.values() if os.path.realpath(path) != loaded]
    return list(paths.values())


def loaded_rule_files(agent: Agent, environ: Mapping[str, str]) -> list[str]:
    """Return the user's rules that *agent* loads by itself."""
    unloaded = unloaded_rule_files(agent, environ)
    return [path for path in user_rule_files(environ).values() if path not in unloaded]


def agent_at_work(environ: Mapping[str, str]) -> str:
    """Return what people call the agent that runs commands with *environ*; empty in a person's own
    terminal."""
    for agent in every_agent():
        if any(environ.get(variable) for variable in agent.signs):
            return agent.title
    return next((title for sign, title in _OTHER_SIGNS.items() if environ.get(sign)), "")


def agent_of_hook(environ: Mapping[str, str]) -> str:
    """Return the name of the agent that has started a hook with *environ*, if that says it.

    Some agents run the hooks of another one's settings too.
    """
    for line in TABLE:
        if any(environ.get(variable) for variable in line.hook_signs):
            return line.name
    return ""


def kind_of_tool(name: str) -> str:
    """Return what the tool *name* of any agent does, one of ``call.KINDS``.

    >>> kind_of_tool("MultiEdit"), kind_of_tool("run_shell_command"), kind_of_tool("mcp__a__b")
    ('edit', 'shell', '')
    """
    return next(filter(None, [agent.tools.kind(name) for agent in every_agent()]), "")
