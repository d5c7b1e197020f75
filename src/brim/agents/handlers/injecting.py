"""Tells an agent what matters, within its budgets.

At the start of a session the budget is ``token_budget.default``; what is told is remembered and not charged. During the
work it is ``token_budget.dynamic_context``, and every token counts against the session's total. Whatever is told is
decided, charged and noted in one transaction, so that hooks at the same instant never tell more than they may.
"""

from __future__ import annotations

from brim.agents.answer import NOTHING, Answer
from brim.agents.handlers.attempting import attempt
from brim.agents.handlers.situation import model_of, situation

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brim.agents.call import HookCall
    from brim.agents.handlers.candidates import Candidates
    from brim.agents.place import Place
    from brim.injection.plan import InjectionPlan
    from brim.injection.session import Session

START = "token_budget.default"
DYNAMIC = "token_budget.dynamic_context"

HELD_BACK = (
    "brim held this call back once: the rules below are about it, and this window had not been shown them. "
    "Follow them, and make the call again if it is still right.\n"
)
"""What stands above the rules that a call is denied for."""

GATED = ("edit", "write", "shell")
"""The tools whose calls the gate may hold back."""

_RENEWED = "renewed"
"""What is kept of a session whose window began anew without a word: how. Nothing counts as told in it."""


def tell_at_start(call: HookCall, place: Place, how: str, lines: str = "") -> Answer:
    """Return what a session is told when it begins *how*: *lines*, charged by their bytes, and the rules of this place.

    ``startup``, ``clear`` and ``compact`` let everything be told again; ``resume`` does not.
    """
    _renew_later(call, place, how)
    budget, room = place.config[START], max_chars(call, place)
    if budget == 0 or room <= 0:
        return NOTHING
    if (budget is not None and size(lines) > budget) or len(lines) > room:
        lines = ""
    left, left_bytes = (_less(budget, size(lines)), room - len(lines)), _less(_most_bytes(call), size(lines))

    def rules(call: HookCall, place: Place) -> Answer:
        text = _rules_at_start(call, place, how, *left, max_bytes=left_bytes)
        _forget_renewal(call, place)
        return Answer(context=text)

    return Answer(first=lines, context=attempt(rules, call, place).context)


def _renew_later(call: HookCall, place: Place, how: str) -> None:
    """Keep that the window of *call* began anew, until the session's memory in the store knows it too."""
    if call.session and how != "resume":
        place.state(call.session).keep(_RENEWED, how)


def _forget_renewal(call: HookCall, place: Place) -> None:
    if call.session and place.state(call.session).kept(_RENEWED):
        place.state(call.session).keep(_RENEWED, None)


def _rules_at_start(
    call: HookCall, place: Place, how: str, budget: int | None, room: int, *, max_bytes: int | None
) -> str:
    if not place.has_stores:
        return ""
    from brim.agents.handlers.candidates import Candidates

    scopes, context, model = place.scopes, situation(call, place), model_of(call, place)
    if not call.session or scopes.user is None or scopes.user.readonly:  # nothing can be remembered: told all the same
        found = Candidates(place, context, model=model, session=None)
        plan = found.plan(budget, room, None, max_bytes=max_bytes)
        return "" if _is_too_much(plan, call, place, START) else found.text(plan)
    limits = place.config.section("session")
    seen = scopes.session_seen(call.session, call.sub_agent, **limits)
    seen.begin(how)
    found = Candidates(place, context, model=model, session=seen)
    with scopes.writing("user"), scopes.session(call.session, call.sub_agent, **limits) as session:
        session.begin(how)
        plan = found.plan(budget, room, session, max_bytes=max_bytes)
        if _is_too_much(plan, call, place, START):
            return ""
        session.record(plan)
        return found.text(plan, call.session, event=call.event, session=session)


def tell_now(call: HookCall, place: Place, *, new_prompt: bool = False, of_call: bool = False) -> Answer:
    """Return what an agent is told during its work: what matters and is due, and what its last summary lost.

    *new_prompt* says that a person typed one, which is counted whether anything is told or not. *of_call* says that it
    is about a call of a tool: what matches the call rises a tier, and the gate may hold it back before it is made.
    """
    dynamic, room = place.config[DYNAMIC], max_chars(call, place)
    gate = call.event == "before_tool" and call.tool_kind in GATED and place.config["hooks.gate"] is not None
    if dynamic == 0 or not call.session or not (room > 0 or gate or new_prompt):
        return NOTHING
    if not place.has_user_store:
        return _lost_alone(call, place, dynamic, room)
    scopes, limits = place.scopes, place.config.section("session")
    if scopes.user is None or scopes.user.readonly:  # what cannot be charged is not told
        return NOTHING
    seen = scopes.session_seen(call.session, call.sub_agent, **limits)
    how = "" if call.sub_agent else str(place.state(call.session).kept(_RENEWED) or "")
    seen.begin(how)
    if new_prompt:
        seen.next_prompt()
    budget = seen.budget(dynamic)
    found: Candidates | None = None
    if budget != 0 and (new_prompt or of_call) and (room > 0 or gate):
        from brim.agents.handlers.candidates import Candidates

        found = Candidates(place, situation(call, place), model=model_of(call, place), session=seen, of_call=of_call)
    lost = budget != 0 and _gives_back(call, place, budget, room)
    if not (found or lost):
        if new_prompt:
            with scopes.session(call.session, call.sub_agent, **limits) as session:
                session.next_prompt()
        return NOTHING
    with scopes.writing("user"), scopes.session(call.session, call.sub_agent, **limits) as session:
        session.begin(how)
        if new_prompt:
            session.next_prompt()
        deny = _held_back(call, place, found, session) if found and gate else ""
        budget = session.budget(dynamic)
        first, text, tokens = "", "", 0
        if found and room > 0 and not deny:
            text, tokens = _rules(call, place, found, session, budget=budget, room=room)
        if lost and not deny:
            first = _lost(call, place, session, _less(budget, tokens), room - len(text), beside=text)
    if how:
        _forget_renewal(call, place)
    return Answer(deny=deny, first=first, context=text)


def tell_with_result(call: HookCall, place: Place) -> Answer:
    """Return what is told with the result of a call to an agent that nothing reaches before one."""
    from brim.agents.clients import client_of

    if client_of(call.agent).max_chars("before_tool") > 0:
        return NOTHING
    return tell_now(call, place, of_call=True)


def _rules(
    call: HookCall, place: Place, found: Candidates, session: Session, *, budget: int | None, room: int
) -> tuple[str, int]:
    """Return the rules that fit, and the tokens that they took; charge and note them."""
    plan = found.plan(budget, room, session, max_bytes=_most_bytes(call))
    if _is_too_much(plan, call, place, DYNAMIC) or not plan.included:
        return "", 0
    session.charge(plan)
    return found.text(plan, call.session, event=call.event, session=session), int(plan.total_tokens)


def _held_back(call: HookCall, place: Place, found: Candidates, session: Session) -> str:
    """Return why the pending call is held back: constraints that it matches and that this window was never shown.

    What does not fit the budget is no reason: a call is never denied without saying why.
    """
    held = [id for id in found.matching if id not in session.shown]
    budget = _less(session.budget(place.config[DYNAMIC]), size(HELD_BACK))
    if not held or budget == 0:
        return ""
    from brim.agents.clients import client_of

    client, configured = client_of(call.agent), place.config["injection.max_chars"]
    room = (client.LONGEST if configured is None else min(client.LONGEST, configured)) - len(HELD_BACK)
    most = _less(client.MOST_BYTES, size(HELD_BACK))
    plan = found.plan(budget, max(0, room), session, only=held, max_bytes=most)
    if plan.over_budget or not plan.included:
        return ""
    session.charge(plan)
    session.spend(size(HELD_BACK))
    return HELD_BACK + found.text(plan, call.session, event="gate", session=session)


def _gives_back(call: HookCall, place: Place, budget: int | None, room: int) -> bool:
    """Whether something of what the last summary lost fits. It was lost from the window of the main thread."""
    return room > 0 and not call.sub_agent and bool(_that_fit(place.state(call.session).lost, budget, room)[0])


def _lost(call: HookCall, place: Place, session: Session, budget: int | None, room: int, *, beside: str = "") -> str:
    """Return what the last summary lost, once, charged by its bytes; lines that do not fit wait for the next event.

    *beside* is what is told besides.
    """
    state = place.state(call.session)
    most = _less(_most_bytes(call), size(beside))
    budget = most if budget is None else budget if most is None else min(budget, most)
    if not _that_fit(state.lost, budget, room)[0]:
        return ""
    told, waiting = _that_fit(state.take_lost(), budget, room)
    session.spend(size(told))
    if waiting:
        state.lost = waiting
    return told


def _lost_alone(call: HookCall, place: Place, dynamic: int | None, room: int) -> Answer:
    """Return what the last summary lost, where there is no store to charge it to, and so nothing else is told.

    The compaction has renewed the session's total: it holds unless the text alone is more than that.
    """
    if not place.state(call.session).lost:
        return NOTHING
    from brim.injection.session import Session

    session = Session(**place.config.section("session"))
    budget = session.budget(dynamic)
    if not session.renew_on_compaction or not _gives_back(call, place, budget, room):
        return NOTHING
    return Answer(first=_lost(call, place, session, budget, room))


def _that_fit(text: str, budget: int | None, room: int) -> tuple[str, str]:
    """Return the lines of *text* that fit, and those that do not. The first line is a heading: it stands above both."""
    heading, *lines = [f"{line}\n" for line in text.split("\n") if line.strip()] or [""]
    told, waiting = heading, ""
    for line in lines:
        if len(told + line) > room or (budget is not None and size(told + line) > budget):
            waiting += line
        else:
            told += line
    if len(told) > room or (budget is not None and size(told) > budget) or (lines and told == heading):
        return "", text
    return told, heading + waiting if waiting else ""


def max_chars(call: HookCall, place: Place) -> int:
    """Return how many characters the client and the settings let a text for the model have at this event."""
    from brim.agents.clients import client_of

    most, configured = client_of(call.agent).max_chars(call.event), place.config["injection.max_chars"]
    return most if configured is None else min(most, configured)


def _most_bytes(call: HookCall) -> int | None:
    from brim.agents.clients import client_of

    return client_of(call.agent).MOST_BYTES


def size(text: str) -> int:
    """Return what a line that is made up at run time is charged: its bytes, since a token is never less than one."""
    return len(text.encode("utf-8", "replace"))


def _less(limit: int | None, taken: int) -> int | None:
    return None if limit is None else max(0, limit - taken)


def _is_too_much(plan: InjectionPlan, call: HookCall, place: Place, key: str) -> bool:
    """Whether the constraints alone are over the budget. If it is the whole budget, the log says so once a session."""
    if plan.over_budget and plan.token_budget == place.config[key]:
        from brim.agents.log import log

        if not call.session or place.state(call.session).tell_once(f"over {key}"):
            log(place.environ, f"{key}: nothing was told: {'; '.join(plan.reasons)}", now=place.now)
    return plan.over_budget
