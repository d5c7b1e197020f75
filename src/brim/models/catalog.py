"""The full record of a model, and the search through all of them."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date
from decimal import Decimal
from functools import cache

from brim.errors import InputError
from brim.models import overrides
from brim.models.files import read
from brim.models.light import UNKNOWN_WINDOW, Found, find, input_within
from brim.models.record import Model, Price, Tier

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Names that say how a request travels, not who charges for it; and providers that go by several names.
_ROUTES = frozenset({"openrouter", "litellm_proxy", "models", "publishers", "converse", "invoke", "responses"})
_OTHER_NAMES = {"google": ("gemini", "vertex_ai"), "x-ai": ("xai",), "moonshotai": ("moonshot",), "z-ai": ("zai",)}


def model(name: str, *, context_window: int | None = None) -> Model:
    """Return all that is known about the model *name*; a name that nobody knows gives ``resolved=False``.

    *context_window* is what the caller knows better. Otherwise the window is the configuration's, else the one that was
    reported, else the table's.

    >>> print(model("gpt-5"))
    gpt-5: 400,000 tokens (272,000 in), 128,000 out; o200k_base; $1.25 in, $10 out, $0.125 cache read per million tokens
    """
    found = find(name)
    full = _from_config(found) if found.config_key else _from_table(found)
    if context_window is None:
        return full
    if type(context_window) is not int or context_window < 1:
        raise InputError(f"context_window must be a positive whole number, not {context_window!r}")
    return replace(full, context_window=context_window, max_input=input_within(found.light, context_window))


def models(pattern: str | None = None) -> list[Model]:
    """Return the models whose name contains *pattern*, or matches it if it has ``*``, ``?`` or ``[``; else all."""
    from fnmatch import fnmatchcase

    wanted = (pattern or "").strip().lower()
    is_glob = any(sign in wanted for sign in "*?[")
    names = {name.lower(): name for name in _all_records()} | {key: key for key in overrides.names()}
    hits = [key for key in names if (fnmatchcase(key, wanted) if is_glob else wanted in key)]
    return [model(names[key]) for key in sorted(hits)]


def _from_table(found: Found) -> Model:
    if not found.table_name:
        return _unknown(found)
    light, record = found.light, _record(found.table_name)
    priced = _same_provider(found.provider_part, record["provider"])
    return Model(
        name=light.name,
        provider=record["provider"],
        mode=record["mode"],
        context_window=light.context_window,
        max_input=light.max_input,
        max_output=light.max_output,
        encoding=light.encoding,
        prices=_prices(record["prices"]) if priced else (),
        factors=tuple((key, Decimal(value)) for key, value in record.get("factors", {}).items()) if priced else (),
        resolved=light.resolved,
        source=record["source"],
    )


def _from_config(found: Found) -> Model:
    override, light = overrides.get(found.config_key) or {}, found.light
    like = override.get("like")
    base = model(like) if isinstance(like, str) else _below_config(found)
    given = override.get("prices")
    prices = (Price(**given),) if isinstance(given, dict) else base.prices
    return Model(
        name=light.name,
        provider=base.provider,
        mode=base.mode,
        context_window=light.context_window,
        max_input=light.max_input,
        max_output=light.max_output,
        encoding=light.encoding,
        prices=prices,
        factors=() if isinstance(given, dict) else base.factors,
        resolved=True,
        source="config",
    )


def _below_config(found: Found) -> Model:
    """Return what the table has under the overridden name itself: a name that only looks like it lends no price."""
    name = next((name for name in _all_records() if name.lower() == found.config_key), "")
    return _from_table(Found(found.light, name))


def _unknown(found: Found) -> Model:
    light = found.light
    return Model(
        name=light.name,
        provider="",
        mode="",
        context_window=light.context_window,
        max_input=light.max_input,
        max_output=light.max_output,
        encoding=light.encoding,
        prices=(),
        resolved=False,
        source="default" if light.context_window == UNKNOWN_WINDOW and light.max_output is None else "family",
    )


def _same_provider(provider_part: str, provider: str) -> bool:
    """Tell whether what stood before the name lets the price stand: another host or region may charge otherwise."""
    if provider_part.startswith("arn:aws"):
        provider_part = "bedrock/" + provider_part.partition("/")[2]
    words = [word for word in provider_part.replace(":", "/").replace(".", "/").split("/") if word]
    return all(word in _ROUTES or provider.startswith((word, *_OTHER_NAMES.get(word, ()))) for word in words)


def _prices(rows: list[dict[str, Any]]) -> tuple[Price, ...]:
    starts = [date.fromisoformat(row["from"]) if row["from"] else None for row in rows]
    ends = [*starts[1:], *([None] if rows else [])]
    return tuple(
        Price(since=start, until=end, tiers=tuple(_tier(tier) for tier in row.get("tiers", ())), **_rates(row))
        for row, start, end in zip(rows, starts, ends, strict=True)
    )


def _tier(row: dict[str, Any]) -> Tier:
    return Tier(above=row["above"], **_rates(row))


def _rates(row: dict[str, Any]) -> dict[str, Any]:
    return {field: Decimal(row[field]) for field in overrides.PRICE_FIELDS if field in row}


def _record(name: str) -> dict[str, Any]:
    """Read one record: the table has one line per model, so that one is parsed and not four thousand."""
    if _all_records.cache_info().currsize:
        return _all_records()[name]
    table = read("models.json")
    start = table.index(b"\n" + json.dumps(name).encode() + b": ") + 1
    line = table[start : table.index(b"\n", start)].rstrip(b",")
    record: dict[str, Any] = json.loads(b"{" + line + b"}")[name]
    return record


@cache
def _all_records() -> dict[str, dict[str, Any]]:
    records: dict[str, dict[str, Any]] = json.loads(read("models.json"))["models"]
    return records
