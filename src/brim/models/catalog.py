"""The full record of a model, and the search through all of them."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from decimal import Decimal

from brim.errors import InputError
from brim.models import overrides
from brim.models.charges import all_records, below_config, priced, record_of
from brim.models.light import UNKNOWN_WINDOW, Found, find, input_within
from brim.models.record import Model, Price, Tier

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from brim.models.charges import Row


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
    names = {name.lower(): name for name in all_records()} | {key: key for key in overrides.names()}
    hits = [key for key in names if (fnmatchcase(key, wanted) if is_glob else wanted in key)]
    return [model(names[key]) for key in sorted(hits)]


def _from_table(found: Found) -> Model:
    if not found.table_name:
        return _unknown(found)
    light, record = found.light, record_of(found.table_name)
    rows, factors = priced(found)
    return Model(
        name=light.name,
        provider=record["provider"],
        mode=record["mode"],
        context_window=light.context_window,
        max_input=light.max_input,
        max_output=light.max_output,
        encoding=light.encoding,
        prices=_prices(rows),
        factors=_factors(factors),
        resolved=light.resolved,
        source=record["source"],
    )


def _from_config(found: Found) -> Model:
    like, light = (overrides.get(found.config_key) or {}).get("like"), found.light
    base = model(like) if isinstance(like, str) else _from_table(below_config(found))
    rows, factors = priced(found)
    return Model(
        name=light.name,
        provider=base.provider,
        mode=base.mode,
        context_window=light.context_window,
        max_input=light.max_input,
        max_output=light.max_output,
        encoding=light.encoding,
        prices=_prices(rows),
        factors=_factors(factors),
        resolved=True,
        source="config",
    )


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


def _prices(rows: Sequence[Row]) -> tuple[Price, ...]:
    starts = [date.fromisoformat(row["from"]) if row.get("from") else None for row in rows]
    ends = [*starts[1:], *([None] if rows else [])]
    return tuple(
        Price(since=start, until=end, tiers=tuple(_tier(tier) for tier in row.get("tiers", ())), **_rates(row))
        for row, start, end in zip(rows, starts, ends, strict=True)
    )


def _factors(factors: Mapping[str, str]) -> tuple[tuple[str, Decimal], ...]:
    return tuple((name, Decimal(factor)) for name, factor in factors.items())


def _tier(row: Row) -> Tier:
    return Tier(above=row["above"], **_rates(row))


def _rates(row: Row) -> dict[str, Any]:
    return {field: Decimal(row[field]) for field in overrides.PRICE_FIELDS if field in row}
