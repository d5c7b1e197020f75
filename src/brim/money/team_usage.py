"""What a team spent, by person, project, model, session or day: sums of its ledger's days."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date

from brim.money.ledger import DaySum
from brim.money.scopes import paths
from brim.record import PlainData
from brim.usd import Money

BY = ("person", "project", "model", "session", "day")
"""What a row can be."""


@dataclass(frozen=True)
class TeamSum(PlainData):
    """One row: what was spent under a name."""

    name: str
    """Empty if it isn't known, or there's none."""
    cost: Money
    tokens: int


@dataclass(frozen=True)
class TeamUsage(PlainData):
    """What was spent, in rows: days in their order, others the most expensive first."""

    by: str
    rows: tuple[TeamSum, ...]
    total: TeamSum


def team_usage(days: Iterable[DaySum], by: str, since: str = "", until: str = "") -> TeamUsage:
    """Add up *days* by one of ``BY``, from the day *since* to the day *until*, both in UTC."""
    costs: dict[str, int] = {}
    tokens: dict[str, int] = {}
    for part in days:
        day = day_name(part)
        if day < since or (until and day > until):
            continue
        name = _name(part, by)
        costs[name] = costs.get(name, 0) + part.amount
        tokens[name] = tokens.get(name, 0) + part.tokens
    rows = [TeamSum(name, Money(max(0, cost)), tokens[name]) for name, cost in costs.items()]
    if by == "day":
        rows.sort(key=lambda row: row.name)
    else:
        rows.sort(key=lambda row: (-row.cost, row.name))
    total = TeamSum("", Money(max(0, sum(costs.values()))), sum(tokens.values()))
    return TeamUsage(by, tuple(rows), total)


def day_name(part: DaySum) -> str:
    """Return the day of *part*, as ``2026-11-20``."""
    return date.fromordinal(date(1970, 1, 1).toordinal() + part.day).isoformat()


def _name(part: DaySum, by: str) -> str:
    """Return the name of the row that *part* belongs to.

    A team's guard writes the person first, with the session below, and then the project.
    """
    if by == "day":
        return day_name(part)
    if by == "model":
        return part.model
    person, *projects = paths(part.scope)
    segments = person.split("/")
    if by == "project":
        return "".join(projects)
    if by == "person":
        return "/".join(segments[:2])
    return person if len(segments) > 2 else ""
