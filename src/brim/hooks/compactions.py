"""Around a compaction: what the summarizer is told, and what the agent gets back.

Before it, the summarizer is told what it has to keep (``brim.memory.instructions``). After it, the
next event that can tell the agent something finds out what was lost: by then the transcript has all
that stands in the window. ``brim memory lost`` and the report ask the same function of
``brim.memory.compactions``, so they agree.
"""

from __future__ import annotations

from brim.agents.call import Answer, Event, HookCall
from brim.agents.events import Compaction, Message
from brim.agents.readers import AnyReader
from brim.agents.stream import Feed
from brim.errors import StoreError
from brim.figures import counted
from brim.files import sha256_hex
from brim.hooks.scratchpad import writer_of
from brim.hooks.state import COMPACTED, HookWorkspace, SessionState, log
from brim.hooks.transcript import BEGAN, open_context_latches, size_of, whole_lines
from brim.hooks.turns import write_turn
from brim.memory.compactions import compactions_in
from brim.memory.instructions import build_instructions
from brim.memory.lost import HEADING, CompactionReport, give_back, lost_entries

MOST = 8 << 20
"""Bytes of the transcript's end that are read. Of a longer one, ``brim memory lost`` may know more
than a hook."""

_MEASURED = "measured"
"""Kept for a session: which compaction was measured last."""
_TRIES = "measure tries"
"""Kept for a session: how often its last compaction was looked for in vain."""
MOST_TRIES = 8
_NO_SUMMARY = " "
_LONGEST_SUMMARY = 200_000


def instruct(call: HookCall, workspace: HookWorkspace) -> Answer | None:
    """Write what the turn has left so far, and return what the summary has to keep."""
    try:
        writer = write_turn(call, workspace)
    except StoreError as error:  # what was written before still counts
        log(workspace.environ, f"{call.name} {call.agent.name}: {error}")
        writer = writer_of(call, workspace)
    if writer is None:
        return None
    instructions = build_instructions(
        writer.read().entries,
        writer.scratch_path,
        session=call.session,
        root=workspace.project or "",
    )
    return Answer(instructions=instructions)


def note_compaction(call: HookCall, workspace: HookWorkspace) -> None:
    """Note that the window was compacted: the next event finds out what was lost."""
    if call.session and not call.sub_agent:
        summary = call.summary[:_LONGEST_SUMMARY].strip()
        workspace.state(call.session).keep(COMPACTED, summary or _NO_SUMMARY)


def expect_compaction(call: HookCall, workspace: HookWorkspace) -> None:
    """Note that the window is about to be compacted, by an agent that doesn't say when it was: the
    next event that can tell something begins again, as a session does after a compaction."""
    if call.session and not call.sub_agent:
        open_context_latches(call, workspace)
        workspace.state(call.session).keep(BEGAN, "compact")
        note_compaction(call, workspace)


def measure_compaction(call: HookCall, workspace: HookWorkspace) -> None:
    """Find out what the last compaction lost, if that isn't known yet; mostly it is."""
    if not call.session or call.sub_agent:
        return
    state = workspace.state(call.session)
    summary = state.kept(COMPACTED)
    if isinstance(summary, str):
        state.keep(COMPACTED, None)
        is_found = _measure(call, workspace, summary.strip())
        if call.agent.announces_compactions and not is_found:
            _measure_later(state, summary)


def _measure_later(state: SessionState, summary: str) -> None:
    """Let the next event look again, a few times: the compaction goes on, or isn't written yet."""
    tries = state.kept_number(_TRIES) + 1
    state.keep(_TRIES, tries % MOST_TRIES)
    if tries < MOST_TRIES:
        state.keep(COMPACTED, summary)


def measure_lost(call: HookCall, workspace: HookWorkspace) -> None:
    """Keep what the last compaction lost for the next answer, for the memory and for statistics."""
    _measure(call, workspace, "")


def _measure(call: HookCall, workspace: HookWorkspace, summary: str) -> bool:
    """Keep what the last compaction lost; return whether there is one that wasn't measured before.

    *summary* is what the client said it left, if the transcript doesn't have it yet.
    """
    report = _last_report(call, workspace, summary)
    if report is None:
        return False
    if report.readable and report.in_window and report.items:
        path = _write_lost(call, workspace, report)
        returned = give_back(report, path)
        workspace.state(call.session).lost = "" if returned is None else returned.text
    return True


def returned_note(text: str) -> str:
    """Return the line for the person if *text* gives something back to the agent."""
    _, heading, after = text.partition(HEADING)
    if not heading:
        return ""
    count = sum(line.startswith("  - ") for line in after.splitlines())
    count -= after.count("\n  - and ")
    if count < 1:
        return ""
    return f"brim: gave back {counted(count, 'thing')}"


def _last_report(call: HookCall, workspace: HookWorkspace, summary: str) -> CompactionReport | None:
    """Return what the last compaction of the main thread lost; None if it was measured before."""
    events = [event for event in _events(call) if not event.agent]
    mark = _mark_of(events)
    state = workspace.state(call.session)
    if mark and mark != state.kept(_MEASURED):
        state.keep(_MEASURED, mark)
    elif summary:
        # The client writes the compaction down later than it calls the hook.
        events.append(Compaction(session=call.session, time=workspace.now))
        events.append(Message(session=call.session, role="summary", text=summary))
    else:
        return None
    return compactions_in(events, call.agent.name)[-1]


def _mark_of(events: list[Event]) -> str:
    """Return what tells the last compaction in *events* from others; empty if there is none."""
    last = None
    summary = ""
    for event in events:
        if isinstance(event, Compaction):
            last = event
        elif isinstance(event, Message) and event.role == "summary":
            summary = event.text
    if last is None:
        return ""
    return sha256_hex(f"{last.time} {summary}".encode("utf-8", "replace"))[:16]


def _events(call: HookCall) -> list[Event]:
    """Return the events at the end of the transcript."""
    reader = AnyReader(writer=call.agent)
    start = max(0, size_of(call.transcript) - MOST)
    feed = Feed(reader=reader, start=start)
    events: list[Event] = []
    for _, data in whole_lines(call.transcript, start + 1 if start else 0, most=MOST):
        events += feed.feed(data)
    return [*events, *reader.finish()]


def _write_lost(call: HookCall, workspace: HookWorkspace, report: CompactionReport) -> str:
    """Write all lost things into the memory; return the file that has them, empty if none may."""
    writer = writer_of(call, workspace)
    if writer is None:
        return ""
    try:
        writer.add(lost_entries(report))
    except StoreError as error:
        log(workspace.environ, f"{call.name} {call.agent.name}: {error}")
        return ""
    return writer.scratch_path
