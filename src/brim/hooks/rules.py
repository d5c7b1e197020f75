"""Telling an agent the rules that matter, within its budgets.

At a session's start the budget is ``token_budget.default``; what is told is remembered and not
charged. During the work it is ``token_budget.dynamic_context``, and every token counts against the
session's total. What is told is decided, charged and noted in one transaction, so simultaneous
hooks never tell more than they may.
"""

from __future__ import annotations

import os
from collections.abc import Collection

from brim.activation.context import Context
from brim.agents.call import NOTHING, Answer, HookCall
from brim.behaviors.tasks import language_of
from brim.errors import StoreError
from brim.hooks.process import attempt
from brim.hooks.state import HookWorkspace
from brim.injection.session import Session
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


def tell_at_start(call: HookCall, workspace: HookWorkspace, how: str, lines: str = "") -> Answer:
    """Return what a session is told when it begins *how*: *lines*, charged by their bytes, and the
    rules that matter.

    ``startup``, ``clear`` and ``compact`` let everything be told again; ``resume`` doesn't.
    """
    if call.session and how != "resume":  # until the session's memory in the store knows it too
        workspace.state(call.session).keep(_RENEWED, how)
    budget, room = workspace.config.yours[START], max_chars(call, workspace)
    if budget == 0 or room <= 0:
        return NOTHING
    if (budget is not None and size(lines) > budget) or len(lines) > room:
        lines = ""
    left, room, most = (
        _less(budget, size(lines)),
        room - len(lines),
        _less(call.agent.answers.bytes, size(lines)),
    )

    def rules(call: HookCall, workspace: HookWorkspace) -> Answer:
        is_stored = any(map(os.path.exists, workspace.databases))
        text = _rules_at_start(call, workspace, how, left, room, most=most) if is_stored else ""
        _forget_renewal(call, workspace)
        return Answer(context=text)

    return Answer(preamble=lines, context=attempt(rules, call, workspace, again=True).context)


def _forget_renewal(call: HookCall, workspace: HookWorkspace) -> None:
    if call.session and workspace.state(call.session).kept(_RENEWED):
        workspace.state(call.session).keep(_RENEWED, None)


def _rules_at_start(
    call: HookCall,
    workspace: HookWorkspace,
    how: str,
    budget: int | None,
    room: int,
    *,
    most: int | None,
) -> str:
    user = workspace.scopes.user
    if call.session and user is not None and not user.readonly:
        try:
            return _charged_at_start(call, workspace, how, budget, room, most=most)
        except StoreError as error:
            if error.reason not in ("full", "failed"):
                raise
    found = _planner(
        call, workspace, None, leave=_read_already(call, workspace)
    )  # can't be remembered: told anyway
    plan = found.plan(budget, key=START, max_chars=room, max_bytes=most)
    return found.tell(plan)


def _charged_at_start(
    call: HookCall,
    workspace: HookWorkspace,
    how: str,
    budget: int | None,
    room: int,
    *,
    most: int | None,
) -> str:
    scopes, limits = workspace.scopes, workspace.config.yours.section("session")
    seen = scopes.session_seen(call.session, call.sub_agent, **limits)
    seen.begin(how)
    found = _planner(call, workspace, seen, leave=_read_already(call, workspace))
    with scopes.writing("user"), scopes.session(call.session, call.sub_agent, **limits) as session:
        session.begin(how)
        plan = found.plan(budget, key=START, max_chars=room, max_bytes=most, session=session)
        session.record(plan)
        return found.tell(plan, call.session, event=call.event, session=session)


def _read_already(call: HookCall, workspace: HookWorkspace) -> set[str]:
    """Return the rules that stand in files that the agent loads on its own when a session
    starts."""

    return loaded_rules(workspace.scopes, call.agent.name, call.cwd or workspace.cwd)


def tell_now(
    call: HookCall, workspace: HookWorkspace, *, new_prompt: bool = False, of_call: bool = False
) -> Answer:
    """Return what an agent is told during its work: rules that are due, and what its last summary
    lost.

    *new_prompt* says that a person typed one, which is counted whether anything is told or not.
    *of_call* says that it is about a tool call: what matches the call rises a tier, and the gate
    may hold it back before it is made.
    """
    dynamic, room = workspace.config.yours[DYNAMIC], max_chars(call, workspace)
    gate = (
        call.event == "before_tool"
        and call.tool.kind in GATED
        and workspace.config["hooks.gate"] is not None
    )
    if dynamic == 0 or not call.session or not (room > 0 or gate or new_prompt):
        return NOTHING
    if not workspace.has_user_store:
        return _lost_alone(call, workspace, dynamic, room)
    scopes, limits = workspace.scopes, workspace.config.yours.section("session")
    if scopes.user is None or scopes.user.readonly:  # what can't be charged isn't told
        return NOTHING
    seen = scopes.session_seen(call.session, call.sub_agent, **limits)
    how = "" if call.sub_agent else str(workspace.state(call.session).kept(_RENEWED) or "")
    _begin(seen, how, new_prompt)
    budget = seen.budget(dynamic)
    found: HookPlanner | None = None
    if budget != 0 and (new_prompt or of_call) and (room > 0 or gate):
        read = _read_already(call, workspace) if new_prompt else ()
        found = _planner(
            call, workspace, seen, always=new_prompt or bool(call.sub_agent), read=read
        )
    lost = budget != 0 and _gives_back(call, workspace, budget, room)
    if not (found or lost):
        if new_prompt:
            with scopes.session(call.session, call.sub_agent, **limits) as session:
                session.next_prompt()
        return NOTHING
    against = _against(call, workspace, found, seen) if found and gate else {}
    with scopes.writing("user"), scopes.session(call.session, call.sub_agent, **limits) as session:
        _begin(session, how, new_prompt)
        deny = _held_back(call, workspace, found, session, against) if found and against else ""
        budget = session.budget(dynamic)
        preamble, text, tokens = "", "", 0
        if found and room > 0 and not deny:
            text, tokens = _rules(call, found, session, budget=budget, room=room)
        if lost and not deny:
            preamble = _lost(
                call, workspace, session, _less(budget, tokens), room - len(text), beside=text
            )
    if how:
        _forget_renewal(call, workspace)
    return Answer(deny=deny, preamble=preamble, context=text)


def _begin(session: Session, how: str, new_prompt: bool) -> None:
    """Renew *session* if its window was, and count a prompt that a person typed."""
    session.begin(how)
    if new_prompt:
        session.next_prompt()


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


def _rules(
    call: HookCall, found: HookPlanner, session: Session, *, budget: int | None, room: int
) -> tuple[str, int]:
    """Return the rules that fit, and the tokens that they took; charge and note them."""
    plan = found.plan(
        budget,
        key=DYNAMIC,
        max_chars=room,
        max_bytes=call.agent.answers.bytes,
        session=session,
    )
    if not plan.included:
        return "", 0
    session.charge(plan)
    return found.tell(plan, call.session, event=call.event, session=session), int(plan.total_tokens)


def _against(
    call: HookCall, workspace: HookWorkspace, found: HookPlanner, session: Session
) -> dict[str, str]:
    """Return the constraints that this window was never shown and that speak against *call*: what
    each names of it."""
    unseen = [
        id for id in found.constraints if id not in session.shown and id not in workspace.permitted
    ][:MOST_RULES]
    if not unseen:
        return {}
    from brim.behaviors.words import tokens

    files = files_of(call)
    words = set(
        tokens(" ".join([_ends(str(each)) for each in (*call.tool.input.values(), *files)]))
    )
    near = {  # most rules have no word in common with the call
        id: rule
        for id, rule in workspace.scopes.get_many(unseen).items()
        if (files and "file" in dict(rule.when.conditions))
        or not words.isdisjoint(tokens(rule.canonical))
    }
    if not near:
        return {}
    from brim.hooks.mentions import Doing, mention

    doing = Doing.of(call)
    return {id: named for id, rule in near.items() if (named := mention(rule, doing))}


def _held_back(
    call: HookCall,
    workspace: HookWorkspace,
    found: HookPlanner,
    session: Session,
    against: dict[str, str],
) -> str:
    """Return why the pending call is held back: the rules in *against*, unless they were shown
    meanwhile.

    A rule that doesn't fit the budget denies nothing: a call is never denied without saying why.
    """
    held = [id for id in against if id not in session.shown]
    budget = _less(session.budget(workspace.config.yours[DYNAMIC]), size(HELD_BACK))
    if not held or budget == 0:
        return ""
    answers, configured = call.agent.answers, workspace.config.yours["injection.max_chars"]
    room = (answers.chars if configured is None else min(answers.chars, configured)) - len(
        HELD_BACK
    )
    most = _less(answers.bytes, size(HELD_BACK))
    plan = found.plan(
        budget, key=DYNAMIC, max_chars=max(0, room), max_bytes=most, session=session, only=held
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
    return HELD_BACK + found.tell(plan, call.session, event="gate", session=session)


def note_repeated(call: HookCall, workspace: HookWorkspace) -> None:
    """Note that an agent goes on with what it was held for, once for each rule; a prompt ends the
    waiting for it."""
    state = workspace.state(call.session)
    held = state.kept(_HELD)
    if call.tool.kind not in GATED or not isinstance(held, dict):
        return
    from brim.hooks.mentions import Doing, mention

    doing, rules = Doing.of(call), workspace.scopes.get_many(list(held))
    again = {id: held[id] for id, rule in rules.items() if held[id] == mention(rule, doing)}
    if again:
        workspace.scopes.record(
            "allowed", again, now=workspace.now, session=call.session, tool=call.tool.name
        )
        state.keep(_HELD, {id: held[id] for id in held if id not in again} or None)


def forget_held(call: HookCall, workspace: HookWorkspace) -> None:
    """Forget what the agent was held for: a person has spoken, and what it does now may be what
    they want."""
    if workspace.state(call.session).kept(_HELD):
        workspace.state(call.session).keep(_HELD, None)


# What the last summary lost -----------------------------------------------------------------------


def _gives_back(call: HookCall, workspace: HookWorkspace, budget: int | None, room: int) -> bool:
    """Whether something that the last summary lost fits. It was lost from the window of the main
    thread."""
    return (
        room > 0
        and not call.sub_agent
        and bool(_that_fit(workspace.state(call.session).lost, budget, room)[0])
    )


def _lost(
    call: HookCall,
    workspace: HookWorkspace,
    session: Session,
    budget: int | None,
    room: int,
    *,
    beside: str = "",
) -> str:
    """Return what the last summary lost, once, charged by its bytes; lines that don't fit wait for
    the next event.

    *beside* is the rest of what is told.
    """
    state = workspace.state(call.session)
    most = _less(call.agent.answers.bytes, size(beside))
    budget = most if budget is None else budget if most is None else min(budget, most)
    if not _that_fit(state.lost, budget, room)[0]:
        return ""
    told, waiting = _that_fit(state.take_lost(), budget, room)
    session.spend(size(told))
    if waiting:
        state.lost = waiting
    return told


def _lost_alone(call: HookCall, workspace: HookWorkspace, dynamic: int | None, room: int) -> Answer:
    """Return what the last summary lost, where there is no store to charge and so nothing else is
    told.

    The compaction has renewed the session's total, so it holds unless the text alone is more than
    that.
    """
    if not workspace.state(call.session).lost:
        return NOTHING

    session = Session(**workspace.config.yours.section("session"))
    budget = session.budget(dynamic)
    if not _gives_back(call, workspace, budget, room):
        return NOTHING
    return Answer(preamble=_lost(call, workspace, session, budget, room))


def _that_fit(text: str, budget: int | None, room: int) -> tuple[str, str]:
    """Return the lines of *text* that fit, and those that don't, each below the first line, which
    is a heading."""

    def fits(text: str) -> bool:
        return len(text) <= room and (budget is None or size(text) <= budget)

    heading, *lines = [f"{line}\n" for line in text.split("\n") if line.strip()] or [""]
    told, waiting = heading, ""
    for line in lines:
        if fits(told + line):
            told += line
        else:
            waiting += line
    if not fits(told) or (lines and told == heading):
        return "", text
    return told, heading + waiting if waiting else ""


# Budgets ------------------------------------------------------------------------------------------


def max_chars(call: HookCall, workspace: HookWorkspace) -> int:
    """Return how many characters the client and the settings allow a text for the model at this
    event."""
    most, configured = (
        call.agent.answers.chars_at(call.event),
        workspace.config.yours["injection.max_chars"],
    )
    return most if configured is None else min(most, configured)


def size(text: str) -> int:
    """Return the charge for a line made up at run time: its bytes, since a token is never shorter
    than one."""
    return len(text.encode("utf-8", "replace"))


def _less(limit: int | None, taken: int) -> int | None:
    return None if limit is None else max(0, limit - taken)


# The situation ------------------------------------------------------------------------------------

LONGEST = 4_000
"""Characters at either end of a prompt or command that are looked at: a pasted log says nothing
about the task."""

OPEN, MOST_OPEN = "open", 5
"""Where the files of the last calls are kept for the next prompt, and how many."""

MOST_FILES = 20
"""Files of one call that are looked at."""


def situation(call: HookCall, workspace: HookWorkspace) -> Context:
    """Return what *call* and its workspace say: a prompt's words and open files, or a pending
    call's."""
    if call.event == "prompt" and call.human:
        return Context(
            **workspace.surroundings, prompt=_ends(call.prompt), open=_open_files(call, workspace)
        )
    if call.event in ("session_start", "prompt"):
        return Context(**workspace.surroundings)
    files = files_of(call)
    _keep_open(call, workspace, files)
    return Context(
        **workspace.surroundings,
        file=files,
        command=_ends(call.tool.command),
        written=written_by(call),
    )


def written_by(call: HookCall) -> str:
    """Return the text that a call writes into a file."""
    tool = call.tool
    if not tool.changes_files:
        return ""
    return _ends(tool.patch or tool.text)


def _keep_open(call: HookCall, workspace: HookWorkspace, files: list[str]) -> None:
    """Remember the files of a call for the next prompt."""
    if not files or not call.session or call.sub_agent:
        return
    state = workspace.state(call.session)
    known = _texts(state.kept(OPEN))
    if files[0] not in known:
        state.keep(OPEN, list(dict.fromkeys((*files, *known)))[:MOST_OPEN])


def _open_files(call: HookCall, workspace: HookWorkspace) -> list[str]:
    """Return the files that calls have used lately, and the one that the editor shows, if the
    client says."""
    found = _texts(workspace.state(call.session).kept(OPEN)) if call.session else []
    found += call.shown_files
    return found


def model_of(call: HookCall, workspace: HookWorkspace) -> str | None:
    """Return the model that the agent runs, as far as it is known; None means no model at all."""
    state = workspace.state(call.session)
    seen, named = state.usage, state.kept("model")
    known = (
        call.model,
        seen.model if seen is not None else "",
        named if isinstance(named, str) else "",
    )
    return next(
        filter(None, (*known, workspace.config.yours["model"], call.agent.counting_model)), None
    )


def files_of(call: HookCall) -> list[str]:
    """Return the files that a call reads or changes. A folder isn't one; a glob pattern stands for
    its files."""
    files = list(call.tool.files)
    if call.tool.kind == "search":
        files = [file for file in (*call.tool.patterns, *files) if language_of(file)]
    return [file for file in files if len(file) <= LONGEST][:MOST_FILES]


def _texts(value: object) -> list[str]:
    values = value if isinstance(value, list) else [value]
    return [text for text in values if isinstance(text, str) and 0 < len(text) <= LONGEST]


def _ends(text: str) -> str:
    return text if len(text) <= 2 * LONGEST else f"{text[:LONGEST]}\n{text[-LONGEST:]}"
