"""What each request costs: the same as ``brim.models.cost``, for very many requests.

A tree has tens of thousands of requests and few models, so the rates of a model on a day are looked up once.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from brim.models.charges import Charges, Tiers
    from brim.tracking.usage.request import Request


class Prices:
    """The prices that the table and the settings in force give; *now* is the day of a request without a time."""

    def __init__(self, now: float) -> None:
        self._today = int(now // 86_400)
        self._models: dict[str, Charges] = {}
        self._rates: dict[tuple[str, int, str], Tiers | None] = {}

    def put(self, requests: Iterable[Request]) -> None:
        """Write into each of *requests* what it costs: by the table, else what its client says, else None."""
        for request in requests:
            cost = self.cost(request)
            request.cost = request.reported if cost is None else cost

    def cost(self, request: Request) -> int | None:
        """Return the cost of *request* in micro-dollars, or None if a price that it needs is unknown."""
        from brim.models.charges import charged

        if not (request.prompt or request.output):
            return 0
        day = self._today if request.time is None else int(request.time // 86_400)
        key = (request.model, day, request.factors)
        if key not in self._rates:
            self._rates[key] = self._tiers(*key)
        tiers = self._rates[key]
        return None if tiers is None else charged(request, tiers)

    def _tiers(self, name: str, day: int, factors: str) -> Tiers | None:
        from brim.models.charges import charges_of, day_of

        if name not in self._models:
            self._models[name] = charges_of(name)
        return self._models[name].tiers(day_of(day * 86_400), factors.split())
