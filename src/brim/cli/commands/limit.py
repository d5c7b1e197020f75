"""``brim limit``: limits per day, week, month or session, and what is spent under them."""

from __future__ import annotations

import os
from argparse import Namespace
from contextlib import suppress
from difflib import get_close_matches

from brim.cli.commands.ledger import MOST, MOST_SHOWN, MOST_WRITTEN, Money, complete_scope, scope_table
from brim.cli.options import add_json, command, here, need_person, option
from brim.cli.output import age, dollars, emit, fields_of, heading, home_path, note, paint, symbols, table
from brim.errors import InputError
from brim.hooks.limit_words import clock
from brim.spend.limits import Limit, build_wrap_up_prompt
from brim.spend.periods import EVERYWHERE, PERCENT, SPANS, USD, Ceiling, in_unit, read_ceiling
from brim.store.limits import LimitRow, Limits, ProjectRow

ANSWERS = {"continue": "continue", "raise": "raise", "wrap-up": "wrap_up", "stop": "stop"}
UNLIMITED = ("none", "unlimited")
BAR = 16
"""Columns of a bar."""
STATES = {
    "asked": "limit reached",
    "wrapping_up": "wrap-up",
    "stopped": "stopped",
    "closed": "closed",
}
WRITE_IT = "write it as: brim limit [PROJECT] 5/day, brim limit raise [PROJECT] 8/day, or brim limit remove [PROJECT]"


@command(
    option("words", nargs="*", metavar="[PROJECT] [LIMIT ...]", help="whose limit, and what", completer=complete_scope),
    option("--all", action="store_true", dest="everywhere", help="everything on this machine, not one project"),
    option("--subagent", action="store_true", help="the limit is for each sub-agent"),
    option("--including-past", action="store_true", help="count what was spent before, in this period or ever"),
    option("--sessions", action="store_true", help="show sessions, agents and what is reserved, too"),
    option("--store", metavar="URL", default="", help="the limits of many machines, in PostgreSQL: postgresql://..."),
    MOST,
    add_json,
)
def limit(options: Namespace) -> int:
    """Limit what agents may spend, and see what is spent.

    A limit is for this project, for the one you name (by name or path), or with --all for everything on this machine.
    It's in dollars, in tokens, or in percent of a subscription's window, per day, week, month or session, or in all.
    Several can hold at once. It counts from now. brim warns at 80%, and holds the agent's tools at the limit.

      brim limit [PROJECT] LIMIT ...        set limits: 5/day 20/week 100/month 2/session 50 "2M tokens/day" 90%/5h
      brim limit remove [PROJECT] [LIMIT]   remove one of them, or all

    When a limit is reached, decide:

      brim limit continue [PROJECT]         go on once, with a tenth more; also opens what was stopped
      brim limit raise [PROJECT] LIMIT      make that the limit from now on
      brim limit wrap-up [PROJECT]          let only the wrap-up spend, from the part kept for it
      brim limit stop [PROJECT]             let nothing more be spent

    With --store, limits are those of programs that reserve money in that PostgreSQL server (brim.Guard, open_ledger).
    PROJECT is a scope there; by default the setting project.id, or where this repository comes from. Hooks of coding
    agents don't look there: on this machine they hold the limits that are set without --store.

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
        people = _limits(money)
        scope = _scope(people, EVERYWHERE if options.everywhere else name, action)
        if action not in ("", "stop"):
            need_person("decides about a limit that is set")
        if action == "remove":
            gone = people.remove(scope, limits)
            names = ", ".join(each.limit for each in gone)
            said = f"Removed from {home_path(people.name(scope))}: {names}" if gone else ""
            result = {"removed": [each.to_dict() for each in gone]}
            return emit(result, said or "There is no limit here.", options.as_json)
        ceilings = [read_ceiling(each, subagent=options.subagent) for each in limits]
        if action:
            if (action == "raise") != (len(ceilings) == 1):
                raise InputError(WRITE_IT)
            rows = people.answer(scope, ANSWERS[action], ceilings[0] if ceilings else None)
        else:
            past = options.including_past
            if people.loosens(scope, ceilings, including_past=past, default=money.default):
                need_person("sets a limit that leaves more than the one there is")
            rows = people.set(scope, ceilings, including_past=options.including_past)
        return _emit_set(people, rows, scope, action, options)


def _scope(people: Limits, name: str, action: str) -> str:
    try:
        return people.scope(name, known=bool(action))
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
    return word.lower() in ("nan", "inf", "infinity") or word[:1] in tuple("$-+0123456789")


def _limits(money: Money) -> Limits:
    place = money.workspace
    shared = place.shared_name if money.is_shared else None
    return Limits(money.ledger, place=place.place, home=place.home, environ=place.environ, now=place.now, shared=shared)


def _emit_set(people: Limits, rows: list[LimitRow], scope: str, action: str, options: Namespace) -> int:
    result: dict[str, object] = {"scope": scope, "limits": [each.to_dict() for each in rows]}
    called = home_path(people.name(scope))
    lines = [f"{called}: {_sentence(each, here().now)}" for each in rows] or [f"{called}: no limit"]
    if scope != EVERYWHERE:
        status = people.ledger.status(scope)
        result |= fields_of(status)
        if action in ("stop", "wrap-up"):
            lines.append(f"{called}: {STATES.get(status.state, 'open')}")
        if action == "wrap-up":
            result["prompt"] = build_wrap_up_prompt(status.spent, status.limit, held=status.left or 0)
            lines += ["", str(result["prompt"])]
    return emit(result, "\n".join(lines), options.as_json)


def _sentence(row: LimitRow, now: float) -> str:
    """Return one limit and where it stands, as a sentence."""
    if row.each:
        return f"{_amount(row.amount, row.unit, up=False)} for each {row.period.replace('subagent', 'sub-agent')}"
    if row.unit == PERCENT:
        return f"{_limit(row)}, {_reading(row, now)}"
    parts = [f"{_limit(row)}", f"{_amount(row.spent, row.unit, up=True)} spent"]
    parts += [f"{_amount(row.reserved, row.unit, up=True)} reserved"] if row.reserved else []
    parts += [f"{_amount(row.left, row.unit, up=False)} left"]
    parts += [f"{_amount(row.held, row.unit, up=False)} kept for the wrap-up"] if row.held else []
    parts += [f"resets {clock(row.resets_at, now)}"] if row.resets_at is not None else []
    return ", ".join(parts)


# Showing --------------------------------------------------------------------------------------------------------


def _show(name: str, options: Namespace) -> int:
    if options.subagent or options.including_past:
        raise InputError(WRITE_IT)
    projects: list[ProjectRow] = []
    scopes, more, now = [], 0, here().now
    most = options.most or (MOST_WRITTEN if options.as_json else MOST_SHOWN)
    if options.store or os.path.exists(here().database):
        with Money(store=options.store) as money:
            people = _limits(money)
            target = EVERYWHERE if options.everywhere else people.scope(name, known=True) if name else ""
            default = None if money.default is None else Limit(money.default)
            projects = people.projects(target.partition("/")[0], default=default)
            under = "" if target == EVERYWHERE else target
            if options.as_json or options.sessions or (name and not options.everywhere):
                scopes = money.statuses(under, most)
                more = money.ledger.count(under) - len(scopes) if len(scopes) == most else 0
    elif name:
        raise InputError(f'No project is called "{name[:80]}": nothing was spent yet.')
    shown = [_table(projects, now)] if projects else []
    below = [each for each in scopes if "/" in each.scope]
    shown += [scope_table(below)] if below else []
    result = {
        "projects": [each.to_dict() for each in projects],
        "scopes": [fields_of(each) for each in scopes],
        **({"more": more} if more else {}),
    }
    emit(result, "\n\n".join(shown), options.as_json)
    if more:
        note(f"{more:,} more: --most {len(scopes) + more} shows all")
    if not projects and not options.as_json:
        note("nothing spent, no limit yet: brim limit 5/day sets a limit of $5.00 per day for this project")
    return 0


def _table(projects: list[ProjectRow], now: float) -> str:
    rows = [["project", "limit", "spent", "left", "", "resets", ""]]
    for project in projects:
        name, state = home_path(project.name), _state(project)
        if not project.limits:
            rows.append([name, "none", dollars(project.spent, up=True), "", "", "", state])
        for each in project.limits:
            at = "" if each.resets_at is None else clock(each.resets_at, now)
            rows.append([name, _limit(each), *_sums(each), _bar(each), at, _row_state(each, now) or state])
            name = state = ""
    return heading(table(rows, right=frozenset({2, 3}), optional=(4, 6)))


def _sums(row: LimitRow) -> tuple[str, str]:
    if row.each:
        return "", ""
    if row.unit == PERCENT:
        return (f"{row.spent}%", f"{max(0, row.amount - row.spent)}%") if row.read_at is not None else ("", "")
    return _amount(row.spent, row.unit, up=True), _amount(row.left, row.unit, up=False)


def _limit(row: LimitRow) -> str:
    """Return the limit with its unit: $5.00/day, 2M tokens/day, 90%/5h."""
    per = str(Ceiling(0, row.unit, row.period)).partition("/")[2]
    said = _amount(row.amount, row.unit, up=False)
    return f"{said}/{per}" if per else f"{said}/sub-agent" if row.period == "subagent" else f"{said} in all"


def _amount(amount: int, unit: str, *, up: bool) -> str:
    return dollars(amount, up=up) if unit == USD else in_unit(amount, unit)


def _state(project: ProjectRow) -> str:
    text = STATES.get(project.state, "") if project.state != "asked" else ""
    text = text or ("" if project.exists else "folder is gone")
    return paint(text, "yellow") if text else ""


def _row_state(row: LimitRow, now: float) -> str:
    if row.unit == PERCENT:
        return _reading(row, now)
    if row.state == "asked":
        return paint("limit reached" if row.left == 0 else "asked: a request did not fit", "red")
    over = row.spent - row.amount
    return paint(f"{_amount(over, row.unit, up=True)} over", "red") if over > 0 else ""


def _reading(row: LimitRow, now: float) -> str:
    """Return how old the reading of a plan's window is."""
    if row.read_at is None:
        return "not read yet: the status line and Codex tell it"
    return f"{row.spent}% used, read {age(row.read_at, now)}"


def _bar(row: LimitRow) -> str:
    """Return a bar of what is spent and reserved of the limit; a small part is never shown as nothing."""
    if not row.amount or row.each or (row.unit == PERCENT and row.read_at is None):
        return ""
    full, half, empty = tuple(symbols("█▒░", "#=."))
    spent = min(BAR, -(-BAR * row.spent // row.amount))
    taken = min(BAR, max(spent, -(-BAR * (row.spent + row.reserved) // row.amount)))
    colour = "red" if row.left == 0 else "yellow" if row.spent >= 0.8 * row.amount else "green"
    return paint(full * spent + half * (taken - spent) + empty * (BAR - taken), colour)
