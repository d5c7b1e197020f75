"""Writes down at once what one event says: what a person typed, the file that a call changed, the command that failed.

One line is added to the journal, and nothing is rendered: an agent waits. What needs more than one event (decisions,
states, dead ends) is taken from the transcript when the turn ends, or before a compaction: see ``turn``. An entry is
known by its id, so what both of them see is there once.
"""

from __future__ import annotations

import os

from brim import _json
from brim.agents.scratch_files import PATIENCE, scratch_root

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from brim.agents.call import HookCall
    from brim.agents.place import Place
    from brim.scratch.entries import Entry


def journal_prompt(call: HookCall, place: Place) -> None:
    """Write down what a person typed. What a machine wrote, and the prompt of a sub-agent, is not."""
    if not call.human or call.sub_agent or not call.prompt.strip():
        return
    root = scratch_root(call, place)
    if root is None:
        return
    from brim.scratch.entries import draft

    entry = draft("human", call.prompt, session=call.session, time=place.now)
    _append(root, call, place, [entry])


def journal_tool(call: HookCall, place: Place) -> bool:
    """Write down the file that a call has changed, or the command that failed; whether there was anything to write."""
    failed = call.event == "tool_failed" or bool(call.error)
    if not (_fails(call) if failed else call.tool_kind in ("write", "edit")):
        return False
    root = scratch_root(call, place)
    if root is None:
        return False
    entries = _entries(call, place, failed=failed)
    return bool(entries) and _append(root, call, place, entries)


def _fails(call: HookCall) -> bool:
    return call.tool_kind == "shell" and not call.interrupted and bool(call.input.get("command"))


def _entries(call: HookCall, place: Place, *, failed: bool) -> list[Entry]:
    from brim.scratch.calls import Calls
    from brim.tracking.events import ToolCall, ToolResult

    calls = Calls()
    asked = ToolCall(
        id=call.call_id,
        name=call.tool,
        tool=call.tool_kind,
        input=call.input,
        session=call.session,
        agent=call.sub_agent,
        time=place.now,
    )
    found = calls.called(asked)
    if failed:
        text = call.error or call.output
        result = ToolResult(id=call.call_id, text=text, error=True, session=call.session, time=place.now)
        return [entry for entry in calls.answered(asked, result) if entry.kind == "command"]
    return found


def _append(root: str, call: HookCall, place: Place, entries: list[Entry]) -> bool:
    """Add to the journal of this session those of *entries* that it does not hold, in one write."""
    from brim.files import locked
    from brim.scratch.folder import LOCK, make_folder, own, place_of
    from brim.scratch.journal import NAME, Journal

    make: Callable[[], None] = lambda: make_folder(root)  # noqa: E731 - it is called with the lock, and before it
    with locked(os.path.join(root, LOCK), patience=PATIENCE, prepare=make):
        make()
        folder = place_of(root, call.session, now=place.now, claim=True)
        if folder != root:
            make_folder(folder)
        own(folder, call.session, now=place.now)
        journal = Journal(os.path.join(folder, NAME))
        new = _new(entries, journal.refresh(only=_told_by(call.session, entries)))
        journal.append(new)
    return bool(new)


def _told_by(session: str, entries: list[Entry]) -> bytes:
    """Return what every line of the journal holds that may say the same as one of *entries*."""
    if any(entry.id or entry.kind == "artifact" for entry in entries):
        from brim.scratch.quotes import encodable

        return encodable(_json.dumps(session, ensure_ascii=False)).encode()
    return b"\n"  # what a person says twice was said twice: no line is like it


def _new(entries: list[Entry], known: list[Entry]) -> list[Entry]:
    """Return those of *entries* that are not in *known*. A file is noted once, however often it is changed."""
    ids = {(entry.session, entry.id) for entry in known}
    files = {(entry.session, entry.text) for entry in known if entry.kind == "artifact"}
    files -= {(entry.session, entry.text) for entry in known if entry.kind == "withdrawn"}
    return [
        entry
        for entry in entries
        if (entry.session, entry.id) not in ids
        and (entry.kind != "artifact" or (entry.session, entry.text) not in files)
    ]
