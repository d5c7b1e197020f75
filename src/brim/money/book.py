"""A person's limits, and where each stands.

``brim limit``, bare ``brim``, the page and the status line all ask ``LimitBook``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from brim.money.amounts import PERCENT, USD
from brim.money.limits import WARN_SHARE, Spender, SpendingLimit
from brim.money.periods import SESSION
from brim.money.settings import LimitSettings
from brim.money.standing import LAST_REQUESTS, LimitStanding, PlanReadings, next_cost, standings
from brim.sessions.index import SessionIndex
from brim.sessions.requests import EVERYTHING

if TYPE_CHECKING:
    from brim.money.forecast import Forecast

NO_SESSION = "none yet"
AT_WORK = 3_600.0
"""Seconds after its last request in which a session may go on where it was."""


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
        book = cls(settings, index, now)
        if not any(limit.unit == PERCENT for limit in settings.limits):
            return book
        from brim.money.plans import plan_readings  # most people have no limit in percent

        return replace(book, plans=plan_readings(environ, now))

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
            spender = self._spender(limit)
            for standing in standings(
                [limit], self.index, spender, self.now, plans=self.plans, warn=self.warn
            ):
                compared.append(standing.expecting(self._next_cost(limit)))
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
        from brim.money.forecast import LOOKED_AT, forecast  # few limits are near

        session = ""
        if standing.limit.period == SESSION:
            session = self._spender(standing.limit).session
        last = self.index.last_requests(
            project=_filter_of(standing.limit), session=session, count=LOOKED_AT
        )
        return forecast(standing, last)

    def _next_cost(self, limit: SpendingLimit) -> int:
        """Return what the next request of the newest session would cost; nothing if that session
        isn't at work any more: hooks stop before it too."""
        if limit.unit != USD:
            return 0
        project = _filter_of(limit)
        newest = self.index.last_requests(project=project, count=1)
        if not newest or newest[0].time is None or self.now - newest[0].time > AT_WORK:
            return 0
        thread = self.index.last_requests(
            session=newest[0].session, sub_agent=newest[0].sub_agent, count=LAST_REQUESTS
        )
        return next_cost(thread, self.index.prices, self.now)

    def _spender(self, limit: SpendingLimit) -> Spender:
        last = []
        if limit.period == SESSION:
            last = self.index.last_requests(project=_filter_of(limit), count=1)
        return Spender(limit.project, last[0].session if last else NO_SESSION)


def _filter_of(limit: SpendingLimit) -> str:
    """Return the project whose requests count for *limit*; empty is every project."""
    if limit.project == EVERYTHING:
        return ""
    return limit.project
