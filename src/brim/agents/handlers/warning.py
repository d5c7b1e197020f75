"""What is told once: that the window fills up, that it should be compacted, and what is spent.

It goes to the human, who can do something about it; the agent is told only where it has to act (at the cost limit).
"""

from __future__ import annotations

from brim.agents.gate import limit_latch, limit_note, limited_scopes, spend_gate
from brim.agents.handlers.attempting import attempt, together

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brim.agents.answer import Answer
    from brim.agents.call import HookCall
    from brim.agents.place import Place

__all__ = ["context_note", "cost_note", "open_context_latches", "spend_gate", "warnings"]

WARNED, DUE, OVERHEAD = "context warning", "compact due", "context overhead"
"""The latches of the window."""

GROWN = 200_000
"""Bytes that a transcript must have grown by before it is looked at again within a turn."""

COMPRESSING = "compressing"
"""What is kept of a session whose client may compress its window at any request."""

SHRUNK = 0.6
"""A window that holds less than this share of what it held was compressed."""

_LOOKED = "looked"
_COMPACTED = "compacted"
_BEFORE = "tokens before"
_COMMANDS = {"claude": "/compact", "codex": "/compact", "gemini": "/compress"}


def warnings(call: HookCall, place: Place) -> Answer:
    """Return what the human has to be told now about the window and the money; each once."""
    return together(attempt(context_note, call, place), attempt(cost_note, call, place))


def context_note(call: HookCall, place: Place) -> Answer | None:
    """Return the warning that is due about the window of the main thread, None if there is none."""
    if not call.session or call.sub_agent:
        return None
    from brim.agents.usage import usage_now

    seen = usage_now(call, place)
    if seen is None or seen.window <= 0:
        return None
    state = place.state(call.session)
    state.keep(_LOOKED, _size(call))
    see_compression(call, place, seen.tokens)
    share = seen.tokens / seen.window
    after = state.kept(_COMPACTED) is True
    if after:  # this is what the compaction has left
        state.keep(_COMPACTED, False)
    if share < place.config["context.warn"]:
        return None
    from brim.agents.answer import Answer

    told = _told(call, place, seen.tokens, seen.window, after=after)
    return Answer(note=f"brim: {told}") if told else None


def is_look_due(call: HookCall, place: Place) -> bool:
    """Whether enough was written since the last look at the window to look again in the middle of a turn."""
    looked = place.state(call.session).kept(_LOOKED)
    return _size(call) - (looked if type(looked) is int else 0) >= GROWN


def open_context_latches(call: HookCall, place: Place) -> None:
    """The window was compacted: what was said about it may be said again, if it fills again."""
    state = place.state(call.session)
    for latch in (WARNED, DUE):
        state.open_latch(latch)
    state.keep(_COMPACTED, True)
    state.keep(_LOOKED, _size(call))


def cost_note(call: HookCall, place: Place) -> Answer | None:
    """Settle what was spent, and return what the human has to be told about it."""
    from brim.agents.settling import settle
    from brim.notices import COST_LIMIT, COST_WARNING

    notices = settle(call, place)
    if not notices:
        return None
    from brim.agents.answer import Answer

    lines = [f"brim: {notice}" for notice in notices if notice.kind == COST_WARNING]
    if any(notice.kind == COST_LIMIT for notice in notices):
        state = place.state(call.session)
        reached = [scope for scope in limited_scopes(call, place) if scope.limit.state != "open"]
        lines += [limit_note(scope) for scope in reached if state.tell_once(limit_latch(scope))]
    return Answer(note="\n".join(lines)) if lines else None


def _told(call: HookCall, place: Place, tokens: int, window: int, *, after: bool) -> str:
    """Return the sentence that is due at this many *tokens*; crossing the second mark tells of that one alone."""
    from brim.tracking.thresholds import CompactDue, ContextWarning

    state = place.state(call.session)
    facts = {"used_tokens": tokens, "window": window, "utilization": tokens / window, "session": call.session}
    if tokens / window < place.config["context.compact"]:
        return str(ContextWarning(**facts)) if state.tell_once(WARNED) else ""  # type: ignore[arg-type]
    if after or state.told(OVERHEAD):
        return str(ContextWarning(reason="overhead", **facts)) if state.tell_once(OVERHEAD) else ""  # type: ignore[arg-type]
    if not state.tell_once(DUE):
        return ""
    state.tell_once(WARNED)
    return f"{CompactDue(**facts)} Type {_COMMANDS.get(call.agent, '/compact')}."  # type: ignore[arg-type]


def see_compression(call: HookCall, place: Place, tokens: int) -> None:
    """Begin anew if the window has shrunk: Gemini says before every request that it may compress, and no more."""
    state = place.state(call.session)
    if state.kept(COMPRESSING) is not True:
        return
    before = state.kept(_BEFORE)
    if type(before) is int and tokens < SHRUNK * before:
        from brim.agents.handlers.beginning import tell_later

        open_context_latches(call, place)
        tell_later(call, place, "compact")
    state.keep(_BEFORE, tokens)


def _size(call: HookCall) -> int:
    import os

    try:
        return os.lstat(call.transcript).st_size if call.transcript else 0
    except (OSError, ValueError):
        return 0
