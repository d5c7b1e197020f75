"""Cost limits: who spends in a session, whether there is a limit, and what happens when it is reached.

At a limit the pending call is refused, the agent is told to stop, and the human how to lift the limit. Whether there is
a limit at all is one look at the ledger; what follows from one is imported only then.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from brim.hooks.event import Answer, HookCall
    from brim.hooks.state import HookWorkspace
    from brim.store.database import Database
    from brim.store.ledger import Scope
    from brim.workspace import Workspace

MAIN = "main"
"""The name of the main thread."""

NO_PROJECT = "no-project"
"""The project of sessions that are in none."""

PATIENT = 3
"""Calls that are refused before the turn is ended: the agent has been told how to end it itself."""

LIMITED, DENIED, PAYS = "limited", "denied", "pays"
"""Kept in a session's state: whether there is a limit, which calls were refused, and which project pays."""

_LONGEST = 80
_FIRST = 8
_UUID, _VERSION = 36, 14
_SIGNS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")
_COLUMNS = "scope, given, base, amount, is_default, state, warned, spent, reserved"


# Who spends -------------------------------------------------------------------------------------------------------
#
# A scope is ``project/session/agent``. A project has the name of its folder, so a person can write ``brim limit
# shop 10``. A session stays in the project that it began in: an agent that enters a folder with a ``.git`` or ``.brim``
# of its own is under the same limit as before. A session has the first eight characters of its id; Codex's ids begin
# with the time, so those of one minute would be the same, and their last eight are used. The main thread is ``main``, a
# sub-agent has its id.


def folder_scope(project: str | None) -> str:
    """Return the scope of the project in the folder *project*, None for no project."""
    return _name(os.path.basename(project or "") or NO_PROJECT, _LONGEST)


def project_scope(workspace: Workspace) -> str:
    """Return the scope of the project that *workspace* is in."""
    return folder_scope(workspace.project)


def payer(session: str, workspace: HookWorkspace) -> tuple[str, float | None]:
    """Return the scope of the project that *session* began in, and the limit in USD that the settings give it.

    In another project, the lower limit of both counts.
    """
    began, limit = _began_elsewhere(session, workspace), workspace.config["spend.limit"]
    if began is None:
        return project_scope(workspace), limit
    limits = [each for each in (began[1], limit) if isinstance(each, int | float)]
    return folder_scope(began[0]), min(limits, default=None)


def _began_elsewhere(session: str, workspace: HookWorkspace) -> list[Any] | None:
    """Return the project that *session* began in, and its limit; None if that is this one, or isn't known."""
    known = workspace.state(session).kept(PAYS) if session else None
    if not isinstance(known, list) or len(known) != 2 or not isinstance(known[0], str):
        return None
    return known if known[0] != workspace.project else None


def session_scope(session: str, workspace: HookWorkspace) -> str:
    """Return the scope of the session with the id *session*."""
    timed = len(session) == _UUID and session[_VERSION] == "7"
    return f"{payer(session, workspace)[0]}/{_name(session[-_FIRST:] if timed else session, _FIRST)}"


def agent_scope(session: str, workspace: HookWorkspace, agent: str = "") -> str:
    """Return the scope of *agent* in that session; empty is the main thread."""
    return f"{session_scope(session, workspace)}/{_name(agent or MAIN, _LONGEST)}"


def _name(text: str, longest: int) -> str:
    """Return *text* as a segment of a scope: every character that a segment can't have becomes ``-``."""
    made = "".join([sign if sign in _SIGNS else "-" for sign in text[:longest]])
    return made if made.strip(".") else f"-{made}"[:longest]


# Whether there is a limit -----------------------------------------------------------------------------------------


def user_database(workspace: HookWorkspace) -> Database | None:
    """Return the database with the user's ledger; None if nothing there yet."""
    return workspace.scopes.home.database if workspace.has_user_store else None


def default_limit(session: str, workspace: HookWorkspace) -> int | None:
    """Return the limit of a project that has none of its own, in micro-dollars; None is no limit."""
    limit = payer(session, workspace)[1]
    if limit is None:
        return None
    from brim.spend.money import micro_dollars

    return micro_dollars(repr(limit), up=False)


def may_be_limited(call: HookCall, workspace: HookWorkspace) -> bool:
    """Whether there may be a limit: as the last look found, or this one if it is the first."""
    known = workspace.state(call.session).kept(LIMITED)
    return known if type(known) is bool else look_for_limit(call, workspace)


def look_for_limit(call: HookCall, workspace: HookWorkspace) -> bool:
    """Look whether there may be a limit for *call*, in the ledger or for every project."""
    found = payer(call.session, workspace)[1] is not None or bool(_limit_rows(call, workspace, "1"))
    if call.session:
        workspace.state(call.session).keep(LIMITED, found)
        if workspace.project is not None and _began_elsewhere(call.session, workspace) is None:
            workspace.state(call.session).keep(PAYS, [workspace.project, workspace.config["spend.limit"]])
    return found


def _limit_rows(call: HookCall, workspace: HookWorkspace, columns: str) -> list[Any]:
    """Return the ledger's rows of the scopes of *call* that have a limit or were closed: mostly none.

    If every project has a limit, return the rows of all scopes of *call*.
    """
    database = None if workspace.only_injects or not call.session else user_database(workspace)
    if database is None:
        return []
    where = "" if payer(call.session, workspace)[1] is not None else "AND (amount IS NOT NULL OR state <> 'open')"
    sql = f"SELECT {columns} FROM spend_scopes WHERE scope IN (?, ?, ?) {where} ORDER BY scope"  # noqa: S608
    return database.rows(sql, _scopes_of(call, workspace))


def _scopes_of(call: HookCall, workspace: HookWorkspace) -> tuple[str, str, str]:
    id = call.session
    return payer(id, workspace)[0], session_scope(id, workspace), agent_scope(id, workspace, call.sub_agent)


def limited_scopes(call: HookCall, workspace: HookWorkspace) -> list[Scope]:
    """Return the scopes of *call* that have a limit or were closed, the project's first; mostly none."""
    default, database = default_limit(call.session, workspace), user_database(workspace)
    rows = _limit_rows(call, workspace, _COLUMNS)
    if database is None or workspace.only_injects or not call.session or not (rows or default is not None):
        return []
    from brim.spend.limits import Limit
    from brim.store.ledger import Scope, scope_of

    names = _scopes_of(call, workspace)
    found = {row[0]: scope_of(row, database.path) for row in rows}
    is_known = names[0] in found
    own = found.setdefault(names[0], Scope(names[0]))
    if own.is_default and own.limit.given != default:
        own.limit = own.limit.renewed(default) if is_known else Limit(default)
    limited = [found[name] for name in names if name in found]
    return [scope for scope in limited if scope.limit.amount is not None or scope.limit.state != "open"]


# What happens at a limit ------------------------------------------------------------------------------------------


def spend_gate(call: HookCall, workspace: HookWorkspace) -> Answer | None:
    """Return the refusal of the pending *call* if its money is spent; None lets it happen."""
    if not look_for_limit(call, workspace):
        return None
    scopes = limited_scopes(call, workspace)
    spent = next((scope for scope in scopes if is_spent(scope)), None)
    if spent is None:
        return _wrap_up(call, workspace, scopes)
    from brim.hooks.event import Answer

    denied = _count_refusal(call, workspace)
    note = limit_note(spent) if workspace.state(call.session).tell_once(limit_latch(spent)) else ""
    ends = spent.limit.state == "stopped" or denied > PATIENT
    return Answer(deny=_refusal(spent), note=note, stop_reason=f"{_status(spent)} {_commands(spent)}" if ends else "")


def forget_refusals(call: HookCall, workspace: HookWorkspace) -> None:
    """Forget the calls that were refused before: a new prompt gets its own chance to end well."""
    state = workspace.state(call.session)
    if state.kept(DENIED):
        state.keep(DENIED, [])


def is_spent(scope: Scope) -> bool:
    """Whether nothing more may be spent here; a wrap-up may use what is held back for it."""
    from brim.spend.limits import ASKED, WRAP_UP, WRAPPING_UP

    limit = scope.limit
    if limit.state == ASKED:
        return True
    return limit.room(scope.taken, WRAP_UP if limit.state == WRAPPING_UP else "") == 0


def limit_latch(scope: Scope) -> str:
    """Return the name of this limit's latch: a raised limit is another one."""
    return f"cost limit {scope.name} {scope.limit.amount} {scope.limit.state == 'stopped'}"


def limit_note(scope: Scope) -> str:
    """Return what the human is told at the limit: where it stands, and the commands that answer it."""
    return f"brim: {_status(scope)} Tools are refused until you answer: {_commands(scope)}"


def _count_refusal(call: HookCall, workspace: HookWorkspace) -> int:
    """Return how many calls were refused in this turn, including this one."""
    state = workspace.state(call.session)
    turn = str(call.data.get("prompt_id") or call.data.get("turn_id") or "")[:80]
    before = state.kept(DENIED)
    is_same = isinstance(before, list) and len(before) == 2 and before[0] == turn and type(before[1]) is int
    denied = int(before[1]) + 1 if is_same else 1
    state.keep(DENIED, [turn, denied])
    return denied


def _wrap_up(call: HookCall, workspace: HookWorkspace, scopes: list[Scope]) -> Answer | None:
    """Return the wrap-up prompt, once, if a person has asked for it; None otherwise."""
    if not scopes:
        return None
    forget_refusals(call, workspace)
    scope = next((each for each in scopes if each.limit.state == "wrapping_up"), None)
    if scope is None or not workspace.state(call.session).tell_once(f"wrap up {scope.name} {scope.limit.amount}"):
        return None
    from brim.hooks.event import Answer
    from brim.spend.limits import build_wrap_up_prompt

    held = scope.limit.room(scope.taken, "wrap_up") or 0
    return Answer(context=build_wrap_up_prompt(scope.spent, scope.limit.amount, held=held))


def _refusal(scope: Scope) -> str:
    return (
        f"{_status(scope)} No tool runs until a person answers. Wrap up now without tools: start nothing new, and say "
        "in a few lines what is done, what is not, what failed, and what the next step would be. "
        f"A person lifts the limit with: {_commands(scope)}"
    )


def _status(scope: Scope) -> str:
    from brim.spend.money import in_dollars

    limit = scope.limit
    of = "" if limit.amount is None else f" of {in_dollars(limit.amount)}"
    what = {"stopped": "was stopped", "closed": "is closed"}.get(limit.state, "has reached its cost limit")
    held = limit.amount - scope.spent if limit.amount is not None and limit.state in ("open", "asked") else 0
    rest = f", {in_dollars(held)} is held back for the wrap-up" if held > 0 else ""
    return f"{scope.name} {what}: {in_dollars(scope.spent)}{of} is spent{rest}."


def _commands(scope: Scope) -> str:
    """Return the commands that help here: a limit of nothing, or one that was ended, can't go up by a tenth."""
    if scope.limit.state in ("stopped", "wrapping_up") or scope.limit.base == 0:
        if scope.limit.amount is None:
            return f"brim limit {scope.name} none --anew"
        return f"brim limit raise {scope.name} USD"
    words = "continue|wrap-up|stop" if scope.limit.amount is None else "continue|raise|wrap-up|stop"
    return f"brim limit {words} {scope.name}" + (" (raise takes USD)" if "raise" in words else "")
