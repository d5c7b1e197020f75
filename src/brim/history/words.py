"""The words of a message: what people, the assistant and tools say in it, as plain text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brim.tokens.messages.fields import compact, get, is_sequence, string
from brim.tokens.messages.parts import RESULTS

if TYPE_CHECKING:
    from collections.abc import Iterator

DEEPEST = 200
"""So many lists inside each other, or beside, are read; nobody sends more than two."""


def text_of(message: object) -> str:
    """Return what is said in *message*: its texts, not its calls, results or reasoning."""
    return "\n".join(_texts(_content(message), set())).strip()


def result_text(message: object) -> str:
    """Return what the tools whose results are in *message* said."""
    content = _content(message)
    if string(get(message, "role")) in ("tool", "function") or string(get(message, "type")) in RESULTS:
        found = content if content is not None else get(message, "output")
        return found if isinstance(found, str) else "\n".join(_texts(found, set())) or compact(found)
    parts = content if is_sequence(content) else ()
    return "\n".join(filter(None, (_result_part(part) for part in parts)))  # type: ignore[attr-defined]


def _result_part(part: object) -> str:
    if string(get(part, "type")) in RESULTS:
        inner = get(part, "content")
        return inner if isinstance(inner, str) else "\n".join(_texts(inner, set()))
    answer = get(part, "functionResponse") or get(part, "function_response")
    return compact(get(answer, "response")) if answer is not None else ""


def _content(message: object) -> object:
    if isinstance(message, str):
        return message
    content = get(message, "content")
    return content if content is not None else get(message, "parts")


def _texts(content: object, seen: set[int]) -> Iterator[str]:
    """Yield the texts in *content*; a list that stands in it twice, or in itself, is read once."""
    if isinstance(content, str):
        yield content
    elif is_sequence(content):
        if id(content) not in seen and len(seen) < DEEPEST:
            seen.add(id(content))
            for part in content:  # type: ignore[attr-defined]
                yield from _texts(part, seen)
    elif content is not None and get(content, "thought") is not True:
        found = get(content, "text")
        if isinstance(found, str):
            yield found
