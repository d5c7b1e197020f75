"""Cuts that are rare and deep, to keep the prompt cache warm."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from brim.errors import InputError
from brim.messages.arguments import is_share, whole_number
from brim.messages.caching import FIVE_MINUTES, CachePrices
from brim.messages.draft import Draft
from brim.messages.outcome import Outcome
from brim.messages.pruners import Pruner, Strategy
from brim.messages.receipt import Decisions, Pruned
from brim.tokens.anchor import digests

if TYPE_CHECKING:
    from brim.models.catalog import Price

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
        low = max(int(mark * self.high), self.static)
        between = max(1, (self.high - low) // max(1, self.growth))
        cuts = 1 + max(0, self.turns - 1) // between
        average = low + min(self.high - low, between * self.growth) / 2
        plain = self.turns * (average * float(prices.read) + self.growth * float(prices.write))
        rewriting = cuts * (low - self.static) * float(prices.write - prices.read)
        if not plain:
            return 0.0

        return rewriting / plain

    def low_mark(self, prices: CachePrices | None) -> tuple[float, str]:
        """Return the low mark, as a share of the high one, and why: the highest at which cutting is
        cheap enough."""
        if prices is None:
            return DEFAULT_LOW, f"low mark {DEFAULT_LOW}: the prices of the cache are not known"

        if not self.warm:
            reason = "the cache does not live until the next turn"
            return MARKS[0], f"low mark {MARKS[0]}: {reason}, so a cut costs nothing"

        if prices.write <= prices.read:
            reason = "writing the cache costs no more than reading"
            return MARKS[0], f"low mark {MARKS[0]}: {reason}, so a cut costs nothing"

        low, share = self._cheapest_mark(prices)
        aim = f"the aim is at most {OVERHEAD:.0%}"
        if share > OVERHEAD:
            aim = f"no mark reaches the aim of {OVERHEAD:.0%}"

        turns = "1 turn" if self.turns == 1 else f"{self.turns} turns"
        return low, (
            f"low mark {low}: with {self.growth:,} tokens a turn and {turns} "
            f"to come, rewriting the cache adds {share:.0%} to their cost ({aim})"
        )

    def _cheapest_mark(self, prices: CachePrices) -> tuple[float, float]:
        """Return the highest mark that is cheap enough, else the cheapest, and its overhead."""
        best_mark = MARKS[0]
        best_share = self.overhead(best_mark, prices)
        for mark in MARKS:
            share = self.overhead(mark, prices)
            if share <= OVERHEAD:
                return mark, share

            if share < best_share:
                best_mark = mark
                best_share = share

        return best_mark, best_share


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
        ttl: int = FIVE_MINUTES,
        turn_seconds: float | None = None,
        expected_turns: int = 20,
    ) -> None:
        if not is_share(high):
            raise InputError(f"high must be more than 0 and at most 1, not {high!r}")

        if low != "auto" and (not is_share(low) or low >= high):
            raise InputError(
                f"low must be 'auto', or more than 0 and less than high ({high}), not {low!r}"
            )

        if decisions is not None and not isinstance(decisions, Decisions):
            raise InputError(f"decisions must be Decisions, not {type(decisions).__name__}")

        if prices is not None:
            _require_price(prices)

        self.high = high
        self.low = low
        self.min_turns = whole_number("min_turns", min_turns)
        self.decisions = decisions or Decisions()
        """What was decided for the last conversation; every prune renews it."""
        self._by_digest: dict[str, Decisions] = {}
        if self.decisions.cut:
            self._by_digest[self.decisions.digest] = self.decisions

        self._prices = prices
        self._ttl = whole_number("ttl", ttl, 1)
        self._expected_turns = whole_number("expected_turns", expected_turns, 1)
        self._warm = _stays_warm(turn_seconds, ttl)

    def __copy__(self) -> WatermarkPruner:
        """Return a pruner that remembers on its own from here on."""
        copied = object.__new__(type(self))
        vars(copied).update(vars(self))
        copied._by_digest = dict(self._by_digest)
        return copied

    def remember(self, attempt: Pruner) -> None:
        """Take over the decisions of a copy."""
        vars(self).update(vars(attempt))

    def view(self, messages: list[Any]) -> list[int] | None:
        """Return what the decisions so far leave of *messages*.

        None if they are of another transcript.
        """
        furthest = max((decisions.cut for decisions in self._by_digest.values()), default=0)
        prefixes = list(digests(messages[:furthest], None, ""))
        fitting = []
        for digest, decisions in self._by_digest.items():
            if prefixes[decisions.cut - 1 : decisions.cut] == [digest]:
                fitting.append(decisions)

        if fitting:
            self.decisions = max(fitting, key=lambda decisions: decisions.cut)

        return self.decisions.view(messages)

    def choose(self, work: Draft, fill: bool) -> Pruned:
        """Return the messages as decided; cut again over the high mark."""
        earlier = self.decisions
        notes = []
        if work.only is None:
            notes.append("the decisions are of another transcript: started over")
            earlier = Decisions()
        elif earlier.cut:
            gone = len(work.messages) - len(work.only)
            notes.append(f"{gone:,} messages were cut away before")

        prices = work.cache_prices(self._prices, self._ttl)
        high = int(self.high * work.target)
        decided = earlier
        if work.total <= high:
            units = work.select(high)
        else:
            low = self._low(
                work,
                high,
                prices,
                notes,
            )
            units = work.select(low, turns=self.min_turns, turn_limit=high, fill=fill)

        if work.total > high and len(units) < len(work.units):
            broken = [index for unit in work.broken for index in unit.indices]
            decided = earlier.cut_again(work.messages, work.indices(units), broken)

        self._remember(earlier, decided)
        return Outcome(
            pruner="watermark",
            draft=work,
            units=frozenset(units),
            reason=f"over the high mark of {high:,} tokens",
            notes=notes,
            decisions=decided,
            prices=prices,
            limit=high if decided is earlier else 0,
        ).pruned()

    def _remember(self, earlier: Decisions, decided: Decisions) -> None:
        self.decisions = decided
        if not decided.cut or not decided.digest:
            return

        self._by_digest.pop(earlier.digest, None)
        self._by_digest[decided.digest] = decided
        if len(self._by_digest) > MOST_CONVERSATIONS:
            del self._by_digest[next(iter(self._by_digest))]

    def _low(
        self,
        work: Draft,
        high: int,
        prices: CachePrices | None,
        notes: list[str],
    ) -> int:
        """Return the low mark in tokens; with ``auto``, say in *notes* why it is that."""
        if self.low != "auto":
            return int(self.low * work.target)

        static = work.price(work.pins)
        answers = sum(unit.kind in ("assistant", "step") for unit in work.units)
        growth = (work.total - static) // max(1, answers)
        outlook = Outlook(
            high,
            static,
            growth,
            self._expected_turns,
            self._warm,
        )
        mark, reason = outlook.low_mark(prices)
        if self.high != 1:
            reason = f"{reason}; as a share of the high mark of {high:,} tokens"

        notes.append(reason)
        return int(mark * high)


def _require_price(value: object) -> None:
    # The table of prices is large: it is only loaded for who gives a price.
    from brim.models.catalog import Price

    if not isinstance(value, Price):
        raise InputError(f"prices must be Price, not {type(value).__name__}")


def _stays_warm(turn_seconds: object, ttl: int) -> bool:
    """Whether the cache lives from one turn to the next; it does if nobody says how long that
    is."""
    if turn_seconds is None:
        return True

    if not isinstance(turn_seconds, (int, float)) or not turn_seconds >= 0:
        raise InputError(f"turn_seconds must be a number, 0 or more, not {turn_seconds!r}")

    return turn_seconds <= ttl
