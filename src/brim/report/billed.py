"""How many bytes a billed token of a session has: what turns the length of a text into tokens.

Between two requests of one thread, the prompt grows by what the model wrote, which is billed as output, and by what
tools and people answered, whose bytes are known. So the session's own bill says how long a token is, whatever the
model's vocabulary. Nothing is counted with a tokenizer.
"""

from __future__ import annotations

from collections import defaultdict

from brim.tracking.estimate import by_length, length_of
from brim.tracking.events import Attachment, Compaction, Event, Message, ToolResult, Usage

_LEAST_BYTES = 2_000
"""Bytes between two requests that say something; what the client adds without a line is small against them."""
_LEAST_TOKENS = 1_000
_SHORTEST, _LONGEST = 1.0, 12.0
"""Bytes of a token. Beyond that, something was in the prompt that no line shows."""


class _Thread:
    def __init__(self) -> None:
        self.last: Usage | None = None
        self.arrived = 0
        self.spoiled = False


class BilledRatio:
    """Learns from the events of one file how many bytes a token has."""

    def __init__(self) -> None:
        self._threads: defaultdict[str, _Thread] = defaultdict(_Thread)
        self._bytes = self._tokens = 0

    def take(self, event: Event) -> None:
        """Take the next event."""
        thread = self._threads[event.agent]
        if isinstance(event, Usage):
            self._request(thread, event)
        elif isinstance(event, ToolResult | Attachment):
            thread.arrived += length_of(event.text)
        elif isinstance(event, Compaction) or (isinstance(event, Message) and event.role not in ("assistant", "error")):
            thread.spoiled = True  # clients drop old reasoning when a person writes

    def _request(self, thread: _Thread, event: Usage) -> None:
        last = thread.last
        if last is not None and event.request and event.request == last.request:
            thread.last = event
            return
        if last is not None and last.model == event.model and not thread.spoiled and thread.arrived >= _LEAST_BYTES:
            grown = event.tokens.prompt - last.tokens.prompt - last.tokens.output
            if grown > 0 and _SHORTEST <= thread.arrived / grown <= _LONGEST:
                self._bytes += thread.arrived
                self._tokens += grown
        thread.last, thread.arrived, thread.spoiled = event, 0, False

    @property
    def bytes_per_token(self) -> float | None:
        """Bytes of a billed token; None if the session is too short to tell."""
        return self._bytes / self._tokens if self._tokens >= _LEAST_TOKENS else None

    def tokens(self, size: int, model: str) -> int:
        """Return how many tokens *size* bytes are; by the vocabulary of *model* if the session doesn't tell."""
        ratio = self.bytes_per_token
        return int(by_length(size, model)) if ratio is None else round(size / ratio)
