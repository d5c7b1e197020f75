"""What the report finds in one file of a session, in one pass over its events, and how the index keeps it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import astuple, dataclass, field
from typing import Any, Self

from brim.report.billed import BilledRatio
from brim.report.cache import CacheBreak, CacheReader
from brim.report.compactions import Compaction, CompactionReader
from brim.report.money import SummaryReader, SummaryRequest
from brim.report.records import RecordsReader, carried, shown, with_parts
from brim.report.waste import Waste, WasteReader
from brim.tracking.events import Event, ToolCall
from brim.tracking.readers.stream import subagent_of
from brim.tracking.sessions import SessionFile


@dataclass(frozen=True)
class Findings:
    """What was found in one file."""

    breaks: list[CacheBreak] = field(default_factory=list)
    waste: list[Waste] = field(default_factory=list)
    summaries: list[SummaryRequest] = field(default_factory=list)
    called: list[str] = field(default_factory=list)
    """The tools of MCP servers that were called."""
    compactions: list[Compaction] = field(default_factory=list)

    def to_row(self) -> list[Any]:
        """Return it as JSON can hold it."""
        breaks, waste = ([astuple(each) for each in found] for found in (self.breaks, self.waste))
        return [breaks, waste, self.summaries, self.called, [each.to_dict() for each in self.compactions]]

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Return what ``to_row`` returned, from its JSON."""
        breaks, waste, summaries, called, compactions = json.loads(text)
        return cls(
            [CacheBreak(*row) for row in breaks],
            [Waste(*row) for row in waste],
            [SummaryRequest(*row) for row in summaries],
            called,
            [Compaction.from_dict(each) for each in compactions],
        )


class FindingsReader:
    """Gives each event of a file to everything that looks for something in it."""

    def __init__(self, file: SessionFile) -> None:
        agent = subagent_of(file.path)
        self._ratio = BilledRatio()
        self._cache = CacheReader()
        self._waste = WasteReader(self._ratio)
        self._summaries = SummaryReader(self._ratio)
        self._records = RecordsReader(agent)
        self._compactions = CompactionReader(file.format.partition("-")[0], ratio=self._ratio)
        self._agent, self._session = agent, ""
        self._called: set[str] = set()

    def line(self, line: Mapping[str, Any]) -> None:
        """Take the next line of a transcript of Claude Code; its events follow."""
        self._records.line(line)
        if line.get("type") == "cost-state":  # Claude Code writes its totals when it ends
            self._cache.end_process()

    def take(self, event: Event) -> None:
        """Take the next event."""
        self._ratio.take(event)
        self._cache.take(event)
        self._waste.take(event)
        self._summaries.take(event)
        self._compactions.take(event)
        if isinstance(event, ToolCall) and event.name.startswith("mcp__"):
            self._called.add(shown(event.name[:200]))
        self._session = self._session or event.session

    def finish(self) -> list[Any]:
        """Return what was found as a row of the index."""
        requests = self._records.finish()
        breaks, waste = with_parts(self._cache.finish(), requests), self._waste.finish()
        waste += carried(requests, self._called, self._session, self._agent, self._ratio)
        summaries, called = self._summaries.finish(), sorted(self._called)
        return Findings(breaks, waste, summaries, called, self._compactions.finish()).to_row()
