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
from brim.models.light import (
    UNKNOWN_WINDOW,
    FoundModel,
    find,
    input_within,
    is_for_other_media,
)
from brim.models.names import clean
from brim.models.overrides import PRICE_FIELDS
from brim.models.usage import Reported, Tokens, read_response
from brim.record import PlainData


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
        reached = [tier for tier in self.tiers if prompt_tokens > tier.above]
        return reached[-1] if reached else self

    def __str__(self) -> str:
        rates = [("in", self.input), ("out", self.output), ("cache read", self.cache_read)]
        known = ", ".join(f"${rate:f} {kind}" for kind, rate in rates if rate is not None)
        return f"{known or 'unknown'} per million tokens"


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
        day = on.date() if isinstance(on, datetime) else on or datetime.now(UTC).date()
        in_force = [price for price in self.prices if price.since is None or price.since <= day]
        return in_force[-1] if in_force else None

    def factor(self, name: str) -> Decimal | None:
        """Return the factor called *name*, or ``None`` if it is not known."""
        return dict(self.factors).get(name)

    def prices_service(self, name: str) -> bool:
        """Whether the price of the service tier or speed *name* is known today."""
        price = self.price()
        if price is None:
            return False
        return self.factor(name) is not None or any(
            service.service == name for service in price.services
        )

    def __str__(self) -> str:
        split = f" ({self.max_input:,} in)" if self.max_input != self.context_window else ""
        out = f", {self.max_output:,} out" if self.max_output else ""
        price = self.price()
        parts = [
            f"{self.context_window:,} tokens{split}{out}",
            self.encoding or "unknown tokenizer",
        ]
        parts.append(str(price) if price else "unknown price")
        parts += [] if self.resolved else ["name not known"]
        return f"{self.name}: {'; '.join(parts)}"


def model(name: str, *, context_window: int | None = None) -> Model:
    """Return everything known about the model *name*.

    An unknown name gives ``resolved=False``.

    *context_window* overrides the window. Otherwise it's the configuration's, the one that was
    reported, or the table's, in this order.

    >>> print(model("gpt-5"))
    gpt-5: 400,000 tokens (272,000 in), 128,000 out; o200k_base; $1.25 in, $10 out, $0.125 cache read per million tokens
    """
    found = find(name)
    full = _full(found)
    if context_window is None:
        return full
    if type(context_window) is not int or context_window < 1:
        raise InputError(f"context_window must be a positive whole number, not {context_window!r}")
    return replace(
        full, context_window=context_window, max_input=input_within(found.light, context_window)
    )


def models(pattern: str | None = None) -> list[Model]:
    """Return the models whose name contains *pattern*, or all models.

    A pattern with ``*``, ``?`` or ``[`` is a glob.
    """
    wanted = (pattern or "").strip().lower()
    is_glob = any(sign in wanted for sign in "*?[")
    names = {name.lower(): name for name in all_records()} | {key: key for key in overrides.names()}
    hits = [key for key in names if (fnmatchcase(key, wanted) if is_glob else wanted in key)]
    return [model(names[key]) for key in sorted(hits)]


def _full(found: FoundModel) -> Model:
    light = found.light
    provider, mode, source = "", "", "family"
    if found.config_key:
        like = (overrides.get(found.config_key) or {}).get("like")
        base = model(like) if isinstance(like, str) else _full(below_config(found))
        provider, mode, source = base.provider, base.mode, "config"
    elif found.table_name:
        record = record_of(found.table_name)
        provider, mode, source = record["provider"], record["mode"], record["source"]
    elif light.context_window == UNKNOWN_WINDOW and light.max_output is None:
        source = "default"
    rows, factors = priced(found)
    multiplied = tuple((name, Decimal(factor)) for name, factor in factors.items())
    return Model(
        **light.to_dict(),
        provider=provider,
        mode=mode,
        prices=_prices(rows),
        factors=multiplied,
        source=source,
    )


def _prices(rows: Sequence[Row]) -> tuple[Price, ...]:
    starts = [date.fromisoformat(row["from"]) if row.get("from") else None for row in rows]
    prices = []
    for row, start, end in zip(rows, starts, [*starts[1:], None], strict=False):
        services = [
            ServicePrice(service=name, tiers=_tiers(rates), **_rates(rates))
            for name, rates in row.get("services", {}).items()
        ]
        prices.append(
            Price(
                since=start, until=end, tiers=_tiers(row), services=tuple(services), **_rates(row)
            )
        )
    return tuple(prices)


def _tiers(row: Row) -> tuple[PriceTier, ...]:
    return tuple(PriceTier(above=tier["above"], **_rates(tier)) for tier in row.get("tiers", ()))


def _rates(row: Row) -> dict[str, Any]:
    return {field: Decimal(row[field]) for field in PRICE_FIELDS if field in row}


def cost(usage: object, model: str | Model | None = None, *, on: date | None = None) -> int | None:
    """Return the cost of one request in micro-dollars.

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
    4500
    """
    reported = Reported(usage) if isinstance(usage, Tokens) else read_response(usage)
    tokens = reported.tokens
    if tokens.is_nothing:
        return 0
    if model is None and not reported.model:
        raise InputError(
            "cost needs a model: this usage doesn't say which one answered, so pass model="
        )
    model = reported.model if model is None else model
    charges = charges_of(model) if isinstance(model, str) else _charges(model)
    return charges.cost(tokens, today() if on is None else (on.year, on.month, on.day))


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
        "or reserve an amount of your own: ledger.reserve(scope, amount)"
    )
    return UnknownPrice(f"{problem}, so nothing is reserved: {remedy}", name)


def _charges(model: Model) -> Charges:
    """Return what *model* itself says that it charges."""
    rows: list[Row] = []
    for price in model.prices:
        since = price.since.isoformat() if price.since else None
        services = {service.service: _row_with_tiers(service) for service in price.services}
        rows.append({**_row_with_tiers(price), "from": since, "services": services})
    return Charges(rows, {name: f"{factor:f}" for name, factor in model.factors}, model.name)


def _row_with_tiers(price: Price | ServicePrice) -> dict[str, Any]:
    return {**_row(price), "tiers": [{**_row(tier), "above": tier.above} for tier in price.tiers]}


def _row(rates: Rates) -> dict[str, str]:
    return {
        field: f"{rate:f}" for field in PRICE_FIELDS if (rate := getattr(rates, field)) is not None
    }
