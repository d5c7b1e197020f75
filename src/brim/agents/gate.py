"""At the cost limit: the pending call is refused, the agent is told to stop, and the human how to lift the limit.

Whether there is a limit at all is one look at the ledger; what follows from it is imported only then.
"""

from __future__ import annotations

from brim.agents.due import DENIED, forget_refusals
from brim.agents.spenders import agent_scope, project_scope, session_scope

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brim.agents.answer import Answer
    from brim.agents.call import HookCall
    from brim.agents.place import Place
    from brim.store.books import Scope

PATIENT = 3
"""So many calls are refused before the turn is ended: the agent has the words to end it itself."""

_COLUMNS = "scope, given, base, amount, is_default, state, warned, spent, reserved"


def limited_scopes(call: HookCall, place: Place) -> list[Scope]:
    """Return the scopes of *call* that have a limit or were closed, the project's first; mostly there is none."""
    from brim.agents.user_ledger import default_limit, limit_rows, user_database

    default, database = default_limit(place), user_database(place)
    rows = limit_rows(call, place, _COLUMNS)
    if database is None or place.only_injects or not call.session or not (rows or default is not None):
        return []
    project = project_scope(place)
    names = (project, session_scope(call, place), agent_scope(call, place, call.sub_agent))
    from brim.spend.limits import Limit
    from brim.store.books import Scope, scope_of

    found = {row[0]: scope_of(row, database.path) for row in rows}
    own = found.setdefault(project, Scope(project))
    if own.is_default and own.limit.given != default:
        own.limit = own.limit.renewed(default) if project in {row[0] for row in rows} else Limit(default)
    return [found[name] for name in names if name in found and _is_limited(found[name])]


def spend_gate(call: HookCall, place: Place) -> Answer | None:
    """Return the refusal of the pending *call* if its money is spent; None lets it happen."""
    scopes = limited_scopes(call, place)
    spent = next((scope for scope in scopes if is_spent(scope)), None)
    if spent is None:
        return _wrapping(call, place, scopes)
    from brim.agents.answer import Answer

    state = place.state(call.session)
    denied = _count(call, place)
    note = limit_note(spent) if state.tell_once(limit_latch(spent)) else ""
    ends = spent.limit.state == "stopped" or denied > PATIENT
    return Answer(deny=_refusal(spent), note=note, stop_reason=_stop(spent) if ends else "")


def limit_latch(scope: Scope) -> str:
    """Return the name of the latch of this limit: a limit that was raised is another one."""
    return f"cost limit {scope.name} {scope.limit.amount} {scope.limit.state == 'stopped'}"


def limit_note(scope: Scope) -> str:
    """Return what the human is told at the limit: how it stands, and the commands that answer it."""
    return f"brim: {_stands(scope)} Tools are refused until you answer: {_answers(scope)}"


def _count(call: HookCall, place: Place) -> int:
    """Return how many calls were refused in this turn, this one included."""
    state = place.state(call.session)
    turn = str(call.data.get("prompt_id") or call.data.get("turn_id") or "")[:80]
    before = state.kept(DENIED)
    is_same = isinstance(before, list) and len(before) == 2 and before[0] == turn and type(before[1]) is int
    denied = before[1] + 1 if is_same else 1
    state.keep(DENIED, [turn, denied])
    return int(denied)


def _is_limited(scope: Scope) -> bool:
    return scope.limit.amount is not None or scope.limit.state != "open"


def is_spent(scope: Scope) -> bool:
    """Whether nothing more may be spent here; what is wrapped up may take what is held back for that."""
    from brim.spend.limits import ASKED, WRAP_UP, WRAPPING_UP

    limit = scope.limit
    if limit.state == ASKED:
        return True
    return limit.room(scope.taken, WRAP_UP if limit.state == WRAPPING_UP else "") == 0


def _wrapping(call: HookCall, place: Place, scopes: list[Scope]) -> Answer | None:
    """Return the wrap-up prompt, once, if a person has asked for that; None otherwise."""
    if not scopes:
        return None
    forget_refusals(call, place)
    state = place.state(call.session)
    scope = next((each for each in scopes if each.limit.state == "wrapping_up"), None)
    if scope is None or not state.tell_once(f"wrap up {scope.name} {scope.limit.amount}"):
        return None
    from brim.agents.answer import Answer
    from brim.spend.limits import build_wrap_up_prompt

    held = scope.limit.room(scope.taken, "wrap_up") or 0
    return Answer(context=build_wrap_up_prompt(scope.spent, scope.limit.amount, held=held))


def _refusal(scope: Scope) -> str:
    return (
        f"{_stands(scope)} No tool runs until a person answers. Wrap up now without tools: start nothing new, and say "
        "in a few lines what is done, what is not, what failed, and what the next step would be. "
        f"A person lifts the limit with: {_answers(scope)}"
    )


def _stop(scope: Scope) -> str:
    return f"{_stands(scope)} {_answers(scope)}"


def _stands(scope: Scope) -> str:
    from brim.spend.money import in_dollars

    limit = scope.limit
    of = "" if limit.amount is None else f" of {in_dollars(limit.amount)}"
    what = {"stopped": "was stopped", "closed": "is closed"}.get(limit.state, "has reached its cost limit")
    held = limit.amount - scope.spent if limit.amount is not None and limit.state in ("open", "asked") else 0
    rest = f", {in_dollars(held)} is held back for the wrap-up" if held > 0 else ""
    return f"{scope.name} {what}: {in_dollars(scope.spent)}{of} is spent{rest}."


def _answers(scope: Scope) -> str:
    """Return the commands that help here: of nothing, and of what was ended, there is no tenth more to have."""
    if scope.limit.state in ("stopped", "wrapping_up") or scope.limit.base == 0:
        if scope.limit.amount is None:
            return f"brim spend limit {scope.name} none --anew"
        return f"brim spend raise {scope.name} USD"
    words = "continue|wrap-up|stop" if scope.limit.amount is None else "continue|raise|wrap-up|stop"
    return f"brim spend {words} {scope.name}" + (" (raise takes USD)" if "raise" in words else "")
