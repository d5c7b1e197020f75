"""The agents: where their settings are, what brim writes into them, and how it recognizes its own
entries.

Each hook calls the launcher with an event and an agent. Those words never change from version to
version, because Codex asks for trust again when they do.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import sys
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from brim.agents import TABLE, agent_named
from brim.agents.fields import items, mapping, text, value
from brim.agents.settings import settings_for
from brim.config.places import home_folder
from brim.errors import BrimError, InputError
from brim.files import WINDOWS, data_file, read_safely
from brim.install.jsonc import JsonText
from brim.store.project import is_tracked

NAMES = {line.name: line.title for line in TABLE}
"""The agents, and what people call them."""

ALL, INJECTION_ONLY, PLUGIN = "all", "injection-only", "plugin"
HOOKS = (ALL, INJECTION_ONLY)
"""What can be installed: everything, or only the hooks that tell the agent something; none where a
plugin has them."""

_LARGEST = 8_000_000
"""Bytes of a settings file."""


@dataclass(frozen=True)
class Target:
    """A settings file of *agent*: the ``user``'s, for every project, or one in a ``project``."""

    agent: str
    scope: str
    path: str

    @property
    def comments(self) -> bool:
        """Whether the agent allows comments in it."""
        return self.agent == "gemini"

    @property
    def is_own(self) -> bool:
        """Whether the whole file is brim's: opencode has no settings for hooks, but runs every file
        in a folder."""
        return self.agent == "opencode"

    @property
    def project(self) -> str:
        """The project that it is in, if it is in one."""
        return self.path.removesuffix(
            os.sep + agent_named(self.agent).places.project_hooks.replace("/", os.sep)
        )

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
        project, real = os.path.realpath(self.project), os.path.realpath(self.path)
        if real.startswith(os.path.join(project, "")):
            return ""
        return f"{self.path}: is a link to {real}, which is outside of the project: remove the link"

    def read(self) -> str | None:
        """Return the text of the file, or None if there is none."""
        return read_settings(self.path)

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
        if os.path.exists(real) and not (
            os.stat(real).st_mode & 0o222 and os.access(real, os.W_OK)
        ):
            raise InputError(f"{self.path}: is read-only, so it is as it was: {remedy}")


def user_target(agent: str, environ: Mapping[str, str]) -> Target:
    """Return the file with the settings of *agent* for every project; its folder is the agent's
    own."""
    return Target(agent, "user", agent_named(agent).places.user_file(environ))


def project_target(agent: str, project: str) -> Target:
    """Return the file of *agent* in *project* that is meant for this machine alone."""
    return Target(agent, "project", agent_named(agent).places.project_file(project))


def agent_folder(agent: str, environ: Mapping[str, str]) -> str:
    """Return the folder in which *agent* keeps its user's files."""
    folder = os.path.dirname(user_target(agent, environ).path)
    return os.path.dirname(folder) if agent == "opencode" else folder


def is_present(agent: str, environ: Mapping[str, str]) -> bool:
    """Whether *agent* is used here: its folder or its command exists."""
    found = shutil.which(agent, path=environ.get("PATH", os.defpath))
    return found is not None or os.path.isdir(agent_folder(agent, environ))


def read_settings(path: str) -> str | None:
    """Return the text of the settings file *path*, with its line ends, or None if there is none."""
    try:  # a link is fine: people keep their dotfiles elsewhere
        return read_safely(os.path.realpath(path), at_most=_LARGEST).decode()
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


def settings_of(path: str) -> dict[str, Any]:
    """Return what the settings file *path* says; nothing if it can't be read."""
    try:
        return JsonText(read_settings(path) or "{}", path, comments=True).value
    except BrimError:
        return {}


def codex_settings(environ: Mapping[str, str]) -> dict[str, Any]:
    """Return what Codex's ``config.toml`` says; nothing if it can't be read."""
    path = os.path.join(os.path.dirname(user_target("codex", environ).path), "config.toml")
    try:
        return tomllib.loads(read_settings(path) or "")
    except (InputError, ValueError, RecursionError):
        return {}


def model_of(agent: str, environ: Mapping[str, str]) -> str:
    """Return the model that *agent* is set to use, else a usual one of its maker."""
    settings = (
        codex_settings(environ)
        if agent == "codex"
        else settings_of(user_target(agent, environ).path)
    )
    found = settings.get("model")
    name = (
        text(found, "name") if isinstance(found, dict) else found if isinstance(found, str) else ""
    )
    # Claude Code's own short names (opus, sonnet[1m], default) aren't models that brim could look
    # up.
    is_known = name and name.startswith(settings_for(agent).own_models)
    return name if is_known else agent_named(agent).model


# What brim writes ---------------------------------------------------------------------------------


def launcher_path(home: str, name: str = "hook") -> str:
    """Return the launcher *name*, of hooks by default, in the user's folder *home*."""
    return os.path.join(os.path.abspath(home), "bin", f"{name}.cmd" if WINDOWS else name)


def launcher_command(home: str, agent: str = "claude") -> str:
    """Return the launcher as the shell of *agent* reads it."""
    return program_in(agent, launcher_path(home), person=os.path.expanduser("~"))


def status_path(home: str) -> str:
    """Return the launcher of the status line in the user's folder *home*."""
    return launcher_path(home, "statusline")


def status_value(home: str) -> dict[str, Any]:
    """Return the entry for the status line."""
    command = program_in("claude", status_path(home), person=os.path.expanduser("~"))
    return {"type": "command", "command": command}


def entries_for(agent: str, program: str, *, hooks: str = ALL) -> dict[str, dict[str, Any]]:
    """Return the hooks that are installed for *agent*, by event, as settings hold them.

    *program* is the launcher, as the shell reads it.
    """
    found: dict[str, dict[str, Any]] = {}
    if hooks == PLUGIN:
        return found
    for name, event in agent_named(agent).events.items():
        if hooks == ALL or event.injects:
            command = " ".join([program, name, agent, *([] if hooks == ALL else [hooks])])
            hook = settings_for(agent).hook(command, event.timeout)
            found[name] = ({} if event.matcher is None else {"matcher": event.matcher}) | {
                "hooks": [hook]
            }
    return found


OPENCODE_BEGINS = "// brim for opencode:"


def opencode_text(home: str) -> str:
    """Return the plugin that opencode runs."""
    text = data_file(__file__, "opencode.js").decode()
    return text.replace('"{launcher}"', json.dumps(launcher_path(home)))


# What is brim's -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Ours:
    """Recognizes brim's entries: they call a launcher in the user's folder *home*, or in any other
    ``.brim``."""

    home: str

    def hook(self, hook: Any) -> bool:
        """Whether *hook* is brim's."""
        words = words_of(hook)
        return (
            len(words) in (3, 4)
            and words[3:] in ([], [INJECTION_ONLY])
            and self._calls(words[0], "hook")
        )

    def status(self, value: Any) -> bool:
        """Whether *value* is brim's status line: its launcher, or the command that people type."""
        words = words_of(value)
        if len(words) == 2 and program_name(words[0]) == "brim" and words[1] == "statusline":
            return True
        return len(words) == 1 and self._calls(words[0], "statusline")

    def hooks_in(self, settings: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield each hook in *settings* that is brim's, with its event."""
        for event in mapping(settings, "hooks"):
            for group in items(settings, "hooks", event):
                yield from ((event, hook) for hook in items(group, "hooks") if self.hook(hook))

    def events_in(self, path: str) -> list[str]:
        """Return the events for which the settings file *path* calls brim."""
        if path.endswith(".js"):
            is_ours = (read_settings(path) or "").startswith(OPENCODE_BEGINS)
            return list(agent_named("opencode").events) if is_ours else []
        return list(dict.fromkeys(event for event, _ in self.hooks_in(settings_of(path))))

    def _calls(self, program: str, name: str) -> bool:
        folder = os.path.normcase(os.path.dirname(program))
        if program_name(program) != name:
            return False
        own = os.path.normcase(os.path.dirname(launcher_path(self.home)))
        return folder == own or folder.endswith(os.path.join(".brim", "bin"))


def words_of(hook: Any) -> list[str]:
    """Return the command of *hook* as the shell splits it; nothing if it has none."""
    return words_in(text(hook, "command"), person=os.path.expanduser("~"))


# Its plugin ---------------------------------------------------------------------------------------

PLUGIN_NAME = "brim"


def has_plugin(agent: str, environ: Mapping[str, str]) -> bool:
    """Whether brim's plugin is enabled in *agent*, for every project."""
    path = user_target(agent, environ).path
    if agent in ("claude", "codex"):
        plugins = mapping(settings_of(path), "enabledPlugins")
        if agent == "codex":
            found = mapping(codex_settings(environ), "plugins")
            plugins = {name: mapping(found, name).get("enabled") for name in found}
        return any(
            name.startswith(f"{PLUGIN_NAME}@") and on is True for name, on in plugins.items()
        )
    if agent != "gemini":
        return False
    folder = os.path.join(os.path.dirname(path), "extensions")
    rules = items(
        settings_of(os.path.join(folder, "extension-enablement.json")), PLUGIN_NAME, "overrides"
    )
    is_off = bool(rules) and str(rules[-1]).startswith("!")
    return os.path.isfile(os.path.join(folder, PLUGIN_NAME, "gemini-extension.json")) and not is_off


# The MCP server -----------------------------------------------------------------------------------


def served_agents(environ: Mapping[str, str], project: str | None) -> list[str]:
    """Return the agents that start ``brim mcp`` here, by the user's settings or the project's."""
    folder = environ.get("CLAUDE_CONFIG_DIR") or home_folder(environ)
    claude = settings_of(os.path.join(os.path.abspath(folder), ".claude.json"))
    places: dict[str, list[Any]] = {
        "claude": [claude, value(claude, "projects", project or "")],
        "codex": [codex_settings(environ)],
        "gemini": [settings_of(user_target("gemini", environ).path)],
    }
    if project is not None:
        places["claude"].append(settings_of(os.path.join(project, ".mcp.json")))
        places["gemini"].append(settings_of(project_target("gemini", project).path))
    return [
        agent
        for agent, found in places.items()
        if any(map(_serves, found)) or has_plugin(agent, environ)
    ]


def _serves(settings: Any) -> bool:
    """Whether *settings* name a server that runs ``brim mcp``."""
    servers = [
        *mapping(settings, "mcpServers").values(),
        *mapping(settings, "mcp_servers").values(),
    ]
    return any(
        program_name(text(each, "command")) == "brim" and items(each, "args")[:1] == ["mcp"]
        for each in servers
    )


def brim_program() -> str:
    """Return the path of the program that runs now."""
    program = os.path.join(os.path.dirname(sys.executable), "brim.exe" if WINDOWS else "brim")
    return program if os.path.exists(program) else os.path.abspath(sys.argv[0])


def server_command(agent: str, environ: Mapping[str, str], home: str) -> str:
    """Return what a person types to let *agent* use the server in every project."""
    program = brim_program()
    is_short = os.path.realpath(shutil.which("brim") or "") == os.path.realpath(program)
    own = f" --env {typed(f'BRIM_HOME={home}')}" if environ.get("BRIM_HOME") else ""
    called = f"{'brim' if is_short else typed(program)} mcp"
    return settings_for(agent).mcp_command.replace("{own}", own).replace("{program}", called)


# The shell ----------------------------------------------------------------------------------------
#
# How the shell of an agent reads a command, and how brim reads it back. On Linux and macOS that is
# a POSIX shell. On Windows it is Git Bash for Claude Code, or PowerShell where that isn't
# installed, and PowerShell for Codex and Gemini CLI. No quoted program is one to both: Git Bash
# runs "C:/my dir/x", and to PowerShell that is a text unless & comes first. So a path is quoted
# there only if it has to be.

_PLAIN = re.compile(r"[\w.:~/\\-]+")
"""A path that Git Bash, PowerShell and cmd.exe all read as it is, once its slashes are theirs."""
_COMMAND = re.compile(r"""(?:& )?(?:'((?:[^']|'')+)'|"([^"]+)"|([^\s'"&]+))((?: [\w-]+)*)""")


def program_in(agent: str, path: str, *, person: str = "", windows: bool = WINDOWS) -> str:
    """Return the program *path* as the shell of *agent* reads it at the beginning of a command.

    *person* is the home folder: a path in it that needs quotes is written with ``~`` for Claude
    Code, which both of its shells on Windows read.
    """
    if not windows:
        return shlex.quote(path)
    if not settings_for(agent).reads_posix_paths:
        return path if _PLAIN.fullmatch(path) else "& '" + re.sub("(['‘’‚‛])", r"\1\1", path) + "'"
    path, person = path.replace("\\", "/"), person.replace("\\", "/").rstrip("/")
    inside = path.removeprefix(f"{person}/")
    if not _PLAIN.fullmatch(path) and person and inside != path and _PLAIN.fullmatch(inside):
        return f"~/{inside}"
    return path if _PLAIN.fullmatch(path) else '"' + re.sub(r"([$`])", r"\\\1", path) + '"'


def words_in(command: str, *, person: str = "", windows: bool = WINDOWS) -> list[str]:
    """Return the words of *command* as a shell splits it; nothing if it isn't a plain call of one
    program.

    The program is a path of this system, however it was written.
    """
    if not windows:
        try:
            return shlex.split(command)
        except ValueError:
            return []
    found = _COMMAND.fullmatch(command)
    if found is None:
        return []
    single, double, plain, rest = found.groups()
    program = plain or ""
    if single:
        program = re.sub("(['‘’‚‛])\\1", r"\1", single)
    elif double:
        program = re.sub(r"\\([$`])", r"\1", double)
    if program.startswith("~/") and person:
        program = person + program[1:]
    return [os.path.normpath(program), *rest.split()]


def typed(path: str, *, windows: bool = WINDOWS) -> str:
    """Return *path* as a person types it after the name of a program."""
    if not windows:
        return shlex.quote(path)
    return path if _PLAIN.fullmatch(path) else f'"{path}"'


def program_name(path: str, *, windows: bool = WINDOWS) -> str:
    """Return the name of the program *path* without its folder and, on Windows, its ending."""
    name = os.path.basename(path.replace("\\", "/") if windows else path)
    return os.path.splitext(name)[0].lower() if windows else name
