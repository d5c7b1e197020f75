"""Fields of a value that came as JSON and may hold anything.

Every getter goes down a path of keys: ``text(line, "message", "id")``. A value that is missing or
of another type is treated as absent.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

from brim.files import read_safely

_MOST = 10**12
_LARGEST_SETTINGS = 1 << 20
_NOTHING: Mapping[str, Any] = {}


def value(line: object, *path: str) -> Any:
    """Return what stands at *path*, or None."""
    for key in path:
        if type(line) is not dict and not isinstance(line, Mapping):
            return None
        line = line.get(key)
    return line


def first_value(line: object, *keys: str) -> Any:
    """Return the first value under *keys* that isn't empty, or None."""
    for key in keys:
        content = value(line, key)
        if content:
            return content
    return None


def text(line: object, *path: str) -> str:
    """Return the text at *path*, or an empty one."""
    for key in path:  # as ``value`` does; most of what is read is texts
        if type(line) is not dict and not isinstance(line, Mapping):
            return ""
        line = line.get(key)
    if isinstance(line, str):
        return line
    return ""


def first_text(line: object, *keys: str) -> str:
    """Return the text under the first of *keys* that has one, or an empty text."""
    for key in keys:
        words = text(line, key)
        if words:
            return words
    return ""


def mapping(line: object, *path: str) -> Mapping[str, Any]:
    """Return the mapping at *path*, or an empty one."""
    for key in path:  # as ``value`` does
        if type(line) is not dict and not isinstance(line, Mapping):
            return _NOTHING
        line = line.get(key)
    if type(line) is dict or isinstance(line, Mapping):
        return line
    return _NOTHING


def first_mapping(line: object, *keys: str) -> Mapping[str, Any]:
    """Return the mapping under the first of *keys* that has one with contents, or an empty one."""
    for key in keys:
        inner = mapping(line, key)
        if inner:
            return inner
    return _NOTHING


def items(line: object, *path: str) -> list[Any]:
    """Return the list at *path*, or an empty one."""
    parts = value(line, *path)
    if isinstance(parts, list):
        return parts
    return []


def first_items(line: object, *keys: str) -> list[Any]:
    """Return the list under the first of *keys* that has one with items, or an empty one."""
    for key in keys:
        parts = items(line, key)
        if parts:
            return parts
    return []


def flag(line: object, *path: str) -> bool:
    """Return whether ``true`` itself stands at *path*."""
    return value(line, *path) is True


def whole(line: object, *path: str) -> int | None:
    """Return the whole number from 0 to 10¹² at *path*, or None; ``true`` isn't a number."""
    number = value(line, *path)
    if type(number) is float and number.is_integer():
        number = int(number)
    if type(number) is int and 0 <= number <= _MOST:
        return number
    return None


def count(line: object, *path: str) -> int:
    """Return the whole number at *path*, 0 if there is none."""
    return whole(line, *path) or 0


def text_of(content: object) -> str:
    """Return the text of a message's *content*: a text, a text block, or a list of both. Other
    blocks are left out."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        # A list inside a list is left out: it could be nested without end.
        texts = [text_of(part) for part in content if not isinstance(part, list)]
        return "\n".join(filter(None, texts))
    return text(content, "text")


def parsed_line(line: bytes) -> Any:
    """Return what the JSON text *line* says, None if it isn't JSON.

    Half characters are replaced: they can't be written.

    >>> parsed_line(b'{"a": "\\\\ud83d"}')
    {'a': '\\ufffd'}
    """
    try:
        parsed = json.loads(line.decode("utf-8", "replace"))
        if b"\\ud" in line or b"\\uD" in line:
            return whole_characters(parsed)
        return parsed
    except (ValueError, RecursionError):
        return None


def whole_characters(parsed: Any) -> Any:
    """Return *parsed* with every half of a character that was cut in two replaced: no file takes a
    half."""
    if isinstance(parsed, str):
        if parsed.isascii():
            return parsed
        return parsed.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(parsed, list):
        return [whole_characters(part) for part in parsed]
    if isinstance(parsed, dict):
        return {whole_characters(key): whole_characters(part) for key, part in parsed.items()}
    return parsed


def json_file(path: str) -> Any:
    """Return what the settings file *path* says; None if it isn't there, or isn't plain JSON."""
    try:
        return json.loads(read_safely(os.path.realpath(path), at_most=_LARGEST_SETTINGS))
    except (OSError, ValueError, RecursionError):
        return None
