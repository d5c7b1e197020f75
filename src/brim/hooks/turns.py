"""What a turn has left, taken from the transcript when it ends or before a compaction.

Decisions, states and dead ends need more than one event.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Container, Iterator
from dataclasses import replace

from brim.agents.call import Event, HookCall
from brim.agents.events import Message
from brim.agents.readers import AnyReader
from brim.agents.stream import Feed
from brim.config.places import mapping_of
from brim.errors import BrimError
from brim.hooks.scratchpad import writer_of
from brim.hooks.state import HookWorkspace, SessionState
from brim.hooks.transcript import size_of, whole_lines
from brim.memory.model import ScratchModel
from brim.memory.writer import ScratchWriter

MOST = 8 << 20
"""Bytes of a transcript that one hook reads. Earlier ones are left out: the journal has what hooks
saw."""

OVERLAP = 1 << 18
"""Bytes before the new ones that are read again: a call may have been open, and a dead end takes
several tries."""

SECONDS = 0.35
"""How long reading may take: a hook has a second, and the rest waits for the next one."""

LARGE = 1 << 19
"""Bytes from which reading may take so long that its beginning is written down: the client may end
the hook."""

MOST_AGENTS = 64
"""Sub-agents of a session of which it's kept how far their files were read."""

_NOTED = "noted"
_BEGUN = "turn begun"


def note_turn(
    call: HookCall,
    workspace: HookWorkspace,
    seconds: float = SECONDS,
    seen: list[Event] | None = None,
) -> None:
    """Write down what the turn has left, or the sub-agent that *call* is the end of: see
    ``write_turn``."""
    if call.event != "subagent_stop":
        write_turn(call, workspace, seconds=seconds, seen=seen)
        return
    path = call.sub_agent_transcript
    if call.sub_agent and path:
        write_turn(call, workspace, transcript=path, agent=call.sub_agent, seconds=seconds)


def write_turn(
    call: HookCall,
    workspace: HookWorkspace,
    *,
    transcript: str = "",
    agent: str = "",
    seconds: float = SECONDS,
    seen: list[Event] | None = None,
) -> ScratchWriter | None:
    """Journal what the transcript says since the last time, and render the scratch files; return
    their writer.

    It is None if this session may have none. *transcript* is the file of the sub-agent *agent*
    (default: the session's own). Reading ends after about *seconds*, and the next hook goes on from
    there. *seen* is given the events, if there was time for all.
    """
    writer = writer_of(call, workspace)
    if writer is None:
        return None
    state = workspace.state(call.session)
    path = transcript or call.transcript
    noted = _offsets(state)
    noted_end = noted.get(agent, 0)
    size = size_of(path)
    if noted_end > size:  # it's another file by now
        noted_end = 0
    start = max(noted_end, size - MOST)
    model = ScratchModel(session=call.session, root=workspace.project or "")
    end = start
    if size > start:
        begun = _begin(state, size - start)
        until = workspace.clock() + seconds / 2.0**begun
        end = _extract(
            model,
            call,
            whole_lines(path, start, overlap=OVERLAP >> begun, most=MOST + OVERLAP),
            start=start,
            noted_end=noted_end,
            agent=agent,
            typed=_typed_before(noted_end, call, writer),
            is_late=lambda: workspace.clock() > until,
            seen=seen,
        )
    if model.entries or _is_behind(writer):
        writer.write_scratch(model)
    state.keep(_BEGUN, 0)
    if end != noted.get(agent, 0):
        newest = list({**noted, agent: end}.items())[-MOST_AGENTS:]
        state.keep(_NOTED, dict(newest))
    return writer


def _offsets(state: SessionState) -> dict[str, int]:
    """Return how far the files of the session's agents were read."""
    noted = mapping_of(state.kept(_NOTED))
    return {agent: offset for agent, offset in noted.items() if type(offset) is int}


def _typed_before(noted_end: int, call: HookCall, writer: ScratchWriter) -> Container[str]:
    """Return the prompts that are noted, if the agent may write them down again: some write one in
    two lines, each with its own id."""
    if not noted_end or not call.agent.transcripts.repeats_prompts:
        return ()
    return {entry.text for entry in writer.read().entries if entry.kind == "human"}


def _begin(state: SessionState, pending: int) -> int:
    """Note that reading begins; return how many hooks were ended before they had written."""
    begun = state.kept_number(_BEGUN)
    begun = begun if 0 <= begun < 20 else 0
    state.keep(_BEGUN, begun + 1)
    if pending > LARGE:
        state.save()
    return int(begun)


def _extract(
    model: ScratchModel,
    call: HookCall,
    lines: Iterator[tuple[int, bytes]],
    *,
    start: int,
    noted_end: int,
    agent: str,
    typed: Container[str],
    is_late: Callable[[], bool],
    seen: list[Event] | None = None,
) -> int:
    """Give *model* the events of *lines*, but not again what was *typed* before *noted_end*; return
    how far it came."""
    reader = AnyReader(writer=call.agent)
    reader.agent = agent
    feed: Feed | None = None
    late = False
    for at, data in lines:
        if feed is None:
            feed = Feed(reader=reader, start=at)
        for event in feed.feed(data):
            model.extract(
                event if event.session == call.session else replace(event, session=call.session)
            )
            if event.at < noted_end and isinstance(event, Message) and event.human:
                model.forget(typed)
            if seen is not None:
                seen.append(event)
        if late := is_late() and feed.offset > start:
            break
    for event in reader.finish():
        model.extract(replace(event, session=call.session))
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
        return (
            not os.path.exists(index)
            or os.stat(index).st_mtime_ns <= os.stat(journal.path).st_mtime_ns
        )
    except (BrimError, OSError):
        return False
