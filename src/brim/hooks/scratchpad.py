"""A session's scratch memory in its project's ``.context/``.

What one event says (a prompt, a changed file, a failed command) is added to the journal at once, in
one line. What needs more than one event, ``turns`` takes from the transcript. Entries have ids, so
what both see is there once.

A ``.context/`` that git tracks, or that lacks the mark of this user, came with a clone or an
archive: it is another person's memory and isn't used.
"""

from __future__ import annotations

import json
import os
from typing import Any

from brim.agents.call import HookCall, ToolCall
from brim.agents.events import ToolResult
from brim.errors import BrimError, StoreError
from brim.files import locked
from brim.hooks.state import HookWorkspace
from brim.memory.calls import Calls
from brim.memory.entries import MemoryEntry, draft
from brim.memory.folder import LOCK, make_folder, own, place_of
from brim.memory.index import NAME as INDEX
from brim.memory.quotes import encodable
from brim.memory.writer import ScratchWriter
from brim.workspace import without_controls

PATIENCE = 0.4
"""Seconds that a hook waits for another writer of the journal: many sessions may share a
project."""

_CHECKED = "scratch"


def scratch_root(call: HookCall, workspace: HookWorkspace, *, anew: bool = False) -> str | None:
    """Return the folder ``.context`` that *call* may write to, whether it exists or not; None if it
    may not.

    Whether git tracks it is checked once per session, or *anew*: before its content is told to
    anyone. Whether it was made here is checked each time.
    """
    if workspace.only_injects or workspace.project is None or not call.session:
        return None
    root = os.path.join(workspace.project, ".context")
    state = workspace.state(call.session)
    known = state.kept(_CHECKED)
    if anew or not isinstance(known, list) or len(known) != 2 or known[0] != root:
        try:
            known = [root, bool(workspace.memory_secret(root))]
        except StoreError:
            known = [root, False]
        state.keep(_CHECKED, known)
    return root if known[1] is True and workspace.memory_problem is None else None


def writer_of(call: HookCall, workspace: HookWorkspace) -> ScratchWriter | None:
    """Return the writer of this session's scratch files, None if it may have none."""
    if scratch_root(call, workspace, anew=True) is None or workspace.project is None:
        return None

    secret = workspace.secret
    return ScratchWriter(
        workspace.project,
        session=call.session,
        clock=lambda: workspace.now,
        patience=PATIENCE,
        secret=secret,
    )


# At each event ------------------------------------------------------------------------------------


def journal_prompt(call: HookCall, workspace: HookWorkspace) -> None:
    """Write down what a person typed; not what a machine wrote, nor the prompt of a sub-agent."""
    is_said = call.human and not call.sub_agent and call.prompt.strip()
    root = scratch_root(call, workspace) if is_said else None
    if root is not None:
        _append(
            root,
            call,
            workspace,
            [draft("human", call.prompt, session=call.session, time=workspace.now)],
        )


def journal_tool(call: HookCall, workspace: HookWorkspace) -> None:
    """Write down the file that a call changed, or the command that failed."""
    failed = call.event == "tool_failed" or bool(call.error)
    is_command = (
        call.tool.kind == "shell" and not call.interrupted and bool(call.tool.input.get("command"))
    )
    root = (
        scratch_root(call, workspace)
        if (is_command if failed else call.tool.changes_files)
        else None
    )
    if root is not None and (entries := _entries(call, workspace, failed=failed)):
        _append(root, call, workspace, entries)


def _entries(call: HookCall, workspace: HookWorkspace, *, failed: bool) -> list[MemoryEntry]:

    calls = Calls()
    where: Any = {"id": call.tool.id, "session": call.session, "time": workspace.now}
    asked = ToolCall(
        name=call.tool.name,
        kind=call.tool.kind,
        input=call.tool.input,
        agent=call.sub_agent,
        **where,
    )
    found = calls.called(asked)
    if not failed:
        return found
    result = ToolResult(text=call.error or call.output, error=True, **where)
    return [entry for entry in calls.answered(asked, result) if entry.kind == "command"]


def _append(
    root: str, call: HookCall, workspace: HookWorkspace, entries: list[MemoryEntry]
) -> None:
    """Add those of *entries* that this session's journal doesn't hold, in one write."""
    from brim.memory.journal import NAME, Journal

    secret = workspace.secret
    with locked(
        os.path.join(root, LOCK), patience=PATIENCE, prepare=lambda: make_folder(root, secret)
    ):
        make_folder(root, secret)  # again, now that no other process removes it
        folder = place_of(root, call.session, now=workspace.now, claim=True)
        if folder != root:
            make_folder(folder, secret)
        own(folder, call.session, now=workspace.now)
        journal = Journal(os.path.join(folder, NAME))
        journal.append(_new(entries, journal.refresh(only=_needle(call.session, entries))))


def _needle(session: str, entries: list[MemoryEntry]) -> bytes:
    """Return what every line of the journal holds that may say the same as one of *entries*."""
    if any(entry.id or entry.kind == "artifact" for entry in entries):
        return encodable(json.dumps(session, ensure_ascii=False)).encode()
    return b"\n"  # what a person says twice was said twice: no line is like it


def _new(entries: list[MemoryEntry], known: list[MemoryEntry]) -> list[MemoryEntry]:
    """Return those of *entries* that aren't in *known*. A file is noted once, however often it is
    changed."""
    ids = {(entry.session, entry.id) for entry in known}
    files = {(entry.session, entry.text) for entry in known if entry.kind == "artifact"}
    files -= {(entry.session, entry.text) for entry in known if entry.kind == "withdrawn"}
    new = [entry for entry in entries if (entry.session, entry.id) not in ids]
    return [
        entry
        for entry in new
        if entry.kind != "artifact" or (entry.session, entry.text) not in files
    ]


# Where the agent finds it -------------------------------------------------------------------------


def scratch_line(call: HookCall, workspace: HookWorkspace) -> str:
    """Return the line that names this session's scratch file after a compaction; empty if there is
    none."""
    path = scratch_file(call, workspace)
    if path is None or workspace.project is None:
        return ""
    here = os.path.realpath(call.cwd or workspace.cwd) == os.path.realpath(workspace.project)
    shown = os.path.relpath(path, workspace.project).replace(os.sep, "/") if here else path
    return (
        f"- Before the compaction this session kept a scratch memory: {without_controls(shown)} "
        "(what the human asked, decisions, files, dead ends). Read it before you go on.\n"
    )


def scratch_file(call: HookCall, workspace: HookWorkspace) -> str | None:
    """Return the path of this session's scratch file, or None if it has none that may be used.

    Only a file of this very session counts: another one came with a clone or belongs to another
    session.
    """
    if workspace.project is None or not call.session:
        return None
    from brim.memory.folder import NAME, check_folder, owner_of, place_of

    root = os.path.join(workspace.project, NAME)
    try:
        secret = workspace.secret
        folder = (
            place_of(root, call.session, now=workspace.now, claim=False)
            if check_folder(root, secret)
            else root
        )
        if not check_folder(folder, workspace.memory_secret(folder)):
            return None
    except BrimError:
        return None
    owner, path = owner_of(folder).get("session"), os.path.join(folder, INDEX)
    # A supervisor's own folder is its agent's too.
    is_own = owner == call.session or (workspace.supervised and isinstance(owner, str))
    return path if is_own and os.path.isfile(path) and not os.path.islink(path) else None
