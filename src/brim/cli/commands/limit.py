"""``brim limit``: limits, and what is spent under them."""

from __future__ import annotations

from argparse import Namespace

from brim.cli.index_reading import brought_up_to_date
from brim.cli.limit_views import limits_view
from brim.cli.options import add_json, command, here, option, whole_number
from brim.cli.output import emit, note
from brim.errors import InputError
from brim.money.book import LimitBook
from brim.money.limits import SpendingLimit, amount_text
from brim.workspace import Workspace


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

    A team's keys, for its proxy: brim limit key add TEAM/PERSON, key revoke, key list --store URL
    """
    if options.store:
        # Agents' limits load no ledger.
        from brim.cli.ledger_limits import limit_in_ledger

        return limit_in_ledger(options)
    if options.including_past or options.sessions or options.most:
        raise InputError("--including-past, --sessions and --most are for --store")
    workspace = here()
    if options.words:
        from brim.cli.limit_changes import change  # showing limits changes none

        change(options, workspace)
    return _show(workspace, options)


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
