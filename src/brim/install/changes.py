"""What brim writes into the agents' files: what was there before, what they become, and that
written.

Hooks have the same shape for every agent: ``{"hooks": {EVENT: [{"matcher": ..., "hooks":
[HOOK]}]}}``. Hooks of others are never moved, changed or counted, and what is already there stays
where it is.

Settings show what is there now, but not what was there before. So each file has a ``Record`` with
its original text in ``installed.json`` in the user's folder, and uninstalling restores that.
Without one, brim knows its entries by what they call.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, fields, replace
from hashlib import sha256
from typing import Any

from brim.agents.fields import items
from brim.agents.jsonc import BLANK, JsonText
from brim.agents.settings import LEARN_ABOUT, settings_for
from brim.config.own_folder import make_folder
from brim.errors import InputError, StoreError
from brim.files import data_file, remove_unfinished, replace_file, save
from brim.install.agents import (
    ALL,
    COMMAND,
    Ours,
    Target,
    agent_folder,
    entries_for,
    launcher_command,
    launcher_path,
    status_value,
)
from brim.install.shell import brim_program, program_in

HOOKS = "hooks"

NAME = "installed.json"
SCHEMA = 2
LOCK = "installed.lock"
"""Held while settings of agents are changed."""


@dataclass(frozen=True)
class Record:
    """What brim did to one file."""

    agent: str
    scope: str
    hooks: str = "all"
    """``all``, ``injection-only``, or ``plugin`` if the agent has a plugin that brings them."""
    original: str | None = None
    """The text without brim; None if there was no file."""
    installed: str = ""
    """The SHA-256 of the text that brim wrote. While the file has it, ``original`` is restored."""
    status: str | None = None
    """The status line that was there before, as written; empty if there was none; None if brim left
    it alone."""
    folder: str = ""
    """The uppermost folder that was made for the file; empty if all existed."""
    backups: tuple[str, ...] = ()
    """The copies that brim made of it."""


def read_records(home: str) -> dict[str, Record]:
    """Return the record of each file. Damaged ones are left out: the settings themselves say
    enough."""
    records = {}
    try:
        with open(os.path.join(home, NAME), encoding="utf-8") as file:
            entries = json.load(file)["files"].items()
        for path, entry in entries:
            record = _record(entry)
            if record is not None:
                records[str(path)] = record
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}
    return records


def write_records(home: str, records: Mapping[str, Record]) -> None:
    """Keep *records*, or remove the file if there are none."""
    path = os.path.join(home, NAME)
    files = {file: asdict(record) for file, record in sorted(records.items())}
    content = json.dumps({"schema": SCHEMA, "files": files}, indent=2) + "\n"
    try:
        if records:
            make_folder(home)
            replace_file(path, content.encode())
        elif os.path.lexists(path):
            os.unlink(path)
    except OSError as error:
        raise StoreError(
            f"{path}: cannot be written: {error.strerror or error}; it is as it was"
        ) from None


def _record(entry: Any) -> Record | None:
    """Return the record that *entry* of the file says; None if it isn't one."""
    names = [field.name for field in fields(Record)]
    values = {name: entry[name] for name in names if name in entry}
    if "agent" not in values or "scope" not in values:
        return None
    values["backups"] = tuple(values.get("backups", ()))
    texts = [*values["backups"], *[values[name] for name in values if name != "backups"]]
    if not all(text is None or isinstance(text, str) for text in texts):
        return None
    return Record(**values)


# Changes ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SettingsChange:
    """What becomes of one settings file."""

    target: Target
    before: str | None
    """Its text; None if it doesn't exist."""
    after: str | None
    """Its new text; None if it should not exist."""
    record: Record | None
    """What to remember of it; None if nothing of brim is left in it."""
    chained: str | None = None
    """The command of the earlier status line, for brim's to call; None leaves that as it is."""

    @property
    def changes(self) -> bool:
        """Whether the file has to be written."""
        return self.before != self.after

    def check_same(self) -> None:
        """Raise ``InputError`` if the file isn't what it was when this was planned."""
        if self.target.read() != self.before:
            raise InputError(
                f"{self.target.path}: it was changed by another program just now; try again"
            )

    def write(self) -> None:
        """Make the change."""
        path = self.target.path
        real = os.path.realpath(path)
        self.check_same()
        remove_unfinished(os.path.dirname(real))
        if self.after is not None:
            save(path, self.after)
            return
        try:
            os.unlink(real)
        except OSError as error:
            raise InputError(f"{path}: cannot be removed: {error.strerror or error}") from None

    def to_dict(self) -> dict[str, Any]:
        """Return what is common to installing and uninstalling as plain data."""
        target = self.target
        return {
            "agent": target.agent,
            "scope": target.scope,
            "file": target.path,
            "changed": self.changes,
        }


def plan_install(
    target: Target,
    before: str | None,
    record: Record | None,
    *,
    home: str,
    hooks: str = ALL,
    status: bool = True,
) -> SettingsChange:
    """Return how *target*, whose text is *before*, gets brim's hooks and, with *status*, its status
    line."""
    agent = settings_for(target.owner)
    if agent.own_file is not None:
        if before is not None and not target.is_brims(before):
            raise InputError(
                f"{target.path}: is not brim's, so it is as it was: move it away, then try again"
            )
        return _whole_file(target, before, agent.own_file(launcher_path(home)), record)
    ours = Ours(home)
    settings = JsonText(before or "", target.path, comments=agent.allows_comments)
    value_before = settings.value
    if not target.is_status_file:
        program = launcher_command(home, target.agent)
        _merge(settings, entries_for(target.agent, program, hooks=hooks), ours)
    line = StatusEntry(settings, ours, record, target.status_keys)
    if status:
        line.put(status_value(home, target.owner))
    else:
        line.take()
    after: str | None = settings.text
    if before is not None and settings.value == value_before:
        after = before
    new_record = Record(
        target.agent,
        target.scope,
        hooks,
        original=plan_uninstall(target, before, record, home=home).after,
        installed=digest(after),
        status=line.earlier,
        folder=missing_folder(target.path),
    )
    if record is not None:
        new_record = replace(new_record, folder=record.folder, backups=record.backups)
    return SettingsChange(target, before, after, new_record, line.chained)


def _whole_file(
    target: Target, before: str | None, text: str, record: Record | None, folder: str = ""
) -> SettingsChange:
    """Return how *target*, a file that is all brim's, gets *text*; *folder* goes with it when it's
    removed."""
    folder = folder or missing_folder(target.path)
    if record is not None:
        folder = record.folder
    new_record = Record(
        target.agent, target.scope, original=None, installed=digest(text), folder=folder
    )
    return SettingsChange(target, before, text, new_record)


def plan_uninstall(
    target: Target, before: str | None, record: Record | None, *, home: str
) -> SettingsChange:
    """Return how *target*, whose text is *before*, looks without brim.

    A file that is as brim left it gets its original text back. From another one only brim's entries
    are removed.
    """
    return SettingsChange(target, before, _without_brim(target, before, record, home), None)


def _without_brim(
    target: Target, before: str | None, record: Record | None, home: str
) -> str | None:
    """Return the text of *target* without brim; None if it should not exist."""
    if before is None or not before.strip(BLANK):
        return before
    if record is not None and record.installed == digest(before):
        return record.original
    if target.is_command:  # a person changed it, so it's theirs
        return before
    if target.is_own:
        return None if target.is_brims(before) else before
    return _without_entries(target, before, record, Ours(home))


def _without_entries(target: Target, before: str, record: Record | None, ours: Ours) -> str | None:
    """Return *before* without brim's entries; None if nothing is left of it that was there."""
    agent = settings_for(target.owner)
    settings = JsonText(before, target.path, comments=agent.allows_comments)
    _merge(settings, {}, ours)
    StatusEntry(settings, ours, record, target.status_keys).take()
    if record is None or settings.text == before or settings.value:
        return settings.text
    if (record.original or "").strip(BLANK):
        return settings.text
    return record.original  # which was empty, or didn't exist


def _merge(settings: JsonText, entries: Mapping[str, dict[str, Any]], ours: Ours) -> None:
    """Let *settings* hold *entries*, which are by event, and no other hooks of brim's."""
    settings.check(dict, HOOKS)
    for event in entries:
        settings.check(list, HOOKS, event)
    missing = {event: [group] for event, group in entries.items()}
    for event in list(settings.get(HOOKS) or {}):
        if isinstance(settings.get(HOOKS, event), list):
            _settle(settings, event, missing.setdefault(event, []), ours)
    for event, groups in missing.items():
        for group in groups:
            settings.append(group, HOOKS, event)


def _settle(settings: JsonText, event: str, missing: list[dict[str, Any]], ours: Ours) -> None:
    """Leave, replace or remove brim's groups of *event*; what is then there is taken out of
    *missing*."""
    stale = []
    for number, group in enumerate(settings.get(HOOKS, event)):
        if group in missing:
            missing.remove(group)
        elif ours.any_hook(group):
            stale.append(number)
    for number in list(stale):
        if missing and ours.all_hooks(settings.get(HOOKS, event, number)):
            settings.put(missing.pop(0), HOOKS, event, number)
            stale.remove(number)
    for number in reversed(stale):
        _remove_ours(settings, event, number, ours)


def _remove_ours(settings: JsonText, event: str, number: int, ours: Ours) -> None:
    """Take brim's hooks out of the group *number* of *event*, or all of it."""
    group = settings.get(HOOKS, event, number)
    if ours.all_hooks(group):
        settings.remove(HOOKS, event, number)
        return
    hooks = items(group, HOOKS)
    for place in reversed(range(len(hooks))):
        if ours.hook(hooks[place]):
            settings.remove(HOOKS, event, number, HOOKS, place)


class StatusEntry:
    """The status line in the *settings* of an agent, and the one that was there before brim's."""

    def __init__(
        self, settings: JsonText, ours: Ours, record: Record | None, keys: tuple[str, ...]
    ) -> None:
        self._keys = keys
        """Where it is set; empty if it isn't set in these settings."""
        self._settings = settings
        self._ours = ours
        self.earlier: str | None = None
        """The earlier one as it was written; empty if there was none, None if it stays."""
        if record is not None:
            self.earlier = record.status
        self.chained: str | None = None
        """The command of the earlier one, for brim's to call; None leaves that as it is."""

    def put(self, entry: Mapping[str, Any]) -> None:
        """Set brim's *entry*, unless something is there that brim can't read."""
        if not self._keys:
            return
        self._settings.check(dict, *self._keys[:-1])
        current = self._settings.get(*self._keys)
        if current is None:
            current = {}
            self.chained = ""
        elif isinstance(current, dict) and isinstance(current.get("command"), str):
            self.chained = current["command"]
        else:
            self.earlier = None
            return
        raw = self._settings.raw(*self._keys)
        self._settings.put({**current, **entry}, *self._keys)
        if self._ours.status(current):
            self.chained = None
            self.earlier = self.earlier or ""
        else:
            self.earlier = raw

    def take(self) -> None:
        """Give back the earlier one, unless another was set since."""
        is_brims = self._keys and self._ours.status(self._settings.get(*self._keys))
        if is_brims and self.earlier:
            self._settings.put_raw(self.earlier, *self._keys)
        elif is_brims:
            self._settings.remove(*self._keys)
        self.earlier = None


def make_folders(changes: Sequence[SettingsChange]) -> None:
    """Make the folders of all files, or none: that comes before anything is written."""
    folder = ""
    try:
        for change in changes:
            folder = os.path.dirname(os.path.realpath(change.target.path))
            if change.after is not None:
                os.makedirs(folder, 0o700, exist_ok=True)
    except OSError as error:
        for change in changes:
            remove_folders(change.target.path, change.record)
        raise InputError(
            f"{folder}: cannot be made: {error.strerror or error}; nothing was changed"
        ) from None


def remove_folders(path: str, record: Record | None) -> None:
    """Remove the folders that were made for the file *path*, if they are empty."""
    if record is None or not record.folder:
        return
    folder = os.path.dirname(os.path.realpath(path))
    with suppress(OSError):
        while folder == record.folder or folder.startswith(record.folder + os.sep):
            os.rmdir(folder)
            folder = os.path.dirname(folder)


def missing_folder(path: str) -> str:
    """Return the uppermost folder above *path* that doesn't exist; empty if all do."""
    missing = ""
    folder = os.path.dirname(os.path.realpath(path))
    while not os.path.isdir(folder) and folder != os.path.dirname(folder):
        missing = folder
        folder = os.path.dirname(folder)
    return missing


def digest(text: str | None) -> str:
    """Return the SHA-256 of a file's text, by which brim knows what it wrote."""
    return sha256((text or "").encode("utf-8", "backslashreplace")).hexdigest()


# /learn -------------------------------------------------------------------------------------------
#
# A small file per client lets a person teach a rule without leaving the session. Each is written
# whole and recorded as a settings file. One that a person wrote or changed stays as it is.


def command_text(agent: str, program: str = "brim") -> str:
    """Return the file for *agent*; *program* is brim, as the shell finds it."""
    settings = settings_for(agent)
    where = ""
    allowed = "Bash(brim learn:*)"
    if program != "brim":
        where = f"If the shell doesn't find brim, it is {program}. "
        allowed += f", Bash({program} learn:*)"
    task = data_file(__file__, "learn.md").decode()
    task = task.replace("{rule}", settings.learn_rule).replace("{where}", where)
    text = settings.learn_text.replace("{about}", LEARN_ABOUT)
    return text.replace("{allowed}", allowed).replace("{task}", task)


def command_target(agent: str, environ: Mapping[str, str]) -> Target:
    """Return the file of ``/learn`` for *agent*, in the user's folder."""
    parts = settings_for(agent).learn_file.split("/")
    path = os.path.join(agent_folder(agent, environ), *parts)
    return Target(f"{agent}{COMMAND}", "user", path)


def plan_command(
    target: Target, before: str | None, record: Record | None
) -> SettingsChange | None:
    """Return how *target* gets the command; None if there is a file that isn't brim's, or was
    changed since."""
    if before is not None and (record is None or record.installed != digest(before)):
        return None
    agent = target.owner
    text = command_text(agent, program_in(agent, brim_program()))
    # A folder that is empty, as after a crash, goes with the command too.
    learn_file = settings_for(agent).learn_file
    above = os.path.realpath(target.path).removesuffix(learn_file.replace("/", os.sep))
    folder = above + learn_file.split("/")[0]
    if missing_folder(target.path) or not _is_empty(folder):
        folder = ""
    return _whole_file(target, before, text, record, folder)


def _is_empty(folder: str) -> bool:
    """Whether no file is in *folder* or below it."""
    return os.path.isdir(folder) and not any(files for _, _, files in os.walk(folder))
