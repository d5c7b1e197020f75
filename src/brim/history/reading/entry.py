"""What one message holds, whatever its format: who speaks, which calls it makes, which it answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Role = Literal["system", "user", "assistant", "tool", ""]
"""Who speaks. A developer is ``system``, Gemini's model is ``assistant``, ``tool`` only answers calls; ``""`` is nobody
that the format knows, and has a ``problem``."""


def filled(value: object) -> bool:
    """Whether a field holds something; not every object can say so itself."""
    return value is not None and (not isinstance(value, (str, bytes, list, tuple, dict, set)) or len(value) > 0)


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a tool, or the answer to one."""

    id: str
    """What ties call and answer together; empty if the message does not say."""
    name: str = ""
    """The tool; empty where the format does not repeat it."""
    kind: str = ""
    """The family of tools, where a call and its answer must be of the same: ``function``, ``custom``, ``computer``."""
    required: bool = True
    """Whether the provider wants it answered."""

    @property
    def key(self) -> tuple[str, str]:
        """What a call and its answer have in common."""
        return self.kind, self.id


@dataclass(frozen=True, slots=True)
class Entry:
    """One message, read."""

    index: int
    """Its place in the list that was given."""
    message: object
    """The caller's own object."""
    role: Role
    """Who speaks."""
    calls: tuple[Call, ...] = ()
    """The calls it makes, in order."""
    results: tuple[Call, ...] = ()
    """The calls it answers, in order."""
    says: bool = False
    """Whether it holds anything besides calls, results and reasoning: text, an image, a search of the provider's."""
    in_order: bool = True
    """Whether results stand before everything else in it, and calls after everything else."""
    reasons: bool = False
    """Whether it holds reasoning."""
    ends_in_reasoning: bool = False
    """Whether the last thing in it is reasoning."""
    opens: tuple[str, ...] = ()
    """Calls of the provider's own tools that begin here and end in a later message of the same turn, by id."""
    closes: tuple[str, ...] = ()
    """Calls of the provider's own tools that end here and began in an earlier message, by id."""
    id: str = ""
    """The message's own id, if it has one: parts of one message that were stored apart share it."""
    problem: str = ""
    """Why no provider of this format accepts the message by itself; empty if nothing is wrong with it."""
    rule: str = ""
    """The name of the rule that the problem breaks."""

    @property
    def is_prompt(self) -> bool:
        """Whether a person speaks: a user message that is more than the results of tools."""
        return self.role == "user" and (self.says or not self.results)
