"""Checks what the configuration says about models, and makes it known to lookups."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation

from brim.errors import ConfigError
from brim.models import light, overrides
from brim.models.names import clean, spellings, split_window
from brim.models.overrides import Override

PRICE_FIELDS = (
    "input",
    "output",
    "cache_read",
    "cache_write_5m",
    "cache_write_1h",
    "input_audio",
    "output_audio",
    "web_search",
)
"""The prices that a model has, in USD per million tokens; of ``web_search`` per million
searches."""

_SIZES = ("context_window", "max_input", "max_output")
_KEYS = (*_SIZES, "encoding", "like", "prices")

_LONGEST_PRICE = 40
"""Characters of a price."""


def use(models: Mapping[str, Mapping[str, object]]) -> None:
    """Set the configuration's models for the whole process.

    *models* replace the ones set before.

    >>> prices = {"input": "2.5", "output": 10}
    >>> use({"my-model": {"like": "gpt-4o", "context_window": 300_000, "prices": prices}})
    >>> use({})
    """
    by_key = {}
    for name, fields in _items(models, "models"):
        by_key[name.strip().lower()] = _checked(name, fields)
    for key, override in by_key.items():
        _check_like(key, override, by_key)
    overrides.put(by_key)


def _checked(name: str, fields: object) -> Override:
    override: Override = {"name": name.strip()}
    for key, value in _items(fields, f"models.{name}"):
        where = f"models.{name}.{key}"
        if key in _SIZES:
            override[key] = _size(value, where)
        elif key == "encoding":
            override[key] = _encoding(value, where)
        elif key == "like":
            override[key] = _model_name(value, where)
        elif key == "prices":
            override[key] = _prices(value, where)
        else:
            raise ConfigError(f"{where} is not a setting; there are {', '.join(_KEYS)}")
    return override


def _size(value: object, where: str) -> int:
    if type(value) is not int or value < 1:
        raise _wrong(where, "a positive whole number", value)
    return value


def _encoding(value: object, where: str) -> str:
    encoding = _model_name(value, where)
    if encoding not in light.known_encodings():
        encodings = ", ".join(sorted(light.known_encodings()))
        raise _wrong(where, f"one of {encodings}", value)
    return encoding


def _model_name(value: object, where: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise _wrong(where, "a name", value)
    return value.strip()


def _check_like(key: str, override: Override, configured: Mapping[str, Override]) -> None:
    """Refuse a circle: ``like`` may name another override, but in the end a model of the table."""
    passed = {key}
    next_key = _means(override.get("like"), configured)
    while next_key:
        if next_key in passed:
            raise ConfigError(f"models.{override['name']}.like leads back to itself")
        passed.add(next_key)
        next_key = _means(configured[next_key].get("like"), configured)


def _means(like: object, configured: Mapping[str, Override]) -> str:
    """Return the override that the name *like* will be resolved to; empty if it is a model of the
    table, or unknown."""
    if not isinstance(like, str):
        return ""
    name = clean(like)
    if name not in configured:
        name, _ = split_window(name)
    for spelling, _ in spellings(name):
        if spelling in configured:
            return spelling
        if light.name_in_table(spelling):
            break
    return ""


def _items(value: object, where: str) -> list[tuple[str, object]]:
    if not isinstance(value, Mapping):
        raise _wrong(where, "a mapping", value)
    for key in value:
        if not isinstance(key, str) or not key.strip():
            raise _wrong(where, "names as keys", key, "have")
    return list(value.items())


def _prices(value: object, where: str) -> dict[str, object]:
    """Return the prices as the table has them: texts, without exponent."""
    prices: dict[str, object] = {}
    for key, price in _items(value, where):
        if key not in PRICE_FIELDS:
            raise ConfigError(f"{where}.{key} is not a price; there are {', '.join(PRICE_FIELDS)}")
        if price is None:
            continue
        prices[key] = _number(price)
        if not prices[key]:
            raise _wrong(f"{where}.{key}", "dollars per million tokens, 0 or more", price)
    return prices


def _number(price: object) -> str:
    """Return *price* in digits if it is at least 0 and less than a million, else an empty text."""
    text = str(price)
    is_price = isinstance(price, int | float | str | Decimal) and not isinstance(price, bool)
    if not is_price or len(text) > _LONGEST_PRICE:
        return ""
    if re.fullmatch(r"[0-9]{1,6}(\.[0-9]+)?", text):
        return text  # as it is written: a hook needn't load Decimal's context for that
    try:
        number = Decimal(text)
    except InvalidOperation:
        return ""
    # A smaller one would be as long as a book when written out.
    if number.is_finite() and number.adjusted() >= -_LONGEST_PRICE and 0 <= number < 10**6:
        return f"{number:f}"
    return ""


def _wrong(where: str, wanted: str, value: object, verb: str = "be") -> ConfigError:
    text = repr(value)
    if isinstance(value, str):
        text = f'"{value}"'
    if len(text) > 60:
        text = f"{text[:57]}..."
    return ConfigError(f"{where} must {verb} {wanted}, not {text}")
