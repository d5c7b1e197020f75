"""Bare ``brim`` and ``brim context``: where things stand."""

from __future__ import annotations

import os
import time
from argparse import Namespace
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from brim.behaviors.behavior import LIVE, Status
from brim.cli.gauge import draw, plan_lines
from brim.cli.options import add_json, command, here, option
from brim.cli.output import (
    counted,
    dollars,
    emit,
    facts,
    fields_of,
    home_path,
    lines,
    note,
    table,
    terminal_width,
)
from brim.errors import InputError
from brim.hooks.process import is_paused
from brim.hooks.standing import project_status
from brim.report.watch import Watch
from brim.store.backup import lost_rules
from brim.tracking.auto_compact import AutoCompact
from brim.tracking.gauge import percent
from brim.tracking.live import follow, ignore
from brim.tracking.plan_windows import PlanWindow, current_plan_windows
from brim.tracking.sessions import newest
from brim.workspace import DATABASE, Workspace

if TYPE_CHECKING:
    from brim.report.watch import Reading


def session_of(workspace: Workspace, path: str = "") -> Reading | None:
    """Return how full the window of the session in *path* is; without it, of the newest session of this project."""
    if not path:
        with suppress(InputError):
            found = newest(workspace.environ, workspace.cwd or None)
            path = found.path if found.here else ""
    if not path:
        return None
    watch = Watch(workspace.config, environ=workspace.environ)  # without a memory: looking changes nothing
    counts, ticks = follow(path, interval=1.0, idle=None, once=True, taken=ignore)
    for tick in ticks:
        watch.take(tick.events, live=False)
    return watch.reading(path, counts)


@command(option("path", nargs="?", default="", metavar="PATH", help="a session's file (default: the newest)"), add_json)
def context(options: Namespace) -> int:
    """Show what fills the window of the current session.

    The session is the newest of this project, or the one in the file PATH. 'brim watch' follows it live. Exits with 1
    if there is no session.

    Examples:
      brim context
      brim context ~/.claude/projects/-home-me-shop/SESSION.jsonl --json
    """
    reading = session_of(here(), options.path)
    if reading is None:
        note("no session of this project found: name its file, or start your agent here")
        return 1
    return emit(dict(reading), lambda _: "\n".join(draw(reading, terminal_width())), options.as_json)


@command(add_json)
def status(options: Namespace) -> int:
    """Show where things stand: the current session, rules, money, and what needs attention.

    'brim' without a command does the same.

    Example:
      brim status --json
    """
    workspace = here()
    workspace.goes_on = True  # a project that can't be read is something to attend to
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
        },
        "spending": None if spending is None else fields_of(spending),
        "plan_windows": [each.to_dict() for each in current_plan_windows(workspace.environ, workspace.now)],
        "paused": is_paused(workspace.home),
    }
    found["attention"] = [{"text": text, "fix": fix} for text, fix in _attention(found, workspace, changes)]
    return emit(found, _status_view, options.as_json)


def _attention(found: dict[str, Any], workspace: Workspace, changes: str) -> list[tuple[str, str]]:
    """Return what needs attention, each with the command that helps."""
    session, spending, waiting = found["session"], found["spending"], found["rules"]["pending"]
    project = workspace.scope_folders.get("project")
    lost = lost_rules(os.path.join(project, DATABASE), workspace.home) if project else None
    wants: list[tuple[bool, str, str]] = [
        (not os.path.isdir(workspace.home), "brim is not installed in your agents", "brim init"),
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
            workspace.has_foreign_memory,
            "the memory in .context/ wasn't made here, so agents don't use it",
            "brim trust",
        ),
        (waiting > 0, f"{counted(waiting, 'note')} of agents to review", "brim rules review"),
        (bool(spending) and spending["state"] != "open", "the limit of this project is reached", "brim limit"),
        (bool(session) and session["should_compact"], "the window is almost full: compact soon", "brim context"),
    ]
    return [(text, fix) for wanted, text, fix in wants if wanted]


def _status_view(found: dict[str, Any]) -> str:
    session, spending, rules = found["session"], found["spending"], found["rules"]
    project = "none here" if found["project"] is None else home_path(found["project"])
    if rules["project"] and not found["trusted"]:
        project = f"{project} (not trusted)"
    rows = [
        ("project", project),
        ("session", "none of this project" if session is None else _session_line(session)),
        ("rules", f"{counted(rules['project'], 'rule')} of this project, {rules['user']:,} of your own"),
        ("money", "nothing spent, no limit" if spending is None else _money_line(spending)),
        *[("plan", line) for line in plan_lines([PlanWindow(**each) for each in found["plan_windows"]], time.time())],
    ]
    attention = [[f"  {each['fix']}", each["text"]] for each in found["attention"]]
    return lines(facts(rows), f"\nneeds attention:\n{table(attention)}" if attention else "")


def _session_line(session: dict[str, Any]) -> str:
    used, window, point = session["used_tokens"], session["context_window"], session["auto_compact"]
    parts = [session["model"], f"{percent(used / window)} of {window:,} tokens" if window else f"{used:,} tokens"]
    parts += [AutoCompact(**point).told(used)[0]] if point and used else []
    parts += [dollars(session["cost"])] if session["cost"] else []
    parts += [counted(session["compactions"], "compaction")] if session["compactions"] else []
    return ", ".join(part for part in parts if part)


def _money_line(spending: dict[str, Any]) -> str:
    spent, limit = dollars(spending["spent"], up=True), spending["limit"]
    return f"{spent} spent, no limit" if limit is None else f"{spent} of {dollars(limit, up=False)} spent"
