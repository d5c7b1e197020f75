"""Reads Gemini CLI: its own record of a session, and ``gemini -o stream-json``.

The record is ``~/.gemini/tmp/*/chats/session-*.jsonl`` (older: one JSON object). A message is written again, under the
same id, when its tool calls have ended: the later line replaces the earlier, so its usage counts again only with other
numbers, and a call is told once. ``tokens.input`` contains the cached tokens; ``thoughts`` are output, ``tool`` is
input. Of the stream only the last line has numbers, and they are sums over the run: a ``RunTotal``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from brim.models.usage import Tokens
from brim.tracking.events import Compaction, End, Message, ModelSeen, RunTotal, ToolResult, Usage
from brim.tracking.readers.fields import (
    Told,
    count,
    flag,
    items,
    mapping,
    refusal_in,
    seconds,
    text,
    text_of,
    tool_call,
    tool_result,
    value,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from brim.tracking.events import Event
    from brim.tracking.readers.fields import Where

_TYPES = ("user", "gemini", "info", "error", "warning")
_STATUSES = ("success", "error", "cancelled")
_SUMMARY = "<state_snapshot>"
_AROUND = r"</?untrusted_context>\n?|^Process Group PGID: \d+\n?"
_HOOK, _HOOK_END = "<hook_context>", "</hook_context>"
_MACHINE = ("<session_context>", "<environment_context>", "<state_snapshot>", "<loaded_context>")


class GeminiTranscriptReader:
    """Reads one record, line by line."""

    def __init__(self) -> None:
        self._session = ""
        self._agent = ""
        self._model = ""
        self._told = Told()
        self._began = False

    @staticmethod
    def recognises(line: Mapping[str, Any]) -> bool:
        """Return whether *line* is one of a session's record, or a whole record."""
        if text(line, "sessionId") and ("projectHash" in line or "startTime" in line):
            return True
        if "$set" in line or "$rewindTo" in line:
            return True
        return bool(text(line, "id")) and text(line, "type") in _TYPES and "content" in line and "timestamp" in line

    def events(self, line: Mapping[str, Any], at: int = 0) -> list[Event]:
        """Return what happened in *line*, which begins at byte *at* of its stream."""
        if text(line, "sessionId"):
            self._session = text(line, "sessionId")
            self._agent = self._session if text(line, "kind") == "subagent" else ""
        messages = [line] if text(line, "type") else items(line, "messages")
        replaced = items(line, "$set", "messages")
        where: dict[str, Any] = {"session": self._session, "agent": self._agent, "at": at}
        if summaries := [message for message in replaced if words(value(message, "content")).startswith(_SUMMARY)]:
            replaced = summaries  # the other messages were told before, and now has other ids
        happened: list[Event] = []
        for message in [*messages, *replaced]:
            if isinstance(message, Mapping):
                happened += self._message(message, {**where, "time": seconds(value(message, "timestamp"))})
        if summaries and self._began and happened:
            happened.insert(0, Compaction(**where, time=seconds(value(line, "$set", "lastUpdated"))))
        self._began = self._began or bool(happened)
        return happened

    def _message(self, message: Mapping[str, Any], where: Where) -> list[Event]:
        kind, id = text(message, "type"), text(message, "id")
        if kind == "user":
            return self._user(message, id, where)
        if kind == "gemini":
            return self._answer(message, id, where)
        said = text_of(value(message, "content"))
        if kind in ("error", "warning", "info") and said and self._told.is_new(f"{kind}:{id}", said):
            return [Message(role="error" if kind == "error" else "system", text=said, id=id, **where)]
        return []

    def _user(self, message: Mapping[str, Any], id: str, where: Where) -> list[Event]:
        said = words(value(message, "displayContent")) or words(value(message, "content"))
        if not said or not self._told.is_new(f"user:{id}", said):
            return []
        if said.startswith(_SUMMARY):
            return [Message(role="summary", text=said, id=id, **where)]
        return [Message(role="user", text=said, human=is_typed(said) and not self._agent, id=id, **where)]

    def _answer(self, message: Mapping[str, Any], id: str, where: Where) -> list[Event]:
        happened: list[Event] = []
        model = text(message, "model") or self._model
        if model != self._model:
            self._model = model
            happened.append(ModelSeen(model=model, **where))
        said = text_of(value(message, "content"))
        if said and self._told.is_new(f"gemini:{id}", said):
            happened.append(Message(role="assistant", text=said, id=id, **where))
        sizes = mapping(message, "tokens")
        written = count(sizes, "output") + count(sizes, "thoughts")
        used = _tokens(count(sizes, "input"), count(sizes, "cached"), written, count(sizes, "tool"))
        if used is not None and self._told.is_new(f"usage:{id}", used):
            happened.append(Usage(tokens=used, model=model, request=id, **where))
        for call in items(message, "toolCalls"):
            happened += self._call(call, where)
        return happened

    def _call(self, call: object, where: Where) -> list[Event]:
        id, name = text(call, "id"), text(call, "name")
        happened: list[Event] = []
        if name and self._told.is_new(f"call:{id}", name):
            happened.append(tool_call(id, name, value(call, "args"), where))
        status, result = text(call, "status"), value(call, "result")
        if status in _STATUSES and self._told.is_new(f"result:{id}", status):
            said = failure(result) or answered(result) or text_of(value(call, "resultDisplay"))
            time = seconds(value(call, "timestamp")) or where["time"]
            happened.append(_result(id, status, said, {**where, "time": time}))
        return happened


def _tokens(prompt: int, read: int, output: int, tool: int = 0) -> Tokens | None:
    """Return what a request or a run took; its *prompt* contains what was *read* from a cache, but no *tool* use."""
    if not prompt and not output:
        return None
    return Tokens(input=max(0, prompt - read) + tool, cache_read=min(read, prompt), output=output)


class GeminiStreamReader:
    """Reads one stream, line by line. An answer comes in pieces: it is told when the next thing happens."""

    def __init__(self) -> None:
        self._session = ""
        self._answer: list[str] = []
        self._answer_where: dict[str, Any] = {}

    @staticmethod
    def recognises(line: Mapping[str, Any]) -> bool:
        """Return whether *line* is one of this stream."""
        kind = text(line, "type")
        if kind == "init":
            return bool(text(line, "session_id")) and "subtype" not in line
        if kind == "message":
            is_said = isinstance(value(line, "content"), str) and "id" not in line
            return is_said and text(line, "role") in ("user", "assistant")
        if kind == "error":
            return bool(text(line, "severity") and text(line, "message"))
        if kind == "result":
            return text(line, "status") in _STATUSES and "subtype" not in line
        return kind in ("tool_use", "tool_result") and bool(text(line, "tool_id"))

    def events(self, line: Mapping[str, Any], at: int = 0) -> list[Event]:
        """Return what happened in *line*, which begins at byte *at* of its stream."""
        kind = text(line, "type")
        if kind == "init":
            self._session = text(line, "session_id")
        where: dict[str, Any] = {"session": self._session, "time": seconds(value(line, "timestamp")), "at": at}
        if kind == "message" and text(line, "role") == "assistant" and flag(line, "delta"):
            self._answer_where = self._answer_where or where
            self._answer.append(text(line, "content"))
            return []
        told = "".join(self._answer)
        return [*self.finish(), *self._happened(kind, line, where, told)]

    def finish(self) -> list[Event]:
        """Return the answer whose end no line showed yet."""
        said, where = "".join(self._answer), self._answer_where
        self._answer, self._answer_where = [], {}
        return [Message(role="assistant", text=said, **where)] if said else []

    def _happened(self, kind: str, line: Mapping[str, Any], where: Where, answer: str) -> list[Event]:
        if kind == "init" and text(line, "model"):
            return [ModelSeen(model=text(line, "model"), **where)]
        if kind == "message":
            said, user = words(value(line, "content")), text(line, "role") == "user"
            role = "user" if user else "assistant"
            return [Message(role=role, text=said, human=user and is_typed(said), **where)] if said else []
        if kind == "tool_use":
            return [tool_call(text(line, "tool_id"), text(line, "tool_name"), value(line, "parameters"), where)]
        if kind == "tool_result":
            said = words(value(line, "output")) or text(line, "error", "message") or text_of(value(line, "error"))
            return [_result(text(line, "tool_id"), text(line, "status"), said, where)]
        if kind == "error":
            role = "system" if text(line, "severity") == "warning" else "error"
            return [Message(role=role, text=text(line, "message"), **where)] if text(line, "message") else []
        return _end(line, where, answer) if kind == "result" else []


def _result(id: str, status: str, said: str, where: Where) -> ToolResult:
    """Return the result of the call *id*, which *said* something and ended with *status*."""
    failed = status != "success"
    refusal = (refusal_in(said) or ("interrupt" if status == "cancelled" else "")) if failed else ""
    found = re.search(r"^Exit Code: (-?\d{1,9})$", said, re.MULTILINE)  # it is said only if it isn't 0
    return tool_result(id, said, where, failed=failed, refusal=refusal, code=int(found[1]) if found else None)


def _end(line: Mapping[str, Any], where: Where, answer: str) -> list[Event]:
    failed = text(line, "status") != "success"
    said = text(line, "error", "message") if failed else answer
    happened: list[Event] = [Message(role="error", text=said, **where)] if failed and said else []
    if stats := mapping(line, "stats"):
        named = [(name, sums) for name, sums in mapping(stats, "models").items() if isinstance(name, str)]
        by_model = {name: used for name, sums in named if (used := _run_tokens(sums))}
        happened.append(RunTotal(tokens=by_model, usage=_run_tokens(stats), **where))
    return [*happened, End(reason=text(line, "status"), error=failed, text=said, **where)]


def _run_tokens(sums: object) -> Tokens | None:
    """Return what *sums* says: ``input_tokens`` contains the cached ones; what was thought is only in the total."""
    prompt, output = count(sums, "input_tokens"), count(sums, "output_tokens")
    thought = max(0, count(sums, "total_tokens") - prompt - output) if prompt or output else 0
    return _tokens(prompt, count(sums, "cached"), output + thought)


def words(content: object) -> str:
    """Return the words in *content* without what hooks added to them."""
    return re.sub(f"{_HOOK}.*?{_HOOK_END}", "", text_of(content), flags=re.DOTALL).strip()


def is_typed(said: str) -> bool:
    """Return whether a person typed *said*, the words of a user message."""
    return bool(said) and not said.startswith(_MACHINE)


def answered(result: object) -> str:
    """Return the text that a tool answered, without what differs each time.

    It is a list of parts with a ``functionResponse`` each, or a text.
    """
    found = [_response(part) or text_of(part) for part in _parts(result)]
    return re.sub(_AROUND, "", words("\n".join(filter(None, found))), flags=re.MULTILINE)


def failure(result: object) -> str:
    """Return the error in a tool's answer, empty if there is none."""
    errors = [text(part, "functionResponse", "response", "error") for part in _parts(result)]
    return next(filter(None, errors), "")


def _parts(result: object) -> list[Any]:
    return result if isinstance(result, list) else [result]


def _response(part: object) -> str:
    response = mapping(part, "functionResponse", "response")
    return text(response, "output") or text(response, "error") or text_of(value(response, "content"))
