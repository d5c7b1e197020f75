"""The texts inside a result: a text itself, the texts of its parts, or every text in the JSON of a response."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from brim.history.editing import with_field
from brim.tokens.messages.fields import get, is_sequence

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

DEEPEST = 20
"""Texts that lie deeper are left alone."""


def texts_in(value: Any) -> list[str]:
    """Return the texts in *value*, in order; what stands in it twice, or in itself, is looked at once."""
    found: list[str] = []

    def keep(text: str) -> str:
        found.append(text)
        return text

    _walk(value, keep, set(), 0)
    return found


def with_texts(value: Any, texts: Iterator[str]) -> Any:
    """Return a copy of *value* with *texts*, in the order of ``texts_in``, in place of its own."""
    return _walk(value, lambda _: next(texts), set(), 0)


def _walk(value: Any, change: Callable[[str], str], seen: set[int], depth: int) -> Any:
    if isinstance(value, str):
        return change(value)
    if depth >= DEEPEST or id(value) in seen:
        return value
    if is_sequence(value):
        seen.add(id(value))
        new = [_walk(inner, change, seen, depth + 1) for inner in value]
        # A part that was emptied goes: providers refuse a text without a letter.
        return [part for part, old in zip(new, value, strict=True) if not (get(part, "text") == "" != get(old, "text"))]
    if isinstance(value, dict) and "type" not in value:  # the caller's own JSON; of a part only its text is the result
        seen.add(id(value))
        return {name: _walk(inner, change, seen, depth + 1) for name, inner in value.items()}
    text = get(value, "text")
    return with_field(value, "text", change(text)) if isinstance(text, str) else value
