"""``brim limit``: limits, and what is spent under them."""

from __future__ import annotations

import os
from argparse import Namespace
from contextlib import suppress
from dataclasses import dataclass
from difflib import get_close_matches

from brim.cli.asking import need_person
from brim.cli.limit_views import STATES, project_table, scope_table
from brim.cli.options import add_json, command, here, option, whole_number
from brim.cli.output import dollars, emit, home_path, note
from brim.errors import BrimError, InputError
from brim.spend.ledger import ScopeStatus
from brim.spend.limits import build_wrap_up_prompt
from brim.spend.money import limit_in
from brim.spend.periods import EVERYWHERE, SPANS, read_ceiling
from brim.store.limits import LimitRow, Limits, ProjectRow
from brim.workspace import Workspace

ANSWERS = ("continue", "raise", "wrap-up", "stop")
UNLIMITED = ("none", "unlimited")
NOT_FINITE = ("nan", "inf", "infinity")
USAGE = (
    "write it as: brim limit [PROJECT] 5/day, brim limit raise [PROJECT] 8/day,"
    " or brim limit remove [PROJECT]"
)
MOST_SHOWN = 200
MOST_WRITTEN = 10_000
MOST = option(
    "--most",
    type=whole_number(1),
    metavar="N",
    help=f"scopes to show (default: {MOST_SHOWN}; with --json 10,000)",
)


@dataclass(frozen=True)
class LimitWords:
    """What a person typed after ``brim limit``."""

    action: str
    """One of ``ANSWERS``, ``remove``, or nothing: then limits are set or shown."""
    project: str
    limits: tuple[str, ...]


def complete_scope(prefix: str, **_: object) -> list[str]:
    """Return the known scopes that begin with what was typed."""
    with suppress(BrimError):
        workspace = here()
        if os.path.exists(workspace.database):
            with workspace.open_limits() as limits:
                statuses, _more = limits.statuses(prefix.rpartition("/")[0], limit=MOST_WRITTEN)
            return [status.scope for status in statuses if status.scope.startswith(prefix)]
    return []


@command(
    option(
        "words",
        nargs="*",
        metavar="[PROJECT] [LIMIT ...]",
        help="whose limit, and what",
        completer=complete_scope,
    ),
    option(
        "--all",
        action="store_true",
        dest="everywhere",
        help="everything on this machine, not one project",
    ),
    option("--subagent", action="store_true", help="the limit is for each sub-agent"),
    option(
        "--including-past",
        action="store_true",
        help="also count what was spent before, in this period or ever",
    ),
    option("--sessions", action="store_true", help="also show sessions, agents and reservations"),
    option(
        "--store",
        metavar="URL",
        default="",
        help="the limits of many machines, in PostgreSQL: postgresql://...",
    ),
    MOST,
    add_json,
)
def limit(options: Namespace) -> int:
    """Limit what agents may spend, and see what is spent.

    A limit is for this project, for the one you name (by name or path), or with --all for
    everything on this machine. It's in dollars, in tokens, or in percent of a subscription's
    window, per day, week, month, session, or over all time. It counts from now, and you can set
    several. brim warns at 80%, and refuses the agent's tool calls at the limit.

      brim limit [PROJECT] LIMIT ...        set limits: 5/day 20/week 100/month 2/session 50 "2M tokens/day" 90%/5h
      brim limit remove [PROJECT] [LIMIT]   remove one of them, or all

    When a limit is reached, decide:

      brim limit continue [PROJECT]         go on once, with a tenth more; also undoes a stop
      brim limit raise [PROJECT] LIMIT      set this limit from now on
      brim limit wrap-up [PROJECT]          allow only the wrap-up, from the part kept for it
      brim limit stop [PROJECT]             allow no more spending

    With --store, limits are for programs that reserve money in that PostgreSQL server (brim.Guard,
    open_ledger). PROJECT is a scope there (default: the setting project.id, or this repository's
    remote). Hooks of coding agents don't use that server: they follow the limits that are set
    without --store.

    Examples:
      brim limit 5/day 20/week
      brim limit --all 100/month
      brim limit --subagent 200k tokens
      brim limit raise 8/day
      brim limit --store postgresql://brim@db.example.org/money shop 500/month
    """
    words = _read(options)
    workspace = here()
    _check_store(options.store)
    if not words.action and not words.limits:
        return _show(workspace, words.project, options)
    with workspace.open_limits(store=options.store) as limits:
        project = words.project
        if options.everywhere:
            project = EVERYWHERE
        scope = _scope(limits, project, words.action)
        if words.action == "remove":
            return _remove(limits, scope, words, options)
        if words.action:
            return _answer(limits, scope, words, options)
        return _set(limits, scope, words, options)


def _check_store(store: str) -> None:
    if store and "://" not in store and not os.path.exists(store):
        raise InputError(
            f"--store {store[:80]}: isn't an address: write postgresql://USER@HOST/DATABASE"
        )


def _scope(limits: Limits, name: str, action: str = "", *, known: bool = False) -> str:
    """Return the scope that *name* means; an action may have been mistyped."""
    try:
        return limits.scope(name, known=known or bool(action))
    except InputError:
        actions = get_close_matches(name, (*ANSWERS, "remove"), 1, cutoff=0.8)
        if actions and not action:
            raise InputError(f"did you mean 'brim limit {actions[0]}'?") from None
        raise


# Reading what was typed ---------------------------------------------------------------------------


def _read(options: Namespace) -> LimitWords:
    words = list(options.words)
    action = ""
    if words and words[0] in (*ANSWERS, "remove"):
        action = words.pop(0)
    limits = _join_units(words)
    project = ""
    if limits and not _is_limit(limits[0], action):
        project = limits.pop(0)
    if project and options.everywhere:
        raise InputError("name a project, or give --all, not both")
    if not action and limits and limits[0].lower() in UNLIMITED:
        return LimitWords("remove", project, ())
    return LimitWords(action, project, tuple(limits))


def _join_units(words: list[str]) -> list[str]:
    """Return *words*, in which "2M tokens/day" may have come as two."""
    joined: list[str] = []
    for word in words:
        unit = word.lower().partition("/")[0]
        if joined and unit in ("token", "tokens"):
            joined[-1] = f"{joined[-1]} {word}"
        else:
            joined.append(word)
    return joined


def _is_limit(word: str, action: str) -> bool:
    """Whether *word* is meant as a limit, right or wrong, and not as the name of a project."""
    lower = word.lower()
    if lower in UNLIMITED or lower in NOT_FINITE:
        return True
    if action == "remove" and lower in SPANS:
        return True
    with suppress(InputError):
        return bool(read_ceiling(word))
    amount, _, period = lower.rpartition("/")
    if amount and period in SPANS[:4] and not os.path.isdir(word):
        return True
    return word[:1] in tuple("$-+0123456789")


# Changing -----------------------------------------------------------------------------------------


def _set(limits: Limits, scope: str, words: LimitWords, options: Namespace) -> int:
    ceilings = [read_ceiling(text, subagent=options.subagent) for text in words.limits]
    if limits.loosens(scope, ceilings, including_past=options.including_past):
        need_person("sets a limit that leaves more than the one there is")
    rows = limits.set(scope, ceilings, including_past=options.including_past)
    if scope != EVERYWHERE and not options.including_past and not all(row.each for row in rows):
        spent = limits.ledger.status(scope).spent
        if spent:
            note(
                "it counts from now. --including-past also counts what was spent before"
                f" ({dollars(spent, up=True)} in all)"
            )
    return _emit_limits(limits, scope, rows, "", options)


def _remove(limits: Limits, scope: str, words: LimitWords, options: Namespace) -> int:
    need_person("decides about a limit that is set")
    removed = limits.remove(scope, list(words.limits))
    texts = ", ".join(row.limit for row in removed)
    view = "There is no limit here."
    if removed:
        view = f"Removed from {home_path(limits.name(scope))}: {texts}"
    return emit({"removed": [row.to_dict() for row in removed]}, view, options.as_json)


def _answer(limits: Limits, scope: str, words: LimitWords, options: Namespace) -> int:
    if words.action != "stop":
        need_person("decides about a limit that is set")
    ceilings = [read_ceiling(text, subagent=options.subagent) for text in words.limits]
    if words.action == "raise" and len(ceilings) == 1:
        rows = limits.answer(scope, "raise", ceilings[0])
    elif words.action != "raise" and not ceilings:
        rows = limits.answer(scope, words.action.replace("-", "_"))
    else:
        raise InputError(USAGE)
    return _emit_limits(limits, scope, rows, words.action, options)


def _emit_limits(
    limits: Limits, scope: str, rows: list[LimitRow], action: str, options: Namespace
) -> int:
    """Print the limits of *scope* as they stand after *action*."""
    now = here().now
    result: dict[str, object] = {"scope": scope, "limits": [row.to_dict() for row in rows]}
    name = home_path(limits.name(scope))
    lines = [f"{name}: {row.sentence(now)}" for row in rows]
    if not lines:
        lines = [f"{name}: no limit"]
    if scope == EVERYWHERE:
        return emit(result, "\n".join(lines), options.as_json)
    status = limits.ledger.status(scope)
    result |= status.to_dict()
    if action in ("stop", "wrap-up"):
        lines.append(f"{name}: {STATES.get(status.state) or 'open'}")
    if action == "wrap-up":
        prompt = build_wrap_up_prompt(status.spent, status.limit, held=status.left or 0)
        result["prompt"] = prompt
        lines += ["", prompt]
    return emit(result, "\n".join(lines), options.as_json)


# Showing ------------------------------------------------------------------------------------------


def _show(workspace: Workspace, name: str, options: Namespace) -> int:
    if options.subagent or options.including_past:
        raise InputError(USAGE)
    projects: list[ProjectRow] = []
    scopes: list[ScopeStatus] = []
    hidden = 0
    if options.store or os.path.exists(workspace.database):
        with workspace.open_limits(store=options.store) as limits:
            under = _shown_scope(limits, name, options)
            projects = limits.projects(under.partition("/")[0])
            if options.as_json or options.sessions or (name and not options.everywhere):
                scopes, hidden = _scopes(limits, under, options)
    elif name:
        raise InputError(f'No project is called "{name[:80]}": nothing was spent yet.')
    result: dict[str, object] = {
        "projects": [project.to_dict() for project in projects],
        "scopes": [status.to_dict() for status in scopes],
    }
    hint = ""
    if hidden:
        result["more"] = hidden
        hint = f"{hidden:,} more: --most {len(scopes) + hidden} shows all"
    view = _tables(projects, scopes, workspace.now)
    empty = f"nothing counted{_usual_limit(workspace, options)}"
    return emit(result, view, options.as_json, hint, empty=empty)


def _shown_scope(limits: Limits, name: str, options: Namespace) -> str:
    if options.everywhere:
        return EVERYWHERE
    if not name:
        return ""
    return _scope(limits, name, known=True)


def _scopes(limits: Limits, under: str, options: Namespace) -> tuple[list[ScopeStatus], int]:
    """Return the scopes that are shown, and how many more there are."""
    limit = MOST_SHOWN
    if options.as_json:
        limit = MOST_WRITTEN
    if under == EVERYWHERE:
        under = ""
    return limits.statuses(under, limit=options.most or limit)


def _tables(projects: list[ProjectRow], scopes: list[ScopeStatus], now: float) -> str:
    tables = []
    if projects:
        tables.append(project_table(projects, now))
    sessions = [status for status in scopes if "/" in status.scope]
    if sessions:
        tables.append(scope_table(sessions))
    return "\n\n".join(tables)


def _usual_limit(workspace: Workspace, options: Namespace) -> str:
    """Return which limit holds while nothing is counted, and how to set one."""
    hint = "brim limit 5/day sets a limit of $5.00 per day for this project"
    default = None
    if not options.store:
        default = limit_in(workspace.config["spend.limit"])
    if default is None:
        return f" and no limit yet: {hint}"
    return f" yet; spend.limit allows each project {dollars(default)} in all: {hint}"
