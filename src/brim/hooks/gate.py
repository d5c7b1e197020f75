"""Cost limits: who spends in a session, whether there is a limit, and what happens when it is
reached.

At a limit the pending call is refused, the agent is told to stop, and the human how to lift the
limit. Whether there is a limit at all is one look at the ledger; what follows from one is imported
only then, and said in ``limit_words``.
"""

from __future__ import annotations

from typing import Any

from brim.agents.call import Answer, HookCall
from brim.hooks.limit_words import commands, limit_note, refusal, status
from brim.hooks.state import HookWorkspace
from brim.spend.limits import ASKED, WRAP_UP, WRAPPING_UP, Limit, build_wrap_up_prompt
from brim.spend.money import micro_dollars
from brim.spend.periods import Allowance, plan_limits
from brim.store.books import LIMIT_COLUMNS, Books, Scope, allowance_of, scope_of
from brim.store.database import Database
from brim.store.project import scope_at, segment

MAIN = "main"
"""The name of the main thread."""

PATIENT = 3
"""Calls that are refused before the turn is ended: the agent has been told how to end it itself."""

LIMITED, DENIED, PAYS = "limited", "denied", "pays"
"""Kept in a session's state: whether there is a limit, which calls were refused, and which project
pays."""

_FIRST = 8
_UUID, _VERSION = 36, 14
_COLUMNS = "scope, given, base, amount, is_default, state, warned, spent, reserved"
_HOLDS = "state <> 'open' OR spent + reserved >= amount - min(base / 20, 500000)"
"""Whether a limit may hold a call, before anything is imported: see
``brim.spend.limits.Limit.held``."""
_WAS_LATER = (
    "EXISTS (SELECT 1 FROM spend_answers AS noted WHERE noted.scope = spend_limits.scope AND answer = 'set back' "
    "AND noted.amount >= ends)"
)
"""Whether the clock was set back from a later period: then that one may have sums already."""
_LIMITS = "FROM spend_limits WHERE scope IN ('*', ?1, ?2, ?3)"


# Who spends ---------------------------------------------------------------------------------------
#
# A scope is ``project/session/agent``. A project goes by its place and has the name of its folder,
# so a person can write ``brim limit shop 10/day``. A session stays in the project that it began in:
# an agent that enters a folder with a ``.git`` or ``.brim`` of its own is under the same limit as
# before. A session has the first eight characters of its id; Codex's ids begin with the time, so
# those of one minute would be the same, and their last eight are used. The main thread is ``main``,
# a sub-agent has its id.


def payer(
    session: str, workspace: HookWorkspace, database: Database | None = None
) -> tuple[str, float | None]:
    """Return the scope of the project that *session* began in, and the limit in USD that the
    settings give it.

    In another project, the lower limit of both counts. *database* is the user's, if it is open
    already.
    """
    began, limit = _began_elsewhere(session, workspace), workspace.config["spend.limit"]
    if began is None:
        return workspace.ledger_scope if database is None else scope_at(
            database, workspace.place
        ), limit
    limits = [each for each in (began[1], limit) if isinstance(each, int | float)]
    return scope_at(database or workspace.user_database, began[0]), min(limits, default=None)


def payer_place(session: str, workspace: HookWorkspace) -> str:
    """Return the place of the project that *session* began in."""
    began = _began_elsewhere(session, workspace)
    return workspace.place if began is None else began[0]


def _began_elsewhere(session: str, workspace: HookWorkspace) -> list[Any] | None:
    """Return the place that *session* began in, and its limit; None if that is this one, or isn't
    known."""
    known = workspace.state(session).kept(PAYS) if session else None
    if not isinstance(known, list) or len(known) != 2 or not isinstance(known[0], str):
        return None
    return known if known[0] != workspace.place else None


def session_scope(session: str, project: str) -> str:
    """Return the scope of the session with the id *session* in the scope *project*."""
    timed = len(session) == _UUID and session[_VERSION] == "7"
    return f"{project}/{segment(session[-_FIRST:] if timed else session, _FIRST)}"


def agent_scope(session: str, project: str, agent: str = "") -> str:
    """Return the scope of *agent* in that session; empty is the main thread."""
    return f"{session_scope(session, project)}/{segment(agent or MAIN)}"


# Whether there is a limit -------------------------------------------------------------------------


def default_limit(session: str, workspace: HookWorkspace) -> int | None:
    """Return the limit of a project that has none of its own, in micro-dollars; None means no
    limit."""
    limit = payer(session, workspace)[1]
    if limit is None:
        return None

    return micro_dollars(repr(limit), up=False)


def may_be_limited(call: HookCall, workspace: HookWorkspace) -> bool:
    """Whether there may be a limit: as the last look found, or this one if it is the first."""
    known = workspace.state(call.session).kept(LIMITED)
    return known if type(known) is bool else look_for_limit(call, workspace)


def look_for_limit(call: HookCall, workspace: HookWorkspace) -> bool:
    """Look whether there may be a limit for *call*, in the ledger or for every project, and
    remember it."""
    return _remember(call, workspace, _look(call, workspace))[0]


def _remember(
    call: HookCall, workspace: HookWorkspace, looked: tuple[bool, bool]
) -> tuple[bool, bool]:
    """Keep what a look has found, and which project pays; return what it found."""
    if call.session:
        state = workspace.state(call.session)
        state.keep(LIMITED, looked[0])
        if workspace.place and _began_elsewhere(call.session, workspace) is None:
            state.keep(PAYS, [workspace.place, workspace.config["spend.limit"]])
    return looked


def _look(call: HookCall, workspace: HookWorkspace) -> tuple[bool, bool]:
    """Return whether there may be a limit for *call*, and whether one may hold it: one look at the
    ledger."""
    by_default = payer(call.session, workspace)[1] is not None
    database = None if workspace.only_injects or not call.session else workspace.user_database
    rows = []
    if database is not None:
        values: tuple[object, ...] = _scopes_of(call, workspace)
        sql = f"SELECT {_HOLDS} FROM spend_scopes {_limited(by_default)}"  # noqa: S608 - conditions without values
        holds = f"CASE WHEN ends <= ?4 THEN {_WAS_LATER} ELSE {_HOLDS} OR starts > ?4 OR unit = 'percent' END"
        sql += f" UNION ALL SELECT {holds} {_LIMITS}"
        values = (*values, workspace.now)
        rows = database.rows(sql, values)
    return by_default or bool(rows), by_default or any(row[0] for row in rows)


def _limited(by_default: bool) -> str:
    """Return the condition for the scopes of a call that have a limit or were closed; for all if
    every project has."""
    where = "" if by_default else " AND (amount IS NOT NULL OR state <> 'open')"
    return f"WHERE scope IN (?1, ?2, ?3){where}"


def _scopes_of(call: HookCall, workspace: HookWorkspace) -> tuple[str, str, str]:
    id, project = call.session, payer(call.session, workspace)[0]
    return project, session_scope(id, project), agent_scope(id, project, call.sub_agent)


def limits_of(call: HookCall, workspace: HookWorkspace) -> list[Scope | Allowance]:
    """Return the limits that *call* is under, and the scopes that were closed, the project's first;
    mostly none."""
    default = default_limit(call.session, workspace)
    database = None if workspace.only_injects or not call.session else workspace.user_database
    if database is None or not _look(call, workspace)[0]:
        return []

    names = _scopes_of(call, workspace)
    query = f"SELECT {_COLUMNS} FROM spend_scopes {_limited(default is not None)}"  # noqa: S608
    rows = database.rows(query, names)
    found = {row[0]: scope_of(row, database.path) for row in rows}
    is_known = names[0] in found
    own = found.setdefault(names[0], Scope(names[0]))
    if own.is_default and own.limit.given != default:
        own.limit = own.limit.renewed(default) if is_known else Limit(default)
    scopes = [found[name] for name in names if name in found]
    limited: list[Scope | Allowance] = [
        scope for scope in scopes if scope.limit.amount is not None or scope.limit.state != "open"
    ]
    rows = database.rows(f"SELECT {LIMIT_COLUMNS} {_LIMITS}", names)
    kept = [allowance_of(row, database.path) for row in rows]
    return limited + _allowances(kept, Books(database, workspace.now, 0), call, workspace, names)


def _allowances(
    kept: list[Allowance],
    books: Books,
    call: HookCall,
    workspace: HookWorkspace,
    names: tuple[str, str, str],
) -> list[Allowance]:
    """Return the limits per period as they stand now, with the limits of a session that has spent
    nothing yet."""
    kinds = {(each.period, each.unit) for each in kept if not each.is_pattern}
    found = []
    for each in kept:
        if each.unit == "percent":
            found += plan_limits(
                each, call.agent.name, workspace.home, workspace.environ, workspace.now
            )
        elif not each.is_pattern:
            found.append(books.standing(each) if books.was_set_back(each) else each.seen(books.now))
        elif (each.period, each.unit) not in kinds and (each.period == "session" or call.sub_agent):
            found.append(each.of(names[1] if each.period == "session" else names[2]))
    return found


# What happens at a limit --------------------------------------------------------------------------


def spend_gate(call: HookCall, workspace: HookWorkspace) -> Answer | None:
    """Return the refusal of the pending *call* if its money is spent; None lets it happen."""
    is_limited, may_hold = _remember(call, workspace, _look(call, workspace))
    if not may_hold:
        if is_limited:
            forget_refusals(call, workspace)
        return None
    limits = limits_of(call, workspace)
    spent = next(iter(spent_of(limits)), None)
    if spent is None:
        return _wrap_up(call, workspace, limits)

    denied = _count_refusal(call, workspace)
    is_new = workspace.state(call.session).tell_once(limit_latch(spent))
    note = limit_note(spent, workspace) if is_new else ""
    if is_new and spent.unit == "percent":
        from brim.hooks.settlement import tell_of_plan

        tell_of_plan(spent, workspace, reached=True)
    ends = spent.limit.state == "stopped" or denied > PATIENT
    reason = "\n".join([status(spent, workspace.now), *commands(spent, workspace)]) if ends else ""
    return Answer(deny=refusal(spent, workspace.now), note=note, stop_reason=reason)


def forget_refusals(call: HookCall, workspace: HookWorkspace) -> None:
    """Forget the calls that were refused before: a new prompt gets its own chance to end well."""
    state = workspace.state(call.session)
    if state.kept(DENIED):
        state.keep(DENIED, [])


def spent_of(limits: list[Scope | Allowance]) -> list[Scope | Allowance]:
    """Return the limits under which nothing more may be spent; a wrap-up may use what is held back
    for it."""

    ending = any(each.limit.state == WRAPPING_UP for each in limits)
    found = []
    for each in limits:
        limit = each.limit
        if each.unit == "percent":
            is_spent = each.spent >= (limit.amount or 0)
        elif limit.state == ASKED and not ending:
            is_spent = True
        else:
            is_spent = limit.room(each.taken, WRAP_UP if ending else "", ending=ending) == 0
        found += [each] if is_spent else []
    return found


def limit_latch(about: Scope | Allowance) -> str:
    """Return the name of this limit's latch: a raised limit is another one, and so is the next
    period's."""
    ends = about.ends
    if (
        ends and about.unit == "percent"
    ):  # clients round it: the same window may end a few seconds later
        ends //= 60 * int(about.period[:-1])
    period = f" {about.period} {about.unit} {ends}" if ends or about.unit != "usd" else ""
    return f"cost limit {about.scope} {about.limit.amount} {about.limit.state in ('stopped', 'wrapping_up')}{period}"


def _count_refusal(call: HookCall, workspace: HookWorkspace) -> int:
    """Return how many calls were refused in this turn, including this one."""
    state = workspace.state(call.session)
    turn = call.turn[:80]
    before = state.kept(DENIED)
    is_same = (
        isinstance(before, list)
        and len(before) == 2
        and before[0] == turn
        and type(before[1]) is int
    )
    denied = int(before[1]) + 1 if is_same else 1
    state.keep(DENIED, [turn, denied])
    return denied


def _wrap_up(
    call: HookCall, workspace: HookWorkspace, limits: list[Scope | Allowance]
) -> Answer | None:
    """Return the wrap-up prompt, once, if a person has asked for it; None otherwise."""
    if not limits:
        return None
    forget_refusals(call, workspace)
    scope = next((each for each in limits if each.limit.state == "wrapping_up"), None)
    if scope is None or not workspace.state(call.session).tell_once(
        f"wrap up {scope.name} {scope.limit.amount}"
    ):
        return None

    rooms = [
        each.limit.room(each.taken, "wrap_up", ending=True) for each in limits if each.unit == "usd"
    ]
    held = min((room for room in rooms if room is not None), default=0)
    return Answer(context=build_wrap_up_prompt(scope.spent, scope.limit.amount, held=held))
