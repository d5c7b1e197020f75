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
from brim.agents.fields import (
    first_mapping,
    first_text,
    first_value,
    flag,
    items,
    mapping,
    text,
    text_of,
    value,
)
from brim.agents.lines import LineReader, Told, tokens
from brim.agents.times import seconds

_ANTHROPIC_CALLS = ("tool_use", "server_tool_use", "mcp_tool_use")
_RESPONSES_CALLS = ("function", "custom_tool", "mcp", "local_shell", "shell", "apply_patch")
_ENDED = ("response.completed", "response.failed", "response.incomplete", "response.cancelled")
_TIMES = ("created", "created_at", "createTime")
_INSIDE = ("response", "llm_response", "body")


def provider_of(line: Mapping[str, Any]) -> str | None:
    """Return whose response *line* holds: ``anthropic``, ``openai-chat``, ``openai-responses``,
    ``gemini`` or None."""
    response = _response(line)
    kind = text(response, "type")
    if _is_openai_response(response, kind):
        return "openai-responses"
    if _is_openai_chat(response):
        return "openai-chat"
    if _is_gemini(response):
        return "gemini"
    if _is_anthropic(response, kind):
        return "anthropic"
    return _provider_of_error(response, kind)


def _is_openai_response(response: Mapping[str, Any], kind: str) -> bool:
    return text(response, "object") == "response" or kind.startswith("response.")


def _is_openai_chat(response: Mapping[str, Any]) -> bool:
    if text(response, "object").startswith("chat.completion"):
        return True
    return bool(items(response, "choices")) and "usage" in response


def _is_gemini(response: Mapping[str, Any]) -> bool:
    if "usageMetadata" in response or items(response, "candidates"):
        return True
    return bool(mapping(response, "promptFeedback"))


def _is_anthropic(response: Mapping[str, Any], kind: str) -> bool:
    if kind == "message":
        is_answer = text(response, "role") == "assistant"
        return is_answer and isinstance(value(response, "content"), list)
    if kind == "message_start":
        return bool(mapping(response, "message"))
    return kind == "message_delta" and bool(mapping(response, "usage"))


_OPENAI_ERROR_KEYS = frozenset(("type", "code"))
"""Keys of an error of OpenAI, one of them."""


def _provider_of_error(response: Mapping[str, Any], kind: str) -> str | None:
    """Return whose error the *response* is."""
    error = mapping(response, "error")
    if not text(error, "message"):
        return None
    if kind == "error":
        if text(error, "type"):
            return "anthropic"
        return None
    if text(error, "status") and type(error.get("code")) is int:
        return "gemini"
    if not _OPENAI_ERROR_KEYS.isdisjoint(error):
        return "openai-chat"
    return None


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
        if kind in ("message_start", "message_delta"):
            response = self._streamed(response, kind)
        elif kind.startswith("response."):
            response = mapping(response, "response") if kind in _ENDED else {}
        self.where["session"] = first_text(line, "session_id", "session")
        self.where["time"] = _time_of(line, response)
        if not kind.startswith("message_"):
            _CONTENT_READERS[provider](self, response, text(response, "id"))
        final = kind != "message_start"
        if provider == "gemini":
            final = any(text(part, "finishReason") for part in items(response, "candidates"))
        self._usage(line, response, final)
        self._error(response)

    def _usage(self, line: Mapping[str, Any], response: Mapping[str, Any], final: bool) -> None:
        report = first_mapping(response, "usageMetadata", "usage")
        if text(response, "service_tier"):
            report = {"service_tier": response["service_tier"], **report}
        usage = tokens(report)
        if usage is None:
            return
        request = first_text(response, "id", "responseId")
        if not request and "llm_response" in line:
            messages = items(line, "llm_request", "messages")
            request = f"{self.where['session']}:{len(messages)}:{usage.prompt}"
        if not self._requests.is_new(request, usage, final=final):
            return
        model = first_text(response, "model", "modelVersion") or _model_asked_for(line)
        self.tell(Usage, tokens=usage, model=model, request=request, final=final)

    def _error(self, response: Mapping[str, Any]) -> None:
        error = text(response, "error", "message")
        block_reason = text(response, "promptFeedback", "blockReason")
        if block_reason and not error:
            error = f"the prompt was blocked: {block_reason}"
        self.say("error", error, id=text(response, "id"))

    def _streamed(self, event: Mapping[str, Any], kind: str) -> Mapping[str, Any]:
        """Return the message that a streamed *event* is about, with the usage that is known now."""
        if kind == "message_start":
            self._begun = mapping(event, "message")
            return self._begun
        reported = mapping(event, "usage").items()
        usage = dict(mapping(self._begun, "usage"))
        usage.update({name: number for name, number in reported if number is not None})
        return {**self._begun, "usage": usage}

    def _words(self, words: str, id: str) -> None:
        if words.strip():
            self.say("assistant", words, id=id)

    def _call(self, id: str, name: str, raw_input: object) -> None:
        if name:
            self.call(id, name, raw_input, kind_of_tool(name))

    def _anthropic(self, response: Mapping[str, Any], id: str) -> None:
        blocks = items(response, "content")
        self._words(text_of([block for block in blocks if text(block, "type") == "text"]), id)
        for block in blocks:
            if text(block, "type") in _ANTHROPIC_CALLS:
                self._call(text(block, "id"), text(block, "name"), value(block, "input"))

    def _openai_chat(self, response: Mapping[str, Any], id: str) -> None:
        """Tell the words and calls of a chat completion; of a chunk of one nothing: it holds pieces
        of words."""
        for choice in items(response, "choices"):
            message = mapping(choice, "message")
            self._words(text_of(value(message, "content")) or text(message, "refusal"), id)
            for call in items(message, "tool_calls"):
                tool = first_mapping(call, "function", "custom")
                raw_input = first_value(tool, "arguments", "input")
                self._call(text(call, "id"), text(tool, "name"), raw_input)

    def _openai_responses(self, response: Mapping[str, Any], _: str) -> None:
        for item in items(response, "output"):
            kind = text(item, "type")
            tool = kind.removesuffix("_call")
            if kind == "message":
                self._words(text_of(value(item, "content")), text(item, "id"))
            elif kind.endswith("_call") and tool in _RESPONSES_CALLS:
                id = first_text(item, "call_id", "id")
                raw_input = first_value(item, "arguments", "input", "action", "operation")
                self._call(id, text(item, "name") or tool, raw_input)

    def _gemini(self, response: Mapping[str, Any], _: str) -> None:
        """Tell the words and calls of a Gemini response; what it thought is left out."""
        for candidate in items(response, "candidates"):
            parts = items(candidate, "content", "parts")
            texts = [_spoken(part) for part in parts]
            self._words("".join(texts), text(response, "responseId"))
            for part in parts:
                call = mapping(part, "functionCall")
                self._call(text(call, "id"), text(call, "name"), value(call, "args"))


_CONTENT_READERS = {
    "anthropic": ApiResponseReader._anthropic,
    "openai-chat": ApiResponseReader._openai_chat,
    "openai-responses": ApiResponseReader._openai_responses,
    "gemini": ApiResponseReader._gemini,
}


def _spoken(part: object) -> str:
    """Return the text of a *part* of a Gemini response, empty if the model only thought it."""
    if flag(part, "thought"):
        return ""
    if isinstance(part, str):
        return part
    return text(part, "text")


def _time_of(line: Mapping[str, Any], response: Mapping[str, Any]) -> float | None:
    times = [value(response, key) for key in _TIMES]
    times += [value(line, "timestamp"), value(line, "time")]
    for time in times:
        time_seconds = seconds(time)
        if time_seconds is not None:
            return time_seconds
    return None


def _model_asked_for(line: Mapping[str, Any]) -> str:
    """Return the model of the request that *line* holds too."""
    model = text(line, "request", "model") or text(line, "llm_request", "model")
    return model or text(line, "model")


def _response(line: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the response in *line*, which may hold its request too."""
    response = line
    for _ in range(2):
        inner = first_mapping(response, *_INSIDE)
        if not inner or "object" in response or text(response, "type").startswith("response."):
            break
        response = inner
    return response
