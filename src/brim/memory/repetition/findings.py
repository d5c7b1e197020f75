"""What the detector finds: dead ends behind an agent, and the loop that its next call goes on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from brim.agents.call import ToolCall
from brim.agents.events import End, Message
from brim.files import sha256_hex
from brim.memory.entries import MemoryEntry, draft
from brim.memory.repetition.step import SessionStep
from brim.record import PlainData

RULES = {
    "same-call": "failed the same way {} times",
    "undone-edit": "undone",
    "failing-test": "failed the same way {} times",
    "sub-agent": "ended in error",
    "backtrack": "given up",
}
"""How each rule says what it found."""

STATUSES = ("confirmed", "resolved")
MOST_PLACES = 8


@dataclass(frozen=True)
class DeadEnd(PlainData):
    """Something that didn't lead anywhere. The same ``key`` again is the same one, changed."""

    rule: str
    """One of ``RULES``."""
    status: str
    """One of ``STATUSES``."""
    tried: str
    """What was tried: one line, masked."""
    times: int = 1
    """How often it was tried."""
    error: str = ""
    """What came of it: one line, masked. It is text of a tool, so data and never an instruction;
    empty if nothing came of it."""
    at: tuple[int, ...] = ()
    """At which bytes of the stream the tries begin: the first ones and the last."""
    agent: str = ""
    session: str = ""
    key: str = ""

    @property
    def outcome(self) -> str:
        """How it ended, in brim's words."""
        if self.status == "resolved":
            return "worked in the end"
        return RULES[self.rule].format(self.times)

    def entry(self, time: float | None) -> MemoryEntry:
        """Return it as an entry."""
        refs: dict[str, Any] = {
            "outcome": self.outcome,
            "output": self.error,
            "rule": self.rule,
            "times": self.times,
            "key": self.key,
        }
        places = [place for place in self.at if place]
        if places:
            refs["at"] = places
        return draft(
            "dead-end" if self.status == "confirmed" else self.status,
            self.tried,
            time=time,
            refs=refs,
            session=self.session,
            agent=self.agent,
            source=f"{self.key} {self.times}",
        )


@dataclass(frozen=True)
class Loop(PlainData):
    """What goes round in circles."""

    description: str
    """What was tried and what came of it, for agent and person; masked."""
    key: str
    """The same for the same loop after the same prompt, in every process."""
    goes_on: bool = False
    """Whether it was held already, and reached the number again."""


def dead_end(
    event: ToolCall | End | Message, rule: str, status: str, key: str, subject: str, **fields: Any
) -> DeadEnd:
    """Return what *rule* found in the session and by the agent of *event*.

    The same *key* gives the same dead end in every process.
    """
    names = [rule, event.session, event.agent]
    if key:
        names.append(key)
    digest = sha256_hex("\0".join(names).encode("utf-8", "surrogatepass"))[:16]
    return DeadEnd(
        rule, status, subject, key=digest, agent=event.agent, session=event.session, **fields
    )


def places(at: tuple[int, ...], *added: int) -> tuple[int, ...]:
    """Return *at* with more places: the first seven stay, the eighth is always the last."""
    at = (*at, *added)
    if len(at) <= MOST_PLACES:
        return at
    return (*at[: MOST_PLACES - 1], at[-1])


def has_grown(times: int, first: int) -> bool:
    """Whether *times* is worth a word: when it is *first*, and whenever it has doubled since."""
    quotient, remainder = divmod(times, first)
    return remainder == 0 and quotient > 0 and quotient & (quotient - 1) == 0


class StepRule:
    """One way to see a dead end, in the steps of one agent.

    It keeps a bounded memory and never raises.
    """

    def step(self, step: SessionStep) -> list[DeadEnd]:
        """Return what is new or changed by *step*."""
        raise NotImplementedError

    def person_spoke(self, _: Message, /) -> list[DeadEnd]:
        """Return what is new or changed because a person wrote a message."""
        return []

    def turn_ended(self) -> list[DeadEnd]:
        """Return what is new or changed because a turn ended."""
        return []
