"""A team on the page Money: everyone's limits, and what was spent by whom. ``brim ui --store``."""

from __future__ import annotations

import time
from dataclasses import dataclass

from starlette.requests import Request

from brim.errors import InputError
from brim.figures import clock, dollars
from brim.money.ledger_book import LimitRow, ProjectRow
from brim.money.team_usage import BY, TeamUsage, team_usage
from brim.ui.place import Place


@dataclass(frozen=True)
class TeamLimit:
    """One limit of the team's as it is drawn; a scope without one has an empty ``limit``."""

    scope: str
    limit: str
    spent: str
    left: str
    resets: str
    share: float


@dataclass(frozen=True)
class TeamPage:
    """What the page shows of a team."""

    limits: list[TeamLimit]
    usage: TeamUsage
    every_by: tuple[str, ...] = BY


def team_page(place: Place, request: Request) -> TeamPage | None:
    """Return what the page shows of the team whose ledger ``--store`` names; None without one."""
    if not place.store:
        return None
    by = request.query_params.get("team", BY[0])
    if by not in BY:
        raise InputError(f"team is one of {', '.join(BY)}")
    with place.workspace().open_ledger_book(place.store) as book:
        projects = book.projects()
        usage = team_usage(book.ledger.days(), by)
    limits: list[TeamLimit] = []
    for project in projects:
        limits += [_limit(row) for row in project.limits]
        if not project.limits:
            limits.append(_unlimited(project))
    return TeamPage(limits, usage)


def _limit(row: LimitRow) -> TeamLimit:
    resets = ""
    if row.resets_at is not None:
        resets = clock(row.resets_at, time.time())
    share = 0.0
    if row.amount:
        share = min(1.0, row.spent / row.amount)
    spent = row.in_words(row.spent, up=True)
    return TeamLimit(row.scope, row.name, spent, row.in_words(row.left), resets, share)


def _unlimited(project: ProjectRow) -> TeamLimit:
    left = ""
    if project.left is not None:
        left = dollars(project.left, up=False)
    return TeamLimit(project.scope, "", dollars(project.spent, up=True), left, "", 0.0)
