"""``brim report``: what happened in past sessions, and what they took."""

from __future__ import annotations

import os
import time
from argparse import Namespace

from brim.cli.options import add_json, command, lenient_workspace, option, own_prices, whole_number
from brim.cli.output import counted, cut, dollars, emit, lines, note, paint
from brim.cli.progress import ReadingProgress
from brim.cli.tables import facts, heading, table
from brim.config.places import home_folder
from brim.errors import InputError
from brim.files import save
from brim.install.status import is_installed
from brim.rules.checks import CallPlace
from brim.rules.rulebook import ACTIVE
from brim.sessions.index import index_path
from brim.sessions.report.index import findings_cache
from brim.sessions.report.overview import BASIS, DAYS, Names, Overview, sessions_report
from brim.sessions.report.page import page
from brim.sessions.report.waste import ADVICE
from brim.sessions.report.words import (
    break_rows,
    lost_rows,
    report_facts,
    total_cost,
    waste_line,
    waste_rows,
)
from brim.sessions.rule_audit import (
    RuleAudit,
    audit_cache,
    audit_line,
    audit_rules,
    audit_totals,
    past_sessions,
)
from brim.sessions.session_files import named_files, own_files


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
    overview = look(options.paths, days=options.days, project=options.project)
    audit = None
    if not options.paths and not options.project:
        audit = audit_here(overview.days or DAYS)
    if options.html:
        save(options.html, page(overview, full=options.full, now=time.time()))
    result = overview.to_dict()
    rules = ""
    if audit is not None:
        result["rules"] = audit_totals(audit)
        rules = audit_line(audit)
    emit(result, lambda _: show_summary(overview, rules), options.as_json)
    if overview.bill.sessions and not options.as_json:
        print(f"\n{details(overview)}")
    if options.html:
        note(f"wrote {os.path.abspath(options.html)}")
    note(*overview.reading.failed)
    if overview.reading.lacks(options.paths):
        return 2
    return 0


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
            models=own_prices(lenient_workspace().config),
            now=time.time(),
            on_read=progress,
            most=most,
        )
    overview.reading.failed[:0] = problems
    note(*overview.reading.notes)
    return overview


def show_summary(overview: Overview, rules: str = "") -> None:
    """Print the report in a few lines, or that there is nothing to report."""
    if overview.reading.broken_lines:
        note(f"{counted(overview.reading.broken_lines, 'broken line')} left out")
    if overview.bill.sessions:
        print(summary(overview, rules, installed=is_installed(lenient_workspace())))
        return
    text = "no sessions"
    if overview.project:
        text += f" of {overview.project}"
    if overview.days:
        text += f" in the last {counted(overview.days, 'day')}"
    note(f"{text} ({counted(overview.reading.files, 'file')} read)")


# How the report looks -----------------------------------------------------------------------------

LARGEST = 3
"""Cases of a waste that are named."""
MOST_ROWS = 10
"""Rows of a table; the rest is in ``--json`` and on the page."""


def audit_here(days: int, *, size_limit: int | None = None) -> RuleAudit | None:
    """Return what became of the rules that count here in the sessions of the last *days*.

    None if these have more bytes than *size_limit*.
    """
    workspace = lenient_workspace()
    entries = [entry for entry in workspace.rulebook.entries() if entry.state == ACTIVE]
    place = CallPlace(
        folder=workspace.cwd,
        project=workspace.project or "",
        home=home_folder(workspace.environ),
    )
    files = past_sessions(workspace.environ, workspace.project, days=days, now=workspace.now)
    if size_limit is not None and sum(file.stamp.size for file in files) > size_limit:
        return None
    progress = ReadingProgress()
    with progress:
        return audit_rules(
            entries,
            files,
            place,
            days=days,
            cache=audit_cache(workspace.environ),
            on_read=progress,
        )


def summary(overview: Overview, rules: str = "", *, installed: bool) -> str:
    """Return the report in a few lines."""
    rows = list(report_facts(overview))
    if rules:
        rows.append(("rules", rules))
    if not installed:
        rows.append(("brim init", "keeps what the next compaction drops"))
    return facts(rows)


def one_line(overview: Overview) -> str:
    """Return the report in one line; empty if there are no sessions."""
    if not overview.bill.sessions:
        return ""
    parts = [counted(overview.bill.sessions, "session"), total_cost(overview)]
    if overview.lost.items:
        parts.append(counted(len(overview.lost.items), "compaction"))
    if overview.breaks:
        breaks = counted(len(overview.breaks), "cache break")
        if overview.break_cost:
            breaks += f" ({dollars(overview.break_cost)})"
        parts.append(breaks)
    period = f"in the last {counted(overview.days or 0, 'day')}"
    hint = "brim report"
    if overview.reading.unread:
        hint = "not all of them are read yet: brim report"
    return f"{', '.join(parts)} {period}; {hint}"


def details(overview: Overview) -> str:
    """Return the whole report: the few lines, then what they are made of."""
    names = Names()
    parts = [_lost_table(overview), _breaks_table(overview, names)]
    for waste in overview.waste:  # the sum, the advice, and the largest
        rows = waste_rows(waste, names)[:LARGEST]
        largest = [f"  {tokens}  {cut(name, 60)}" for tokens, _, name in rows]
        advice = paint(f"  {ADVICE[waste.kind]}", "faint")
        parts.append(lines(waste_line(waste), advice, *largest))
    return "\n\n".join([*filter(None, parts), paint(BASIS, "faint")])


def _lost_table(overview: Overview) -> str:
    rows = lost_rows(overview)
    if not rows:
        return ""
    head = ["compaction", "dropped", "found again", "tokens", "session"]
    view = heading(table([head, *rows[-MOST_ROWS:]], right=(2, 3)))
    hint = "brim memory lost SESSION lists what was dropped"
    if len(rows) > MOST_ROWS:
        hint = f"and {len(rows) - MOST_ROWS:,} earlier; {hint}"
    return lines(view, paint(hint, "faint"))


def _breaks_table(overview: Overview, names: Names) -> str:
    rows = break_rows(overview, names)
    if not rows:
        return ""
    head = ["cache break", "likely cause", "tokens", "cost", "session", "project"]
    view = heading(table([head, *rows[:MOST_ROWS]], right=(2, 3), optional=(5, 4)))
    hint = "a break: what the provider had cached was sent again, at the full price"
    hidden = len(rows) - MOST_ROWS
    if hidden > 0:
        hint = f"and {hidden:,} more (--json lists all); {hint}"
    return lines(view, paint(hint, "faint"))
