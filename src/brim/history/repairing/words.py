"""Says what was in a message that had to go: nothing leaves without a trace."""

from __future__ import annotations

import json

from brim.tokens.messages.fields import compact, is_mapping, is_sequence, pairs

BODIES = ("content", "text", "output", "thinking", "parts")
"""Fields that hold what a message says."""
FRAME = frozenset(("role", "type", "id", "tool_call_id", "tool_use_id", "call_id", "name", "is_error", "status"))
"""Fields that say nothing more once the message is gone, if they hold a name, a number or a switch."""
DEEPEST = 20


def words(value: object, depth: int = 0) -> str:
    """Return everything that *value* says: its text if it holds nothing else, or else itself as JSON."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if is_sequence(value) and depth < DEEPEST:
        return "\n".join(filter(None, (words(inner, depth + 1) for inner in value)))  # type: ignore[attr-defined]
    fields = dict(pairs(value)) if not is_sequence(value) else {}
    held = {name for name, inner in fields.items() if name not in FRAME or not isinstance(inner, (str, int, float))}
    if len(held) == 1 and held <= set(BODIES) and depth < DEEPEST:
        return words(fields[held.pop()], depth + 1)
    return _json(value) if held or not (fields or _has_fields(value)) else ""


def _has_fields(value: object) -> bool:
    """Whether *value* is made of fields, even if none of them is filled."""
    try:
        return is_mapping(value) or hasattr(value, "__dict__")
    except Exception:  # a stranger's class refuses to be asked
        return True


def _json(value: object) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, default=_plain)
    except Exception:  # it refers to itself, or a stranger's class refuses to be read
        return compact(value)


def _plain(value: object) -> object:
    return dict(pairs(value)) or str(value)
