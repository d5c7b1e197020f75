"""What overrides the table of models: the configuration, and windows that agents or providers
reported.

The configuration's values are checked when they are set, so that lookups needn't check them.

The table says what a model can hold. A status line, a run's result or an overflow error says what
this account, host and settings really give. Such a window is stored under the name that it was
reported for: in memory, unless ``remember_in`` is given a store that outlives the process.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from functools import cache
from typing import Protocol

from brim.errors import ConfigError, InputError
from brim.files import data_rows
from brim.models import light
from brim.models.names import clean, spellings, split_window

Override = dict[str, object]

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

_overrides: dict[str, Override] = {}


def use(overrides: Mapping[str, Mapping[str, object]]) -> None:
    """Set the configuration's models for the whole process.

    *overrides* replace the ones set before.

    >>> use({"my-model": {"like": "gpt-4o", "context_window": 300_000, "prices": {"input": "2.5", "output": 10}}})
    >>> use({})
    """
    checked = {
        name.strip().lower(): _checked(name, fields) for name, fields in _items(overrides, "models")
    }
    for key, override in checked.items():
        _check_like(key, override, checked)
    _overrides.clear()
    _overrides.update(checked)


def get(key: str) -> Override | None:
    """Return the override for the lower-case name *key*.

    Its ``name`` is the name as it was written.
    """
    return _overrides.get(key)


def names() -> list[str]:
    """Return the lower-case names of all overrides."""
    return sorted(_overrides)


def _checked(name: str, fields: object) -> Override:
    override: Override = {"name": name.strip()}
    for key, value in _items(fields, f"models.{name}"):
        where = f"models.{name}.{key}"
        if key not in _KEYS:
            raise ConfigError(f"{where} is not a setting; there are {', '.join(_KEYS)}")
        if key == "prices":
            value = _prices(value, where)  # noqa: PLW2901
        elif key in _SIZES and (type(value) is not int or value < 1):
            raise _wrong(where, "a positive whole number", value)
        elif key not in _SIZES:
            if not isinstance(value, str) or not value.strip():
                raise _wrong(where, "a name", value)
            value = value.strip()  # noqa: PLW2901
        if key == "encoding" and value not in light.known_encodings():
            encodings = ", ".join(sorted(light.known_encodings()))
            raise _wrong(where, f"one of {encodings}", value)
        override[key] = value
    return override


def _check_like(key: str, override: Override, others: Mapping[str, Override]) -> None:
    """Refuse a circle: ``like`` may name another override, but in the end a model of the table."""
    seen, next_key = {key}, _means(override.get("like"), others)
    while next_key:
        if next_key in seen:
            raise ConfigError(f"models.{override['name']}.like leads back to itself")
        seen.add(next_key)
        next_key = _means(others[next_key].get("like"), others)


def _means(like: object, others: Mapping[str, Override]) -> str:
    """Return the override that the name *like* will be resolved to; empty if it is a model of the
    table, or unknown."""
    if not isinstance(like, str):
        return ""
    whole = clean(like)
    for spelling, _ in spellings(whole if whole in others else split_window(whole)[0]):
        if spelling in others:
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
    text = "" if isinstance(price, bool) else str(price)
    whole, _, places = text.partition(".")
    is_plain = whole.isdecimal() and (places.isdecimal() or whole == text) and text.isascii()
    if isinstance(price, int | float | str) and is_plain and len(whole) <= 6 and len(text) <= 40:
        return text

    try:
        number = Decimal(text) if isinstance(price, int | float | str | Decimal) else Decimal("nan")
    except InvalidOperation:
        return ""
    if not number.is_finite() or number.adjusted() < -40:
        # Written out, it would be as long as a book.
        return ""
    return f"{number:f}" if 0 <= number < 10**6 and len(text) <= 40 else ""


def _wrong(where: str, wanted: str, value: object, verb: str = "be") -> ConfigError:
    text = f'"{value}"' if isinstance(value, str) else repr(value)
    return ConfigError(
        f"{where} must {verb} {wanted}, not {text if len(text) <= 60 else text[:57] + '...'}"
    )


# Reported windows ---------------------------------------------------------------------------------


class WindowStore(Protocol):
    """A store for reported windows.

    Names come in lower case. An unknown name gives ``None``, never an error.
    """

    def get(self, name: str, /) -> int | None:
        """Return the window that was last put for *name*."""

    def put(self, name: str, tokens: int, /) -> None:
        """Store *tokens* as the window of *name*."""


class MemoryWindowStore(dict[str, int]):
    """Reported windows for as long as the process runs."""

    def put(self, name: str, tokens: int, /) -> None:
        """Store *tokens* as the window of *name*."""
        self[name] = tokens

    def __repr__(self) -> str:
        return f"MemoryWindowStore({super().__repr__()})"


_store: WindowStore = MemoryWindowStore()


def remember_in(store: WindowStore) -> WindowStore:
    """Let ``model`` and ``lookup`` use *store*; return the previous one."""
    global _store
    before, _store = _store, store
    return before


def report_window(name: str, tokens: int, store: WindowStore | None = None) -> None:
    """Remember a window of *tokens* for the model *name*.

    Uses *store*, or else the store of this process.
    """
    if type(tokens) is not int or tokens < 1:
        raise InputError(
            f"the reported window of {name[:80]!r} must be a positive whole number, not {tokens!r}"
        )
    key = clean(name)
    if key:
        (_store if store is None else store).put(key, tokens)


def window_of(key: str) -> int:
    """Return the window reported for the lower-case name *key*, or 0."""
    return (_store.get(key) or 0) if key else 0


_SMALLEST, _LARGEST = 256, 100_000_000
_LONGEST_ERROR = 20_000


def window_from_error(text: str) -> int | None:
    """Return the token limit that an overflow error names.

    Returns ``None`` if *text* isn't such an error.

    The texts of Anthropic, OpenAI, Gemini, xAI, GitHub Copilot, Kimi, Alibaba, vLLM, OpenRouter, LM
    Studio, llama.cpp and Mistral are known, each with its source in ``data/overflow.tsv``. OpenAI's
    *configured limit* is the maximum input of a model that splits its window, not the sum.

    >>> window_from_error("prompt is too long: 210000 tokens > 200000 maximum")
    200000
    """
    if not isinstance(text, str):
        return None
    for pattern in _patterns():
        found = pattern.search(text[:_LONGEST_ERROR])
        digits = found[1].replace(",", "") if found else ""
        if 0 < len(digits) < 10 and _SMALLEST <= int(digits) <= _LARGEST:
            return int(digits)
    return None


@cache
def _patterns() -> tuple[re.Pattern[str], ...]:

    return tuple(
        re.compile(row[0], re.IGNORECASE | re.ASCII) for row in data_rows(__file__, "overflow.tsv")
    )
