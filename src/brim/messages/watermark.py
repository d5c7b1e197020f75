"""Cuts that are rare and deep, to keep the prompt cache warm."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from brim.errors import InputError
from brim.messages.draft import CachePrices, Draft, whole_number
from brim.messages.pruners import Strategy
from brim.messages.receipt import Decisions, Pruned
from brim.models.catalog import Price
from brim.tokens.anchor import digests

MOST_CONVERSATIONS = 1_000
"""How many conversations one pruner remembers; it forgets the one that it cut longest ago first."""
DEFAULT_LOW = 0.6
"""The low mark if prices are unknown."""
OVERHEAD = 0.2
"""What cutting may cost at most: rewriting the cache, as a share of what the same turns cost
anyway."""
MARKS = tuple(mark / 100 for mark in range(90, 25, -5))
"""The low marks that are tried, as shares of the high one, highest first: the more stays, the
better. Below the last one the agent would forget more than money can justify."""


@dataclass(frozen=True, slots=True)
class Outlook:
    """What is expected of the turns to come: requests to the model."""

    high: int
    """The tokens at which it is cut."""
    static: int
    """The tokens at the beginning that never change: tools, system messages."""
    growth: int
    """The tokens that a turn adds."""
    turns: int
    """How many turns are still to come."""
    warm: bool
    """Whether the cache lives from one turn to the next."""

    def overhead(self, mark: float, prices: CachePrices) -> float:
        """Return what rewriting costs with cuts to *mark*, as a share of what the turns cost
        without it."""
        left = max(int(mark * self.high), self.static)
        between = max(1, (self.high - left) // max(1, self.growth))
        cuts = 1 + max(0, self.turns - 1) // between
        average = left + min(self.high - left, between * self.growth) / 2
        plain = self.turns * (average * float(prices.read) + self.growth * float(prices.write))
        rewriting = cuts * (left - self.static) * float(prices.write - prices.read)
        return rewriting / plain if plain else 0.0

    def low_mark(self, prices: CachePrices | None) -> tuple[float, str]:
        """Return the low mark, as a share of the high one, and why: the highest at which cutting is
        cheap enough."""
        if prices is None:
            return DEFAULT_LOW, f"low mark {DEFAULT_LOW}: the prices of the cache are not known"
        if not self.warm or prices.write <= prices.read:
            cold, free = (
                "the cache does not live until the next turn",
                "writing the cache costs no more than reading",
            )
            return MARKS[
                0
            ], f"low mark {MARKS[0]}: {free if self.warm else cold}, so a cut costs nothing"
        shares = {mark: self.overhead(mark, prices) for mark in MARKS}
        cheap = [mark for mark in MARKS if shares[mark] <= OVERHEAD]
        low = cheap[0] if cheap else min(MARKS, key=lambda mark: (shares[mark], -mark))
        limit = (
            f"the aim is at most {OVERHEAD:.0%}"
            if cheap
            else f"no mark reaches the aim of {OVERHEAD:.0%}"
        )
        return low, (
            f"low mark {low}: with {self.growth:,} tokens a turn and {self.turns} turn{'s' * (self.turns != 1)} "
            f"to come, rewriting the cache adds {shares[low]:.0%} to their cost ({limit})"
        )


class WatermarkPruner(Strategy):
    """Drops nothing up to a high mark, then cuts to a low mark.

    Both marks are shares of the target: *high* and *low*. Until the next cut the messages at the
    beginning stay the same, to the byte, so the provider reads them from its cache: trimming a
    little in every turn would make it rewrite everything each time.

    Give it the whole transcript in every turn. What it has cut away is in ``decisions``, which can
    be stored as JSON: the same transcript and decisions give the same messages, in any process. One
    pruner may serve many conversations in turn: it knows each by the messages that it cut away. A
    transcript that no decision fits starts over, and the receipt says so. *fill* adds older whole
    units up to the low mark when it is cut.

    ``low="auto"`` takes the highest mark at which rewriting the cache stays cheap, from the
    *prices* of the model (or those given), the *ttl* of the cache in seconds, the *turn_seconds*
    that usually pass between two requests, and the *expected_turns* still to come. At least
    *min_turns* turns of the user's stay while the target allows.
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
            raise InputError(
                f"low must be 'auto', or more than 0 and less than high ({high}), not {low!r}"
            )
        for name, given, kind in (("decisions", decisions, Decisions), ("prices", prices, Price)):
            if given is not None and not isinstance(given, kind):
                raise InputError(f"{name} must be {kind.__name__}, not {type(given).__name__}")
        self.high, self.low, self.min_turns = high, low, whole_number("min_turns", min_turns)
        self.decisions = decisions or Decisions()
        """What was decided for the last conversation; every prune renews it."""
        self._known = {self.decisions.digest: self.decisions} if self.decisions.cut else {}
        self._prices = prices
        self._ttl, self._expected = (
            whole_number("ttl", ttl, 1),
            whole_number("expected_turns", expected_turns, 1),
        )
        if turn_seconds is not None and not (
            isinstance(turn_seconds, (int, float)) and turn_seconds >= 0
        ):
            raise InputError(f"turn_seconds must be a number, 0 or more, not {turn_seconds!r}")
        self._warm = turn_seconds is None or turn_seconds <= ttl

    def __copy__(self) -> WatermarkPruner:
        """Return a pruner that remembers on its own from here on."""
        made = object.__new__(type(self))
        made.__dict__ |= self.__dict__ | {"_known": dict(self._known)}
        return made

    def view(self, messages: list[Any]) -> list[int] | None:
        """Return what the decisions so far leave of *messages*.

        None if they are of another transcript.
        """
        furthest = max((decisions.cut for decisions in self._known.values()), default=0)
        prefixes = list(digests(messages[:furthest], None, ""))
        fitting = [
            known
            for digest, known in self._known.items()
            if prefixes[known.cut - 1 : known.cut] == [digest]
        ]
        if fitting:
            self.decisions = max(fitting, key=lambda known: known.cut)
        return self.decisions.view(messages)

    def choose(self, work: Draft, fill: bool) -> Pruned:
        """Return the messages as decided; cut again over the high mark."""
        earlier, notes = self.decisions, []
        if work.only is None:
            notes.append("the decisions are of another transcript: started over")
            earlier = Decisions()
        elif earlier.cut:
            notes.append(f"{len(work.messages) - len(work.only):,} messages were cut away before")
        prices = work.cache_prices(self._prices, self._ttl)
        high, decided = int(self.high * work.target), earlier
        if work.total <= high:
            kept = work.select(high)
        else:
            low = self._low(work, high, prices, notes)
            kept = work.select(low, turns=self.min_turns, most=high, fill=fill)
            if len(kept) < len(work.units):
                broken = [index for unit in work.broken for index in unit.indices]
                decided = earlier.cut_again(work.messages, work.indices(kept), broken)
        self._remember(earlier, decided)
        reason, limit = f"over the high mark of {high:,} tokens", high if decided is earlier else 0
        return work.finish(
            "watermark",
            kept,
            reason=reason,
            notes=notes,
            decisions=decided,
            prices=prices,
            limit=limit,
        )

    def _remember(self, earlier: Decisions, decided: Decisions) -> None:
        self.decisions = decided
        if decided.cut and decided.digest:
            self._known.pop(earlier.digest, None)
            self._known[decided.digest] = decided
            if len(self._known) > MOST_CONVERSATIONS:
                del self._known[next(iter(self._known))]

    def _low(self, work: Draft, high: int, prices: CachePrices | None, notes: list[str]) -> int:
        if self.low != "auto":
            return int(self.low * work.target)
        static = work.price(work.pins)
        answers = sum(unit.kind in ("assistant", "step") for unit in work.units)
        growth = (work.total - static) // max(1, answers)
        mark, why = Outlook(high, static, growth, self._expected, self._warm).low_mark(prices)
        notes.append(
            why if self.high == 1 else f"{why}; as a share of the high mark of {high:,} tokens"
        )
        return int(mark * high)


def _is_share(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value <= 1
