"""What a request cost, and what one that is not sent yet may cost. Prices are those of the day of the request."""

from __future__ import annotations

from brim.errors import InputError, UnknownPrice

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import date

    from brim.models.charges import Charges, Day
    from brim.models.usage import Tokens


class PriceList:
    """Prices requests; a model is looked up once."""

    def __init__(self) -> None:
        self._models: dict[str, Charges] = {}
        self._days: dict[int, Day] = {}

    def request(self, tokens: Tokens, model: str, time: float | None) -> int | None:
        """Return what a request cost at *time* (today's price if None) in micro-dollars; None if that is not known."""
        return self._charges(model).cost(tokens, self._day(time))

    def sum(self, tokens: Mapping[str, Tokens], time: float | None) -> int | None:
        """Return what many requests cost together, as far as their sums by model can say; None if a price is missing.

        Which of them were long enough for a dearer tier is not in a sum: the price without tiers is the least it was.
        """
        day = self._day(time)
        costs = [self._charges(model).cost(each, day, by_length=False) for model, each in tokens.items()]
        known = [each for each in costs if each is not None]
        return sum(known) if len(known) == len(costs) else None

    def _charges(self, name: str) -> Charges:
        if name not in self._models:
            from brim.models.charges import charges_of

            self._models[name] = charges_of(name)
        return self._models[name]

    def _day(self, time: float | None) -> Day:
        """Return the day of *time* in UTC; today if no calendar has it."""
        from brim.models.charges import day_of, today

        if time is None or not -6e10 < time < 2e11:  # the years 68 to 8307; no number either
            return today()
        number = int(time // 86_400)
        if number not in self._days:
            self._days[number] = day_of(time)
        return self._days[number]


def estimate_cost(
    model: str,
    *,
    input_tokens: int = 0,
    output_tokens: int = 0,
    cache_read_tokens: int = 0,
    cache_write_tokens: int = 0,
    on: date | None = None,
) -> int:
    """Return the micro-dollars to reserve for a request that is not sent yet; raise ``UnknownPrice`` if none is known.

    A ``Count`` is taken at its ``high`` end: a reservation has to be large enough. *output_tokens* is the most that may
    come back.

    >>> estimate_cost("claude-sonnet-4-5", input_tokens=10_000, output_tokens=2_000)
    60000
    """
    from brim.models.catalog import cost
    from brim.models.usage import Tokens

    counts = [
        getattr(each, "high", each) for each in (input_tokens, output_tokens, cache_read_tokens, cache_write_tokens)
    ]
    if not all(isinstance(each, int) and each >= 0 for each in counts):
        raise InputError("tokens must be whole numbers, 0 or more")
    tokens = Tokens(input=counts[0], output=counts[1], cache_read=counts[2], cache_write_5m=counts[3])
    found = cost(tokens, model, on=on)
    if found is None:
        raise UnknownPrice(
            f"the price of {model[:80]} is not known, so nothing is reserved: put it under 'models' in the "
            "configuration, or give the amount yourself",
            model,
        )
    return found
