"""A window that began again: until the session's state knows it, it's kept beside it."""

from __future__ import annotations

from brim.agents.call import HookCall
from brim.hooks.state import HookWorkspace

_RENEWED = "renewed"
"""Kept for a session whose window began again: how. Nothing counts as told in it."""


def note_renewal(call: HookCall, workspace: HookWorkspace, how: str) -> None:
    """Note *how* the window of the session of *call* began again."""
    workspace.state(call.session).keep(_RENEWED, how)


def renewal_of(call: HookCall, workspace: HookWorkspace) -> str:
    """Return how the window of *call* began again; empty if its session's state knows of it. A
    sub-agent's window doesn't begin again."""
    if call.sub_agent or not call.session:
        return ""
    return str(workspace.state(call.session).kept(_RENEWED) or "")


def forget_renewal(call: HookCall, workspace: HookWorkspace) -> None:
    """Note that the session's state knows that its window began again."""
    if renewal_of(call, workspace):
        workspace.state(call.session).keep(_RENEWED, None)
