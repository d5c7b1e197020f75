"""How the limits of a ledger are shown on the command line."""

from __future__ import annotations

from collections.abc import Sequence

from brim.cli.limit_views import bar
from brim.cli.output import dollars, home_path, paint
from brim.cli.tables import heading, table
from brim.figures import clock
from brim.money.ledger import ScopeStatus
from brim.money.ledger_book import LimitRow, ProjectRow

STATES = {
    "open": "",
    "asked": "limit reached",
    "wrapping_up": "wrap-up",
    "stopped": "stopped",
}
"""What a state is called."""
DOES_NOT_FIT = "asked: a request did not fit"
"""What the state ``asked`` is called while there is room, but less than a request needed."""


def project_table(projects: Sequence[ProjectRow], now: float) -> str:
    """Return a table of *projects* with their limits."""
    rows = [["project", "limit", "spent", "left", "", "resets", ""]]
    for project in projects:
        name = home_path(project.name)
        state = _project_state(project)
        if not project.limits:
            left = ""
            if project.left is not None:
                left = dollars(project.left, up=False)
            rows.append([name, "none", dollars(project.spent, up=True), left, "", "", state])
        for limit in project.limits:
            states = ", ".join(filter(None, [state, _limit_state(limit)]))
            rows.append([name, limit.name, *_amounts(limit), _resets(limit, now), states])
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


def _project_state(project: ProjectRow) -> str:
    """Return the state of *project*; a limit that is reached says so in its own row."""
    state = STATES.get(project.state, "")
    if project.state == "asked":
        state = ""
    return paint(state, "yellow")


def _amounts(limit: LimitRow) -> tuple[str, str, str]:
    """Return what is spent, what is left and a bar, as far as they are known."""
    if limit.is_pattern:
        return "", "", ""
    filling = ""
    if limit.amount:
        filling = bar(limit.spent, limit.reserved, limit.amount, limit.left)
    return limit.in_words(limit.spent, up=True), limit.in_words(limit.left), filling


def _resets(limit: LimitRow, now: float) -> str:
    if limit.resets_at is None:
        return ""
    return clock(limit.resets_at, now)


def _limit_state(limit: LimitRow) -> str:
    """Return what is wrong with *limit*: reached, too small for a request, or overspent."""
    if limit.state == "asked":
        words = DOES_NOT_FIT
        if limit.left == 0:
            words = STATES["asked"]
        return paint(words, "red")
    over = limit.spent - limit.amount
    if over > 0:
        return paint(f"{limit.in_words(over, up=True)} over", "red")
    return ""


def _scope_state(status: ScopeStatus) -> str:
    """Return the state of a scope's limit, and by how much it is overspent."""
    state = STATES[status.state]
    has_room = status.limit is not None and status.spent < status.limit - status.set_aside
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
