"""The request to compact an agent's conversation, and the turns that wait to be sent to it."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from brim.errors import InputError
from brim.record import PlainData
from brim.text import fold, one_line

NO_TASK = "the current task"


def build_compact_prompt(task: str, cfa_state: str = "", scratch_path: str | None = None) -> str:
    """Return the request to compact: what to keep, the state the work is in, and where more is
    written down.

    Task and state are folded to one line of at most 200 characters; an empty state is left out. It
    is a turn of its own: whatever is put after it is swallowed. So the pointer in it serves the
    summary; the agent gets it once more, by ``build_reminder``, when the compaction is done.

    >>> print(build_compact_prompt("fix the parser", "EXECUTING", ".context/scratch.md"))
    /compact focus on fix the parser -- current CfA state is EXECUTING
    After compaction, read .context/scratch.md for preserved context.
    """
    prompt = f"/compact focus on {fold(task) or NO_TASK}"
    if state := fold(cfa_state):
        prompt += f" -- current CfA state is {state}"
    if path := one_line(str(scratch_path or "")):
        prompt += f"\nAfter compaction, read {path} for preserved context."
    return prompt


def build_reminder(scratch_path: str) -> str:
    """Return what the agent is told after a compaction: the pointer again, since the request's is
    in no message."""
    return (
        f"The conversation was compacted. Read {one_line(str(scratch_path))} for preserved context."
    )


PURPOSES = ("wrap_up", "compact", "human")
"""Why a turn is sent, in the order they go.

Where the money ends, nothing else may be spent; a compaction goes before the person's next message,
which then finds room.
"""

_DROPPED_KEPT = 100


@dataclass(frozen=True)
class Turn(PlainData):
    """One turn to send, alone: what stands after ``/compact`` in the same turn would be
    swallowed."""

    purpose: str
    text: str


@dataclass(frozen=True)
class DroppedPart(PlainData):
    """A turn that was not sent, and why."""

    turn: Turn
    reason: str


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
        self._dropped: deque[DroppedPart] = deque(maxlen=_DROPPED_KEPT)

    def add(self, purpose: str, text: str, *, session: str = "") -> None:
        """Let *text* wait for its turn.

        A compaction is for the *session* that it was measured on, and no other.
        """
        if purpose not in PURPOSES:
            raise InputError(
                f"unknown purpose {str(purpose)[:40]!r}: use one of {', '.join(PURPOSES)}"
            )
        if not isinstance(text, str) or not text.strip():
            raise InputError(f"a turn of purpose {purpose!r} needs a text")
        if purpose == "human":
            self._human.append(Turn(purpose, text))
        else:
            self.cancel(purpose, "a newer request took its place")
            self._slots[purpose] = (Turn(purpose, text), session)

    def take(self, session: str = "") -> Turn | None:
        """Return the next turn to send to *session*, which then waits no more; None if there is
        none.

        A request that is bound to another session is dropped: ``dropped`` says why.
        """
        for purpose in [purpose for purpose in PURPOSES if purpose in self._slots]:
            turn, bound = self._slots.pop(purpose)
            if not bound or not session or bound == session:
                return turn
            reason = f"it was for the session {bound[:80]}, and this is {session[:80]}"
            self._dropped.append(DroppedPart(turn, reason))
        if self._human:
            return self._human.pop(0)
        return None

    def cancel(self, purpose: str, reason: str) -> None:
        """Drop the request of *purpose*, if one waits. What a person said cannot be dropped."""
        if purpose in self._slots:
            self._dropped.append(DroppedPart(self._slots.pop(purpose)[0], reason))

    @property
    def waiting(self) -> tuple[Turn, ...]:
        """What waits, in the order in which it would be sent."""
        slots = (self._slots[purpose][0] for purpose in PURPOSES if purpose in self._slots)
        return (*slots, *self._human)

    @property
    def dropped(self) -> tuple[DroppedPart, ...]:
        """What was not sent and why, the last hundred."""
        return tuple(self._dropped)

    def __len__(self) -> int:
        return len(self._slots) + len(self._human)
