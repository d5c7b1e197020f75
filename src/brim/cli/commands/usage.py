"""``brim usage``: tokens and cost of past sessions."""

from __future__ import annotations

import os
import time
from argparse import ArgumentTypeError, Namespace
from collections.abc import Callable, Sequence
from datetime import date
from functools import partial
from typing import Any, TypeVar

from brim.cli.options import add_json, command, option, own_prices, settings
from brim.cli.output import counted, dollars, emit, note, paint, wrapped
from brim.cli.progress import ReadingProgress
from brim.cli.tables import heading, listed, table
from brim.errors import InputError
from brim.report.usage import BY, GROUPINGS, Sum, UsageReport, parse_day, usage_report
from brim.tracking.plan_windows import current_plan_windows
from brim.tracking.sessions import AGENTS, named_files, own_files, usage_index

Report = TypeVar("Report", bound=Any)
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
    option("--by", choices=BY, help="what each row is (default: day)"),
    option(
        "--since", type=_day, metavar="DATE", help="from this day on: 2026-11-15, or 7d, 2w, 1m ago"
    ),
    option("--until", type=_day, metavar="DATE", help="up to and including this day"),
    option("--agent", choices=AGENTS, help="this agent only"),
    option(
        "--project", metavar="NAME", help="this project only: its folder, or the last part of it"
    ),
    option("--utc", action="store_true", help="use days in UTC"),
    option("--no-index", action="store_true", help="read everything again, and don't cache it"),
    add_json,
)
def usage(options: Namespace) -> int:
    """Add up tokens and cost of your agents' sessions. Each request counts once.

    Start with daily, weekly, monthly, session or blocks (5-hour billing windows) to choose the
    rows, or use --by. PATH is a session's file, a folder of them, or a saved stream (default: the
    folders of Claude Code, Codex and Gemini CLI). Days are in your time zone.

    Results are cached in ~/.brim/usage.db, so the next run reads only new lines. You can delete
    that file.

    Examples:
      brim usage
      brim usage weekly --since 1m
      brim usage --by model --since 2026-11-01
      brim usage --by session --project shop --json
    """
    paths, by = options.paths, options.by or "day"
    if paths and paths[0] in GROUPINGS and not os.path.exists(paths[0]):
        by, paths = GROUPINGS[paths[0]], paths[1:]
    index = None if options.no_index else usage_index(os.environ)
    filters = {
        "since": options.since,
        "until": options.until,
        "agent": options.agent,
        "project": options.project,
    }
    plan = () if paths else current_plan_windows(os.environ, time.time(), options.agent or "")
    make = partial(usage_report, by=by, utc=options.utc, index=index, plan_windows=plan, **filters)
    report = read_sessions(paths, make, (options.agent,) if options.agent else AGENTS)
    code = 2 if report.reading.lacks(paths) else 0
    return emit(report, show_usage, options.as_json, *report.reading.failed, code=code)


def read_sessions(
    paths: list[str], make: Callable[..., Report], agents: Sequence[str] = AGENTS
) -> Report:
    """Return what *make* makes of the sessions in *paths*, or in the agents' own folders, with a
    bar while it reads."""
    problems: list[str] = []
    tell = problems.append
    files = (
        named_files(paths, on_problem=tell)
        if paths
        else own_files(os.environ, agents, on_problem=tell)
    )
    with ReadingProgress() as progress:
        found = make(files, models=own_prices(settings()), now=time.time(), on_read=progress)
    found.reading.failed[:0] = problems
    note(*found.reading.notes)
    return found


def show_usage(report: UsageReport) -> None:
    """Print the table, and what should be known about it."""
    reading, by = report.reading, report.by
    if not report.sums and not report.rest:
        asked = " ".join(f"--{name} {value}" for name, value in report.filters.items() if value)
        where = f"matches {asked}" if asked else "there"
        where = where if reading.files else "yet: name a file or a folder, or run an agent first"
        note(f"no usage {where} ({counted(reading.files, 'file')} read)")
        return
    nameless = "no date" if by in ("day", "week", "month", "block") else "unknown"
    head = [by, "requests", "input", "output", "cache write", "cache read", "cost"]
    rows = [_cells(each, each.name or nameless) for each in report.sums]
    last = [_cells(report.total, "total")]
    if rest := report.unattributed if report.rest else {}:
        cost = f"{'> ' if rest['unpriced_sessions'] else ''}{dollars(rest['cost'] or 0)}"
        cost = "unknown" if rest["cost"] is None else cost
        last.append(["unattributed", "", *[f"{rest[count]:,}" for count in COUNTS], cost])
    if by in ("session", "branch"):
        head.append("project")
        rows = [
            [*row, each.project or "unknown"] for row, each in zip(rows, report.sums, strict=True)
        ]
        last = [[*row, ""] for row in last]
    if nameless == "no date":  # the newest are what is wanted, and come last
        earlier = len(rows) - 100
        rows, more = (
            rows[-100:],
            f"and {counted(earlier, f'earlier {by}')}: --json lists all" if earlier > 0 else "",
        )
    else:
        rows, more = listed(rows)
    print(heading(table([head, *rows, *last], right=range(1, 7), optional=(4, 2, 1, 5, 3))))
    if more:
        print(paint(more, "faint"))
    _show_remarks(report)


def _show_remarks(report: UsageReport) -> None:
    """Print what the table doesn't show: plan windows, and what it couldn't price or read."""
    if report.plan_windows:
        from brim.cli.gauge import (
            plan_lines,
        )  # importing it takes as long as the rest of the command

        for line in plan_lines(report.plan_windows, report.now):
            print(wrapped(f"plan: {line}"))
    if report.rest:
        why = "unattributed: in the client's totals, but without a line of its own: mostly compactions"
        print(paint(wrapped(why), "faint"))
    for model, requests in report.unpriced.items():
        many = counted(requests, "request")
        note(
            f"no price for {model or 'an unnamed model'} ({many}): 'models' in the configuration can give one"
        )
    if report.reading.broken_lines:
        note(f"{counted(report.reading.broken_lines, 'broken line')} left out")


def _cells(each: Sum, name: str) -> list[str]:
    cost = (
        "unknown"
        if each.unpriced_requests == each.requests and each.requests
        else dollars(each.cost)
    )
    cost = (
        f"> {dollars(each.cost, up=False)}" if 0 < each.unpriced_requests < each.requests else cost
    )
    return [name, *[f"{getattr(each, count):,}" for count in ("requests", *COUNTS)], cost]
