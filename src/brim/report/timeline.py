"""A session request by request: what filled the window each time, what came in, and what happened in between."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from brim.tracking.requests import Request, tokens_of_part
from brim.tracking.requests.pieces import (
    AGENTS,
    BRIM,
    IMAGES,
    MEMORY,
    REMINDERS,
    RESULTS,
    SUMMARY,
    SYSTEM,
    TASK,
    THINKING,
    TOOLS,
    YOURS,
    Label,
)

GROUPS: Mapping[str, tuple[str, ...]] = {
    "system + tools": (SYSTEM, TOOLS, MEMORY, REMINDERS),
    "brim": (BRIM,),
    "you + agent": (YOURS, TASK, AGENTS, THINKING, IMAGES, SUMMARY),
    "tool results": (RESULTS,),
}
"""The parts of a request that are drawn as one. What a client doesn't record is system and tools."""


@dataclass(frozen=True, slots=True)
class Moment:
    """One request on the timeline."""

    number: int
    time: float | None
    model: str
    billed: int
    """Tokens of the whole prompt."""
    cached: int
    """Those of them that came from the provider's cache."""
    parts: Mapping[str, int]
    """Tokens of each of ``GROUPS``."""
    cause: Label
    """The largest part that came in with it, as ``brim context`` names it; empty if nothing did."""
    cause_tokens: int
    basis: str
    """How the parts were counted."""
    id: str = field(repr=False, default="")

    @property
    def rest(self) -> int:
        """What was billed beyond all parts; negative if the parts are more."""
        return self.billed - sum(self.parts.values())

    def to_dict(self) -> dict[str, Any]:
        """Return it for JSON."""
        named = {name: getattr(self, name) for name in self.__slots__}
        return {**named, "parts": dict(self.parts), "rest": self.rest, "cause": list(self.cause)}


def timeline(requests: Sequence[Request]) -> list[Moment]:
    """Return the moments of a thread's *requests*: all of them, from the first."""
    sizes = {
        group: [sum(each) for each in zip(*(tokens_of_part(requests, name) for name in names), strict=True)]
        for group, names in GROUPS.items()
    }
    hidden = "system + tools"
    found, before = list[Moment](), set[str]()
    for at, request in enumerate(requests):
        parts = {group: tokens[at] for group, tokens in sizes.items()}
        parts[hidden] += request.known.hidden or 0 if request.hidden else 0
        items = request.items
        came = [piece for item in items if item.key not in before for piece in item.pieces]
        cause = max(came, key=lambda piece: request.tokens_of([piece]), default=None)
        before = {item.key for item in items}
        largest = 0 if cause is None else request.tokens_of([cause])
        about = (request.number, request.time, request.model, request.billed, request.usage.cache_read)
        label = cause.label if cause is not None and largest else ()
        found.append(Moment(*about, parts, label, largest, request.known.basis, request.id))
    return found
