"""What filled windows without being used: files read twice, long results, tools never called, a
long beginning.

Sizes are bytes until the end of a file, when ``BilledRatio`` knows how long a token is. What a part
cost depends on how many requests carried it: it is written to the cache once and read from there
until the next compaction.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from dataclasses import dataclass, replace
from typing import Self

from brim.agents.call import Event, ToolCall
from brim.agents.events import Compaction, Message, ToolResult, Usage
from brim.agents.fields import first_text
from brim.agents.lines import Bounded
from brim.masking import mask
from brim.memory.token_length import BilledRatio, length_of
from brim.models.price_list import PriceList
from brim.models.usage import Tokens

LARGE = 10_000
"""Tokens of a result that count as many."""

KINDS = {
    "repeated": "the same part of an unchanged file, read again",
    "unused": f"results of more than {LARGE:,} tokens that nothing refers to again",
    "tool": "tools of MCP servers, described in every request and never called",
    "memory": "memory files, such as CLAUDE.md, in every request",
    "start": "the fixed beginning of every request: system prompt, tools, memory files",
}
"""What can be waste."""

ADVICE = {
    "repeated": "Ask for the part that is needed, and begin a new session for a new task.",
    "unused": "Send long output to a file and show its end: make test > out.txt 2>&1; tail -40 out.txt",
    "tool": "Switch off MCP servers that you don't use: claude mcp remove NAME.",
    "memory": "Shorten CLAUDE.md, and move what is rarely needed to files that it names.",
    "start": "Switch off MCP servers, plugins and skills that you don't use.",
}
"""What helps against each."""

_LEAST_REPEATED = 1_000
"""Bytes of a repeated result that are worth a line."""
_SHORTEST_TOKEN = 2
"""Bytes of a token at least: a result with fewer bytes than ``LARGE`` of these isn't large."""
_MOST_OPEN = 16
"""Large results per thread that are followed at the same time, and the names kept of each."""
_MOST_NAMES = 20_000
_MOST_FOUND = 2_000
"""Things in one file that are told."""
_KEPT = 1_000
_LONGEST = 300
"""Characters of a path or a command that are looked at, and that are told."""
_NAME = re.compile(r"[A-Za-z0-9_][\w./:-]{4,80}")
_TARGETS = ("file_path", "path", "absolute_path", "pattern", "url", "query", "description")
_SHOWS_FILE = re.compile(r"\s*(?:cat|head|tail|nl|bat|sed\s+-n)\s[^|;&<>`$]*")
"""Commands that do nothing but show a file."""


@dataclass(frozen=True)
class Waste:
    """Something that was in the window for nothing: ``tokens`` in each of ``requests``."""

    kind: str
    key: str
    """The same for the same thing, whichever files have a copy of it."""
    what: str
    session: str
    agent: str
    time: float | None
    model: str
    tokens: int
    requests: int
    cost: int | None = None
    """Micro-dollars; None if there is no price."""

    def priced(self, prices: PriceList, most: int | None = None) -> Self:
        """Return it with what it cost, at *most*: written to the cache once, then read from
        there."""
        written = Tokens(cache_write_5m=self.tokens, writes_are_input=True)
        read = Tokens(cache_read=self.tokens)
        costs = [prices.request(tokens, self.model, self.time) for tokens in (written, read)]
        if costs[0] is None or costs[1] is None:
            return self
        cost = costs[0] + costs[1] * max(0, self.requests - 1)
        return replace(self, cost=cost if most is None else min(cost, most))


@dataclass
class _Item:
    """Something in a window: its size in bytes, and how many requests of its thread came before
    it."""

    kind: str
    key: str
    what: str
    time: float | None
    size: int
    begin: int
    names: set[str] | None = None
    """What a later text would refer to it by; None if it doesn't matter."""
    spoken: bool = False
    """Whether the agent said something since."""


class _WasteThread:
    def __init__(self) -> None:
        self.session = self.model = self.last = ""
        self.requests = 0
        self.calls = Bounded(1_000)
        self.shown = Bounded(4_000)
        self.items: list[_Item] = []
        self.before = 0
        """Bytes before the first request."""
        self.start: tuple[int, float | None] | None = None
        """Prompt and time of the first request."""


class WasteReader:
    """Finds waste in the events of one file; *ratio* takes the same events."""

    def __init__(self, ratio: BilledRatio) -> None:
        self._ratio = ratio
        self._threads: defaultdict[str, _WasteThread] = defaultdict(_WasteThread)
        self._found: list[tuple[str, _WasteThread, _Item, int]] = []

    def take(self, event: Event) -> None:
        """Take the next event."""
        thread = self._threads[event.agent]
        if isinstance(event, Usage):
            self._request(thread, event)
        elif isinstance(event, ToolCall):
            self._refer(thread, event)
            thread.calls[event.id] = _shown_by(event)
        elif isinstance(event, ToolResult):
            self._result(thread, event)
        elif isinstance(event, Message):
            thread.before += length_of(event.text) if not thread.requests else 0
            if event.role == "assistant":
                self._refer(thread, event)
        elif isinstance(event, Compaction):
            self._close(event.agent, thread)

    def finish(self) -> list[Waste]:
        """Return what was found."""
        waste = []
        for agent, thread in self._threads.items():
            self._close(agent, thread)
            if thread.start is not None:
                prompt, time = thread.start
                size = self._ratio.tokens(thread.before, thread.model)
                where = (
                    "start",
                    f"{thread.session}:{agent}",
                    "",
                    thread.session,
                    agent,
                    time,
                    thread.model,
                )
                waste.append(Waste(*where, max(0, prompt - size), thread.requests))
        for agent, thread, item, requests in self._found:
            tokens = self._ratio.tokens(item.size, thread.model)
            if item.kind != "unused" or tokens > LARGE:
                about = (item.kind, item.key, mask(item.what)[:_LONGEST])
                waste.append(
                    Waste(*about, thread.session, agent, item.time, thread.model, tokens, requests)
                )
        return waste

    def _request(self, thread: _WasteThread, event: Usage) -> None:
        thread.session = event.session
        thread.model = event.model
        if event.request and event.request == thread.last:
            return
        thread.last = event.request
        thread.requests += 1
        if thread.start is None:
            thread.start = (event.tokens.prompt, event.time)

    def _result(self, thread: _WasteThread, event: ToolResult) -> None:
        size = length_of(event.text)
        target, call = thread.calls.pop(event.id, ("", 0))
        thread.before += size if not thread.requests else 0
        if event.error:
            return
        text = hash(event.text)
        before = thread.shown.get(call)
        if call:
            thread.shown[call] = text
        if call and size >= _LEAST_REPEATED and before == text:
            thread.items.append(
                _Item("repeated", event.id, target, event.time, size, thread.requests)
            )
        elif size >= LARGE * _SHORTEST_TOKEN and len(thread.items) < _MOST_OPEN:
            names = names_in(f"{target} {event.text}")
            if len(names) < _MOST_NAMES:
                # With more, it can't be told whether something refers to it.
                thread.items.append(
                    _Item("unused", event.id, target, event.time, size, thread.requests, names)
                )

    def _refer(self, thread: _WasteThread, event: Message | ToolCall) -> None:
        """Leave out what the agent refers to in *event*."""
        waiting = [item for item in thread.items if item.names is not None]
        if not waiting:
            return
        names = names_in(
            event.text if isinstance(event, Message) else " ".join(map(str, event.input.values()))
        )
        for item in waiting:
            item.spoken = True
            if item.names is not None and not item.names.isdisjoint(names):
                thread.items.remove(item)

    def _close(self, agent: str, thread: _WasteThread) -> None:
        """Take that the window is emptied: by a compaction, or because the session ends."""
        for item in thread.items:
            carried = thread.requests - item.begin
            if (
                carried > 0
                and len(self._found) < _MOST_FOUND
                and (item.names is None or (item.spoken and carried > 1))
            ):
                item.names = None
                self._found.append((agent, thread, item, carried))
        thread.items = []
        thread.shown.clear()


def names_in(text: str) -> set[str]:
    """Return the words of *text* that name something: paths, identifiers, numbers.

    Plain words don't.

    >>> sorted(names_in("The importer reads src/app.py with parse_rows, 4096 at a time"))
    ['app.py', 'parse_rows', 'src/app.py']
    """
    names: set[str] = set()
    for match in _NAME.finditer(text):
        word = match[0].rstrip(".:-/")
        if not word.isalpha() or not (word.islower() or word.istitle() or word.isupper()):
            names |= {word, word.rpartition("/")[2]}
            if len(names) >= _MOST_NAMES:
                break
    return names


def _shown_by(call: ToolCall) -> tuple[str, int]:
    """Return what *call* is for a person, and a hash of what it shows; 0 if that isn't just a
    file."""
    command = call.input.get("command")
    if call.kind == "shell" and isinstance(command, str):
        shows = len(command) < _KEPT and _SHOWS_FILE.fullmatch(command)
        return " ".join(command[:_KEPT].split()), hash(command) if shows else 0
    target = first_text(call.input, *_TARGETS)
    if call.kind == "read":
        return target[:_KEPT], hash(call.name + json.dumps(call.input, sort_keys=True, default=str))
    return f"{call.name} {target[:_KEPT]}".strip(), 0
