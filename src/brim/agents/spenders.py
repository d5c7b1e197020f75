"""Who spends in a session, as the ledger names it: ``project/session/agent``.

A project is called as its folder is, so that a person can write ``brim spend limit shop 10``. A session has the first
eight characters of its id; Codex's ids begin with the time, so that those of one minute have the same, and of them it
is the last eight. The main thread is ``main``, a sub-agent has its id.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brim.agents.call import HookCall
    from brim.agents.place import Place

MAIN = "main"
"""What the main thread is called."""

NO_PROJECT = "no-project"
"""The project of sessions that are in none."""

_LONGEST = 80
_FIRST = 8
_UUID, _VERSION = 36, 14
_SIGNS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")


def project_scope(place: Place) -> str:
    """Return the scope of the project that *place* is in."""
    return folder_scope(place.project)


def folder_scope(project: str | None) -> str:
    """Return the scope of the project in the folder *project*, None for no project."""
    return _name(os.path.basename(project or "") or NO_PROJECT, _LONGEST)


def session_scope(call: HookCall, place: Place) -> str:
    """Return the scope of the session of *call*."""
    id = call.session
    timed = len(id) == _UUID and id[_VERSION] == "7"
    return f"{project_scope(place)}/{_name(id[-_FIRST:] if timed else id, _FIRST)}"


def agent_scope(call: HookCall, place: Place, agent: str = "") -> str:
    """Return the scope of *agent* in that session; empty is the main thread."""
    return f"{session_scope(call, place)}/{_name(agent or MAIN, _LONGEST)}"


def _name(text: str, longest: int) -> str:
    """Return *text* as a segment of a scope: every sign that may not be in one becomes ``-``."""
    made = "".join([sign if sign in _SIGNS else "-" for sign in text[:longest]])
    return made if made.strip(".") else f"-{made}"[:longest]
