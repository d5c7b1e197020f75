"""What happened because of each rule: how often it was told, and which calls it stopped."""

from __future__ import annotations

import time
from contextlib import closing
from dataclasses import dataclass

from brim.errors import InputError
from brim.record import PlainData
from brim.rules.rulebook import Rulebook, RuleEntry
from brim.rules.source import USER
from brim.rules.state import (
    ALLOWED,
    ASKED,
    BRIM,
    ONCE,
    REFUSED,
    REPEATED,
    SESSION,
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


# What a person allows -----------------------------------------------------------------------------


PATIENCE = 10.0
"""Seconds that a command waits for hooks that note something."""


@dataclass(frozen=True)
class RulePermission(PlainData):
    """A call that is allowed although a rule refuses it."""

    name: str
    how: str
    """``once`` or ``session``."""
    session: str


def allow_rule(book: Rulebook, name: str, session: str | None, *, now: float) -> RulePermission:
    """Let calls pass that the rule *name* refuses: in *session*, or the next one if that is None.

    An empty *session* is the one in which it refused a call last. ``brim`` stands for what protects
    brim itself.
    """
    place = USER
    if name != BRIM:
        entry = book.find(name)
        name = entry.name
        if not entry.rule.block and entry.check is None:
            raise InputError(f"{name} stops and refuses nothing, so there is nothing to allow")
        place = book.place_of(entry)
    with closing(RulesState(book.home, now=now, patience=PATIENCE)) as state:
        if session is None:
            state.allow(name, place)
            return RulePermission(name, ONCE, "")
        if not session:
            last = state.last(name, place, (STOPPED, REFUSED))
            if last is None:
                raise InputError(
                    f"{name} hasn't stopped a call yet: name the session, or say --once"
                )
            session = last.session
        state.allow(name, place, session)
    return RulePermission(name, SESSION, session)
