"""A session's memory in its project's ``.context/``.

What one event says (a prompt, a changed file, a failed command) is added to the journal at once, in
one line. What needs more than one event, ``turns`` takes from the transcript. Entries have ids, so
what both see is there once.

A hook can be called by anyone, so a prompt counts as the person's words only once the transcript
has it too; until then it is stored as unconfirmed. A ``.context/`` that git tracks, or that lacks
the mark of this user, came with a clone or an archive: it is another person's memory and isn't
used.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

from brim.agents.call import HookCall
from brim.agents.events import ToolResult
from brim.errors import BrimError, StoreError
from brim.hooks.state import HookWorkspace
from brim.memory.calls import Calls, failed_command
from brim.memory.entries import UNCONFIRMED, MemoryEntry, draft
from brim.memory.folder import NAME, check_folder, owner_of, place_of
from brim.memory.index import NAME as INDEX
from brim.memory.journal import append_entries
from brim.memory.writer import ScratchWriter
from brim.workspace import without_controls

PATIENCE = 0.4
"""Seconds that a hook waits for another writer of the journal: many sessions may share a
project."""

_CHECKED = "scratch"


def scratch_root(call: HookCall, workspace: HookWorkspace, *, anew: bool = False) -> str | None:
    """Return the folder ``.context`` that *call* may write to, there or not; None if it may not.

    Whether git tracks it is checked once per session, or *anew*: before its content is told to
    anyone. Whether it was made here is checked each time.
    """
    if workspace.only_injects or workspace.project is None or not call.session:
        return None
    root = os.path.join(workspace.project, NAME)
    if not _may_be_used(root, call, workspace, anew=anew):
        return None
    return root if workspace.memory_problem is None else None


def _may_be_used(root: str, call: HookCall, workspace: HookWorkspace, *, anew: bool) -> bool:
    state = workspace.state(call.session)
    checked = state.kept(_CHECKED)
    if not anew and isinstance(checked, list) and len(checked) == 2 and checked[0] == root:
        return checked[1] is True
    try:
        is_ours = bool(workspace.memory_secret(root))
    except StoreError:
        is_ours = False
    state.keep(_CHECKED, [root, is_ours])
    return is_ours


def writer_of(call: HookCall, workspace: HookWorkspace) -> ScratchWriter | None:
    """Return the writer of this session's memory, None if it may have none."""
    if scratch_root(call, workspace, anew=True) is None or workspace.project is None:
        return None
    return ScratchWriter(
        workspace.project,
        session=call.session,
        clock=lambda: workspace.now,
        patience=PATIENCE,
        secret=workspace.secret,
    )


# At each event ------------------------------------------------------------------------------------


def journal_prompt(call: HookCall, workspace: HookWorkspace) -> None:
    """Write down what a person typed; not what a machine wrote, nor the prompt of a sub-agent."""
    if not call.human or call.sub_agent or not call.prompt.strip():
        return
    refs = {}
    if call.agent.transcripts.has_texts:  # else what brim's plugin reports is the record
        refs = {UNCONFIRMED: True}
    entry = draft("human", call.prompt, session=call.session, time=workspace.now, refs=refs)
    _append(call, workspace, [entry])


def journal_tool(call: HookCall, workspace: HookWorkspace) -> None:
    """Write down the file that a call changed, or the command that failed."""
    where: Any = {"session": call.session, "time": workspace.now}
    tool = replace(call.tool, agent=call.sub_agent, **where)
    if not call.has_failed:
        _append(call, workspace, Calls().called(tool))
    elif not call.interrupted:
        text = call.error or call.output
        result = ToolResult(text=text, error=True, id=tool.id, **where)
        _append(call, workspace, failed_command(tool, result))


def _append(call: HookCall, workspace: HookWorkspace, entries: list[MemoryEntry]) -> None:
    root = scratch_root(call, workspace) if entries else None
    if root is not None:
        append_entries(
            root,
            call.session,
            entries,
            now=workspace.now,
            secret=workspace.secret,
            patience=PATIENCE,
        )


# Where the agent finds it -------------------------------------------------------------------------


def scratch_line(call: HookCall, workspace: HookWorkspace) -> str:
    """Return the line that names this session's memory after a compaction; empty without one."""
    path = scratch_file(call, workspace)
    if path is None or workspace.project is None:
        return ""
    folder = os.path.realpath(call.cwd or workspace.cwd)
    if folder == os.path.realpath(workspace.project):
        path = os.path.relpath(path, workspace.project).replace(os.sep, "/")
    return (
        f"- Before the compaction this session kept a scratch memory: {without_controls(path)} "
        "(what the human asked, decisions, files, dead ends). Read it before you go on.\n"
    )


def scratch_file(call: HookCall, workspace: HookWorkspace) -> str | None:
    """Return the path of this session's index, or None if it has none that may be used.

    Only a file of this very session counts: another one came with a clone or belongs to another
    session.
    """
    if workspace.project is None or not call.session:
        return None
    root = os.path.join(workspace.project, NAME)
    try:
        folder = root
        if check_folder(root, workspace.secret):
            folder = place_of(root, call.session, now=workspace.now, claim=False)
        if not check_folder(folder, workspace.memory_secret(folder)):
            return None
    except BrimError:
        return None
    if not _is_of_session(folder, call, workspace):
        return None
    path = os.path.join(folder, INDEX)
    if os.path.islink(path) or not os.path.isfile(path):
        return None
    return path


def _is_of_session(folder: str, call: HookCall, workspace: HookWorkspace) -> bool:
    """Whether the memory in *folder* is this session's; a supervisor's own is its agent's too."""
    owner = owner_of(folder).get("session")
    if owner == call.session:
        return True
    return workspace.supervised and isinstance(owner, str)
