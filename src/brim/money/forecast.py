"""How far does the rest of a limit reach?

"Ends at 14:50" isn't honest: nine tenths of a session are pauses. What can be said is how many more
requests like the last ones fit, and when the limit would be reached without any pause.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from brim.figures import counted
from brim.money.standing import LimitStanding
from brim.sessions.requests import IndexedRequest

FEWEST = 10
"""Requests before which nothing is said."""
LOOKED_AT = 20
LONGEST_STEP = 300.0
"""Seconds between two requests that aren't a pause."""
FAR = 1_000
"""Requests that are so many that the limit isn't near."""


@dataclass(frozen=True)
class Forecast:
    """How many more requests fit into a limit, and the earliest moment at which it's reached."""

    requests: int
    at_least: int
    at_best: int
    looked_at: int
    """How many past requests it's made of."""
    earliest: float | None = None

    def __str__(self) -> str:
        if not self.requests:
            return "the next request may reach it"
        between = f"({self.at_least} to {self.at_best})"
        requests = counted(self.requests, "more request")
        return f"roughly {requests} like the last {self.looked_at} {between}"

    @property
    def earliest_words(self) -> str:
        """When the limit is reached without pauses; empty if that isn't known."""
        if self.earliest is None or not self.requests:
            return ""
        at = time.localtime(self.earliest)
        return f"without pauses, at about {at.tm_hour:02}:{at.tm_min:02} at the earliest"


def forecast(standing: LimitStanding, last: Sequence[IndexedRequest]) -> Forecast | None:
    """Return how far the rest of a limit in dollars reaches.

    *last* are the last requests that count for it, the newest first. None with too few of them, or
    if they cost nothing.
    """
    costs = [request.counted_cost for request in last[:LOOKED_AT] if request.counted_cost]
    if len(costs) < FEWEST:
        return None
    left = standing.left
    count = round(left / statistics.mean(costs))
    if count > FAR:
        return None
    costs.sort()
    half = len(costs) // 2
    at_least = int(left / statistics.mean(costs[half:]))
    at_best = round(left / statistics.mean(costs[:half]))
    step = _step(last[:LOOKED_AT])
    earliest = None
    if step is not None:
        earliest = standing.now + count * step
    return Forecast(count, at_least, at_best, len(costs), earliest)


def _step(last: Sequence[IndexedRequest]) -> float | None:
    """Return the usual time between two requests, pauses left out; None if no times are known."""
    times = sorted(request.time for request in last if request.time is not None)
    steps = [
        later - earlier for earlier, later in pairwise(times) if later - earlier <= LONGEST_STEP
    ]
    if not steps:
        return None
    return statistics.median(steps)
