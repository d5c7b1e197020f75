"""Gemini CLI's own record of a session, ``~/.gemini/tmp/*/chats/session-*.jsonl`` (older: one JSON object).

A message is written again, under the same id, when its tool calls have ended: the later line replaces the earlier, so
its usage counts again only with other numbers, and a call is told once. ``tokens.input`` contains the cached tokens;
``thoughts`` are output, ``tool`` is input.
"""

from __future__ import annotations

from collections.abc import Mapping

from brim.models.usage import Tokens
from brim.tracking.events import Compaction, Message, ModelSeen, ToolCall, ToolResult, Usage
from brim.tracking.readers.declined import refusal_in
from brim.tracking.readers.fields import count, items, mapping, text, text_of, value
from brim.tracking.readers.gemini_parts import answered, exit_code, failure, is_typed, words
from brim.tracking.readers.inputs import arguments, named
from brim.tracking.readers.times import seconds
from brim.tracking.readers.tools import tool_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from brim.tracking.events import Event

_TYPES = ("user", "gemini", "info", "error", "warning")
_ENDED = ("success", "error", "cancelled")
_MOST = 20_000
_SUMMARY = "<state_snapshot>"


def recognises(line: Mapping[str, Any]) -> bool:
    """Return whether *line* is one of a session's record, or a whole record."""
    if text(line, "sessionId") and ("projectHash" in line or "startTime" in line):
        return True
    if "$set" in line or "$rewindTo" in line:
        return True
    return bool(text(line, "id")) and text(line, "type") in _TYPES and "content" in line and "timestamp" in line


class GeminiTranscriptReader:
    """Reads one record, line by line."""

    def __init__(self) -> None:
        self._session = ""
        self._agent = ""
        self._model = ""
        self._told: dict[str, int] = {}

    def events(self, line: Mapping[str, Any], at: int = 0) -> list[Event]:
        """Return what happened in *line*, which begins at byte *at* of its stream."""
        if text(line, "sessionId"):
            self._session = text(line, "sessionId")
            self._agent = self._session if text(line, "kind") == "subagent" else ""
        messages = [line] if text(line, "type") else items(line, "messages")
        replaced = items(line, "$set", "messages")
        known = bool(self._told)
        if summaries := [message for message in replaced if _is_summary(message)]:
            replaced = summaries  # what stands beside them was told before, and now has other ids
        happened: list[Event] = []
        for message in [*messages, *replaced]:
            if isinstance(message, Mapping):
                happened += self._message(message, at)
        return [*self._compacted(line, at), *happened] if summaries and known and happened else happened

    def _message(self, message: Mapping[str, Any], at: int) -> list[Event]:
        where: dict[str, Any] = {
            "session": self._session,
            "agent": self._agent,
            "time": seconds(value(message, "timestamp")),
            "at": at,
        }
        kind, id = text(message, "type"), text(message, "id")
        if kind == "user":
            return self._user(message, id, where)
        if kind == "gemini":
            return [*self._model_seen(message, where), *self._answer(message, id, where)]
        said = text_of(value(message, "content"))
        if kind in ("error", "warning", "info") and said and self._is_new(f"{kind}:{id}", said):
            return [Message(role="error" if kind == "error" else "system", text=said, id=id, **where)]
        return []

    def _user(self, message: Mapping[str, Any], id: str, where: Mapping[str, Any]) -> list[Event]:
        said = words(value(message, "displayContent")) or words(value(message, "content"))
        if not said or not self._is_new(f"user:{id}", said):
            return []
        if said.startswith(_SUMMARY):
            return [Message(role="summary", text=said, id=id, **where)]
        return [Message(role="user", text=said, human=is_typed(said) and not self._agent, id=id, **where)]

    def _model_seen(self, message: Mapping[str, Any], where: Mapping[str, Any]) -> list[Event]:
        model = text(message, "model")
        if not model or model == self._model:
            return []
        self._model = model
        return [ModelSeen(model=model, **where)]

    def _answer(self, message: Mapping[str, Any], id: str, where: Mapping[str, Any]) -> list[Event]:
        happened: list[Event] = []
        said = text_of(value(message, "content"))
        if said and self._is_new(f"gemini:{id}", said):
            happened.append(Message(role="assistant", text=said, id=id, **where))
        used = _tokens(mapping(message, "tokens"))
        if used is not None and self._is_new(f"usage:{id}", used):
            happened.append(Usage(tokens=used, model=text(message, "model") or self._model, request=id, **where))
        for call in items(message, "toolCalls"):
            happened += self._call(call, where)
        return happened

    def _call(self, call: object, where: Mapping[str, Any]) -> list[Event]:
        id, name = text(call, "id"), text(call, "name")
        happened: list[Event] = []
        if name and self._is_new(f"call:{id}", name):
            tool = tool_of(name)
            given = named(tool, arguments(value(call, "args")))
            happened.append(ToolCall(id=id, name=name, tool=tool, input=given, **where))
        status = text(call, "status")
        if status in _ENDED and self._is_new(f"result:{id}", status):
            happened.append(
                _result(call, id, status, {**where, "time": seconds(value(call, "timestamp")) or where["time"]})
            )
        return happened

    def _compacted(self, line: Mapping[str, Any], at: int) -> list[Event]:
        time = seconds(value(line, "$set", "lastUpdated"))
        return [Compaction(session=self._session, agent=self._agent, time=time, at=at)]

    def _is_new(self, key: str, told: object) -> bool:
        """Take note that *told* was told under *key*; return whether it was not before."""
        known = hash(told)
        if self._told.get(key) == known:
            return False
        self._told[key] = known
        if len(self._told) > _MOST:
            del self._told[next(iter(self._told))]
        return True


def _is_summary(message: object) -> bool:
    return words(value(message, "content")).startswith(_SUMMARY)


def _result(call: object, id: str, status: str, where: Mapping[str, Any]) -> ToolResult:
    result = value(call, "result")
    said = failure(result) or answered(result) or text_of(value(call, "resultDisplay"))
    ended_badly = status != "success"
    refusal = (refusal_in(said) or ("interrupt" if status == "cancelled" else "")) if ended_badly else ""
    code = exit_code(said)
    failed = ended_badly or bool(code)
    detail = None if code is None else {"exit_code": code}
    return ToolResult(id=id, text=said, error=failed, refusal=refusal, detail=detail, **where)


def _tokens(tokens: Mapping[str, Any]) -> Tokens | None:
    prompt, read = count(tokens, "input"), count(tokens, "cached")
    output = count(tokens, "output") + count(tokens, "thoughts")
    if not prompt and not output:
        return None
    fresh = max(0, prompt - read) + count(tokens, "tool")
    return Tokens(input=fresh, cache_read=min(read, prompt), output=output)
