"""What a person should know about the project: what agents don't use yet, and what changed since it
was trusted.

The person is told once a session, and the status line shows it.
"""

from __future__ import annotations

import os

from brim.agents.call import Answer, HookCall
from brim.errors import StoreError
from brim.hooks.state import HookWorkspace
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

FILES = ("behaviors.jsonl", "config.yaml", "brim.db")
"""What in ``.brim`` steers agents."""


def project_note(call: HookCall, workspace: HookWorkspace) -> Answer | None:
    """Return what the human hasn't been told yet in this session."""
    if workspace.project is None or not call.session:
        return None
    state = workspace.state(call.session)
    was_asking = bool(state.kept(KEPT))
    memory = workspace.memory_problem
    changes = _changes(workspace, again=was_asking)
    is_asking = bool(changes) or _is_foreign(memory)
    if is_asking or was_asking:
        state.keep(KEPT, is_asking)
    texts = []
    if memory is not None:
        texts.append(without_controls(str(memory)))
    if _has_untrusted(workspace, workspace.project):
        texts.append(f"{SHARED}: 'brim rules trust' shows them")
    if changes:
        texts.append(changes)
    lines = [f"brim: {text}" for text in texts if state.tell_once(text)]
    if not lines:
        return None
    return Answer(note="\n".join(lines))


def _is_foreign(problem: StoreError | None) -> bool:
    """Whether the *problem* is a memory that somebody else made."""
    return problem is not None and problem.reason == "foreign"


def _has_untrusted(workspace: HookWorkspace, project: str) -> bool:
    """Whether *project* came with rules or settings that the person hasn't trusted yet."""
    if workspace.trusted:
        return False
    return any(os.path.exists(os.path.join(project, ".brim", name)) for name in FILES)


def _changes(workspace: HookWorkspace, *, again: bool) -> str:
    """Return what changed, if this hook has met something that it left out, or one before it
    has."""
    if again or workspace.settings_changed or _has_left_out(workspace):
        return workspace.changes_of(workspace.scopes)
    return ""


def _has_left_out(workspace: HookWorkspace) -> bool:
    """Whether this hook has opened the rules and left some out."""
    scopes = vars(workspace).get("scopes")
    return scopes is not None and bool(scopes.left_out)
