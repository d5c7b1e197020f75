"""Fits a history in steps: what is lost least goes first."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from brim.errors import InputError
from brim.messages.arguments import TOKENS, whole_number
from brim.messages.bench import Bench
from brim.messages.cap import LEAST, Shortener, with_newest_step
from brim.messages.draft import Draft
from brim.messages.outcome import Outcome
from brim.messages.pruners import Strategy
from brim.messages.receipt import Pruned
from brim.messages.summarize import SummarizePruner, Summarizer

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
        are_numbers = isinstance(low, (int, float)) and isinstance(high, (int, float))
        if not are_numbers or not 0 < low < high <= 1:
            raise InputError(
                "low and high must be shares of the target with low < high, "
                f"not {low!r} and {high!r}"
            )

        if isinstance(exclude_tools, str):
            raise InputError(f"exclude_tools must be a list of names, not {exclude_tools!r}")

        self.high: float = high
        self.low: float = low
        self.keep_results: int = whole_number("keep_results", keep_results)
        self.exclude_tools: frozenset[str] = frozenset(exclude_tools)
        self.longest_result: int = whole_number(
            "longest_result",
            longest_result,
            LEAST,
            TOKENS,
        )
        self.min_turns: int = whole_number("min_turns", min_turns)
        self.summarize: Summarizer | None = summarize
        SummarizePruner(summarize)  # refuses what can't be called

    def choose(self, work: Draft, fill: bool) -> Pruned:
        """Return *work*, changed and cut if it is over the high mark."""
        high = int(self.high * work.target)
        low = int(self.low * work.target)
        if work.total <= high:
            units = frozenset(work.select(high))
            return Outcome(pruner="tiered", draft=work, units=units).pruned()

        bench = Bench(work)
        self._clear(bench, low)
        self._fold(bench, low)
        self._shorten(bench, low)
        changed = with_newest_step(bench.draft())
        # Halfway is enough: dropping loses more than another cut costs. Less would mean a cut in
        # every turn.
        if changed.total <= (high + low) // 2:
            units = frozenset(changed.select(high))
            pruned = Outcome(pruner="tiered", draft=changed, units=units).pruned()
        else:
            pruned = self._drop(
                changed,
                high,
                low,
                fill,
            )

        receipt = replace(pruned.receipt, pruner="tiered", before=work.before)
        return replace(pruned, receipt=receipt)

    def _clear(self, bench: Bench, low: int) -> None:
        """Put a note in place of old results, oldest first."""
        for result in bench.results[: max(0, len(bench.results) - self.keep_results)]:
            if bench.total <= low:
                return

            if result.name not in self.exclude_tools:
                note = f"the result of {result}. Call it again if you need it."
                bench.put(result, f"[Cleared to make room: {note}]", "cleared")

    def _fold(self, bench: Bench, low: int) -> None:
        """Keep only the last of several results of reading the same file in the same way."""
        newest = {result.reading: result for result in bench.results if result.reading}
        for result in bench.results:
            if bench.total <= low:
                return

            if not result.reading or newest[result.reading] is result:
                continue

            if (result.at, result.number) not in bench.noted:
                note = f"[Folded: {result} was read again later; see the last result.]"
                bench.put(result, note, "folded")

    def _shorten(self, bench: Bench, low: int) -> None:
        """Shorten long results, oldest first."""
        shortener = Shortener(self.longest_result, bench.work.counter)
        for result in bench.results:
            if bench.total <= low:
                return

            if bench.tokens(result.at) > self.longest_result:
                bench.change(result.at, shortener.message(bench.entry(result.at)), "shortened")

    def _drop(
        self,
        work: Draft,
        high: int,
        low: int,
        fill: bool,
    ) -> Pruned:
        """Drop the oldest units down to the low mark, or as far as possible."""
        if self.summarize is not None:
            pruner = SummarizePruner(self.summarize, min_turns=self.min_turns)
            goal = low if work.price(work.required) <= low else work.target
            pruned = pruner.choose(replace(work, target=goal), fill)
            if int(pruned.tokens) <= work.target:
                receipt = replace(pruned.receipt, target=work.target, fits=True, reason="")
                return _with_step(work, replace(pruned, fits=True, receipt=receipt))

        units = frozenset(work.select(low, turns=self.min_turns, turn_limit=high, fill=fill))
        outcome = Outcome(
            pruner="tiered",
            draft=work,
            units=units,
            limit=low,
        )
        return _with_step(work, outcome.pruned())


def _with_step(work: Draft, pruned: Pruned) -> Pruned:
    """Return *pruned* with what was dropped as a step."""
    places: list[int] = []
    for unit in pruned.receipt.dropped:
        if unit.kind in DROPPED:
            places += unit.indices

    steps = work.steps
    if places:
        staying = len(work.entries) - len(places)
        action = "summarized" if len(pruned.messages) > staying else "dropped"
        saved = max(0, work.total - int(pruned.tokens))
        steps = work.stepped(action, places, saved).steps

    return replace(pruned, receipt=replace(pruned.receipt, steps=steps))
