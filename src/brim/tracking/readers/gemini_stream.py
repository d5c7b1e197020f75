"""``gemini -o stream-json``: what one run of Gemini CLI did.

Only its last line has numbers, and they are sums over the run: a ``RunTotal``. What was in the window is not told.
"""

from __future__ import annotations

from collections.abc import Mapping

from brim.models.usage import Tokens
from brim.tracking.events import End, Message, ModelSeen, RunTotal, ToolCall, ToolResult
from brim.tracking.readers.declined import refusal_in
from brim.tracking.readers.fields import count, flag, mapping, text, text_of, value
from brim.tracking.readers.gemini_parts import exit_code, is_typed, words
from brim.tracking.readers.inputs import arguments, named
from brim.tracking.readers.times import seconds
from brim.tracking.readers.tools import tool_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from brim.tracking.events import Event

_STATUSES = ("success", "error", "cancelled")


def recognises(line: Mapping[str, Any]) -> bool:
    """Return whether *line* is one of this stream."""
    kind = text(line, "type")
    if kind == "init":
        return bool(text(line, "session_id")) and "subtype" not in line
    if kind == "message":
        return (
            isinstance(value(line, "content"), str) and text(line, "role") in ("user", "assistant") and "id" not in line
        )
    if kind == "error":
        return bool(text(line, "severity") and text(line, "message"))
    if kind == "result":
        return text(line, "status") in _STATUSES and "subtype" not in line
    return kind in ("tool_use", "tool_result") and bool(text(line, "tool_id"))


class GeminiStreamReader:
    """Reads one stream, line by line. An answer comes in pieces: it is told when the next thing happens."""

    def __init__(self) -> None:
        self._session = ""
        self._answer: list[str] = []
        self._answer_where: dict[str, Any] = {}

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
        told = self._answer[-1:] and "".join(self._answer)
        return [*self.finish(), *self._happened(kind, line, where, told or "")]

    def finish(self) -> list[Event]:
        """Return the answer whose end no line showed yet."""
        said, where = "".join(self._answer), self._answer_where
        self._answer, self._answer_where = [], {}
        return [Message(role="assistant", text=said, **where)] if said else []

    def _happened(self, kind: str, line: Mapping[str, Any], where: Mapping[str, Any], answer: str) -> list[Event]:
        if kind == "init" and text(line, "model"):
            return [ModelSeen(model=text(line, "model"), **where)]
        if kind == "message":
            said, user = words(value(line, "content")), text(line, "role") == "user"
            role = "user" if user else "assistant"
            return [Message(role=role, text=said, human=user and is_typed(said), **where)] if said else []
        if kind == "tool_use":
            tool = tool_of(text(line, "tool_name"))
            given = named(tool, arguments(value(line, "parameters")))
            return [ToolCall(id=text(line, "tool_id"), name=text(line, "tool_name"), tool=tool, input=given, **where)]
        if kind == "tool_result":
            return [_result(line, where)]
        if kind == "error":
            role = "system" if text(line, "severity") == "warning" else "error"
            return [Message(role=role, text=text(line, "message"), **where)] if text(line, "message") else []
        return _end(line, where, answer) if kind == "result" else []


def _result(line: Mapping[str, Any], where: Mapping[str, Any]) -> ToolResult:
    said = words(value(line, "output")) or text(line, "error", "message") or text_of(value(line, "error"))
    ended_badly = text(line, "status") != "success"
    refusal = (refusal_in(said) or ("interrupt" if text(line, "status") == "cancelled" else "")) if ended_badly else ""
    code = exit_code(said)
    failed = ended_badly or bool(code)
    detail = None if code is None else {"exit_code": code}
    return ToolResult(id=text(line, "tool_id"), text=said, error=failed, refusal=refusal, detail=detail, **where)


def _end(line: Mapping[str, Any], where: Mapping[str, Any], answer: str) -> list[Event]:
    failed = text(line, "status") != "success"
    said = text(line, "error", "message") if failed else answer
    happened: list[Event] = [Message(role="error", text=said, **where)] if failed and said else []
    stats = mapping(line, "stats")
    if stats:
        by_model = {name: _tokens(sums) for name, sums in mapping(stats, "models").items() if isinstance(name, str)}
        happened.append(
            RunTotal(tokens={name: sums for name, sums in by_model.items() if sums}, usage=_tokens(stats), **where)
        )
    return [*happened, End(reason=text(line, "status"), error=failed, text=said, **where)]


def _tokens(sums: object) -> Tokens | None:
    """Return what *sums* says: ``input_tokens`` contains the cached ones; what was thought is only in the total."""
    prompt, read, output = count(sums, "input_tokens"), count(sums, "cached"), count(sums, "output_tokens")
    thought = max(0, count(sums, "total_tokens") - prompt - output)
    if not prompt and not output:
        return None
    return Tokens(input=max(0, prompt - read), cache_read=min(read, prompt), output=output + thought)
