"""Plain responses of the providers, one JSON object per line: Anthropic, OpenAI (chat and
Responses) and Gemini.

Of a streamed response the events that report usage are read: ``message_start`` and
``message_delta``, a chat chunk, ``response.completed``, a piece of a Gemini response. A line that
holds a request and its response is read by the response. So is what Gemini CLI gives to an
``AfterModel`` hook: its response has no id, so its request is told by the session, the number of
messages and the prompt's size, which are the same for all pieces of one response.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from brim.agents import kind_of_tool
from brim.agents.call import Tools
from brim.agents.events import Usage
from brim.agents.fields import flag, items, mapping, text, text_of, value
from brim.agents.lines import LineReader, Told, seconds, tokens

_ANTHROPIC_CALLS = ("tool_use", "server_tool_use", "mcp_tool_use")
_RESPONSES_CALLS = ("function", "custom_tool", "mcp", "local_shell", "shell", "apply_patch")
_ENDED = ("response.completed", "response.failed", "response.incomplete", "response.cancelled")
_INSIDE = ("response", "llm_response", "body")


def provider_of(line: Mapping[str, Any]) -> str | None:
    """Return whose response *line* holds: ``anthropic``, ``openai-chat``, ``openai-responses``,
    ``gemini`` or None."""
    response = _response(line)
    kind = text(response, "type")
    sort = text(response, "object")
    if sort == "response" or kind.startswith("response."):
        return "openai-responses"
    if sort.startswith("chat.completion") or (items(response, "choices") and "usage" in response):
        return "openai-chat"
    if (
        "usageMetadata" in response
        or items(response, "candidates")
        or mapping(response, "promptFeedback")
    ):
        return "gemini"
    if kind == "message":
        known = text(response, "role") == "assistant" and isinstance(
            value(response, "content"), list
        )
        return "anthropic" if known else _failed_by(response)
    begun = {"message_start": "message", "message_delta": "usage"}.get(kind)
    return "anthropic" if begun and mapping(response, begun) else _failed_by(response)


class ApiResponseReader(LineReader):
    """Reads responses one by one, of any provider."""

    tools = Tools({})

    def __init__(self) -> None:
        super().__init__()
        self._requests = Told(200_000)
        self._begun: Mapping[str, Any] = {}

    def read(self, line: Mapping[str, Any]) -> None:
        """Tell what happened in *line*."""
        provider = provider_of(line)
        response = _response(line)
        if provider is None:
            return
        kind = text(response, "type")
        final = kind != "message_start"
        if kind in ("message_start", "message_delta"):
            response = self._streamed(response, kind)
        elif kind.startswith("response."):
            response = mapping(response, "response") if kind in _ENDED else {}
        times = [value(response, key) for key in ("created", "created_at", "createTime")]
        times = [seconds(time) for time in (*times, value(line, "timestamp"), value(line, "time"))]
        self.where["session"] = text(line, "session_id") or text(line, "session")
        self.where["time"] = next((time for time in times if time is not None), None)
        if not kind.startswith("message_"):
            _WORDS[provider](self, response, text(response, "id"))
        if provider == "gemini":
            final = any(
                text(candidate, "finishReason") for candidate in items(response, "candidates")
            )
        self._usage(line, response, final)
        blocked = text(response, "promptFeedback", "blockReason")
        failure = text(response, "error", "message") or (
            f"the prompt was blocked: {blocked}" if blocked else ""
        )
        self.say("error", failure, id=text(response, "id"))

    def _usage(self, line: Mapping[str, Any], response: Mapping[str, Any], final: bool) -> None:
        report = mapping(response, "usageMetadata") or mapping(response, "usage")
        if text(response, "service_tier"):
            report = {"service_tier": response["service_tier"], **report}
        used = tokens(report)
        request = text(response, "id") or text(response, "responseId")
        if not request and used and "llm_response" in line:
            request = f"{self.where['session']}:{len(items(line, 'llm_request', 'messages'))}:{used.prompt}"
        if used and self._requests.is_new(request, used, final=final):
            asked = (
                text(line, "request", "model")
                or text(line, "llm_request", "model")
                or text(line, "model")
            )
            model = text(response, "model") or text(response, "modelVersion") or asked
            self.tell(Usage, tokens=used, model=model, request=request, final=final)

    def _streamed(self, event: Mapping[str, Any], kind: str) -> Mapping[str, Any]:
        """Return the message that a streamed *event* is about, with the usage that is known now."""
        if kind == "message_start":
            self._begun = mapping(event, "message")
            return self._begun
        later = {key: found for key, found in mapping(event, "usage").items() if found is not None}
        return {**self._begun, "usage": {**mapping(self._begun, "usage"), **later}}

    def _said(self, words: str, id: str) -> None:
        if words.strip():
            self.say("assistant", words, id=id)

    def _called(self, id: str, name: str, given: object) -> None:
        if name:
            self.call(id, name, given, kind_of_tool(name))

    def _anthropic(self, response: Mapping[str, Any], id: str) -> None:
        blocks = items(response, "content")
        self._said(text_of([block for block in blocks if text(block, "type") == "text"]), id)
        for block in blocks:
            if text(block, "type") in _ANTHROPIC_CALLS:
                self._called(text(block, "id"), text(block, "name"), value(block, "input"))

    def _openai_chat(self, response: Mapping[str, Any], id: str) -> None:
        """Tell the words and calls of a chat completion; of a chunk of one nothing: it holds pieces
        of words."""
        for choice in items(response, "choices"):
            message = mapping(choice, "message")
            self._said(text_of(value(message, "content")) or text(message, "refusal"), id)
            for call in items(message, "tool_calls"):
                kind = mapping(call, "function") or mapping(call, "custom")
                given = value(kind, "arguments") or value(kind, "input")
                self._called(text(call, "id"), text(kind, "name"), given)

    def _openai_responses(self, response: Mapping[str, Any], _: str) -> None:
        for item in items(response, "output"):
            kind = text(item, "type")
            if kind == "message":
                self._said(text_of(value(item, "content")), text(item, "id"))
            elif kind.endswith("_call") and kind.removesuffix("_call") in _RESPONSES_CALLS:
                given = [value(item, key) for key in ("arguments", "input", "action", "operation")]
                name = text(item, "name") or kind.removesuffix("_call")
                self._called(
                    text(item, "call_id") or text(item, "id"), name, next(filter(None, given), None)
                )

    def _gemini(self, response: Mapping[str, Any], _: str) -> None:
        """Tell the words and calls of a Gemini response; what it thought is left out."""
        for candidate in items(response, "candidates"):
            parts = items(candidate, "content", "parts")
            spoken = [part for part in parts if not flag(part, "thought")]
            words = [part if isinstance(part, str) else text(part, "text") for part in spoken]
            self._said("".join(words), text(response, "responseId"))
            for call in [mapping(part, "functionCall") for part in parts]:
                self._called(text(call, "id"), text(call, "name"), value(call, "args"))


_WORDS = {
    "anthropic": ApiResponseReader._anthropic,
    "openai-chat": ApiResponseReader._openai_chat,
    "openai-responses": ApiResponseReader._openai_responses,
    "gemini": ApiResponseReader._gemini,
}


def _response(line: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the response in *line*, which may hold its request too."""
    response = line
    for _ in range(2):
        inner = next((mapping(response, key) for key in _INSIDE if mapping(response, key)), None)
        if inner is None or text(response, "type").startswith("response.") or "object" in response:
            break
        response = inner
    return response


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
