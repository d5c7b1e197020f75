"""Bare ``brim``: where things stand."""

from __future__ import annotations

import time
from argparse import Namespace
from contextlib import suppress
from typing import Any

from brim.cli.commands.report import look, one_line, show_summary
from brim.cli.gauge import plan_lines
from brim.cli.options import add_json, command, here, own_prices
from brim.cli.output import counted, dollars, emit, home_path, lines, note, printable
from brim.cli.tables import facts, table
from brim.errors import InputError
from brim.figures import percent
from brim.install.status import home_status, is_installed
from brim.report.lost import named_session
from brim.report.watch import Reading, read_session
from brim.spend.money import limit_in
from brim.store.limits import LimitRow
from brim.tracking.auto_compact import AutoCompact
from brim.tracking.plan_windows import PlanWindow
from brim.tracking.sessions import newest
from brim.workspace import Workspace

READ_AT_MOST = 20_000_000
"""Bytes of past sessions that are read for one line about them; if there are more, what is known
already counts."""


def session_of(workspace: Workspace, path: str = "") -> Reading | None:
    """Return how full the window of a session is: by its *path* or id, or the newest of this
    project."""
    if path:
        named = named_session(workspace, path)
        if not named:
            raise InputError(f"{path}: no such file, and no session's id begins with it")
        path = named[0][0]
    else:
        with suppress(InputError):
            found = newest(workspace.environ, workspace.cwd or None)
            path = found.path if found.here else ""
    if not path:
        return None
    own_prices(workspace.config)
    return read_session(path, workspace.config, workspace.environ)


def newest_session(workspace: Workspace) -> str:
    """Return the file of the newest session, and say so if it isn't of this project; raise if there
    is none."""
    found = newest(workspace.environ, workspace.cwd or None)
    if not found.here:
        note(f"no session of this project; the newest of all: {printable(found.path)}")
    return found.path


@command(add_json)
def status(options: Namespace) -> int:
    """Show where things stand: the current session, rules, money, past sessions, and what needs
    attention.

    Until 'brim init' has run, it shows what happened in your past sessions instead, as 'brim
    report' does.

    Example:
      brim --json
    """
    workspace = here()
    workspace.goes_on = True  # a project that can't be read is something to attend to
    installed = is_installed(workspace)
    past = look([], most=READ_AT_MOST if installed else None)
    if past.bill.sessions and not (installed or options.as_json):
        show_summary(past)
        note(*past.reading.failed)
        return 0
    session = session_of(workspace)
    found = home_status(
        workspace, almost_full=session is not None and session["should_compact"]
    ).to_dict()
    found |= {"session": None if session is None else dict(session), "report": past.headline}
    return emit(found, lambda found: _status_view(found, one_line(past)), options.as_json)


def _status_view(found: dict[str, Any], past: str) -> str:
    session, spending, rules = found["session"], found["spending"], found["rules"]
    project = "none here" if found["project"] is None else home_path(found["project"])
    if rules["project"] and not found["trusted"]:
        project = f"{project} (not trusted)"
    rows = [
        ("project", project),
        ("session", "none in this project" if session is None else _session_line(session)),
        (
            "rules",
            f"{counted(rules['project'], 'rule')} in this project, {rules['user']:,} of your own",
        ),
        ("money", _money_line(spending, [LimitRow(**each) for each in found["limits"]])),
        ("past", past),
        *[
            ("plan", line)
            for line in plan_lines(
                [PlanWindow(**each) for each in found["plan_windows"]], time.time()
            )
        ],
    ]
    attention = [[f"  {each['fix']}", each["text"]] for each in found["attention"]]
    return lines(facts(rows), f"\nneeds attention:\n{table(attention)}" if attention else "")


def _session_line(session: dict[str, Any]) -> str:
    used, window, point = session["used_tokens"], session["context_window"], session["auto_compact"]
    parts = [
        session["model"],
        f"{percent(used / window)} of {window:,} tokens" if window else f"{used:,} tokens",
    ]
    parts += (
        [AutoCompact(**point).told(used + session["answer_tokens"])[0]] if point and used else []
    )
    parts += [dollars(session["cost"])] if session["cost"] else []
    parts += [counted(session["compactions"], "compaction")] if session["compactions"] else []
    return ", ".join(part for part in parts if part)


def _money_line(spending: dict[str, Any] | None, limits: list[LimitRow]) -> str:
    if limits:
        return ", ".join(limit.summary(time.time()) for limit in limits)
    if spending is None:
        default = limit_in(here().config["spend.limit"])
        return f"nothing counted yet, {'no limit' if default is None else f'{dollars(default)} allowed in all'}"
    spent, limit = dollars(spending["spent"], up=True), spending["limit"]
    return (
        f"{spent} spent, no limit on it"
        if limit is None
        else f"{spent} of {dollars(limit, up=False)} spent"
    )
