"""``brim report``: what happened in past sessions, and what they took."""

from __future__ import annotations

import os
import time
from argparse import Namespace

from brim.cli.options import add_json, command, here, option, own_prices, settings, whole_number
from brim.cli.output import (
    ReadingProgress,
    counted,
    cut,
    dollars,
    emit,
    facts,
    heading,
    lines,
    note,
    paint,
    table,
)
from brim.config.places import home_folder
from brim.errors import InputError
from brim.files import save
from brim.install.status import is_installed
from brim.report.index import findings_cache
from brim.report.overview import BASIS, DAYS, Names, Overview, sessions_report
from brim.report.page import page
from brim.report.waste import ADVICE
from brim.report.words import (
    break_rows,
    lost_rows,
    report_facts,
    total_cost,
    waste_line,
    waste_rows,
)
from brim.sessions.index import index_path
from brim.tracking.sessions import named_files, own_files


@command(
    option(
        "paths", nargs="*", metavar="PATH", help="what to read (default: the agents' own folders)"
    ),
    option(
        "--days",
        type=whole_number(1),
        metavar="N",
        help=f"the last N days (default: {DAYS}; with PATH, all)",
    ),
    option(
        "--project", metavar="PATH", help="this project only: its folder, or the last part of it"
    ),
    option(
        "--html",
        metavar="FILE",
        help="write a page to share; files and commands aren't named in it",
    ),
    option("--full", action="store_true", help="with --html: name them"),
    add_json,
)
def report(options: Namespace) -> int:
    """Show what happened in your past sessions: cost, compactions, cache breaks, waste.

    Reads the session files that Claude Code, Codex and Gemini CLI already keep, so it works without
    'brim init'. Nothing leaves your machine. PATH is a session's file, a folder of them, or a saved
    stream. Text sizes are estimated from bytes, with the ratio of bytes to billed tokens in that
    session.

    What was found is cached in ~/.brim/cache, so the next run reads only what is new. You can
    delete that folder.

    Examples:
      brim report
      brim report --days 7 --project .
      brim report --html report.html
    """
    if options.full and not options.html:
        raise InputError("--full belongs to --html FILE")
    found = look(options.paths, days=options.days, project=options.project)
    if options.html:
        save(options.html, page(found, full=options.full, now=time.time()))
    emit(found, show_summary, options.as_json)
    if found.bill.sessions and not options.as_json:
        print(f"\n{details(found)}")
    if options.html:
        note(f"wrote {os.path.abspath(options.html)}")
    note(*found.reading.failed)
    return 2 if found.reading.lacks(options.paths) else 0


def look(
    paths: list[str],
    *,
    days: int | None = None,
    project: str | None = None,
    most: int | None = None,
) -> Overview:
    """Return what happened in the sessions in *paths*, or in the agents' own folders, with a bar
    while it reads."""
    problems: list[str] = []
    if paths:
        files = named_files(paths, on_problem=problems.append)
    else:
        files = own_files(os.environ, on_problem=problems.append)
        days = days or DAYS
    progress = ReadingProgress()
    with progress:
        overview = sessions_report(
            files,
            days=days,
            project=project,
            index=None if paths else index_path(os.environ),
            cache=findings_cache(os.environ),
            home=home_folder(os.environ),
            models=own_prices(settings()),
            now=time.time(),
            on_read=progress,
            most=most,
        )
    overview.reading.failed[:0] = problems
    note(*overview.reading.notes)
    return overview


def show_summary(found: Overview) -> None:
    """Print the report in a few lines, or that there is nothing to report."""
    if found.reading.broken_lines:
        note(f"{counted(found.reading.broken_lines, 'broken line')} left out")
    if not found.bill.sessions:
        where = f" of {found.project}" if found.project else ""
        period = f" in the last {counted(found.days, 'day')}" if found.days else ""
        note(f"no sessions{where}{period} ({counted(found.reading.files, 'file')} read)")
        return
    print(summary(found, installed=is_installed(here())))


# How the report looks -----------------------------------------------------------------------------

MOST_ROWS = 10
"""Rows of a table; the rest is in ``--json`` and on the page."""


def summary(found: Overview, *, installed: bool) -> str:
    """Return the report in a few lines."""
    return facts(
        [
            *report_facts(found),
            ("brim init", "" if installed else "keeps what the next compaction drops"),
        ]
    )


def one_line(found: Overview) -> str:
    """Return the report in one line; empty if there are no sessions."""
    if not found.bill.sessions:
        return ""
    parts = [counted(found.bill.sessions, "session"), total_cost(found)]
    parts += [counted(len(found.lost.items), "compaction")] if found.lost.items else []
    cost = f" ({dollars(found.break_cost)})" if found.break_cost else ""
    parts += [f"{counted(len(found.breaks), 'cache break')}{cost}"] if found.breaks else []
    rest = "not all of them are read yet: " if found.reading.unread else ""
    return f"{', '.join(parts)} in the last {counted(found.days or 0, 'day')}; {rest}brim report"


def details(found: Overview) -> str:
    """Return the whole report: the few lines, then what they are made of."""
    names = Names()
    parts = [_lost_table(found), _breaks_table(found, names)]
    for each in found.waste:  # the sum, the advice, and the largest
        largest = [
            f"  {tokens}  {cut(name, 60)}" for tokens, _, name in waste_rows(each, names)[:3]
        ]
        parts.append(lines(waste_line(each), paint(f"  {ADVICE[each.kind]}", "faint"), *largest))
    return "\n\n".join([*filter(None, parts), paint(BASIS, "faint")])


def _lost_table(found: Overview) -> str:
    rows = lost_rows(found)
    if not rows:
        return ""
    head = ["compaction", "dropped", "found again", "tokens", "session"]
    drawn = heading(table([head, *rows[-MOST_ROWS:]], right=(2, 3)))
    earlier = f"and {len(rows) - MOST_ROWS:,} earlier; " if len(rows) > MOST_ROWS else ""
    return lines(drawn, paint(f"{earlier}brim memory lost SESSION lists what was dropped", "faint"))


def _breaks_table(found: Overview, names: Names) -> str:
    rows = break_rows(found, names)
    if not rows:
        return ""
    head = ["cache break", "likely cause", "tokens", "cost", "session", "project"]
    drawn = heading(table([head, *rows[:MOST_ROWS]], right=(2, 3), optional=(5, 4)))
    more = len(rows) - MOST_ROWS
    about = "a break: what the provider had cached was sent again, at the full price"
    return lines(
        drawn,
        paint(f"and {more:,} more (--json lists all); {about}" if more > 0 else about, "faint"),
    )
