"""Bare ``brim``: where things stand."""

from __future__ import annotations

import os
import time
from argparse import Namespace
from contextlib import closing, suppress
from functools import partial

from brim.cli.commands.report import audit_here, look, one_line
from brim.cli.first_look import no_sessions_view, past_view
from brim.cli.gauge import plan_lines
from brim.cli.options import add_json, command, lenient_workspace, own_prices
from brim.cli.output import counted, dollars, emit, home_path, lines, note, printable
from brim.cli.tables import facts, table
from brim.errors import InputError
from brim.figures import percent
from brim.install.status import HomeStatus, home_status, is_installed
from brim.money.words import stopped_sentence, sum_sentence
from brim.rules.state import RulesState
from brim.run.watch import read_session
from brim.sessions.report.overview import DAYS
from brim.sessions.report.week import WEEK, week_of
from brim.sessions.session_files import newest
from brim.sessions.window.live import Reading
from brim.sessions.window.windows import AutoCompact
from brim.workspace import Workspace

READ_AT_MOST = 20_000_000
"""Bytes of past sessions that are read for one line about them; if there are more, what is known
already counts."""


def session_of(workspace: Workspace) -> Reading | None:
    """Return how full the window of this project's newest session is; None if it has none."""
    path = _own_newest(workspace)
    if not path:
        return None
    own_prices(workspace.config)
    return read_session(path, workspace.config, workspace.environ)


def _own_newest(workspace: Workspace) -> str:
    """Return the file of this project's newest session; empty if there is none."""
    with suppress(InputError):
        newest_file = newest(workspace.environ, workspace.cwd or None)
        if newest_file.here:
            return newest_file.path
    return ""


def newest_session(workspace: Workspace) -> str:
    """Return the file of the newest session, and say so if it isn't of this project.

    Raises if there is none.
    """
    newest_file = newest(workspace.environ, workspace.cwd or None)
    if not newest_file.here:
        note(f"no session of this project; the newest of all: {printable(newest_file.path)}")
    return newest_file.path


@command(add_json)
def status(options: Namespace) -> int:
    """Show where things stand: the current session, rules, money, past sessions, and what needs
    attention.

    Until 'brim init' has run, it shows what your past sessions spent, forgot, broke and wasted
    instead.

    Example:
      brim --json
    """
    workspace = lenient_workspace()  # a project that can't be read is something to attend to
    installed = is_installed(workspace)
    most = None
    if installed:
        most = READ_AT_MOST
    past = look([], most=most)
    is_new = not (installed or options.as_json)
    if is_new and past.bill.sessions:
        print(past_view(past, audit_here(past.days or DAYS, size_limit=READ_AT_MOST)))
        note(*past.reading.failed)
        return 0
    if is_new and not os.path.isdir(workspace.home):
        print(no_sessions_view())
        return 0
    session = session_of(workspace)
    is_full = session is not None and bool(session["should_compact"])
    status = home_status(workspace, almost_full=is_full)
    with closing(RulesState(workspace.home, now=workspace.now)) as state:
        stopped = state.held_since(workspace.now - WEEK)
    week = week_of(past, stopped=stopped, now=workspace.now)
    result = {
        **status.to_dict(),
        "session": session,
        "report": past.headline,
        "week": week.to_dict(),
    }
    view = partial(_status_view, status, session, str(week), one_line(past))
    return emit(result, view, options.as_json)


def _status_view(
    status: HomeStatus, session: Reading | None, week: str, past: str, _: object
) -> str:
    rules = status.rules
    counts = f"{counted(rules['project'], 'rule')} in this project, {rules['user']:,} of your own"
    rows = [
        ("project", _project_line(status)),
        ("session", _session_line(session)),
        ("rules", counts),
        ("money", _money_line(status)),
        ("this week", week),
        ("past", past),
    ]
    rows += [("plan", line) for line in plan_lines(status.plan_windows, time.time())]
    view = facts(rows)
    if status.attention:
        commands = [[f"  {fix}", text] for text, fix in status.attention]
        view = lines(view, f"\nneeds attention:\n{table(commands)}")
    return view


def _project_line(status: HomeStatus) -> str:
    if status.project is None:
        return "none here"
    project = home_path(status.project)
    if status.rules["project"] and not status.trusted:
        return f"{project} (not trusted)"
    return project


def _session_line(session: Reading | None) -> str:
    if session is None:
        return "none in this project"
    used = session["used_tokens"]
    window = session["context_window"]
    size = f"{used:,} tokens"
    if window:
        size = f"{percent(used / window)} of {window:,} tokens"
    parts = [session["model"], size]
    point = session["auto_compact"]
    if point and used:
        parts.append(AutoCompact(**point).told(used + session["answer_tokens"])[0])
    if session["cost"]:
        parts.append(dollars(session["cost"]))
    if session["compactions"]:
        parts.append(counted(session["compactions"], "compaction"))
    return ", ".join(filter(None, parts))


def _money_line(status: HomeStatus) -> str:
    """Return what stopped an agent and how to go on; else where every limit stands."""
    stopped = [standing for standing in status.limits if standing.is_stopped]
    if stopped:
        return f"stopped: {stopped_sentence(stopped[0])}"
    if status.limits:
        return ", ".join(sum_sentence(standing)[:-1] for standing in status.limits)
    return f"{dollars(status.spent_today)} spent today, no limit"
