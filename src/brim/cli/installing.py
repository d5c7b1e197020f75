"""What init, upgrade, uninstall and doctor share: the agents' settings files, and how they are changed."""

from __future__ import annotations

import os
from contextlib import suppress

from brim.agents.install.entries import ALL, Ours, entries_for
from brim.agents.install.planning import STATUS, Change, plan_install, plan_uninstall
from brim.agents.install.receipt import LOCK, read_records, write_records
from brim.agents.install.targets import NAMES, Target, check_writable, project_target, read_settings_file, user_target
from brim.cli.options import working_folder
from brim.cli.output import paint, printable, say
from brim.cli.saving import remove_unfinished, save
from brim.cli.settings_backups import Backups
from brim.config.places import project_folder, user_folder
from brim.errors import BrimError, InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser
    from collections.abc import Mapping, Sequence
    from typing import Any

    from brim.agents.install.receipt import Record

AGENTS = (*NAMES, "all")


class Installation:
    """What is installed for this user, and the project around here (if there is one)."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self.environ = environ
        self.home = os.path.abspath(user_folder(environ))
        folder = working_folder()
        self.project = project_folder(environ, folder) if folder is not None else None
        self.records = read_records(self.home)

    def target(self, agent: str, scope: str) -> Target:
        """Return the file of *agent* for *scope*, ``user`` or ``project``."""
        if scope == "user":
            return user_target(agent, self.environ)
        if self.project is None:
            raise InputError("there is no project here: run it inside a git repository, or 'mkdir .brim'")
        return project_target(agent, self.project)

    def targets(self, agents: Sequence[str] = tuple(NAMES)) -> list[Target]:
        """Return every file of *agents* that brim may have written to: user's, this project's, and those recorded."""
        found = {}
        for agent in agents:
            for scope in ("user", "project") if self.project is not None else ("user",):
                target = self.target(agent, scope)
                found[target.path] = target
        for path, record in self.records.items():
            if record.agent in agents and record.agent in NAMES:
                found.setdefault(path, Target(record.agent, record.scope, path))
        return list(found.values())

    def planned(self, target: Target, *, hooks: str = ALL, resident: bool = False, status: bool = True) -> Change:
        """Return how *target* gets what belongs there."""
        resident = resident and target.agent == "claude"
        return plan_install(
            target,
            read_settings_file(target.path),
            self.records.get(target.path),
            entries=entries_for(target.agent, self.home, hooks=hooks, resident=resident),
            home=self.home,
            status=status and target.agent == "claude" and hooks == ALL and self._may_have_status(target),
            hooks=hooks,
            resident=resident,
        )

    def again(self, target: Target, record: Record) -> Change:
        """Return how *target* gets again what was installed there."""
        status = record.status is not None
        return self.planned(target, hooks=record.hooks, resident=record.resident, status=status)

    def removed(self, target: Target) -> Change:
        """Return how *target* is without anything of brim's."""
        return plan_uninstall(target, read_settings_file(target.path), self.records.get(target.path), home=self.home)

    def _may_have_status(self, target: Target) -> bool:
        """Whether a status line may be set: a project's would hide the user's, so only where there is none."""
        if target.scope == "user":
            return True
        record = self.records.get(target.path)
        if record is not None and record.status is not None:
            return True
        shared = os.path.join(os.path.dirname(target.path), "settings.json")
        files = (target.path, shared, self.target("claude", "user").path)
        return not any(STATUS in settings_of(path) for path in files)

    def apply(self, changes: Sequence[Change], *, installing: bool) -> dict[str, str]:
        """Make *changes*; return the backups by file. What to remember is written first when something is put in.

        One process does so at a time. If a file is not what it was when the change was thought out, nothing is done.
        """
        if not changes:
            return {}
        from brim.scratch.locks import locked
        from brim.store.project import make_folder

        with locked(os.path.join(self.home, LOCK), prepare=lambda: make_folder(self.home)):
            seen, self.records = self.records, read_records(self.home)
            left = [change for change in changes if not self._is_done(change, seen.get(change.target.path))]
            backups = self._apply(left, installing=installing)
        if not installing and (
            inside := [change.target.path for change in changes if change.target.scope == "project"]
        ):
            from brim.cli.hiding import unhide

            unhide(inside, others=self.records)
        return backups

    def _apply(self, changes: Sequence[Change], *, installing: bool) -> dict[str, str]:
        for change in [change for change in changes if change.changes]:
            check_writable(change.target.path)
            _check_same(change)
        _make_folders(changes)
        backups = {change.target.path: self._apply_one(change, installing=installing) for change in changes}
        return {path: name for path, name in backups.items() if name}

    def _apply_one(self, change: Change, *, installing: bool) -> str:
        """Make one change; return the backup's name, empty if none was needed."""
        path, before = change.target.path, self.records
        copies = Backups(change, before.get(path), self.home) if change.changes else None
        backup = copies.make() if copies is not None else ""
        records = {key: each for key, each in before.items() if key != path}
        if change.record is not None:
            names = [*change.record.backups, *([backup] if backup else [])]
            records[path] = change.record.changed(backups=names)
        if installing:
            self._remember(records, change)
        if copies is not None:
            try:
                _write(change)
            except BrimError:
                if installing:
                    self._remember(before, None)
                raise
        if not installing:
            if copies is not None:
                copies.remove()
            if change.after is None:
                _remove_folders(path, before.get(path))
            self._remember(records, change)
        return backup

    def _is_done(self, change: Change, seen: Record | None) -> bool:
        """Whether another process has made the very same change since the record was *seen*: it knows more of it."""
        path, now = change.target.path, self.records.get(change.target.path)
        other = now != seen or (now is not None and change.record is not None and change.changes)
        return other and read_settings_file(path) == change.after

    def _remember(self, records: dict[str, Record], change: Change | None) -> None:
        if change is not None:
            self._keep_chain(change)
        if records != self.records:
            write_records(self.home, records)
        self.records = records

    def _keep_chain(self, change: Change) -> None:
        """Keep the status line that was there before, for brim's to call."""
        from brim.hooks.status_chain import NAME

        chain = os.path.join(self.home, NAME)
        gone = change.record is None and change.target.scope == "user" and change.target.agent == "claude"
        if change.chained:
            _write_chain(chain, change.chained)
        elif gone or change.chained == "":
            with suppress(OSError):
                os.unlink(chain)

    def make_store(self) -> bool:
        """Make the user's store, or bring it up to date: hooks never do, and without it they keep no account.

        Return whether it was missing.
        """
        from brim.store.project import FILE
        from brim.store.store import open_store

        path = os.path.join(self.home, FILE)
        missing = not os.path.lexists(path)
        open_store(path).close()
        return missing


def add_agent(parser: ArgumentParser, default: str) -> None:
    """Add ``--agent``; *default* says who is meant without it."""
    text = f"{', '.join(AGENTS[:-1])} or {AGENTS[-1]}; may be repeated (default: {default})"
    parser.add_argument("--agent", action="append", choices=AGENTS, metavar="NAME", help=text)


def agents_of(given: Sequence[str] | None) -> list[str]:
    """Return the agents that ``--agent`` was *given*; none if it was not."""
    return [name for name in NAMES if given and (name in given or "all" in given)]


def settings_of(path: str) -> dict[str, Any]:
    """Return what the settings file *path* says; nothing if it is not there or cannot be read."""
    from brim.agents.install.json_places import read_places

    try:
        value = read_places(read_settings_file(path) or "{}", path, comments=True).value
    except BrimError:
        return {}
    return value if isinstance(value, dict) else {}


def installed_events(path: str, home: str) -> list[str]:
    """Return the events for which the file *path* calls brim."""
    from brim.agents.install.merging import hooks_of

    return list(dict.fromkeys(event for event, _ in hooks_of(settings_of(path), Ours(home).hook)))


def say_difference(change: Change) -> None:
    """Print what would change in one file, as ``diff -u`` does."""
    from difflib import unified_diff

    path = change.target.path
    if not change.changes:
        return
    old = (change.before or "").splitlines()
    new = (change.after or "").splitlines()
    names = (path if change.before is not None else "(no file)", path if change.after is not None else "(no file)")
    for line in unified_diff(old, new, *names, n=2, lineterm=""):
        colour = {"+": "green", "-": "red", "@": "cyan"}.get(line[:1])
        say(paint(printable(line), colour) if colour else printable(line))


def _check_same(change: Change) -> None:
    path = change.target.path
    if read_settings_file(path) != change.before:
        raise InputError(f"{path}: somebody else has just written it; please try again")


def _make_folders(changes: Sequence[Change]) -> None:
    """Make the folders that files are to be in, or none of them: that comes before anything is written."""
    folder = ""
    try:
        for change in changes:
            folder = os.path.dirname(os.path.realpath(change.target.path))
            if change.after is not None:
                os.makedirs(folder, 0o700, exist_ok=True)
    except OSError as error:
        for change in changes:
            _remove_folders(change.target.path, change.record)
        raise InputError(f"{folder}: cannot be made: {error.strerror or error}; nothing was changed") from None


def _write(change: Change) -> None:
    """Put what *change* wants in place of what is there."""
    path, real = change.target.path, os.path.realpath(change.target.path)
    _check_same(change)
    remove_unfinished(os.path.dirname(real))
    if change.after is None:
        try:
            os.unlink(real)
        except OSError as error:
            raise InputError(f"{path}: cannot be removed: {error.strerror or error}") from None
        return
    save(path, change.after)


def _remove_folders(path: str, record: Record | None) -> None:
    """Remove the folders that were made for the file *path*, as long as nothing is in them."""
    made, folder = record.folder if record is not None else "", os.path.dirname(os.path.realpath(path))
    with suppress(OSError):
        while made and (folder == made or folder.startswith(made + os.sep)):
            os.rmdir(folder)
            folder = os.path.dirname(folder)


def _write_chain(path: str, command: str) -> None:
    import json

    from brim._atomic import replace_file
    from brim.store.project import make_folder

    make_folder(os.path.dirname(path))
    replace_file(path, (json.dumps({"command": command}) + "\n").encode())
