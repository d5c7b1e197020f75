"""What a cut does to the provider's prompt cache, and what the cache costs."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal
from typing import TYPE_CHECKING

from brim.messages.receipt import CacheEffect
from brim.usd import Money

if TYPE_CHECKING:
    from brim.messages.draft import Draft
    from brim.models.catalog import Price

FIVE_MINUTES = 300
HOUR = 3_600
"""How long a cache keeps a prompt, in seconds."""


@dataclass(frozen=True, slots=True)
class CachePrices:
    """What a token costs at the provider's prompt cache, in micro-dollars."""

    write: Decimal
    """Written to the cache, or sent to a provider that caches on its own."""
    read: Decimal
    """Read from the cache."""

    @classmethod
    def of(
        cls,
        price: Price | None,
        tokens: int,
        ttl: int = FIVE_MINUTES,
    ) -> CachePrices | None:
        """Return what *price* says for a prompt of *tokens*.

        None if a price is unknown.

        *ttl* is how long the cache keeps a prompt, in seconds: an hour has another price than five
        minutes. A provider without a price for writing charges new tokens as input.
        """
        if price is None:
            return None

        rates = price.at(tokens)
        if rates is None or rates.cache_read is None or rates.input is None:
            return None

        write = rates.cache_write_1h if ttl >= HOUR else rates.cache_write_5m
        if write is None:
            write = rates.input

        return cls(write, rates.cache_read)


def model_price(model: str | None) -> Price | None:
    """Return the price of *model*; None if it is unknown."""
    # The table of prices is large, and a history that fits needs none.
    from brim.models.catalog import model as model_of

    if not model:
        return None

    return model_of(model).price()


def cache_effect(
    draft: Draft, kept_units: Collection[int], after: int, prices: CachePrices | None
) -> CacheEffect | None:
    """Return what it does to the prompt cache that only *kept_units* stay of *draft*.

    None if nothing changes. *after* is the size of what stays.
    """
    is_whole = len(kept_units) == len(draft.units)
    if is_whole and not draft.broken and not draft.changed:
        return None

    positions = draft.positions(kept_units)[: _unchanged_messages(draft, kept_units)]
    prefix = draft.costs.fixed + sum(draft.costs.each[at] for at in positions)
    saved = max(0, int(draft.before) - after)
    prices = prices or draft.cache_prices()
    if prices is None:
        return CacheEffect(
            prefix,
            after - prefix,
            saved,
            None,
            None,
        )

    extra = max(Decimal(0), prices.write - prices.read) * (after - prefix)
    rewrite_cost = Money(int(extra.to_integral_value(ROUND_CEILING)))
    return CacheEffect(
        prefix,
        after - prefix,
        saved,
        rewrite_cost,
        Money(int(prices.read * saved)),
    )


def _unchanged_messages(draft: Draft, kept_units: Collection[int]) -> int:
    """Return how many messages at the beginning are what and where they were."""
    places = range(len(draft.messages)) if draft.only is None else draft.only
    indices = draft.indices(kept_units)
    for at, index in enumerate(indices):
        if index != places[at] or index in draft.changed:
            return at

    return len(indices)
