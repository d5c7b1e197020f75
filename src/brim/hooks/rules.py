"""Telling an agent the rules that matter, within its budgets.

At a session's start the budget is ``token_budget.default``; what is told is remembered and not
charged. During the work it is ``token_budget.dynamic_context``, and every token counts against the
session's total. What is told is decided, charged and noted in one transaction, so simultaneous
hooks never tell more than they may.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from brim.activation.context import Context
from brim.agents.call import NOTHING, Answer, HookCall
from brim.behaviors.behavior import Rule
from brim.behaviors.words import tokens
from brim.errors import StoreError
from brim.hooks.mentions import Doing, mention
from brim.hooks.process import attempt
from brim.hooks.state import HookWorkspace
from brim.record import PlainData
from brim.rules.languages import language_of
from brim.rules.session import Session
from brim.store.hook_planner import HookPlanner
from brim.store.loaded import loaded_rules

START = "token_budget.default"
DYNAMIC = "token_budget.dynamic_context"

HELD_BACK = (
    "brim held this call back once: the rules below are about it, and this window had not been shown them. "
    "Follow them, and make the call again if it is still right.\n"
)
"""What stands above the rules that a call is denied for."""

GATED = ("edit", "write", "shell")
"""The tools whose calls the gate may hold back."""

MOST_RULES = 48
"""Constraints whose words are compared with a pending call."""

_HELD = "held"
"""Kept for a session since its last prompt: the rules it was held for, and what each names."""

_RENEWED = "renewed"
"""Kept for a session whose window began again: how. Nothing counts as told in it."""


@dataclass(frozen=True)
class Room(PlainData):
    """What a text for the model may take. None is no limit."""

    tokens: int | None
    chars: int
    bytes: int | None

    @property
    def is_empty(self) -> bool:
        """Whether nothing fits."""
        return self.tokens == 0 or self.chars <= 0

    def holds(self, text: str) -> bool:
        """Whether *text* fits, charged by its bytes."""
        if len(text) > self.chars:
            return False
        limits = [limit for limit in (self.tokens, self.bytes) if limit is not None]
        return not limits or size(text) <= min(limits)

    def minus(self, text: str, tokens: int | None = None) -> Room:
        """Return what is left beside *text*, which is charged by its bytes unless *tokens* says by
        how much."""
        charge = size(text) if tokens is None else tokens
        return Room(
            _less(self.tokens, charge), self.chars - len(text), _less(self.bytes, size(text))
        )


def room_at(
    call: HookCall, workspace: HookWorkspace, budget: str, chars: int | None = None
) -> Room:
    """Return what the setting *budget* and the agent allow a text: *chars*, by default those of
    this event."""
    config = workspace.config.yours
    if chars is None:
        chars = call.agent.answers.chars_at(call.event)
    limit = config["injection.max_chars"]
    if limit is not None:
        chars = min(chars, limit)
    return Room(config[budget], chars, call.agent.answers.bytes)


def size(text: str) -> int:
    """Return the charge for a line made up at run time: its bytes, since a token is never shorter
    than one."""
    return len(text.encode("utf-8", "replace"))


def _less(limit: int | None, charge: int) -> int | None:
    return None if limit is None else max(0, limit - charge)


# At the start of a session ------------------------------------------------------------------------


def tell_at_start(call: HookCall, workspace: HookWorkspace, how: str, lines: str = "") -> Answer:
    """Return what a session is told when it begins *how*: *lines*, charged by their bytes, and the
    rules that matter.

    ``startup``, ``clear`` and ``compact`` let everything be told again; ``resume`` doesn't.
    """
    if call.session and how != "resume":  # until the session's memory in the store knows it too
        workspace.state(call.session).keep(_RENEWED, how)
    room = room_at(call, workspace, START)
    if room.is_empty:
        return NOTHING
    if not room.holds(lines):
        lines = ""
    rules = attempt(
        _tell_rules_at_start,
        call,
        workspace,
        how=how,
        room=room.minus(lines),
        retry_without_project=True,
    )
    return Answer(preamble=lines, context=rules.context)


def _tell_rules_at_start(
    call: HookCall, workspace: HookWorkspace, *, how: str, room: Room
) -> Answer:
    text = ""
    if any(map(os.path.exists, workspace.databases)):
        text = _rules_at_start(call, workspace, how, room)
    _forget_renewal(call, workspace)
    return Answer(context=text)


def _rules_at_start(call: HookCall, workspace: HookWorkspace, how: str, room: Room) -> str:
    if call.session and _can_charge(workspace):
        try:
            return _charged_at_start(call, workspace, how, room)
        except StoreError as error:
            if error.reason not in ("full", "failed"):
                raise
    # It can't be remembered, and is told anyway.
    planner = _planner(call, workspace, None, leave=_read_already(call, workspace))
    plan = planner.plan(room.tokens, key=START, max_chars=room.chars, max_bytes=room.bytes)
    return planner.tell(plan)


def _charged_at_start(call: HookCall, workspace: HookWorkspace, how: str, room: Room) -> str:
    before = _session_seen(call, workspace)
    before.begin(how)
    planner = _planner(call, workspace, before, leave=_read_already(call, workspace))
    with _session(call, workspace) as session:
        session.begin(how)
        plan = planner.plan(
            room.tokens, key=START, max_chars=room.chars, max_bytes=room.bytes, session=session
        )
        session.record(plan)
        return planner.tell(plan, call.session, event=call.event, session=session)


def _read_already(call: HookCall, workspace: HookWorkspace) -> set[str]:
    """Return the rules that stand in files that the agent loads on its own when a session
    starts."""
    return loaded_rules(workspace.scopes, call.agent.name, call.cwd or workspace.cwd)


def _forget_renewal(call: HookCall, workspace: HookWorkspace) -> None:
    if call.session and workspace.state(call.session).kept(_RENEWED):
        workspace.state(call.session).keep(_RENEWED, None)


# During the work ----------------------------------------------------------------------------------


def tell_now(
    call: HookCall, workspace: HookWorkspace, *, new_prompt: bool = False, of_call: bool = False
) -> Answer:
    """Return what an agent is told during its work: rules that are due, and what its last summary
    lost.

    *new_prompt* says that a person typed one, which is counted whether anything is told or not.
    *of_call* says that it is about a tool call: what matches the call rises a tier, and the gate
    may hold it back before it is made.
    """
    room = room_at(call, workspace, DYNAMIC)
    is_gated = _is_gated(call, workspace)
    if not call.session or room.tokens == 0:
        return NOTHING
    if room.chars <= 0 and not is_gated and not new_prompt:
        return NOTHING
    if not workspace.has_user_store:
        return _tell_lost_alone(call, workspace, room)
    if not _can_charge(workspace):  # what can't be charged isn't told
        return NOTHING
    telling = _Telling(
        call,
        workspace,
        room,
        new_prompt=new_prompt,
        of_call=of_call,
        is_gated=is_gated,
    )
    return telling.tell()


def _is_gated(call: HookCall, workspace: HookWorkspace) -> bool:
    """Whether the gate may hold *call* back."""
    if call.event != "before_tool" or call.tool.kind not in GATED:
        return False
    return workspace.config["hooks.gate"] is not None


class _Telling:
    """What one event tells: found without a lock, then decided, charged and noted under it."""

    def __init__(
        self,
        call: HookCall,
        workspace: HookWorkspace,
        room: Room,
        *,
        new_prompt: bool,
        of_call: bool,
        is_gated: bool,
    ) -> None:
        self._call = call
        self._workspace = workspace
        self._new_prompt = new_prompt
        self._is_gated = is_gated
        self._is_about_rules = new_prompt or of_call
        self._how = ""
        if not call.sub_agent:
            self._how = str(workspace.state(call.session).kept(_RENEWED) or "")
        self._seen = _session_seen(call, workspace)
        self._begin(self._seen)
        self._room = replace(room, tokens=self._seen.budget(room.tokens))

    def tell(self) -> Answer:
        """Return what is told, and charge the session for it."""
        call = self._call
        workspace = self._workspace
        planner = self._planner()
        if planner is None and not _gives_back(call, workspace, self._room):
            if self._new_prompt:
                self._count_prompt()
            return NOTHING
        against: dict[str, str] = {}
        if planner is not None and self._is_gated:
            against = _against(call, workspace, planner, self._seen)
        with _session(call, workspace) as session:
            self._begin(session)
            answer = self._charged(session, planner, against)
        if self._how:
            _forget_renewal(call, workspace)
        return answer

    def _planner(self) -> HookPlanner | None:
        """Return the planner of the rules that are due; None if there are none."""
        if not self._is_about_rules or self._room.tokens == 0:
            return None
        if self._room.chars <= 0 and not self._is_gated:
            return None
        call = self._call
        workspace = self._workspace
        planner = _planner(
            call,
            workspace,
            self._seen,
            always=self._new_prompt or bool(call.sub_agent),
            read=_read_already(call, workspace) if self._new_prompt else (),
        )
        return planner if planner else None

    def _charged(
        self, session: Session, planner: HookPlanner | None, against: dict[str, str]
    ) -> Answer:
        """Return what fits by now, and charge *session* for it."""
        call = self._call
        workspace = self._workspace
        if planner is not None and against:
            reason = _held_back(call, workspace, planner, session, against)
            if reason:
                return Answer(deny=reason)
        budget = session.budget(workspace.config.yours[DYNAMIC])
        room = replace(self._room, tokens=budget)
        text = ""
        spent = 0
        if planner is not None and room.chars > 0:
            text, spent = _rules(call, planner, session, room)
        lost = _give_back(call, workspace, session, room.minus(text, spent))
        return Answer(preamble=lost, context=text)

    def _begin(self, session: Session) -> None:
        """Renew *session* if its window was, and count a prompt that a person typed."""
        session.begin(self._how)
        if self._new_prompt:
            session.next_prompt()

    def _count_prompt(self) -> None:
        limits = self._workspace.config.yours.section("session")
        scopes = self._workspace.scopes
        with scopes.session(self._call.session, self._call.sub_agent, **limits) as session:
            session.next_prompt()


def _rules(call: HookCall, planner: HookPlanner, session: Session, room: Room) -> tuple[str, int]:
    """Return the rules that fit, and the tokens that they took; charge and note them."""
    plan = planner.plan(
        room.tokens, key=DYNAMIC, max_chars=room.chars, max_bytes=room.bytes, session=session
    )
    if not plan.included:
        return "", 0
    session.charge(plan)
    text = planner.tell(plan, call.session, event=call.event, session=session)
    return text, int(plan.total_tokens)


def _planner(
    call: HookCall,
    workspace: HookWorkspace,
    session: Session | None,
    *,
    always: bool = True,
    leave: Collection[str] = (),
    read: Collection[str] = (),
) -> HookPlanner:
    return HookPlanner(
        workspace.scopes,
        workspace.config,
        situation(call, workspace),
        now=workspace.now,
        model=model_of(call, workspace),
        session=session,
        always=always,
        leave=leave,
        read=read,
    )


def _can_charge(workspace: HookWorkspace) -> bool:
    user = workspace.scopes.user
    return user is not None and not user.readonly


def _session_seen(call: HookCall, workspace: HookWorkspace) -> Session:
    """Return what the store knows of the session, to be looked at without a lock."""
    limits = workspace.config.yours.section("session")
    return workspace.scopes.session_seen(call.session, call.sub_agent, **limits)


@contextmanager
def _session(call: HookCall, workspace: HookWorkspace) -> Iterator[Session]:
    """Hand out the session to be charged, in one transaction of the user's store."""
    scopes = workspace.scopes
    limits = workspace.config.yours.section("session")
    with scopes.writing("user"), scopes.session(call.session, call.sub_agent, **limits) as session:
        yield session


# The gate -----------------------------------------------------------------------------------------


def _against(
    call: HookCall, workspace: HookWorkspace, planner: HookPlanner, session: Session
) -> dict[str, str]:
    """Return the constraints that this window was never shown and that speak against *call*: what
    each names of it."""
    passed = {*session.shown, *workspace.permitted}
    unseen = [id for id in planner.constraints if id not in passed][:MOST_RULES]
    if not unseen:
        return {}
    files = files_of(call)
    words = set(
        tokens(" ".join([_ends(str(text)) for text in (*call.tool.input.values(), *files)]))
    )
    # Most rules have no word in common with the call.
    near = {
        id: rule
        for id, rule in workspace.scopes.get_many(unseen).items()
        if _may_be_about(rule, files, words)
    }
    if not near:
        return {}
    doing = Doing.of(call)
    against = {id: mention(rule, doing) for id, rule in near.items()}
    return {id: named for id, named in against.items() if named}


def _may_be_about(rule: Rule, files: list[str], words: set[str]) -> bool:
    if files and "file" in dict(rule.when.conditions):
        return True
    return not words.isdisjoint(tokens(rule.canonical))


def _held_back(
    call: HookCall,
    workspace: HookWorkspace,
    planner: HookPlanner,
    session: Session,
    against: dict[str, str],
) -> str:
    """Return why the pending call is held back: the rules in *against*, unless they were shown
    meanwhile.

    A rule that doesn't fit the budget denies nothing: a call is never denied without saying why.
    """
    unseen = [id for id in against if id not in session.shown]
    room = room_at(call, workspace, DYNAMIC, call.agent.answers.chars)
    room = replace(room, tokens=session.budget(room.tokens)).minus(HELD_BACK)
    if not unseen or room.tokens == 0:
        return ""
    plan = planner.plan(
        room.tokens,
        key=DYNAMIC,
        max_chars=max(0, room.chars),
        max_bytes=room.bytes,
        session=session,
        only=unseen,
    )
    if not plan.included:
        return ""
    session.charge(plan)
    session.spend(size(HELD_BACK))
    reasons = {item.id: against[item.id] for item in plan.included}
    workspace.scopes.record(
        "held", reasons, now=workspace.now, session=call.session, tool=call.tool.name
    )
    state = workspace.state(call.session)
    state.keep(_HELD, {**(state.kept(_HELD) or {}), **reasons})
    return HELD_BACK + planner.tell(plan, call.session, event="gate", session=session)


def note_repeated(call: HookCall, workspace: HookWorkspace) -> None:
    """Note that an agent goes on with what it was held for, once for each rule; a prompt ends the
    waiting for it."""
    state = workspace.state(call.session)
    reasons = state.kept(_HELD)
    if call.tool.kind not in GATED or not isinstance(reasons, dict):
        return
    doing = Doing.of(call)
    rules = workspace.scopes.get_many(list(reasons))
    repeated = {
        id: reasons[id] for id, rule in rules.items() if reasons[id] == mention(rule, doing)
    }
    if repeated:
        workspace.scopes.record(
            "allowed", repeated, now=workspace.now, session=call.session, tool=call.tool.name
        )
        state.keep(_HELD, {id: reasons[id] for id in reasons if id not in repeated} or None)


def forget_held(call: HookCall, workspace: HookWorkspace) -> None:
    """Forget what the agent was held for: a person has spoken, and what it does now may be what
    they want."""
    if workspace.state(call.session).kept(_HELD):
        workspace.state(call.session).keep(_HELD, None)


# What the last summary lost -----------------------------------------------------------------------


def _gives_back(call: HookCall, workspace: HookWorkspace, room: Room) -> bool:
    """Whether something that the last summary lost fits. It was lost from the window of the main
    thread."""
    if call.sub_agent or room.is_empty:
        return False
    text, _ = _that_fit(workspace.state(call.session).lost, room)
    return bool(text)


def _give_back(call: HookCall, workspace: HookWorkspace, session: Session, room: Room) -> str:
    """Return what the last summary lost, once, charged by its bytes; lines that don't fit wait for
    the next event."""
    if not _gives_back(call, workspace, room):
        return ""
    state = workspace.state(call.session)
    text, waiting = _that_fit(state.take_lost(), room)
    session.spend(size(text))
    if waiting:
        state.lost = waiting
    return text


def _tell_lost_alone(call: HookCall, workspace: HookWorkspace, room: Room) -> Answer:
    """Return what the last summary lost, where there is no store to charge and so nothing else is
    told.

    The compaction has renewed the session's total, so it holds unless the text alone is more than
    that.
    """
    if not workspace.state(call.session).lost:
        return NOTHING
    session = Session(**workspace.config.yours.section("session"))
    room = replace(room, tokens=session.budget(room.tokens))
    return Answer(preamble=_give_back(call, workspace, session, room))


def _that_fit(text: str, room: Room) -> tuple[str, str]:
    """Return the lines of *text* that fit, and those that don't, each below the first line, which
    is a heading."""
    heading, *lines = [f"{line}\n" for line in text.split("\n") if line.strip()] or [""]
    fitting = heading
    waiting = ""
    for line in lines:
        if room.holds(fitting + line):
            fitting += line
        else:
            waiting += line
    if not room.holds(fitting) or (lines and fitting == heading):
        return "", text
    return fitting, heading + waiting if waiting else ""


# The situation ------------------------------------------------------------------------------------

LONGEST = 4_000
"""Characters at either end of a prompt or command that are looked at: a pasted log says nothing
about the task."""

OPEN = "open"
"""Kept for a session: the files of the last calls, for the next prompt."""

MOST_OPEN = 5
MOST_FILES = 20
"""Files of one call that are looked at."""


def situation(call: HookCall, workspace: HookWorkspace) -> Context:
    """Return what *call* and its workspace say: a prompt's words and open files, or a pending
    call's."""
    place = workspace.surroundings
    if call.event == "prompt" and call.human:
        return Context(**place, prompt=_ends(call.prompt), open=_open_files(call, workspace))
    if call.event in ("session_start", "prompt"):
        return Context(**place)
    files = files_of(call)
    _keep_open(call, workspace, files)
    command = _ends(call.tool.command)
    return Context(**place, file=files, command=command, written=written_by(call))


def written_by(call: HookCall) -> str:
    """Return the text that a call writes into a file."""
    if not call.tool.changes_files:
        return ""
    return _ends(call.tool.patch or call.tool.text)


def files_of(call: HookCall) -> list[str]:
    """Return the files that a call reads or changes. A folder isn't one; a glob pattern stands for
    its files."""
    files = list(call.tool.files)
    if call.tool.kind == "search":
        files = [file for file in (*call.tool.patterns, *files) if language_of(file)]
    return [file for file in files if len(file) <= LONGEST][:MOST_FILES]


def _keep_open(call: HookCall, workspace: HookWorkspace, files: list[str]) -> None:
    """Remember the files of a call for the next prompt."""
    if not files or not call.session or call.sub_agent:
        return
    state = workspace.state(call.session)
    open_files = _texts(state.kept(OPEN))
    if files[0] not in open_files:
        state.keep(OPEN, list(dict.fromkeys((*files, *open_files)))[:MOST_OPEN])


def _open_files(call: HookCall, workspace: HookWorkspace) -> list[str]:
    """Return the files that calls have used lately, and those that the editor shows, if the agent
    says."""
    if not call.session:
        return list(call.shown_files)
    return [*_texts(workspace.state(call.session).kept(OPEN)), *call.shown_files]


def model_of(call: HookCall, workspace: HookWorkspace) -> str | None:
    """Return the model that the agent runs, as far as it is known; None means no model at all."""
    state = workspace.state(call.session)
    named = state.kept("model")
    if call.model:
        return call.model
    if state.usage is not None and state.usage.model:
        return state.usage.model
    if isinstance(named, str) and named:
        return named
    return workspace.config.yours["model"] or call.agent.counting_model or None


def _texts(value: object) -> list[str]:
    """Return *value*, a text or a list of texts, without those that are too long."""
    values = value if isinstance(value, list) else [value]
    return [text for text in values if isinstance(text, str) and 0 < len(text) <= LONGEST]


def _ends(text: str) -> str:
    if len(text) <= 2 * LONGEST:
        return text
    return f"{text[:LONGEST]}\n{text[-LONGEST:]}"
