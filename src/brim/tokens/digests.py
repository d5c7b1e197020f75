"""Identifies messages by what the provider sees of them, so that a later process knows them again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import blake2b
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

__all__ = ["digests"]


def digests(messages: Sequence[Any], tools: Sequence[Any] | None, model: str) -> Iterator[str]:
    """Yield the digest of each prefix, shortest first; each takes in the one before it, so each message is read once.

    It ends before the first message that cannot be written down (it holds itself, or an object whose fields cannot be
    seen): nothing after it is known, which costs an anchor and never gives a wrong one.
    """
    try:
        rolling = _hash(model.encode("utf-8", "surrogatepass"), _canonical(list(tools or ())))
        for message in messages:
            rolling = _hash(rolling, _canonical(message))
            yield rolling.hex()
    except (RecursionError, TypeError, ValueError):
        return


def _hash(before: bytes, data: bytes) -> bytes:
    return blake2b(data, digest_size=16, key=blake2b(before, digest_size=16).digest()).digest()


def _canonical(value: object) -> bytes:
    """Return *value* as bytes that are equal when the provider sees the same."""
    return json.dumps(_plain(value), sort_keys=True, separators=(",", ":")).encode()


def _plain(value: object) -> object:
    """Return *value* without what makes no difference to the provider.

    A dict and an object with the same fields are the same; a field that is None is one that is missing; a text is a
    list of one text part; and a cache mark, which clients move along with every request, is nothing.
    """
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, bytes | bytearray):
        return {"bytes": bytes(value).hex()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    fields = _fields(value)
    plain = {str(key): _plain(item) for key, item in fields.items() if item is not None and key != "cache_control"}
    if "role" in plain and isinstance(plain.get("content"), str):
        plain["content"] = [{"type": "text", "text": plain["content"]}]
    return plain


def _fields(value: object) -> Mapping[str, object]:
    """Return what *value* holds; ``TypeError`` if that cannot be seen, as a guess could take two messages for one."""
    if isinstance(value, Mapping):
        return value
    dump = getattr(value, "model_dump", None)
    if callable(dump) and isinstance(dumped := dump(), Mapping):
        return dumped
    names = [name for kind in type(value).__mro__ for name in _names(kind)]
    fields = {name: getattr(value, name) for name in names if hasattr(value, name)} | getattr(value, "__dict__", {})
    if not fields:
        raise TypeError(f"cannot see into {type(value).__name__}")
    return fields


def _names(kind: type) -> Sequence[str]:
    slots = kind.__dict__.get("__slots__", ())
    return (slots,) if isinstance(slots, str) else tuple(slots)
