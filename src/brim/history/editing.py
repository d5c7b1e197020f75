"""Copies of messages with something changed in them; the caller's own object is never touched."""

from __future__ import annotations

import copy
from typing import Any

from brim.tokens.messages.fields import get, is_mapping, is_sequence, pairs


def with_fields(value: Any, **fields: Any) -> Any:
    """Return a copy of *value* in which *fields* are set.

    A dict gives a dict, an object an object of its class. What cannot be copied or changed becomes a dict with the
    same fields.
    """
    try:
        changed = _copy(value, fields)
    except Exception:  # a stranger's class may refuse in its own way
        changed = None
    is_set = all(get(changed, name) is field for name, field in fields.items())
    return changed if changed is not None and is_set else {**dict(pairs(value)), **fields}


def with_field(value: Any, name: str, field: object) -> Any:
    """Return a copy of *value* whose field *name* is *field*."""
    return with_fields(value, **{name: field})


def without_field(value: Any, name: str) -> Any:
    """Return a copy of *value* that does not have the field *name*; in an object it is None."""
    if isinstance(value, dict):
        changed = copy.copy(value)
        changed.pop(name, None)
        return changed
    return with_fields(value, **{name: None})


def is_structured(value: object) -> bool:
    """Whether *value* has fields at all."""
    primitive = value is None or isinstance(value, (str, bytes, bytearray, int, float, complex)) or is_sequence(value)
    return not primitive and next(iter(pairs(value)), None) is not None


def _copy(value: Any, fields: dict[str, Any]) -> Any:
    if isinstance(value, dict):
        changed = copy.copy(value)
        changed.update(fields)
        return changed
    if not is_structured(value):
        return dict(fields)
    if hasattr(type(value), "model_copy"):
        return value.model_copy(update=fields)
    if hasattr(value, "_replace"):
        return value._replace(**fields)
    changed = copy.copy(value)
    if is_mapping(changed):
        for name, field in fields.items():
            changed[name] = field
        return changed
    for name, field in fields.items():
        object.__setattr__(changed, name, field)  # frozen dataclasses too: the copy is nobody's yet
    return changed
