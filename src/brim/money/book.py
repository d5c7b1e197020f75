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
from brim.money.standing import LimitStanding, PlanReadings, standings
from brim.sessions.index import SessionIndex
from brim.sessions.requests import EVERYTHING

if TYPE_CHECKING:
    from brim.money.forecast import Forecast

NO_SESSION = "none yet"


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
        from brim.money.forecast import LOOKED_AT, forecast  # few limits are near

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
