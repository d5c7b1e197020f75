"""What the model says next, and what it was told: the two things that a test writes and reads."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

Kind = Literal["turn", "compaction", "side", "count"]
"""A turn of the conversation, a request for its summary, what a client asks beside it (titles), a
count of tokens."""


class Say(NamedTuple):
    """The model answers with a text, and its turn ends."""

    text: str = "Done."
    tokens: int | None = None
    """Input tokens that the answer reports; None: about what the request really is."""
    output_tokens: int | None = None


class Call(NamedTuple):
    """The model calls a tool."""

    tool: str
    input: Mapping[str, Any]
    tokens: int | None = None
    output_tokens: int | None = None


class Overflow(NamedTuple):
    """The provider refuses: the prompt is too long."""

    tokens: int = 1_050_000
    most: int = 1_000_000


Step = Say | Call | Overflow


class Part(NamedTuple):
    """One piece of what a model was told, in the order in which it reads."""

    place: int
    """Which message it is in: 0 is the first, -1 the system prompt."""
    role: str
    kind: str
    """``text``, ``call`` or ``result``."""
    text: str


class Asked(NamedTuple):
    """One request, as the model received it."""

    kind: Kind
    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]
    parts: tuple[Part, ...]

    def holding(self, words: str) -> list[Part]:
        """Return the parts that hold *words*."""
        return [part for part in self.parts if words in part.text]

    def times(self, words: str) -> int:
        """Return how often *words* stand in what the model was told."""
        return sum(part.text.count(words) for part in self.parts)

    def only(self, words: str) -> Part:
        """Return the one part that holds *words*, which stand there once."""
        assert self.times(words) == 1, (
            f"{words!r} is there {self.times(words)} times:\n{self.told()}"
        )
        return self.holding(words)[0]

    def told(self) -> str:
        """Return everything as text, for the message of a test that failed."""
        return "\n".join(
            f"[{part.place} {part.role} {part.kind}] {part.text[-1500:]}" for part in self.parts
        )


class Reply(NamedTuple):
    """A step with what the wire needs to write it down."""

    number: int
    step: Say | Call
    model: str
    read: int
    """Input tokens that came from the cache."""
    fresh: int
    """Input tokens that did not."""
    written: int
    """Output tokens."""
    whole: bool
    """Whether it goes out as one JSON object, not as a stream."""

    @property
    def text(self) -> str:
        """What is said: a model that calls a tool says so first, as real ones do."""
        return self.step.text if isinstance(self.step, Say) else f"Calling {self.step.tool}."

    @property
    def call(self) -> Call | None:
        """The tool that is called, if one is."""
        return self.step if isinstance(self.step, Call) else None


class Sent(NamedTuple):
    """An answer of the server: one JSON object, or the events of a stream."""

    status: int
    value: Mapping[str, Any]
    events: tuple[Mapping[str, Any], ...] = ()
    headers: Mapping[str, str] = {}


def about(value: object) -> int:
    """Return roughly how many tokens *value* is: what a fake bill needs."""
    return max(1, len(json.dumps(value)) // 4)


def texts_of(content: object) -> list[tuple[str, str]]:
    """Return kind and text of a message's content, whatever a provider calls its blocks."""
    if isinstance(content, str):
        return [("text", content)]
    found: list[tuple[str, str]] = []
    for block in content if isinstance(content, list) else []:
        match block:
            case {"type": "tool_result"}:
                said = "\n".join(text for _, text in texts_of(block.get("content")))
                found.append(("result", said))
            case {"type": "tool_use"}:
                found.append(("call", json.dumps(block.get("input"))))
            case {"text": str(text)}:
                found.append(("text", text))
            case _:
                found.append((str(block.get("type")), json.dumps(block)))
    return found
