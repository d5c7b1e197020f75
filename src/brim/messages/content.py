"""Texts in messages of any format, and changed copies of messages."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

from brim.messages.entries import EntryCall, Provider
from brim.tokens.messages.fields import compact, first, get, is_mapping, is_sequence, pairs, string
from brim.tokens.messages.frameworks import framework_of
from brim.tokens.messages.parts import RESULTS

DEEPEST = 20
"""How deep a value is searched for its text."""
MOST_LISTS = 200
"""How many lists of one message are read."""
BODIES = frozenset(("content", "text", "output", "thinking", "parts"))
"""Fields that hold what a message says."""
FRAME = frozenset(
    ("role", "type", "id", "tool_call_id", "tool_use_id", "call_id", "name", "is_error", "status")
)
"""Fields that mean nothing once the message is gone, if they hold a name, a number or a switch."""


def filled(value: object) -> bool:
    """Whether a field holds something. Not every object can say so itself."""
    return value is not None and (
        not isinstance(value, (str, bytes, list, tuple, dict, set)) or len(value) > 0
    )


def listed(value: Any) -> list[Any]:
    """Return the items of a list; nothing for anything else."""
    return list(value) if is_sequence(value) else []


def items_of(value: Any) -> list[Any]:
    """Return the items of a list.

    Anything else that holds something is one item.
    """
    return list(value) if is_sequence(value) else [value] if filled(value) else []


def call_of(value: object, inner: object = None) -> EntryCall:
    """Return the id of a call or result, and the tool that it, or *inner*, names."""
    return EntryCall(
        string(get(value, "id")), string(get(value if inner is None else inner, "name"))
    )


def user_message(provider: Provider, text: str, like: Any = None) -> Any:
    """Return *text* as a user message in the shape that *provider* takes, or as another one *like*
    it."""
    if framework_of(like) == "pydantic-ai":
        prompt = next(
            part
            for part in get(like, "parts")  # type: ignore[attr-defined]
            if get(part, "part_kind") == "user-prompt"
        )
        return with_fields(like, parts=[with_fields(prompt, content=text)])
    if framework_of(like) == "langchain":
        return with_fields(like, content=text, id=None)
    return (
        {"role": "user", "parts": [{"text": text}]}
        if provider == "gemini"
        else {"role": "user", "content": text}
    )


def text_of(message: object) -> str:
    """Return what is said in *message*: its texts, not its calls, results or reasoning."""
    return "\n".join(_texts(_content(message), set())).strip()


def result_text(message: object) -> str:
    """Return what tools said in the results in *message*."""
    content = _content(message)
    if (
        string(get(message, "role")) in ("tool", "function")
        or string(get(message, "type")) in RESULTS
    ):
        found = content if content is not None else get(message, "output")
        return (
            found if isinstance(found, str) else "\n".join(_texts(found, set())) or compact(found)
        )
    return "\n".join(filter(None, map(_result_part, listed(content))))


def _result_part(part: object) -> str:
    if string(get(part, "type")) in RESULTS:
        return "\n".join(_texts(get(part, "content"), set()))
    answer = first(part, "functionResponse", "function_response")
    return compact(get(answer, "response")) if answer is not None else ""


def _content(message: object) -> object:
    return message if isinstance(message, str) else first(message, "content", "parts")


def _texts(content: object, seen: set[int]) -> Iterator[str]:
    """Yield the texts in *content*; a list that stands in it twice, or in itself, is read once."""
    if isinstance(content, str):
        yield content
    elif is_sequence(content):
        if id(content) not in seen and len(seen) < MOST_LISTS:
            seen.add(id(content))
            for part in listed(content):
                yield from _texts(part, seen)
    elif content is not None and get(content, "thought") is not True:
        found = get(content, "text")
        if isinstance(found, str):
            yield found


def words(value: object, depth: int = 0) -> str:
    """Return everything that *value* says: its text if it holds nothing else, otherwise itself as
    JSON."""
    if value is None or isinstance(value, str):
        return value or ""
    if is_sequence(value) and depth < DEEPEST:
        return "\n".join(filter(None, (words(inner, depth + 1) for inner in listed(value))))
    fields = dict(pairs(value)) if not is_sequence(value) else {}
    held = {
        name
        for name, inner in fields.items()
        if name not in FRAME or not isinstance(inner, (str, int, float))
    }
    if len(held) == 1 and held <= BODIES and depth < DEEPEST:
        return words(fields[held.pop()], depth + 1)
    if not held and (fields or _has_fields(value)):
        return ""
    try:
        return json.dumps(
            value, ensure_ascii=False, default=lambda inner: dict(pairs(inner)) or str(inner)
        )
    except Exception:  # it refers to itself, or its class refuses to be read
        return compact(value)


def _has_fields(value: object) -> bool:
    """Whether *value* is made of fields, even if none of them is filled."""
    try:
        return is_mapping(value) or hasattr(value, "__dict__")
    except Exception:  # a class may refuse to be asked
        return True


def with_fields(value: Any, **fields: Any) -> Any:
    """Return a copy of *value* in which *fields* are set.

    *value* itself never changes.

    A dict gives a dict, an object an object of its class. What can't be copied or changed becomes a
    dict with the same fields.
    """
    try:
        changed = _copy(value, fields)
    except Exception:  # a class may refuse in its own way
        changed = None
    is_set = all(get(changed, name) is field for name, field in fields.items())
    return changed if changed is not None and is_set else {**dict(pairs(value)), **fields}


def without_field(value: Any, name: str) -> Any:
    """Return a copy of *value* without the field *name*.

    In an object it is None.
    """
    if not isinstance(value, dict):
        return with_fields(value, **{name: None})
    return {key: inner for key, inner in value.items() if key != name}


def is_structured(value: object) -> bool:
    """Whether *value* has fields at all."""
    primitive = (
        value is None
        or isinstance(value, (str, bytes, bytearray, int, float, complex))
        or is_sequence(value)
    )
    return not primitive and next(iter(pairs(value)), None) is not None


def _copy(value: Any, fields: dict[str, Any]) -> Any:
    if not is_structured(value) and not isinstance(value, dict):
        return dict(fields)
    if hasattr(type(value), "model_copy"):
        return value.model_copy(update=fields)
    if hasattr(value, "_replace"):
        return value._replace(**fields)
    changed = copy.copy(value)
    for name, field in fields.items():
        if is_mapping(changed):
            changed[name] = field
        else:
            object.__setattr__(
                changed, name, field
            )  # frozen dataclasses too: only this copy has been made
    return changed
