"""The page Money: what was used, by day, project or branch, and the limits."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from brim.config.places import home_folder
from brim.errors import InputError
from brim.models.versions import price_version
from brim.money.amounts import in_unit
from brim.money.book import LimitBook
from brim.money.changing import (
    change_limits,
    limits_to_set,
    raised_by,
    stopped_limit,
    with_new,
    without,
)
from brim.money.decision import BELOW, WARNED
from brim.money.limits import SpendingLimit
from brim.money.standing import TENTH, LimitStanding
from brim.money.words import stopped_sentence
from brim.sessions.report.usage import UsageFilter, UsageReport, usage_report
from brim.sessions.requests import EVERYTHING
from brim.sessions.session_files import SessionFile
from brim.sessions.up_to_date import read_sessions
from brim.ui.place import Place, page
from brim.ui.team import team_page
from brim.workspace import Workspace

BY = ("day", "week", "project", "branch", "model", "session")
DAYS = {7: "7 days", 30: "30 days", 90: "90 days", 0: "everything"}
MOST_ROWS = 200
"""Rows of the table; ``brim usage --json`` has all."""


@dataclass(frozen=True)
class Bar:
    """One limit as it is drawn."""

    standing: LimitStanding
    spent: str
    left: str
    go_on: str
    """How to go on after it was reached; empty if it isn't."""

    @property
    def share(self) -> float:
        """How much of the limit is spent, at most 1."""
        return min(1.0, self.standing.share)

    @property
    def level(self) -> str:
        """``ok``, ``warn`` or ``compact``, as a window's."""
        levels = {BELOW: "ok", WARNED: "warn"}
        return levels.get(self.standing.level, "compact")


def bar(standing: LimitStanding) -> Bar:
    """Return how *standing* is drawn."""
    unit = standing.limit.unit
    spent = in_unit(standing.spent, unit)
    left = in_unit(standing.left, unit)
    remedy = ""
    if standing.is_stopped:
        remedy = stopped_sentence(standing)
    return Bar(standing, spent, left, remedy)


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
        projects=limit_bars(workspace),
        team=team_page(place, request),
        project=os.path.basename(workspace.limits_project),
    )


def limit_bars(workspace: Workspace) -> list[tuple[str, list[Bar], list[SpendingLimit]]]:
    """Return every project with its limits as they are drawn, and those whose sum isn't known; what
    is stopped comes first."""
    settings = workspace.limit_settings
    with workspace.open_index() as index:
        book = LimitBook.of_user(settings, index, workspace.environ, workspace.now)
        standings = book.standings()
        unread = book.unread()
    projects = [standing.limit.project for standing in standings]
    projects += [limit.project for limit in unread]
    return [
        (
            project,
            [bar(standing) for standing in standings if standing.limit.project == project],
            [limit for limit in unread if limit.project == project],
        )
        for project in dict.fromkeys(projects)
    ]


def set_limit(place: Place, form: dict[str, str]) -> str:
    """Set, raise or remove a limit, or go on after one, as ``brim limit`` does."""
    workspace = place.workspace()
    project = form.get("project") or workspace.limits_project
    if form.get("everywhere"):
        project = EVERYTHING
    limits = change_limits(
        os.path.join(workspace.home, "config.yaml"),
        lambda limits: _changed(limits, project, form, workspace),
    )
    texts = [limit.text for limit in limits if limit.project == project]
    name = "All projects" if project == EVERYTHING else project
    return f"{name}: {', '.join(texts) or 'no limit'}."


def _changed(
    limits: list[SpendingLimit], project: str, form: dict[str, str], workspace: Workspace
) -> Sequence[SpendingLimit]:
    """Return *limits* after what the *form* asks for."""
    action = form.get("action", "")
    text = form.get("limit", "").strip()
    if action == "remove":
        return without(limits, project, [text] if text else [])
    if action == "stop":
        return with_new(limits, [stopped_limit(project)])
    if action == "continue":
        with workspace.open_index() as index:
            book = LimitBook.of_user(
                workspace.limit_settings, index, workspace.environ, workspace.now
            )
            standings = book.standings(project)
        own = [standing for standing in standings if standing.limit.project == project]
        stopped = [standing for standing in own if standing.is_stopped]
        percent = max([standing.percent_to_go_on for standing in stopped], default=TENTH)
        return raised_by(percent or TENTH, limits, stopped)
    if action not in ("set", "raise"):
        raise InputError(f"a limit isn't changed by {action[:40]!r}")
    new = limits_to_set([text], project, subagent=False, now=workspace.now)
    return with_new(limits, new)
