"""What a model charges, in whole numbers, for hooks and for ``cost``.

The table has one line per model, so that brim parses one and not four thousand. A rate is a whole
number over a power of ten, so only the sum is rounded.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from brim.files import data_file
from brim.models import overrides
from brim.models.configured import PRICE_FIELDS
from brim.models.light import FoundModel, find, name_in_table
from brim.models.terms import tool_fee
from brim.models.usage import Tokens

Day = tuple[int, int, int]
"""Year, month and day."""
Row = Mapping[str, Any]
"""Prices in force from one day on, as the table has them: rates as texts, ``from``, ``tiers``,
``services``."""
# Names that say how a request travels, not who charges for it; and providers that go by several
# names.
_ROUTES = frozenset(
    {"openrouter", "litellm_proxy", "models", "publishers", "converse", "invoke", "responses"}
)
_OTHER_NAMES = {
    "google": ("gemini", "vertex_ai"),
    "x-ai": ("xai",),
    "moonshotai": ("moonshot",),
    "z-ai": ("zai",),
    "openai": ("text-completion-openai",),
    "aws": ("bedrock",),
    "bedrock": ("aws",),
}
_LAST = 32_503_680_000.0
"""The first second of the year 3000: no price is later, and not every system has a calendar for
what is."""


@dataclass(frozen=True, slots=True)
class ExactAmount:
    """Micro-dollars as a fraction, so that only their sum is rounded."""

    numerator: int
    denominator: int

    def plus(self, other: ExactAmount) -> ExactAmount:
        """Return the sum of both."""
        mine = self.numerator * other.denominator
        added = other.numerator * self.denominator
        return ExactAmount(mine + added, self.denominator * other.denominator)

    def rounded_up(self) -> int:
        """Return the smallest whole number that isn't less."""
        return -(-self.numerator // self.denominator)


@dataclass(frozen=True, slots=True)
class RateTier:
    """The rates of prompts longer than ``above`` tokens.

    They are whole numbers, to be multiplied by ``factor`` and divided by ``unit``.
    """

    above: int
    rates: Mapping[str, int]
    factor: int
    unit: int


class Charges:
    """The prices of one model: *rows*, oldest first, and the *factors* that change the whole price.

    *name* is the model's, for tools whose fee depends on it.
    """

    __slots__ = ("_factors", "_name", "_rows")

    def __init__(self, rows: list[Row], factors: Mapping[str, str], name: str = "") -> None:
        self._name = name
        self._rows = [_DatedRates(row) for row in rows]
        self._factors = {name: _exact(factor) for name, factor in factors.items()}

    def cost(self, tokens: Tokens, day: Day, *, by_length: bool = True) -> int | None:
        """Return the micro-dollars of *tokens* on *day*, rounded up once.

        None if a price that they need is unknown.

        Without *by_length* the rates of long prompts are left out: a sum of requests does not say
        how long each was.
        """
        if tokens.is_nothing:
            return 0
        tiers = self.tiers(day, tokens.factors)
        if tiers is None:
            return None
        if not by_length:
            tiers = tiers[-1:]
        total = exact_cost(tokens, tiers)
        if total is None:
            return None
        for request in tokens.compactions:
            amount = exact_cost(request, tiers)
            if amount is None:
                return None
            total = total.plus(amount)
        fees = self._tool_fees(tokens)
        if fees is None:
            return None
        return fees + total.rounded_up()

    def _tool_fees(self, tokens: Tokens) -> int | None:
        """Return the micro-dollars for tools that the provider ran; None if a fee is unknown."""
        total = 0
        for kind, uses in tokens.tool_uses:
            fee = tool_fee(kind, self._name)
            if fee is None:
                return None
            total += uses * fee
        return total

    def tiers(self, day: Day, factors: Collection[str]) -> list[RateTier] | None:
        """Return the rates on *day* for a request with *factors*, those of long prompts first.

        None if they are not known.

        A service with rates of its own, such as ``flex``, has them in place of the standard ones.
        US-only inference costs more only where the table says so.
        """
        row = self._row_on(day)
        if row is None:
            return None
        tiers = row.tiers
        if not factors:
            return tiers
        factor = 1
        unit = 1
        for name in factors:
            if name in row.services:
                tiers = row.services[name]
            elif name in self._factors:
                numerator, denominator = self._factors[name]
                factor *= numerator
                unit *= denominator
            elif name != "us":
                return None
        return [RateTier(tier.above, tier.rates, factor, tier.unit * unit) for tier in tiers]

    def _row_on(self, day: Day) -> _DatedRates | None:
        """Return the rates in force on *day*; None if the first ones came later."""
        for row in reversed(self._rows):
            if row.since is None or row.since <= day:
                return row
        return None


class _DatedRates:
    """One row of prices: the standard rates, and those of services that no factor gives."""

    __slots__ = ("services", "since", "tiers")

    def __init__(self, row: Row) -> None:
        self.since = _day(row.get("from"))
        self.tiers = _tiers(row)
        self.services = {name: _tiers(service) for name, service in row.get("services", {}).items()}


def charged(tokens: Any, tiers: list[RateTier]) -> int | None:
    """Return the micro-dollars of *tokens*, rounded up once.

    None if a rate that they need is unknown.

    *tokens* is a ``Tokens``, or anything else with the same counters.
    """
    amount = exact_cost(tokens, tiers)
    if amount is None:
        return None
    return amount.rounded_up()


def _tier_of(prompt: int, tiers: list[RateTier]) -> RateTier:
    """Return the rates for a prompt of *prompt* tokens: those of the longest come first."""
    for tier in tiers[:-1]:
        if prompt > tier.above:
            return tier
    return tiers[-1]


def exact_cost(tokens: Any, tiers: list[RateTier]) -> ExactAmount | None:
    """Return the micro-dollars of *tokens*; None if a rate that they need is unknown."""
    tier = _tier_of(tokens.prompt, tiers)
    counts = {
        "input": tokens.input,
        "output": tokens.output,
        "cache_read": tokens.cache_read,
        "cache_write_5m": tokens.cache_write_5m,
        "cache_write_1h": tokens.cache_write_1h,
    }
    extras = getattr(tokens, "extras", ())
    if extras:
        sound_in, sound_out, searches = extras
        counts["input"] = max(0, tokens.input - sound_in)
        counts["output"] = max(0, tokens.output - sound_out)
        counts["input_audio"] = sound_in
        counts["output_audio"] = sound_out
        counts["web_search"] = searches
    total = 0
    for field, count in counts.items():
        if not count:
            continue
        rate = tier.rates.get(field)
        if rate is None and field == "cache_write_5m" and tokens.writes_are_input:
            rate = tier.rates.get("input")
        if rate is None:
            return None
        total += count * rate
    return ExactAmount(total * tier.factor, tier.unit)


def charges_of(name: str) -> Charges:
    """Return what the model *name* charges, by the configuration and the table.

    Never raises, whatever the text.
    """
    return Charges(*priced(find(name)), name)


def priced(found_model: FoundModel) -> tuple[list[Row], Mapping[str, str]]:
    """Return the rows of prices and the factors of *found_model*; nothing where they are not
    known."""
    if not found_model.config_key:
        return _table_prices(found_model)
    override = overrides.get(found_model.config_key) or {}
    prices = override.get("prices")
    if isinstance(prices, dict):
        return [prices], {}
    like = override.get("like")
    if isinstance(like, str):
        return priced(find(like))
    return priced(below_config(found_model))


def _table_prices(found_model: FoundModel) -> tuple[list[Row], Mapping[str, str]]:
    if not found_model.table_name:
        return [], {}
    record = record_of(found_model.table_name)
    if not _same_provider(found_model.provider_part, record["provider"]):
        return [], {}
    return record["prices"], record.get("factors", {})


def below_config(found_model: FoundModel) -> FoundModel:
    """Return the table's record for exactly the overridden name: a similar name has no price for
    it."""
    name = name_in_table(found_model.config_key)
    if name.lower() != found_model.config_key:
        name = ""
    return FoundModel(found_model.light, name)


def today() -> Day:
    """Return today's date, in UTC."""
    return day_of(time.time())


def day_of(seconds: float) -> Day:
    """Return the date, in UTC, of a time in *seconds* since 1970.

    Earlier times count as that year's first day.
    """
    return time.gmtime(min(max(0.0, seconds), _LAST))[:3]


@cache
def record_of(name: str) -> dict[str, Any]:
    """Return the record of the model that the table calls *name*."""
    if all_records.cache_info().currsize:  # read already, as for a list of all models
        return all_records()[name]
    table = data_file(__file__, "models.json")
    start = table.index(b"\n" + json.dumps(name).encode() + b": ") + 1
    line = table[start : table.index(b"\n", start)].rstrip(b",")
    record: dict[str, Any] = json.loads(b"{" + line + b"}")[name]
    return record


@cache
def all_records() -> dict[str, dict[str, Any]]:
    """Return every record of the table by its name."""
    records: dict[str, dict[str, Any]] = json.loads(data_file(__file__, "models.json"))["models"]
    return records


def _same_provider(provider_part: str, provider: str) -> bool:
    """Whether the price applies to the prefix of the name: another host or region may charge
    differently."""
    if provider_part.startswith("arn:aws"):
        provider_part = "bedrock/" + provider_part.partition("/")[2]
    for word in re.split("[:./]", provider_part):
        if not word or word in _ROUTES:
            continue
        if not provider.startswith((word, *_OTHER_NAMES.get(word, ()))):
            return False
    return True


def _day(text: str | None) -> Day | None:
    if not text:
        return None
    year, month, day = text.split("-")
    return int(year), int(month), int(day)


def _tiers(row: Row) -> list[RateTier]:
    """Return the rates of *row* for each length of prompt, those of the longest prompts first."""
    tiers = [_tier(-1, row)]
    for longer in row.get("tiers", ()):
        tiers.append(_tier(longer["above"], longer))
    tiers.reverse()
    return tiers


def _tier(above: int, row: Row) -> RateTier:
    """Return the rates of *row* as whole numbers over the same power of ten."""
    exact = {field: _exact(row[field]) for field in PRICE_FIELDS if field in row}
    unit = max([power for _, power in exact.values()], default=1)
    rates = {field: number * (unit // power) for field, (number, power) in exact.items()}
    return RateTier(above, rates, 1, unit)


def _exact(number: str) -> tuple[int, int]:
    """Return *number*, written without exponent, as a whole number and the power of ten that it is
    divided by."""
    whole, _, places = number.partition(".")
    return int(whole + places), 10 ** len(places)
