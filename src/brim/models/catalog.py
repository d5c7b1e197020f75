"""Full records of models, a search through them, and request costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from decimal import Decimal
from fnmatch import fnmatchcase
from typing import Any

from brim.errors import InputError, UnknownPrice
from brim.models import overrides
from brim.models.charges import (
    Charges,
    Row,
    all_records,
    below_config,
    charges_of,
    priced,
    record_of,
    today,
)
from brim.models.configured import PRICE_FIELDS
from brim.models.light import (
    UNKNOWN_WINDOW,
    FoundModel,
    Light,
    find,
    input_within,
    is_for_other_media,
)
from brim.models.names import clean
from brim.models.usage import Reported, Tokens, read_response
from brim.record import PlainData
from brim.usd import Money


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates(PlainData):
    """Prices of each kind of token, in USD per million.

    ``None`` means unknown, never free.
    """

    input: Decimal | None = None
    """Prompt tokens that were neither read from nor written to a cache."""
    output: Decimal | None = None
    """Tokens that the model wrote, its reasoning included."""
    cache_read: Decimal | None = None
    """Prompt tokens read from a cache."""
    cache_write_5m: Decimal | None = None
    """Prompt tokens written to a cache for five minutes, or for whatever time the provider's only
    cache has."""
    cache_write_1h: Decimal | None = None
    """Prompt tokens written to a cache for an hour."""
    input_audio: Decimal | None = None
    """Prompt tokens that are sound."""
    output_audio: Decimal | None = None
    """Tokens of sound that the model made."""
    web_search: Decimal | None = None
    """A million searches that the provider made; each has its price."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceTier(Rates):
    """Rates for requests with a prompt longer than ``above`` tokens.

    They apply to the whole request. Cached tokens count as part of the prompt.
    """

    above: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ServicePrice(Rates):
    """The rates of a service tier, such as ``flex``, where no factor gives them all."""

    service: str
    tiers: tuple[PriceTier, ...] = ()
    """Rates for long prompts, shortest first; a tier without rates means that they aren't known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Price(Rates):
    """The rates in force from one date to another."""

    since: date | None = None
    """First day of these rates; ``None`` if they held from the start, as far as the sources
    know."""
    until: date | None = None
    """First day on which they hold no more; ``None`` if no end is known."""
    tiers: tuple[PriceTier, ...] = ()
    """Rates for long prompts, shortest first."""
    services: tuple[ServicePrice, ...] = ()
    """Rates of service tiers that ``Model.factors`` doesn't have."""

    def at(self, prompt_tokens: int) -> Rates:
        """Return the rates for a prompt of *prompt_tokens*, including cached ones."""
        rates: Rates = self
        for tier in self.tiers:
            if prompt_tokens > tier.above:
                rates = tier
        return rates

    def __str__(self) -> str:
        rates = [("in", self.input), ("out", self.output), ("cache read", self.cache_read)]
        prices = ", ".join([f"${rate:f} {kind}" for kind, rate in rates if rate is not None])
        return f"{prices or 'unknown'} per million tokens"


@dataclass(frozen=True, slots=True, kw_only=True)
class Model(PlainData):
    """A model's window, limits, tokenizer and prices."""

    name: str
    """The name in the table, or the name that was asked for if the table does not have it."""
    provider: str
    """Who serves it under this name; empty if unknown."""
    mode: str
    """``chat``, ``responses``, ``completion`` or ``embedding``; empty if unknown."""
    context_window: int
    """Prompt and answer together."""
    max_input: int
    """The longest prompt; the same as the window, except where a model splits it."""
    max_output: int | None
    """The longest answer; ``None`` if unknown."""
    encoding: str
    """The tokenizer family; empty if unknown."""
    prices: tuple[Price, ...]
    """Oldest first; empty if unknown."""
    factors: tuple[tuple[str, Decimal], ...] = ()
    """What the price is multiplied by for ``batch`` requests, ``fast`` mode, ``us``-only inference
    and service tiers, where one factor gives all their prices; the others are in
    ``Price.services``."""
    resolved: bool
    """Whether the name and its window are known; if not, the values are the nearest family's."""
    binds_thinking: bool = False
    """Whether its thinking blocks are valid only after the exact prefix that they were made
    with."""
    source: str
    """Where the values come from: a registry, ``config``, ``family`` or ``default``."""

    def price(self, on: date | None = None) -> Price | None:
        """Return the price in force *on* a date, or ``None``.

        The default is today, in UTC.
        """
        if isinstance(on, datetime):
            on = on.date()
        day = on or datetime.now(UTC).date()
        in_force = None
        for price in self.prices:
            if price.since is None or price.since <= day:
                in_force = price
        return in_force

    def factor(self, name: str) -> Decimal | None:
        """Return the factor called *name*, or ``None`` if it is not known."""
        return dict(self.factors).get(name)

    def prices_service(self, name: str) -> bool:
        """Whether the price of the service tier or speed *name* is known today."""
        price = self.price()
        if price is None:
            return False
        if self.factor(name) is not None:
            return True
        return name in [service.service for service in price.services]

    def __str__(self) -> str:
        window = f"{self.context_window:,} tokens"
        if self.max_input != self.context_window:
            window += f" ({self.max_input:,} in)"
        if self.max_output:
            window += f", {self.max_output:,} out"
        price = str(self.price() or "unknown price")
        parts = [window, self.encoding or "unknown tokenizer", price]
        if not self.resolved:
            parts.append("name not known")
        return f"{self.name}: {'; '.join(parts)}"


def model(name: str, *, context_window: int | None = None) -> Model:
    """Return everything known about the model *name*.

    An unknown name gives ``resolved=False``.

    *context_window* overrides the window. Otherwise it's the configuration's, the one that was
    reported, or the table's, in this order.

    >>> print(model("gpt-5"))
    gpt-5: 400,000 tokens (272,000 in), 128,000 out; o200k_base; $1.25 in, $10 out, $0.125 cache read per million tokens
    """
    found_model = find(name)
    record = _full(found_model)
    if context_window is None:
        return record
    if type(context_window) is not int or context_window < 1:
        raise InputError(f"context_window must be a positive whole number, not {context_window!r}")
    max_input = input_within(found_model.light, context_window)
    return replace(record, context_window=context_window, max_input=max_input)


def models(pattern: str | None = None) -> list[Model]:
    """Return the models whose name contains *pattern*, or all models.

    A pattern with ``*``, ``?`` or ``[`` is a glob.
    """
    glob = (pattern or "").strip().lower()
    if not any(sign in glob for sign in "*?["):
        glob = f"*{glob}*"
    names = {name.lower(): name for name in all_records()}
    for key in overrides.names():
        names[key] = key
    return [model(names[key]) for key in sorted(names) if fnmatchcase(key, glob)]


def _full(found_model: FoundModel) -> Model:
    """Return the whole record. Provider and mode come from the table, or from the model that the
    configuration changes; a model of which only the family is known has neither."""
    provider = ""
    mode = ""
    source = "family"
    if found_model.config_key:
        base = _changed_model(found_model)
        provider = base.provider
        mode = base.mode
        source = "config"
    elif found_model.table_name:
        record = record_of(found_model.table_name)
        provider = record["provider"]
        mode = record["mode"]
        source = record["source"]
    elif _is_unknown(found_model.light):
        source = "default"
    rows, factors = priced(found_model)
    return Model(
        **found_model.light.to_dict(),
        provider=provider,
        mode=mode,
        prices=_prices(rows),
        factors=tuple([(name, Decimal(factor)) for name, factor in factors.items()]),
        source=source,
    )


def _changed_model(found_model: FoundModel) -> Model:
    """Return the model that the configuration changes."""
    override = overrides.get(found_model.config_key) or {}
    like = override.get("like")
    if isinstance(like, str):
        return model(like)
    return _full(below_config(found_model))


def _is_unknown(light: Light) -> bool:
    return light.context_window == UNKNOWN_WINDOW and light.max_output is None


def _prices(rows: Sequence[Row]) -> tuple[Price, ...]:
    """Return the prices in *rows*, the oldest first; each ends where the next begins."""
    prices: list[Price] = []
    until = None
    for row in reversed(rows):
        since = None
        if row.get("from"):
            since = date.fromisoformat(row["from"])
        services = _services(row)
        tiers = _tiers(row)
        prices.append(
            Price(since=since, until=until, tiers=tiers, services=services, **_rates(row))
        )
        until = since
    return tuple(reversed(prices))


def _services(row: Row) -> tuple[ServicePrice, ...]:
    services = []
    for name, rates in row.get("services", {}).items():
        services.append(ServicePrice(service=name, tiers=_tiers(rates), **_rates(rates)))
    return tuple(services)


def _tiers(row: Row) -> tuple[PriceTier, ...]:
    tiers = row.get("tiers", ())
    return tuple([PriceTier(above=tier["above"], **_rates(tier)) for tier in tiers])


def _rates(row: Row) -> dict[str, Any]:
    return {field: Decimal(row[field]) for field in PRICE_FIELDS if field in row}


def cost(
    usage: object, model: str | Model | None = None, *, on: date | None = None
) -> Money | None:
    """Return the cost of one request.

    Returns ``None`` if a price that it needs is unknown.

    *usage* is the provider's response, with its model and service tier, or only its usage report,
    as a mapping or object. *model* overrides the response's. *on* is the day of the request, today
    by default. The sum is exact and rounded up once. A counter that is 0 needs no price.

    Sound, searches, OpenAI's own tools and the provider's compactions are charged at their own
    prices. If another model answered a part (``usage.iterations`` names it), or the price of the
    service tier is unknown, the cost is ``None``.

    Cache writes without their own price are charged as input if the report has OpenAI's form, as
    OpenAI does.

    >>> cost({"input_tokens": 1_000, "output_tokens": 100}, "claude-sonnet-4-5")
    Money($0.0045)
    """
    if isinstance(usage, Tokens):
        reported = Reported(usage)
    else:
        reported = read_response(usage)
    if reported.tokens.is_nothing:
        return Money(0)
    if model is None and not reported.model:
        raise InputError(
            "cost needs a model: this usage doesn't say which one answered, so pass model="
        )
    if model is None:
        model = reported.model
    if isinstance(model, str):
        charges = charges_of(model)
    else:
        charges = _charges(model)
    day = today()
    if on is not None:
        day = (on.year, on.month, on.day)
    amount = charges.cost(reported.tokens, day)
    if amount is None:
        return None
    return Money(amount)


def unknown_price(name: str) -> UnknownPrice:
    """Return the error that the model *name* has no price, with what to set."""
    short_name = name[:80]
    problem = f"the price of {short_name} is not known"
    if is_for_other_media(clean(name)):
        problem = (
            f"brim has no price for {short_name}: "
            "such models charge for images, sound, videos or pages"
        )
    remedy = (
        f"set models.{short_name}.prices in the configuration (in Python: brim.models.use), "
        "or reserve an amount of your own: ledger.reserve(scope, '0.25')"
    )
    return UnknownPrice(f"{problem}, so nothing is reserved: {remedy}", name)


def _charges(model: Model) -> Charges:
    """Return what *model* itself says that it charges."""
    rows: list[Row] = []
    for price in model.prices:
        row = _row_with_tiers(price)
        row["from"] = None
        if price.since is not None:
            row["from"] = price.since.isoformat()
        row["services"] = {service.service: _row_with_tiers(service) for service in price.services}
        rows.append(row)
    factors = {name: f"{factor:f}" for name, factor in model.factors}
    return Charges(rows, factors, model.name)


def _row_with_tiers(price: Price | ServicePrice) -> dict[str, Any]:
    row: dict[str, Any] = dict(_row(price))
    row["tiers"] = [{**_row(tier), "above": tier.above} for tier in price.tiers]
    return row


def _row(rates: Rates) -> dict[str, str]:
    row = {}
    for field in PRICE_FIELDS:
        rate = getattr(rates, field)
        if rate is not None:
            row[field] = f"{rate:f}"
    return row
