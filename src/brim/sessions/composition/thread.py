"""The requests of one thread, and the items that each of them held.

Most requests repeat the one before them and add a little. So an item (a message, a tool schema, a
block of the system prompt) is kept once, by its key, and a request is the place in a chain where it
ends: what it held is the way back. Only labels and counts are kept, never text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

from brim.models.usage import Tokens
from brim.sessions.composition.pieces import (
    SYSTEM,
    TOOLS,
    UNRESOLVED,
    Count,
    Label,
    Labels,
    RequestPiece,
)
from brim.sessions.lines import EventsOfLine, SessionLine

NOWHERE = -1
"""The place before the first item of a chain."""


@dataclass(frozen=True, slots=True)
class ThreadItem:
    """One thing that a request sends: a message, the schema of a tool, or a block of the system
    prompt."""

    key: str
    pieces: tuple[RequestPiece, ...]
    resolved: bool = True
    """Whether the transcript shows it: a request may name a message that no line holds."""


@dataclass(slots=True)
class Sent:
    """A request that was answered: where its chain ends, and what was billed."""

    id: str
    """The id of the answer."""
    model: str
    time: float | None
    place: int
    head: str
    """Which fixed start (tools and system prompt) it had; empty if that isn't recorded."""
    settings: str
    """A digest of the parameters that a cache depends on."""
    recorded: bool
    """Whether the client recorded the request itself."""
    resumed: bool = False
    """Whether it's the first after the session was resumed."""
    compacts: bool = False
    """Whether it asked for a summary of the conversation."""
    usage: Tokens = field(default_factory=Tokens)

    def to_row(self) -> list[Any]:
        """Return it as JSON values."""
        *about, usage = (getattr(self, name) for name in self.__slots__)
        return [*about, list(usage.to_dict().values())[:7]]  # the counters and the factors

    @classmethod
    def from_row(cls, row: Sequence[Any]) -> Self:
        """Return what ``to_row`` gave."""
        *about, (*counts, factors) = row
        sent = cls(*about)
        sent.usage = replace(Tokens(*counts), factors=tuple(factors))
        return sent


class Thread:
    """All requests of one thread, in the order in which they were answered."""

    def __init__(self) -> None:
        self.sent: list[Sent] = []
        self.items: dict[str, tuple[RequestPiece, ...]] = {}
        """The pieces of every item, by its key."""
        self.heads: dict[str, list[str]] = {}
        """The keys of each fixed start: tools, then system blocks."""
        self.partial: set[str] = set()
        """Fixed starts of which a part isn't recorded."""
        self.missing: tuple[str, ...] = (SYSTEM, TOOLS)
        """What of the fixed start the client doesn't record."""
        self._chain: list[
            tuple[int, str, int]
        ] = []  # the place before, the key, and how many items there are

    def to_row(self) -> dict[str, Any]:
        """Return it as JSON values; each label is written once."""
        labels: dict[Label, int] = {}
        items = {
            key: [
                (labels.setdefault(piece.label, len(labels)), piece.local, piece.own, piece.mark)
                for piece in pieces
            ]
            for key, pieces in self.items.items()
        }
        about = {"heads": self.heads, "partial": sorted(self.partial), "chain": self._chain}
        return {
            "labels": list(labels),
            "items": items,
            "sent": [sent.to_row() for sent in self.sent],
            **about,
        }

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Self:
        """Return what ``to_row`` gave."""
        thread = cls()
        labels = [tuple(label) for label in row["labels"]]
        for key, pieces in row["items"].items():
            thread.items[key] = tuple(
                [RequestPiece(labels[label], *counts) for label, *counts in pieces]
            )
        thread.heads = dict(row["heads"])
        thread.partial = set(row["partial"])
        thread.sent = [Sent.from_row(sent) for sent in row["sent"]]
        thread._chain = [(before, key, length) for before, key, length in row["chain"]]
        return thread

    def add(self, place: int, keys: Sequence[str]) -> int:
        """Put *keys* after *place*, and return the place of the last one."""
        for key in keys:
            self._chain.append((place, key, self.length(place) + 1))
            place = len(self._chain) - 1
        return place

    def length(self, place: int) -> int:
        """Return how many items lead to *place*."""
        if place == NOWHERE:
            return 0
        return self._chain[place][2]

    def back(self, place: int, length: int) -> int:
        """Return the place on the way to *place* where there were *length* items."""
        while self.length(place) > max(0, length):
            place = self._chain[place][0]
        return place

    def keys(self, place: int) -> list[str]:
        """Return the keys on the way to *place*, the first one first."""
        keys = []
        while place != NOWHERE:
            place, key, _ = self._chain[place]
            keys.append(key)
        return keys[::-1]

    def item(self, key: str) -> ThreadItem:
        """Return the item *key*; one that no line holds is not resolved."""
        pieces = self.items.get(key)
        if pieces is None:
            return ThreadItem(
                key, (RequestPiece((UNRESOLVED, key[:12]), 0, 0, key),), resolved=False
            )
        return ThreadItem(key, pieces)

    def items_of(self, sent: Sent) -> list[ThreadItem]:
        """Return what *sent* held, in the order in which a cache reads it: tools, system prompt,
        messages."""
        return [self.item(key) for key in (*self.heads.get(sent.head, ()), *self.keys(sent.place))]

    def hidden(self, sent: Sent) -> tuple[str, ...]:
        """Return what of *sent* the client doesn't record."""
        if sent.recorded:
            return ()
        if not sent.head:
            return self.missing
        if sent.head in self.partial:
            return self.missing[-1:]
        return ()

    def sizes(self, label: str = "") -> Iterator[tuple[int, int, int]]:
        """Yield the local tokens, own tokens and unresolved items of each request; of one *label*,
        if it's given."""
        weights: dict[str, tuple[int, int, int]] = {}
        for key, pieces in self.items.items():
            counted = [piece for piece in pieces if not label or piece.label[0] == label]
            weights[key] = (
                sum(piece.local for piece in counted),
                sum(piece.own for piece in counted),
                0,
            )
        nothing = (0, 0, 0)
        unknown = (0, 0, 1)
        sums = list[tuple[int, int, int]]()
        for before, key, _ in self._chain:
            sums.append(
                _plus(nothing if before == NOWHERE else sums[before], weights.get(key, unknown))
            )
        heads = dict.fromkeys(self.heads, nothing)
        for head, keys in self.heads.items():
            for key in keys:
                heads[head] = _plus(heads[head], weights.get(key, unknown))
        for sent in self.sent:
            yield _plus(
                nothing if sent.place == NOWHERE else sums[sent.place],
                heads.get(sent.head, nothing),
            )


class RequestsReader:
    """Takes the lines of one file, and fills a ``Thread``.

    *agent* is the sub-agent whose file it is.
    """

    family = ""
    """The name of a model of this client, until a line names one."""

    def __init__(self, count_text: Count, *, agent: str = "") -> None:
        self.thread = Thread()
        self._labels = Labels(count_text, self.family, is_agents=bool(agent))
        self._window = NOWHERE  # where the items of this window end
        self._calls: dict[str, Label] = {}
        self._folder = ""  # where the agent works: paths may be as seen from there

    def take_line(self, line: SessionLine, lines: EventsOfLine) -> None:
        """Take the next one of *lines*."""
        raise NotImplementedError

    def finish(self) -> Thread:
        """Return what was read so far; more may follow."""
        return self.thread


def _plus(one: tuple[int, int, int], other: tuple[int, int, int]) -> tuple[int, int, int]:
    return one[0] + other[0], one[1] + other[1], one[2] + other[2]
