"""What is spent, and may more be spent? The one question that hooks, runs and commands ask.

``Spending`` reads what is new in the session's files, within the time that a hook has, and compares
the limits with the index. An index that was lost is filled again from the newest files on, a little
with each question.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from brim.money.limits import WARN_SHARE, Spender
from brim.money.settings import LimitSettings
from brim.money.standing import (
    LAST_REQUESTS,
    LimitStanding,
    PlanReadings,
    most_next_cost,
    nearest,
    next_cost,
    standings,
)
from brim.sessions.files import AgentFile, ReadingBounds
from brim.sessions.index import SessionIndex

HOOK_BYTES = 8_000_000
HOOK_SECONDS = 0.25
"""What a hook may read before the rest waits for the next one."""


@dataclass(frozen=True)
class SpendingAnswer:
    """Where the limits of a spender stand, and what should be told about it."""

    standing: tuple[LimitStanding, ...] = ()
    problems: tuple[str, ...] = ()
    """Sentences to tell the person once: a mistake in the settings, trouble with the index."""

    @property
    def nearest(self) -> LimitStanding | None:
        """The limit that holds first; None without limits."""
        return nearest(self.standing)


class Spending:
    """Compares *settings* with *index*, which *files* of the session bring up to date.

    *every_file* lists all files of all agents: it's asked only if the index was lost. *plans* says
    how much of a plan's window is used.
    """

    def __init__(
        self,
        settings: LimitSettings,
        index: SessionIndex,
        *,
        files: Iterable[AgentFile] = (),
        every_file: Callable[[], Iterable[AgentFile]] = list,
        plans: PlanReadings = lambda _: None,
        warn: float = WARN_SHARE,
    ) -> None:
        self._settings = settings
        self._index = index
        self._files = list(files)
        self._every_file = every_file
        self._plans = plans
        self._warn = warn

    def read(self, *, size: int = HOOK_BYTES) -> None:
        """Read what is new, as long as a hook may or *size* bytes; the session's files first."""
        bounds = ReadingBounds(size, time.monotonic() + HOOK_SECONDS)
        result = self._index.update(self._files, bounds)
        if self._index.is_complete or not result.is_complete:
            return
        left = ReadingBounds(size - result.new_bytes, bounds.deadline)
        files = self._index.unread(sorted(self._every_file(), key=_changed_at, reverse=True))
        if self._index.update(files, left).is_complete:
            self._index.mark_complete()

    def answer(self, spender: Spender, now: float, *, looks_ahead: bool = False) -> SpendingAnswer:
        """Return where the limits of *spender* stand; *looks_ahead* includes the next request."""
        standing = standings(
            self._settings.limits, self._index, spender, now, plans=self._plans, warn=self._warn
        )
        if looks_ahead and spender.session:
            standing = self._looking_ahead(standing, spender, now)
        problems = [problem for problem in (self._settings.problem, self._index.problem) if problem]
        return SpendingAnswer(tuple(standing), tuple(problems))

    def _looking_ahead(
        self, standing: list[LimitStanding], spender: Spender, now: float
    ) -> list[LimitStanding]:
        """Return *standing* with what the next request will cost; far from every limit, with more
        than it can cost, since prices take a hook a tenth of its time."""
        left = [limit.left for limit in standing if limit.counts_money]
        if not left:
            return standing
        last = self._index.last_requests(
            session=spender.session, sub_agent=spender.sub_agent, count=LAST_REQUESTS
        )
        expected = most_next_cost(last)
        if expected is None or 2 * expected >= min(left):
            expected = next_cost(last, self._index.prices, now)
        return [limit.expecting(expected) for limit in standing]


def _changed_at(file: AgentFile) -> float:
    try:
        return os.path.getmtime(file.path)
    except OSError:
        return 0.0
