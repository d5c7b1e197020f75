"""What is told once: that the window fills up, that it should be compacted, and what is spent.

It goes to the human, who can do something about it; the agent is told only where it has to act (at the cost limit).
"""

from __future__ import annotations

from brim.agents.due import LOOKED, is_look_due, may_be_limited, written
from brim.agents.gate import is_spent, limit_latch, limit_note, limited_scopes, spend_gate
from brim.agents.handlers.attempting import attempt, together

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brim.agents.answer import Answer
    from brim.agents.call import HookCall
    from brim.agents.place import Place

__all__ = ["context_note", "cost_note", "open_context_latches", "spend_gate", "warnings", "warnings_meanwhile"]

WARNED, DUE, OVERHEAD = "context warning", "compact due", "context overhead"
"""The latches of the window."""

COMPRESSING = "compressing"
"""What is kept of a session whose client may compress its window at any request."""

SHRUNK = 0.6
"""A window that holds less than this share of what it held was compressed."""

_COMPACTED = "compacted"
_BEFORE = "tokens before"
_COMMANDS = {"claude": "/compact", "codex": "/compact", "gemini": "/compress"}


def warnings(call: HookCall, place: Place) -> Answer:
    """Return what the human has to be told now about the window and the money; each once."""
    return together(attempt(context_note, call, place), attempt(cost_note, call, place))


def warnings_meanwhile(call: HookCall, place: Place) -> Answer:
    """Return the same where no turn ends: only if there is a limit, or much was written since the last look."""
    return together(attempt(_cost_if_limited, call, place), attempt(_context_if_due, call, place))


def _cost_if_limited(call: HookCall, place: Place) -> Answer | None:
    if not may_be_limited(call, place):
        return None
    if not limited_scopes(call, place):
        return None
    return together(attempt(cost_note, call, place), attempt(_limits_reached, call, place))


def _context_if_due(call: HookCall, place: Place) -> Answer | None:
    return context_note(call, place) if is_look_due(call, place) else None


def context_note(call: HookCall, place: Place) -> Answer | None:
    """Return the warning that is due about the window of the main thread, None if there is none."""
    if not call.session or call.sub_agent:
        return None
    from brim.agents.usage import usage_now

    state = place.state(call.session)
    state.keep(LOOKED, written(call))  # whatever is found: a file that says nothing is not read at every call
    seen = usage_now(call, place)
    if seen is None or seen.window <= 0:
        return None
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


def open_context_latches(call: HookCall, place: Place) -> None:
    """The window was compacted: what was said about it may be said again, if it fills again."""
    state = place.state(call.session)
    for latch in (WARNED, DUE):
        state.open_latch(latch)
    state.keep(_COMPACTED, True)
    state.keep(LOOKED, written(call))


def cost_note(call: HookCall, place: Place) -> Answer | None:
    """Settle what was spent, and return what the human has to be told about it."""
    from brim.agents.settling import settle
    from brim.tracking.notices import COST_LIMIT, COST_WARNING

    notices, unpriced = settle(call, place)
    if not notices and not unpriced:
        return None
    from brim.agents.answer import Answer

    state = place.state(call.session)
    lines = [f"brim: {notice}" for notice in notices if notice.kind == COST_WARNING]
    if any(notice.kind == COST_LIMIT for notice in notices):
        lines += _reached(call, place)
    lines += [_no_price(model) for model in unpriced if state.tell_once(f"no price {model[:80]}")]
    return Answer(note="\n".join(lines)) if lines else None


def _limits_reached(call: HookCall, place: Place) -> Answer | None:
    """Return what the human is told if the money was spent elsewhere: by another session, or before this one."""
    from brim.agents.answer import Answer

    return Answer(note="\n".join(_reached(call, place)))


def _reached(call: HookCall, place: Place) -> list[str]:
    state = place.state(call.session)
    reached = [scope for scope in limited_scopes(call, place) if is_spent(scope)]
    return [limit_note(scope) for scope in reached if state.tell_once(limit_latch(scope))]


def _no_price(model: str) -> str:
    return (
        f"brim: The price of {model[:80] or 'a model without a name'} is not known: its requests count as nothing. "
        "Put it under 'models' in the configuration."
    )


def _told(call: HookCall, place: Place, tokens: int, window: int, *, after: bool) -> str:
    """Return the sentence that is due at this many *tokens*; crossing the second mark tells of that one alone."""
    from brim.tracking.gauge import CompactDue, ContextWarning

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
