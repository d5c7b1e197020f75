"""``brim report``: what happened in past sessions."""

from __future__ import annotations

import os
import time
from argparse import Namespace

from brim.cli.options import add_json, command, option, own_prices, settings, whole_number
from brim.cli.output import ReadingProgress, counted, emit, note, say, tell_all
from brim.cli.report_view import details, page, summary
from brim.config import user_folder
from brim.errors import InputError
from brim.files import save
from brim.install.receipt import read_records
from brim.report.index import FILE
from brim.report.overview import DAYS, Overview, sessions_report
from brim.tracking.sessions import named_files, own_files


@command(
    option("paths", nargs="*", metavar="PATH", help="what to read (default: the agents' own folders)"),
    option("--days", type=whole_number(1), metavar="N", help=f"the last N days (default: {DAYS}; with PATH, all)"),
    option("--project", metavar="PATH", help="this project only: its folder, or the last part of it"),
    option("--html", metavar="FILE", help="write a page to share; files and commands aren't named in it"),
    option("--full", action="store_true", help="with --html: name them"),
    add_json,
)
def report(options: Namespace) -> int:
    """Show what happened in your past sessions: cost, compactions, cache breaks, waste.

    Reads the files that Claude Code, Codex and Gemini CLI keep anyway; it works without 'brim init', and nothing leaves
    your machine. PATH is a session's file, a folder of them, or a saved stream. Sizes of texts are estimated: their
    bytes by the bytes of a billed token of the same session.

    Results are cached in ~/.brim/usage.db, so the next run reads only what is new. You can delete that file.

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
    emit(found, show, options.as_json)
    if options.html:
        note(f"wrote {os.path.abspath(options.html)}")
    tell_all(*found.reading.failed)
    return 2 if found.reading.lacks(options.paths) else 0


def look(paths: list[str], *, days: int | None = None, project: str | None = None, most: int | None = None) -> Overview:
    """Return what happened in the sessions in *paths*, or in the agents' own folders, with a bar while it reads."""
    problems: list[str] = []
    tell = problems.append
    files = named_files(paths, on_problem=tell) if paths else own_files(os.environ, on_problem=tell)
    progress = ReadingProgress()
    found = sessions_report(
        files,
        days=days or (None if paths else DAYS),
        project=project,
        index=os.path.join(user_folder(os.environ), FILE),
        models=own_prices(settings()),
        now=time.time(),
        on_read=progress,
        most=most,
    )
    found.reading.failed[:0] = problems
    progress.clear()
    tell_all(*found.reading.notes)
    return found


def show(found: Overview) -> None:
    """Print the report."""
    show_summary(found)
    if found.bill.sessions:
        say(f"\n{details(found)}")


def show_summary(found: Overview) -> None:
    """Print the report in a few lines, or that there is nothing to report."""
    if not found.bill.sessions:
        where = f" of {found.project}" if found.project else ""
        period = f" in the last {counted(found.days, 'day')}" if found.days else ""
        note(f"no sessions{where}{period} ({counted(found.reading.files, 'file')} read)")
        return
    installed = bool(read_records(user_folder(os.environ)))
    say(summary(found, installed=installed))
