"""What the report finds in one file of a session, in one pass over its events, and how the index
keeps it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field, replace
from itertools import chain, groupby
from typing import Any, Self

from brim.agents.agent import subagent_of
from brim.agents.call import Event, ToolCall
from brim.agents.fields import mapping, text
from brim.errors import InputError
from brim.memory.compactions import CompactionReader
from brim.memory.lost import CompactionReport
from brim.memory.token_length import BilledRatio
from brim.sessions.composition.claude import ClaudeRequests
from brim.sessions.composition.composed_request import ComposedRequest, compare, requests_of
from brim.sessions.composition.pieces import MEMORY, TOOLS, UNRESOLVED, Label, tool_label
from brim.sessions.composition.reading import by_bytes
from brim.sessions.lines import SessionLines
from brim.sessions.processes import read_each
from brim.sessions.report.cache import CacheBreak, CacheReader
from brim.sessions.report.index import FileFindings, load_findings, save_findings
from brim.sessions.report.money import SummaryReader, SummaryRequest
from brim.sessions.report.own_texts import OwnTexts, OwnTextsReader
from brim.sessions.report.waste import Waste, WasteReader
from brim.sessions.session_files import TRANSCRIPT, SessionFile, Stamp


@dataclass(frozen=True)
class Findings:
    """What was found in one file."""

    breaks: list[CacheBreak] = field(default_factory=list)
    waste: list[Waste] = field(default_factory=list)
    summaries: list[SummaryRequest] = field(default_factory=list)
    called: list[str] = field(default_factory=list)
    """The tools of MCP servers that were called."""
    compactions: list[CompactionReport] = field(default_factory=list)
    own_texts: list[OwnTexts] = field(default_factory=list)
    """What brim's own texts took."""

    def to_row(self) -> list[Any]:
        """Return it as JSON can hold it."""
        breaks, waste = ([astuple(each) for each in found] for found in (self.breaks, self.waste))
        return [
            breaks,
            waste,
            self.summaries,
            self.called,
            [report.to_dict() for report in self.compactions],
            self.own_texts,
        ]

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Return what ``to_row`` returned, from its JSON."""
        breaks, waste, summaries, called, compactions, own_texts = json.loads(text)
        return cls(
            [CacheBreak(*row) for row in breaks],
            [Waste(*row) for row in waste],
            [SummaryRequest(*row) for row in summaries],
            called,
            [CompactionReport.from_dict(report) for report in compactions],
            [OwnTexts(*row) for row in own_texts],
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
        self._own_texts = OwnTextsReader(self._ratio)
        self._compactions = CompactionReader(file.format.partition("-")[0], ratio=self._ratio)
        self._agent = agent
        self._session = ""
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
        self._own_texts.take(event)
        if isinstance(event, ToolCall) and event.name.startswith("mcp__"):
            self._called.add(shown(event.name[:200]))
        self._session = self._session or event.session

    def finish(self) -> list[Any]:
        """Return what was found as a row of the index."""
        requests = self._records.finish()
        breaks = with_parts(self._cache.finish(), requests)
        waste = self._waste.finish()
        waste += carried(requests, self._called, self._session, self._agent, self._ratio)
        summaries = self._summaries.finish()
        called = sorted(self._called)
        return Findings(
            breaks,
            waste,
            summaries,
            called,
            self._compactions.finish(),
            self._own_texts.finish(),
        ).to_row()


class FindingsReading:
    """Reads the findings in files, those that have changed since the cache was written."""

    def __init__(self, files: Sequence[SessionFile], cache: str | None) -> None:
        self.notes: list[str] = []
        """Problems with the cache, to show to the user."""
        self._cache = cache
        self._findings: dict[str, FileFindings] = {}
        self._changed: dict[str, FileFindings] = {}
        self._jobs: list[SessionFile] = []
        cached: dict[str, FileFindings] = {}
        if cache:
            cached = load_findings(cache, [file.path for file in files], self.notes.append)
        for file in files:
            known_file = cached.get(file.path)
            if known_file is not None and known_file.stamp == file.stamp:
                self._findings[file.path] = known_file
            else:
                self._jobs.append(file)

    @property
    def unread(self) -> int:
        """Bytes that are still to be read."""
        return sum(file.stamp.size for file in self._jobs)

    def read(self, on_read: Callable[[int, int, int], object]) -> None:
        """Read the changed files; what was read before an interruption isn't read again."""
        size = self.unread
        try:
            sizes = [file.stamp.size for file in self._jobs]
            for place, findings in read_each(self._jobs, read_findings, sizes):
                file = self._jobs[place]
                if not isinstance(findings, InputError):
                    self._changed[file.path] = findings
                on_read(file.stamp.size, size, len(self._jobs))
        finally:
            if self._cache and self._changed:
                save_findings(self._cache, self._changed)

    def by_file(self) -> dict[str, Findings]:
        """Return the findings by file, in the order of their paths."""
        every = {**self._findings, **self._changed}
        return {path: Findings.from_json(every[path].json) for path in sorted(every)}


def read_findings(file: SessionFile) -> FileFindings:
    """Return what is found in *file*; an ``InputError`` if it can't be read."""
    reader = FindingsReader(file)
    try:
        with SessionLines(file.path, format=file.format) as lines:
            stamp = Stamp.of(os.fstat(lines.file.fileno()))
            for line in chain(lines.whole(), lines.unfinished()):
                events = lines.events(line)
                if lines.format == TRANSCRIPT:
                    reader.line(line.content)
                for event in events:
                    reader.take(event)
            for event in lines.last_events():
                reader.take(event)
    except OSError as error:
        raise InputError(f"{file.path}: {error.strerror or error}") from None
    return FileFindings(stamp, json.dumps(reader.finish(), separators=(",", ":")))


# Recorded requests --------------------------------------------------------------------------------
#
# What the requests that Claude Code records add to the report: which part broke the cache, and what
# each one carried.
#
# Only the records and the ids of the answers are read: a message of the conversation is known by
# its hash, and is named only as a message. ``brim.sessions.composition`` reads the rest where it
# matters.

_RECORDS = ("api-request-shape", "api-request-blob", "api-request")
_FILES = ("instructions", "nested_memory")
_SERVER = "mcp: "
_AROUND = ("instructions", "introduction")
"""What a server says about itself, and what stands before memory files: neither tools nor files."""


class RecordsReader:
    """Takes the lines of one transcript of *agent*; empty is the main thread."""

    def __init__(self, agent: str) -> None:
        self._reader = ClaudeRequests(by_bytes, agent=agent)
        self._any = False
        self._last: object = None

    def line(self, line: Mapping[str, Any]) -> None:
        """Take the next line."""
        kind = line.get("type")
        if kind in _RECORDS:
            self._any = True
            self._reader.take(line)
        elif kind == "assistant" and self._any:
            message = mapping(line, "message")
            if message.get("id") != self._last:
                # An answer has a line for each block: its first one says enough.
                self._last = message.get("id")
                self._reader.take(
                    {**line, "message": {"id": self._last, "model": message.get("model")}}
                )
        elif (
            text(line, "attachment", "type") in _FILES or line.get("subtype") == "compact_boundary"
        ):
            self._reader.take(line)

    def finish(self) -> list[ComposedRequest]:
        """Return the requests that were recorded."""
        requests = []
        if self._any:
            requests = requests_of(self._reader.finish())
        return [request for request in requests if request.recorded]


def with_parts(breaks: list[CacheBreak], requests: list[ComposedRequest]) -> list[CacheBreak]:
    """Return *breaks* with the first part that differed, where recorded *requests* show it."""
    places = {broken.id: place for place, broken in enumerate(requests)}
    completed = []
    for broken in breaks:
        place = places.get(broken.request.partition(":")[0], 0)
        if place:
            broken = _with_part(broken, requests[place - 1], requests[place])  # noqa: PLW2901
        completed.append(broken)
    return completed


def _with_part(broken: CacheBreak, before: ComposedRequest, request: ComposedRequest) -> CacheBreak:
    cause = broken.cause
    if request.resumed and cause in ("unknown", "pause"):
        cause = "resume"
    if cause not in ("unknown", "memory", "resume"):
        return broken
    part = _named(compare(before, request).breaker)
    if part and cause == "unknown":
        cause = "part"
    return replace(broken, part=part, cause=cause)


def _named(label: Label) -> str:
    if label[:1] == (UNRESOLVED,):
        return "an earlier message"
    return ": ".join(label[:3])


def shown(tool: str) -> str:
    """Return how the *tool* of an MCP server is shown.

    >>> shown("mcp__shop__find")
    'mcp: shop: find'
    """
    return ": ".join(tool_label(tool))


def carried(
    requests: list[ComposedRequest], called: set[str], session: str, agent: str, ratio: BilledRatio
) -> Iterator[Waste]:
    """Yield the memory files, and the tools of MCP servers that weren't *called*, that *requests*
    began with.

    Requests in a row with the same tools and system prompt began like the first of them.
    """
    sums: dict[tuple[str, str], list[Any]] = {}
    for _, group in groupby(requests, key=lambda request: request.head):
        first, *followers = group
        for piece in first.pieces:
            part = ": ".join(piece.label[1:])
            is_idle = piece.label[0] == TOOLS and part.startswith(_SERVER) and part not in called
            if (is_idle or piece.label[0] == MEMORY) and piece.label[-1] not in _AROUND:
                size = sums.setdefault(("tool" if is_idle else "memory", part), [0, 0, first])
                size[0] = max(size[0], piece.local)
                size[1] += 1 + len(followers)
    for (kind, part), (local, count, first) in sums.items():
        where = (kind, f"{session}:{agent}:{part}", part, session, agent, first.time, first.model)
        yield Waste(*where, ratio.tokens(4 * local, first.model), count)
