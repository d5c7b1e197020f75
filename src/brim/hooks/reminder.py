"""The reminder at the end of a turn: rules for every change whose command didn't run after the last
edit.

It makes the agent go on, so it comes once for each prompt of a person, never twice in a row, and
not at a limit. What happened in the turn is taken from the transcript, as far as the end of the
turn has read it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from brim.activation.context import Context
from brim.activation.relevance import INFERRED, facts_filed
from brim.agents.call import Answer, Event, HookCall, ToolCall
from brim.agents.events import Message, ToolResult
from brim.behaviors.behavior import Rule, Status
from brim.behaviors.tasks import programs_of, tasks_of
from brim.behaviors.when import EDITING
from brim.hooks.limits import is_held
from brim.hooks.rules import DYNAMIC, size
from brim.hooks.state import HookWorkspace
from brim.record import PlainData
from brim.rules.text import text_of
from brim.rules.tiers import Tier
from brim.store.scopes import Scopes

HEAD = "Before you finish: these rules are for every change, and no such command has succeeded since your last edit.\n"
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
            turn, open_calls = (
                ReminderTurn(prompt=event.id or f"{event.time} {event.text[:80]}"),
                {},
            )
        elif isinstance(event, ToolCall):
            open_calls[event.id] = event
        elif (
            isinstance(event, ToolResult)
            and (call := open_calls.pop(event.id, None))
            and not event.error
        ):
            if call.changes_files:
                path = next(iter(call.files), "")
                turn = replace(turn, files=(*turn.files, path), commands=())
            elif call.kind == "shell":
                turn = replace(turn, commands=(*turn.commands, call.command))
    return turn


def remind(call: HookCall, workspace: HookWorkspace, events: Iterable[Event]) -> Answer | None:
    """Return what keeps the agent from ending its turn; None lets it end."""
    if call.was_kept_going or not workspace.has_user_store:
        return None
    turn, state = turn_of(events), workspace.state(call.session)
    if not turn.prompt or not turn.files or state.kept(_REMINDED) == turn.prompt:
        return None
    rules = _due(turn, workspace)
    scopes, config = workspace.scopes, workspace.config.yours
    if not rules or scopes.user is None or scopes.user.readonly:
        return None
    if workspace.may_have_limits and is_held(call, workspace):
        return None
    with (
        scopes.writing("user"),
        scopes.session(call.session, **config.section("session")) as session,
    ):
        budget = session.budget(config[DYNAMIC])
        while budget is not None and rules and size(_text(rules)) > budget:
            rules.pop()
        if not rules:
            return None
        text = _text(rules)
        session.spend(size(text))
    state.keep(_REMINDED, turn.prompt)
    return Answer(deny=text)


def _text(rules: list[Rule]) -> str:
    return HEAD + text_of([(rule, Tier.FULL, 1.0) for rule in rules])


def _found_by(terms: list[str], scopes: Scopes) -> list[str]:
    return [id for rules in scopes.postings(terms).values() for id, _ in rules]


def _due(turn: ReminderTurn, workspace: HookWorkspace) -> list[Rule]:
    """Return the rules for every change that *turn* has made no command for."""
    scopes, terms = workspace.scopes, facts_filed({"task": (EDITING,)}, INFERRED)
    ids = _found_by(terms, scopes)
    if scopes.leave_out(ids):
        ids = _found_by(terms, scopes)
    facts = Context(**workspace.surroundings, file=[path for path in turn.files if path]).facts
    return [
        rule
        for _, rule in sorted(scopes.get_many(ids).items())
        if rule.status is Status.ACTIVE
        and not rule.when.match(facts).contradicted
        and not rule.inferred.match(facts).contradicted
        and _is_undone(rule, turn.commands)
    ]


def _is_undone(rule: Rule, commands: Iterable[str]) -> bool:
    """Whether none of *commands* is what *rule* says to run; false if it doesn't say what."""
    wanted = dict(rule.inferred.conditions)
    if programs := wanted.get("command", ()):
        return not any(set(programs).intersection(programs_of(each)) for each in commands)
    tasks = set(wanted.get("task", ())) - {EDITING}
    return bool(tasks) and not any(tasks.intersection(tasks_of(each)) for each in commands)
