"""What does a cut mean for the provider's prompt cache? Everything behind the first gap is written anew."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal
from typing import TYPE_CHECKING

from brim.history.types import CacheEffect
from brim.models.catalog import model as model_of

if TYPE_CHECKING:
    from collections.abc import Collection

    from brim.history.draft import Draft
    from brim.models.catalog import Price

HOUR = 3_600


@dataclass(frozen=True, slots=True)
class CachePrices:
    """What a token costs at the provider's prompt cache, in micro-dollars."""

    write: Decimal
    """Written to the cache, or sent to a provider that caches by itself."""
    read: Decimal
    """Read from the cache."""


def cache_prices(price: Price | None, tokens: int, ttl: int = 300) -> CachePrices | None:
    """Return what *price* says for a prompt of *tokens*; None if a price is unknown.

    *ttl* is how long the cache keeps a prompt, in seconds: an hour has another price than five minutes. A provider
    without a price for writing charges what is new as input.
    """
    rates = price.at(tokens) if price is not None else None
    if rates is None or rates.cache_read is None or rates.input is None:
        return None
    write = rates.cache_write_1h if ttl >= HOUR else rates.cache_write_5m
    return CachePrices(write if write is not None else rates.input, rates.cache_read)


def model_prices(model: str | None, tokens: int, ttl: int = 300) -> CachePrices | None:
    """Return what the table of models says."""
    return cache_prices(model_of(model).price(), tokens, ttl) if model else None


def cache_effect(
    draft: Draft, kept: Collection[int], after: int, prices: CachePrices | None = None
) -> CacheEffect | None:
    """Return what it does to the cache that all but the units *kept* leave and *after* tokens are left.

    None if nothing leaves and nothing is changed.
    """
    if len(kept) == len(draft.units) and not draft.broken and not draft.changed:
        return None
    indices = draft.indices(kept)
    same = next(
        (at for at, index in enumerate(indices) if index != draft.view[at] or index in draft.changed), len(indices)
    )
    prefix = draft.fixed + sum(draft.costs.each[at] for at in draft.positions(kept)[:same])
    saved = max(0, int(draft.before) - after)
    prices = prices or model_prices(draft.model, draft.total)
    return CacheEffect(
        prefix_tokens=prefix,
        rewritten_tokens=after - prefix,
        saved_tokens=saved,
        rewrite_cost=None if prices is None else _up(max(Decimal(0), prices.write - prices.read) * (after - prefix)),
        saving_per_turn=None if prices is None else int(prices.read * saved),
    )


def _up(amount: Decimal) -> int:
    return int(amount.to_integral_value(ROUND_CEILING))
