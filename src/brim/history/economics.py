"""How deep should a cut go? Deeper cuts are rarer, and each one has the provider write its cache anew."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from brim.history.cache import CachePrices

DEFAULT_LOW = 0.6
"""The low mark where nothing is known of prices."""
OVERHEAD = 0.2
"""What cutting may cost at most: writing anew, as a share of what reading and writing the same turns costs anyway."""
MARKS = tuple(mark / 100 for mark in range(90, 25, -5))
"""The low marks that are tried, as shares of the high one, highest first: the more stays, the better. Below the last
one the agent would forget more than money can justify."""


@dataclass(frozen=True, slots=True)
class Outlook:
    """What is expected of the turns to come. A turn is one request to the model."""

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
        """Return what writing anew costs with cuts to *mark*, as a share of what the turns cost without it."""
        left = max(int(mark * self.high), self.static)
        between = max(1, (self.high - left) // max(1, self.growth))
        cuts = 1 + max(0, self.turns - 1) // between
        average = left + min(self.high - left, between * self.growth) / 2
        plain = self.turns * (average * float(prices.read) + self.growth * float(prices.write))
        anew = cuts * (left - self.static) * float(prices.write - prices.read)
        return anew / plain if plain else 0.0


def low_mark(outlook: Outlook, prices: CachePrices | None) -> tuple[float, str]:
    """Return the low mark, as a share of the high one, and why: the highest at which cutting costs little enough."""
    if prices is None:
        return DEFAULT_LOW, f"low mark {DEFAULT_LOW}: the prices of the cache are not known"
    if not outlook.warm:
        return MARKS[0], f"low mark {MARKS[0]}: the cache does not live until the next turn, so a cut costs nothing"
    if prices.write <= prices.read:
        return MARKS[0], f"low mark {MARKS[0]}: writing the cache costs no more than reading, so a cut costs nothing"
    shares = {mark: outlook.overhead(mark, prices) for mark in MARKS}
    cheap = [mark for mark in MARKS if shares[mark] <= OVERHEAD]
    low = cheap[0] if cheap else min(MARKS, key=lambda mark: (shares[mark], -mark))
    limit = f"at most {OVERHEAD:.0%} was sought" if cheap else f"no mark comes down to {OVERHEAD:.0%}"
    return low, (
        f"low mark {low}: with {outlook.growth:,} tokens a turn and {outlook.turns} turns to come, writing the cache "
        f"anew costs {shares[low]:.0%} of what the turns cost anyway ({limit})"
    )
