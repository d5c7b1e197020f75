"""A model as brim knows it: sizes, tokenizer, dated prices."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """What each kind of token costs, in USD per million. ``None`` is unknown, never free."""

    input: Decimal | None = None
    """Prompt tokens that were neither read from nor written to a cache."""
    output: Decimal | None = None
    """Tokens that the model wrote, its reasoning included."""
    cache_read: Decimal | None = None
    """Prompt tokens read from a cache."""
    cache_write_5m: Decimal | None = None
    """Prompt tokens written to a cache for five minutes, or for whatever time the provider's only cache has."""
    cache_write_1h: Decimal | None = None
    """Prompt tokens written to a cache for an hour."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tier(Rates):
    """The rates of the whole request when its prompt is longer than ``above`` tokens, cached ones included."""

    above: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Price(Rates):
    """The rates in force from one date to another."""

    since: date | None = None
    """First day of these rates; ``None`` if they held from the start, as far as the sources know."""
    until: date | None = None
    """First day on which they hold no more; ``None`` if no end is known."""
    tiers: tuple[Tier, ...] = ()
    """Rates for long prompts, shortest first."""

    def at(self, prompt_tokens: int) -> Rates:
        """Return the rates of a request with a prompt of *prompt_tokens*, cached ones included."""
        reached = [tier for tier in self.tiers if prompt_tokens > tier.above]
        return reached[-1] if reached else self

    def __str__(self) -> str:
        rates = [("in", self.input), ("out", self.output), ("cache read", self.cache_read)]
        known = ", ".join(f"${rate:f} {kind}" for kind, rate in rates if rate is not None)
        return f"{known or 'unknown'} per million tokens"


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """What a model holds and charges."""

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
    """What the price is multiplied by for ``batch`` requests, ``fast`` mode and ``us``-only inference, where known."""
    resolved: bool
    """Whether the name and its window are known; if not, the values are the nearest family's."""
    source: str
    """Where the values come from: a registry, ``config``, ``family`` or ``default``."""

    def price(self, on: date | None = None) -> Price | None:
        """Return the price in force *on* a date (today, in UTC, by default), or ``None`` if none is known."""
        day = on.date() if isinstance(on, datetime) else on or datetime.now(UTC).date()
        in_force = [price for price in self.prices if price.since is None or price.since <= day]
        return in_force[-1] if in_force else None

    def factor(self, name: str) -> Decimal | None:
        """Return the factor called *name*, or ``None`` if it is not known."""
        return dict(self.factors).get(name)

    def __str__(self) -> str:
        split = f" ({self.max_input:,} in)" if self.max_input != self.context_window else ""
        out = f", {self.max_output:,} out" if self.max_output else ""
        price = self.price()
        parts = [f"{self.context_window:,} tokens{split}{out}", self.encoding or "unknown tokenizer"]
        parts.append(str(price) if price else "unknown price")
        parts += [] if self.resolved else ["name not known"]
        return f"{self.name}: {'; '.join(parts)}"
