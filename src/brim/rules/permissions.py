"""What a person allows despite a rule: ``brim rules allow``."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass

from brim.errors import InputError
from brim.record import PlainData
from brim.rules.rulebook import Rulebook
from brim.rules.source import USER
from brim.rules.state import BRIM, ONCE, REFUSED, SESSION, STOPPED, RulesState

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
