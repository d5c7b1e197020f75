"""The page Money: what was used, by day, project or branch, and the limits."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from brim.config.places import home_folder
from brim.errors import InputError
from brim.install.status import open_limits
from brim.report.reading import read_sessions
from brim.report.usage import UsageFilter, UsageReport, price_version, usage_report
from brim.spend.limits import ANSWERS, OPEN
from brim.spend.periods import EVERYWHERE, PERCENT, read_ceiling
from brim.store.limits import LimitRow, Limits, ProjectRow
from brim.tracking.sessions import SessionFile
from brim.ui.place import Place, page
from brim.workspace import Workspace

BY = ("day", "week", "project", "branch", "model", "session")
DAYS = {7: "7 days", 30: "30 days", 90: "90 days", 0: "everything"}
ALMOST = 0.8
"""The share of a limit from which on its bar warns."""
MOST_ROWS = 200
"""Rows of the table; ``brim usage --json`` has all."""


@dataclass(frozen=True)
class Bar:
    """One limit as it is drawn."""

    row: LimitRow
    spent: str
    left: str
    share: float
    """Of the limit that is spent, at most 1."""
    level: str
    """``ok``, ``warn`` or ``compact``, as a window's."""


def bar(row: LimitRow) -> Bar:
    """Return how *row* is drawn."""
    if row.each:
        return Bar(row, "", "", 0.0, "ok")
    left = row.in_words(row.left)
    if row.unit == PERCENT and row.read_at is None:
        return Bar(row, "", left, 0.0, "ok")
    share = 0.0
    if row.amount:
        share = min(1.0, row.spent / row.amount)
    level = "ok"
    if row.left == 0 or row.state != OPEN:
        level = "compact"
    elif share >= ALMOST:
        level = "warn"
    return Bar(row, row.in_words(row.spent, up=True), left, share, level)


def usage(place: Place, by: str, days: int) -> UsageReport:
    """Return what was used in the last *days*, 0 is ever, as ``brim usage --by`` does."""
    since = None
    begin = 0.0
    if days:
        since = date.today() - timedelta(days=days - 1)
        begin = time.mktime(since.timetuple())
    files = place.files(begin)

    def read(advance: Any) -> UsageReport:
        return read_usage(place, files, by, since, lambda size, *_: advance(size))

    size = sum(file.unread for file in files)
    return place.work.get(("usage", by, days, *files), "your sessions", size, read)


def read_usage(
    place: Place,
    files: list[SessionFile],
    by: str,
    since: date | None,
    on_read: Callable[[int, int, int], object],
) -> UsageReport:
    """Return what was used in all sessions since that day; *files* may have something new."""
    reading = read_sessions(
        files,
        index=place.index,
        home=home_folder(place.environ),
        price_version=price_version(place.workspace().config.yours["models"]),
        on_read=on_read,
    )
    first_day = None
    if since is not None:
        first_day = since.isoformat()
    with reading.index:
        return usage_report(reading, by=by, wanted=UsageFilter(since=first_day), now=time.time())


def money(place: Place, request: Request) -> Response:
    """Show the page."""
    by = request.query_params.get("by", "day")
    days = request.query_params.get("days", "30")
    if by not in BY or not days.isdigit() or int(days) not in DAYS:
        choices = ", ".join(map(str, DAYS))
        raise InputError(f"by is one of {', '.join(BY)}, and days one of {choices}")
    report = usage(place, by, int(days))
    sums = report.sums
    if by in ("day", "week"):
        sums = sums[::-1]
    workspace = place.workspace()
    return page(
        "money.html",
        place,
        here="money",
        said=request.query_params.get("said", ""),
        by=by,
        days=int(days),
        every_by=BY,
        every_days=DAYS,
        report=report,
        sums=sums[:MOST_ROWS],
        more=max(0, len(sums) - MOST_ROWS),
        most=max((row.cost for row in sums), default=0),
        projects=project_bars(workspace),
        project=os.path.basename(workspace.place),
    )


def project_bars(workspace: Workspace) -> list[tuple[ProjectRow, list[Bar]]]:
    """Return every project with its limits as they are drawn."""
    with open_limits(workspace) as limits:
        if limits is None:
            return []
        projects = limits.projects()
    return [(project, [bar(row) for row in project.limits]) for project in projects]


def set_limit(place: Place, form: dict[str, str]) -> str:
    """Set, raise or remove a limit, or answer at one, as ``brim limit`` does."""
    action = form.get("action", "")
    text = form.get("limit", "").strip()
    with place.workspace().open_limits() as limits:
        scope = form.get("scope", "")
        if not scope:
            project = form.get("project", "")
            if form.get("everywhere"):
                project = EVERYWHERE
            scope = limits.scope(project)
        name = limits.name(scope)
        if action == "set":
            rows = limits.set(scope, [read_ceiling(text)])
            return f"{name}: {', '.join(row.said for row in rows)}."
        if action == "remove":
            periods = [text] if text else []
            removed = limits.remove(scope, periods)
            return f"Removed from {name}: {', '.join(row.said for row in removed)}."
        return _answer(limits, scope, action, text)


def _answer(limits: Limits, scope: str, action: str, text: str) -> str:
    """Answer at a limit, and say what holds now."""
    if action not in ANSWERS:
        raise InputError(f"a limit isn't answered with {action[:40]!r}")
    ceiling = None
    if action == "raise":
        ceiling = read_ceiling(text)
    limits.answer(scope, action, ceiling)
    results = {
        "continue": "may go on",
        "raise": f"has a limit of {text} now",
        "wrap_up": "wraps up",
        "stop": "is stopped",
    }
    return f"{limits.name(scope)} {results[action]}."
