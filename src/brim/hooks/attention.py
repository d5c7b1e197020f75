"""What a person should know about the project: foreign memory, and what changed since they trusted it.

Agents don't use either. The person is told once a session, and the status line shows it.
"""

from __future__ import annotations

from brim.hooks.event import Answer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brim.hooks.event import HookCall
    from brim.hooks.state import HookWorkspace

KEPT = "attention"
"""Kept for a session while there is something to look at."""

SHORT = "something changed: brim trust"
"""What the status line says then."""

MEMORY = "the memory in .context/ wasn't made here, so your agent doesn't use it: 'brim trust' shows it"


def project_note(call: HookCall, workspace: HookWorkspace) -> Answer | None:
    """Return what the human hasn't been told yet in this session."""
    if workspace.project is None or not call.session:
        return None
    state = workspace.state(call.session)
    memory = MEMORY if workspace.has_foreign_memory else ""
    found = [text for text in (memory, _changes(workspace, again=bool(state.kept(KEPT)))) if text]
    if found or state.kept(KEPT):
        state.keep(KEPT, bool(found))
    note = "\n".join([f"brim: {text}" for text in found if state.tell_once(text)])
    return Answer(note=note) if note else None


def _changes(workspace: HookWorkspace, *, again: bool) -> str:
    """Return what changed, if this hook has met something that it left out, or one before it has."""
    opened = vars(workspace).get("scopes")
    if again or workspace.settings_changed or (opened is not None and opened.left_out):
        return workspace.changes_of(workspace.scopes)
    return ""
