"""Telling an agent its rules, within its budgets.

``brim.rules.delivery`` decides what is told. At a session's start the budget is
``token_budget.default``; what is told is remembered and not charged. During the work it is
``token_budget.dynamic_context``, and every token counts against the session's total. What is told
is decided, charged and noted in one transaction, so simultaneous hooks never tell more than they
may.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from brim.agents.call import NOTHING, SUBAGENT_START, Answer, HookCall
from brim.errors import StoreError
from brim.hooks.attention import LOCKED
from brim.hooks.process import attempt
from brim.hooks.room import AT_START, DURING_WORK, Room, room_at, size
from brim.hooks.situations import budget_of, rules_of, situation_of
from brim.hooks.state import HookWorkspace, forget_renewal, log, note_renewal, renewal_of
from brim.rules.compiled import RuleReader
from brim.rules.delivery import CALL, LATE_START, START, SUBAGENT, Delivery, deliver, note
from brim.rules.session import Session
from brim.rules.situation import Situation
from brim.rules.tiers import INTRODUCTION

UNFINISHED = "start unfinished"
"""Kept for a session at whose start there was no time to read all rules: the next prompt tells what
is missing."""


# At the start of a session ------------------------------------------------------------------------


def tell_at_start(call: HookCall, workspace: HookWorkspace, how: str, lines: str = "") -> Answer:
    """Return what a session is told when it begins *how*: *lines*, charged by their bytes, and its
    rules.

    ``startup``, ``clear`` and ``compact`` let everything be told again. After ``resume`` it still
    is in the window.
    """
    if call.session and how != "resume":  # until the state of the session knows it too
        note_renewal(call, workspace, how)
    room = room_at(call, workspace, AT_START)
    if room.is_empty:
        return NOTHING
    if not room.holds(lines):
        lines = ""
    rules = attempt(_rules_at_start, call, workspace, how=how, room=room.minus(lines))
    return Answer(preamble=lines, context=rules.context)


def _rules_at_start(call: HookCall, workspace: HookWorkspace, *, how: str, room: Room) -> Answer:
    if how == "resume" and call.session and workspace.rule_state.has_session(call.session):
        return NOTHING
    reader = rules_of(call, workspace)
    if reader is None:
        return NOTHING
    session = workspace.rule_state.session(call.session)
    session.begin(how)
    moment = START if how else LATE_START
    situation = situation_of(call, workspace)
    budget = budget_of(call, workspace, room)
    delivery = reader.ask(lambda index: deliver(index, moment, situation, session, budget))
    if call.session:
        is_noted = _note_start(call, workspace, how, delivery, told_before=session.to_dict())
        if moment == LATE_START and not is_noted:
            return NOTHING  # each prompt would tell it again
        if reader.index is not None and reader.index.is_partial:
            workspace.state(call.session).keep(UNFINISHED, True)
    return Answer(context=delivery.text)


def finish_start(call: HookCall, workspace: HookWorkspace) -> Answer:
    """Return the rules that a session wasn't told at its start, once; mostly nothing.

    There may have been no time to read all of them, or no start at all: brim was installed or
    switched on in the middle of it.
    """
    if not call.session:
        return NOTHING
    is_unfinished = bool(workspace.state(call.session).kept(UNFINISHED))
    if is_unfinished:
        workspace.state(call.session).keep(UNFINISHED, None)
    elif workspace.rule_state.has_session(call.session):
        return NOTHING
    return _rules_at_start(call, workspace, how="", room=room_at(call, workspace, AT_START))


def _note_start(
    call: HookCall,
    workspace: HookWorkspace,
    how: str,
    delivery: Delivery,
    *,
    told_before: dict[str, Any],
) -> bool:
    """Note what is told; return whether that will be remembered.

    It isn't told if a hook at the same moment told something since *told_before*.
    """
    limits = workspace.config.yours.section("session")
    try:
        with workspace.rule_state.charging(call.session, **limits) as session:
            session.begin(how)
            if not how and session.to_dict() != told_before:
                return False
            note(delivery, START, session)
    except StoreError as error:
        log(workspace.environ, f"{call.name} {call.agent.name}: {error}")
        workspace.state(call.session).keep(LOCKED, str(error))
        return False
    if workspace.state(call.session).kept(LOCKED):
        workspace.state(call.session).keep(LOCKED, None)
    forget_renewal(call, workspace)
    return True


# During the work ----------------------------------------------------------------------------------


def tell_now(
    call: HookCall, workspace: HookWorkspace, *, moment: str = "", is_new_prompt: bool = False
) -> Answer:
    """Return what an agent is told during its work: the rules of this *moment*, and what its last
    summary lost.

    Without a moment no rule is told. *is_new_prompt* says that a person typed a prompt, which is
    counted whether anything is told or not.
    """
    room = room_at(call, workspace, DURING_WORK)
    if not call.session or room.tokens == 0:
        return NOTHING
    telling = RuleTelling(call, workspace, room, moment=moment, is_new_prompt=is_new_prompt)
    if not is_new_prompt and not telling.has_something():
        return NOTHING
    return telling.tell()


class RuleTelling:
    """What one event tells. Whether there is anything is found out without a lock; it's decided,
    charged and noted under it."""

    def __init__(
        self,
        call: HookCall,
        workspace: HookWorkspace,
        room: Room,
        *,
        moment: str,
        is_new_prompt: bool,
    ) -> None:
        self._call = call
        self._workspace = workspace
        self._room = room
        self._moment = moment
        self._is_new_prompt = is_new_prompt
        self._limits = workspace.config.yours.section("session")
        self._deliveries: dict[str, Delivery] = {}
        self._situation = Situation()
        if moment:
            self._situation = situation_of(call, workspace)
        self._how = renewal_of(call, workspace)

    def has_something(self) -> bool:
        """Whether there is something to tell."""
        call = self._call
        session = self._workspace.rule_state.session(call.session, call.sub_agent, **self._limits)
        session.begin(self._how)
        room = replace(self._room, tokens=session.budget(self._room.tokens))
        if gives_back(call, self._workspace, room):
            return True
        return any(delivery.text for delivery in self._deliver(session))

    def tell(self) -> Answer:
        """Return what is told, and charge the session for it."""
        call = self._call
        state = self._workspace.rule_state
        reader = rules_of(call, self._workspace)
        if self._moment and reader is not None:
            reader.open()
        with state.charging(call.session, call.sub_agent, **self._limits) as session:
            session.begin(self._how)
            if self._is_new_prompt:
                session.next_prompt()
            answer = self._charged(session)
        if self._how:
            forget_renewal(call, self._workspace)
        return answer

    def _charged(self, session: Session) -> Answer:
        """Return what fits by now, and charge *session* for it."""
        call = self._call
        workspace = self._workspace
        room = replace(self._room, tokens=session.budget(self._room.tokens))
        used_before = session.used
        text = under_one_introduction([delivery.text for delivery in self._deliver(session)])
        room = room.minus(text, session.used - used_before)
        return Answer(preamble=give_back_lost(call, workspace, session, room), context=text)

    def _deliver(self, session: Session) -> list[Delivery]:
        """Return what this moment tells, and charge *session* for it."""
        reader = None
        if self._moment and session.budget(self._room.tokens) != 0:
            reader = rules_of(self._call, self._workspace)
        if reader is None:
            return []
        deliveries: list[Delivery] = []
        room = self._room
        for moment in self._moments(session):
            delivery = self._delivery(reader, moment, session, room)
            room = room.minus(delivery.text, delivery.total_tokens)
            note(delivery, moment, session)
            deliveries.append(delivery)
        return deliveries

    def _delivery(self, reader: RuleReader, moment: str, session: Session, room: Room) -> Delivery:
        """Return what *moment* tells. What was found without the lock is used again under it, if
        nothing was told to the session in between."""
        key = f"{moment} {room.tokens} {session.used} {session.to_dict()}"
        if key not in self._deliveries:
            budget = budget_of(self._call, self._workspace, room)
            situation = self._situation
            self._deliveries[key] = reader.ask(
                lambda index: deliver(index, moment, situation, session, budget)
            )
        return self._deliveries[key]

    def _moments(self, session: Session) -> list[str]:
        """Return the moments that this event is: the first call of a sub-agent of which no event
        told is its start too."""
        if self._moment == CALL and self._call.sub_agent and not session.shown:
            return [SUBAGENT, CALL]
        return [self._moment]


def under_one_introduction(texts: Iterable[str]) -> str:
    """Return the *texts* of several moments as one list of rules."""
    text = ""
    for listed in texts:
        if text:
            text += listed.removeprefix(INTRODUCTION)
        else:
            text = listed
    return text


def tell_sub_agent(call: HookCall, workspace: HookWorkspace) -> Answer:
    """Return what a sub-agent is told when it starts: the musts."""
    if not call.agent.hears_at(SUBAGENT_START) or not call.sub_agent:
        return NOTHING
    return tell_now(call, workspace, moment=SUBAGENT)


# What the last summary lost -----------------------------------------------------------------------


def gives_back(call: HookCall, workspace: HookWorkspace, room: Room) -> bool:
    """Whether something that the last summary lost fits. It was lost from the window of the main
    thread."""
    if call.sub_agent or room.is_empty:
        return False
    text, _ = _fitting_lines(workspace.state(call.session).lost, room)
    return bool(text)


def give_back_lost(call: HookCall, workspace: HookWorkspace, session: Session, room: Room) -> str:
    """Return what the last summary lost, once, charged by its bytes; lines that don't fit wait for
    the next event."""
    if not gives_back(call, workspace, room):
        return ""
    state = workspace.state(call.session)
    text, waiting = _fitting_lines(state.take_lost(), room)
    session.spend(size(text))
    if waiting:
        state.lost = waiting
    return text


def _fitting_lines(text: str, room: Room) -> tuple[str, str]:
    """Return the lines of *text* that fit, and those that don't, each below the first line, which
    is a heading."""
    lines = [f"{line}\n" for line in text.split("\n") if line.strip()]
    if not lines:
        return "", text
    heading = lines.pop(0)
    fitting = heading
    waiting = heading
    for line in lines:
        if room.holds(fitting + line):
            fitting += line
        else:
            waiting += line
    if waiting == heading:
        waiting = ""
    if not room.holds(fitting) or (waiting and fitting == heading):
        return "", text
    return fitting, waiting
