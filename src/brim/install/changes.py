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
from dataclasses import asdict, dataclass, fields
from hashlib import sha256
from typing import Any

from brim.agents.fields import items
from brim.agents.settings import LEARN_ABOUT, settings_for
from brim.errors import InputError, StoreError
from brim.files import data_file, remove_unfinished, replace_file, save
from brim.install.agents import (
    ALL,
    OPENCODE_BEGINS,
    Ours,
    Target,
    agent_folder,
    brim_program,
    entries_for,
    launcher_command,
    opencode_text,
    program_in,
    status_value,
)
from brim.install.jsonc import BLANK, JsonText
from brim.store.project import make_folder

HOOKS, STATUS = "hooks", "statusLine"
COMMAND = "-command"
"""How the agent of a target ends that is a file of ``/learn`` and not settings."""


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
    try:
        with open(os.path.join(home, NAME), encoding="utf-8") as file:
            found = {str(path): _record(entry) for path, entry in json.load(file)["files"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}
    return {path: record for path, record in found.items() if record is not None}


def write_records(home: str, records: Mapping[str, Record]) -> None:
    """Keep *records*, or remove the file if there are none."""
    path = os.path.join(home, NAME)
    files = {key: asdict(each) for key, each in sorted(records.items())}
    try:
        if records:
            make_folder(home)
            replace_file(
                path, (json.dumps({"schema": SCHEMA, "files": files}, indent=2) + "\n").encode()
            )
        elif os.path.lexists(path):
            os.unlink(path)
    except OSError as error:
        raise StoreError(
            f"{path}: cannot be written: {error.strerror or error}; it is as it was"
        ) from None


def _record(entry: Any) -> Record | None:
    known = {each.name: entry[each.name] for each in fields(Record) if each.name in entry}
    backups = known["backups"] = tuple(known.get("backups", ()))
    texts = [*backups, *(value for name, value in known.items() if name != "backups")]
    if not {"agent", "scope"} <= known.keys() or not all(
        each is None or isinstance(each, str) for each in texts
    ):
        return None
    return Record(**known)


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
        path, real = self.target.path, os.path.realpath(self.target.path)
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
    if target.is_own:
        if before is not None and not before.startswith(OPENCODE_BEGINS):
            raise InputError(
                f"{target.path}: is not brim's, so it is as it was: move it away, then try again"
            )
        return _whole_file(target, before, opencode_text(home), record)
    ours = Ours(home)
    settings = JsonText(before or "", target.path, comments=target.comments)
    old_value = settings.value
    _merge(
        settings, entries_for(target.agent, launcher_command(home, target.agent), hooks=hooks), ours
    )
    kept, chained = (record.status if record is not None else None), None
    if status:
        kept, chained = _put_status(settings, kept, ours, home)
    else:
        _take_status(settings, kept, ours)
        kept = None
    after = before if before is not None and settings.value == old_value else settings.text
    made = Record(
        target.agent,
        target.scope,
        hooks,
        original=plan_uninstall(target, before, record, home=home).after,
        installed=digest(after),
        status=kept,
        folder=record.folder if record is not None else missing_folder(target.path),
        backups=record.backups if record is not None else (),
    )
    return SettingsChange(target, before, after, made, chained)


def _whole_file(
    target: Target, before: str | None, text: str, record: Record | None, folder: str = ""
) -> SettingsChange:
    """Return how *target*, a file that is all brim's, gets *text*; *folder* goes with it when it's
    removed."""
    folder = record.folder if record is not None else folder or missing_folder(target.path)
    made = Record(target.agent, target.scope, original=None, installed=digest(text), folder=folder)
    return SettingsChange(target, before, text, made)


def plan_uninstall(
    target: Target, before: str | None, record: Record | None, *, home: str
) -> SettingsChange:
    """Return how *target*, whose text is *before*, looks without brim.

    A file that is as brim left it gets its original text back. From another one only brim's entries
    are removed.
    """
    if before is None or not before.strip(BLANK):
        return SettingsChange(target, before, before, None)
    if record is not None and record.installed == digest(before):
        return SettingsChange(target, before, record.original, None)
    if target.is_own:
        return SettingsChange(
            target, before, None if before.startswith(OPENCODE_BEGINS) else before, None
        )
    if target.agent.endswith(COMMAND):  # a person changed it, so it's theirs
        return SettingsChange(target, before, before, None)
    ours = Ours(home)
    settings = JsonText(before, target.path, comments=target.comments)
    _merge(settings, {}, ours)
    _take_status(settings, record.status if record is not None else None, ours)
    after: str | None = settings.text
    if record is not None and after != before:
        had = (record.original or "").strip(BLANK)
        if not had and not settings.value:
            after = record.original
    return SettingsChange(target, before, after, None)


def _merge(settings: JsonText, entries: Mapping[str, dict[str, Any]], ours: Ours) -> None:
    """Let *settings* hold *entries*, which are by event, and no other hooks of brim's."""
    settings.check(dict, HOOKS)
    for event in entries:
        settings.check(list, HOOKS, event)
    wanted = {event: [group] for event, group in entries.items()}
    for event in list(settings.get(HOOKS) or {}):
        if isinstance(settings.get(HOOKS, event), list):
            _settle(settings, event, wanted.setdefault(event, []), ours)
    for event, groups in wanted.items():
        for group in groups:
            settings.append(group, HOOKS, event)


def _settle(settings: JsonText, event: str, missing: list[dict[str, Any]], ours: Ours) -> None:
    """Leave, replace or remove brim's groups of *event*; what is then there is taken out of
    *missing*."""
    stale = []
    for at, group in enumerate(settings.get(HOOKS, event)):
        if group in missing:
            missing.remove(group)
        elif any(map(ours.hook, items(group, HOOKS))):
            stale.append(at)
    for at in list(stale):
        if missing and all(map(ours.hook, items(settings.get(HOOKS, event, at), HOOKS))):
            settings.put(missing.pop(0), HOOKS, event, at)
            stale.remove(at)
    for at in reversed(stale):
        hooks = items(settings.get(HOOKS, event, at), HOOKS)
        numbers = [number for number, hook in enumerate(hooks) if ours.hook(hook)]
        if len(numbers) == len(hooks):
            settings.remove(HOOKS, event, at)
        else:
            for number in reversed(numbers):
                settings.remove(HOOKS, event, at, HOOKS, number)


def _put_status(
    settings: JsonText, kept: str | None, ours: Ours, home: str
) -> tuple[str | None, str | None]:
    """Set the status line; return the earlier one as it was written, and the command that brim's
    calls for it."""
    found, wanted = settings.get(STATUS), status_value(home)
    if found is not None and not (
        isinstance(found, dict) and isinstance(found.get("command"), str)
    ):
        return None, None
    raw = settings.raw(STATUS)
    settings.put({**(found or {}), **wanted}, STATUS)
    if ours.status(found):
        return kept or "", None
    return raw, found["command"] if found else ""


def _take_status(settings: JsonText, kept: str | None, ours: Ours) -> None:
    """Give back the earlier status line, unless another was set since."""
    if ours.status(settings.get(STATUS)):
        if kept:
            settings.put_raw(kept, STATUS)
        else:
            settings.remove(STATUS)


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
    made, folder = (
        record.folder if record is not None else "",
        os.path.dirname(os.path.realpath(path)),
    )
    with suppress(OSError):
        while made and (folder == made or folder.startswith(made + os.sep)):
            os.rmdir(folder)
            folder = os.path.dirname(folder)


def missing_folder(path: str) -> str:
    """Return the uppermost folder above *path* that doesn't exist; empty if all do."""
    missing, folder = "", os.path.dirname(os.path.realpath(path))
    while not os.path.isdir(folder) and folder != os.path.dirname(folder):
        missing, folder = folder, os.path.dirname(folder)
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
    task = data_file(__file__, "learn.md").decode().replace("{rule}", settings.learn_rule)
    is_found = program == "brim"
    task = task.replace(
        "{where}", "" if is_found else f"If the shell doesn't find brim, it is {program}. "
    )
    allowed = "Bash(brim learn:*)" if is_found else f"Bash(brim learn:*), Bash({program} learn:*)"
    return (
        settings.learn_text.replace("{about}", LEARN_ABOUT)
        .replace("{allowed}", allowed)
        .replace("{task}", task)
    )


def command_target(agent: str, environ: Mapping[str, str]) -> Target:
    """Return the file of ``/learn`` for *agent*, in the user's folder."""
    return Target(
        f"{agent}{COMMAND}",
        "user",
        os.path.join(agent_folder(agent, environ), *settings_for(agent).learn_file.split("/")),
    )


def plan_command(
    target: Target, before: str | None, record: Record | None
) -> SettingsChange | None:
    """Return how *target* gets the command; None if there is a file that isn't brim's, or was
    changed since."""
    if before is not None and (record is None or record.installed != digest(before)):
        return None
    agent = target.agent.removesuffix(COMMAND)
    learn_file = settings_for(agent).learn_file
    text = command_text(agent, program_in(agent, brim_program()))
    # A folder that is empty, as after a crash, goes with the command too.
    top = (
        os.path.realpath(target.path).removesuffix(learn_file.replace("/", os.sep))
        + learn_file.split("/")[0]
    )
    is_empty = os.path.isdir(top) and not any(files for _, _, files in os.walk(top))
    return _whole_file(
        target, before, text, record, "" if missing_folder(target.path) or not is_empty else top
    )
