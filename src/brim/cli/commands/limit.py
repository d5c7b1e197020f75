"""``brim limit``: limits, and what is spent under them."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import dataclass

from brim.cli.asking import need_person
from brim.cli.index_reading import brought_up_to_date
from brim.cli.limit_views import limits_view
from brim.cli.options import add_json, command, here, option, whole_number
from brim.cli.output import emit, home_path, note
from brim.errors import InputError
from brim.money.book import (
    LimitBook,
    change_limits,
    limits_to_set,
    loosens,
    raised_by_tenth,
    stopped_limit,
    with_new,
    without,
)
from brim.money.limits import SpendingLimit, amount_text
from brim.sessions.requests import EVERYTHING
from brim.workspace import Workspace

TENTH = "+10%"
SET = "set"
ACTIONS = ("raise", "remove", "stop", "forget", TENTH)
UNLIMITED = ("none", "unlimited")
USAGE = (
    "write it as: brim limit 5/day 20/week, brim limit raise 8/day, brim limit +10%,"
    " brim limit stop, or brim limit remove [5/day]"
)


@dataclass(frozen=True)
class LimitWords:
    """What a person typed after ``brim limit``."""

    action: str
    """One of ``ACTIONS`` or ``SET``; nothing shows the limits."""
    texts: tuple[str, ...]


@command(
    option("words", nargs="*", metavar="[LIMIT ...]", help="5/day, 20/week, or what to do"),
    option(
        "--all",
        action="store_true",
        dest="everywhere",
        help="everything on this machine, not one project",
    ),
    option("--subagent", action="store_true", help="the limit is for each sub-agent"),
    option(
        "--store",
        metavar="URL",
        default="",
        help="the limits of a ledger, for programs that reserve money: postgresql://...",
    ),
    option("--including-past", action="store_true", help="with --store: also count earlier money"),
    option(
        "--sessions", action="store_true", help="with --store: also show what is below projects"
    ),
    option("--most", type=whole_number(1), metavar="N", help="with --store: scopes to show"),
    add_json,
)
def limit(options: Namespace) -> int:
    """Limit what agents may spend, and see what is spent.

    A limit is for this project, or with --all for everything on this machine: in dollars, in
    tokens, or in percent of a subscription's window. A day, week or month counts the whole period,
    the same sum as brim usage; a limit without a period counts from now. At 80% you're warned; at
    the limit prompts are refused, tools are denied, and the turn ends.

      brim limit LIMIT ...           set limits: 5/day 100/month 2/session 50 "2M tokens/day" 90%/5h
      brim limit raise LIMIT         allow more from now on
      brim limit +10%                go on: a tenth more, until the period ends
      brim limit stop                allow nothing more
      brim limit remove [LIMIT]      remove one limit, or all of this project
      brim limit forget KEY          drop a request that shouldn't count: brim usage --requests

    Examples:
      brim limit 5/day 20/week
      brim limit --all 100/month
      brim limit --subagent 200k tokens
      brim limit raise 8/day
    """
    if options.store:
        from brim.cli.ledger_limits import limit_in_ledger  # agents' limits load no ledger

        return limit_in_ledger(options)
    if options.including_past or options.sessions or options.most:
        raise InputError("--including-past, --sessions and --most are for --store")
    words = _read(options.words)
    workspace = here()
    if words.action:
        _change(words, workspace, options)
    return _show(workspace, options)


def _read(words: Sequence[str]) -> LimitWords:
    """Return what *words* mean; "2M tokens/day" may have come as two of them."""
    joined: list[str] = []
    for word in words:
        unit = word.lower().partition("/")[0]
        if joined and unit in ("token", "tokens"):
            joined[-1] = f"{joined[-1]} {word}"
        else:
            joined.append(word)
    if not joined:
        return LimitWords("", ())
    first = joined[0].lower()
    if first in UNLIMITED:
        return LimitWords("remove", ())
    if first in ACTIONS:
        return LimitWords(first, tuple(joined[1:]))
    return LimitWords(SET, tuple(joined))


def _change(words: LimitWords, workspace: Workspace, options: Namespace) -> None:
    if words.action in (TENTH, "stop") and words.texts:
        raise InputError(USAGE)
    if words.action in ("raise", "forget") and len(words.texts) != 1:
        raise InputError(USAGE)
    if words.action not in (SET, "stop"):
        need_person("decides about a limit that is set")
    if words.action == "forget":
        _forget(words.texts[0], workspace)
        return
    project = EVERYTHING if options.everywhere else workspace.limits_project
    if not project:
        raise InputError("the current folder was deleted: go to another, or use --all")
    limits = change_limits(
        os.path.join(workspace.home, "config.yaml"),
        lambda limits: _changed(limits, words, project, workspace, options),
    )
    for name in ("config", "limit_settings"):
        workspace.__dict__.pop(name, None)
    if not any(limit.project == project for limit in limits):
        where = "all projects" if options.everywhere else home_path(project)
        note(f"there is no limit for {where} now")


def _changed(
    limits: list[SpendingLimit],
    words: LimitWords,
    project: str,
    workspace: Workspace,
    options: Namespace,
) -> list[SpendingLimit]:
    """Return *limits* after what a person wants."""
    if words.action == "remove":
        return without(limits, project, words.texts, subagent=options.subagent)
    if words.action == "stop":
        return with_new(limits, [stopped_limit(project)])
    if words.action == TENTH:
        with workspace.open_index() as index:
            book = LimitBook.of_user(
                workspace.limit_settings, index, workspace.environ, workspace.now
            )
            standings = book.standings(project)
        stopped = [
            standing
            for standing in standings
            if standing.is_stopped and standing.limit.project == project
        ]
        return raised_by_tenth(limits, stopped)
    new = limits_to_set(words.texts, project, subagent=options.subagent, now=workspace.now)
    earlier = {limit.kind for limit in limits}
    if words.action == "raise" and new[0].kind not in earlier:
        raise InputError(
            f"There is no such limit here to raise. To set one: brim limit {new[0].text}"
        )
    changed = with_new(limits, new)
    if loosens(workspace.limit_settings.limits, changed, workspace.now):
        need_person("sets a limit that leaves more than the one there is")
    return changed


def _forget(key: str, workspace: Workspace) -> None:
    with workspace.open_index() as index:
        if not index.forget(key):
            raise InputError(
                f'No request has the key "{key[:80]}": brim usage --requests shows keys'
            )
    note(f"{key[:80]} doesn't count any more")


def _show(workspace: Workspace, options: Namespace) -> int:
    """Print every limit in force, those first that stopped somebody."""
    workspace.goes_on = True  # a mistake in the settings hides no limit
    settings = workspace.limit_settings
    problem = settings.problem or workspace.problems.get("user", "")
    if problem:
        note(f"{problem}. The limits that were read last go on applying")
    if not settings.limits:
        hint = "brim limit 5/day sets a limit of $5.00 per day for this project"
        return emit({"limits": []}, "", options.as_json, empty=f"no limit yet: {hint}")
    reading = brought_up_to_date([], config=workspace.config)
    with reading.index as index:
        book = LimitBook.of_user(settings, index, workspace.environ, workspace.now)
        standings = book.standings()
        unread = book.unread()
        forecasts = [book.forecast(standing) for standing in standings]
    rows = []
    for standing, reach in zip(standings, forecasts, strict=True):
        forecast = None if reach is None else f"{reach}; {reach.earliest_words}".rstrip("; ")
        rows.append({**standing.to_dict(), "forecast": forecast})
    rows += [_unread_row(limit) for limit in unread]
    view = limits_view(standings, unread, forecasts, workspace.now)
    return emit({"limits": rows}, view, options.as_json)


def _unread_row(limit: SpendingLimit) -> dict[str, object]:
    """Return a limit whose sum isn't known: each sub-agent's, or a plan that nobody has read."""
    return {
        "limit": limit.text,
        "project": limit.project,
        "unit": limit.unit,
        "period": limit.period,
        "amount": limit.amount,
        "amount_text": amount_text(limit.amount, limit.unit),
        "spent": None,
        "stopped": False,
    }
