"""Takes fields out of a line that may hold anything: what is missing or of another type is as if it was not there.

Every getter goes down a path of keys: ``text(line, "message", "id")``.
"""

from __future__ import annotations

import math
from _collections_abc import Mapping

from brim.errors import InputError
from brim.models.usage import Tokens, read_usage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_MOST = 10**12
_MOST_DOLLARS = 10**9
_NOTHING: Mapping[str, Any] = {}


def value(line: object, *path: str) -> Any:
    """Return what stands at *path*, or None."""
    for key in path:
        if type(line) is not dict and not isinstance(line, Mapping):
            return None
        line = line.get(key)
    return line


def text(line: object, *path: str) -> str:
    """Return the text at *path*, or an empty one."""
    found = value(line, *path)
    return found if isinstance(found, str) else ""


def mapping(line: object, *path: str) -> Mapping[str, Any]:
    """Return the mapping at *path*, or an empty one."""
    found = value(line, *path)
    return found if isinstance(found, Mapping) else _NOTHING


def items(line: object, *path: str) -> list[Any]:
    """Return the list at *path*, or an empty one."""
    found = value(line, *path)
    return found if isinstance(found, list) else []


def flag(line: object, *path: str) -> bool:
    """Return whether ``true`` itself stands at *path*."""
    return value(line, *path) is True


def whole(line: object, *path: str) -> int | None:
    """Return the whole number from 0 to 10¹² at *path*, or None; ``true`` is no number."""
    return _whole(value(line, *path))


def count(line: object, *path: str) -> int:
    """Return the whole number at *path*, 0 if there is none."""
    return _whole(value(line, *path)) or 0


def micro_dollars(line: object, *path: str) -> int | None:
    """Return the dollars at *path* in millionths, half rounded up; None if it is no amount from 0 to a billion."""
    found = value(line, *path)
    if isinstance(found, bool) or not isinstance(found, int | float) or not 0 <= found <= _MOST_DOLLARS:
        return None
    return math.floor(found * 1_000_000 + 0.5)


def tokens(usage: object) -> Tokens | None:
    """Return what a provider's *usage* reports, counters that are none left out; None if nothing but zeros is left."""
    if not isinstance(usage, Mapping):
        return None
    try:
        read = read_usage(usage)
    except (InputError, RecursionError):  # a number that is a nested list without end cannot even be shown
        try:
            read = read_usage(_sound(usage))
        except (InputError, RecursionError):
            return None
    return read if read.prompt or read.output else None


def text_of(content: object) -> str:
    """Return the text of a message's *content*: a text, a text block, or a list of both. Other blocks are left out."""
    if isinstance(content, str):
        return content
    if isinstance(content, Mapping):
        found = content.get("text")
        return found if isinstance(found, str) else ""
    if isinstance(content, list):
        return "\n".join([part for part in map(text_of, _flat(content)) if part])
    return ""


def _flat(content: list[Any]) -> list[Any]:
    return [part for part in content if not isinstance(part, list)]


def _whole(found: object) -> int | None:
    if type(found) is float and found.is_integer():
        found = int(found)
    return found if type(found) is int and 0 <= found <= _MOST else None


def _sound(usage: Mapping[str, Any]) -> dict[str, Any]:
    """Return *usage* without the numbers that are no counts."""
    sound: dict[str, Any] = {}
    for key, found in usage.items():
        if isinstance(found, Mapping):
            sound[key] = {inner: part for inner, part in found.items() if _whole(part) is not None}
        elif isinstance(found, str) or _whole(found) is not None:
            sound[key] = found
    return {key: found for key, found in sound.items() if not (isinstance(found, str) and key.endswith("tokens"))}
