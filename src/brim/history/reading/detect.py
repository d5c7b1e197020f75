"""Which format is this list of messages in? The first message that only one format has decides."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from brim.errors import InputError
from brim.history.reading.chat import type_role
from brim.history.reading.entry import filled
from brim.history.reading.responses import TYPES as ITEMS
from brim.history.types import PROVIDERS, Provider
from brim.tokens.messages.fields import get, is_sequence, string

if TYPE_CHECKING:
    from collections.abc import Sequence

_BLOCKS: dict[str, Provider] = {
    **dict.fromkeys(("tool_use", "tool_result", "thinking", "redacted_thinking", "server_tool_use"), "anthropic"),
    **dict.fromkeys(("image", "document", "search_result"), "anthropic"),
    **dict.fromkeys(("input_text", "output_text", "input_image", "input_file"), "responses"),
    **dict.fromkeys(("image_url", "input_audio", "file", "refusal"), "openai"),
}
"""Types of content that one format alone has."""


def provider_of(messages: Sequence[Any], provider: Provider | Literal["auto"], model: str | None = None) -> Provider:
    """Return *provider* itself, or for ``auto`` the one whose format *messages* are in.

    Plain messages, with a role and a text, are in every format: then Claude's name in *model* means Anthropic, and
    anything else, or a message of the system's, OpenAI's chat format, which most programs use.
    """
    if provider != "auto":
        if provider not in PROVIDERS:
            raise InputError(f"unknown provider {provider!r}: use one of {', '.join(PROVIDERS)}, or auto")
        return provider
    for message in messages:
        found = _of(message)
        if found is not None:
            return found
    is_claude = "claude" in (model or "").lower()
    return (
        "anthropic"
        if is_claude and not any(string(get(message, "role")) == "system" for message in messages)
        else "openai"
    )


def _of(message: object) -> Provider | None:
    role, kind = string(get(message, "role")), string(get(message, "type"))
    if role == "model" or (get(message, "parts") is not None and get(message, "content") is None):
        return "gemini"
    if kind in ITEMS and (kind != "message" or _has_parts(message, ("input_text", "output_text", "refusal"))):
        return "responses"
    if filled(get(message, "tool_calls")) or role in ("tool", "function", "developer") or type_role(message):
        return "openai"
    content = get(message, "content")
    if is_sequence(content):
        for block in content:  # type: ignore[attr-defined]
            found = _BLOCKS.get(string(get(block, "type")))
            if found is not None:
                return found
    return None


def _has_parts(message: object, types: tuple[str, ...]) -> bool:
    content = get(message, "content")
    return is_sequence(content) and any(string(get(part, "type")) in types for part in content)  # type: ignore[attr-defined]
