"""What happened because of each rule: how often it was told, and which calls it stopped."""

from __future__ import annotations

import time
from contextlib import closing

from brim.rules.rulebook import Rulebook, RuleEntry
from brim.rules.state import (
    ALLOWED,
    ASKED,
    REFUSED,
    REPEATED,
    STOPPED,
    Intervention,
    RuleCounts,
    RulesState,
)


class RuleHistory:
    """What is still known of the rules in *book*: what is past its time is forgotten."""

    def __init__(self, book: Rulebook, *, now: float) -> None:
        self._book = book
        self._now = now
        with closing(RulesState(book.home, now=now)) as state:
            self._counts = state.counts()
            self._sessions_told = state.sessions_told()

    def counts(self, entry: RuleEntry) -> RuleCounts:
        """Return what happened because of a rule."""
        counts = self._counts.get((entry.name, self._book.place_of(entry)), {})
        return RuleCounts(
            sessions_told=self._sessions_told.get(entry.rule.digest, 0),
            stopped=counts.get(STOPPED, 0),
            repeated=counts.get(REPEATED, 0),
            refused=counts.get(REFUSED, 0),
            allowed=counts.get(ALLOWED, 0),
            asked=counts.get(ASKED, 0),
        )

    def last_stop(self, entry: RuleEntry) -> Intervention | None:
        """Return the last call that a rule stopped or refused."""
        if not self._counts:
            return None  # only looking makes no file
        with closing(RulesState(self._book.home, now=self._now)) as state:
            return state.last(entry.name, self._book.place_of(entry), (STOPPED, REFUSED))


def stop_line(stop: Intervention) -> str:
    """Return a call that was stopped, with its day and session."""
    day = time.strftime("%Y-%m-%d", time.localtime(stop.time))
    line = f"{stop.call} ({stop.kind} {day}"
    if stop.session:
        line += f", session {stop.session[:8]}"
    return f"{line})"
