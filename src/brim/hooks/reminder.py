"""The end of a turn: a command that a rule asks for before the end, and that hasn't succeeded after
the last change, makes the agent go on.

That happens once for each prompt of a person, never twice in a row, never for a machine's prompt,
and not at a limit. What happened in the turn is taken from the transcript, as far as the end of the
turn has read it.
"""

from __future__ import annotations

from collections.abc import Iterable

from brim.agents.call import Answer, Event, HookCall
from brim.errors import StoreError
from brim.hooks.breaches import place_of_call
from brim.hooks.limits import is_held
from brim.hooks.room import size
from brim.hooks.situations import environments_of, rules_of
from brim.hooks.state import MACHINE_TURN, HookWorkspace
from brim.rules.situation import Situation
from brim.rules.state import ASKED
from brim.rules.stored_checks import CheckedRule, StoredChecks
from brim.sessions.work_steps import WorkSteps, steps_of

HEAD = "Before you finish, as your user's rules ask:\n"
"""What stands above the rules."""

_REMINDED = "reminded"
"""Kept for a session: the prompt that was reminded of last."""


def remind(call: HookCall, workspace: HookWorkspace, events: Iterable[Event]) -> Answer | None:
    """Return what keeps the agent from ending its turn; None lets it end."""
    state = workspace.state(call.session)
    if call.was_kept_going or state.kept(MACHINE_TURN):
        return None
    steps = steps_of(events)
    if not steps.prompt or not steps.files or state.kept(_REMINDED) == steps.prompt:
        return None
    rules = _undone(call, workspace, steps)
    if not rules:
        return None
    if workspace.may_have_limits and is_held(call, workspace):
        return None
    text = HEAD
    for rule in rules:
        text += f"- {rule.text} (not done since your last change: {_needed(rule)})\n"
    if not _is_charged(call, workspace, text):
        return None
    state.keep(_REMINDED, steps.prompt)
    for rule in rules:
        place = rule.source.place
        workspace.rule_state.note(ASKED, rule.name, place, session=call.session, call=_needed(rule))
    return Answer(deny=text)


def _needed(rule: CheckedRule) -> str:
    """Return what must have run, for people."""
    if rule.check.stops:
        return ", ".join(rule.check.needs)
    return rule.check.wording


def _is_charged(call: HookCall, workspace: HookWorkspace, text: str) -> bool:
    """Charge the session for *text*; false if it can't be remembered, so that it would come again.

    A reason why an agent goes on is told even if the session's budget is spent.
    """
    limits = workspace.config.yours.section("session")
    try:
        with workspace.rule_state.charging(call.session, **limits) as session:
            session.note_reason([], size(text))
    except StoreError:
        return False
    return True


def _undone(call: HookCall, workspace: HookWorkspace, steps: WorkSteps) -> list[CheckedRule]:
    """Return the rules whose command hasn't succeeded since the last change among *steps*."""
    reader = rules_of(call, workspace)
    if reader is None:
        return []
    rules = reader.ask(lambda index: StoredChecks(index).closing())
    situation = Situation(paths=steps.files, environments=environments_of(workspace))
    place = place_of_call(call, workspace)
    undone: list[CheckedRule] = []
    for rule in rules:
        is_meant = not rule.condition or rule.condition.is_met(situation)
        if is_meant and not steps.fulfil(rule.check, place):
            undone.append(rule)
    return undone
