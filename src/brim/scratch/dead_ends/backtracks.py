"""Confirmed: an explicit backtrack: after edits, a person types the client's own command (``data/backtracks.txt``)."""

from __future__ import annotations

from brim.scratch.dead_ends.finding import DeadEnd, key_of, masked_line, places
from brim.scratch.dead_ends.step import Rule, Step
from brim.scratch.dead_ends.tables import lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brim.tracking.events import Message


class Backtracks(Rule):
    """Remembers what was asked last, and what was edited for it."""

    def __init__(self) -> None:
        self._asked = ""
        self._edits = 0
        self._at: tuple[int, ...] = ()

    def step(self, step: Step) -> list[DeadEnd]:
        """Take in the edits of *step*."""
        for _ in step.changes:
            self._edits += 1
            self._at = places(self._at, step.call.at)
        return []

    def said(self, message: Message) -> list[DeadEnd]:
        """Return that a person took the edits back, if that is what *message* does."""
        first = message.text.split(None, 1)[0].lower() if message.text.strip() else ""
        edits, at, asked = self._edits, places(self._at, message.at), self._asked
        self._edits, self._at = 0, ()
        if first not in lines("backtracks.txt"):
            self._asked = masked_line(message.text)
            return []
        if not edits:
            return []
        return [
            DeadEnd(
                rule="backtrack",
                status="confirmed",
                what=masked_line(f"taken back with {first}: {asked or 'the last edits'}"),
                times=edits,
                at=at,
                agent=message.agent,
                session=message.session,
                key=key_of("backtrack", message.session, message.agent, str(message.at)),
            )
        ]
