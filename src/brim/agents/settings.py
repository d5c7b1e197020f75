"""What ``brim init`` writes for an agent, and what it reads of the agent's own settings.

Each agent's ``settings.py`` has one value, ``SETTINGS``. Hooks don't load it. ``jsonc`` edits the
settings files; ``read_settings``, ``json_settings`` and ``toml_settings`` read them.
"""

from __future__ import annotations

import os
import sys
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from brim.agents.agent import Places
from brim.agents.fields import items, mapping
from brim.agents.jsonc import JsonText
from brim.errors import BrimError, InputError
from brim.files import WINDOWS, read_safely
from brim.record import PlainData

LARGEST = 8_000_000
"""Bytes of a settings file."""

LEARN_ABOUT = "Teach a rule that brim keeps and tells your agents"
"""What the command that teaches a rule is for, as agents show it."""

LEARN_TEXT = "---\ndescription: {about}\n---\n{task}"
"""The file of that command, where nothing else is needed."""

PLUGIN_NAME = "brim"

GUARD = " || true"
"""What stands after the command of a hook that must not fail, whatever becomes of its program."""


def read_settings(path: str) -> str | None:
    """Return the text of the settings file *path*, with its line ends, or None if there is none."""
    try:  # a link is fine: people keep their dotfiles elsewhere
        return read_safely(os.path.realpath(path), at_most=LARGEST).decode()
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path}: byte {error.start} is not UTF-8; nothing was changed: correct it first"
        ) from None
    except OSError as error:
        raise InputError(
            f"{path}: cannot be read: {error.strerror or error}; nothing was changed"
        ) from None


def json_settings(path: str) -> dict[str, Any]:
    """Return what the settings file *path* says; nothing if it can't be read."""
    try:
        return JsonText(read_settings(path) or "{}", path, comments=True).value
    except BrimError:
        return {}


def toml_settings(path: str) -> dict[str, Any]:
    """Return what the settings file *path* says, which is TOML; nothing if it can't be read."""
    try:
        return tomllib.loads(read_settings(path) or "")
    except (InputError, ValueError, RecursionError):
        return {}


def disable_all_hooks(settings: Mapping[str, Any], _config: Mapping[str, Any]) -> str:
    """Return what keeps all hooks from running, as Claude Code's switch does; empty if nothing."""
    return "disableAllHooks is true there" if settings.get("disableAllHooks") is True else ""


def is_enabled_plugin(settings: Mapping[str, Any]) -> bool:
    """Whether *settings* enable brim's plugin, from whichever marketplace it came."""
    plugins = mapping(settings, "enabledPlugins")
    prefix = f"{PLUGIN_NAME}@"
    return any(name.startswith(prefix) and plugins[name] is True for name in plugins)


def is_enabled_extension(home: str, manifest: str) -> bool:
    """Whether brim's extension is in the agent's folder *home*, and enabled: of the rules about it,
    the last one counts."""
    folder = os.path.join(home, "extensions")
    enablement = json_settings(os.path.join(folder, "extension-enablement.json"))
    rules = items(enablement, PLUGIN_NAME, "overrides")
    if rules and str(rules[-1]).startswith("!"):
        return False
    return os.path.isfile(os.path.join(folder, PLUGIN_NAME, manifest))


def user_and_project(
    places: Places, environ: Mapping[str, str], project: str | None
) -> list[Mapping[str, Any]]:
    """Return the user's settings and the project's, in the files that *places* names for hooks."""
    paths = [places.user_file(environ)]
    if project is not None:
        paths.append(places.project_file(project))
    return [json_settings(path) for path in paths]


# What an agent doesn't have -----------------------------------------------------------------------


def never_off(_settings: Mapping[str, Any], _config: Mapping[str, Any]) -> str:
    """Return nothing: the agent has no switch for all hooks."""
    return ""


def no_plugin(_environ: Mapping[str, str]) -> bool:
    """Return False: brim has no plugin for the agent."""
    return False


def no_servers(_environ: Mapping[str, str], _project: str | None) -> list[Mapping[str, Any]]:
    """Return nothing: brim doesn't read which MCP servers the agent starts."""
    return []


def no_files(_environ: Mapping[str, str], _project: str | None) -> tuple[str, ...]:
    """Return nothing: the agent's settings name no files of rules."""
    return ()


def no_notes(_environ: Mapping[str, str], _project: str) -> str:
    """Return nothing: the agent keeps no notes of its own about a project."""
    return ""


def never_asked(_config: Mapping[str, Any], _path: str) -> bool:
    """Return False: the agent doesn't ask whether it may run hooks."""
    return False


def all_loaded(_environ: Mapping[str, str]) -> bool:
    """Return False: the agent can't be told to leave files of rules out."""
    return False


# The values ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Instructions(PlainData):
    """The files with rules that an agent loads on its own."""

    files: tuple[str, ...] = ()
    """Their names: they count in their folder and below."""
    root_files: tuple[str, ...] = ()
    """Those that count only at the top of a project."""
    folders: Mapping[str, str] = field(default_factory=dict)
    """Folders of such files in a project, and how these end."""
    own_files: tuple[str, ...] = ()
    """Those in the agent's own folder, which it loads in every project."""
    own_folders: Mapping[str, str] = field(default_factory=dict)
    """Folders of such files in the agent's own folder, and how these end."""
    hidden_by: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """For a file that isn't always loaded, the files next to it that keep the agent from it."""
    most_bytes: int | None = None
    """Bytes of a file after which the agent cuts off what it loads."""
    follows_imports: bool = True
    """Whether it loads what a file imports."""
    reaches_above: bool = False
    """Whether it loads files from its working folder upwards, without a git repository too."""
    files_by_settings: Callable[[Mapping[str, str], str | None], tuple[str, ...]] = no_files
    """Names the files that its settings add to ``files``."""
    leaves_out: Callable[[Mapping[str, str]], bool] = all_loaded
    """Whether its settings tell it to leave some files out, and so perhaps any."""
    notes_folder: Callable[[Mapping[str, str], str], str] = no_notes
    """Names the folder in which the agent keeps its own notes about a project."""

    def names(self, environ: Mapping[str, str], project: str | None) -> tuple[str, ...]:
        """Return the names of the files that the agent loads here."""
        return (*self.files, *self.files_by_settings(environ, project))

    def user_files(self, environ: Mapping[str, str], project: str | None) -> tuple[str, ...]:
        """Return the names of those in the agent's own folder."""
        return (*self.own_files, *self.files_by_settings(environ, project))


@dataclass(frozen=True)
class Plugin(PlainData):
    """What brim's plugins for all agents have in common. Paths are those in brim's repository."""

    version: str
    about: str
    folder: str
    hooks: Callable[[str], dict[str, Any]]
    """Returns the agent's hooks; takes the variable that names the plugin's folder."""
    learn: str
    """The text of the command that teaches a rule."""
    copied: Callable[[str], str]
    """Returns the text of a file in ``folder`` that is written by hand."""
    servers: Mapping[str, Any]
    """The MCP servers."""

    @property
    def short_manifest(self) -> dict[str, Any]:
        """What every agent's manifest begins with."""
        return {"name": PLUGIN_NAME, "version": self.version, "description": self.about}

    @property
    def manifest(self) -> dict[str, Any]:
        """The manifest of Claude Code, whose fields other agents read too."""
        return {
            **self.short_manifest,
            "author": {"name": PLUGIN_NAME},
            "license": "MIT",
            "keywords": ["context", "memory", "rules", "budget"],
        }


@dataclass(frozen=True)
class StatusPlace(PlainData):
    """Where an agent's settings say what shows its status line."""

    keys: tuple[str, ...] = ("statusLine",)
    """Its place in the settings."""
    file: str = ""
    """The settings file, below the agent's folder; empty if it's the one with the hooks."""
    word: str = ""
    """What follows the launcher there: it tells whose earlier status line brim's calls."""


def no_plugin_files(_plugin: Plugin) -> dict[str, Any]:
    """Return nothing: brim has no plugin for the agent."""
    return {}


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
    has_plugin: Callable[[Mapping[str, str]], bool] = no_plugin
    """Whether brim's plugin is enabled in the agent, for every project."""
    plugin_files: Callable[[Plugin], dict[str, Any]] = no_plugin_files
    """Returns the generated files of that plugin: texts, or what is written as JSON."""
    remove_plugin: str = ""
    """What a person types to remove brim's plugin; empty if there is none."""
    allows_comments: bool = False
    """Whether the agent allows comments in its settings."""
    own_file: Callable[[str], str] | None = None
    """Returns the whole text of the file with the hooks, for a launcher, if it is all brim's."""
    own_file_begins: str = ""
    """How brim knows that file."""
    status_line: StatusPlace | None = None
    """Where its status line is set; None if it shows none."""
    notes: Mapping[str, str] = field(default_factory=dict)
    """For what doesn't work as in other agents (``abilities.NAMES``): what brim does instead."""
    tested: tuple[str, ...] = ()
    """The versions that brim was tested with, the newest last."""
    never_fails: bool = False
    """Whether the line of a hook must end with 0 even if its program is gone: the agent takes a
    failure before a call for a *no*."""
    hook_name: str = ""
    """The name that a hook has in the settings, if it has one."""
    hook_fields: Mapping[str, Any] = field(default_factory=dict)
    """What else stands in the settings with each hook."""
    ticks: int = 1
    """Units of a timeout in a second."""
    config_file: str = ""
    """A second settings file in the agent's folder, in TOML."""
    asks_for_trust: str = ""
    """What to tell the person if the agent asks whether it may run hooks."""
    was_asked: Callable[[Mapping[str, Any], str], bool] = never_asked
    """Whether its second file says that it has asked about the hooks in a file."""
    unasked: str = ""
    """What the agent does without asking any hook."""
    reads_posix_paths: bool = False
    """Whether its shell on Windows reads POSIX paths: Git Bash."""
    own_models: str = ""
    """How names of models begin that can be looked up, where it has short names of its own."""
    off_switch: Callable[[Mapping[str, Any], Mapping[str, Any]], str] = never_off
    """Says what in its settings, and in its second file, keeps all hooks from running."""
    server_settings: Callable[[Mapping[str, str], str | None], list[Mapping[str, Any]]] = no_servers
    """Returns the settings, the user's and a project's, that may name MCP servers."""
    instructions: Instructions = field(default_factory=Instructions)
    """The files with rules that it loads on its own."""

    def hook(self, command: str, timeout: int) -> dict[str, Any]:
        """Return the entry of a hook; *timeout* is in seconds."""
        entry: dict[str, Any] = {"type": "command"}
        if self.hook_name:
            entry["name"] = self.hook_name
        if self.never_fails and not WINDOWS:  # what runs it there isn't known
            command += GUARD
        entry["command"] = command
        entry["timeout"] = timeout * self.ticks
        entry.update(self.hook_fields)
        return entry


def settings_for(agent: str) -> AgentSettings:
    """Return what brim writes for *agent*."""
    module = f"brim.agents.{agent}.settings"
    __import__(module)
    settings: AgentSettings = sys.modules[module].SETTINGS
    return settings
