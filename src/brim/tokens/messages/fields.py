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
    if value is None or isinstance(value, str | bytes | int | float) or is_sequence(value):
        return None
    try:
        if not is_mapping(value):
            return getattr(value, name, None)
        if name in value:  # type: ignore[operator]
            return value[name]  # type: ignore[index]
    except Exception:  # a property of a stranger's class can raise anything
        return None
    return None


def first(value: object, *names: str) -> object:
    """Return the first of the fields *names* that isn't None: providers spell them in several
    ways."""
    for name in names:
        field = get(value, name)
        if field is not None:
            return field
    return None


def string(value: object) -> str:
    """Return *value* if it is text, else ``""``.

    A member of an enumeration of texts is its text.
    """
    if type(value) is str:
        return value
    if isinstance(value, str):
        return str.__str__(value)
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
        fields = list(_fields(value))
    except Exception:  # a property of a stranger's class can raise anything
        return
    for name, inner in fields:
        if inner is not None:
            yield str(name), inner


def items(value: object) -> list[object]:
    """Return what a list holds; nothing if *value* is no list."""
    if is_sequence(value):
        return list(value)  # type: ignore[call-overload, no-any-return]
    return []


def compact(value: object) -> str:
    """Return *value* as compact JSON, without what looks like base64 and is longer than
    ``BLOB``."""
    try:
        plain = _PlainWriter().plain(value, ())
        return json.dumps(plain, ensure_ascii=False, separators=(",", ":"), allow_nan=True)
    except (ValueError, TypeError, RecursionError):
        return ""


def is_blob(text: str) -> bool:
    """Whether *text* is data in base64; three samples of it decide."""
    if len(text) <= BLOB:
        return False
    if text.startswith("data:") and ";base64," in text[:200]:
        return True
    middle = len(text) // 2
    samples = (text[:256], text[middle : middle + 256], text[-256:])
    return not any(sample.strip(_LETTERS) for sample in samples)


def _fields(value: object) -> Iterator[tuple[object, object]]:
    if isinstance(value, dict):
        yield from value.items()
    elif is_mapping(value):
        for name in value.keys():  # type: ignore[attr-defined] # noqa: SIM118
            yield name, value[name]  # type: ignore[index]
    elif hasattr(value, "_asdict"):
        yield from value._asdict().items()
    elif hasattr(value, "__dict__"):
        for name, inner in vars(value).items():
            if not name.startswith("_"):
                yield name, inner
    else:
        for name in getattr(type(value), "__slots__", ()):
            if not name.startswith("_"):
                yield name, getattr(value, name, None)


class _PlainWriter:
    """Makes dicts, lists, texts and numbers of any value, for JSON."""

    def __init__(self) -> None:
        self._read: set[int] = set()
        self._repeats = 0

    def plain(self, value: object, above: tuple[int, ...]) -> object:
        """Return *value*, which is inside the values with the ids *above*."""
        if isinstance(value, str):
            if is_blob(value):
                return _MARK
            return string(value)
        if value is None or isinstance(value, bool | int | float):
            return value
        if isinstance(value, bytes | bytearray) or id(value) in above or len(above) >= DEEPEST:
            return _MARK
        if id(value) in self._read:
            self._repeats += 1
            if self._repeats > REPEATS:
                return _MARK
        self._read.add(id(value))
        return self._inside(value, (*above, id(value)))

    def _inside(self, value: object, above: tuple[int, ...]) -> object:
        if isinstance(value, set | frozenset) or is_sequence(value):
            return [self.plain(inner, above) for inner in value]  # type: ignore[attr-defined]
        if isinstance(value, dict):
            return {str(name): self.plain(inner, above) for name, inner in value.items()}
        fields = {name: self.plain(inner, above) for name, inner in pairs(value)}
        if fields:
            return fields
        try:
            return str(value)[:BLOB]
        except Exception:  # a stranger's class can raise anything
            return _MARK
