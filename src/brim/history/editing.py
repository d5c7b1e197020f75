"""Copies of messages with something changed in them; the caller's own object is never touched."""

from __future__ import annotations

import copy
from typing import Any

from brim.tokens.messages.fields import is_mapping


def with_field(message: Any, name: str, value: object) -> Any:
    """Return a copy of *message*, a dict or an object, whose field *name* is *value*."""
    if isinstance(message, dict):
        return {**message, name: value}
    if hasattr(message, "model_copy"):  # pydantic: the SDKs' own classes
        return message.model_copy(update={name: value})
    if hasattr(message, "_replace"):  # a named tuple
        return message._replace(**{name: value})
    other = copy.copy(message)
    if is_mapping(other):
        other[name] = value
    else:
        object.__setattr__(other, name, value)  # frozen dataclasses too: the copy is not shared yet
    return other
