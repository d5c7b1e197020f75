"""Who answers an event that a client tells two of: the process that it starts, and a server that it asks beside it.

Each claims the event first, by a link named after it, which only one can make; the other says nothing. An event that
was answered by nobody else is answered: a claim of one's own kind is of an event before this one with the same id.
"""

from __future__ import annotations

import os

FOLDER = "resident"
"""The folder in the user's for what servers say of themselves, and for claims."""
EVENTS = "events"
PROCESS, SERVER = "process", "server"
VARIABLE = "BRIM_UNLESS_RESIDENT"
"""Set for a process that a server may be asked beside."""
MANY = 256
"""Claims that may lie there before old ones are removed."""
OLD = 600.0
"""Seconds after which nobody asks for a claim any more."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


def event_id(event: str, data: Mapping[str, Any]) -> str:
    """Return what only this event is called, empty if the client does not number its prompts and calls."""
    from brim.agents.state import file_id

    found = data.get("tool_use_id") or data.get("prompt_id")
    session = data.get("session_id")
    if not (isinstance(found, str) and found and isinstance(session, str) and session):
        return ""
    return f"{file_id(session)}.{file_id(event)}.{file_id(found)}"


def claim(home: str, name: str, who: str, *, now: float) -> bool:
    """Whether *who* may answer the event *name*. An ``OSError`` says that nobody can claim anything here."""
    folder = os.path.join(home, FOLDER, EVENTS)
    path = os.path.join(folder, name)
    try:
        if not os.path.isdir(folder):
            _make(folder)
        os.symlink(who, path)
    except FileExistsError:
        return os.readlink(path) == who
    names = os.listdir(folder)
    if len(names) > MANY:
        _sweep(folder, names, now)
    return True


def may_answer(event: str, data: object, home: str, *, now: float) -> bool:
    """Whether the process answers. It does, unless a server has claimed the event."""
    try:
        name = event_id(event, data) if isinstance(data, dict) else ""
        return not name or claim(home, name, PROCESS, now=now)
    except OSError:
        return True


def _make(folder: str) -> None:
    for each in (os.path.dirname(folder), folder):  # a home that is not there is not made
        try:
            os.mkdir(each, 0o700)
        except FileExistsError:
            continue


def _sweep(folder: str, names: list[str], now: float) -> None:
    for name in names:
        path = os.path.join(folder, name)
        try:
            if os.lstat(path).st_mtime < now - OLD:
                os.unlink(path)
        except OSError:  # somebody else was faster
            continue
