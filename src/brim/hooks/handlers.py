"""What brim does at each event. Every handler takes the call and its workspace and returns an
``Answer``.

Start, prompt and before-tool tell the agent something. After-tool, compaction and the ends keep
what must survive, and a model call how full the window was. Modules are imported where they are
needed: a hook pays for each.
"""

from __future__ import annotations

from brim.agents.call import NOTHING, Answer, HookCall, joined
from brim.behaviors.corrections import is_correction
from brim.hooks.attention import project_note
from brim.hooks.blocks import hold_block
from brim.hooks.compactions import (
    instruct,
    measure_compaction,
    measure_lost,
    note_compaction,
    returned_note,
)
from brim.hooks.corrections import keep_correction
from brim.hooks.endings import end
from brim.hooks.fullness import (
    BEGAN,
    COMPRESSING,
    LOOKED,
    context_note,
    is_look_due,
    open_context_latches,
    see_compression,
)
from brim.hooks.gate import forget_refusals, limits_of, may_be_limited, spend_gate
from brim.hooks.loops import hold_loop
from brim.hooks.process import attempt
from brim.hooks.readings import remember_reported
from brim.hooks.rules import forget_held, note_repeated, tell_at_start, tell_now
from brim.hooks.scratchpad import journal_prompt, journal_tool, scratch_line
from brim.hooks.settlement import cost_note, limits_reached
from brim.hooks.state import HookWorkspace
from brim.hooks.transcript import size_of
from brim.hooks.turns import note_turn

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
        state = workspace.state(call.session)
        if how in RENEWING:
            state.usage = None  # the window was emptied
        if how in ("startup", "clear"):  # whatever the transcript holds, the window is empty
            state.keep(LOOKED, size_of(call.transcript))
        if call.model:
            state.keep("model", call.model)
    return joined(attempt(_tell_start, call, workspace), attempt(project_note, call, workspace))


def _tell_start(call: HookCall, workspace: HookWorkspace) -> Answer | None:

    how = call.source or "startup"
    if call.agent.hears_at(call.event):
        return told_at_start(call, workspace, how)
    if call.session:  # this client can't be told when it begins: the next event does
        workspace.state(call.session).keep(BEGAN, how)
    return None


def told_at_start(call: HookCall, workspace: HookWorkspace, how: str) -> Answer:
    """Return the rules that matter here; after a compaction with the line that names the scratch
    memory."""

    line = ""
    if how == "compact":
        line = scratch_line(call, workspace)
    return tell_at_start(call, workspace, how, line)


def _told_late(call: HookCall, workspace: HookWorkspace) -> Answer:
    """Return what is still to be told from the last beginning, once; mostly nothing."""

    how = workspace.state(call.session).kept(BEGAN) if call.session else None
    if not isinstance(how, str):
        return NOTHING
    if how == "compact":  # no event came before it: what the turn has left so far is written now
        attempt(note_turn, call, workspace)
        attempt(measure_lost, call, workspace)
    told = attempt(lambda call, workspace: told_at_start(call, workspace, how), call, workspace)
    if told.context or not workspace.is_late:  # otherwise the next event tells the rules
        workspace.state(call.session).keep(BEGAN, None)
    return told


# A prompt -----------------------------------------------------------------------------------------


def prompt(call: HookCall, workspace: HookWorkspace) -> Answer:
    """Tell what is due for a prompt, and journal what a person typed. A machine's prompt brings up
    no rules.

    It is also the first chance to warn after a turn that was interrupted.
    """

    if call.human and call.session:
        forget_held(call, workspace)
    attempt(measure_compaction, call, workspace)
    late = (
        attempt(_told_late, call, workspace)
        if not call.agent.hears_at("session_start")
        else NOTHING
    )
    now = attempt(
        lambda call, workspace: tell_now(call, workspace, new_prompt=call.human),
        call,
        workspace,
        again=True,
    )
    told = _with_note(joined(late, now))
    if workspace.only_injects or not call.session:
        return told
    if call.human:
        attempt(journal_prompt, call, workspace)
        attempt(_keep_correction, call, workspace)
    return joined(
        told, attempt(project_note, call, workspace), attempt(_warn_meanwhile, call, workspace)
    )


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
    then. A call that a constraint is about can be held back once, so that it is known before: the
    setting ``hooks.gate``. So can one that goes round in circles: ``hooks.loops``.
    """

    spending = attempt(spend_gate, call, workspace)
    if spending.deny:
        return spending
    blocked = attempt(hold_block, call, workspace, again=True)
    if blocked:
        return joined(spending, blocked)
    looping = attempt(hold_loop, call, workspace)
    if looping.deny:
        return joined(spending, looping)
    attempt(measure_compaction, call, workspace)
    told = attempt(
        lambda call, workspace: tell_now(call, workspace, of_call=True), call, workspace, again=True
    )
    if call.session and not told.deny:
        attempt(note_repeated, call, workspace)
    return joined(spending, looping, _with_note(told))


def after_tool(call: HookCall, workspace: HookWorkspace) -> Answer:
    """Journal what a call changed, and warn if it is due. Most calls change nothing, and then
    nothing is opened.

    Money is settled here only if there is a limit; otherwise the end of the turn does that.
    """
    told = NOTHING
    if not call.agent.hears_at("before_tool"):  # the others are told before the call
        told = attempt(_told_late, call, workspace)
        now = attempt(
            lambda call, workspace: tell_now(call, workspace, of_call=True),
            call,
            workspace,
            again=True,
        )
        told = joined(told, now)
    if workspace.only_injects or not call.session:
        return told
    if call.has_failed or call.tool.changes_files:
        attempt(journal_tool, call, workspace)
    if call.event == "tool_failed" and not call.interrupted:
        attempt(_look_back, call, workspace)
    return joined(_with_note(told), attempt(_warn_meanwhile, call, workspace))


def _look_back(call: HookCall, workspace: HookWorkspace) -> None:
    state = workspace.state(call.session)
    failed = state.kept_number(_FAILED) + 1
    state.keep(_FAILED, failed % FAILURES)
    if failed >= FAILURES and not call.sub_agent:
        note_turn(call, workspace)


# A compaction -------------------------------------------------------------------------------------


def before_compact(call: HookCall, workspace: HookWorkspace) -> Answer:
    """Return what the summarizer is told."""
    if (
        not call.agent.reports_compactions
    ):  # this comes before every request, whether anything is compacted or not
        workspace.state(call.session).keep(COMPRESSING, True)
        return NOTHING

    return attempt(instruct, call, workspace)


def after_compact(call: HookCall, workspace: HookWorkspace) -> Answer:
    """Find out what the summary lost; the agent gets it back with the next prompt or tool."""

    attempt(open_context_latches, call, workspace)
    return attempt(note_compaction, call, workspace)


def _with_note(answer: Answer) -> Answer:
    """Return *answer* with a line for the person if it gives something back to the agent."""
    note = returned_note(answer.preamble)
    return joined(answer, Answer(note=note)) if note else answer


# An end, and a request ----------------------------------------------------------------------------


def ending(call: HookCall, workspace: HookWorkspace) -> Answer:
    """Settle what a turn, sub-agent or session cost, and journal what it left."""

    return end(call, workspace)


def model_call(call: HookCall, workspace: HookWorkspace) -> Answer:
    """Keep how full the window was, where the agent says so; there is nothing to say between two
    requests."""

    remember_reported(call, workspace)
    seen = workspace.state(call.session).usage if call.session and not call.sub_agent else None
    if seen is not None:
        see_compression(call, workspace, seen.tokens)
    return NOTHING


# Warnings -----------------------------------------------------------------------------------------


def _warn_meanwhile(call: HookCall, workspace: HookWorkspace) -> Answer | None:
    """Return what the human has to be told in the middle of a turn about the window and the money;
    each once.

    Only if there is a limit, or much was written since the last look.
    """

    if call.event == "prompt" and call.human:
        forget_refusals(call, workspace)
    limited, due = may_be_limited(call, workspace), is_look_due(call, workspace)
    cost = attempt(_cost_if_limited, call, workspace) if limited else NOTHING
    return joined(cost, attempt(context_note, call, workspace) if due else NOTHING)


def _cost_if_limited(call: HookCall, workspace: HookWorkspace) -> Answer | None:

    if not limits_of(call, workspace):
        return None

    return joined(attempt(cost_note, call, workspace), attempt(limits_reached, call, workspace))


HANDLERS = {
    "session_start": session_start,
    "prompt": prompt,
    "before_tool": before_tool,
    **dict.fromkeys(("after_tool", "tool_failed"), after_tool),
    "before_compact": before_compact,
    "after_compact": after_compact,
    **dict.fromkeys(("stop", "subagent_stop", "session_end"), ending),
    "model_call": model_call,
}
"""What answers each event."""
