"""Bare ``brim``: where things stand."""

from __future__ import annotations

import os
import time
from argparse import Namespace
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from brim.behaviors.behavior import LIVE, Status
from brim.cli.commands.report import look, one_line, show_summary
from brim.cli.gauge import plan_lines
from brim.cli.options import add_json, command, here, own_prices
from brim.cli.output import (
    counted,
    dollars,
    emit,
    facts,
    fields_of,
    home_path,
    lines,
    table,
    tell_all,
)
from brim.errors import InputError
from brim.hooks.process import is_paused
from brim.hooks.standing import project_status
from brim.install.receipt import read_records
from brim.report.lost import named_session
from brim.report.watch import Watch
from brim.store.backup import lost_rules
from brim.store.suggestions import Suggestions
from brim.tracking.auto_compact import AutoCompact
from brim.tracking.gauge import percent
from brim.tracking.live import follow, ignore
from brim.tracking.plan_windows import PlanWindow, current_plan_windows
from brim.tracking.sessions import newest
from brim.workspace import DATABASE, Workspace

if TYPE_CHECKING:
    from brim.report.watch import Reading

READ_AT_MOST = 20_000_000
"""Bytes of past sessions that are read for one line about them; if there are more, what is known already counts."""


def session_of(workspace: Workspace, path: str = "") -> Reading | None:
    """Return how full the window of a session is: by its *path* or id, or the newest of this project."""
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
    watch = Watch(workspace.config, environ=workspace.environ)  # without a memory: looking changes nothing
    counts, ticks = follow(path, interval=1.0, idle=None, once=True, taken=ignore)
    for tick in ticks:
        watch.take(tick.events, live=False)
    return watch.reading(path, counts)


@command(add_json)
def status(options: Namespace) -> int:
    """Show where things stand: the current session, rules, money, past sessions, and what needs attention.

    'brim' without a command does the same. Until 'brim init' has run, it shows what happened in your past sessions
    instead, as 'brim report' does.

    Example:
      brim status --json
    """
    workspace = here()
    workspace.goes_on = True  # a project that can't be read is something to attend to
    installed = bool(read_records(workspace.home))
    past = look([], most=READ_AT_MOST if installed else None)
    if past.bill.sessions and not (installed or options.as_json):
        show_summary(past)
        tell_all(*past.reading.failed)
        return 0
    with workspace.open() as scopes:
        live = [(each.scope, each.status) for each in scopes.behaviors(LIVE)]
        changes = workspace.changes_of(scopes)
    session = session_of(workspace)
    spending = project_status(workspace)
    waiting = sum(state is Status.PENDING for _, state in live)
    found: dict[str, Any] = {
        "project": workspace.project,
        "trusted": workspace.trusted,
        "session": None if session is None else dict(session),
        "rules": {
            "project": sum(scope == "project" for scope, _ in live),
            "user": sum(scope == "user" for scope, _ in live),
            "pending": waiting,
            "corrections": len(Suggestions(workspace.home).waiting(workspace.project)),
        },
        "spending": None if spending is None else fields_of(spending),
        "plan_windows": [each.to_dict() for each in current_plan_windows(workspace.environ, workspace.now)],
        "paused": is_paused(workspace.home),
        "installed": installed,
        "report": past.headline,
    }
    found["attention"] = [{"text": text, "fix": fix} for text, fix in _attention(found, workspace, changes)]
    return emit(found, lambda found: _status_view(found, one_line(past)), options.as_json)


def _attention(found: dict[str, Any], workspace: Workspace, changes: str) -> list[tuple[str, str]]:
    """Return what needs attention, each with the command that helps."""
    session, spending, waiting = found["session"], found["spending"], found["rules"]["pending"]
    project = workspace.scope_folders.get("project")
    memory = workspace.memory_problem
    corrections = found["rules"]["corrections"]
    lost = lost_rules(os.path.join(project, DATABASE), workspace.home) if project else None
    wants: list[tuple[bool, str, str]] = [
        (not found["installed"], "brim is not installed in your agents", "brim init"),
        (found["paused"], "hooks are paused", "brim resume"),
        (
            bool(found["rules"]["project"]) and not workspace.trusted,
            "this project isn't trusted, so agents don't hear its rules",
            "brim trust",
        ),
        (lost is not None, "this project's store has lost rules, and brim kept a copy", "brim backup restore"),
        (
            "project" in workspace.problems,
            "this project's rules can't be read, so agents go without",
            "brim doctor",
        ),
        (bool(changes), changes.partition(":")[0], "brim trust"),
        (
            memory is not None,
            "agents don't use the memory in .context/",
            "brim trust" if memory is not None and memory.reason == "foreign" else "brim doctor",
        ),
        (waiting > 0, f"{counted(waiting, 'note')} of agents to review", "brim rules review"),
        (corrections > 0, f"{counted(corrections, 'correction')} to review", "brim rules review"),
        (bool(spending) and spending["state"] != "open", "the limit of this project is reached", "brim limit"),
        (bool(session) and session["should_compact"], "the window is almost full: compact soon", "brim context"),
    ]
    return [(text, fix) for wanted, text, fix in wants if wanted]


def _status_view(found: dict[str, Any], past: str) -> str:
    session, spending, rules = found["session"], found["spending"], found["rules"]
    project = "none here" if found["project"] is None else home_path(found["project"])
    if rules["project"] and not found["trusted"]:
        project = f"{project} (not trusted)"
    rows = [
        ("project", project),
        ("session", "none of this project" if session is None else _session_line(session)),
        ("rules", f"{counted(rules['project'], 'rule')} of this project, {rules['user']:,} of your own"),
        ("money", "nothing spent, no limit" if spending is None else _money_line(spending)),
        ("past", past),
        *[("plan", line) for line in plan_lines([PlanWindow(**each) for each in found["plan_windows"]], time.time())],
    ]
    attention = [[f"  {each['fix']}", each["text"]] for each in found["attention"]]
    return lines(facts(rows), f"\nneeds attention:\n{table(attention)}" if attention else "")


def _session_line(session: dict[str, Any]) -> str:
    used, window, point = session["used_tokens"], session["context_window"], session["auto_compact"]
    parts = [session["model"], f"{percent(used / window)} of {window:,} tokens" if window else f"{used:,} tokens"]
    parts += [AutoCompact(**point).told(used + session["answer_tokens"])[0]] if point and used else []
    parts += [dollars(session["cost"])] if session["cost"] else []
    parts += [counted(session["compactions"], "compaction")] if session["compactions"] else []
    return ", ".join(part for part in parts if part)


def _money_line(spending: dict[str, Any]) -> str:
    spent, limit = dollars(spending["spent"], up=True), spending["limit"]
    return f"{spent} spent, no limit" if limit is None else f"{spent} of {dollars(limit, up=False)} spent"
