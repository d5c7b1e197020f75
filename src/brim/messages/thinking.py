"""Thinking blocks: finding them in messages of any format, and leaving them out.

Current Claude models accept a thinking block only with the exact system prompt, tools and messages
that it was made with. After anything before it has changed, that block and every later one is
refused. Removing all of them is allowed, and so is removing the oldest; a block that was removed
must not come back. Source: https://platform.claude.com/docs/en/build-with-claude/preserved-thinking
"""

from __future__ import annotations

from typing import Any

from brim.messages.content import filled, with_fields, without_field
from brim.tokens.messages.fields import get, is_mapping, is_sequence, string

BODY_FIELDS = ("content", "parts", "_content")
"""Where a message holds its blocks: providers and LangChain, pydantic-ai, Haystack."""
BLOCK_TYPES = frozenset(("thinking", "redacted_thinking", "reasoning"))
"""Types of blocks that hold thinking; LangChain calls it reasoning."""
MESSAGE_FIELDS = ("thinking_blocks", "reasoning_content", "reasoning_details", "reasoning")
"""Fields of a chat message in which LiteLLM and OpenRouter return Claude's thinking."""


def is_thinking(block: object) -> bool:
    """Whether a block of a message holds thinking."""
    if string(get(block, "type")) in BLOCK_TYPES:
        return True
    if string(get(block, "part_kind")) == "thinking":  # pydantic-ai
        return True
    return get(block, "reasoning_text") is not None  # Haystack


def has_thinking(message: object) -> bool:
    """Whether *message* holds thinking."""
    if is_thinking(message):  # an item of the Responses API
        return True
    if any(is_thinking(block) for block in _blocks(message)):
        return True
    return any(filled(get(holder, name)) for holder in _holders(message) for name in MESSAGE_FIELDS)


def without_thinking(message: Any) -> Any:
    """Return a copy of *message* without its thinking; None if nothing else was in it."""
    if not has_thinking(message):
        return message
    if is_thinking(message):
        return None
    message = _without_thinking_fields(message)
    body = _body_field(message)
    blocks = _blocks(message)
    kept = [block for block in blocks if not is_thinking(block)]
    if len(kept) < len(blocks):
        message = with_fields(message, **{body: kept})
    is_empty = not filled(get(message, body)) and not filled(get(message, "tool_calls"))
    return None if is_empty else message


def _body_field(message: object) -> str:
    for name in BODY_FIELDS:
        if get(message, name) is not None:
            return name
    return "content"


def _blocks(message: object) -> list[Any]:
    body: Any = get(message, _body_field(message))
    return list(body) if is_sequence(body) else []


def _holders(message: object) -> list[object]:
    """Return what can have thinking in a field: the message, and what LangChain adds to it."""
    return [message, get(message, "additional_kwargs")]


def _without_thinking_fields(message: Any) -> Any:
    for name in MESSAGE_FIELDS:
        if filled(get(message, name)):
            message = without_field(message, name)
    added = get(message, "additional_kwargs")
    if is_mapping(added) and any(filled(get(added, name)) for name in MESSAGE_FIELDS):
        others = {name: value for name, value in dict(added).items() if name not in MESSAGE_FIELDS}  # type: ignore[call-overload]
        message = with_fields(message, additional_kwargs=others)
    return message
