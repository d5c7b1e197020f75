"""What one request costs, exactly."""

from __future__ import annotations

from datetime import date
from decimal import ROUND_CEILING, Context, Decimal

from brim.models.catalog import model as model_of
from brim.models.record import Model, Rates
from brim.models.usage import Tokens, read_usage

# Prices have at most forty digits and counters thirteen: with a hundred nothing is ever rounded on the way.
_EXACT = Context(prec=100, rounding=ROUND_CEILING)


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
    known = model if isinstance(model, Model) else model_of(model)
    price = known.price(on)
    factor = _factor(tokens, known)
    sum_ = _sum(tokens, price.at(tokens.prompt)) if price else None
    if sum_ is None or factor is None:
        return None
    return int(_EXACT.to_integral_value(_EXACT.multiply(sum_, factor)))


def _sum(tokens: Tokens, rates: Rates) -> Decimal | None:
    written = rates.cache_write_5m
    if written is None and tokens.writes_are_input:
        written = rates.input
    parts = (
        (tokens.input, rates.input),
        (tokens.output, rates.output),
        (tokens.cache_read, rates.cache_read),
        (tokens.cache_write_5m, written),
        (tokens.cache_write_1h, rates.cache_write_1h),
    )
    total = Decimal(0)
    for count, rate in parts:
        if count and rate is None:
            return None
        if count and rate is not None:
            total = _EXACT.fma(Decimal(count), rate, total)
    return total


def _factor(tokens: Tokens, model: Model) -> Decimal | None:
    """Return what the whole sum is multiplied by; US-only inference costs more only where the table says so."""
    product = Decimal(1)
    for name in tokens.factors:
        factor = model.factor(name)
        if factor is None and name != "us":
            return None
        product = _EXACT.multiply(product, factor or Decimal(1))
    return product
