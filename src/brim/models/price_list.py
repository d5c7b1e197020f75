"""What requests cost, at the prices of their day: one lookup per model."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Protocol

from brim.models.charges import Day, charges_of, day_of, today
from brim.models.usage import Tokens

EARLIEST = -6e10
"""The first second that has a calendar day: it is in the year 68."""
LATEST = 2e11
"""The last one: it is in the year 8307."""


class Prices(Protocol):
    """What a meter asks: ``PriceList``, or whatever prices as it does."""

    def request(self, tokens: Tokens, model: str, time: float | None) -> int | None:
        """Return the micro-dollars of one request at *time*.

        None if the price is not known.
        """

    def sum(self, tokens: Mapping[str, Tokens], time: float | None) -> int | None:
        """Return the micro-dollars of sums by model.

        None if a price is not known.
        """


class PriceList:
    """Prices requests; a model is looked up once."""

    def __init__(self) -> None:
        self._charges = cache(charges_of)

    def request(self, tokens: Tokens, model: str, time: float | None) -> int | None:
        """Return what a request cost at *time*, in micro-dollars.

        Without a time it is today's price. None if the price is not known.
        """
        return self._charges(model).cost(tokens, self._day(time))

    def sum(self, tokens: Mapping[str, Tokens], time: float | None) -> int | None:
        """Return what many requests cost at least; None without a price.

        Their sums by model don't say which were long enough for a more expensive tier, so the price
        is without tiers.
        """
        day = self._day(time)
        total = 0
        for model, model_tokens in tokens.items():
            cost = self._charges(model).cost(model_tokens, day, by_length=False)
            if cost is None:
                return None
            total += cost
        return total

    def _day(self, time: float | None) -> Day:
        """Return the day of *time* in UTC; today if no calendar has it."""
        if time is not None and EARLIEST < time < LATEST:  # never true of nan
            return day_of(time)
        return today()
