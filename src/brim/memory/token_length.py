"""How many tokens is a text, when no tokenizer is loaded? Its length and the session's bill say.

Between two requests of one thread, the prompt grows by what the model wrote, which is billed as
output, and by what tools and people answered, whose bytes are known. So the session's own bill
says how long a token is, whatever the model's vocabulary.
"""

from __future__ import annotations

from collections import defaultdict

from brim.agents.call import Event
from brim.agents.events import Attachment, Compaction, Message, ToolResult, Usage
from brim.models.light import lookup
from brim.tokens.approximate import HIGH, LOW
from brim.tokens.calibrate import ANY_FAMILY, ratio_for
from brim.tokens.count import Count

SMALLEST_STEP = 2_000
"""Bytes between two requests that say something; what the client adds without a line is small
against them."""

SMALLEST_SAMPLE = 1_000
"""Billed tokens from which on the session tells how long one is."""

SHORTEST_TOKEN = 1.0
LONGEST_TOKEN = 12.0
"""Bytes of a token. Beyond that, something was in the prompt that no line shows."""


def length_of(text: str) -> int:
    """Return the number of UTF-8 bytes of *text*."""
    if text.isascii():
        return len(text)
    return len(text.encode("utf-8", "surrogatepass"))


def by_length(size: int, model: str = "") -> Count:
    """Return the tokens of a text of *size* bytes: a fourth, times the ratio of *model*'s
    vocabulary.

    >>> by_length(4_000, "gpt-4o")
    Count(1000, estimated, 800 to 3000)
    """
    if not size:
        return Count(0)
    tokens = (size + 3) // 4
    count = Count(tokens, "estimated", int(tokens * LOW), -int(-tokens * HIGH // 1))
    return count.scaled(*ratio_for(model, vocabulary_of(model)))


def vocabulary_of(model: str) -> str:
    """Return the vocabulary of *model*, or that of any model if it isn't known."""
    light = lookup(model)
    if light.resolved:
        return light.encoding
    return ANY_FAMILY


class BilledThread:
    """What came in one thread since its last request."""

    def __init__(self) -> None:
        self.last: Usage | None = None
        self.arrived = 0
        self.is_spoiled = False

    def growth_since_last(self, event: Usage) -> int:
        """Return by how many tokens the prompt grew through what arrived; 0 if that can't be
        told."""
        last = self.last
        if last is None or self.is_spoiled or last.model != event.model:
            return 0
        if self.arrived < SMALLEST_STEP:
            return 0
        growth = event.tokens.prompt - last.tokens.prompt - last.tokens.output
        if growth <= 0 or not SHORTEST_TOKEN <= self.arrived / growth <= LONGEST_TOKEN:
            return 0
        return growth


class BilledRatio:
    """Learns from the events of one file how many bytes a token has."""

    def __init__(self) -> None:
        self._threads: defaultdict[str, BilledThread] = defaultdict(BilledThread)
        self._bytes = 0
        self._tokens = 0

    def take(self, event: Event) -> None:
        """Take the next event."""
        thread = self._threads[event.agent]
        if isinstance(event, Usage):
            self._request(thread, event)
        elif isinstance(event, ToolResult | Attachment):
            thread.arrived += length_of(event.text)
        elif isinstance(event, Compaction):
            thread.is_spoiled = True
        elif isinstance(event, Message) and event.role not in ("assistant", "error"):
            thread.is_spoiled = True  # clients drop old reasoning when a person writes

    def _request(self, thread: BilledThread, event: Usage) -> None:
        last = thread.last
        is_same_request = last is not None and event.request == last.request
        if event.request and is_same_request:
            thread.last = event
            return
        growth = thread.growth_since_last(event)
        if growth:
            self._bytes += thread.arrived
            self._tokens += growth
        thread.last = event
        thread.arrived = 0
        thread.is_spoiled = False

    @property
    def bytes_per_token(self) -> float | None:
        """Bytes of a billed token; None if the session is too short to tell."""
        if self._tokens < SMALLEST_SAMPLE:
            return None
        return self._bytes / self._tokens

    def tokens(self, size: int, model: str) -> int:
        """Return how many tokens *size* bytes are; by the vocabulary of *model* if the session
        doesn't tell."""
        ratio = self.bytes_per_token
        if ratio is None:
            return int(by_length(size, model))
        return round(size / ratio)
