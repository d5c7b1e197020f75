"""What ``init``, ``upgrade`` and ``uninstall`` do, and how the agents' settings files are changed.

Settings are changed only through ``Installation.apply``: one process at a time, with a backup
before the first change, and the record before the file, so that an interrupted installation can be
undone.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from brim.agents.settings import settings_for
from brim.config.places import user_folder
from brim.config.retention import UNFINISHED
from brim.config.text import SettingEdit
from brim.errors import BrimError, InputError, StoreError
from brim.files import WINDOWS, backup_name, keep, locked, remove_unfinished, replace_file
from brim.hooks.process import PAUSED, paused_until
from brim.hooks.status_chain import NAME as CHAIN
from brim.install.agents import (
    ALL,
    INJECTION_ONLY,
    NAMES,
    PLUGIN,
    Ours,
    Target,
    entries_for,
    has_plugin,
    is_present,
    launcher_path,
    model_of,
    project_target,
    read_settings,
    served_agents,
    server_command,
    settings_of,
    user_target,
)
from brim.install.changes import (
    COMMAND,
    LOCK,
    STATUS,
    Record,
    SettingsChange,
    command_target,
    make_folders,
    plan_command,
    plan_install,
    plan_uninstall,
    read_records,
    remove_folders,
    write_records,
)
from brim.install.git_exclude import hide, not_ignored, unhide
from brim.install.jsonc import BLANK
from brim.install.launchers import install_launchers, remove_launchers
from brim.install.rule_files import floop_traces
from brim.store.project import make_folder
from brim.store.store import open_store
from brim.store.trust import is_trusted, trust, trusted_projects
from brim.workspace import DATABASE, Workspace

EXPERIMENTAL = "hooks on Windows are experimental: they were never run inside the agents there"
"""What a person is told on Windows."""
NO_PROJECT = "not in a project: run this in a git repository, or 'mkdir .brim' first"
BUDGET = "token_budget.default"
MOST_PAUSE = 366 * 86_400


class Installation(Workspace):
    """What is installed for this user, and in the project around *folder* (None: the working folder
    was deleted)."""

    def __init__(self, environ: Mapping[str, str], folder: str | None) -> None:
        super().__init__(environ, folder, who="person", now=time.time())
        self.home = os.path.abspath(
            self.home
        )  # launchers and settings name it, whatever the working folder is
        self.records = read_records(self.home)
        self.ours = Ours(self.home)

    def target(self, agent: str, scope: str) -> Target:
        """Return the file of *agent* for *scope*, ``user`` or ``project``."""
        if scope == "user":
            return user_target(agent, self.environ)
        if self.project is None:
            raise InputError(NO_PROJECT)
        return project_target(agent, self.project)

    def targets(self, agents: Sequence[str] = tuple(NAMES)) -> list[Target]:
        """Return every file of *agents* that brim may have written to: the user's, this project's,
        those recorded."""
        scopes = ("user", "project") if self.project is not None else ("user",)
        found = {
            each.path: each
            for agent in agents
            for each in (self.target(agent, scope) for scope in scopes)
        }
        for path, record in self.records.items():
            if record.agent in agents:
                found.setdefault(path, Target(record.agent, record.scope, path))
        return list(found.values())

    def installed(self, agents: Sequence[str] = tuple(NAMES)) -> list[Target]:
        """Return the files of *agents* in which brim is."""
        return [target for target in self.targets(agents) if self.ours.events_in(target.path)]

    def plan(self, target: Target, *, hooks: str = ALL, status: bool = True) -> SettingsChange:
        """Return how *target* gets what belongs there: no hooks where a plugin has them and the
        file has none."""
        if has_plugin(target.agent, self.environ) and not self.ours.events_in(target.path):
            hooks = PLUGIN
        elif hooks == PLUGIN:  # it was removed
            hooks = ALL
        status = (
            status
            and settings_for(target.agent).has_status_line
            and hooks != INJECTION_ONLY
            and self._may_have_status(target)
        )
        record = self.records.get(target.path)
        return plan_install(
            target, target.read(), record, home=self.home, hooks=hooks, status=status
        )

    def plan_again(self, target: Target) -> SettingsChange:
        """Return how *target* gets again what was installed there."""
        record = self.records.get(target.path)
        hooks, status = (
            (record.hooks, record.status is not None) if record is not None else (ALL, False)
        )
        return self.plan(target, hooks=hooks, status=status)

    def plan_removal(self, target: Target) -> SettingsChange:
        """Return how *target* looks without brim."""
        return plan_uninstall(target, target.read(), self.records.get(target.path), home=self.home)

    def _may_have_status(self, target: Target) -> bool:
        """Whether brim's status line may be set: a project's would hide the user's, so only where
        there is none."""
        record = self.records.get(target.path)
        if target.scope == "user" or (record is not None and record.status is not None):
            return True
        shared = os.path.join(os.path.dirname(target.path), "settings.json")
        files = (target.path, shared, self.target("claude", "user").path)
        return not any(STATUS in settings_of(path) for path in files)

    def apply(self, changes: Sequence[SettingsChange], *, installing: bool) -> dict[str, str]:
        """Make *changes*; return the backups by file. If a file changed since it was planned,
        nothing is done."""
        if not changes:
            return {}
        with locked(os.path.join(self.home, LOCK), prepare=lambda: make_folder(self.home)):
            seen, self.records = self.records, read_records(self.home)

            def is_done(change: SettingsChange) -> bool:
                """Whether another process has made the same change meanwhile."""
                path = change.target.path
                is_new = change.changes or self.records.get(path) != seen.get(path)
                return is_new and change.target.read() == change.after

            left = [each for each in changes if not is_done(each)]
            for change in left:
                if change.changes:
                    change.target.check_writable()
                    change.check_same()
            for folder in ("", "bin", "cache"):
                remove_unfinished(os.path.join(self.home, folder), "", age=UNFINISHED)
            make_folders(left)
            try:
                backups = {
                    change.target.path: self._apply(change, installing=installing)
                    for change in left
                }
            except BrimError as error:
                done = [
                    each.target.path
                    for each in left
                    if each.changes and each.target.read() == each.after
                ]
                if not done:
                    raise
                changed = f"changed before that: {', '.join(done)}; run it again for the rest"
                raise InputError(f"{error}; {changed}") from None
        if not installing:
            inside = [change.target.path for change in changes if change.target.scope == "project"]
            unhide(inside, others=self.records)
        return {path: name for path, name in backups.items() if name}

    def _apply(self, change: SettingsChange, *, installing: bool) -> str:
        """Make one change; return the backup's name, empty if none was needed."""
        path, before = change.target.path, self.records
        record = before.get(path)

        def without_brim(text: str | None) -> str | None:
            return plan_uninstall(change.target, text, record, home=self.home).after

        theirs, same = without_brim(change.before), []  # and the backups that say just that
        for name in record.backups if record is not None else ():
            with suppress(BrimError):
                if os.path.lexists(name) and without_brim(read_settings(name)) == theirs:
                    same.append(name)
        is_new = change.changes and bool((theirs or "").strip(BLANK)) and not same
        backup = backup_name(path) if is_new else ""
        made = (backup,) if backup else ()
        records = {key: each for key, each in before.items() if key != path}
        if change.record is not None:
            records[path] = replace(change.record, backups=(*change.record.backups, *made))
        noted = records if installing else dict(before)
        if record is not None and not installing:
            noted[path] = replace(record, backups=(*record.backups, *made))
        self._write(change, noted, backup, chained=installing)
        if not installing:
            for name in same:
                with suppress(OSError):
                    os.unlink(name)
            if change.after is None:
                remove_folders(path, record)
            self._remember(records, change)
        return backup

    def _write(
        self, change: SettingsChange, records: dict[str, Record], backup: str, *, chained: bool
    ) -> None:
        """Note what is about to be done, and do it: a backup that isn't noted would stay for
        ever."""
        before, chain = self.records, os.path.join(self.home, CHAIN)
        had_chain, kept = os.path.lexists(chain), False
        try:
            self._remember(records, change if chained else None)
            if backup:
                keep(change.target.path, change.before or "", backup)
                kept = True
            if change.changes:
                change.write()
        except BrimError:
            with suppress(OSError):
                if kept:
                    os.unlink(backup)
                if not had_chain:
                    os.unlink(chain)
            with suppress(BrimError):  # a record too many does no harm
                self._remember(before, None)
            raise

    def _remember(self, records: dict[str, Record], change: SettingsChange | None) -> None:
        """Keep *records*, and the status line that was there before, for brim's to call."""
        if change is not None:
            chain = os.path.join(self.home, CHAIN)
            is_gone = change.record is None and (change.target.agent, change.target.scope) == (
                "claude",
                "user",
            )
            if change.chained:
                try:
                    replace_file(chain, (json.dumps({"command": change.chained}) + "\n").encode())
                except OSError as error:
                    why = f"cannot be written: {error.strerror or error}; it is as it was"
                    raise StoreError(f"{chain}: {why}") from None
            elif is_gone or change.chained == "":
                with suppress(OSError):
                    os.unlink(chain)
        if records != self.records:
            write_records(self.home, records)
        self.records = records

    def budget_edit(self, tokens: int | None, scope: str) -> SettingEdit | None:
        """Return how the token budget gets into the settings of *scope*; None if *tokens* is
        None."""
        return (
            None
            if tokens is None
            else SettingEdit(self.environ, self.cwd or None, BUDGET, tokens, scope)
        )

    def check_stores(self, *, create: bool = False) -> tuple[list[str], list[str]]:
        """Open brim's own files; return those that can be used, and what is wrong with the others.

        The files are the user's (made if it's missing, with *create*), this project's, and those of
        all trusted projects.
        """
        projects = [each for each in trusted_projects(self.home) if is_trusted(each, self.home)]
        own = (f"{each}/.brim/{DATABASE}" for each in (*projects, self.project) if each)
        sound, broken = [], []
        for path in dict.fromkeys((self.database, *own)):
            is_there = os.path.exists(path)
            if not is_there and not (create and path == self.database):
                continue
            try:
                open_store(path).close()
            except BrimError as error:
                broken.append(str(error))
            else:
                sound += [path] if is_there else []
        return sound, broken


# Results ------------------------------------------------------------------------------------------


@dataclass
class Installed:
    """What ``install`` did, or would do."""

    home: str = ""
    reason: str = ""
    """Why nothing was done; empty if something was."""
    changes: list[SettingsChange] = field(default_factory=list)
    commands: list[SettingsChange] = field(default_factory=list)
    """The files of ``/learn``."""
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
    problems: list[str] = field(default_factory=list)
    next_steps: list[str] = field(default_factory=list)
    """What is left for the person to do."""

    @property
    def exit_code(self) -> int:
        """1 if nothing was installed, or not everywhere."""
        return 1 if self.reason or self.is_tracked else 0

    @property
    def agents(self) -> list[dict[str, Any]]:
        """What became of each agent."""
        found = []
        for change in self.changes:
            path = change.target.path
            hooks = list(
                entries_for(
                    change.target.agent, "", hooks=change.record.hooks if change.record else ALL
                )
            )
            status_line = change.record is not None and change.record.status is not None
            shown = {"hooks": hooks, "status_line": status_line, "backup": self.backups.get(path)}
            agent, commands = change.target.agent, [each.target.agent for each in self.commands]
            command = settings_for(agent).learn_called if f"{agent}{COMMAND}" in commands else None
            found.append(
                change.to_dict()
                | shown
                | {"hidden_from_git": path in self.hidden, "command": command}
            )
        return found

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


@dataclass
class Uninstalled:
    """What ``uninstall`` did, or would do."""

    home: str
    changes: list[SettingsChange]
    broken: list[str]
    """Why some files could not be changed."""
    dry_run: bool
    commands: list[SettingsChange] = field(default_factory=list)
    """The files of ``/learn`` that brim had written."""
    backups: dict[str, str] = field(default_factory=dict)
    served: list[str] = field(default_factory=list)
    """The agents that still start ``brim mcp``."""
    plugins: list[str] = field(default_factory=list)
    """What removes the plugins that are still there."""
    is_complete: bool = False
    """Whether brim is in no agent any more."""

    @property
    def exit_code(self) -> int:
        """2 if a file is broken."""
        return 2 if self.broken else 0

    @property
    def agents(self) -> list[dict[str, Any]]:
        """What became of each agent."""
        return [
            change.to_dict()
            | {
                "removed": change.changes and change.after is None,
                "backup": self.backups.get(change.target.path),
            }
            for change in self.changes
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {"agents": self.agents, "broken": self.broken, "dry_run": self.dry_run}


# What the commands call ---------------------------------------------------------------------------


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
    here = Installation(environ, folder)
    agents = agents or [name for name in NAMES if is_present(name, environ)]
    targets = [here.target(agent, scope) for agent in agents]
    before = {here.records[target.path].hooks for target in targets if target.path in here.records}
    before.discard(PLUGIN)
    hooks = hooks or (before.pop() if len(before) == 1 else ALL)
    done = Installed(here.home, hooks=hooks, dry_run=dry_run)
    if not agents:
        done.reason = "no agent found: name one with --agent claude, codex, gemini or opencode"
        return done
    for target in targets:
        _plan(done, here, target, status=status_line)
    if done.is_tracked and not done.changes:
        done.reason = "; ".join(done.skipped.values())
        return done

    done.budget = here.budget_edit(token_budget, scope)
    for change in [each for each in (*done.changes, *done.commands) if each.changes]:
        change.target.check_writable()
    if dry_run:
        return done
    install_launchers(here.home, tokens=_stronger_tokens(done.budget, environ))
    _ = here.secret  # made now, so that no hook has to
    if scope == "project" and here.project is not None:
        here.begin_project()
        if trusting and not is_trusted(here.project, here.home):
            trust(here.project, here.home, now=here.now)
        done.trusted = here.trusted
    if done.budget is not None:
        done.budget.write(here.save_settings)
    done.backups = here.apply([*done.changes, *done.commands], installing=True)
    inside = [change.target.path for change in done.changes if scope == "project"]
    done.hidden = hide([*inside, *done.backups.values()]) if inside else []
    _, broken = here.check_stores(create=True)
    done.problems = [f"{error}; until then hooks say nothing" for error in broken]
    done.next_steps = list(_next_steps(here, done.changes, inside))
    return done


def _plan(done: Installed, here: Installation, target: Target, *, status: bool) -> None:
    """Add to *done* what becomes of *target* and of ``/learn`` in its agent, or why it gets
    nothing."""
    above = here.target(target.agent, "user").path
    if target.scope == "project" and here.ours.events_in(above):
        done.skipped[target.agent] = (
            f"{above}: has brim for every project already, so {target.path} needs nothing"
        )
    elif reason := target.why_not:
        done.skipped[target.agent], done.is_tracked = reason, True
    else:
        change = here.plan(target, hooks=done.hooks, status=status)
        done.changes.append(change)
        if target.scope == "user" and change.record is not None and change.record.hooks != PLUGIN:
            file = command_target(target.agent, here.environ)
            command = plan_command(file, file.read(), here.records.get(file.path))
            done.commands += [command] if command is not None else []


def _stronger_tokens(budget: SettingEdit | None, environ: Mapping[str, str]) -> str:
    """Return the token budget that the launcher sets: a flag is stronger than the environment."""
    is_hidden = budget is not None and budget.hidden_by in environ
    return str(budget.value) if budget is not None and is_hidden else ""


def uninstall(
    environ: Mapping[str, str],
    folder: str | None,
    *,
    agents: Sequence[str] = (),
    dry_run: bool = False,
) -> Uninstalled:
    """Take brim out of *agents* (default: all), in every project. A file that is as brim left it
    becomes as it was."""
    here = Installation(environ, folder)
    agents = agents or list(NAMES)
    changes, broken = [], []
    for target in here.targets(agents):
        is_known = target.path in here.records
        try:
            change = here.plan_removal(target)
            if change.changes:
                target.check_writable()
            if change.changes or is_known:
                changes.append(change)
        except BrimError as error:  # a broken file must not keep brim in the others
            if is_known or target.scope == "user":
                broken.append(str(error))
    names = [f"{agent}{COMMAND}" for agent in agents]
    files = [
        Target(each.agent, "user", path)
        for path, each in here.records.items()
        if each.agent in names
    ]
    commands = [here.plan_removal(target) for target in files]
    done = Uninstalled(here.home, changes, broken, dry_run, commands=commands)
    if dry_run:
        return done
    done.backups = here.apply([*changes, *commands], installing=False)
    done.plugins = [
        settings_for(agent).remove_plugin for agent in agents if has_plugin(agent, environ)
    ]
    done.is_complete = not here.records and not done.plugins
    if done.is_complete:
        remove_launchers(here.home)
    done.served = [agent for agent in served_agents(environ, here.project) if agent in agents]
    return done


def pause(
    environ: Mapping[str, str], *, seconds: float | None = None, paused: bool = True
) -> dict[str, Any]:
    """Silence every hook, for *seconds* or until ``resume``; return what changed."""
    home, now = user_folder(environ), time.time()
    path, was = os.path.join(home, PAUSED), paused_until(home)
    until = 0.0 if not paused else float("inf") if seconds is None else now + seconds
    changed = paused != (now < was) or (paused and until != was)
    try:
        if paused and changed:
            make_folder(home)
            replace_file(path, b"" if seconds is None else f"{until:.0f}\n".encode())
        elif was and not paused:
            os.unlink(path)
    except IsADirectoryError:
        raise InputError(f"{path}: is a folder, so it is not brim's: move it away") from None
    except OSError as error:
        raise StoreError(
            f"{path}: cannot be written: {error.strerror or error}; nothing was changed"
        ) from None
    done = {"paused": paused, "changed": changed, "file": path}
    return done if seconds is None else done | {"until": round(until)}


def resume(environ: Mapping[str, str]) -> dict[str, Any]:
    """End the pause; return what changed."""
    return pause(environ, paused=False)


def duration(text: str) -> float:
    """Return the seconds that *text* means, such as ``90s``, ``30m``, ``2h`` or ``1d``."""
    number, unit = text[:-1], {"s": 1, "m": 60, "h": 3600, "d": 86_400}.get(text[-1:])
    if (
        unit is None
        or not number.isascii()
        or not number.isdigit()
        or not 0 < int(number) * unit <= MOST_PAUSE
    ):
        raise InputError(f"{text[:40]!r} isn't a time: write 30m, 2h or 1d")
    return float(int(number) * unit)


def _next_steps(
    here: Installation, changes: Sequence[SettingsChange], inside: Sequence[str]
) -> Iterable[str]:
    new = [change.target.agent for change in changes if change.changes]
    yield from filter(None, [settings_for(agent).asks_for_trust for agent in new])
    for path in not_ignored(inside):
        yield f"{path}: git shows it, and it cannot be hidden; it describes this machine, so don't commit it"
    agents = [change.target.agent for change in changes if change.target.scope == "user"]
    for target in here.installed(agents):
        if target.scope == "project":
            yield (
                f"{target.path}: has brim too, so its hooks run twice: 'brim doctor --fix' removes it there"
            )

    yield from (f"{path}: {text}" for path, text in floop_traces(here))
    served = served_agents(here.environ, here.project)
    for agent in (each for each in new if each not in served):
        yield f"optional: let {NAMES[agent]} save rules itself: {server_command(agent, here.environ, here.home)}"
    if new and WINDOWS:
        yield f"{EXPERIMENTAL}; 'brim uninstall' takes them out again"
    if new:
        yield "Restart your agent. 'brim doctor' checks that it works."


def as_agent(
    make: Callable[[dict[str, object]], Workspace], agent: str = ""
) -> tuple[Workspace, str]:
    """Return the workspace that *make* makes with more flags, and whose hooks it stands for.

    That is *agent*, else the first that brim is installed for, else empty. Unless a setting names a
    model, it's the agent's, so that rules are planned as for its hooks.
    """
    workspace = make({})
    with suppress(BrimError):  # files that can't be read
        installed = Installation(workspace.environ, workspace.cwd).installed() if not agent else []
        agent = next((target.agent for target in installed), agent)
    if agent and workspace.config.yours["model"] is None:
        workspace = make({"model": model_of(agent, workspace.environ)})
    return workspace, agent
