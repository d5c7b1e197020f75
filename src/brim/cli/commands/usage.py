"""``brim usage``: tokens and cost of past sessions."""

from __future__ import annotations

import csv
import os
import time
from argparse import ArgumentTypeError, Namespace
from collections.abc import Sequence
from datetime import date
from io import StringIO

from brim.cli.index_reading import brought_up_to_date
from brim.cli.options import add_json, command, option
from brim.cli.output import counted, dollars, emit, note, paint, wrapped
from brim.cli.tables import MOST_ROWS, heading, listed, table
from brim.cli.team import usage_in_ledger
from brim.errors import InputError
from brim.figures import DOLLAR
from brim.sessions.plan_windows import PlanWindow, current_plan_windows
from brim.sessions.report.requests import RequestList, request_list
from brim.sessions.report.usage import (
    BY,
    GROUPINGS,
    TIMES,
    Sum,
    UsageFilter,
    UsageReport,
    parse_day,
    usage_report,
)
from brim.sessions.session_files import AGENTS

COUNTS = ("input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


def _day(text: str) -> str:
    try:
        return parse_day(text, date.today())
    except InputError as error:
        raise ArgumentTypeError(str(error)) from None


@command(
    option(
        "paths", nargs="*", metavar="PATH", help="what to read (default: the agents' own folders)"
    ),
    option(
        "--by",
        choices=(*BY, "person"),
        metavar="ROW",
        help=f"{', '.join(BY)}, or with --store person (default: day)",
    ),
    option(
        "--since", type=_day, metavar="DATE", help="from this day on: 2026-11-15, or 7d, 2w, 1m ago"
    ),
    option("--until", type=_day, metavar="DATE", help="up to and including this day"),
    option("--agent", choices=AGENTS, help="this agent only"),
    option(
        "--project", metavar="NAME", help="this project only: its folder, or the last part of it"
    ),
    option("--store", metavar="URL", default="", help="what a team spent, as its ledger has it"),
    option("--requests", action="store_true", help="list single requests with their keys"),
    option("--utc", action="store_true", help="use days in UTC"),
    option("--csv", action="store_true", dest="as_csv", help="print the rows for a spreadsheet"),
    option("--no-index", action="store_true", help="read everything again, and keep nothing"),
    add_json,
)
def usage(options: Namespace) -> int:
    """Add up tokens and cost of your agents' sessions. Each request counts once.

    Start with daily, weekly, monthly, session or blocks (5-hour billing windows) to choose the
    rows, or use --by. PATH is a session's file, a folder of them, or a saved stream (default: the
    folders of Claude Code, Codex and Gemini CLI). Days are in your time zone.

    --requests lists the newest requests with the keys that 'brim limit forget' takes.

    Requests are kept in ~/.brim/index.db, so the next run reads only new lines, and what agents
    have deleted still counts. PATHs are read anew each time.

    Examples:
      brim usage
      brim usage weekly --since 1m
      brim usage --by model --since 2026-11-01
      brim usage --by session --project shop --json
      brim usage --by skill --csv >skills.csv
      brim usage --by person --store postgresql://...
    """
    if options.store:
        return usage_in_ledger(options)
    if options.by == "person":
        raise InputError("--by person is for a team: it needs --store URL")
    paths = options.paths
    by = options.by or "day"
    if paths and paths[0] in GROUPINGS and not os.path.exists(paths[0]):
        by = GROUPINGS[paths[0]]
        paths = paths[1:]
    wanted = UsageFilter(options.since, options.until, options.agent, options.project)
    plan: list[PlanWindow] = []
    if not paths:
        plan = current_plan_windows(os.environ, time.time(), options.agent or "")
    agents: Sequence[str] = AGENTS
    if options.agent:
        agents = (options.agent,)
    reading = brought_up_to_date(paths, agents, is_indexed=not options.no_index)
    code = 2 if reading.lacks(paths) else 0
    with reading.index:
        if options.requests:
            requests = request_list(reading, wanted, utc=options.utc)
            return emit(requests, show_requests, options.as_json, *reading.failed, code=code)
        report = usage_report(
            reading, by=by, wanted=wanted, utc=options.utc, now=time.time(), plan_windows=plan
        )
    if options.as_csv:
        return emit(report, csv_of, options.as_json, *reading.failed, code=code)
    return emit(report, show_usage, options.as_json, *reading.failed, code=code)


def csv_of(report: UsageReport) -> str:
    """Return the rows of *report* as comma-separated values, with the keys of the JSON object.

    A row without a name is what can't be attributed; then come what only clients' totals show, and
    estimates. Together they are what was spent.
    """
    rows = [dict(row) for row in report.to_dict()["rows"]]
    if report.rest:
        rows.append({report.by: "unattributed", **report.unattributed})
    if report.estimates:
        rows.append({report.by: "estimated", **report.estimated})
    columns = [report.by, "project", "requests", *COUNTS, "cost"]
    if not any("project" in row for row in rows):
        columns.remove("project")
    file = StringIO(newline="")
    writer = csv.DictWriter(file, columns, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    for row in rows:
        if row["cost"] is not None:  # else nobody knows the price
            row["cost"] = f"{int(row['cost']) / DOLLAR:.6f}"
        writer.writerow(row)
    return file.getvalue().removesuffix("\n")


def show_usage(report: UsageReport) -> None:
    """Print the table, and what should be known about it."""
    if not report.sums and not report.rest and not report.estimates:
        note(_nothing_to_show(report))
        return
    head = [report.by, "requests", "input", "output", "cache write", "cache read", "cost"]
    rows = [_cells(row, row.name or _nameless(report.by)) for row in report.sums]
    totals = _total_rows(report)
    if report.by in ("session", "branch"):
        head.append("project")
        for cells, row in zip(rows, report.sums, strict=True):
            cells.append(row.project or "unknown")
        for cells in totals:
            cells.append("")
    rows, hidden = _listed(rows, report.by)
    print(heading(table([head, *rows, *totals], right=range(1, 7), optional=(4, 2, 1, 5, 3))))
    if hidden:
        print(paint(hidden, "faint"))
    _show_remarks(report)


def _total_rows(report: UsageReport) -> list[list[str]]:
    """Return the rows below the sums: what all of them make, and what no line shows."""
    rows = [_cells(report.total, "total")]
    if report.rest:
        rows.append(_unattributed(report))
    if report.estimates:
        rows.append(["estimated", *[""] * 5, dollars(report.estimated["cost"])])
    if len(rows) > 1 and not report.unpriced and not report.unattributed["unpriced_sessions"]:
        rows.append(["in all", *[""] * 5, dollars(report.spent)])
    return rows


def show_requests(listing: RequestList) -> None:
    """Print the newest requests, each with its key."""
    if not listing.requests:
        note("no requests yet: run an agent first")
        return
    rows = [["time", "agent", "model", "cost", "key"]]
    for request in listing.requests[:MOST_ROWS]:
        cost = "unknown"
        if request.cost is not None:
            cost = dollars(request.cost)
        rows.append([_when(request.time), request.agent, request.model, cost, request.key])
    print(heading(table(rows, right=(3,), optional=(1, 2))))
    hidden = len(listing.requests) - MOST_ROWS
    if hidden > 0:
        print(paint(f"and {counted(hidden, 'earlier request')}: --json lists all", "faint"))


def _when(moment: float | None) -> str:
    if moment is None:
        return "no date"
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(moment))


def _nothing_to_show(report: UsageReport) -> str:
    filters = " ".join(f"--{name} {value}" for name, value in report.filters.items() if value)
    reason = "yet: name a file or a folder, or run an agent first"
    if report.reading.files:
        reason = "there"
        if filters:
            reason = f"matches {filters}"
    return f"no usage {reason} ({counted(report.reading.files, 'file')} read)"


def _nameless(by: str) -> str:
    if by in TIMES:
        return "no date"
    return "unknown"


def _listed(rows: list[list[str]], by: str) -> tuple[list[list[str]], str]:
    """Return the rows that are shown; of periods the newest, which come last."""
    if by not in TIMES:
        return listed(rows)
    earlier = len(rows) - MOST_ROWS
    if earlier <= 0:
        return rows, ""
    return rows[-MOST_ROWS:], f"and {counted(earlier, f'earlier {by}')}: --json lists all"


def _unattributed(report: UsageReport) -> list[str]:
    """Return the row of what is in no single request."""
    sums = report.unattributed
    cost = "unknown"
    if sums["cost"] is not None:
        cost = dollars(sums["cost"])
        if sums["unpriced_sessions"]:
            cost = f"> {cost}"
    return ["unattributed", "", *(f"{sums[count]:,}" for count in COUNTS), cost]


def _show_remarks(report: UsageReport) -> None:
    """Print what the table doesn't show: plan windows, and what it couldn't price or read."""
    if report.plan_windows:
        from brim.cli.gauge import plan_lines  # it takes as long as the rest of the command

        for line in plan_lines(report.plan_windows, report.now):
            print(wrapped(f"plan: {line}"))
    if report.rest:
        reason = "in the client's totals, but without a line of its own: mostly compactions"
        print(paint(wrapped(f"unattributed: {reason}"), "faint"))
    if report.estimates:
        reason = "compactions that no total of the client shows yet"
        print(paint(wrapped(f"estimated: {reason}"), "faint"))
    for model, requests in report.unpriced.items():
        name = model or "an unnamed model"
        note(
            f"no price for {name} ({counted(requests, 'request')}):"
            " 'models' in the configuration can give one"
        )
    if report.reading.broken_lines:
        note(f"{counted(report.reading.broken_lines, 'broken line')} left out")


def _cells(row: Sum, name: str) -> list[str]:
    counts = [f"{getattr(row, count):,}" for count in ("requests", *COUNTS)]
    return [name, *counts, _cost(row)]


def _cost(row: Sum) -> str:
    if not row.unpriced_requests:
        return dollars(row.cost)
    if row.unpriced_requests == row.requests:
        return "unknown"
    return f"> {dollars(row.cost, up=False)}"
