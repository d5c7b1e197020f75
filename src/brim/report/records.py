"""What the requests that Claude Code records add to the report: which part broke the cache, and what each one carried.

Only the records and the ids of the answers are read: a message of the conversation is known by its hash, and is named
only as a message. ``brim.tracking.requests`` reads the rest where it matters.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import groupby
from typing import Any

from brim.report.billed import BilledRatio
from brim.report.cache import CacheBreak
from brim.report.waste import Waste
from brim.tracking.readers.fields import mapping, text
from brim.tracking.requests.claude import ClaudeRequests
from brim.tracking.requests.composition import Request, compare, requests_of
from brim.tracking.requests.pieces import MEMORY, TOOLS, UNRESOLVED, Label, tool_label
from brim.tracking.requests.reading import by_bytes

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
            if message.get("id") != self._last:  # an answer has a line for each block: its first one says enough
                self._last = message.get("id")
                self._reader.take({**line, "message": {"id": self._last, "model": message.get("model")}})
        elif text(line, "attachment", "type") in _FILES or line.get("subtype") == "compact_boundary":
            self._reader.take(line)

    def finish(self) -> list[Request]:
        """Return the requests that were recorded."""
        requests = requests_of(self._reader.finish()) if self._any else []
        return [each for each in requests if each.recorded]


def with_parts(breaks: list[CacheBreak], requests: list[Request]) -> list[CacheBreak]:
    """Return *breaks* with the first part that differed, where recorded *requests* show it."""
    places = {each.id: place for place, each in enumerate(requests)}
    found = []
    for each in breaks:
        place = places.get(each.request.partition(":")[0], 0)
        cause = "resume" if place and requests[place].resumed and each.cause in ("unknown", "pause") else each.cause
        part = _named(compare(requests[place - 1], requests[place]).breaker) if place else ""
        part = part if cause in ("unknown", "memory", "resume") else ""
        found.append(replace(each, part=part, cause="part" if part and cause == "unknown" else cause))
    return found


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


def carried(requests: list[Request], called: set[str], session: str, agent: str, ratio: BilledRatio) -> Iterator[Waste]:
    """Yield the memory files, and the tools of MCP servers that weren't *called*, that *requests* began with.

    Requests in a row with the same tools and system prompt began like the first of them.
    """
    sums: dict[tuple[str, str], list[Any]] = {}
    for _, group in groupby(requests, key=lambda each: each.head):
        first, *rest = group
        for piece in first.pieces:
            what = ": ".join(piece.label[1:])
            is_idle = piece.label[0] == TOOLS and what.startswith(_SERVER) and what not in called
            if (is_idle or piece.label[0] == MEMORY) and piece.label[-1] not in _AROUND:
                size = sums.setdefault(("tool" if is_idle else "memory", what), [0, 0, first])
                size[0] = max(size[0], piece.local)
                size[1] += 1 + len(rest)
    for (kind, what), (local, count, first) in sums.items():
        where = (kind, f"{session}:{agent}:{what}", what, session, agent, first.time, first.model)
        yield Waste(*where, ratio.tokens(4 * local, first.model), count)
