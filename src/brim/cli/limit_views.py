"""How limits are shown on the command line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from brim.cli.output import home_path, paint, symbols, wrapped
from brim.cli.tables import heading, table
from brim.figures import clock
from brim.money.amounts import in_unit
from brim.money.limits import SpendingLimit
from brim.money.standing import LimitStanding
from brim.money.words import raised_sentence, stopped_sentence

if TYPE_CHECKING:
    from brim.money.forecast import Forecast

KEPT = "left: without what is kept for a last answer, 5% of a limit and at most $0.50"
BAR = 16
"""Columns of a bar."""
ALMOST = 0.8
"""The share of a limit from which on its bar is yellow."""


def limits_view(
    standings: Sequence[LimitStanding],
    unread: Sequence[SpendingLimit],
    forecasts: Sequence[Forecast | None],
    now: float,
) -> str:
    """Return a table of limits, then how to go on, and how far the rest of a limit reaches."""
    rows = [["", "project", "limit", "spent", "left", "", "resets"]]
    names = _project_names([*[standing.limit for standing in standings], *unread])
    for standing in standings:
        rows.append(_standing_row(standing, names[standing.limit.project], now))
    for limit in unread:
        rows.append(["", names[limit.project], limit.text, "", "", "", ""])
    parts = [heading(table(rows, right=(3, 4), optional=(5, 6, 4)))]
    if any(standing.set_aside and not standing.is_stopped for standing in standings):
        parts.append(wrapped(KEPT))
    for standing in standings:
        if standing.is_stopped:
            parts.append(wrapped(stopped_sentence(standing)))
    for standing, forecast in zip(standings, forecasts, strict=True):
        if forecast is not None and not standing.is_stopped:
            words = ", ".join(filter(None, [str(forecast), forecast.earliest_words]))
            parts.append(f"{standing.limit.text}: {words}")
    return "\n\n".join([parts[0], "\n".join(parts[1:])]).rstrip()


def _standing_row(standing: LimitStanding, name: str, now: float) -> list[str]:
    limit = standing.limit
    state = paint("stopped", "red") if standing.is_stopped else ""
    filling = ""
    if standing.amount:
        filling = bar(standing.spent, 0, standing.amount, standing.left)
    resets = ""
    if standing.resets_at is not None:
        resets = clock(standing.resets_at, now)
    text = limit.text
    if raised_sentence(limit, now):
        text = f"{text}, {raised_sentence(limit, now)}"
    spent = in_unit(standing.spent, limit.unit)
    left = in_unit(standing.left, limit.unit)
    return [state, name, text, spent, left, filling, resets]


def _project_names(limits: Sequence[SpendingLimit]) -> dict[str, str]:
    """Return a name for each project: that of its folder, or its path if two have the same."""
    names = {limit.project: limit.project_name for limit in limits}
    unique = Counter(names.values())
    return {
        project: name if unique[name] == 1 else home_path(project)
        for project, name in names.items()
    }


def bar(spent: int, reserved: int, limit: int, left: int | None) -> str:
    """Return a bar of what is spent and reserved of *limit*.

    A small part is never shown as nothing.
    """
    filled = min(BAR, -(-BAR * spent // limit))
    used = min(BAR, max(filled, -(-BAR * (spent + reserved) // limit)))
    colour = "green"
    if left == 0:
        colour = "red"
    elif spent >= ALMOST * limit:
        colour = "yellow"
    full = symbols("█", "#") * filled
    half = symbols("▒", "=") * (used - filled)
    empty = symbols("░", ".") * (BAR - used)
    return paint(full + half + empty, colour)
