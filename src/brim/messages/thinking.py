"""Thinking blocks: finding them in messages of any format, and leaving them out.

Current Claude models accept a thinking block only with the exact system prompt, tools and messages
that it was made with. After anything before it has changed, that block and every later one is
refused. Removing all of them is allowed, and so is removing the oldest; a block that was removed
must not come back. Source: https://platform.claude.com/docs/en/build-with-claude/preserved-thinking
"""

from __future__ import annotations

from typing import Any

from brim.messages.content import body_field, filled, listed, with_fields, without_field
from brim.tokens.messages.fields import get, is_mapping, string

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

    if get(block, "reasoningContent") is not None:  # Bedrock's Converse
        return True

    return get(block, "reasoning_text") is not None  # Haystack


def has_thinking(message: object) -> bool:
    """Whether *message* holds thinking."""
    if is_thinking(message):  # an item of the Responses API
        return True

    if any(is_thinking(block) for block in _blocks(message)):
        return True

    # LangChain puts fields that it doesn't know into additional_kwargs.
    return _has_thinking_field(message) or _has_thinking_field(get(message, "additional_kwargs"))


def without_thinking(message: Any) -> Any:
    """Return a copy of *message* without its thinking; None if nothing else was in it."""
    if not has_thinking(message):
        return message

    if is_thinking(message):
        return None

    message = _without_thinking_fields(message)
    body = body_field(message, BODY_FIELDS)
    blocks = _blocks(message)
    other_blocks = [block for block in blocks if not is_thinking(block)]
    if len(other_blocks) < len(blocks):
        message = with_fields(message, **{body: other_blocks})

    if filled(get(message, body)) or filled(get(message, "tool_calls")):
        return message

    return None


def _blocks(message: object) -> list[Any]:
    return listed(get(message, body_field(message, BODY_FIELDS)))


def _has_thinking_field(holder: object) -> bool:
    return any(filled(get(holder, name)) for name in MESSAGE_FIELDS)


def _without_thinking_fields(message: Any) -> Any:
    for name in MESSAGE_FIELDS:
        if filled(get(message, name)):
            message = without_field(message, name)

    added = get(message, "additional_kwargs")
    if is_mapping(added) and _has_thinking_field(added):
        fields: dict[str, Any] = dict(added)  # type: ignore[call-overload]
        for name in MESSAGE_FIELDS:
            fields.pop(name, None)

        message = with_fields(message, additional_kwargs=fields)

    return message
