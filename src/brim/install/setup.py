"""What ``init`` and ``uninstall`` do, for every agent in the same way: what is special about one is
in its ``SETTINGS``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from brim.agents import agent_named
from brim.agents.settings import settings_for
from brim.config.text import SettingEdit
from brim.config.trust import is_trusted, trust
from brim.errors import BrimError
from brim.files import WINDOWS
from brim.install.agents import (
    ALL,
    INJECTION_ONLY,
    PLUGIN,
    Target,
    agent_names,
    entries_for,
    has_plugin,
    is_present,
    launcher_path,
    served_agents,
)
from brim.install.changes import SettingsChange, command_target, plan_command
from brim.install.floop_traces import floop_traces
from brim.install.git_exclude import hide, not_ignored
from brim.install.installation import Installation
from brim.install.launchers import install_launchers, remove_launchers
from brim.install.leftovers import NOTHING_LEFT, Leftovers, find_leftovers
from brim.install.shell import server_command

EXPERIMENTAL = "hooks on Windows are experimental: they were never run inside the agents there"
"""What a person is told on Windows."""


@dataclass
class Installed:
    """What ``install`` did, or would do."""

    home: str = ""
    reason: str = ""
    """Why nothing was done; empty if something was."""
    changes: list[SettingsChange] = field(default_factory=list)
    further: list[SettingsChange] = field(default_factory=list)
    """The files of ``/learn``, and settings for a status line alone."""
    hooks: str = ALL
    backups: dict[str, str] = field(default_factory=dict)
    hidden: list[str] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)
    """Agents that got nothing, and why."""
    is_tracked: bool = False
    """Whether one was skipped because git tracks its file."""
    budget: SettingEdit | None = None
    trusted: bool | None = None
    dry_run: bool = False
    next_steps: list[str] = field(default_factory=list)
    """What is left for the person to do."""

    @property
    def exit_code(self) -> int:
        """1 if nothing was installed, or not everywhere."""
        return 1 if self.reason or self.is_tracked else 0

    @property
    def agents(self) -> list[dict[str, Any]]:
        """What became of each agent."""
        return [self._agent(change) for change in self.changes]

    def _agent(self, change: SettingsChange) -> dict[str, Any]:
        """Return what became of one agent."""
        agent = change.target.agent
        path = change.target.path
        hooks = ALL
        if change.record is not None:
            hooks = change.record.hooks
        command = None
        has_status_line = _sets_status_line(change)
        for other in self.further:
            if other.target.owner == agent and other.target.is_command:
                command = settings_for(agent).learn_called
            elif other.target.owner == agent and _sets_status_line(other):
                has_status_line = True
        return {
            **change.to_dict(),
            "hooks": list(entries_for(agent, "", hooks=hooks)),
            "status_line": has_status_line,
            "backup": self.backups.get(path),
            "hidden_from_git": path in self.hidden,
            "command": command,
        }

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        skipped = [{"agent": agent, "reason": reason} for agent, reason in self.skipped.items()]
        if self.reason:
            return {"agents": [], "skipped": skipped, "reason": self.reason}
        return {
            "agents": self.agents,
            "skipped": skipped,
            "launcher": launcher_path(self.home),
            "token_budget": None if self.budget is None else self.budget.to_dict(),
            "trusted": self.trusted,
            "dry_run": self.dry_run,
        }


def _sets_status_line(change: SettingsChange) -> bool:
    """Whether the status line is brim's once *change* is made."""
    return change.record is not None and change.record.status is not None


@dataclass
class Uninstalled:
    """What ``uninstall`` did, or would do."""

    home: str
    changes: list[SettingsChange]
    broken: list[str]
    """Why some files could not be changed."""
    dry_run: bool
    further: list[SettingsChange] = field(default_factory=list)
    """The files of ``/learn`` that brim had written, and settings for a status line alone."""
    backups: dict[str, str] = field(default_factory=dict)
    served: list[str] = field(default_factory=list)
    """The agents that still start ``brim mcp``."""
    plugins: list[str] = field(default_factory=list)
    """What removes the plugins that are still there."""
    is_complete: bool = False
    """Whether brim is in no agent any more."""
    leftovers: Leftovers = NOTHING_LEFT
    """What stays apart from the agents' settings, or was removed by ``purge``."""
    purge: bool = False
    """Whether that is removed too, as far as brim is in no agent any more."""
    purged: bool = False
    """Whether it was removed."""

    @property
    def exit_code(self) -> int:
        """2 if a file is broken."""
        return 2 if self.broken else 0

    @property
    def agents(self) -> list[dict[str, Any]]:
        """What became of each agent."""
        return [self._agent(change) for change in self.changes]

    def _agent(self, change: SettingsChange) -> dict[str, Any]:
        """Return what became of one agent."""
        return {
            **change.to_dict(),
            "removed": change.changes and change.after is None,
            "backup": self.backups.get(change.target.path),
        }

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "agents": self.agents,
            "broken": self.broken,
            "dry_run": self.dry_run,
            "leftovers": self.leftovers.to_dict(),
            "purged": self.purged,
        }


# init ---------------------------------------------------------------------------------------------


def install(
    environ: Mapping[str, str],
    folder: str | None,
    *,
    agents: Sequence[str] = (),
    scope: str = "user",
    hooks: str | None = None,
    status_line: bool = True,
    token_budget: int | None = None,
    trusting: bool = False,
    dry_run: bool = False,
) -> Installed:
    """Install brim into *agents* (default: those that are used here), or bring what is installed up
    to date.

    With the *scope* ``project`` it's for the project around *folder* only; *trusting* lets agents
    use what that has learned. Without *hooks*, what was installed before stays: all of them, or
    injection only. Doing it twice changes nothing.
    """
    installation = Installation(environ, folder)
    agents = agents or [name for name in agent_names() if is_present(name, environ)]
    targets = [installation.target(agent, scope) for agent in agents]
    hooks = hooks or _hooks_before(installation, targets)
    result = Installed(installation.home, hooks=hooks, dry_run=dry_run)
    if not agents:
        *names, last_name = agent_names()
        result.reason = f"no agent found: name one with --agent {', '.join(names)} or {last_name}"
        return result
    for target in targets:
        _plan(result, installation, target, status=status_line)
    if result.is_tracked and not result.changes:
        result.reason = "; ".join(result.skipped.values())
        return result
    result.budget = installation.budget_edit(token_budget, scope)
    changes = [*result.changes, *result.further]
    for change in changes:
        if change.changes:
            change.target.check_writable()
    if not dry_run:
        _prepare(result, installation, scope=scope, trusting=trusting)
        result.backups = installation.apply(changes, installing=True)
        _finish(result, installation, scope=scope)
    return result


def _hooks_before(installation: Installation, targets: Sequence[Target]) -> str:
    """Return which hooks were installed in *targets*; all if they differ or there are none."""
    before = set()
    for target in targets:
        record = installation.records.get(target.path)
        if record is not None and record.hooks != PLUGIN:
            before.add(record.hooks)
    return before.pop() if len(before) == 1 else ALL


def _plan(result: Installed, installation: Installation, target: Target, *, status: bool) -> None:
    """Add to *result* what becomes of *target* and of ``/learn`` in its agent, or why it gets
    nothing."""
    if target.scope == "project" and installation.has_user_hooks(target.agent):
        above = installation.target(target.agent, "user").path
        reason = f"{above}: has brim for every project already, so {target.path} needs nothing"
        result.skipped[target.agent] = reason
        return
    reason = target.why_not
    if reason:
        result.skipped[target.agent] = reason
        result.is_tracked = True
        return
    change = installation.plan(target, hooks=result.hooks, status=status)
    result.changes.append(change)
    if target.scope == "user":
        result.further += _plan_further(installation, change, status=status)


def _plan_further(
    installation: Installation, change: SettingsChange, *, status: bool
) -> Iterator[SettingsChange]:
    """Yield what becomes of the other files of the agent whose hooks *change* installs."""
    hooks = ALL if change.record is None else change.record.hooks
    agent = change.target.agent
    if hooks != PLUGIN:
        file = command_target(agent, installation.environ)
        command = plan_command(file, file.read(), installation.records.get(file.path))
        if command is not None:
            yield command
    line = installation.plan_status_file(agent, status=status and hooks != INJECTION_ONLY)
    if line is not None:
        yield line


def _prepare(result: Installed, installation: Installation, *, scope: str, trusting: bool) -> None:
    """Write what hooks need, before the first one is in an agent's settings."""
    install_launchers(
        installation.home, tokens=_stronger_tokens(result.budget, installation.environ)
    )
    _ = installation.secret  # made now, so that no hook has to
    if scope == "project" and installation.project is not None:
        installation.begin_project()
        if trusting and not is_trusted(installation.project, installation.home):
            trust(installation.project, installation.home)
            installation.rulebook.trust(installation.rulebook.proposals())
        result.trusted = installation.trusted
    if result.budget is not None:
        result.budget.write(installation.save_settings)


def _finish(result: Installed, installation: Installation, *, scope: str) -> None:
    """Hide a project's files from git, and say what is left to do."""
    inside: list[str] = []
    if scope == "project":
        inside = [change.target.path for change in result.changes]
    if inside:
        result.hidden = hide([*inside, *result.backups.values()])
    result.next_steps = list(_next_steps(installation, result.changes, inside))


def _stronger_tokens(budget: SettingEdit | None, environ: Mapping[str, str]) -> str:
    """Return the token budget that the launcher sets: a flag is stronger than the environment."""
    if budget is None or budget.hidden_by not in environ:
        return ""
    return str(budget.value)


def _next_steps(
    installation: Installation, changes: Sequence[SettingsChange], inside: Sequence[str]
) -> Iterator[str]:
    """Yield what is left for the person to do."""
    changed_agents = [change.target.agent for change in changes if change.changes]
    for agent in changed_agents:
        if settings_for(agent).asks_for_trust:
            yield settings_for(agent).asks_for_trust
    yield from _warnings(installation, changes, inside)
    if not changed_agents:
        return
    yield from _servers_to_add(installation, changed_agents)
    if WINDOWS:
        yield f"{EXPERIMENTAL}; 'brim uninstall' takes them out again"
    yield "Restart your agent. 'brim doctor' checks that it works."


def _servers_to_add(installation: Installation, agents: Sequence[str]) -> Iterator[str]:
    """Yield how those of *agents* can save rules that don't know brim's MCP server."""
    served = served_agents(installation.environ, installation.project)
    for agent in agents:
        if agent not in served:
            title = agent_named(agent).title
            command = server_command(agent, installation.environ, installation.home)
            yield f"optional: let {title} save rules itself: {command}"


def _warnings(
    installation: Installation, changes: Sequence[SettingsChange], inside: Sequence[str]
) -> Iterator[str]:
    """Yield what is in the way of the new hooks: git, hooks in a project too, floop."""
    for path in not_ignored(inside):
        yield (
            f"{path}: git shows it, and it cannot be hidden; it describes this machine, "
            "so don't commit it"
        )
    agents = [change.target.agent for change in changes if change.target.scope == "user"]
    for target in installation.installed(agents):
        if target.scope == "project":
            yield (
                f"{target.path}: has brim too, so its hooks run twice: "
                "'brim doctor --fix' removes it there"
            )
    for path, text in floop_traces(installation):
        yield f"{path}: {text}"


# uninstall ----------------------------------------------------------------------------------------


def uninstall(
    environ: Mapping[str, str],
    folder: str | None,
    *,
    agents: Sequence[str] = (),
    purge: bool = False,
    dry_run: bool = False,
) -> Uninstalled:
    """Take brim out of *agents* (default: all), in every project. A file that is as brim left it
    becomes as it was.

    With *purge*, everything else that brim wrote is removed too, once brim is in no agent any more.
    """
    installation = Installation(environ, folder)
    agents = agents or agent_names()
    result = Uninstalled(installation.home, [], [], dry_run, purge=purge)
    for target in installation.targets(agents):
        _plan_removal(result.changes, result, installation, target)
    for path, record in installation.records.items():
        target = Target(record.agent, record.scope, path)
        if target.owner in agents and target.owner != target.agent:
            _plan_removal(result.further, result, installation, target)
    backups = [name for record in installation.records.values() for name in record.backups]
    result.leftovers = find_leftovers(installation, backups)
    if dry_run:
        return result
    result.backups = installation.apply([*result.changes, *result.further], installing=False)
    for agent in agents:
        if has_plugin(agent, environ):
            result.plugins.append(settings_for(agent).remove_plugin)
    result.is_complete = not installation.records and not result.plugins
    if result.is_complete:
        remove_launchers(installation.home)
    result.leftovers = result.leftovers.after(result.backups.values())
    if purge and result.is_complete and not result.broken:
        result.broken += result.leftovers.remove()
        result.purged = not result.broken
    served = served_agents(environ, installation.project)
    result.served = [agent for agent in served if agent in agents]
    return result


def _plan_removal(
    changes: list[SettingsChange], result: Uninstalled, installation: Installation, target: Target
) -> None:
    """Add to *changes* how *target* looks without brim; a broken file, which *result* tells, must
    not keep brim in the others."""
    is_recorded = target.path in installation.records
    try:
        change = installation.plan_removal(target)
        if change.changes:
            target.check_writable()
        if change.changes or is_recorded:
            changes.append(change)
    except BrimError as error:
        if is_recorded or target.scope == "user":
            result.broken.append(str(error))
