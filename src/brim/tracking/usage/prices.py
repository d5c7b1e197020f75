"""What each request costs: the same as ``brim.models.cost``, for very many requests.

A tree has tens of thousands of requests and few models, so the rates of a model on a day are looked up once, as whole
numbers; the sum is exact and is rounded up once per request, as there.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from decimal import Decimal

    from brim.models.record import Model, Rates
    from brim.tracking.usage.request import Request

    _Scaled = tuple[tuple[int | None, ...], int]
    """Rates as whole numbers, and what they are to be divided by."""

_FIRST_DAY = 719_163
"""The first day of 1970, counted as ``datetime`` counts days."""


class Prices:
    """The prices that the table and the settings in force give; *now* is the day of a request without a time."""

    def __init__(self, now: float) -> None:
        self._today = int(now // 86_400)
        self._models: dict[str, Model] = {}
        self._rates: dict[tuple[str, int, bool, str], list[tuple[int, _Scaled]] | None] = {}

    def put(self, requests: Iterable[Request]) -> None:
        """Write into each of *requests* what it costs: by the table, else what its client says, else None."""
        for request in requests:
            cost = self.cost(request)
            request.cost = request.reported if cost is None else cost

    def cost(self, request: Request) -> int | None:
        """Return the cost of *request* in micro-dollars, or None if a price that it needs is unknown."""
        prompt = request.prompt
        if not (prompt or request.output):
            return 0
        day = self._today if request.time is None else int(request.time // 86_400)
        key = (request.model, day, request.writes_are_input, request.factors)
        if key not in self._rates:
            self._rates[key] = self._tiers(*key)
        tiers = self._rates[key]
        if tiers is None:
            return None
        for above, scaled in tiers:  # the longest prompts first
            if prompt > above:
                return _sum(request, scaled)
        return None

    def _tiers(self, name: str, day: int, writes_are_input: bool, factors: str) -> list[tuple[int, _Scaled]] | None:
        """Return the rates of the model *name* from each length of prompt on, the longest first."""
        from datetime import date
        from decimal import Decimal

        from brim.models.catalog import model

        if name not in self._models:
            self._models[name] = model(name)
        known = self._models[name]
        ordinal = _FIRST_DAY + day
        price = known.price(date.fromordinal(ordinal)) if 1 <= ordinal <= 3_652_059 else None
        if price is None:
            return None
        factor = Decimal(1)
        for sign in factors.split():
            found = known.factor(sign)
            if found is None and sign != "us":
                return None
            factor *= found or Decimal(1)
        tiers = [(-1, _scaled(price, factor, writes_are_input))]
        tiers += [(tier.above, _scaled(tier, factor, writes_are_input)) for tier in price.tiers]
        return tiers[::-1]


def _scaled(rates: Rates, factor: Decimal, writes_are_input: bool) -> _Scaled:
    """Return *rates*, times *factor*, as whole numbers over one power of ten: so nothing is ever rounded."""
    written = rates.input if rates.cache_write_5m is None and writes_are_input else rates.cache_write_5m
    each = (rates.input, rates.output, rates.cache_read, written, rates.cache_write_1h)
    parts = [None if rate is None else (_digits(rate), _digits(factor)) for rate in each]
    places = max([a[1] + b[1] for part in parts if part for a, b in [part]], default=0)
    whole = [None if p is None else p[0][0] * p[1][0] * 10 ** (places - p[0][1] - p[1][1]) for p in parts]
    return tuple(whole), 10**places


def _digits(number: Decimal) -> tuple[int, int]:
    """Return *number* as a whole number, and how many of its digits stand after the point."""
    numerator, denominator = number.as_integer_ratio()
    places = 0
    while 10**places % denominator:
        places += 1
    return numerator * 10**places // denominator, places


def _sum(request: Request, scaled: _Scaled) -> int | None:
    (input, output, read, written, written_1h), unit = scaled
    total = 0
    for count, rate in (
        (request.input, input),
        (request.output, output),
        (request.cache_read, read),
        (request.cache_write_5m, written),
        (request.cache_write_1h, written_1h),
    ):
        if count:
            if rate is None:
                return None
            total += count * rate
    return -(-total // unit)
