"""Reads dicts and objects alike, and never raises.

Objects are SDK classes, pydantic models, named tuples, plain namespaces.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

BLOB = 1024
"""A longer text without a space, in the letters of base64, is data and not prose."""
DEEPEST = 40
"""How deep structures are read; anything deeper becomes one mark."""
REPEATS = 10_000
"""How often structures may be read again: objects can refer to each other in more ways than there
is time for."""

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_=\r\n"
_MARK = "…"


def get(value: object, name: str) -> object:
    """Return the field *name* of a dict or object.

    ``None`` if it has none.
    """
    if type(value) is dict:
        return value.get(name)
    if value is None or isinstance(value, (str, bytes, int, float)) or is_sequence(value):
        return None
    try:
        if is_mapping(value):
            return value[name] if name in value else None  # type: ignore[index, operator] # noqa: SIM401
        return getattr(value, name, None)
    except Exception:  # a property of a stranger's class can raise anything
        return None


def first(value: object, *names: str) -> object:
    """Return the first of the fields *names* that isn't None: providers spell them in several
    ways."""
    return next((found for name in names if (found := get(value, name)) is not None), None)


def string(value: object) -> str:
    """Return *value* if it is text, else ``""``.

    A member of an enumeration of texts is its text.
    """
    if isinstance(value, str):
        return value if type(value) is str else str.__str__(value)
    return ""


def is_sequence(value: object) -> bool:
    """Whether *value* is a list of things, and not one thing with named fields."""
    return isinstance(value, (list, tuple)) and not hasattr(value, "_fields")


def is_mapping(value: object) -> bool:
    """Whether *value* is a dict or something like one."""
    try:
        return isinstance(value, dict) or hasattr(value, "keys")
    except Exception:
        return False


def pairs(value: object) -> Iterator[tuple[str, object]]:
    """Yield the fields of a dict or object that hold something."""
    try:
        found = list(_fields(value))
    except Exception:
        return
    for name, inner in found:
        if inner is not None:
            yield str(name), inner


def compact(value: object) -> str:
    """Return *value* as compact JSON, without what looks like base64 and is longer than
    ``BLOB``."""

    try:
        return json.dumps(
            _plain(value, (), {}), ensure_ascii=False, separators=(",", ":"), allow_nan=True
        )
    except (ValueError, TypeError, RecursionError):
        return ""


def is_blob(text: str) -> bool:
    """Whether *text* is data in base64; three samples of it decide."""
    if len(text) <= BLOB:
        return False
    if text.startswith("data:") and ";base64," in text[:200]:
        return True
    middle = len(text) // 2
    return not any(
        part.strip(_LETTERS) for part in (text[:256], text[middle : middle + 256], text[-256:])
    )


def _fields(value: object) -> Iterator[tuple[object, object]]:
    if isinstance(value, dict):
        yield from value.items()
    elif is_mapping(value):
        for name in value.keys():  # type: ignore[attr-defined] # noqa: SIM118
            yield name, value[name]  # type: ignore[index]
    elif hasattr(value, "_asdict"):
        yield from value._asdict().items()
    elif hasattr(value, "__dict__"):
        yield from (
            (name, inner) for name, inner in vars(value).items() if not name.startswith("_")
        )
    else:
        for name in getattr(type(value), "__slots__", ()):
            if not name.startswith("_"):
                yield name, getattr(value, name, None)


def _plain(value: object, above: tuple[int, ...], seen: dict[int, int]) -> object:
    if isinstance(value, str):
        return _MARK if is_blob(value) else string(value)
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, (bytes, bytearray)) or id(value) in above or len(above) >= DEEPEST:
        return _MARK
    if id(value) in seen:
        seen[0] = seen.get(0, 0) + 1
        if seen[0] > REPEATS:
            return _MARK
    seen[id(value)] = 1
    return _inside(value, above, seen)


def _inside(value: object, above: tuple[int, ...], seen: dict[int, int]) -> object:
    above = (*above, id(value))
    if isinstance(value, (list, tuple, set, frozenset)) and not hasattr(value, "_fields"):
        return [_plain(inner, above, seen) for inner in value]
    if isinstance(value, dict):
        return {str(name): _plain(inner, above, seen) for name, inner in value.items()}
    found = {name: _plain(inner, above, seen) for name, inner in pairs(value)}
    if found:
        return found
    try:
        return str(value)[:BLOB]
    except Exception:
        return _MARK
