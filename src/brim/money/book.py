"""A person's limits: where each stands, and how they are changed.

``brim limit``, bare ``brim``, the page and the status line all ask ``LimitBook``. A change is
written into the user's settings; the next hook reads it there.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from brim.config.text import read_mapping, read_text
from brim.errors import InputError
from brim.files import locked, save
from brim.money.amounts import PERCENT, USD
from brim.money.forecast import LOOKED_AT, Forecast, forecast
from brim.money.limits import WARN_SHARE, Spender, SpendingLimit, read_limit
from brim.money.periods import SESSION, SUBAGENT, TOTAL
from brim.money.plans import plan_readings
from brim.money.settings import KEY, LimitSettings, read_limits, replaced
from brim.money.standing import LimitStanding, PlanReadings, standings
from brim.money.writing import with_limits
from brim.sessions.index import SessionIndex
from brim.sessions.requests import EVERYTHING

NO_SESSION = "none yet"
PATIENCE = 5.0
"""Seconds that a change waits for another one."""


@dataclass(frozen=True)
class LimitBook:
    """The limits of *settings*, compared with *index* at the moment *now*."""

    settings: LimitSettings
    index: SessionIndex
    now: float
    plans: PlanReadings = lambda _: None
    warn: float = WARN_SHARE

    @classmethod
    def of_user(
        cls, settings: LimitSettings, index: SessionIndex, environ: Mapping[str, str], now: float
    ) -> LimitBook:
        """Return the book with the readings of every agent's plan."""
        return cls(settings, index, now, plan_readings(environ, now))

    def standings(self, project: str = "") -> list[LimitStanding]:
        """Return where limits stand, those that stopped somebody first: all of them, or those that
        hold in *project*.

        A session's limit is compared with the newest session; a sub-agent's stands for none.
        """
        limits: Sequence[SpendingLimit] = self.settings.limits
        if project:
            limits = self.settings.of_project(project)
        compared: list[LimitStanding] = []
        for limit in limits:
            compared += standings(
                [limit],
                self.index,
                self._spender(limit),
                self.now,
                plans=self.plans,
                warn=self.warn,
            )
        return sorted(compared, key=lambda standing: not standing.is_stopped)

    def unread(self, project: str = "") -> list[SpendingLimit]:
        """Return the limits whose sum isn't known: each sub-agent's, and plans nobody has read."""
        compared = {standing.limit.kind for standing in self.standings(project)}
        limits = self.settings.limits
        if project:
            limits = tuple(self.settings.of_project(project))
        return [limit for limit in limits if limit.kind not in compared]

    def forecast(self, standing: LimitStanding) -> Forecast | None:
        """Return how far the rest of a limit reaches, from 80% on; None if it isn't near."""
        if standing.limit.unit != USD or standing.share < self.warn:
            return None
        project = standing.limit.project
        session = ""
        if standing.limit.period == SESSION:
            session = self._spender(standing.limit).session
        last = self.index.last_requests(
            project="" if project == EVERYTHING else project, session=session, count=LOOKED_AT
        )
        return forecast(standing, last)

    def _spender(self, limit: SpendingLimit) -> Spender:
        project = limit.project
        if project == EVERYTHING:
            project = ""
        last = []
        if limit.period == SESSION:
            last = self.index.last_requests(project=project, count=1)
        return Spender(limit.project, last[0].session if last else NO_SESSION)


# Changing


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
    lasting = [
        replace(limit, since=earlier[limit.kind].since) if limit.kind in earlier else limit
        for limit in new
    ]
    return replaced(limits, lasting)


def loosens(
    in_force: Sequence[SpendingLimit], changed: Sequence[SpendingLimit], now: float
) -> bool:
    """Whether the *changed* limits allow more than those *in_force*, or lack one of them."""
    amounts = {limit.kind: limit.amount_at(now) for limit in changed}
    return any(
        limit.kind not in amounts or amounts[limit.kind] > limit.amount_at(now)
        for limit in in_force
    )


def stopped_limit(project: str) -> SpendingLimit:
    """Return the limit that allows nothing at all."""
    return SpendingLimit(0, USD, TOTAL, project)


def without(
    limits: Sequence[SpendingLimit], project: str, texts: Sequence[str], *, subagent: bool = False
) -> list[SpendingLimit]:
    """Return *limits* without those of *project* that *texts* name, by limit or period; without
    texts, without all of them."""
    names = {" ".join(text.lower().split()) for text in texts}
    own = [limit for limit in limits if limit.project == project]
    if subagent:
        own = [limit for limit in own if limit.period == SUBAGENT]
    if names:
        own = [limit for limit in own if names & {limit.text.lower(), limit.period}]
        missing = names - {name for limit in own for name in (limit.text.lower(), limit.period)}
        if missing:
            raise InputError(f'There is no limit "{min(missing)}" here: brim limit shows them')
    return [limit for limit in limits if limit not in own]


def raised_by_tenth(
    limits: Sequence[SpendingLimit], stopped: Sequence[LimitStanding]
) -> list[SpendingLimit]:
    """Return *limits*, in which those that are *stopped* have a tenth more until their period
    ends."""
    raised = [
        standing.limit.raised_by_tenth(standing.spent, standing.now)
        for standing in stopped
        if standing.limit.unit != PERCENT and standing.limit.amount
    ]
    if not raised:
        raise InputError(
            "No limit in dollars or tokens is reached here, so there is nothing to go on with."
            " To raise one: brim limit raise 8/day"
        )
    return replaced(limits, raised)
