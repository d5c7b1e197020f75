"""Fits a history in steps: what is lost least goes first."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from brim.errors import InputError
from brim.messages.cap import LEAST, Shortener, map_results, with_newest_step
from brim.messages.content import listed
from brim.messages.draft import Draft, whole_number
from brim.messages.entries import Entry
from brim.messages.pruners import Strategy
from brim.messages.receipt import Pruned
from brim.messages.summarize import SummarizePruner, Summarizer
from brim.tokens.costs import message_costs
from brim.tokens.messages.fields import compact, first, get, is_mapping, string
from brim.tokens.messages.frameworks import as_blocks

SHOWN = 100
"""Characters of a call that a placeholder shows."""
PATHS = frozenset(
    (
        "path",
        "file_path",
        "filepath",
        "file",
        "filename",
        "absolute_path",
        "notebook_path",
        "uri",
        "url",
    )
)
"""Arguments that name what was read."""
PLAIN = ("", "function", "custom_tool")
"""Kinds of calls whose results may be any text."""
DROPPED = ("system", "user", "assistant", "step")
"""Kinds of units that left because there was no room."""


class TieredPruner(Strategy):
    """Clears, folds, shortens, drops and summarizes, in this order, until a history fits.

    Nothing happens up to the *high* mark, a share of the target. Over it, old results of tools are
    cleared, oldest first: a note that names the call stands in their place. The newest
    *keep_results*, and those of *exclude_tools*, stay. Then repeated reads of the same file are
    folded into the last one, results of more than *longest_result* tokens are shortened to that,
    and the oldest units are dropped. Each step ends at the *low* mark, so that a cut is rare and
    the provider's cache stays warm in between. With *summarize*, sync or async, a summary stands in
    place of what was dropped.

    The newest step always stays: if its results are too large, they are shortened as far as they
    must be.
    """

    def __init__(
        self,
        *,
        high: float = 1.0,
        low: float = 0.7,
        keep_results: int = 3,
        exclude_tools: Collection[str] = (),
        longest_result: int = 2_000,
        min_turns: int = 3,
        summarize: Summarizer | None = None,
    ) -> None:
        if (
            not all(isinstance(mark, (int, float)) for mark in (low, high))
            or not 0 < low < high <= 1
        ):
            raise InputError(
                f"low and high must be shares of the target with low < high, not {low!r} and {high!r}"
            )
        if isinstance(exclude_tools, str):
            raise InputError(f"exclude_tools must be a list of names, not {exclude_tools!r}")
        self.high: float = high
        self.low: float = low
        self.keep_results: int = whole_number("keep_results", keep_results)
        self.exclude_tools: frozenset[str] = frozenset(exclude_tools)
        self.longest_result: int = whole_number(
            "longest_result", longest_result, LEAST, "a whole number of tokens"
        )
        self.min_turns: int = whole_number("min_turns", min_turns)
        self.summarize: Summarizer | None = summarize
        SummarizePruner(summarize)  # refuses what can't be called

    def choose(self, work: Draft, fill: bool) -> Pruned:
        """Return *work*, changed and cut if it is over the high mark."""
        high, low = int(self.high * work.target), int(self.low * work.target)
        if work.total <= high:
            return work.finish("tiered", work.select(high))
        bench = Bench(work)
        self._clear(bench, low)
        self._fold(bench, low)
        self._shorten(bench, low)
        changed = with_newest_step(bench.draft())
        # Halfway is enough: dropping loses more than another cut costs. Less would mean a cut in
        # every turn.
        if changed.total <= (high + low) // 2:
            pruned = changed.finish("tiered", changed.select(high))
        else:
            pruned = self._drop(changed, high, low, fill)
        return replace(pruned, receipt=replace(pruned.receipt, pruner="tiered", before=work.before))

    def _clear(self, bench: Bench, low: int) -> None:
        """Put a note in place of old results, oldest first."""
        old = (
            bench.results[: len(bench.results) - self.keep_results]
            if self.keep_results
            else bench.results
        )
        for found in old:
            if bench.total <= low:
                return
            if found.name not in self.exclude_tools:
                note = (
                    f"[Cleared to make room: the result of {found}. Call it again if you need it.]"
                )
                bench.put(found, note, "cleared")

    def _fold(self, bench: Bench, low: int) -> None:
        """Keep only the last of several results of reading the same file in the same way."""
        last = {found.reading: found for found in bench.results if found.reading}
        for found in bench.results:
            if bench.total <= low:
                return
            is_noted = (found.at, found.number) in bench.noted
            if found.reading and last[found.reading] is not found and not is_noted:
                bench.put(
                    found, f"[Folded: {found} was read again later; see the last result.]", "folded"
                )

    def _shorten(self, bench: Bench, low: int) -> None:
        shortener = Shortener(self.longest_result, bench.work.counter)
        for found in bench.results:
            if bench.total <= low:
                return
            if bench.tokens(found.at) > self.longest_result:
                bench.change(found.at, shortener.message(bench.entry(found.at)), "shortened")

    def _drop(self, work: Draft, high: int, low: int, fill: bool) -> Pruned:
        """Drop the oldest units down to the low mark, or as far as possible."""
        if self.summarize is not None:
            pruner = SummarizePruner(self.summarize, min_turns=self.min_turns)
            goal = low if work.price(work.required) <= low else work.target
            pruned = pruner.choose(replace(work, target=goal), fill)
            receipt = replace(pruned.receipt, target=work.target, fits=True, reason="")
            if int(pruned.tokens) <= work.target:
                return self._told(work, replace(pruned, fits=True, receipt=receipt))
        kept = work.select(low, turns=self.min_turns, most=high, fill=fill)
        return self._told(work, work.finish("tiered", kept, limit=low))

    def _told(self, work: Draft, pruned: Pruned) -> Pruned:
        """Return *pruned* with what was dropped as a step."""
        places = [
            at for unit in pruned.receipt.dropped if unit.kind in DROPPED for at in unit.indices
        ]
        kept = len(work.positions(range(len(work.units)))) - len(places)
        action = "summarized" if len(pruned.messages) > kept else "dropped"
        steps = (
            work.stepped(action, places, max(0, work.total - int(pruned.tokens))).steps
            if places
            else work.steps
        )
        return replace(pruned, receipt=replace(pruned.receipt, steps=steps))


@dataclass(frozen=True, slots=True)
class Result:
    """The result of one call."""

    at: int
    """The place of its message among those that aren't broken."""
    id: str
    """The id of the call; empty where the format has none."""
    number: int
    """Which result of the message it is."""
    name: str
    """The tool."""
    arguments: Any
    """What it was called with."""

    def __str__(self) -> str:
        shown = compact(self.arguments) if self.arguments not in (None, "", {}) else ""
        shown = shown if len(shown) <= SHOWN else f"{shown[: SHOWN - 1]}…"
        return f"{self.name or 'a tool'}({shown})"

    @property
    def reading(self) -> str:
        """What identifies the reading of a file; empty if it isn't one."""
        if not is_mapping(self.arguments) or not PATHS.intersection(self.arguments):
            return ""
        return f"{self.name} {json.dumps(self.arguments, sort_keys=True, default=str)}"


@dataclass
class Bench:
    """A draft while its messages are changed."""

    work: Draft
    changed: dict[int, tuple[Any, int]] = field(default_factory=dict)
    """Changed messages, and their tokens, by their place among those that aren't broken."""
    done: list[tuple[str, int, int]] = field(default_factory=list)
    """What was done: the action, the place, and the tokens it saves."""
    noted: set[tuple[int, int]] = field(default_factory=set)
    """Results that a note stands for: the place of the message, and which of its results it is."""

    @cached_property
    def entries(self) -> list[Entry]:
        """The messages that aren't broken."""
        return [entry for unit in self.work.units for entry in unit.entries]

    @property
    def total(self) -> int:
        """The tokens of everything, as it is now."""
        return self.work.total - sum(saved for _, _, saved in self.done)

    def entry(self, at: int) -> Entry:
        """Return the entry at a place, with its message as it is now."""
        return (
            replace(self.entries[at], message=self.changed[at][0])
            if at in self.changed
            else self.entries[at]
        )

    def tokens(self, at: int) -> int:
        """Return the tokens of the message at a place, as it is now."""
        return self.changed[at][1] if at in self.changed else self.work.costs.each[at]

    def change(self, at: int, message: Any, action: str) -> bool:
        """Put *message* at a place, unless it isn't smaller than what is there; return whether it
        is."""
        if message is self.entry(at).message:
            return False
        counter = getattr(
            self.work.counter, "inner", self.work.counter
        )  # without the system prompt
        before, after = self.tokens(at), message_costs(counter, [message]).each[0]
        if after < before:
            self.changed[at] = message, after
            self.done.append((action, at, before - after))
        return after < before

    def put(self, found: Result, note: str, action: str) -> None:
        """Put *note* in place of the content of a result."""
        numbers = iter(range(len(self.entries[found.at].results)))

        def content(_: str, value: Any) -> Any:
            if next(numbers, None) != found.number:
                return value
            return {"output": note} if is_mapping(value) else note

        if self.change(found.at, map_results(self.entry(found.at), content), action):
            self.noted.add((found.at, found.number))

    @cached_property
    def results(self) -> list[Result]:
        """The results that may be changed, oldest first: not pinned ones."""
        pinned = set(self.work.indices(self.work.pins))
        calls: dict[str, tuple[str, Any]] = {}
        before: list[tuple[str, str, Any]] = []
        found = []
        for at, entry in enumerate(self.entries):
            for number, result in enumerate(entry.results):
                by_place = before[number][1:] if number < len(before) else ("", None)
                name, arguments = calls.get(result.id, ("", None)) if result.id else by_place
                if entry.index not in pinned and result.kind in PLAIN:
                    found.append(Result(at, result.id, number, name or result.name, arguments))
            if entry.calls:
                before = list(calls_in(entry))
                calls.update({id: (name, arguments) for id, name, arguments in before if id})
        return found

    def draft(self) -> Draft:
        """Return the draft with everything that was changed, and a step for each kind of change."""
        if not self.changed:
            return self.work
        messages = {at: message for at, (message, _) in self.changed.items()}
        work = self.work.with_messages(
            messages, message_costs(self.work.counter, list(messages.values()))
        )
        for action in dict.fromkeys(action for action, _, _ in self.done):
            same = [
                (self.entries[at].index, saved) for each, at, saved in self.done if each == action
            ]
            work = work.stepped(
                action, {index for index, _ in same}, sum(saved for _, saved in same)
            )
        return work


def calls_in(entry: Entry) -> Iterator[tuple[str, str, Any]]:
    """Yield the id, name and arguments of each call in a message of any format."""
    message = as_blocks(entry.message)
    for call in _calls(message):
        inner = first(call, "function", "custom", "functionCall", "function_call") or call
        arguments = first(inner, "input", "arguments", "args")
        if isinstance(arguments, str):
            with suppress(ValueError, RecursionError):  # what isn't JSON is shown as it is
                arguments = json.loads(arguments)
        id = string(first(call, "call_id", "id")) or string(get(inner, "id"))
        yield id, string(get(inner, "name")), arguments


def _calls(message: object) -> Sequence[Any]:
    if get(message, "call_id") is not None:
        return [message]
    blocks = listed(first(message, "content", "parts"))
    kinds = ("functionCall", "function_call")
    inside = [
        block
        for block in blocks
        if get(block, "type") == "tool_use" or first(block, *kinds) is not None
    ]
    return [*listed(get(message, "tool_calls")), *inside]
