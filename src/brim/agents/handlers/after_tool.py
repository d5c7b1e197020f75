"""A tool was called, and went well or failed: what it changed is written down, and what is due is told.

Most calls change nothing, and then nothing is opened. A few failures in a row are worth a look at the whole turn, in
which a dead end may show. Money is settled here only if there is a limit to it: else the end of the turn does that.
"""

from __future__ import annotations

from brim.agents.answer import Answer
from brim.agents.due import is_look_due, may_be_limited
from brim.agents.handlers.attempting import attempt, together

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brim.agents.call import HookCall
    from brim.agents.place import Place

FAILURES = 3
"""So many calls must have failed since the last look before the turn is looked at again."""

_FAILED = "failures"


def handle(call: HookCall, place: Place) -> Answer:
    """Return what is told after a tool: to the human once per latch, to the agent what nothing could tell before."""
    told = attempt(_told, call, place)
    if place.only_injects or not call.session:
        return told
    attempt(_journal, call, place)
    if call.event == "tool_failed" and not call.interrupted:
        attempt(_look_back, call, place)
    return together(told, attempt(_warnings, call, place))


def _told(call: HookCall, place: Place) -> Answer | None:
    if call.agent != "gemini":  # the others are told before the call
        return None
    from brim.agents.handlers.beginning import told_late
    from brim.agents.handlers.injecting import tell_with_result

    return together(attempt(told_late, call, place), attempt(tell_with_result, call, place))


def _journal(call: HookCall, place: Place) -> None:
    if call.event == "tool_failed" or call.error or call.tool_kind in ("write", "edit"):
        from brim.agents.journal import journal_tool

        journal_tool(call, place)


def _look_back(call: HookCall, place: Place) -> None:
    state = place.state(call.session)
    failed = state.kept(_FAILED)
    failed = failed + 1 if type(failed) is int else 1
    state.keep(_FAILED, failed % FAILURES)
    if failed >= FAILURES and not call.sub_agent:
        from brim.agents.turn import write_turn

        write_turn(call, place)


def _warnings(call: HookCall, place: Place) -> Answer | None:
    if not (may_be_limited(call, place) or is_look_due(call, place)):
        return None
    from brim.agents.handlers.warning import warnings_meanwhile

    return warnings_meanwhile(call, place)
