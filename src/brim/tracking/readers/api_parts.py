"""What a model wrote in a response, provider by provider: words and calls."""

from __future__ import annotations

from brim.tracking.events import Message, ToolCall
from brim.tracking.readers.fields import flag, items, mapping, text, text_of, value
from brim.tracking.readers.inputs import arguments, named
from brim.tracking.readers.tools import tool_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from brim.tracking.events import Event

_ANTHROPIC_CALLS = ("tool_use", "server_tool_use", "mcp_tool_use")
_RESPONSES_CALLS = (
    "function_call",
    "custom_tool_call",
    "mcp_call",
    "local_shell_call",
    "shell_call",
    "apply_patch_call",
)


def anthropic(response: Mapping[str, Any], where: Mapping[str, Any]) -> list[Event]:
    """Return the words and calls of an Anthropic message."""
    id, blocks = text(response, "id"), items(response, "content")
    happened = _said(text_of([block for block in blocks if text(block, "type") == "text"]), id, where)
    for block in blocks:
        if text(block, "type") in _ANTHROPIC_CALLS:
            happened += _call(text(block, "id"), text(block, "name"), value(block, "input"), where)
    return happened


def openai_chat(response: Mapping[str, Any], where: Mapping[str, Any]) -> list[Event]:
    """Return the words and calls of an OpenAI chat completion; of a chunk of one nothing: it holds pieces of words."""
    happened: list[Event] = []
    for choice in items(response, "choices"):
        message = mapping(choice, "message")
        happened += _said(text_of(value(message, "content")) or text(message, "refusal"), text(response, "id"), where)
        for call in items(message, "tool_calls"):
            kind = mapping(call, "function") or mapping(call, "custom")
            given = value(kind, "arguments") or value(kind, "input")
            happened += _call(text(call, "id"), text(kind, "name"), given, where)
    return happened


def openai_responses(response: Mapping[str, Any], where: Mapping[str, Any]) -> list[Event]:
    """Return the words and calls of a response of OpenAI's Responses API."""
    happened: list[Event] = []
    for item in items(response, "output"):
        kind = text(item, "type")
        if kind == "message":
            happened += _said(text_of(value(item, "content")), text(item, "id"), where)
        elif kind in _RESPONSES_CALLS:
            given = (
                value(item, "arguments") or value(item, "input") or value(item, "action") or value(item, "operation")
            )
            name = text(item, "name") or kind.removesuffix("_call")
            happened += _call(text(item, "call_id") or text(item, "id"), name, given, where)
    return happened


def gemini(response: Mapping[str, Any], where: Mapping[str, Any]) -> list[Event]:
    """Return the words and calls of a Gemini response; what it thought is left out."""
    happened: list[Event] = []
    for candidate in items(response, "candidates"):
        parts = items(candidate, "content", "parts")
        said = [part if isinstance(part, str) else text(part, "text") for part in parts if not flag(part, "thought")]
        happened += _said("".join(said), text(response, "responseId"), where)
        for part in parts:
            call = mapping(part, "functionCall")
            if call:
                happened += _call(text(call, "id"), text(call, "name"), value(call, "args"), where)
    return happened


def _said(words: str, id: str, where: Mapping[str, Any]) -> list[Event]:
    return [Message(role="assistant", text=words, id=id, **where)] if words.strip() else []


def _call(id: str, name: str, given: object, where: Mapping[str, Any]) -> list[Event]:
    tool = tool_of(name)
    return [ToolCall(id=id, name=name, tool=tool, input=named(tool, arguments(given)), **where)] if name else []
