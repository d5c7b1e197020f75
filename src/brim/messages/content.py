"""Texts in messages of any format, and changed copies of messages."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Sequence
from dataclasses import is_dataclass
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
    if isinstance(value, (str, bytes, list, tuple, dict, set)):
        return len(value) > 0

    return value is not None


def listed(value: Any) -> list[Any]:
    """Return the items of a list; nothing for anything else."""
    if is_sequence(value):
        return list(value)

    return []


def items_of(value: Any) -> list[Any]:
    """Return the items of a list.

    Anything else that holds something is one item.
    """
    if is_sequence(value):
        return list(value)

    if filled(value):
        return [value]

    return []


def call_of(value: object, inner: object = None) -> EntryCall:
    """Return the id of a call or result, and the tool that it, or *inner*, names."""
    if inner is None:
        inner = value

    return EntryCall(string(get(value, "id")), string(get(inner, "name")))


def user_message(provider: Provider, text: str, like: Any = None) -> Any:
    """Return *text* as a user message in the shape that *provider* takes, or as another one *like*
    it."""
    framework = framework_of(like)
    if framework == "langchain":
        return with_fields(like, content=text, id=None)

    if framework == "pydantic-ai":
        parts = listed(get(like, "parts"))
        prompt = next(part for part in parts if get(part, "part_kind") == "user-prompt")
        return with_fields(like, parts=[with_fields(prompt, content=text)])

    if framework == "haystack":
        return with_fields(like, _content=[with_fields(like._content[0], text=text)])

    if framework == "converse":
        return {"role": "user", "content": [{"text": text}]}

    if provider == "gemini":
        return {"role": "user", "parts": [{"text": text}]}

    return {"role": "user", "content": text}


# Texts


def text_of(message: object) -> str:
    """Return what is said in *message*: its texts, not its calls, results or reasoning."""
    return _text_in(_content(message)).strip()


def result_text(message: object) -> str:
    """Return what tools said in the results in *message*."""
    content = _content(message)
    if not _is_result(message):
        texts = (_text_of_part(part) for part in listed(content))
        return "\n".join(filter(None, texts))

    if content is None:
        content = get(message, "output")

    if isinstance(content, str):
        return content

    return _text_in(content) or compact(content)


def _is_result(message: object) -> bool:
    """Whether the whole *message* is a result."""
    if string(get(message, "role")) in ("tool", "function"):
        return True

    return string(get(message, "type")) in RESULTS


def _text_of_part(part: object) -> str:
    """Return what a tool said in *part*; empty if it is no result."""
    if string(get(part, "type")) in RESULTS:
        return _text_in(get(part, "content"))

    answer = first(part, "functionResponse", "function_response")
    if answer is None:
        return ""

    return compact(get(answer, "response"))


def _content(message: object) -> object:
    if isinstance(message, str):
        return message

    return first(message, "content", "parts")


def _text_in(content: object) -> str:
    return "\n".join(_texts(content, set()))


def _texts(content: object, seen_lists: set[int]) -> Iterator[str]:
    """Yield the texts in *content*; a list that stands in it twice, or in itself, is read once."""
    if isinstance(content, str):
        yield content
    elif is_sequence(content):
        if id(content) in seen_lists or len(seen_lists) >= MOST_LISTS:
            return

        seen_lists.add(id(content))
        for part in listed(content):
            yield from _texts(part, seen_lists)
    elif get(content, "thought") is not True:
        text = get(content, "text")
        if isinstance(text, str):
            yield text


def words(value: object, depth: int = 0) -> str:
    """Return everything that *value* says: its text if it holds nothing else, otherwise itself as
    JSON."""
    if value is None or isinstance(value, str):
        return value or ""

    if is_sequence(value) and depth >= DEEPEST:
        return _as_json(value)

    if is_sequence(value):
        texts = (words(inner, depth + 1) for inner in listed(value))
        return "\n".join(filter(None, texts))

    fields = dict(pairs(value))
    meaningful = [name for name in fields if not _is_frame(name, fields[name])]
    if not meaningful and (fields or _has_fields(value)):
        return ""

    if len(meaningful) == 1 and meaningful[0] in BODIES and depth < DEEPEST:
        return words(fields[meaningful[0]], depth + 1)

    return _as_json(value)


def _is_frame(name: str, value: object) -> bool:
    return name in FRAME and isinstance(value, (str, int, float))


def _as_json(value: object) -> str:
    def default(inner: object) -> object:
        return dict(pairs(inner)) or str(inner)

    try:
        return json.dumps(value, ensure_ascii=False, default=default)
    except Exception:  # it refers to itself, or its class refuses to be read
        return compact(value)


def _has_fields(value: object) -> bool:
    """Whether *value* is made of fields, even if none of them is filled."""
    try:
        return is_mapping(value) or hasattr(value, "__dict__")
    except Exception:  # a class may refuse to be asked
        return True


# Changed copies


def body_field(message: object, names: Sequence[str]) -> str:
    """Return which of the fields *names* of *message* holds its blocks; else ``content``."""
    for name in names:
        if get(message, name) is not None:
            return name

    return "content"


def with_fields(value: Any, **fields: Any) -> Any:
    """Return a copy of *value* in which *fields* are set.

    *value* itself never changes. A dict gives a dict, an object an object of its class. What can't
    be copied or changed becomes a dict with the same fields.
    """
    try:
        changed = _copy(value, fields)
    except Exception:  # a class may refuse in its own way
        changed = None

    if changed is not None and all(get(changed, name) is fields[name] for name in fields):
        return changed

    return {**dict(pairs(value)), **fields}


def without_field(value: Any, name: str) -> Any:
    """Return a copy of *value* without the field *name*.

    In an object it is None.
    """
    if isinstance(value, dict):
        return {key: inner for key, inner in value.items() if key != name}

    return with_fields(value, **{name: None})


def is_structured(value: object) -> bool:
    """Whether *value* has fields at all."""
    if value is None or is_sequence(value):
        return False

    if isinstance(value, (str, bytes, bytearray, int, float, complex)):
        return False

    return next(iter(pairs(value)), None) is not None


def _copy(value: Any, fields: dict[str, Any]) -> Any:
    if is_dataclass(value):  # Haystack's fields are private, and it warns when one is set
        changed = copy.copy(value)
        for name, field in fields.items():
            object.__setattr__(changed, name, field)

        return changed

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
            # Frozen dataclasses too: only this copy has been made.
            object.__setattr__(changed, name, field)

    return changed
