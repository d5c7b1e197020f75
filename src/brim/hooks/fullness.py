"""When the human is warned that the window fills up: they can do something about it.

Whether to look is decided at every event. How full it is, ``readings`` finds out.
"""

from __future__ import annotations

from typing import Any

from brim.agents.call import Answer, HookCall
from brim.hooks.readings import usage_now
from brim.hooks.state import HookWorkspace
from brim.hooks.transcript import size_of
from brim.tracking.notices import CompactDue, ContextWarning

GROWN = 200_000
"""Bytes that a transcript must have grown by before it is looked at again within a turn."""

GROWN_TURN = 16_000
"""Bytes by which it has grown at a prompt if the turn before was interrupted: what follows an end
is less."""

LOOKED = "looked"
"""Kept in a session's state: how long its transcript was at the last look."""

WARNED, DUE, OVERHEAD = "context warning", "compact due", "context overhead"
"""The latches of the window."""

COMPRESSING = "compressing"
"""Kept in the state of a session whose client may compress its window at any request."""

BEGAN = "began"
"""Kept in the state of a session that wasn't told its rules yet: how it began."""

SHRUNK = 0.6
"""A window that holds less than this share of what it held was compressed."""

_COMPACTED = "compacted"
_BEFORE = "tokens before"


def is_look_due(call: HookCall, workspace: HookWorkspace) -> bool:
    """Whether enough was written since the last look at the window to look again: a cheap check at
    every event."""
    grown = size_of(call.transcript) - workspace.state(call.session).kept_number(LOOKED)
    return not call.sub_agent and grown >= (GROWN_TURN if call.event == "prompt" else GROWN)


def context_note(call: HookCall, workspace: HookWorkspace) -> Answer | None:
    """Return the warning that is due about the main thread's window, None if there is none."""
    if not call.session or call.sub_agent:
        return None
    state = workspace.state(call.session)
    state.keep(
        LOOKED, size_of(call.transcript)
    )  # whatever is found: a file that says nothing isn't read at every call

    seen = usage_now(call, workspace)
    if seen is None or seen.window <= 0:
        return None
    see_compression(call, workspace, seen.tokens)
    after = state.kept(_COMPACTED) is True
    if after:  # this is what the compaction has left
        state.keep(_COMPACTED, False)
    if seen.tokens / seen.window < workspace.config["context.warn"]:
        return None

    told = _warning(call, workspace, seen.tokens, seen.window, after=after)
    return Answer(note=f"brim: {told}") if told else None


def _warning(
    call: HookCall, workspace: HookWorkspace, tokens: int, window: int, *, after: bool
) -> str:
    """Return the sentence that is due at this many *tokens*; crossing the second mark brings only
    that one."""

    state = workspace.state(call.session)
    facts: Any = {
        "used_tokens": tokens,
        "window": window,
        "utilization": tokens / window,
        "session": call.session,
    }
    if tokens / window < workspace.config["context.compact"]:
        return str(ContextWarning(**facts)) if state.tell_once(WARNED) else ""
    if after or state.told(OVERHEAD):
        return str(ContextWarning(reason="overhead", **facts)) if state.tell_once(OVERHEAD) else ""
    if not state.tell_once(DUE):
        return ""
    state.tell_once(WARNED)
    return f"{CompactDue(**facts)} Type {call.agent.compact_command}."


def open_context_latches(call: HookCall, workspace: HookWorkspace) -> None:
    """Let the warnings come again: the window was compacted and may fill again."""
    state = workspace.state(call.session)
    for latch in (WARNED, DUE):
        state.open_latch(latch)
    state.keep(_COMPACTED, True)
    state.keep(LOOKED, size_of(call.transcript))


def see_compression(call: HookCall, workspace: HookWorkspace, tokens: int) -> None:
    """Treat a window that has shrunk as compacted: before every request Gemini says only that it
    may compress."""
    state = workspace.state(call.session)
    if state.kept(COMPRESSING) is not True:
        return
    before = state.kept(_BEFORE)
    if type(before) is int and tokens < SHRUNK * before:
        open_context_latches(call, workspace)
        state.keep(BEGAN, "compact")
    state.keep(_BEFORE, tokens)
