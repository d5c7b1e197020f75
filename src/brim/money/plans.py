"""How much of a subscription's window is used, for limits such as ``90%/5h``.

Only the provider knows it, so only a fresh reading of its own numbers can hold an agent.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from brim.money.limits import SpendingLimit
from brim.money.periods import hours_of
from brim.money.standing import PlanReading, PlanReadings
from brim.sessions.plan_windows import PlanWindow, current_plan_windows

FRESH = 3_600.0
"""Seconds for which a reading can hold an agent."""


def plan_readings(environ: Mapping[str, str], now: float, agent: str = "") -> PlanReadings:
    """Return what reads the window of a limit for *agent*; without one, the fullest of all."""
    return _PlanReader(environ, now, agent).read


class _PlanReader:
    """Reads the windows once, for the first limit that asks."""

    def __init__(self, environ: Mapping[str, str], now: float, agent: str) -> None:
        self._environ = environ
        self._now = now
        self._agent = agent

    @cached_property
    def _windows(self) -> list[PlanWindow]:
        return current_plan_windows(self._environ, self._now, self._agent)

    def read(self, limit: SpendingLimit) -> PlanReading | None:
        """Return how much is used of the window that *limit* is about."""
        return _reading_of(limit, self._windows, self._now)


def _reading_of(limit: SpendingLimit, windows: list[PlanWindow], now: float) -> PlanReading | None:
    """Return the fullest of the *windows* that are as long as that of *limit*; None if none is."""
    minutes = 60 * hours_of(limit.period)
    fitting = [
        window
        for window in windows
        if window.minutes == minutes and not window.name and abs(now - window.read_at) <= FRESH
    ]
    if not fitting:
        return None
    fullest = max(fitting, key=lambda window: window.used)
    return PlanReading(int(100 * fullest.used), fullest.read_at, fullest.resets_at)
