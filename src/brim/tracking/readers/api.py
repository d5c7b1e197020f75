"""Plain responses of the providers, one JSON object per line: Anthropic, OpenAI (chat and Responses) and Gemini.

Of a streamed response the events that report usage are read: ``message_start`` and ``message_delta``, a chat chunk,
``response.completed``, a piece of a Gemini response. A line that holds a request and its response is read by the
response. So is what Gemini CLI gives to an ``AfterModel`` hook: its response has no id, so its request is told by
the session, the number of messages and the prompt's size, which are the same for all pieces of one response.
"""

from __future__ import annotations

from collections.abc import Mapping

from brim.tracking.events import Message, Usage
from brim.tracking.readers.fields import (
    Requests,
    flag,
    items,
    mapping,
    seconds,
    text,
    text_of,
    tokens,
    tool_call,
    value,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from brim.tracking.events import Event
    from brim.tracking.readers.fields import Where

_ANTHROPIC_CALLS = ("tool_use", "server_tool_use", "mcp_tool_use")
_RESPONSES_CALLS = (
    "function_call",
    "custom_tool_call",
    "mcp_call",
    "local_shell_call",
    "shell_call",
    "apply_patch_call",
)
_USAGE = {"gemini": "usageMetadata"}
_ENDED = ("response.completed", "response.failed", "response.incomplete", "response.cancelled")
_INSIDE = ("response", "llm_response", "body")


def provider_of(line: Mapping[str, Any]) -> str | None:
    """Return whose response *line* holds: ``anthropic``, ``openai-chat``, ``openai-responses``, ``gemini`` or None."""
    response = _response(line)
    kind, sort = text(response, "type"), text(response, "object")
    if sort == "response" or kind.startswith("response."):
        return "openai-responses"
    if sort.startswith("chat.completion") or (items(response, "choices") and "usage" in response):
        return "openai-chat"
    if "usageMetadata" in response or items(response, "candidates") or mapping(response, "promptFeedback"):
        return "gemini"
    if kind in ("message", "message_start", "message_delta") and _is_anthropic(response, kind):
        return "anthropic"
    return _failed_by(response)


class ApiResponseReader:
    """Reads responses one by one, whosever they are."""

    def __init__(self) -> None:
        self._requests = Requests()
        self._begun: Mapping[str, Any] = {}

    @staticmethod
    def recognises(line: Mapping[str, Any]) -> bool:
        """Return whether *line* is a provider's response."""
        return provider_of(line) is not None

    def events(self, line: Mapping[str, Any], at: int = 0) -> list[Event]:
        """Return what happened in *line*, which begins at byte *at* of its stream."""
        provider, response = provider_of(line), _response(line)
        if provider is None:
            return []
        kind = text(response, "type")
        final = kind != "message_start"
        if kind in ("message_start", "message_delta"):
            response = self._streamed(response, kind)
        elif kind.startswith("response."):
            response = mapping(response, "response") if kind in _ENDED else {}
        where = _where(line, response, at)
        happened = [] if kind.startswith("message_") else _WORDS[provider](response, where)
        if provider == "gemini":
            final = any(text(candidate, "finishReason") for candidate in items(response, "candidates"))
        happened += self._usage(provider, line, response, final, where)
        said = _failure(response)
        return [*happened, Message(role="error", text=said, id=text(response, "id"), **where)] if said else happened

    def _usage(
        self, provider: str, line: Mapping[str, Any], response: Mapping[str, Any], final: bool, where: Where
    ) -> list[Event]:
        report = mapping(response, _USAGE.get(provider, "usage"))
        if text(response, "service_tier"):
            report = {"service_tier": response["service_tier"], **report}
        used = tokens(report)
        request = text(response, "id") or text(response, "responseId")
        if not request and used and "llm_response" in line:
            asked = len(items(line, "llm_request", "messages"))
            request = f"{where['session']}:{asked}:{used.prompt}"
        if used is None or not self._requests.is_news(request, used, final=final):
            return []
        model = text(response, "model") or text(response, "modelVersion") or _asked_model(line)
        return [Usage(tokens=used, model=model, request=request, final=final, **where)]

    def _streamed(self, event: Mapping[str, Any], kind: str) -> Mapping[str, Any]:
        """Return the message that a streamed *event* is about, with the usage that is known now."""
        if kind == "message_start":
            self._begun = mapping(event, "message")
            return self._begun
        later = {key: found for key, found in mapping(event, "usage").items() if found is not None}
        return {**self._begun, "usage": {**mapping(self._begun, "usage"), **later}}


def _response(line: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the response in *line*, which may hold its request too."""
    response = line
    for _ in range(2):
        inner = next((mapping(response, key) for key in _INSIDE if mapping(response, key)), None)
        if inner is None or text(response, "type").startswith("response.") or "object" in response:
            break
        response = inner
    return response


def _is_anthropic(response: Mapping[str, Any], kind: str) -> bool:
    if kind == "message":
        return text(response, "role") == "assistant" and isinstance(value(response, "content"), list)
    return bool(mapping(response, "message") if kind == "message_start" else mapping(response, "usage"))


def _failed_by(response: Mapping[str, Any]) -> str | None:
    """Return whose error the *response* is."""
    error = mapping(response, "error")
    if not text(error, "message"):
        return None
    if text(response, "type") == "error":
        return "anthropic" if text(error, "type") else None
    if text(error, "status") and type(error.get("code")) is int:
        return "gemini"
    return "openai-chat" if "type" in error or "code" in error else None


def _failure(response: Mapping[str, Any]) -> str:
    said = text(response, "error", "message")
    blocked = text(response, "promptFeedback", "blockReason")
    return said or (f"the prompt was blocked: {blocked}" if blocked else "")


def _asked_model(line: Mapping[str, Any]) -> str:
    return text(line, "request", "model") or text(line, "llm_request", "model") or text(line, "model")


def _where(line: Mapping[str, Any], response: Mapping[str, Any], at: int) -> dict[str, Any]:
    times = (value(response, "created"), value(response, "created_at"), value(response, "createTime"))
    written = [seconds(time) for time in (*times, value(line, "timestamp"), value(line, "time")) if time is not None]
    session = text(line, "session_id") or text(line, "session")
    return {"session": session, "time": next((time for time in written if time is not None), None), "at": at}


def _anthropic_words(response: Mapping[str, Any], where: Where) -> list[Event]:
    """Return the words and calls of an Anthropic message."""
    id, blocks = text(response, "id"), items(response, "content")
    happened = _said(text_of([block for block in blocks if text(block, "type") == "text"]), id, where)
    for block in blocks:
        if text(block, "type") in _ANTHROPIC_CALLS:
            happened += _call(text(block, "id"), text(block, "name"), value(block, "input"), where)
    return happened


def _openai_chat_words(response: Mapping[str, Any], where: Where) -> list[Event]:
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


def _openai_responses_words(response: Mapping[str, Any], where: Where) -> list[Event]:
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


def _gemini_words(response: Mapping[str, Any], where: Where) -> list[Event]:
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


def _said(words: str, id: str, where: Where) -> list[Event]:
    return [Message(role="assistant", text=words, id=id, **where)] if words.strip() else []


def _call(id: str, name: str, given: object, where: Where) -> list[Event]:
    return [tool_call(id, name, given, where)] if name else []


_WORDS = {
    "anthropic": _anthropic_words,
    "openai-chat": _openai_chat_words,
    "openai-responses": _openai_responses_words,
    "gemini": _gemini_words,
}
