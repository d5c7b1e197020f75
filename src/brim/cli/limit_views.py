"""How limits are shown on the command line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from brim.cli.output import dollars, home_path, paint, symbols
from brim.cli.tables import heading, table
from brim.money.amounts import in_unit
from brim.money.forecast import Forecast
from brim.money.limits import SpendingLimit
from brim.money.standing import LimitStanding
from brim.money.words import clock, go_on, raised_sentence, sum_sentence
from brim.spend.ledger import ScopeStatus
from brim.spend.money import PERCENT
from brim.store.limits import LimitRow, ProjectRow

BAR = 16
"""Columns of a bar."""
ALMOST = 0.8
"""The share of a limit from which on its bar is yellow."""
STATES = {
    "open": "",
    "asked": "limit reached",
    "wrapping_up": "wrap-up",
    "stopped": "stopped",
}
"""What a state is called."""
DOES_NOT_FIT = "asked: a request did not fit"
"""What the state ``asked`` is called while there is still room."""


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
    for standing in standings:
        if standing.is_stopped:
            parts.append(f"{sum_sentence(standing)} {go_on(standing)}")
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


def project_table(projects: Sequence[ProjectRow], now: float) -> str:
    """Return a table of *projects* with their limits."""
    rows = [["project", "limit", "spent", "left", "", "resets", ""]]
    for project in projects:
        name = home_path(project.name)
        state = _project_state(project)
        if not project.limits:
            rows.append([name, "none", dollars(project.spent, up=True), "", "", "", state])
        for limit in project.limits:
            states = ", ".join(filter(None, [state, _limit_state(limit, now)]))
            rows.append([name, limit.said, *_amounts(limit), _resets(limit, now), states])
            name = ""
            state = ""
    return heading(table(rows, right=(2, 3), optional=(4, 5, 6, 3)))


def scope_table(statuses: Sequence[ScopeStatus]) -> str:
    """Return a table of *statuses*; spent is rounded up, left is rounded down."""
    rows = [["scope", "spent", "reserved", "limit", "left", "", "state"]]
    for status in statuses:
        reserved = ""
        if status.reserved:
            reserved = dollars(status.reserved, up=True)
        filling = ""
        if status.limit:
            filling = bar(status.spent, status.reserved, status.limit, status.left)
        rows.append(
            [
                status.scope,
                dollars(status.spent, up=True),
                reserved,
                _dollars_or_none(status.limit),
                _dollars_or_none(status.left),
                filling,
                _scope_state(status),
            ]
        )
    return heading(table(rows, right=(1, 2, 3, 4), optional=(5, 2)))


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


def _project_state(project: ProjectRow) -> str:
    """Return the state of *project*; a limit that is reached says so in its own row."""
    state = STATES.get(project.state, "")
    if project.state == "asked":
        state = ""
    if not state and not project.exists:
        state = "folder is gone"
    return paint(state, "yellow")


def _amounts(limit: LimitRow) -> tuple[str, str, str]:
    """Return what is spent, what is left and a bar, as far as they are known."""
    if limit.each or (limit.unit == PERCENT and limit.read_at is None):
        return "", "", ""
    filling = ""
    if limit.amount:
        filling = bar(limit.spent, limit.reserved, limit.amount, limit.left)
    return limit.in_words(limit.spent, up=True), limit.in_words(limit.left), filling


def _resets(limit: LimitRow, now: float) -> str:
    if limit.resets_at is None:
        return ""
    return clock(limit.resets_at, now)


def _limit_state(limit: LimitRow, now: float) -> str:
    if limit.unit == PERCENT:
        return limit.reading(now)
    if limit.state == "asked" and limit.left == 0:
        return paint(STATES["asked"], "red")
    if limit.state == "asked":
        return paint(DOES_NOT_FIT, "red")
    over = limit.spent - limit.amount
    if over > 0:
        return paint(f"{limit.in_words(over, up=True)} over", "red")
    return ""


def _scope_state(status: ScopeStatus) -> str:
    state = STATES[status.state]
    has_room = status.limit is not None and status.spent < status.limit - status.held
    if status.state == "asked" and has_room:
        state = DOES_NOT_FIT
    if status.overshoot:
        over = f"{dollars(status.overshoot, up=True)} over"
        state = ", ".join(filter(None, [state, over]))
    if status.state == "wrapping_up":
        return paint(state, "yellow")
    return paint(state, "red")


def _dollars_or_none(amount: int | None) -> str:
    if amount is None:
        return "none"
    return dollars(amount, up=False)
