"""What the report finds in one file of a session, in one pass over its events, and how the index keeps it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Self

from brim.report.billed import BilledRatio
from brim.report.cache import CacheBreak, CacheReader
from brim.report.money import SummaryReader, SummaryRequest
from brim.report.waste import Waste, WasteReader
from brim.tracking.events import Event


@dataclass(frozen=True)
class Findings:
    """What was found in one file."""

    bytes_per_token: float | None = None
    """By the session's own bill; None if it is too short to tell."""
    breaks: list[CacheBreak] = field(default_factory=list)
    waste: list[Waste] = field(default_factory=list)
    summaries: list[SummaryRequest] = field(default_factory=list)

    def to_row(self) -> list[Any]:
        """Return it as JSON can hold it."""
        parts = [[each.to_row() for each in self.breaks], [each.to_row() for each in self.waste]]
        return [self.bytes_per_token, *parts, [list(each) for each in self.summaries]]

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Return what ``to_row`` returned, from its JSON."""
        ratio, breaks, waste, summaries = json.loads(text)
        return cls(
            ratio,
            [CacheBreak.from_row(row) for row in breaks],
            [Waste.from_row(row) for row in waste],
            [SummaryRequest(*row) for row in summaries],
        )


class FindingsReader:
    """Gives each event of a file to everything that looks for something in it."""

    def __init__(self) -> None:
        self._ratio = BilledRatio()
        self._cache = CacheReader()
        self._waste = WasteReader(self._ratio)
        self._summaries = SummaryReader(self._ratio)

    def take(self, event: Event) -> None:
        """Take the next event."""
        self._ratio.take(event)
        self._cache.take(event)
        self._waste.take(event)
        self._summaries.take(event)

    def finish(self) -> list[Any]:
        """Return what was found as a row of the index."""
        breaks, waste = self._cache.finish(), self._waste.finish()
        return Findings(self._ratio.bytes_per_token, breaks, waste, self._summaries.finish()).to_row()
