"""What a model charges, in whole numbers, for hooks and for ``cost``.

The table has one line per model, so that brim parses one and not four thousand. A rate is a whole
number over a power of ten, so only the sum is rounded.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from brim.files import data_file
from brim.models import overrides
from brim.models.light import FoundModel, find, name_in_table
from brim.models.overrides import PRICE_FIELDS
from brim.models.terms import tool_fee
from brim.models.usage import Tokens

Day = tuple[int, int, int]
"""Year, month and day."""
Row = Mapping[str, Any]
"""Prices in force from one day on, as the table has them: rates as texts, ``from``, ``tiers``,
``services``."""
_Rates = list[int | None]
"""What each of ``PRICE_FIELDS`` costs."""
Tiers = list[tuple[int, _Rates, int, int]]
"""For prompts longer than so many tokens, the longest first: rates, and what is multiplied and
divided."""

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
        sums = [
            exact_cost(each, tiers if by_length else tiers[-1:])
            for each in (tokens, *tokens.compactions)
        ]
        over, under = 0, 1
        for found in sums:
            if found is None:
                return None
            over, under = over * found[1] + found[0] * under, under * found[1]
        fees = self._tool_fees(tokens)
        return None if fees is None else fees - (-over // under)

    def _tool_fees(self, tokens: Tokens) -> int | None:
        """Return the micro-dollars for tools that the provider ran; None if a fee is unknown."""
        if not tokens.tool_uses:
            return 0

        total = 0
        for kind, uses in tokens.tool_uses:
            fee = tool_fee(kind, self._name)
            if fee is None:
                return None
            total += uses * fee
        return total

    def tiers(self, day: Day, factors: Iterable[str]) -> Tiers | None:
        """Return the rates on *day* for what is changed by *factors*.

        None if they are not known.

        A service with rates of its own, such as ``flex``, has them in place of the standard ones.
        US-only inference costs more only where the table says so.
        """
        row = next(
            (row for row in reversed(self._rows) if row.since is None or row.since <= day), None
        )
        if row is None:
            return None
        tiers = row.tiers
        over, under = 1, 1
        for name in factors:
            if name in row.services:
                tiers = row.services[name]
                continue
            factor = self._factors.get(name, (1, 1) if name == "us" else None)
            if factor is None:
                return None
            over, under = over * factor[0], under * factor[1]
        return [(above, rates, over, unit * under) for above, rates, unit in tiers]


class _DatedRates:
    """One row of prices: the standard rates, and those of services that no factor gives."""

    __slots__ = ("services", "since", "tiers")

    def __init__(self, row: Row) -> None:
        self.since = _day(row.get("from"))
        self.tiers = _tiers(row)
        self.services = {name: _tiers(service) for name, service in row.get("services", {}).items()}


def charged(tokens: Any, tiers: Tiers) -> int | None:
    """Return the micro-dollars of *tokens*, rounded up once.

    None if a rate that they need is unknown.

    *tokens* is a ``Tokens``, or anything else with the same counters.
    """
    found = exact_cost(tokens, tiers)
    return None if found is None else -(-found[0] // found[1])


def exact_cost(tokens: Any, tiers: Tiers) -> tuple[int, int] | None:
    """Return the micro-dollars of *tokens* as a fraction; None if a rate that they need is
    unknown."""
    prompt = tokens.prompt
    _, rates, over, under = next(tier for tier in tiers if prompt > tier[0])
    input, output, cache_read, written, written_1h, *others = rates
    if written is None and tokens.writes_are_input:
        written = input
    heard, spoken, searches = getattr(tokens, "extras", ()) or (0, 0, 0)
    written_for = tokens.cache_write_5m, tokens.cache_write_1h
    said = max(0, tokens.input - heard), max(0, tokens.output - spoken)
    counts = (*said, tokens.cache_read, *written_for, heard, spoken, searches)
    total = 0
    for count, rate in zip(
        counts, (input, output, cache_read, written, written_1h, *others), strict=True
    ):
        if count and rate is None:
            return None
        total += count * (rate or 0)
    return total * over, under


def charges_of(name: str) -> Charges:
    """Return what the model *name* charges, by the configuration and the table.

    Never raises, whatever the text.
    """
    return Charges(*priced(find(name)), name)


def priced(found: FoundModel) -> tuple[list[Row], Mapping[str, str]]:
    """Return the rows of prices and the factors of the model that was *found*; nothing where they
    are not known."""
    if not found.config_key:
        record = record_of(found.table_name) if found.table_name else None
        if record is None or not _same_provider(found.provider_part, record["provider"]):
            return [], {}
        return record["prices"], record.get("factors", {})
    override = overrides.get(found.config_key) or {}
    given, like = override.get("prices"), override.get("like")
    if isinstance(given, dict):
        return [given], {}
    return priced(find(like) if isinstance(like, str) else below_config(found))


def below_config(found: FoundModel) -> FoundModel:
    """Return the table's record for exactly the overridden name: a similar name has no price for
    it."""
    name = name_in_table(found.config_key)
    return FoundModel(found.light, name if name.lower() == found.config_key else "")


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
    words = [word for word in provider_part.replace(":", "/").replace(".", "/").split("/") if word]
    return all(
        word in _ROUTES or provider.startswith((word, *_OTHER_NAMES.get(word, ())))
        for word in words
    )


def _day(text: str | None) -> Day | None:
    if not text:
        return None
    year, month, day = map(int, text.split("-"))
    return year, month, day


def _tiers(row: Row) -> list[tuple[int, _Rates, int]]:
    """Return the rates of *row* from each length of prompt on, the longest first, and what they are
    divided by."""
    return [(-1, *_whole(row)), *((tier["above"], *_whole(tier)) for tier in row.get("tiers", ()))][
        ::-1
    ]


def _whole(row: Row) -> tuple[_Rates, int]:
    """Return the rates of *row* as whole numbers over the same power of ten."""
    exact = [_exact(row[field]) if field in row else None for field in PRICE_FIELDS]
    unit = max([each[1] for each in exact if each is not None], default=1)
    return [None if each is None else each[0] * (unit // each[1]) for each in exact], unit


def _exact(number: str) -> tuple[int, int]:
    """Return *number*, written without exponent, as a whole number and the power of ten that it is
    divided by."""
    whole, _, places = number.partition(".")
    return int(whole + places), 10 ** len(places)
