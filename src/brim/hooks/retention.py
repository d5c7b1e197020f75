"""Removes what is past its time: once a day, when a session ends.

Rules, limits, reservations, a person's own backups and the memory of live sessions are never
touched. How long the rest is kept is in ``brim.config.retention`` and the settings ``keep.*``. Rows
that grow with every session (what sessions have heard, how far they were counted, single requests)
are removed where new ones are written.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial

from brim.config.places import STATES
from brim.config.retention import DAY, SESSIONS, UNFINISHED
from brim.config.trust import is_trusted, trusted_projects
from brim.errors import BrimError
from brim.files import locked, unfinished
from brim.hooks.state import HookWorkspace, old_files
from brim.memory.folder import (
    LOCK,
    NAME,
    check_folder,
    is_live,
    owner_of,
    remove_ours,
    session_folders,
)
from brim.memory.journal import keep_journals, old_journals

TIDIED = "tidied"
"""The file whose time says when this was last done; no session's file has its name."""

SECONDS = 0.3
"""After this, nothing more is begun: the rest is removed the next day."""

BUSY = 0.1
"""Seconds to wait for another process that writes memory or a database."""


def tidy(workspace: HookWorkspace) -> None:
    """Remove what is past its time, unless that was done within a day. What is broken or in use is
    left as it is."""
    if not _is_due(workspace.home, workspace.now):
        return
    until = workspace.clock() + SECONDS
    for remove in _removals(workspace):
        if workspace.clock() > until:
            return
        with suppress(BrimError, OSError):
            remove()


def _is_due(home: str, now: float) -> bool:
    """Whether a day has passed; note that it was done now. False where nothing can be written."""
    mark = os.path.join(home, STATES, TIDIED)
    try:
        if os.path.exists(mark) and 0 <= now - os.lstat(mark).st_mtime < DAY:
            return False
        os.close(os.open(mark, os.O_WRONLY | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600))
        os.utime(mark, (now, now))
    except OSError:
        return False
    return True


def _removals(workspace: HookWorkspace) -> Iterator[Callable[[], None]]:
    """Yield what removes one kind of thing in one place."""
    home = workspace.home
    now = workspace.now
    days = workspace.config.yours
    yield lambda: _unlink(old_files(home, now=now))
    yield lambda: _remove_journals(home, now)
    yield lambda: workspace.rule_state.remove_before(now - SESSIONS)
    projects = _trusted(home)
    for folder in (home, *(os.path.join(project, ".brim") for project in projects)):
        yield partial(_remove_unfinished, folder)
    if days["keep.memory"] is not None:
        for project in projects:
            yield partial(_remove_memory, project, days["keep.memory"], workspace)


def _trusted(home: str) -> list[str]:
    """Return the projects that the user trusts; none if that can't be read."""
    with suppress(BrimError):
        return [project for project in trusted_projects(home) if is_trusted(project, home)]
    return []


def _unlink(paths: Iterable[str]) -> None:
    for path in paths:
        with suppress(OSError):
            os.unlink(path)


def _age(path: str, now: float) -> float:
    return now - os.lstat(path).st_mtime


def _remove_journals(home: str, now: float) -> None:
    """Remove journals of memory that was removed a while ago."""
    _unlink(old_journals(os.path.join(home, "scratch"), now=now))


def _remove_unfinished(folder: str) -> None:
    """Remove what killed processes were writing."""
    for part in ("", "bin", "cache", STATES):
        _unlink(unfinished(os.path.join(folder, part), age=UNFINISHED))


def _remove_memory(project: str, days: int, workspace: HookWorkspace) -> None:
    """Remove the memory of sessions of *project* that ended. Its journal goes to the user's folder
    for a while."""
    root = os.path.join(project, NAME)
    if not os.path.lexists(root) or not check_folder(root, workspace.secret):
        return
    with locked(os.path.join(root, LOCK), patience=BUSY):
        folders = [*session_folders(root).values(), root]
        old = [folder for folder in folders if _is_over(folder, days, workspace.now)]
        if not old:
            return
        into = os.path.join(workspace.home, "scratch")
        keep_journals(old, into, os.path.basename(project), now=workspace.now)
        for folder in old:
            remove_ours(folder)


def _is_over(folder: str, days: int, now: float) -> bool:
    """Whether the session of *folder* was last seen more than *days* ago."""
    journal = os.path.join(folder, "journal.jsonl")
    if not os.path.exists(journal) or is_live(owner_of(folder), now=now):
        return False
    return _age(journal, now) > days * DAY
