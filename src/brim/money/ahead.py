"""What will the next request cost? Rather a little too much than too little.

Its context is read from the cache, or written again if that has run out, and its answer is as long
as the longest of the last ten.
"""

from __future__ import annotations

from collections.abc import Sequence

from brim.models.price_list import Prices
from brim.models.usage import Tokens
from brim.sessions.requests import IndexedRequest

LOOKED_AT = 10
"""How many of a thread's last requests are looked at."""
NEW_TOKENS = 1_500
"""Tokens of results and words that the next request is expected to add."""
MOST_TIMES = 100
"""Times what a request cost that the next one may cost, if its context is long: what was read from
the cache is written again, at the price for long prompts, without a discount."""
LONG = 10 * NEW_TOKENS
FIVE_MINUTES = 300.0
HOUR = 3_600.0


def next_cost(last: Sequence[IndexedRequest], prices: Prices, now: float) -> int:
    """Return what the next request of a thread will cost, in micro-dollars.

    *last* are its last requests, the newest first. Without any, and without a price, it's nothing.
    """
    if not last:
        return 0
    newest = last[0]
    context = sum(newest.counts)
    written_for_hour = newest.write_1h > 0
    output = max(request.output for request in last[:LOOKED_AT])
    read = context if is_warm(newest, now) else 0
    written = NEW_TOKENS + context - read
    expected = Tokens(
        output=output,
        cache_read=read,
        cache_write_5m=0 if written_for_hour else written,
        cache_write_1h=written if written_for_hour else 0,
        writes_are_input=True,
    )
    return prices.request(expected, newest.model, now) or 0


def most_next_cost(last: Sequence[IndexedRequest]) -> int | None:
    """Return more than ``next_cost`` can be, without a look at prices; None if that can't be
    said."""
    if not last or sum(last[0].counts) < LONG:
        return None
    costs: list[int] = []
    for request in last:
        if not request.cost or request.model != last[0].model:
            return None
        costs.append(request.cost)
    return MOST_TIMES * max(costs)


def is_warm(newest: IndexedRequest, now: float) -> bool:
    """Whether the provider's cache still has what *newest* sent."""
    if newest.time is None:
        return True
    lifetime = HOUR if newest.write_1h else FIVE_MINUTES
    return abs(now - newest.time) < lifetime
