"""How a person's limits are changed: in the user's settings, where the next hook reads them."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from dataclasses import replace

from brim.config.text import read_mapping, read_text
from brim.errors import InputError
from brim.files import locked, save
from brim.money.amounts import PERCENT, USD
from brim.money.limits import SpendingLimit, read_limit
from brim.money.periods import SUBAGENT, TOTAL
from brim.money.settings import KEY, read_limits, replaced
from brim.money.standing import LimitStanding, nearest
from brim.money.writing import with_limits

NO_LIMIT = math.inf
PATIENCE = 5.0
"""Seconds that a change waits for another one."""


def change_limits(
    path: str, change: Callable[[list[SpendingLimit]], Sequence[SpendingLimit]]
) -> list[SpendingLimit]:
    """Change the limits in the settings file *path*; return those that it has now."""
    folder = os.path.dirname(path)
    lock = os.path.join(folder, "config.lock")
    with locked(lock, patience=PATIENCE, prepare=lambda: os.makedirs(folder, 0o700, exist_ok=True)):
        text = ""
        if os.path.exists(path):
            text = read_text(path)
        limits = read_limits(read_mapping(text, path)[0].get(KEY))
        changed = list(change(limits))
        if changed != limits:
            save(path, with_limits(text, changed, path))
    return changed


def limits_to_set(
    texts: Sequence[str], project: str, *, subagent: bool, now: float
) -> list[SpendingLimit]:
    """Return the limits that *texts* mean; a total counts from now on."""
    limits = [read_limit(text, subagent=subagent, project=project) for text in texts]
    begin = float(int(now))  # as it is written
    return [replace(limit, since=begin) if limit.period == TOTAL else limit for limit in limits]


def with_new(limits: Sequence[SpendingLimit], new: Sequence[SpendingLimit]) -> list[SpendingLimit]:
    """Return *limits* with *new* ones; a total that was there goes on counting from its moment."""
    earlier = {limit.kind: limit for limit in limits}
    lasting: list[SpendingLimit] = []
    for limit in new:
        since = earlier.get(limit.kind, limit).since
        lasting.append(replace(limit, since=since))
    return replaced(limits, lasting)


def loosens(
    in_force: Sequence[SpendingLimit], changed: Sequence[SpendingLimit], now: float
) -> bool:
    """Whether the *changed* limits allow more than those *in_force*, or lack one of them."""
    amounts = {limit.kind: limit.amount_at(now) for limit in changed}
    return any(amounts.get(limit.kind, NO_LIMIT) > limit.amount_at(now) for limit in in_force)


def stopped_limit(project: str) -> SpendingLimit:
    """Return the limit that allows nothing at all."""
    return SpendingLimit(0, USD, TOTAL, project)


def without(
    limits: Sequence[SpendingLimit], project: str, texts: Sequence[str], *, subagent: bool = False
) -> list[SpendingLimit]:
    """Return *limits* without those of *project* that *texts* name, by limit or period; without
    texts, without all of them."""
    own = [limit for limit in limits if limit.project == project]
    if subagent:
        own = [limit for limit in own if limit.period == SUBAGENT]
    removed = own
    if texts:
        removed = []
        for text in texts:
            removed += _named(own, text)
    return [limit for limit in limits if limit not in removed]


def _named(limits: Sequence[SpendingLimit], text: str) -> list[SpendingLimit]:
    """Return those of *limits* that *text* means: a limit as it was written, or a period."""
    name = " ".join(text.lower().split())
    named = [limit for limit in limits if name in (limit.text.lower(), limit.period)]
    if not named:
        raise InputError(f'There is no limit "{name}" here: brim limit shows them')
    return named


def holding(standings: Sequence[LimitStanding]) -> list[LimitStanding]:
    """Return those of *standings* that hold an agent.

    A hook also stops before a request that would go over a limit. What that would cost isn't always
    known here, so without a limit that is reached it's the nearest of which anything is spent.
    """
    stopped = [standing for standing in standings if standing.is_stopped]
    if stopped:
        return stopped
    used = [standing for standing in standings if standing.spent and standing.limit.unit != PERCENT]
    next_one = nearest(used)
    if next_one is None:
        return []
    return [next_one]


def raised_by(
    percent: int, limits: Sequence[SpendingLimit], stopped: Sequence[LimitStanding]
) -> list[SpendingLimit]:
    """Return *limits*, in which those that are *stopped* have *percent* more until their period
    ends."""
    raised = [
        standing.limit.raised_by(percent, standing.spent, standing.now)
        for standing in stopped
        if standing.limit.unit != PERCENT and standing.limit.amount
    ]
    if not raised:
        raise InputError(
            "Nothing is spent of a limit in dollars or tokens here, so there is nothing to go on"
            " with."
            " To raise one: brim limit raise 8/day"
        )
    return replaced(limits, raised)
