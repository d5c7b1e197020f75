"""The end of a turn: a command that a rule asks for before the end, and that hasn't succeeded after
the last change, makes the agent go on.

That happens once for each prompt of a person, never twice in a row, and not at a limit. What
happened in the turn is taken from the transcript, as far as the end of the turn has read it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from brim.agents.call import Answer, Event, HookCall, ToolCall
from brim.agents.events import Message, ToolResult
from brim.errors import StoreError
from brim.hooks.limits import is_held
from brim.hooks.room import size
from brim.hooks.situations import environments_of, rules_of
from brim.hooks.state import HookWorkspace
from brim.record import PlainData
from brim.rules.blocks import commands_of, runs
from brim.rules.situation import Situation
from brim.rules.stored import ClosingRule, StoredRules

HEAD = "Before you finish, as your user's rules ask:\n"
"""What stands above the rules."""

_REMINDED = "reminded"
"""Kept for a session: the prompt that was reminded of last."""


@dataclass(frozen=True)
class ReminderTurn(PlainData):
    """What happened since a person's last prompt."""

    prompt: str = ""
    """Which prompt it was; empty if it wasn't seen."""
    files: tuple[str, ...] = ()
    """The files that were changed."""
    commands: tuple[str, ...] = ()
    """The commands that succeeded after the last change."""


def turn_of(events: Iterable[Event]) -> ReminderTurn:
    """Return the last turn in *events*, which are in order; those of sub-agents count too."""
    turn = ReminderTurn()
    open_calls: dict[str, ToolCall] = {}
    for event in events:
        if isinstance(event, Message) and event.human and not event.agent:
            turn = ReminderTurn(prompt=event.id or f"{event.time} {event.text[:80]}")
            open_calls = {}
        elif isinstance(event, ToolCall):
            open_calls[event.id] = event
        elif isinstance(event, ToolResult):
            call = open_calls.pop(event.id, None)
            if call is not None and not event.error:
                turn = _after(turn, call)
    return turn


def _after(turn: ReminderTurn, call: ToolCall) -> ReminderTurn:
    """Return *turn* with a *call* that succeeded."""
    if call.changes_files:
        return replace(turn, files=(*turn.files, *call.files), commands=())
    if call.kind == "shell":
        return replace(turn, commands=(*turn.commands, call.command))
    return turn


def remind(call: HookCall, workspace: HookWorkspace, events: Iterable[Event]) -> Answer | None:
    """Return what keeps the agent from ending its turn; None lets it end."""
    if call.was_kept_going:
        return None
    turn = turn_of(events)
    state = workspace.state(call.session)
    if not turn.prompt or not turn.files or state.kept(_REMINDED) == turn.prompt:
        return None
    rules = _undone(call, workspace, turn)
    if not rules:
        return None
    if workspace.may_have_limits and is_held(call, workspace):
        return None
    text = HEAD
    for rule in rules:
        text += f"- {rule.text} ({rule.command} hasn't succeeded since your last change)\n"
    if not _is_charged(call, workspace, text):
        return None
    state.keep(_REMINDED, turn.prompt)
    return Answer(deny=text)


def _is_charged(call: HookCall, workspace: HookWorkspace, text: str) -> bool:
    """Charge the session for *text*; false if it can't be remembered, so that it would come again.

    A reason why an agent goes on is told even if the session's budget is spent.
    """
    limits = workspace.config.yours.section("session")
    try:
        with workspace.rule_state.charging(call.session, **limits) as session:
            charge = size(text)
            if session.remaining is not None:
                charge = min(charge, session.remaining)
            session.spend(charge)
    except StoreError:
        return False
    return True


def _undone(call: HookCall, workspace: HookWorkspace, turn: ReminderTurn) -> list[ClosingRule]:
    """Return the rules whose command hasn't succeeded since the last change in *turn*."""
    reader = rules_of(call, workspace)
    if reader is None:
        return []
    rules = reader.ask(lambda index: StoredRules(index).closing())
    situation = Situation(paths=turn.files, environments=environments_of(workspace))
    undone: list[ClosingRule] = []
    for rule in rules:
        is_meant = not rule.condition or rule.condition.is_met(situation)
        if is_meant and not _has_run(rule.command, turn.commands):
            undone.append(rule)
    return undone


def _has_run(wanted: str, commands: Iterable[str]) -> bool:
    """Whether each simple command of *wanted* is among *commands*."""
    words_run: list[list[str]] = []
    for command in commands:
        words_run += [words for words in commands_of(command) if words[0]]
    missing = commands_of(wanted)
    for words in words_run:
        missing = [pattern for pattern in missing if not runs(words, pattern)]
    return not missing
