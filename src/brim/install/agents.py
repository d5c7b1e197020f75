"""The agents: where their settings are, what brim writes into them, and how it recognizes its own
entries.

Each hook calls the launcher with an event and an agent. Those words never change from version to
version, because Codex asks for trust again when they do.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from brim.agents import TABLE, agent_named, every_agent, table_line
from brim.agents.fields import items, mapping, text
from brim.agents.settings import json_settings, read_settings, settings_for, toml_settings
from brim.config.git import is_tracked
from brim.errors import InputError
from brim.files import WINDOWS
from brim.install.shell import program_in, program_name, words_of

NAMES = {line.name: line.title for line in TABLE}
"""The agents, and what people call them."""

ALL, INJECTION_ONLY, PLUGIN = "all", "injection-only", "plugin"
HOOKS = (ALL, INJECTION_ONLY)
"""What can be installed: everything, or only the hooks that tell the agent something; none where a
plugin has them."""

COMMAND, STATUS_FILE = "-command", "-statusline"
"""How the agent of a target ends that is a file of ``/learn``, or settings for the status line
alone."""


def agent_names() -> list[str]:
    """Return the names of all agents."""
    return [agent.name for agent in every_agent()]


@dataclass(frozen=True)
class Target:
    """A settings file of *agent*: the ``user``'s, for every project, or one in a ``project``.

    Others have an ending after the agent's name: ``COMMAND``, ``STATUS_FILE``.
    """

    agent: str
    scope: str
    path: str

    @property
    def is_command(self) -> bool:
        """Whether it is a file of ``/learn`` and no settings."""
        return self.agent.endswith(COMMAND)

    @property
    def is_status_file(self) -> bool:
        """Whether it has settings, but no hooks: the status line is set there."""
        return self.agent.endswith(STATUS_FILE)

    @property
    def owner(self) -> str:
        """The name of the agent."""
        return self.agent.removesuffix(COMMAND).removesuffix(STATUS_FILE)

    @property
    def status_keys(self) -> tuple[str, ...]:
        """Where the status line is set in this file; empty if it isn't set there."""
        place = settings_for(self.owner).status_line
        if place is None or self.is_command:
            return ()
        return place.keys if bool(place.file) == self.is_status_file else ()

    @property
    def is_own(self) -> bool:
        """Whether the whole file is brim's: the agent has no settings for hooks, but runs every
        file in a folder."""
        return not self.is_command and settings_for(self.owner).own_file is not None

    @property
    def title(self) -> str:
        """What people call the agent."""
        return agent_named(self.owner).title

    @property
    def project(self) -> str:
        """The project that it is in, if it is in one."""
        inside = agent_named(self.agent).places.project_hooks
        return self.path.removesuffix(os.sep + inside.replace("/", os.sep))

    @property
    def is_orphan(self) -> bool:
        """Whether its project is gone: moved, deleted, or on a disk that isn't mounted."""
        return self.scope == "project" and not os.path.isdir(self.project)

    @property
    def why_not(self) -> str:
        """Why brim must not install anything in it; empty if it may."""
        if self.scope != "project" or self._leads_out or not is_tracked(self.path):
            return self._leads_out
        why = "git tracks it, and what brim writes is about this machine only"
        return f"{self.path}: {why}; leave out --project to install for every project"

    @property
    def _leads_out(self) -> str:
        """Where a project's file leads, if that is out of the project; else empty."""
        if self.scope != "project":
            return ""
        project = os.path.realpath(self.project)
        real = os.path.realpath(self.path)
        if real.startswith(os.path.join(project, "")):
            return ""
        return f"{self.path}: is a link to {real}, which is outside of the project: remove the link"

    def read(self) -> str | None:
        """Return the text of the file, or None if there is none."""
        return read_settings(self.path)

    def is_brims(self, content: str | None) -> bool:
        """Whether *content*, the whole file, is what brim writes for an agent without settings for
        hooks."""
        return (content or "").startswith(settings_for(self.agent).own_file_begins)

    def check_writable(self) -> None:
        """Raise ``InputError`` if the file is read-only: it could be replaced, but against its
        owner's will.

        Its folder, or the one that it would be made in, has to take a new file and a backup. A
        project's file must not lead out of the project.
        """
        if self._leads_out:
            raise InputError(self._leads_out)
        real = os.path.realpath(self.path)
        folder = os.path.dirname(real)
        while not os.path.lexists(folder):
            folder = os.path.dirname(folder)
        remedy = "'chmod u+w' it if brim may write there"
        if not os.access(folder, os.W_OK | os.X_OK):
            raise InputError(f"{folder}: is read-only, so {self.path} is as it was: {remedy}")
        if os.path.exists(real) and not _is_writable(real):
            raise InputError(f"{self.path}: is read-only, so it is as it was: {remedy}")


def _is_writable(path: str) -> bool:
    """Whether *path* may be written, also for root: its mode says so."""
    return bool(os.stat(path).st_mode & 0o222) and os.access(path, os.W_OK)


def user_target(agent: str, environ: Mapping[str, str]) -> Target:
    """Return the file with the settings of *agent* for every project; its folder is the agent's
    own."""
    return Target(agent, "user", agent_named(agent).places.user_file(environ))


def project_target(agent: str, project: str) -> Target:
    """Return the file of *agent* in *project* that is meant for this machine alone."""
    return Target(agent, "project", agent_named(agent).places.project_file(project))


def status_target(agent: str, environ: Mapping[str, str]) -> Target | None:
    """Return the user's settings of *agent* for the status line alone; None if it has none."""
    place = settings_for(agent).status_line
    if place is None or not place.file:
        return None
    path = os.path.join(agent_folder(agent, environ), place.file)
    return Target(f"{agent}{STATUS_FILE}", "user", path)


def project_hook_files(agent: str, project: str) -> list[str]:
    """Return all files in *project* in which hooks of *agent* may be set."""
    line = table_line(agent)
    folder = os.path.join(project, line.folder)
    return [os.path.join(folder, name) for name in line.hook_files]


def agent_folder(agent: str, environ: Mapping[str, str]) -> str:
    """Return the folder in which *agent* keeps its user's files."""
    return agent_named(agent).places.home(environ)


def is_present(agent: str, environ: Mapping[str, str]) -> bool:
    """Whether *agent* is used here: its folder or its command exists."""
    program = shutil.which(agent, path=environ.get("PATH", os.defpath))
    return program is not None or os.path.isdir(agent_folder(agent, environ))


def second_settings(agent: str, environ: Mapping[str, str]) -> dict[str, Any]:
    """Return what the second settings file of *agent* says; nothing if it has none."""
    name = settings_for(agent).config_file
    if not name:
        return {}
    return toml_settings(os.path.join(agent_folder(agent, environ), name))


def off_switch(agent: str, settings: Mapping[str, Any], environ: Mapping[str, str]) -> str:
    """Return what in an agent's own *settings* keeps all hooks from running; empty if nothing
    does."""
    return settings_for(agent).off_switch(settings, second_settings(agent, environ))


def model_of(agent: str, environ: Mapping[str, str]) -> str:
    """Return the model that *agent* is set to use, else a usual one of its maker."""
    own = settings_for(agent)
    if own.config_file:
        settings = second_settings(agent, environ)
    else:
        settings = json_settings(user_target(agent, environ).path)
    name = text(settings, "model") or text(settings, "model", "name")
    # Claude Code's own short names (opus, sonnet[1m], default) aren't models that brim could look
    # up.
    if name and name.startswith(own.own_models):
        return name
    return agent_named(agent).model


# What brim writes ---------------------------------------------------------------------------------


def launcher_path(home: str, name: str = "hook") -> str:
    """Return the launcher *name*, of hooks by default, in the user's folder *home*."""
    file = f"{name}.cmd" if WINDOWS else name
    return os.path.join(os.path.abspath(home), "bin", file)


def launcher_command(home: str, agent: str) -> str:
    """Return the launcher as the shell of *agent* reads it."""
    return program_in(agent, launcher_path(home), person=os.path.expanduser("~"))


def status_path(home: str) -> str:
    """Return the launcher of the status line in the user's folder *home*."""
    return launcher_path(home, "statusline")


def status_word(agent: str) -> str:
    """Return what follows the launcher of the status line in the settings of *agent*."""
    place = settings_for(agent).status_line
    return "" if place is None else place.word


def status_value(home: str, agent: str) -> dict[str, Any]:
    """Return the entry for the status line of *agent*."""
    program = program_in(agent, status_path(home), person=os.path.expanduser("~"))
    return {"type": "command", "command": f"{program} {status_word(agent)}".rstrip()}


def entries_for(agent: str, program: str, *, hooks: str = ALL) -> dict[str, dict[str, Any]]:
    """Return the hooks that are installed for *agent*, by event, as settings hold them.

    *program* is the launcher, as the shell reads it.
    """
    entries: dict[str, dict[str, Any]] = {}
    for name, event in agent_named(agent).events.items():
        if hooks == PLUGIN or (hooks != ALL and not event.injects):
            continue
        words = [program, name, agent]
        if hooks != ALL:
            words.append(hooks)
        entry: dict[str, Any] = {}
        if event.matcher is not None:
            entry["matcher"] = event.matcher
        entry["hooks"] = [settings_for(agent).hook(" ".join(words), event.timeout)]
        entries[name] = entry
    return entries


# What is brim's -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Ours:
    """Recognizes brim's entries: they call a launcher in the user's folder *home*, or in any other
    ``.brim``."""

    home: str

    def hook(self, hook: Any) -> bool:
        """Whether *hook* is brim's."""
        words = words_of(hook)
        if len(words) not in (3, 4) or words[3:] not in ([], [INJECTION_ONLY]):
            return False
        return self._calls(words[0], "hook")

    def any_hook(self, group: Any) -> bool:
        """Whether one of the hooks in *group* is brim's."""
        return any(map(self.hook, items(group, "hooks")))

    def all_hooks(self, group: Any) -> bool:
        """Whether all hooks in *group* are brim's."""
        return all(map(self.hook, items(group, "hooks")))

    def status(self, value: Any) -> bool:
        """Whether *value* is brim's status line: its launcher, or the command that people type."""
        words = words_of(value)
        if len(words) == 2 and program_name(words[0]) == "brim" and words[1] == "statusline":
            return True
        return len(words) in (1, 2) and self._calls(words[0], "statusline")

    def hooks_in(self, settings: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield each hook in *settings* that is brim's, with its event."""
        for event in mapping(settings, "hooks"):
            for group in items(settings, "hooks", event):
                for hook in items(group, "hooks"):
                    if self.hook(hook):
                        yield event, hook

    def events_in(self, target: Target) -> list[str]:
        """Return the events for which *target* calls brim."""
        if target.is_own:
            if target.is_brims(target.read()):
                return list(agent_named(target.agent).events)
            return []
        events = [event for event, _ in self.hooks_in(json_settings(target.path))]
        return list(dict.fromkeys(events))

    def _calls(self, program: str, name: str) -> bool:
        """Whether *program* is brim's launcher *name*, of any home."""
        folder = os.path.normcase(os.path.dirname(program))
        if program_name(program) != name:
            return False
        own = os.path.normcase(os.path.dirname(launcher_path(self.home)))
        return folder == own or folder.endswith(os.path.join(".brim", "bin"))


# Its plugin, and the MCP server -------------------------------------------------------------------


def has_plugin(agent: str, environ: Mapping[str, str]) -> bool:
    """Whether brim's plugin is enabled in *agent*, for every project."""
    return settings_for(agent).has_plugin(environ)


def served_agents(environ: Mapping[str, str], project: str | None) -> list[str]:
    """Return the agents that start ``brim mcp`` here, by the user's settings or the project's."""
    return [name for name in agent_names() if _is_served(name, environ, project)]


def _is_served(agent: str, environ: Mapping[str, str], project: str | None) -> bool:
    """Whether *agent* starts ``brim mcp`` here."""
    settings = settings_for(agent)
    if any(map(_names_server, settings.server_settings(environ, project))):
        return True
    return settings.has_plugin(environ)


def _names_server(settings: Mapping[str, Any]) -> bool:
    """Whether *settings* name a server that runs ``brim mcp``."""
    servers = [
        *mapping(settings, "mcpServers").values(),
        *mapping(settings, "mcp_servers").values(),
    ]
    return any(map(_runs_server, servers))


def _runs_server(server: Any) -> bool:
    """Whether the entry *server* runs ``brim mcp``."""
    is_brim = program_name(text(server, "command")) == "brim"
    return is_brim and items(server, "args")[:1] == ["mcp"]
