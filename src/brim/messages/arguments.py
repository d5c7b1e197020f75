"""Checks what callers give: numbers, lists, texts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from brim.errors import InputError
from brim.tokens.messages.fields import get, is_mapping, string

TOKENS = "a whole number of tokens"
TEXT_FIELDS = ("text", "content", "page_content")
"""Where a dict or an object has its text, by the frameworks that retrieve it."""


def whole_number(
    name: str, value: object, minimum: int = 0, description: str = "a whole number"
) -> int:
    """Return *value* if it is a whole number of at least *minimum*.

    Otherwise ``InputError`` names *name*.
    """
    if isinstance(value, int) and not isinstance(value, bool) and value >= minimum:
        return value

    raise InputError(f"{name} must be {description}, {minimum} or more, not {value!r}")


def is_share(value: object) -> bool:
    """Whether *value* is a number over 0 and at most 1."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False

    return 0 < value <= 1


def as_list(messages: object) -> list[Any]:
    """Return *messages* as a list.

    ``InputError`` if they aren't a list of messages.
    """
    if isinstance(messages, list):
        return messages

    if is_mapping(messages):
        raise InputError(
            "messages: expected a list of messages, not a request body: give its list of messages"
        )

    if not _is_collection(messages):
        kind = type(messages).__name__
        raise InputError(f"messages: expected a list of messages, not {kind}")

    return list(messages)  # type: ignore[call-overload, no-any-return]


def items_given(name: str, value: Any, *, single: bool = False) -> Sequence[Any]:
    """Return the argument *name* as a list, None as an empty one.

    With *single* one item is a list of one.
    """
    if value is None:
        return ()

    if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
        return value

    is_item = isinstance(value, str) or is_mapping(value) or text_of_item(value) is not None
    if single and is_item:
        return [value]

    if is_mapping(value) or not _is_collection(value):
        raise InputError(f"{name} must be a list, not {type(value).__name__}")

    items: Iterable[Any] = value
    return list(items)


def _is_collection(value: object) -> bool:
    """Whether *value* holds items; a text doesn't."""
    return hasattr(value, "__iter__") and not isinstance(value, (str, bytes, bytearray))


def text_of_item(item: object) -> str | None:
    """Return the text of a retrieved item; None if it has none."""
    if isinstance(item, str):
        return string(item)

    for field in TEXT_FIELDS:
        text = get(item, field)
        if isinstance(text, str):
            return string(text)

    return None


def text_given(name: str, value: object) -> str:
    """Return the argument *name* as a text.

    One of spaces alone says nothing, and providers refuse it.
    """
    if value is None:
        return ""

    if not isinstance(value, str):
        raise InputError(f"{name} must be a text, not {type(value).__name__}")

    if not value.strip():
        return ""

    return string(value)
