"""Rarely, and then deep: cuts at the high mark, down to the low one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from brim.errors import InputError
from brim.history.arguments import whole_number
from brim.history.cache import CachePrices, cache_prices, model_prices
from brim.history.decisions import Decisions, decide
from brim.history.draft import Draft, draft
from brim.history.economics import Outlook, low_mark
from brim.history.reading.history import as_list
from brim.history.select import add_older, cut_for_turns, longest_run, required, select
from brim.models.catalog import Price

if TYPE_CHECKING:
    from collections.abc import Sequence

    from brim.history.types import Pin, Provider, Pruned
    from brim.tokens.counters import TokenCounter


class WatermarkPruner:
    """Drops nothing until the history is over *high* times the target, then so much that *low* times it is left.

    Until the next cut the messages at the beginning stay the same, to the byte, so the provider reads them from its
    cache: trimming a little in every turn would have it write everything anew each time.

    Give it the whole transcript in every turn. What it has cut away is in ``decisions``, which can be stored as JSON:
    the same transcript and decisions give the same messages, in any process. Decisions of another transcript are
    forgotten, and the receipt says so.

    ``low="auto"`` takes the highest mark at which writing the cache anew stays cheap, from the *prices* of the model
    (or those given), the *ttl* of the cache in seconds, the *turn_seconds* that usually pass between two requests, and
    the *expected_turns* still to come. At least *min_turns* turns of the user's stay while the target allows.
    """

    def __init__(
        self,
        high: float = 1.0,
        low: float | Literal["auto"] = 0.6,
        *,
        min_turns: int = 3,
        decisions: Decisions | None = None,
        prices: Price | None = None,
        ttl: int = 300,
        turn_seconds: float | None = None,
        expected_turns: int = 20,
    ) -> None:
        if not _is_share(high):
            raise InputError(f"high must be more than 0 and at most 1, not {high!r}")
        if low != "auto" and (not _is_share(low) or low >= high):
            raise InputError(f"low must be 'auto', or more than 0 and less than high ({high}), not {low!r}")
        for name, given, kind in (("decisions", decisions, Decisions), ("prices", prices, Price)):
            if given is not None and not isinstance(given, kind):
                raise InputError(f"{name} must be {kind.__name__}, not {type(given).__name__}")
        self.high, self.low, self.min_turns = high, low, whole_number("min_turns", min_turns)
        self.decisions = decisions or Decisions()
        """What was decided so far; every prune renews it."""
        self._prices = prices
        self._ttl, self._expected = whole_number("ttl", ttl, 1), whole_number("expected_turns", expected_turns, 1)
        if turn_seconds is not None and not (isinstance(turn_seconds, (int, float)) and turn_seconds >= 0):
            raise InputError(f"turn_seconds must be a number, 0 or more, not {turn_seconds!r}")
        self._warm = turn_seconds is None or turn_seconds <= ttl

    def prune(
        self,
        messages: Sequence[Any],
        target: int,
        *,
        model: str | None = None,
        tools: Sequence[Any] | None = None,
        provider: Provider | Literal["auto"] = "auto",
        counter: TokenCounter | None = None,
        fill: bool = False,
        pin: Pin | None = None,
    ) -> Pruned:
        """Return *messages* as decided so far, cut anew if they are over the high mark: see ``Pruner.prune``.

        *fill* adds older whole units up to the low mark when it is cut.
        """
        given = as_list(messages)
        earlier, notes = self.decisions, []
        view = earlier.view(given)
        if view is None:
            notes.append("the decisions are of another transcript: begun anew")
            earlier, view = Decisions(), list(range(len(given)))
        elif earlier.cut:
            notes.append(f"{len(given) - len(view):,} messages were cut away before")
        work = draft(given, target, model=model, tools=tools, provider=provider, counter=counter, pin=pin, only=view)
        prices = self._cache_prices(work)
        high = int(self.high * target)
        kept = select(work, high)
        decided = earlier
        if work.total > high:
            low = self._low(work, high, prices, notes)
            kept = self._cut(work, high, low, fill)
            if len(kept) < len(work.units):
                decided = decide(given, work.indices(kept), work.broken_indices, earlier)
        self.decisions = decided
        reason = f"over the high mark of {high:,} tokens"
        limit = high if decided is earlier else 0
        return work.finish(
            "watermark",
            kept,
            reason=reason,
            notes=notes,
            decisions=decided,
            prices=prices,
            limit=limit,
        )

    def _cut(self, work: Draft, high: int, low: int, fill: bool) -> set[int]:
        """Return what stays after a cut to *low*, or so much more that the newest turns stay, up to *high*."""
        must = required(work, work.target)
        cut = longest_run(work, must, low)
        turns = cut_for_turns(work, must, self.min_turns, high)
        cut = cut if turns is None else min(cut, turns)
        kept = sorted({*must, *range(cut, len(work.units))})
        if fill:
            add_older(work, kept, cut, low)
        return set(kept)

    def _low(self, work: Draft, high: int, prices: CachePrices | None, notes: list[str]) -> int:
        if self.low != "auto":
            return int(self.low * work.target)
        static = work.fixed + sum(work.sizes[at] for at in work.pins)
        answers = sum(unit.kind in ("assistant", "step") for unit in work.units)
        growth = (work.total - static) // max(1, answers)
        mark, why = low_mark(Outlook(high, static, growth, self._expected, self._warm), prices)
        why = why if self.high == 1 else f"{why}; as a share of the high mark of {high:,} tokens"
        notes.append(why)
        return int(mark * high)

    def _cache_prices(self, work: Draft) -> CachePrices | None:
        if self._prices is not None:
            return cache_prices(self._prices, work.total, self._ttl)
        return model_prices(work.model, work.total, self._ttl)


def _is_share(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value <= 1
