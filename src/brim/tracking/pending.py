"""What waits to be sent to an agent: one slot per purpose, so that nothing overwrites what a person said."""

from __future__ import annotations

from brim._frozen import Frozen
from brim.errors import InputError

PURPOSES = ("wrap_up", "compact", "human")
"""Why a turn is sent, in the order they go. Where the money ends, nothing else may be spent; a compaction goes before
the person's next message, which then finds room."""

_DROPPED_KEPT = 100


class Turn(Frozen):
    """One turn to send, alone: what stands after ``/compact`` in the same turn would be swallowed."""

    __slots__ = ("purpose", "text")

    purpose: str
    text: str

    def __init__(self, purpose: str, text: str) -> None:
        self._fill(purpose=purpose, text=text)


class Dropped(Frozen):
    """A turn that was not sent, and why."""

    __slots__ = ("reason", "turn")

    turn: Turn
    reason: str

    def __init__(self, turn: Turn, reason: str) -> None:
        self._fill(turn=turn, reason=reason)


class Pending:
    """What waits. A person's messages queue; of every other purpose the newest request holds.

    >>> pending = Pending()
    >>> pending.add("human", "And the docs, please.")
    >>> pending.add("compact", "/compact focus on the parser", session="s1")
    >>> pending.take("s1").purpose, pending.take("s1").text, pending.take("s1")
    ('compact', 'And the docs, please.', None)
    """

    def __init__(self) -> None:
        self._human: list[Turn] = []
        self._slots: dict[str, tuple[Turn, str]] = {}
        self._dropped: list[Dropped] = []

    def add(self, purpose: str, text: str, *, session: str = "") -> None:
        """Let *text* wait for its turn. A compaction is for the *session* that it was measured on, and no other."""
        if purpose not in PURPOSES:
            raise InputError(f"unknown purpose {str(purpose)[:40]!r}: use one of {', '.join(PURPOSES)}")
        if not isinstance(text, str) or not text.strip():
            raise InputError(f"a turn of purpose {purpose!r} needs a text")
        turn = Turn(purpose, text)
        if purpose == "human":
            self._human.append(turn)
            return
        if purpose in self._slots:
            self._drop(self._slots[purpose][0], "a newer request took its place")
        self._slots[purpose] = (turn, session)

    def take(self, session: str = "") -> Turn | None:
        """Return the next turn to send to *session*, which then waits no more; None if there is none.

        A request that is bound to another session is dropped: ``dropped`` says why.
        """
        for purpose in PURPOSES[:-1]:
            waiting = self._slots.pop(purpose, None)
            if waiting is None:
                continue
            turn, bound = waiting
            if not bound or not session or bound == session:
                return turn
            self._drop(turn, f"it was for the session {bound[:80]}, and this is {session[:80]}")
        return self._human.pop(0) if self._human else None

    def cancel(self, purpose: str, reason: str) -> None:
        """Drop the request of *purpose*, if one waits. What a person said cannot be dropped."""
        waiting = self._slots.pop(purpose, None)
        if waiting is not None:
            self._drop(waiting[0], reason)

    @property
    def waiting(self) -> tuple[Turn, ...]:
        """What waits, in the order in which it would be sent."""
        slots = (self._slots[purpose][0] for purpose in PURPOSES if purpose in self._slots)
        return (*slots, *self._human)

    @property
    def dropped(self) -> tuple[Dropped, ...]:
        """What was not sent and why, the last hundred."""
        return tuple(self._dropped)

    def __len__(self) -> int:
        return len(self._slots) + len(self._human)

    def _drop(self, turn: Turn, reason: str) -> None:
        self._dropped = [*self._dropped[1 - _DROPPED_KEPT :], Dropped(turn, reason)]
