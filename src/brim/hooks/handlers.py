"""What brim does at each event. Every handler takes the call and its workspace and returns an
``Answer``.

Start, prompt and before-tool tell the agent something. After-tool, compaction and the ends keep
what must survive, and a model call how full the window was. What is about limits is asked in a
branch, so that a hook loads it only where a limit may be in force.
"""

from __future__ import annotations

from dataclasses import replace

from brim.agents.call import NOTHING, SESSION_START, Answer, HookCall, joined
from brim.hooks.attention import changed_note, clock_note, fault_note, locked_note, project_note
from brim.hooks.blocks import hold_block
from brim.hooks.compactions import (
    expect_compaction,
    instruct,
    measure_compaction,
    measure_lost,
    note_compaction,
    returned_note,
)
from brim.hooks.corrections import keep_correction
from brim.hooks.endings import end
from brim.hooks.limits import (
    hold_compaction,
    hold_prompt,
    hold_request,
    hold_tool,
    note_limits,
)
from brim.hooks.loops import hold_loop
from brim.hooks.process import attempt
from brim.hooks.rules import (
    finish_start,
    tell_at_start,
    tell_now,
    tell_sub_agent,
    under_one_introduction,
)
from brim.hooks.scratchpad import journal_prompt, journal_tool, scratch_line
from brim.hooks.state import COMPACTED, MACHINE_TURN, HookWorkspace
from brim.hooks.stops import stop_once
from brim.hooks.transcript import (
    BEGAN,
    COMPRESSING,
    LOOKED,
    context_note,
    is_look_due,
    open_context_latches,
    remember_reported,
    see_compression,
    size_of,
)
from brim.hooks.turns import note_turn
from brim.money.decision import START
from brim.rules.corrections import is_correction
from brim.rules.delivery import CALL, PROMPT

RENEWING = ("startup", "clear", "compact")
"""How a session begins with an empty window."""

FAILURES = 3
"""Calls that must have failed since the last look before the turn is looked at again: a dead end
may show."""

LONGEST_CORRECTION = 600
"""Characters of a prompt that can correct the agent: a longer one is a task, or a pasted log."""

_FAILED = "failures"


# A session begins ---------------------------------------------------------------------------------


def session_start(call: HookCall, workspace: HookWorkspace) -> Answer:
    """Tell the rules that matter here; after a compaction also where the scratch memory is."""
    how = call.source or "startup"
    if call.session:
        _renew(call, workspace, how)
    broken = attempt(fault_note, call, workspace)  # reading a damaged file makes it anew
    clock = attempt(clock_note, call, workspace)
    rules = attempt(_tell_start, call, workspace, how=how)
    locked = attempt(locked_note, call, workspace)
    answer = joined(broken, clock, locked, rules, attempt(project_note, call, workspace))
    if workspace.may_have_limits:
        answer = joined(answer, attempt(note_limits, call, workspace, kind=START))
    return answer


def _renew(call: HookCall, workspace: HookWorkspace, how: str) -> None:
    """Note what a new beginning makes untrue: what was in the window."""
    state = workspace.state(call.session)
    if how in RENEWING:
        state.usage = None
    if how in ("startup", "clear"):  # whatever the transcript holds, the window is empty
        state.keep(LOOKED, size_of(call.transcript))
    if call.model:
        state.keep("model", call.model)


def _tell_start(call: HookCall, workspace: HookWorkspace, *, how: str) -> Answer:
    """Return the rules that matter here, after a compaction below the line that names the scratch
    memory.

    An agent that can't be told at the start hears it with the next event.
    """
    if call.event == SESSION_START and not call.agent.hears_at(SESSION_START):
        if call.session:
            workspace.state(call.session).keep(BEGAN, how)
        return NOTHING
    line = scratch_line(call, workspace) if how == "compact" else ""
    return tell_at_start(call, workspace, how, line)


def _tell_late(call: HookCall, workspace: HookWorkspace) -> Answer:
    """Return what is still to be told from the last beginning, once; mostly nothing."""
    if not _is_told_late(call):
        return NOTHING
    state = workspace.state(call.session)
    how = state.kept(BEGAN)
    if not isinstance(how, str):
        return NOTHING
    if how == "compact" and not call.agent.announces_compactions:
        # No event came before it: what the turn has left so far is written now.
        attempt(note_turn, call, workspace)
        attempt(measure_lost, call, workspace)
    rules = attempt(_tell_start, call, workspace, how=how)
    if rules.context or not workspace.is_late:  # otherwise the next event tells the rules
        state.keep(BEGAN, None)
    return rules


def _is_told_late(call: HookCall) -> bool:
    """Whether the main thread of an agent that hears nothing at its start hears something now."""
    if not call.session or call.sub_agent:
        return False
    return call.agent.hears_at(call.event) and not call.agent.hears_at(SESSION_START)


def _as_one(late: Answer, rules: Answer, workspace: HookWorkspace) -> Answer:
    """Return what was still to be told and the *rules* of this moment under one heading, with a
    line for the person if it gives something back to the agent."""
    context = under_one_introduction([late.context, rules.context])
    answer = replace(joined(late, rules), context=context)
    if not answer.preamble or not workspace.config["hooks.notes"]:
        return answer
    return joined(answer, Answer(note=returned_note(answer.preamble)))


# A prompt -----------------------------------------------------------------------------------------


def prompt(call: HookCall, workspace: HookWorkspace) -> Answer:
    """Tell what is due for a prompt, and journal what a person typed. A machine's prompt brings up
    no rules.

    At a limit it's refused: then nothing is told, and nothing was said.
    """
    spending = NOTHING
    if workspace.may_have_limits:
        spending = attempt(hold_prompt, call, workspace)
    if spending.deny:
        return spending
    _measure_if_compacted(call, workspace)
    if call.session:
        workspace.state(call.session).keep(MACHINE_TURN, None if call.human else True)
    late = joined(attempt(_tell_late, call, workspace), attempt(finish_start, call, workspace))
    moment = PROMPT if call.human else ""
    rules = attempt(tell_now, call, workspace, moment=moment, is_new_prompt=call.human)
    answer = _as_one(late, rules, workspace)
    if workspace.only_injects or not call.session:
        return joined(spending, answer)
    if call.human:
        attempt(journal_prompt, call, workspace)
        attempt(_keep_correction, call, workspace)
    note = attempt(project_note, call, workspace)
    return joined(spending, answer, note, attempt(_warn_meanwhile, call, workspace))


def _keep_correction(call: HookCall, workspace: HookWorkspace) -> None:
    if len(call.prompt) > LONGEST_CORRECTION or call.sub_agent:
        return
    if is_correction(call.prompt):
        keep_correction(call, workspace)


# A tool -------------------------------------------------------------------------------------------


def before_tool(call: HookCall, workspace: HookWorkspace) -> Answer:
    """Return whether the call may be made, and the rules that matter for it.

    They reach the model with the result of the call. What a rule blocks is refused every time; what
    a person has allowed once isn't held for anything but money, since the permission is used up by
    then. A call that breaks a rule is stopped once, and so is one that goes round in circles: the
    setting ``hooks.loops``.
    """
    spending = NOTHING
    if workspace.may_have_limits:
        spending = attempt(hold_tool, call, workspace)
    if spending.deny:
        return spending
    blocked = attempt(hold_block, call, workspace)
    if blocked:
        return joined(spending, blocked)
    stopped = attempt(stop_once, call, workspace)
    if stopped.deny:
        return joined(spending, stopped)
    looping = attempt(hold_loop, call, workspace)
    if looping.deny:
        return joined(spending, looping)
    _measure_if_compacted(call, workspace)
    late = attempt(_tell_late, call, workspace)
    rules = attempt(tell_now, call, workspace, moment=CALL)
    return joined(spending, looping, _as_one(late, rules, workspace))


def permission(call: HookCall, workspace: HookWorkspace) -> Answer:
    """Refuse a call at a limit, or end the turn, where the agent takes that only when it asks for
    permission."""
    if not workspace.may_have_limits:
        return NOTHING
    return attempt(hold_tool, call, workspace)


def after_tool(call: HookCall, workspace: HookWorkspace) -> Answer:
    """Journal what a call changed, and warn if it is due. Most calls change nothing, and then
    nothing is opened.
    """
    answer = _tell_after_tool(call, workspace)
    if workspace.only_injects or not call.session:
        return answer
    if call.has_failed or call.tool.changes_files:
        attempt(journal_tool, call, workspace)
    if call.event == "tool_failed" and not call.interrupted:
        attempt(_look_back, call, workspace)
    return joined(answer, attempt(_warn_meanwhile, call, workspace))


def _tell_after_tool(call: HookCall, workspace: HookWorkspace) -> Answer:
    """Return the rules that an agent can't be told before the call; mostly nothing."""
    if call.agent.hears_at("before_tool"):
        return NOTHING
    late = attempt(_tell_late, call, workspace)
    rules = attempt(tell_now, call, workspace, moment=CALL)
    return _as_one(late, rules, workspace)


def between_requests(call: HookCall, workspace: HookWorkspace) -> Answer:
    """End the turn if its next request would go over a limit."""
    if not workspace.may_have_limits:
        return NOTHING
    return attempt(hold_request, call, workspace)


def _look_back(call: HookCall, workspace: HookWorkspace) -> None:
    """Note what the turn has left when several calls have failed."""
    state = workspace.state(call.session)
    failures = state.kept_number(_FAILED) + 1
    state.keep(_FAILED, failures % FAILURES)
    if failures >= FAILURES and not call.sub_agent:
        note_turn(call, workspace)


# A sub-agent --------------------------------------------------------------------------------------


def subagent_start(call: HookCall, workspace: HookWorkspace) -> Answer:
    """Tell a sub-agent the rules that it must keep."""
    return attempt(tell_sub_agent, call, workspace)


# A compaction -------------------------------------------------------------------------------------


def before_compact(call: HookCall, workspace: HookWorkspace) -> Answer:
    """Return what the summary has to keep, or refuse the compaction at a limit."""
    if not call.agent.reports_compactions:
        # Such an agent sends this event before every request. Whether it compacts shows only later,
        # in a window that shrank.
        workspace.state(call.session).keep(COMPRESSING, True)
        return NOTHING
    if call.agent.announces_compactions:
        # No event follows when it has compacted, so what that event does is done now.
        attempt(expect_compaction, call, workspace)
        return attempt(instruct, call, workspace)
    if workspace.may_have_limits:
        refusal = attempt(hold_compaction, call, workspace)
        if refusal.deny:
            return refusal
    return attempt(instruct, call, workspace)


def after_compact(call: HookCall, workspace: HookWorkspace) -> Answer:
    """Find out what the summary lost; the agent gets it back with the next prompt or tool."""
    attempt(open_context_latches, call, workspace)
    return attempt(note_compaction, call, workspace)


def _measure_if_compacted(call: HookCall, workspace: HookWorkspace) -> None:
    """Find out what a compaction lost, at the first event after it."""
    if call.session and workspace.state(call.session).kept(COMPACTED):
        attempt(measure_compaction, call, workspace)


# An end, and a request ----------------------------------------------------------------------------


def ending(call: HookCall, workspace: HookWorkspace) -> Answer:
    """Say where the limits stand, and journal what a turn, sub-agent or session left."""
    return end(call, workspace)


def model_call(call: HookCall, workspace: HookWorkspace) -> Answer:
    """Keep how full the window was, where the agent says so; there is nothing to say between two
    requests."""
    remember_reported(call, workspace)
    if not call.session or call.sub_agent:
        return NOTHING
    usage = workspace.state(call.session).usage
    if usage is not None:
        see_compression(call, workspace, usage.tokens)
    return NOTHING


# Warnings -----------------------------------------------------------------------------------------


def _warn_meanwhile(call: HookCall, workspace: HookWorkspace) -> Answer:
    """Return what the human has to be told in the middle of a turn about the window, once.

    Only if much was written since the last look.
    """
    if not is_look_due(call, workspace):
        return NOTHING
    return attempt(context_note, call, workspace)


HANDLERS = {
    "session_start": session_start,
    "subagent_start": subagent_start,
    "prompt": prompt,
    "before_tool": before_tool,
    "permission": permission,
    "after_tool": after_tool,
    "tool_failed": after_tool,
    "between_requests": between_requests,
    "before_compact": before_compact,
    "after_compact": after_compact,
    "stop": ending,
    "subagent_stop": ending,
    "session_end": ending,
    "model_call": model_call,
}
"""What answers each event."""

AFTERWARDS = (changed_note,)
"""What is asked after every event at which a person can be told something."""
