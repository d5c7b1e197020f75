"""``brim limit``: limits, and what is spent under them."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Callable
from contextlib import suppress
from difflib import get_close_matches

from brim.cli.options import (
    add_json,
    command,
    here,
    need_person,
    option,
    whole_number,
)
from brim.cli.output import (
    age,
    dollars,
    emit,
    heading,
    home_path,
    note,
    paint,
    symbols,
    table,
)
from brim.errors import BrimError, InputError
from brim.hooks.limit_words import clock
from brim.install.status import limits_of
from brim.spend.ledger import ScopeStatus, lineage
from brim.spend.limits import Limit, build_wrap_up_prompt
from brim.spend.money import limit_in
from brim.spend.periods import EVERYWHERE, FRESH, PERCENT, SPANS, read_ceiling
from brim.store.ledger import StoredLedger
from brim.store.limits import LimitRow, Limits, ProjectRow
from brim.tracking.notices import Notice
from brim.workspace import Workspace

ANSWERS = ("continue", "raise", "wrap-up", "stop")
UNLIMITED = ("none", "unlimited")
BAR = 16
"""Columns of a bar."""
STATES = {
    "open": "",
    "asked": "limit reached",
    "unfit": "asked: a request did not fit",
    "wrapping_up": "wrap-up",
    "stopped": "stopped",
}
"""What a state is called; ``unfit`` is ``asked`` while there is still room."""
WRITE_IT = "write it as: brim limit [PROJECT] 5/day, brim limit raise [PROJECT] 8/day, or brim limit remove [PROJECT]"
MOST_SHOWN, MOST_WRITTEN = 200, 10_000
MOST = option(
    "--most",
    type=whole_number(1),
    metavar="N",
    help=f"scopes to show (default: {MOST_SHOWN}; with --json 10,000)",
)


class Money:
    """The user's ledger or the one at *store*, with the settings in force; its warnings are kept in
    ``notices``."""

    def __init__(self, *, clock: Callable[[], float] | None = None, store: str = "") -> None:
        self.workspace: Workspace = here()
        self.config = self.workspace.config
        self.is_shared = bool(store)
        if store and "://" not in store and not os.path.exists(store):
            raise InputError(
                f"--store {store[:80]}: isn't an address: write postgresql://USER@HOST/DATABASE"
            )
        self.ledger: StoredLedger = self.workspace.open_ledger(clock, store=store)
        self.notices: list[Notice] = []
        self.ledger.subscribe(self.notices.append)

    @property
    def default(self) -> int | None:
        """The limit of a project that has none of its own: the setting ``spend.limit``, on this
        machine."""
        return None if self.is_shared else limit_in(self.config["spend.limit"])

    @property
    def limits(self) -> Limits:
        """The limits in the ledger, as people name and see them."""
        shared = self.workspace.shared_name if self.is_shared else None
        return limits_of(self.workspace, self.ledger, shared=shared)

    def apply_default(self, scope: str) -> None:
        """Limit the project of *scope* by the setting ``spend.limit``, unless it has a limit of its
        own."""
        if not self.ledger.database.readonly:
            self.ledger.limit(lineage(scope)[0], self.default, default=True)

    def scopes(self, under: str, options: Namespace) -> tuple[list[ScopeStatus], int]:
        """Return how the first scopes stand, under the settings of this place, and how many more
        there are."""
        most = options.most or (MOST_WRITTEN if options.as_json else MOST_SHOWN)
        found = self.ledger.statuses(under, default=Limit(self.default), most=most)
        return found, self.ledger.count(under) - len(found) if len(found) == most else 0

    def __enter__(self) -> Money:
        return self

    def __exit__(self, *_: object) -> None:
        self.ledger.close()


def complete_scope(prefix: str, **_: object) -> list[str]:
    """Return the known scopes that begin with what was typed."""
    with suppress(BrimError):
        if os.path.exists(here().database):
            with Money() as money:
                statuses = money.ledger.statuses(prefix.rpartition("/")[0], most=MOST_WRITTEN)
                return [status.scope for status in statuses if status.scope.startswith(prefix)]
    return []


# Limits -------------------------------------------------------------------------------------------


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
    action, name, limits = _read(options)
    if not action and not limits:
        return _show(name, options)
    with Money(store=options.store) as money:
        people, past = money.limits, options.including_past
        scope = _scope(people, EVERYWHERE if options.everywhere else name, action)
        if action not in ("", "stop"):
            need_person("decides about a limit that is set")
        if action == "remove":
            gone = people.remove(scope, limits)
            said = f"Removed from {home_path(people.name(scope))}: {', '.join(each.limit for each in gone)}"
            result = {"removed": [each.to_dict() for each in gone]}
            return emit(result, said if gone else "There is no limit here.", options.as_json)
        ceilings = [read_ceiling(each, subagent=options.subagent) for each in limits]
        if action:
            if (action == "raise") != (len(ceilings) == 1):
                raise InputError(WRITE_IT)
            rows = people.answer(scope, action.replace("-", "_"), ceilings[0] if ceilings else None)
        else:
            if people.loosens(scope, ceilings, including_past=past, default=money.default):
                need_person("sets a limit that leaves more than the one there is")
            rows = people.set(scope, ceilings, including_past=past)
        return _emit_set(people, rows, scope, action, options)


def _scope(people: Limits, name: str, action: str = "", *, known: bool = False) -> str:
    try:
        return people.scope(name, known=known or bool(action))
    except InputError:
        near = get_close_matches(name, (*ANSWERS, "remove"), 1, cutoff=0.8)
        if near and not action:
            raise InputError(f"did you mean 'brim limit {near[0]}'?") from None
        raise


def _read(options: Namespace) -> tuple[str, str, list[str]]:
    """Return what is to be done, for which project, and the limits, each as a person wrote it."""
    words = list(options.words)
    action = words.pop(0) if words and words[0] in (*ANSWERS, "remove") else ""
    joined: list[str] = []
    for word in words:  # "2M tokens/day" may come as two words
        if joined and word.lower().partition("/")[0] in ("token", "tokens"):
            joined[-1] = f"{joined[-1]} {word}"
        else:
            joined.append(word)
    is_named = bool(joined) and not _is_limit(joined[0], action)
    name, limits = (joined[0], joined[1:]) if is_named else ("", joined)
    if name and options.everywhere:
        raise InputError("name a project, or give --all, not both")
    if not action and limits and limits[0].lower() in UNLIMITED:
        action, limits = "remove", []
    return action, name, limits


def _is_limit(word: str, action: str) -> bool:
    """Whether *word* is meant as a limit, right or wrong, and not as the name of a project."""
    if word.lower() in (*UNLIMITED, *(SPANS if action == "remove" else ())):
        return True
    with suppress(InputError):
        return bool(read_ceiling(word))
    if (
        word.rpartition("/")[0]
        and word.rpartition("/")[2].lower() in SPANS[:4]
        and not os.path.isdir(word)
    ):
        return True
    return word.lower() in ("nan", "inf", "infinity") or word[:1] in tuple("$-+0123456789")


def _emit_set(
    people: Limits, rows: list[LimitRow], scope: str, action: str, options: Namespace
) -> int:
    result: dict[str, object] = {"scope": scope, "limits": [each.to_dict() for each in rows]}
    called = home_path(people.name(scope))
    lines = [f"{called}: {_sentence(each, here().now)}" for each in rows] or [f"{called}: no limit"]
    if scope != EVERYWHERE:
        status = people.ledger.status(scope)
        result |= status.to_dict()
        if (
            not action
            and status.spent
            and not options.including_past
            and not all(each.each for each in rows)
        ):
            spent = dollars(status.spent, up=True)
            note(
                f"it counts from now. --including-past also counts what was spent before ({spent} in all)"
            )
        if action in ("stop", "wrap-up"):
            lines.append(f"{called}: {STATES.get(status.state) or 'open'}")
        if action == "wrap-up":
            prompt = result["prompt"] = build_wrap_up_prompt(
                status.spent, status.limit, held=status.left or 0
            )
            lines += ["", prompt]
    return emit(result, "\n".join(lines), options.as_json)


def _sentence(row: LimitRow, now: float) -> str:
    """Return one limit and where it stands, as a sentence."""
    if row.each:
        return f"{row.in_words(row.amount)} for each {row.period.replace('subagent', 'sub-agent')}"
    if row.unit == PERCENT:
        return f"{row.said}, {_reading(row, now)}"
    parts = [row.said, f"{row.in_words(row.spent, up=True)} spent"]
    parts += [f"{row.in_words(row.reserved, up=True)} reserved"] if row.reserved else []
    parts += [f"{row.in_words(row.left)} left"]
    parts += [f"{row.in_words(row.held)} kept for the wrap-up"] if row.held else []
    parts += [f"resets {clock(row.resets_at, now)}"] if row.resets_at is not None else []
    return ", ".join(parts)


def limit_line(row: LimitRow) -> str:
    """Return one limit and what is spent of it, in a few words: $0.40 of $5.00/day."""
    if row.each:
        return _sentence(row, here().now)
    spent = (
        ""
        if row.unit == PERCENT and row.read_at is None
        else f"{row.in_words(row.spent, up=True)} of "
    )
    return f"{spent}{row.said}{' in all projects' if row.scope == EVERYWHERE else ''}"


# Showing ------------------------------------------------------------------------------------------


def _show(name: str, options: Namespace) -> int:
    if options.subagent or options.including_past:
        raise InputError(WRITE_IT)
    projects: list[ProjectRow] = []
    scopes: list[ScopeStatus] = []
    more, now = 0, here().now
    if options.store or os.path.exists(here().database):
        with Money(store=options.store) as money:
            target = (
                EVERYWHERE
                if options.everywhere
                else _scope(money.limits, name, known=True)
                if name
                else ""
            )
            default = None if money.default is None else Limit(money.default)
            projects = money.limits.projects(target.partition("/")[0], default=default)
            if options.as_json or options.sessions or (name and not options.everywhere):
                scopes, more = money.scopes("" if target == EVERYWHERE else target, options)
    elif name:
        raise InputError(f'No project is called "{name[:80]}": nothing was spent yet.')
    below = [each for each in scopes if "/" in each.scope]
    shown = [_table(projects, now) if projects else "", scope_table(below) if below else ""]
    result = {"projects": [each.to_dict() for each in projects], **_scopes_dict(scopes, more)}
    rest = f"{more:,} more: --most {len(scopes) + more} shows all" if more else ""
    usual = None if options.store else limit_in(here().config["spend.limit"])
    allowed = (
        " and no limit yet"
        if usual is None
        else f" yet; spend.limit allows each project {dollars(usual)} in all"
    )
    empty = (
        f"nothing counted{allowed}: brim limit 5/day sets a limit of $5.00 per day for this project"
    )
    return emit(result, "\n\n".join(filter(None, shown)), options.as_json, rest, empty=empty)


def _scopes_dict(scopes: list[ScopeStatus], more: int) -> dict[str, object]:
    return {"scopes": [each.to_dict() for each in scopes], **({"more": more} if more else {})}


def _table(projects: list[ProjectRow], now: float) -> str:
    rows = [["project", "limit", "spent", "left", "", "resets", ""]]
    for project in projects:
        state = "" if project.state == "asked" else STATES.get(project.state, "")
        name, state = (
            home_path(project.name),
            paint(state or ("" if project.exists else "folder is gone"), "yellow"),
        )
        if not project.limits:
            rows.append([name, "none", dollars(project.spent, up=True), "", "", "", state])
        for each in project.limits:
            at = "" if each.resets_at is None else clock(each.resets_at, now)
            spent = left = filled = ""
            if not each.each and (each.unit != PERCENT or each.read_at is not None):
                spent, left = each.in_words(each.spent, up=True), each.in_words(each.left)
                filled = (
                    _bar(each.spent, each.reserved, each.amount, each.left) if each.amount else ""
                )
            states = ", ".join(filter(None, [state, _row_state(each, now)]))
            rows.append([name, each.said, spent, left, filled, at, states])
            name = state = ""
    return heading(table(rows, right=(2, 3), optional=(4, 5, 6, 3)))


def _row_state(row: LimitRow, now: float) -> str:
    if row.unit == PERCENT:
        return _reading(row, now)
    if row.state == "asked":
        return paint("limit reached" if row.left == 0 else "asked: a request did not fit", "red")
    over = row.spent - row.amount
    return paint(f"{row.in_words(over, up=True)} over", "red") if over > 0 else ""


def _reading(row: LimitRow, now: float) -> str:
    """Return how old the reading of a plan's window is."""
    if row.read_at is None:
        return "not read yet: it comes from Claude Code's status line or from Codex"
    old = ": too old to hold" if abs(now - row.read_at) > FRESH else ""
    return f"{row.spent}% used, read {age(row.read_at, now)}{old}"


def _bar(spent: int, reserved: int, limit: int, left: int | None) -> str:
    """Return a bar of what is spent and reserved of *limit*; a small part is never shown as
    nothing."""
    full, half, empty = tuple(symbols("█▒░", "#=."))
    filled = min(BAR, -(-BAR * spent // limit))
    taken = min(BAR, max(filled, -(-BAR * (spent + reserved) // limit)))
    colour = "red" if left == 0 else "yellow" if spent >= 0.8 * limit else "green"
    return paint(full * filled + half * (taken - filled) + empty * (BAR - taken), colour)


def scope_table(statuses: list[ScopeStatus]) -> str:
    """Return a table of *statuses*; spent is rounded up, left is rounded down."""
    rows = [["scope", "spent", "reserved", "limit", "left", "", "state"]]
    for each in statuses:
        spent, reserved = (
            dollars(each.spent, up=True),
            dollars(each.reserved, up=True) if each.reserved else "",
        )
        ceiling = "none" if each.limit is None else dollars(each.limit, up=False)
        left = "none" if each.left is None else dollars(each.left, up=False)
        filled = _bar(each.spent, each.reserved, each.limit, each.left) if each.limit else ""
        over = f"{dollars(each.overshoot, up=True)} over" if each.overshoot else ""
        state = ", ".join(filter(None, [_called(each), over]))
        state = paint(state, "yellow" if each.state == "wrapping_up" else "red")
        rows.append([each.scope, spent, reserved, ceiling, left, filled, state])
    return heading(table(rows, right=(1, 2, 3, 4), optional=(5, 2)))


def _called(status: ScopeStatus) -> str:
    is_room = status.limit is not None and status.spent < status.limit - status.held
    return STATES["unfit" if status.state == "asked" and is_room else status.state]
