"""What one request costs, exactly. The rule itself is in ``charges``."""

from __future__ import annotations

from brim.models.charges import Charges, charges_of, today
from brim.models.overrides import PRICE_FIELDS
from brim.models.usage import Tokens, read_usage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import date

    from brim.models.charges import Row
    from brim.models.record import Model, Rates


def cost(usage: object, model: str | Model, *, on: date | None = None) -> int | None:
    """Return the cost of one request in micro-dollars, or ``None`` if a price that it needs is unknown.

    *usage* is the provider's report of one request, as a mapping or object; *on* is the day of the request, today by
    default. The sum is exact and is rounded up once. A counter that is 0 needs no price, so a request without tokens
    costs 0 at any model.

    Cache writes without a price of their own are charged as input if the report has OpenAI's form, and nowhere else:
    OpenAI charges them so. A dollar per million tokens is a micro-dollar per token, so nothing is divided here.

    >>> cost({"input_tokens": 1_000, "output_tokens": 100}, "claude-sonnet-4-5")
    4500
    """
    tokens = usage if isinstance(usage, Tokens) else read_usage(usage)
    if not (tokens.prompt or tokens.output):
        return 0
    charges = charges_of(model) if isinstance(model, str) else _charges(model)
    return charges.cost(tokens, today() if on is None else (on.year, on.month, on.day))


def _charges(model: Model) -> Charges:
    """Return what *model* itself says that it charges."""
    rows: list[Row] = [
        {
            **_row(price),
            "from": price.since.isoformat() if price.since else None,
            "tiers": [{**_row(tier), "above": tier.above} for tier in price.tiers],
        }
        for price in model.prices
    ]
    return Charges(rows, {name: f"{factor:f}" for name, factor in model.factors})


def _row(rates: Rates) -> dict[str, str]:
    return {field: f"{rate:f}" for field in PRICE_FIELDS if (rate := getattr(rates, field)) is not None}
