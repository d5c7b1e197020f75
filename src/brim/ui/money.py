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
from brim.install.status import limits_of, open_limits
from brim.report.reading import read_sessions
from brim.report.usage import UsageFilter, UsageReport, price_version, usage_report
from brim.spend.limits import ANSWERS, OPEN, Limit
from brim.spend.money import limit_in
from brim.spend.periods import EVERYWHERE, PERCENT, read_ceiling
from brim.store.limits import LimitRow
from brim.tracking.sessions import SessionFile
from brim.ui.place import Place, page

BY = ("day", "week", "project", "branch", "model", "session")
DAYS = {7: "7 days", 30: "30 days", 90: "90 days", 0: "everything"}
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
    is_known = not row.each and (row.unit != PERCENT or row.read_at is not None)
    spent = row.in_words(row.spent, up=True) if is_known else ""
    share = min(1.0, row.spent / row.amount) if row.amount and spent else 0.0
    level = "compact" if row.left == 0 or row.state != OPEN else "warn" if share >= 0.8 else "ok"
    return Bar(
        row, spent, "" if row.each else row.in_words(row.left), share, level if spent else "ok"
    )


def usage(place: Place, by: str, days: int) -> UsageReport:
    """Return what was used in the last *days*, 0 is ever, as ``brim usage --by`` does."""
    since = date.today() - timedelta(days=days - 1) if days else None
    begin = time.mktime(since.timetuple()) if since else 0.0
    files = place.files(begin)

    def read(advance: Any) -> UsageReport:
        return read_usage(place, files, by, since, lambda size, *_: advance(size))

    size = sum(each.unread for each in files)
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
    wanted = UsageFilter(since=since.isoformat() if since else None)
    with reading.index:
        return usage_report(reading, by=by, wanted=wanted, now=time.time())


def money(place: Place, request: Request) -> Response:
    """Show the page."""
    by = request.query_params.get("by", "day")
    given = request.query_params.get("days", "30")
    if by not in BY or not given.isdigit() or int(given) not in DAYS:
        raise InputError(
            f"by is one of {', '.join(BY)}, and days one of {', '.join(map(str, DAYS))}"
        )
    report = usage(place, by, int(given))
    workspace = place.workspace()
    default = limit_in(workspace.config["spend.limit"])
    with open_limits(workspace) as limits:
        projects = (
            limits.projects(default=None if default is None else Limit(default)) if limits else []
        )
    sums = report.sums[::-1] if by in ("day", "week") else report.sums
    return page(
        "money.html",
        place,
        here="money",
        said=request.query_params.get("said", ""),
        by=by,
        days=int(given),
        every_by=BY,
        every_days=DAYS,
        report=report,
        sums=sums[:MOST_ROWS],
        more=max(0, len(sums) - MOST_ROWS),
        most=max((each.cost for each in sums), default=0),
        projects=[(each, [bar(row) for row in each.limits]) for each in projects],
        project=os.path.basename(workspace.place),
    )


def set_limit(place: Place, form: dict[str, str]) -> str:
    """Set, raise or remove a limit, or answer at one, as ``brim limit`` does."""
    workspace = place.workspace()
    action, scope, text = (
        form.get("action", ""),
        form.get("scope", ""),
        form.get("limit", "").strip(),
    )
    with workspace.open_ledger() as ledger:
        limits = limits_of(workspace, ledger)
        scope = scope or limits.scope(
            EVERYWHERE if form.get("everywhere") else form.get("project", "")
        )
        name = limits.name(scope)
        if action == "set":
            rows = limits.set(scope, [read_ceiling(text)])
            return f"{name}: {', '.join(each.said for each in rows)}."
        if action == "remove":
            gone = limits.remove(scope, [text] if text else [])
            return f"Removed from {name}: {', '.join(each.said for each in gone)}."
        if action not in ANSWERS:
            raise InputError(f"a limit isn't answered with {action[:40]!r}")
        limits.answer(scope, action, read_ceiling(text) if action == "raise" else None)
        said = {
            "continue": "may go on",
            "raise": f"has a limit of {text} now",
            "wrap_up": "wraps up",
        }
        return f"{name} {said.get(action, 'is stopped')}."
