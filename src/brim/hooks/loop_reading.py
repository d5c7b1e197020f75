"""Reads the tail of a transcript for the loop that a pending call goes on with."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from brim.agents.call import Event, HookCall, ToolCall, edits_in
from brim.agents.readers import AnyReader
from brim.agents.stream import Feed
from brim.memory.repetition import Loop, RepetitionDetector

SIZES = (1 << 16, 1 << 18, 1 << 20)
"""How many bytes are read, until it's known where the count starts."""


def loop_in(call: HookCall, number: int, start: int, data: bytes, *, is_edit: bool) -> Loop | None:
    """Return the loop that *call* goes on with in *data*, the transcript from byte *start* on.

    More and more of *data* is read until it is known where the count starts.
    """

    detector = RepetitionDetector(only_loops=True)
    for size in SIZES:
        cut = data.find(b"\n", len(data) - size) + 1 if size < len(data) else 0
        detector = RepetitionDetector(only_loops=True)
        for event in _events(call, start + cut, data[cut:]):
            detector.update(event)
        if cut == 0 or detector.knows_its_start("", "", is_edit=is_edit):
            break
    for pending in _pending_calls(call):
        loop = detector.loop(pending, number, is_edit=is_edit)
        if loop is not None:
            return loop
    return None


def _events(call: HookCall, start: int, data: bytes) -> Iterator[Event]:
    """Yield the events of the agent that makes *call*, as if it were the only one."""

    reader = AnyReader(writer=call.agent)
    reader.agent = call.sub_agent
    is_apart = call.agent.transcripts.has_subagent_files
    for event in Feed(reader=reader, start=start).feed(data):
        if not is_apart or event.agent == call.sub_agent:
            yield replace(event, session="", agent="")


def _pending_calls(call: HookCall) -> list[ToolCall]:
    """Return *call* as a transcript's reader gives it: of a patch, one for each file."""

    tool = call.tool
    if not tool.patch:
        return [ToolCall(name=tool.name, kind=tool.kind, input=tool.input)]
    edits = edits_in(tool.patch)
    return [ToolCall(name=tool.name, kind=kind, input=edit) for kind, edit in edits]
