"""Reads a whole history."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from brim.errors import InputError
from brim.history.reading.anthropic import read_message
from brim.history.reading.chat import read_chat
from brim.history.reading.gemini import read_content
from brim.history.reading.responses import read_item
from brim.tokens.messages.fields import is_mapping

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from brim.history.reading.entry import Entry
    from brim.history.types import Provider

READERS: dict[Provider, Callable[[int, object], Entry]] = {
    "openai": read_chat,
    "responses": read_item,
    "anthropic": read_message,
    "gemini": read_content,
}


def as_list(messages: object) -> list[Any]:
    """Return *messages* as a list; ``InputError`` if they are no list of messages."""
    if isinstance(messages, list):
        return messages
    if isinstance(messages, (str, bytes, bytearray)) or is_mapping(messages) or not hasattr(messages, "__iter__"):
        what = "a request body: give its list of messages" if is_mapping(messages) else type(messages).__name__
        raise InputError(f"messages: expected a list of messages, not {what}")
    several: Iterable[Any] = messages
    return list(several)


def read(messages: Sequence[Any], provider: Provider, only: Sequence[int] | None = None) -> list[Entry]:
    """Return what each of *messages*, or of those at the places *only*, holds, in the format of *provider*."""
    reader = READERS[provider]
    return [reader(index, messages[index]) for index in (range(len(messages)) if only is None else only)]
