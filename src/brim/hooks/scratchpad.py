"""A session's scratch memory in its project's ``.context/``: written at each event, and from the transcript.

What one event says (a prompt, a changed file, a failed command) is added to the journal at once, in one line. What
needs more than one event (decisions, states, dead ends) is taken from the transcript when the turn ends or before a
compaction. Entries have ids, so what both see is there once.

A ``.context/`` that git tracks, or that lacks the mark of this user, came with a clone or an archive: it is another
person's memory and isn't used.
"""

from __future__ import annotations

import json
import os

from brim.errors import BrimError, StoreError
from brim.files import locked
from brim.hooks.transcript import FORMATS, size_of, whole_lines
from brim.workspace import without_controls

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from brim.hooks.event import HookCall
    from brim.hooks.state import HookWorkspace, SessionState
    from brim.scratch.entries import Entry
    from brim.scratch.model import ScratchModel
    from brim.scratch.writer import ScratchWriter
    from brim.tracking.events import Event

PATIENCE = 0.4
"""Seconds that a hook waits for another writer of the journal: many sessions may share a project."""

_CHECKED = "scratch"


def scratch_root(call: HookCall, workspace: HookWorkspace, *, anew: bool = False) -> str | None:
    """Return the folder ``.context`` that *call* may write to, whether it exists or not; None if it may not.

    Whether git tracks it is checked once per session, or *anew*: before its content is told to anyone. Whether it was
    made here is checked each time.
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
    from brim.scratch.writer import ScratchWriter

    secret = workspace.secret
    return ScratchWriter(
        workspace.project, session=call.session, clock=lambda: workspace.now, patience=PATIENCE, secret=secret
    )


# At each event ----------------------------------------------------------------------------------------------------


def journal_prompt(call: HookCall, workspace: HookWorkspace) -> None:
    """Write down what a person typed; not what a machine wrote, nor the prompt of a sub-agent."""
    is_said = call.human and not call.sub_agent and call.prompt.strip()
    root = scratch_root(call, workspace) if is_said else None
    if root is not None:
        from brim.scratch.entries import draft

        _append(root, call, workspace, [draft("human", call.prompt, session=call.session, time=workspace.now)])


def journal_tool(call: HookCall, workspace: HookWorkspace) -> None:
    """Write down the file that a call changed, or the command that failed."""
    failed = call.event == "tool_failed" or bool(call.error)
    is_command = call.tool_kind == "shell" and not call.interrupted and bool(call.input.get("command"))
    root = scratch_root(call, workspace) if (is_command if failed else call.tool_kind in ("write", "edit")) else None
    if root is not None and (entries := _entries(call, workspace, failed=failed)):
        _append(root, call, workspace, entries)


def _entries(call: HookCall, workspace: HookWorkspace, *, failed: bool) -> list[Entry]:
    from brim.scratch.calls import Calls
    from brim.tracking.events import ToolCall, ToolResult

    calls = Calls()
    where: Any = {"id": call.call_id, "session": call.session, "time": workspace.now}
    asked = ToolCall(name=call.tool, tool=call.tool_kind, input=call.input, agent=call.sub_agent, **where)
    found = calls.called(asked)
    if not failed:
        return found
    result = ToolResult(text=call.error or call.output, error=True, **where)
    return [entry for entry in calls.answered(asked, result) if entry.kind == "command"]


def _append(root: str, call: HookCall, workspace: HookWorkspace, entries: list[Entry]) -> None:
    """Add those of *entries* that this session's journal doesn't hold, in one write."""
    from brim.scratch.folder import LOCK, make_folder, own, place_of
    from brim.scratch.journal import NAME, Journal

    secret = workspace.secret
    with locked(os.path.join(root, LOCK), patience=PATIENCE, prepare=lambda: make_folder(root, secret)):
        make_folder(root, secret)  # again, now that no other process removes it
        folder = place_of(root, call.session, now=workspace.now, claim=True)
        if folder != root:
            make_folder(folder, secret)
        own(folder, call.session, now=workspace.now)
        journal = Journal(os.path.join(folder, NAME))
        journal.append(_new(entries, journal.refresh(only=_needle(call.session, entries))))


def _needle(session: str, entries: list[Entry]) -> bytes:
    """Return what every line of the journal holds that may say the same as one of *entries*."""
    if any(entry.id or entry.kind == "artifact" for entry in entries):
        from brim.scratch.quotes import encodable

        return encodable(json.dumps(session, ensure_ascii=False)).encode()
    return b"\n"  # what a person says twice was said twice: no line is like it


def _new(entries: list[Entry], known: list[Entry]) -> list[Entry]:
    """Return those of *entries* that aren't in *known*. A file is noted once, however often it is changed."""
    ids = {(entry.session, entry.id) for entry in known}
    files = {(entry.session, entry.text) for entry in known if entry.kind == "artifact"}
    files -= {(entry.session, entry.text) for entry in known if entry.kind == "withdrawn"}
    new = [entry for entry in entries if (entry.session, entry.id) not in ids]
    return [entry for entry in new if entry.kind != "artifact" or (entry.session, entry.text) not in files]


# From the transcript ----------------------------------------------------------------------------------------------

MOST = 8 << 20
"""Bytes of a transcript that one hook reads. Earlier ones are left out: the journal has what hooks saw."""

OVERLAP = 1 << 18
"""Bytes before the new ones that are read again: a call may have been open, and a dead end takes several tries."""

SECONDS = 0.35
"""How long reading may take: a hook has a second, and the rest waits for the next one."""

LARGE = 1 << 19
"""Bytes from which reading may take too long on a busy machine: an interrupted attempt is repeated with less time."""

_NOTED = "noted"
_BEGUN = "turn begun"


def write_turn(
    call: HookCall,
    workspace: HookWorkspace,
    *,
    transcript: str = "",
    agent: str = "",
    seconds: float = SECONDS,
    seen: list[Event] | None = None,
) -> ScratchWriter | None:
    """Journal what the transcript says since the last time, and render the scratch files; return their writer.

    It is None if this session may have none. *transcript* is the file of the sub-agent *agent* (default: the session's
    own). Reading ends after about *seconds*, and the next hook goes on from there. *seen* is given the events, if there
    was time for all.
    """
    writer = writer_of(call, workspace)
    if writer is None:
        return None
    from brim.scratch.model import ScratchModel

    path = transcript or call.transcript
    state = workspace.state(call.session)
    noted = state.kept(_NOTED)
    offsets = {key: at for key, at in noted.items() if type(at) is int} if isinstance(noted, dict) else {}
    size = size_of(path)
    start = offsets.get(agent, 0)
    start = max(start if start <= size else 0, size - MOST)
    model = ScratchModel(session=call.session, root=workspace.project or "")
    until = workspace.clock() + _seconds(state, size - start, seconds)
    end = start
    if size > start:
        end = _extract(model, call, path, start, agent, is_late=lambda: workspace.clock() > until, seen=seen)
    if model.entries or _is_behind(writer):
        writer.write_scratch(model)
    state.keep(_BEGUN, 0)
    if end != offsets.get(agent, 0):
        state.keep(_NOTED, dict(list({**offsets, agent: end}.items())[-64:]))
    return writer


def _seconds(state: SessionState, pending: int, seconds: float) -> float:
    """Return how long reading may take: half as long each time that a hook was ended before it had written."""
    if pending <= LARGE:
        return seconds
    begun = state.kept_number(_BEGUN)
    begun = begun if 0 <= begun < 20 else 0
    state.keep(_BEGUN, begun + 1)
    state.save()
    return seconds / 2.0**begun


def _extract(
    model: ScratchModel,
    call: HookCall,
    path: str,
    start: int,
    agent: str,
    *,
    is_late: Callable[[], bool],
    seen: list[Event] | None = None,
) -> int:
    """Give *model* the events of *path* from *start* on; return how far it came."""
    from brim.tracking.readers import AnyReader
    from brim.tracking.readers.stream import Feed

    reader = AnyReader(FORMATS[call.agent])
    reader.agent = agent
    feed: Feed | None = None
    late = False
    for at, data in whole_lines(path, start, overlap=OVERLAP, most=MOST + OVERLAP):
        if feed is None:
            feed = Feed(reader=reader, start=at)
        for event in feed.feed(data):
            model.extract(event if event.session == call.session else event.replace(session=call.session))
            if seen is not None:
                seen.append(event)
        if late := is_late() and feed.offset > start:
            break
    for event in reader.finish():
        model.extract(event.replace(session=call.session))
    if late and seen is not None:
        seen.clear()
    return max(start, feed.offset) if feed is not None else start


def _is_behind(writer: ScratchWriter) -> bool:
    """Whether the journal holds something that wasn't rendered yet."""
    try:
        journal = writer.read()
        index = os.path.join(writer.folder, "scratch.md")
        if not journal.entries:
            return False
        return not os.path.exists(index) or os.stat(index).st_mtime_ns <= os.stat(journal.path).st_mtime_ns
    except (BrimError, OSError):
        return False


# Where the agent finds it -----------------------------------------------------------------------------------------


def scratch_line(call: HookCall, workspace: HookWorkspace) -> str:
    """Return the line that names this session's scratch file after a compaction; empty if there is none."""
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

    Only a file of this very session counts: another one came with a clone or belongs to another session.
    """
    if workspace.project is None or not call.session:
        return None
    from brim.scratch.folder import NAME, check_folder, owner_of, place_of
    from brim.scratch.index import NAME as INDEX

    root = os.path.join(workspace.project, NAME)
    try:
        secret = workspace.secret
        folder = place_of(root, call.session, now=workspace.now, claim=False) if check_folder(root, secret) else root
        if not check_folder(folder, workspace.memory_secret(folder)):
            return None
    except BrimError:
        return None
    owner, path = owner_of(folder).get("session"), os.path.join(folder, INDEX)
    # A supervisor's own folder is its agent's too.
    is_own = owner == call.session or (workspace.supervised and isinstance(owner, str))
    return path if is_own and os.path.isfile(path) and not os.path.islink(path) else None
