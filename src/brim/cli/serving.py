"""The entry that makes Claude Code start ``brim mcp`` by itself: what resident hooks are answered by."""

from __future__ import annotations

import os
import sys

from brim.agents.install.entries import SERVER
from brim.agents.install.receipt import GONE, Record, write_records
from brim.agents.install.settings_text import SettingsText
from brim.agents.install.targets import check_writable, project_target, read_settings_file, user_target
from brim.cli.installing import settings_of
from brim.cli.output import printable, say
from brim.cli.saving import keep, save
from brim.errors import InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from brim.cli.installing import Installation

SERVERS = "mcpServers"
AGENT = "claude-server"
"""What the record of the file is kept under."""
ARGUMENTS = ["mcp", "--resident"]


class ServerEntry:
    """``mcpServers.brim`` in the file in which Claude Code keeps the user's servers."""

    def __init__(self, installation: Installation) -> None:
        self._installation = installation
        self.path = self.file(installation.environ)
        self._before = read_settings_file(self.path)
        self._record = installation.records.get(self.path)
        self._settings = SettingsText(
            self._before or "", self.path, empty=self._record.empty if self._record is not None else None
        )
        self._settings.check(dict, SERVERS)

    @staticmethod
    def file(environ: Mapping[str, str]) -> str:
        """Return the file in which Claude Code keeps the user's servers."""
        folder = environ.get("CLAUDE_CONFIG_DIR") or environ.get("HOME") or os.path.expanduser("~")
        return os.path.join(os.path.abspath(folder), ".claude.json")

    @classmethod
    def program(cls, installation: Installation) -> str:
        """Return what Claude Code starts for resident hooks; empty if brim did not say so."""
        servers = settings_of(cls.file(installation.environ)).get(SERVERS)
        found = servers.get(SERVER) if isinstance(servers, dict) else None
        command = found.get("command") if isinstance(found, dict) and _is_ours(found) else None
        return command if isinstance(command, str) else ""

    def write(self) -> bool:
        """Put the entry in; whether that changed the file."""
        home = self._installation.environ.get("BRIM_HOME")
        own = {"env": {"BRIM_HOME": self._installation.home}} if home else {}
        self._settings.put({"type": "stdio", "command": _program(), "args": ARGUMENTS, **own}, SERVERS, SERVER)
        made = self._record.blank if self._record is not None else GONE if self._before is None else None
        names = self._record.backups if self._record is not None else ()
        return self._save(Record(AGENT, "user", blank=made, empty=self._settings.empty, backups=names))

    def check(self) -> None:
        """Raise if another server has the name, or the file cannot be written."""
        found = self._settings.get(SERVERS, SERVER)
        if found is not None and not _is_ours(found):
            raise InputError(
                f"{self.path}: has a server '{SERVER}' that 'brim init' did not make: take it out first "
                f"(claude mcp remove {SERVER}), or leave out --resident; nothing was changed"
            )
        check_writable(self.path)

    def remove(self) -> bool:
        """Take the entry out; whether it was there."""
        if not _is_ours(self._settings.get(SERVERS, SERVER)):
            return False
        self._settings.remove(SERVERS, SERVER)
        self._save(None)
        return True

    def tell(self) -> None:
        """Print where it is."""
        say(printable(f"server {SERVER}: {self.path}"))

    def as_object(self) -> dict[str, Any]:
        """Return it for a script."""
        return {"name": SERVER, "file": self.path}

    def _save(self, record: Record | None) -> bool:
        """Write the file and what is to be remembered of it; whether the file changed.

        Of the first change there is a copy, which goes again if nothing else was changed meanwhile.
        """
        if self._settings.text == self._before:
            return False
        check_writable(self.path)
        if read_settings_file(self.path) != self._before:
            raise InputError(f"{self.path}: Claude Code has just written it; please try again")
        if self._record is None and self._before is not None and record is not None:
            record = record.changed(backups=[keep(self.path, self._before)])
        records = {path: each for path, each in self._installation.records.items() if path != self.path}
        if record is not None:
            records[self.path] = record
        write_records(self._installation.home, records)
        self._installation.records = records
        if record is None and not self._settings.value and self._record is not None and self._record.blank == GONE:
            os.unlink(os.path.realpath(self.path))
        else:
            save(self.path, self._settings.text)
        for name in self._record.backups if self._record is not None and record is None else ():
            if read_settings_file(name) == self._settings.text:
                os.unlink(name)
        return True


def remove_server(installation: Installation) -> bool:
    """Take the entry out, if brim put it in; whether it was there."""
    if not any(record.agent == AGENT for record in installation.records.values()):
        return False
    entry = ServerEntry(installation)
    removed = entry.remove()
    if entry.path in installation.records:  # somebody took it out by hand
        installation.records = {path: each for path, each in installation.records.items() if path != entry.path}
        write_records(installation.home, installation.records)
    return removed


def served_agents(installation: Installation) -> list[str]:
    """Return the agents that start ``brim mcp`` here: by the user's settings, or by the project's."""
    environ, project = installation.environ, installation.project
    claude = settings_of(ServerEntry.file(environ))
    projects = claude.get("projects")
    places: dict[str, list[Any]] = {
        "claude": [claude, projects.get(project or "") if isinstance(projects, dict) else None],
        "codex": [codex_settings(environ)],
        "gemini": [settings_of(user_target("gemini", environ).path)],
    }
    if project is not None:
        places["claude"].append(settings_of(os.path.join(project, ".mcp.json")))
        places["gemini"].append(settings_of(project_target("gemini", project).path))
    return [agent for agent, found in places.items() if any(map(_serves, found))]


def is_resident(installation: Installation) -> bool:
    """Whether the server that Claude Code starts answers hooks too, which takes a tool more."""
    return bool(ServerEntry.program(installation))


def _serves(settings: Any) -> bool:
    """Whether *settings* name a server that is brim's."""
    found = [settings.get(key) for key in (SERVERS, "mcp_servers")] if isinstance(settings, dict) else []
    return any(_is_brim(each) for servers in found if isinstance(servers, dict) for each in servers.values())


def _is_brim(entry: Any) -> bool:
    if not isinstance(entry, dict):
        return False
    command, given = entry.get("command"), entry.get("args")
    named = isinstance(command, str) and os.path.basename(command) == "brim"
    return named and isinstance(given, list) and given[:1] == ["mcp"]


def codex_settings(environ: Mapping[str, str]) -> dict[str, Any]:
    """Return what Codex's own settings say; nothing if they are not there or cannot be read."""
    import tomllib

    path = os.path.join(os.path.dirname(user_target("codex", environ).path), "config.toml")
    try:
        return tomllib.loads(read_settings_file(path) or "")
    except (InputError, tomllib.TOMLDecodeError):
        return {}


def need_the_extra() -> None:
    """Raise if the server could not run."""
    from importlib.util import find_spec

    if find_spec("mcp") is None:
        raise InputError("--resident needs the MCP server: pip install 'brim[mcp]'; nothing was changed")


def server_command(agent: str, installation: Installation) -> str:
    """Return what a person types to let *agent* use the server in every project."""
    from shlex import quote
    from shutil import which

    program = _program()
    short = os.path.realpath(which("brim") or "") == os.path.realpath(program)
    home = installation.home if installation.environ.get("BRIM_HOME") else ""
    own = f" --env {quote(f'BRIM_HOME={home}')}" if home else ""
    called = f"{'brim' if short else quote(program)} mcp"
    if agent == "gemini":
        return f"gemini mcp add --scope user {SERVER} {called}{own}"
    return f"{agent} mcp add{' --scope user' if agent == 'claude' else ''} {SERVER}{own} -- {called}"


def _program() -> str:
    """Return the command ``brim`` beside the interpreter that runs this; else what was called."""
    beside = os.path.join(os.path.dirname(sys.executable), "brim")
    return beside if os.path.exists(beside) else os.path.abspath(sys.argv[0])


def _is_ours(found: Any) -> bool:
    return isinstance(found, dict) and found.get("args") == ARGUMENTS
