"""What brim's own texts took: each is sent when a hook gives it, and again with every request."""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

from brim.agents.call import Event
from brim.agents.events import Attachment, Compaction, Usage
from brim.memory.token_length import BilledRatio, length_of
from brim.models.price_list import PriceList
from brim.models.usage import Tokens
from brim.sessions.composition.pieces import is_brims_text

DAY = 86_400.0
HOOK_TEXT = "hook_additional_context"
"""What Claude Code calls the text of a hook."""


class OwnTexts(NamedTuple):
    """What brim's texts took on one day, for one model."""

    day: float
    """When the day begins in UTC, in seconds since 1970."""
    model: str
    fresh: int
    """Tokens that were sent for the first time."""
    repeated: int
    """Tokens that later requests sent again."""

    def cost(self, prices: PriceList) -> int:
        """Return their micro-dollars, 0 without a known price."""
        tokens = Tokens(cache_write_5m=self.fresh, cache_read=self.repeated)
        return prices.request(tokens, self.model, self.day) or 0


class OwnTextsReader:
    """Adds up brim's texts in one file."""

    def __init__(self, ratio: BilledRatio) -> None:
        self._ratio = ratio
        self._arrived: defaultdict[str, int] = defaultdict(int)
        self._inside: defaultdict[str, int] = defaultdict(int)
        self._requests: dict[str, str] = {}
        self._fresh: defaultdict[tuple[float, str], int] = defaultdict(int)
        self._repeated: defaultdict[tuple[float, str], int] = defaultdict(int)

    def take(self, event: Event) -> None:
        """Take the next event."""
        if isinstance(event, Attachment):
            if event.kind == HOOK_TEXT and is_brims_text(event.text):
                self._arrived[event.agent] += length_of(event.text)
        elif isinstance(event, Compaction):
            self._inside[event.agent] = 0
        elif isinstance(event, Usage):
            self._request(event)

    def _request(self, event: Usage) -> None:
        if event.request and self._requests.get(event.agent) == event.request:
            return
        self._requests[event.agent] = event.request
        key = ((event.time or 0.0) // DAY * DAY, event.model)
        self._fresh[key] += self._arrived[event.agent]
        self._repeated[key] += self._inside[event.agent]
        self._inside[event.agent] += self._arrived[event.agent]
        self._arrived[event.agent] = 0

    def finish(self) -> list[OwnTexts]:
        """Return what brim's texts took, by day and model."""
        rows = []
        for day, model in self._fresh:
            fresh = self._ratio.tokens(self._fresh[day, model], model)
            repeated = self._ratio.tokens(self._repeated[day, model], model)
            if fresh or repeated:
                rows.append(OwnTexts(day, model, fresh, repeated))
        return rows
