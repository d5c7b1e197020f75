"""What should a person know about the rules and the project? Mistakes, what waits for their
consent, what agents don't use yet.

The person is told once a session, and the status line shows it.
"""

from __future__ import annotations

import json
import os
import re
import time
import zlib
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from brim.agents.call import SESSION_START, Answer, HookCall
from brim.config.places import STATES
from brim.errors import StoreError
from brim.files import open_safely
from brim.hooks.state import HookWorkspace
from brim.rules.losses import forget_losses, unreported_losses
from brim.workspace import without_controls

KEPT = "attention"
"""Kept for a session while there is something that ``brim rules trust`` would ask about."""

SHORT = "something changed: brim rules trust"
"""What the status line says then."""

SHARED = (
    "this project has rules or settings of its own in .brim/, "
    "which agents don't use until you trust it"
)
"""What is said in a clone of a project that shares them."""

FILES = ("rules.toml", "config.yaml")
"""What in ``.brim`` steers agents."""


STAMPS = "stamps"
"""Kept for a session: how the files looked that steer agents, at its last event."""
USERS_FILES = ("rules.toml", "config.yaml", "removed.toml", "bin/hook")
"""Files in the user's folder that only a person changes."""
MOST_STATES = 6
"""Files of the last sessions that are looked at when a database isn't there."""
JOURNAL = (".context", "journal.jsonl")
RECORDS = ("state.db", "index.db")
"""Databases that nobody replaces while a session goes on."""
DATABASES = {
    "state.db": "what you allowed is forgotten, and sessions may be told a rule again",
    "index.db": "costs are read again from your agents' files",
    "rules.db": "rules and blocks are read from their text",
}
"""The databases in the user's folder, and what is true when one is damaged: it's made again."""
BEGINNING = b"SQLite format 3\0"
LARGEST_SETTINGS = 1 << 20
"""Bytes of an agent's settings that are compared."""


def project_note(call: HookCall, workspace: HookWorkspace) -> Answer | None:
    """Return what the human hasn't been told yet in this session."""
    if not call.session:
        return None
    state = workspace.state(call.session)
    texts = _news_of_rules(workspace)
    if workspace.project is not None:
        texts += _news_of_project(workspace, workspace.project)
        _keep_for_status(call, workspace)
    told_texts = [text for text in texts if state.tell_once(text)]
    if not told_texts:
        return None
    _forget_losses(workspace.home, told_texts)
    return Answer(note="\n".join([f"brim: {text}" for text in told_texts]))


def _forget_losses(home: str, told_texts: list[str]) -> None:
    """Don't tell another session which rules the user's file lost."""
    told_losses = [line for line in unreported_losses(home) if without_controls(line) in told_texts]
    if told_losses:
        with suppress(OSError, StoreError):
            forget_losses(home, told_losses)


def _news_of_rules(workspace: HookWorkspace) -> list[str]:
    """Return the mistakes in files of rules, and what of them waits, if this hook has read them."""
    if workspace.rules is None or workspace.rules.index is None:
        return []
    return [without_controls(text) for text in workspace.rules.index.news]


def _news_of_project(workspace: HookWorkspace, project: str) -> list[str]:
    texts = []
    memory = workspace.memory_problem
    if memory is not None:
        texts.append(without_controls(str(memory)))
    if _has_untrusted(workspace, project):
        texts.append(f"{SHARED}: 'brim rules trust' shows them")
    if workspace.settings_changed:
        name = without_controls(os.path.basename(project))
        changes = f"the settings of {name} changed since you trusted it"
        texts.append(f"{changes}: 'brim rules trust' shows them")
    return texts


def _keep_for_status(call: HookCall, workspace: HookWorkspace) -> None:
    """Keep for the status line whether something waits for the person's consent."""
    state = workspace.state(call.session)
    was_asking = bool(state.kept(KEPT))
    is_asking = workspace.settings_changed or _is_foreign(workspace.memory_problem)
    if workspace.rules is not None and workspace.rules.index is not None:
        is_asking = is_asking or workspace.rules.index.waiting > 0
    if is_asking or was_asking:
        state.keep(KEPT, is_asking)


def _is_foreign(problem: StoreError | None) -> bool:
    """Whether the *problem* is a memory that somebody else made."""
    return problem is not None and problem.reason == "foreign"


def _has_untrusted(workspace: HookWorkspace, project: str) -> bool:
    """Whether *project* came with rules or settings that the person hasn't trusted yet."""
    if workspace.trusted:
        return False
    return any(os.path.exists(os.path.join(project, ".brim", name)) for name in FILES)


CLOCK = "clock"
"""Kept for a session that began after the clock had gone back."""
LOCKED = "locked"
"""Kept for a session while what it's told can't be noted in ``state.db``."""
INDEX_LOCKED = "index locked"
"""Kept for a session that began while another program held ``index.db``."""
CLOCKS = "clocks"
"""The session under which it's kept what time it was at the last start, and how long the machine
had run by then."""
DAY = 86_400.0


def clock_note(call: HookCall, workspace: HookWorkspace) -> Answer | None:
    """Return what the person is told once after the clock has gone back, or a day ahead."""
    if not call.session:
        return None
    is_behind = workspace.rule_state.settle_clock()
    change = ""
    if is_behind:
        change = "is behind the last time that brim was used"
    elif _is_set_ahead(workspace):
        change = "was set ahead by more than a day"
    state = workspace.state(call.session)
    if change or state.kept(CLOCK):
        state.keep(CLOCK, change)
    if not change:
        return None
    effect = "limits of a day or a week count by the clock as it is now"
    return Answer(note=f"brim: the clock {change}: {effect}")


def _is_set_ahead(workspace: HookWorkspace) -> bool:
    """Whether the clock went a day further since the last start than the machine has run."""
    uptime = _uptime()
    if uptime is None:
        return False
    state = workspace.state(CLOCKS)
    last_clocks = state.kept(CLOCKS)
    state.keep(CLOCKS, [workspace.now, uptime])
    if not isinstance(last_clocks, list):
        return False
    last_time, last_uptime = last_clocks
    has_restarted = uptime < last_uptime
    return not has_restarted and workspace.now - last_time > uptime - last_uptime + DAY


def _uptime() -> float | None:
    """Return how long the machine has run, its sleep included; None where no clock counts that: a
    guest of Windows sleeps without one."""
    if not hasattr(time, "CLOCK_BOOTTIME") or not hasattr(os, "uname"):
        return None
    if "microsoft" in os.uname().release.lower():
        return None
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def locked_note(call: HookCall, workspace: HookWorkspace) -> Answer | None:
    """Return what the person is told if the session's start couldn't be noted, or its requests
    can't be kept."""
    if not call.session:
        return None
    state = workspace.state(call.session)
    lines: list[str] = []
    problem = state.kept(LOCKED)
    if problem:
        problem = without_controls(str(problem))
        lines.append(f"brim: {problem}: rules may be told again until that is possible")
    is_locked = workspace.may_have_limits and workspace.index.is_locked
    if is_locked or state.kept(INDEX_LOCKED):
        state.keep(INDEX_LOCKED, is_locked)
    if is_locked:
        path = without_controls(workspace.index.path)
        lines.append(f"brim: {path} is locked: requests are read again until it can be written")
    return Answer(note="\n".join(lines))


# What is broken -----------------------------------------------------------------------------------


def fault_note(call: HookCall, workspace: HookWorkspace) -> Answer | None:
    """Return what the person is told of brim's own files that are broken, once a session."""
    home = workspace.home
    lines = [f"brim: {without_controls(text)}" for text in faults(home) + losses_of_records(home)]
    if call.session:
        state = workspace.state(call.session)
        lines = [line for line in lines if not state.told(line)]
        for line in lines:
            state.tell_once(line)
    if not lines:
        return None
    return Answer(note="\n".join(lines))


def faults(home: str) -> list[str]:
    """Return what is broken in the user's folder *home*, and what brim does without it."""
    if not os.path.isdir(home):
        return []
    texts: list[str] = []
    for name, remedy in DATABASES.items():
        path = os.path.join(home, name)
        if _is_damaged(path):
            texts.append(f"{path} is damaged: {remedy}")
    if not os.access(home, os.W_OK):
        texts.append(f"{home} can't be written to: nothing is remembered until you allow it")
    elif _is_full(home):
        texts.append(f"the disk with {home} is full: nothing is remembered until there is room")
    return texts


def losses_of_records(home: str) -> list[str]:
    """Return which databases in *home* are gone: the next event makes them again."""
    texts: list[str] = []
    for name in RECORDS:
        path = os.path.join(home, name)
        if _is_gone(path, home):
            texts.append(f"{path} is missing: {DATABASES[name]}")
    return texts


def _is_gone(path: str, home: str) -> bool:
    """Whether the database *path*, which one of the last sessions had, isn't there."""
    if os.path.exists(path):
        return False
    stamp = re.escape(json.dumps(path)) + r": ?\["
    return any(re.search(stamp, text) for text in _last_states(home))


def _last_states(home: str) -> list[str]:
    """Return what is remembered of the last sessions."""
    texts: list[str] = []
    with suppress(OSError):
        entries = [entry for entry in os.scandir(os.path.join(home, STATES)) if entry.is_file()]
        entries.sort(key=lambda entry: entry.stat().st_mtime, reverse=True)
        for entry in entries[:MOST_STATES]:
            with open(entry.path, encoding="utf-8", errors="replace") as file:
                texts.append(file.read(LARGEST_SETTINGS))
    return texts


def set_aside(home: str) -> list[str]:
    """Rename the damaged databases in *home*, which are made again; return their paths."""
    paths: list[str] = []
    for name in DATABASES:
        path = os.path.join(home, name)
        if _is_damaged(path):
            with suppress(OSError):
                os.replace(path, f"{path}.damaged")
                paths.append(path)
    return paths


def _is_damaged(path: str) -> bool:
    """Whether the database *path* doesn't begin as one, or can't be read."""
    try:
        with open(path, "rb") as file:
            head = file.read(len(BEGINNING))
    except FileNotFoundError:
        return False
    except OSError:
        return True
    return head not in (b"", BEGINNING)


def _is_full(folder: str) -> bool:
    try:
        return os.statvfs(folder).f_bavail == 0
    except (OSError, AttributeError):  # Windows has no such call
        return False


# What changed meanwhile ---------------------------------------------------------------------------


def changed_note(call: HookCall, workspace: HookWorkspace) -> Answer | None:
    """Return what the person is told when rules, limits, settings or hooks have changed since the
    last event of the session.

    A person may have changed them in another window; an agent isn't allowed to, but can.
    """
    if not call.session or workspace.only_injects:
        return None
    state = workspace.state(call.session)
    before = state.kept(STAMPS)
    projects_settings = _projects_settings(workspace)
    if call.event == SESSION_START or not isinstance(before, dict):
        state.keep(STAMPS, _stamps(_watched_files(call, workspace), {}, projects_settings))
        return None
    # The same files, and nothing is asked about the project.
    stamps = _stamps(before, before, projects_settings)
    state.keep(STAMPS, stamps)
    changed: list[str] = []
    for path, stamp in stamps.items():
        if path not in before or _contents(before[path]) == _contents(stamp):
            continue
        is_new_database = _is_own_record(path) and before[path] is None
        if not is_new_database:
            changed.append(without_controls(path))
    if not changed:
        return None
    names = " and ".join(changed[:3])
    return Answer(
        note=f"brim: {names} changed since this session's last event. "
        "If it wasn't you, look at it before you go on"
    )


def _contents(stamp: Any) -> Any:
    """Return the part of a *stamp* that says what is in the file."""
    if isinstance(stamp, list):
        return stamp[2:]
    return None


def _stamps(paths: Iterable[str], before: dict[str, Any], projects_settings: str) -> dict[str, Any]:
    """Return the time, the size and a checksum of each file; None for one that isn't there. Only a
    file with another time or size is read again."""
    stamps: dict[str, Any] = {}
    for path in paths:
        try:
            status = os.stat(path)
        except OSError:
            stamps[path] = None
            continue
        old_stamp = before.get(path)
        if _is_own_record(path):
            stamps[path] = [0, 0, _identity(path, status)]
            continue
        stamp = [status.st_mtime_ns, status.st_size]
        if isinstance(old_stamp, list) and old_stamp[:2] == stamp:
            stamps[path] = old_stamp
            continue
        content: object = stamp  # a project's settings may be a stranger's: they aren't opened
        if path != projects_settings:
            content = _checksum(path)
        stamps[path] = [*stamp, content]
    return stamps


def _watched_files(call: HookCall, workspace: HookWorkspace) -> list[str]:
    """Return the files that steer agents here; they needn't exist."""
    places = call.agent.places
    paths = [os.path.join(workspace.home, name) for name in USERS_FILES]
    paths.append(places.user_file(workspace.environ))
    paths += [os.path.join(workspace.home, name) for name in RECORDS]
    if workspace.project is not None:
        paths.append(places.project_file(workspace.project))
        paths.append(_projects_settings(workspace))
        paths.append(os.path.join(workspace.project, *JOURNAL))
    return paths


def _is_own_record(path: str) -> bool:
    """Whether hooks themselves write to *path* at any time: only its removal is noticed."""
    return path.endswith((".db", "journal.jsonl"))


def _identity(path: str, status: os.stat_result) -> object:
    """Return what stays the same of a record while it's only written to."""
    if path.endswith(".db"):
        return status.st_ino
    return status.st_size > 0


def _projects_settings(workspace: HookWorkspace) -> str:
    if workspace.project is None:
        return ""
    return os.path.join(workspace.project, ".brim", "config.yaml")


def _checksum(path: str) -> int:
    """Return a checksum of the file *path*; of an agent's settings in JSON, only of its hooks:
    agents write the rest themselves."""
    try:
        handle = open_safely(os.path.realpath(path))  # a pipe would be waited for
        with os.fdopen(handle, "rb") as file:
            data = file.read(LARGEST_SETTINGS)
    except OSError:
        return 0
    try:
        settings = json.loads(data)
        hooks = [settings.get("hooks"), settings.get("disableAllHooks")]
    except (ValueError, AttributeError, RecursionError):
        return zlib.crc32(data)
    return zlib.crc32(json.dumps(hooks).encode())
