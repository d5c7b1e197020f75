"""What no report tells: the size of the next prompt, what fills the window, and a model's ratio.

No tokenizer is loaded for the first two: without a counter, text is taken by its length and by the
model's ratio. What fills the window is estimated the same way and scaled so that the parts add up
to what was reported.

``Calibrator`` learns a model's ratio of its own tokens to local ones from a session that is being
watched. The difference between two prompts is what came between them, without system texts, tools
and framing. What the model wrote of that is known from its own report, so the rest is the results
of tools, which can be counted here.
"""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass

from brim.agents.call import Event, ToolCall
from brim.agents.events import Attachment, Compaction, Message, ToolResult, Usage
from brim.agents.fields import count as whole
from brim.agents.lines import SYNTHETIC, Bounded
from brim.memory.token_length import by_length, length_of, vocabulary_of
from brim.record import PlainData
from brim.sessions.window.occupancy import prompt_of
from brim.tokens.calibrate import (
    MAX_RATIO,
    MIN_RATIO,
    CalibrationStore,
    learn,
)
from brim.tokens.count import PREFIX_ERROR, Count
from brim.tokens.protocol import TokenCounter

_TEXT_KEPT = 4_000_000
"""Bytes of text that are kept for a counter; of what comes after them only the length is."""


def anchored(reported: int, rest: Count, *, more: int = 0) -> Count:
    """Return a prompt of which *reported* tokens are known, and *rest* counted here.

    *more* may be missing in what was reported: it is in the value and in ``high``, not in ``low``.
    """
    margin = -(-reported * round(PREFIX_ERROR * 100) // 100)
    low = max(0, reported - margin) + rest.low
    high = reported + margin + more + rest.high
    return Count(reported + more + int(rest), "anchored", low, high, rest.note)


class Words:
    """Texts to be counted later: kept while they are few, then only their length."""

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._rest = 0
        self.size = 0
        """Their UTF-8 bytes."""

    def add(self, text: str) -> None:
        """Add one text."""
        size = length_of(text)
        self.size += size
        if self.size <= _TEXT_KEPT:
            self._texts.append(text)
        else:
            self._rest += size

    def count(self, counter: TokenCounter | None, model: str) -> Count:
        """Return their tokens by *counter*, or without one by their length for *model*."""
        if counter is None:
            return by_length(self.size, model)
        return sum(map(counter.count, self._texts), by_length(self._rest, model))


CATEGORIES = ("system and tools", "summary", "your words", "agent's words", "tool results", "other")
"""What can fill a window.

``other`` is what no line shows: reasoning, reminders, attachments, images.
"""

FIXED, SUMMARY, YOURS, AGENTS, RESULTS, OTHER = CATEGORIES

BASIS = "estimated from the length of each text, scaled to the reported total"

_MOST_SCALE = 2.0
"""A text is at most so many times its estimate; what is reported beyond that is something else."""
_NAMES_KEPT = 200


@dataclass(frozen=True)
class WindowPart(PlainData):
    """One part of what fills a window; ``name`` is the tool's, for results."""

    category: str
    name: str
    tokens: int

    def __str__(self) -> str:
        return f"{self.category}{f' of {self.name}' if self.name else ''}: {self.tokens:,}"


@dataclass(frozen=True)
class Filling(PlainData):
    """What fills the window, largest part first.

    The parts add up to ``tokens``; ``basis`` says how they were found.
    """

    tokens: int
    parts: tuple[WindowPart, ...]
    basis: str = BASIS


class Contents:
    """What was put into a window since it was empty or compacted, and what came since the last
    report.

    Most clients report a call before they carry out its tools. Some (opencode) report a step when
    its tools are done: then what they answered is not in the prompt that is reported, but in the
    next. That order is known by a call and its result that both come before any report.
    """

    def __init__(self) -> None:
        self._fixed = 0
        self._names = Bounded(4_096)
        self._reported = self._called = self._late = False
        self.compact()

    def compact(self) -> None:
        """Take that everything was replaced by a summary, which is yet to come."""
        self._inside: dict[tuple[str, str], int] = {}
        self._coming: dict[tuple[str, str], int] = {}
        self._measured = False
        self._written = Words()
        self._arrived = Words()
        self._step = Words()

    @property
    def fixed(self) -> int:
        """Tokens of the system prompt and the tools, as the first request shows; 0 if unknown."""
        return self._fixed

    @property
    def arrived(self) -> int:
        """Bytes that arrived for the next prompt since the last report."""
        return self._arrived.size + self._step.size

    def add(self, event: Event) -> None:
        """Take a message, a call or a result of this window's thread."""
        tool = ""
        words = self._arrived
        if isinstance(event, ToolCall):
            category = AGENTS
            words = self._written
            text = _call_text(event)
            self._called = True
            self._names[event.id] = event.name or event.kind
        elif isinstance(event, ToolResult):
            category = RESULTS
            tool = self._names.get(event.id, "")
            text = event.text
            self._late |= self._called and not self._reported
            words = self._arrived
            if self._late:
                words = self._step
        elif isinstance(event, Attachment):
            category = OTHER
            text = event.text
            if event.kind == "kept":  # what a compaction left is known already
                words = Words()
        elif isinstance(event, Message):
            category = OTHER
            if event.human:
                category = YOURS
            text = event.text
            if event.role == "assistant":
                category = AGENTS
                words = self._written
            elif event.role == "summary":  # what a compaction left is known already
                category = SUMMARY
                words = Words()
        else:
            return
        self._coming[category, tool] = self._coming.get((category, tool), 0) + length_of(text)
        words.add(text)

    def report(self, prompt: int, model: str) -> None:
        """Take that a prompt was reported: what came before is in it.

        The first shows what is always there.
        """
        for key, size in self._coming.items():
            place = key if key in self._inside or len(self._inside) < _NAMES_KEPT else (key[0], "")
            self._inside[place] = self._inside.get(place, 0) + size
        self._coming = {}
        self._written = Words()
        self._arrived = self._step
        self._step = Words()
        self._reported = True
        if not self._measured:
            alone = max(0, prompt - int(by_length(sum(self._inside.values()), model)))
            self._fixed = min(self._fixed, alone) if self._fixed else alone
            self._measured = True

    def since(self, output: int, counter: TokenCounter | None, model: str) -> Count:
        """Return the tokens that came since the last report.

        *output* is what that call wrote, 0 if not known.
        """
        written = Count(output) if output else self._written.count(counter, model)
        return written + self._arrived.count(counter, model) + self._step.count(counter, model)

    def filling(self, used: int, model: str, basis: str) -> Filling:
        """Return how *used* tokens are shared out; *basis* is what that number rests on."""
        if used <= 0:
            return Filling(0, ())
        if basis != "call":
            return Filling(
                used, (WindowPart(SUMMARY if basis == "compaction" else OTHER, "", used),)
            )
        fixed = min(self._fixed, used)
        sizes = {
            key: float(int(by_length(size, model))) for key, size in self._inside.items() if size
        }
        everything = sum(sizes.values())
        scale = 0.0
        if everything:
            scale = min(_MOST_SCALE, (used - fixed) / everything)
        shares = {key: size * scale for key, size in sizes.items()}
        parts = {(FIXED, ""): fixed, **{key: int(share) for key, share in shares.items()}}
        missing = used - sum(parts.values())
        if scale < _MOST_SCALE:  # what is missing is rounding alone: the largest remainders get it
            for key in sorted(shares, key=lambda key: (int(shares[key]) - shares[key], key))[
                :missing
            ]:
                parts[key] += 1
                missing -= 1
        parts[OTHER, ""] = parts.get((OTHER, ""), 0) + missing
        ranked = sorted(
            ((tokens, key) for key, tokens in parts.items() if tokens),
            key=lambda one: (-one[0], one[1]),
        )
        return Filling(used, tuple(WindowPart(*key, tokens) for tokens, key in ranked))


def _call_text(call: ToolCall) -> str:
    with suppress(ValueError, TypeError, RecursionError):
        return f"{call.name} {json.dumps(call.input, ensure_ascii=False, default=str)}"
    return call.name


_LEAST_TAUGHT = 2_000
_MOST_TAUGHT = 400_000
"""Characters of results that are worth counting: fewer say little, more take long."""


class Calibrator:
    """Teaches *store* from what a session reports.

    *counter* counts locally; if it scales, its ratio is taken out.

    It learns only from two calls of the main thread in a row, by one model, in one session, with
    nothing but results of tools between them and the output of the first one final: a message of a
    person ends a turn, and clients drop old reasoning there. A ratio beyond all vocabularies
    teaches nothing: something was in the prompt that no line shows. Nor does a stream that reports
    a call only when its tools are done: a result may be in either prompt there.
    """

    def __init__(self, counter: TokenCounter, store: CalibrationStore) -> None:
        self._counter = counter
        self._store = store
        self._last: Usage | None = None
        self._texts: list[str] = []
        self._size = 0
        self._spoiled = self._called = self._late = False

    def update(self, event: Event) -> None:
        """Take one event; those of sub-agents say nothing here."""
        if event.agent:
            return
        if isinstance(event, Usage):
            self._report(event)
        elif isinstance(event, ToolResult):
            self._late |= self._called and self._last is None
            self._size += len(event.text)
            if self._size <= _MOST_TAUGHT:
                self._texts.append(event.text)
        elif isinstance(event, ToolCall):
            self._called = True
        elif isinstance(event, Compaction) or (
            isinstance(event, Message) and event.role not in ("assistant", "error")
        ):
            self._spoiled = True

    def _report(self, event: Usage) -> None:
        last = self._last
        if event.model == SYNTHETIC or not prompt_of(event.tokens):
            return
        if last is None or not event.request or event.request != last.request:
            if last is not None and not (self._spoiled or self._late):
                self._learn(last, event)
            self._texts = []
            self._size = 0
            self._spoiled = False
        self._last = event

    def _learn(self, last: Usage, event: Usage) -> None:
        same = (last.model, last.session) == (event.model, event.session) and bool(event.model)
        if not (same and last.final and _LEAST_TAUGHT <= self._size <= _MOST_TAUGHT):
            return
        ratio = getattr(self._counter, "ratio", None)
        local = sum(int(self._counter.count(text)) for text in self._texts) / (
            ratio.value if ratio else 1.0
        )
        reported = prompt_of(event.tokens) - prompt_of(last.tokens) - whole(last.tokens.output)
        if local > 0 and MIN_RATIO <= reported / local <= MAX_RATIO:
            learn(
                self._store, event.model, vocabulary_of(event.model), reported=reported, local=local
            )
