"""Requests that wrote again what had been in the provider's cache, and why.

A prompt that begins like the one before is read from the cache, at a tenth of the price or less. A
request that reads less than the request before it had left there, and writes it again, is a break.
The transcript doesn't say why: the cause is the likely one of what happened in between.
"""

from __future__ import annotations

import os
from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import Any, Self

from brim.agents.call import Event, ToolCall
from brim.agents.events import Compaction, Usage
from brim.models.price_list import PriceList
from brim.models.usage import Tokens
from brim.sessions.requests import IndexedRequest

LEAST = 1_024
"""Tokens that count as a break; providers cache nothing shorter, and a few tokens always move."""

MINUTES = 300.0
HOUR = 3_600.0
"""Seconds that a cache lives."""

MEMORY_FILES = ("CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", "GEMINI.md")
"""Files whose text is at the beginning of every request."""

CAUSES = {
    "compaction": "after a compaction",
    "model": "after a change of the model",
    "resume": "after resuming",
    "pause": "after a pause longer than the cache lives",
    "part": "because an earlier part of the request changed",
    "memory": "after an edit of CLAUDE.md, AGENTS.md or GEMINI.md",
    "unknown": "for a reason that the transcript doesn't show",
}
"""The likely causes, and how a sentence about them goes on."""


@dataclass(frozen=True)
class CacheBreak:
    """One break: ``tokens`` had been cached and were written again by ``request``.

    ``cause`` is one of ``CAUSES``.
    """

    request: str
    session: str
    agent: str
    time: float | None
    model: str
    tokens: int
    cause: str
    pause: float | None
    """Seconds since the request before."""
    part: str = ""
    """The first part of the request that differed, if the client records requests."""
    cost: int | None = None
    """Micro-dollars more than reading from the cache would have cost; None if there is no price."""

    def priced(self, request: IndexedRequest, prices: PriceList) -> Self:
        """Return it with what it cost, as *request* was priced."""
        used = request.tokens
        left = self.tokens
        moved: dict[str, Any] = {"cache_read": used.cache_read + left}
        for name in ("cache_write_5m", "cache_write_1h", "input"):
            moved[name] = max(0, getattr(used, name) - left)
            left -= getattr(used, name) - moved[name]
        costs = [
            prices.request(tokens, request.model, request.time)
            for tokens in (used, replace(used, **moved))
        ]
        return self if None in costs else replace(self, cost=max(0, costs[0] - costs[1]))  # type: ignore[operator]


@dataclass
class _Between:
    """What happened between two requests."""

    compacted: bool = False
    resumed: bool = False
    memory: bool = False

    def cause(self, *, is_long: bool) -> str:
        """Return why the cache broke; *is_long* if it had expired."""
        if self.compacted:
            return "compaction"
        if self.resumed and (is_long or not self.memory):
            return "resume"
        if is_long:
            return "pause"
        if self.memory:
            return "memory"
        return "unknown"


@dataclass
class _CacheThread:
    """One thread of a session: its last two requests, and what happened before the last and
    since."""

    before: Usage | None = None
    last: Usage | None = None
    life: float = MINUTES
    edited: bool = False
    """Whether a memory file was edited since the process began."""
    between: _Between = field(default_factory=_Between)
    since: _Between = field(default_factory=_Between)


class CacheReader:
    """Finds the breaks in the events of one file."""

    def __init__(self) -> None:
        self._threads: defaultdict[str, _CacheThread] = defaultdict(_CacheThread)
        self._found: list[CacheBreak] = []

    def take(self, event: Event) -> None:
        """Take the next event."""
        thread = self._threads[event.agent]
        if isinstance(event, Usage):
            self._request(thread, event)
        elif isinstance(event, Compaction):
            thread.since.compacted = True
        elif isinstance(event, ToolCall) and event.kind in ("edit", "write"):
            path = event.input.get("file_path")
            thread.since.memory |= isinstance(path, str) and os.path.basename(path) in MEMORY_FILES
            thread.edited |= thread.since.memory

    def end_process(self) -> None:
        """Take that the client ended here: a request of the main thread that follows is of a
        resumed session."""
        thread = self._threads[""]
        thread.since.resumed = thread.last is not None

    def finish(self) -> list[CacheBreak]:
        """Return the breaks, in the order of the file."""
        for thread in self._threads.values():
            self._settle(thread)
        return self._found

    def _request(self, thread: _CacheThread, event: Usage) -> None:
        if thread.last is not None and event.request and event.request == thread.last.request:
            thread.last = event  # the same request with newer numbers
            return
        self._settle(thread)
        if thread.last is not None and thread.last.tokens.cache_write_1h:
            thread.life = HOUR
        if thread.since.resumed:  # memory files are read again
            thread.since.memory = thread.edited
            thread.edited = False
        thread.before = thread.last
        thread.last = event
        thread.between = thread.since
        thread.since = _Between()

    def _settle(self, thread: _CacheThread) -> None:
        before = thread.before
        last = thread.last
        if before is None or last is None:
            return
        tokens = rewritten(before.tokens, last.tokens)
        if tokens < LEAST:
            return
        pause = _pause(before, last)
        is_long = pause is not None and pause > thread.life
        cause = thread.between.cause(is_long=is_long)
        if last.compacts:
            cause = "compaction"
        elif before.model != last.model and cause != "compaction":
            cause = "model"
        where = (last.request, last.session, last.agent, last.time, last.model)
        self._found.append(CacheBreak(*where, tokens, cause, pause))


def _pause(before: Usage, last: Usage) -> float | None:
    """Return the seconds between two requests; None if a clock was set back, or isn't known."""
    if before.time is None or last.time is None or last.time < before.time:
        return None
    return last.time - before.time


def rewritten(before: Tokens, last: Tokens) -> int:
    """Return how many tokens the request *before* had left in the cache that the *last* one wrote
    again.

    A provider that doesn't report writes has cached what it reported as read.
    """
    cached = before.cache_read + before.cache_write_5m + before.cache_write_1h
    written = last.cache_write_5m + last.cache_write_1h + last.input
    return max(0, min(cached - last.cache_read, written))
