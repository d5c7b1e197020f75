"""What is installed for a user, and how the agents' settings files are changed.

Settings are changed only through ``Installation.apply``: one process at a time, with a backup
before the first change, and the record before the file, so that an interrupted installation can be
undone.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from brim.agents.fields import value
from brim.agents.jsonc import BLANK
from brim.agents.settings import json_settings, read_settings
from brim.config.own_folder import make_folder
from brim.config.retention import UNFINISHED
from brim.config.text import SettingEdit
from brim.errors import BrimError, InputError, StoreError
from brim.files import backup_name, keep, locked, remove_unfinished, replace_file
from brim.hooks.status_chain import chain_path
from brim.install.agents import (
    ALL,
    INJECTION_ONLY,
    PLUGIN,
    Ours,
    Target,
    agent_names,
    has_plugin,
    model_of,
    project_hook_files,
    project_target,
    status_target,
    status_word,
    user_target,
)
from brim.install.changes import (
    LOCK,
    Record,
    SettingsChange,
    make_folders,
    plan_install,
    plan_uninstall,
    read_records,
    remove_folders,
    write_records,
)
from brim.install.git_exclude import unhide
from brim.workspace import Workspace

NO_PROJECT = "not in a project: run this in a git repository, or 'mkdir .brim' first"
BUDGET = "token_budget.default"


class Installation(Workspace):
    """What is installed for this user, and in the project around *folder* (None: the working folder
    was deleted)."""

    def __init__(self, environ: Mapping[str, str], folder: str | None) -> None:
        super().__init__(environ, folder, who="person", now=time.time())
        # Launchers and settings name it, whatever the working folder is.
        self.home = os.path.abspath(self.home)
        self.records = read_records(self.home)
        self.ours = Ours(self.home)

    # Which files ----------------------------------------------------------------------------------

    def target(self, agent: str, scope: str) -> Target:
        """Return the file of *agent* for *scope*, ``user`` or ``project``."""
        if scope == "user":
            return user_target(agent, self.environ)
        if self.project is None:
            raise InputError(NO_PROJECT)
        return project_target(agent, self.project)

    def targets(self, agents: Sequence[str] | None = None) -> list[Target]:
        """Return every file of *agents* (default: all) that brim may have written to: the user's,
        this project's, those recorded."""
        if agents is None:
            agents = agent_names()
        scopes = ["user"]
        if self.project is not None:
            scopes.append("project")
        targets: dict[str, Target] = {}
        for agent in agents:
            for scope in scopes:
                target = self.target(agent, scope)
                targets[target.path] = target
        for path, record in self.records.items():
            if record.agent in agents:
                targets.setdefault(path, Target(record.agent, record.scope, path))
        return list(targets.values())

    def installed(self, agents: Sequence[str] | None = None) -> list[Target]:
        """Return the files of *agents* (default: all) in which brim is."""
        return [target for target in self.targets(agents) if self.ours.events_in(target)]

    def has_user_hooks(self, agent: str) -> bool:
        """Whether brim is in the user's settings of *agent*, and so in every project."""
        return bool(self.ours.events_in(self.target(agent, "user")))

    # What becomes of them -------------------------------------------------------------------------

    def plan(self, target: Target, *, hooks: str = ALL, status: bool = True) -> SettingsChange:
        """Return how *target* gets what belongs there: no hooks where a plugin has them and the
        file has none."""
        if has_plugin(target.agent, self.environ) and not self.ours.events_in(target):
            hooks = PLUGIN
        elif hooks == PLUGIN:  # it was removed
            hooks = ALL
        if hooks == INJECTION_ONLY or not self._may_have_status(target):
            status = False
        record = self.records.get(target.path)
        return plan_install(
            target, target.read(), record, home=self.home, hooks=hooks, status=status
        )

    def plan_status_file(self, agent: str, *, status: bool) -> SettingsChange | None:
        """Return how the user's settings of *agent* for the status line alone get brim's, or lose
        it; None if there is nothing to do."""
        target = status_target(agent, self.environ)
        if target is None:
            return None
        record = self.records.get(target.path)
        if status:
            return plan_install(target, target.read(), record, home=self.home)
        return None if record is None else self.plan_removal(target)

    def status_file(self, target: Target) -> Target:
        """Return where the status line is set that belongs to the hooks in *target*."""
        if target.scope == "user":
            return status_target(target.agent, self.environ) or target
        return target

    def shows_status_line(self, target: Target) -> bool:
        """Whether the status line that is set in *target* is brim's."""
        return self.ours.status(value(json_settings(target.path), *target.status_keys))

    def plan_again(self, target: Target) -> SettingsChange:
        """Return how *target* gets again what was installed there."""
        record = self.records.get(target.path)
        if record is None:
            return self.plan(target, status=False)
        return self.plan(target, hooks=record.hooks, status=record.status is not None)

    def plan_removal(self, target: Target) -> SettingsChange:
        """Return how *target* looks without brim."""
        return plan_uninstall(target, target.read(), self.records.get(target.path), home=self.home)

    def _may_have_status(self, target: Target) -> bool:
        """Whether brim's status line may be set: a project's would hide the user's, so only where
        there is none."""
        if not target.status_keys:
            return False
        record = self.records.get(target.path)
        if target.scope == "user" or (record is not None and record.status is not None):
            return True
        files = project_hook_files(target.agent, target.project)
        files.append(self.target(target.agent, "user").path)
        return not any(value(json_settings(path), *target.status_keys) for path in files)

    # Changing them --------------------------------------------------------------------------------

    def apply(self, changes: Sequence[SettingsChange], *, installing: bool) -> dict[str, str]:
        """Make *changes*; return the backups by file. If a file changed since it was planned,
        nothing is done."""
        if not changes:
            return {}
        with locked(os.path.join(self.home, LOCK), prepare=lambda: make_folder(self.home)):
            records_before = self.records
            self.records = read_records(self.home)
            pending = [change for change in changes if not self._is_done(change, records_before)]
            for change in pending:
                if change.changes:
                    change.target.check_writable()
                    change.check_same()
            for folder in ("", "bin", "cache"):
                remove_unfinished(os.path.join(self.home, folder), "", age=UNFINISHED)
            make_folders(pending)
            backups = self._apply_all(pending, installing=installing)
        if not installing:
            inside = [change.target.path for change in changes if change.target.scope == "project"]
            unhide(inside, other_paths=self.records)
        return backups

    def _is_done(self, change: SettingsChange, records_before: Mapping[str, Record]) -> bool:
        """Whether another process has made the same change meanwhile."""
        path = change.target.path
        is_new = change.changes or self.records.get(path) != records_before.get(path)
        return is_new and change.target.read() == change.after

    def _apply_all(self, changes: Sequence[SettingsChange], *, installing: bool) -> dict[str, str]:
        """Make *changes* one after another; an error says which were made before it."""
        backups = {}
        try:
            for change in changes:
                backup = self._apply(change, installing=installing)
                if backup:
                    backups[change.target.path] = backup
        except BrimError as error:
            finished = _finished(changes)
            if not finished:
                raise
            changed = f"changed before that: {', '.join(finished)}; run it again for the rest"
            raise InputError(f"{error}; {changed}") from None
        return backups

    def _apply(self, change: SettingsChange, *, installing: bool) -> str:
        """Make one change; return the backup's name, empty if none was needed."""
        original = self._without_brim(change.target, change.before)
        same_backups = self._backups_like(change.target, original)
        backup = ""
        if change.changes and (original or "").strip(BLANK) and not same_backups:
            backup = backup_name(change.target.path)
        records = self._records_after(change, backup)
        if installing:
            self._write(change, records, backup, chained=True)
        else:
            self._uninstall(change, records, backup, same_backups)
        return backup

    def _records_after(self, change: SettingsChange, backup: str) -> dict[str, Record]:
        """Return what is recorded once *change* is made, and its *backup* if it has one."""
        path = change.target.path
        records = {file: record for file, record in self.records.items() if file != path}
        if change.record is not None:
            records[path] = _with_backup(change.record, backup)
        return records

    def _uninstall(
        self,
        change: SettingsChange,
        records: dict[str, Record],
        backup: str,
        old_backups: Sequence[str],
    ) -> None:
        """Make a *change* that removes brim, with *old_backups* that say the same as the file then.

        The file's record stays until all of that is done.
        """
        path = change.target.path
        record = self.records.get(path)
        noted = dict(self.records)
        if record is not None:
            noted[path] = _with_backup(record, backup)
        self._write(change, noted, backup, chained=False)
        for name in old_backups:
            with suppress(OSError):
                os.unlink(name)
        if change.after is None:
            remove_folders(path, record)
        self._remember(records, change)

    def _without_brim(self, target: Target, text: str | None) -> str | None:
        """Return *text* of the file *target* as it is without brim."""
        return plan_uninstall(target, text, self.records.get(target.path), home=self.home).after

    def _backups_like(self, target: Target, original: str | None) -> list[str]:
        """Return the backups of *target* that say just what *original* says."""
        record = self.records.get(target.path)
        if record is None:
            return []
        same = []
        for name in record.backups:
            with suppress(BrimError):
                if not os.path.lexists(name):
                    continue
                if self._without_brim(target, read_settings(name)) == original:
                    same.append(name)
        return same

    def _write(
        self, change: SettingsChange, records: dict[str, Record], backup: str, *, chained: bool
    ) -> None:
        """Note what is about to be done, and do it: a backup that isn't noted would stay for
        ever."""
        records_before = self.records
        chain = self._chain_of(change)
        was_chained = os.path.lexists(chain)
        has_backup = False
        try:
            self._remember(records, change if chained else None)
            if backup:
                keep(change.target.path, change.before or "", backup)
                has_backup = True
            if change.changes:
                change.write()
        except BrimError:
            with suppress(OSError):
                if has_backup:
                    os.unlink(backup)
                if not was_chained:
                    os.unlink(chain)
            with suppress(BrimError):  # a record too many does no harm
                self._remember(records_before, None)
            raise

    def _remember(self, records: dict[str, Record], change: SettingsChange | None) -> None:
        """Keep *records*, and the status line that was there before, for brim's to call."""
        if change is not None:
            self._remember_status(change)
        if records != self.records:
            write_records(self.home, records)
        self.records = records

    def _chain_of(self, change: SettingsChange) -> str:
        """Return the file with the command of the status line that *change* replaces."""
        return chain_path(self.home, status_word(change.target.owner))

    def _remember_status(self, change: SettingsChange) -> None:
        """Keep the command of the status line that *change* replaced, or forget the one kept."""
        chain = self._chain_of(change)
        if change.chained:
            content = json.dumps({"command": change.chained}) + "\n"
            try:
                replace_file(chain, content.encode())
            except OSError as error:
                why = f"cannot be written: {error.strerror or error}; it is as it was"
                raise StoreError(f"{chain}: {why}") from None
        elif change.chained == "" or self._is_status_gone(change):
            with suppress(OSError):
                os.unlink(chain)

    @staticmethod
    def _is_status_gone(change: SettingsChange) -> bool:
        """Whether *change* takes brim out of the user's settings with the status line."""
        is_removed = change.record is None and change.target.scope == "user"
        return is_removed and bool(change.target.status_keys)

    # Brim's own files -----------------------------------------------------------------------------

    def budget_edit(self, tokens: int | None, scope: str) -> SettingEdit | None:
        """Return how the token budget gets into the settings of *scope*; None if *tokens* is
        None."""
        if tokens is None:
            return None
        return SettingEdit(self.environ, self.cwd or None, BUDGET, tokens, scope)


def as_agent(
    make: Callable[[dict[str, object]], Workspace], agent: str = ""
) -> tuple[Workspace, str]:
    """Return the workspace that *make* makes with more flags, and whose hooks it stands for.

    That is *agent*, else the first that brim is installed for, else empty. Unless a setting names a
    model, it's the agent's, so that rules are planned as for its hooks.
    """
    workspace = make({})
    if not agent:
        with suppress(BrimError):  # files that can't be read
            for target in Installation(workspace.environ, workspace.cwd).installed():
                agent = target.agent
                break
    if agent and workspace.config.yours["model"] is None:
        workspace = make({"model": model_of(agent, workspace.environ)})
    return workspace, agent


def _with_backup(record: Record, backup: str) -> Record:
    """Return *record* with one more backup, if there is one."""
    if not backup:
        return record
    return replace(record, backups=(*record.backups, backup))


def _finished(changes: Sequence[SettingsChange]) -> list[str]:
    """Return the files that are as *changes* want them."""
    paths = []
    for change in changes:
        if change.changes and change.target.read() == change.after:
            paths.append(change.target.path)
    return paths
