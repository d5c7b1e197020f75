"""opencode: ``opencode run --format json``, and the object that ``opencode export`` writes.

The stream names no model; an export does. ``tokens.input`` is without what was read from or written to a cache, and
``reasoning`` is counted in addition to ``output``. A cost of 0 is also written where opencode knows no price: it counts
as unsaid.
"""

from __future__ import annotations

from collections.abc import Mapping

from brim.models.usage import Tokens
from brim.tracking.events import Compaction, End, Message, ModelSeen, ToolResult, Usage
from brim.tracking.readers.fields import (
    Told,
    count,
    flag,
    items,
    mapping,
    micro_dollars,
    refusal_in,
    seconds,
    text,
    tool_call,
    value,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from brim.tracking.events import Event
    from brim.tracking.readers.fields import Where

_TYPES = ("step_start", "step_finish", "text", "tool_use", "reasoning", "error")
_LAST_STEPS = ("stop", "length", "content-filter", "error")


class OpencodeReader:
    """Reads a stream line by line, or an export as one line."""

    def __init__(self) -> None:
        self._told = Told()
        self._model = ""
        self._last = ""

    @staticmethod
    def recognises(line: Mapping[str, Any]) -> bool:
        """Return whether *line* is one of the stream, or an export."""
        if text(line, "sessionID") and text(line, "type") in _TYPES:
            return True
        return bool(text(line, "info", "id")) and isinstance(value(line, "messages"), list)

    def events(self, line: Mapping[str, Any], at: int = 0) -> list[Event]:
        """Return what happened in *line*, which begins at byte *at* of its stream."""
        if "messages" in line:
            return self._export(line, at)
        time = seconds(value(line, "timestamp"))
        where: dict[str, Any] = {"session": text(line, "sessionID"), "time": time, "at": at}
        if text(line, "type") == "error":
            return _error(mapping(line, "error"), where)
        return self._part(mapping(line, "part"), "assistant", where)

    def _export(self, line: Mapping[str, Any], at: int) -> list[Event]:
        about = mapping(line, "info")
        parent = text(about, "parentID")
        where: dict[str, Any] = {"session": parent or text(about, "id"), "agent": text(about, "id") if parent else ""}
        where |= {"at": at, "time": seconds(value(about, "time", "created"))}
        happened = Told().states(where, folder=text(about, "directory"), version=text(about, "version"))
        for message in items(line, "messages"):
            happened += self._message(mapping(message, "info"), items(message, "parts"), where)
        return happened

    def _message(self, about: Mapping[str, Any], parts: list[Any], where: dict[str, Any]) -> list[Event]:
        role = text(about, "role")
        where = {**where, "time": seconds(value(about, "time", "created"))}
        happened: list[Event] = []
        model = text(about, "modelID") or text(about, "model", "modelID")
        if model and model != self._model:
            self._model = model
            happened.append(ModelSeen(model=model, **where))
        role = "summary" if flag(about, "summary") else role
        for part in parts:
            happened += self._part(mapping(part), role, where)
        return happened + (_error(mapping(about, "error"), where) if about.get("error") else [])

    def _part(self, part: Mapping[str, Any], role: str, where: Where) -> list[Event]:
        kind = text(part, "type")
        if kind == "tool":
            return self._tool(part, where)
        if not self._told.is_new(text(part, "id")):
            return []
        if kind == "step-finish":
            return self._step(part, where)
        if kind == "compaction":
            return [Compaction(trigger="auto" if flag(part, "auto") else "manual", **where)]
        said = text(part, "text")
        if kind != "text" or not said:
            return []
        self._last = said
        human = role == "user" and not where.get("agent") and not flag(part, "synthetic")
        return [Message(role=role or "assistant", text=said, human=human, id=text(part, "messageID"), **where)]

    def _step(self, part: Mapping[str, Any], where: Where) -> list[Event]:
        happened: list[Event] = []
        if used := _tokens(mapping(part, "tokens")):
            cost = micro_dollars(part, "cost") or None
            happened.append(Usage(tokens=used, model=self._model, request=text(part, "id"), cost=cost, **where))
        reason = text(part, "reason")
        if reason in _LAST_STEPS:
            happened.append(End(reason=reason, error=reason == "error", text=self._last, **where))
        return happened

    def _tool(self, part: Mapping[str, Any], where: Where) -> list[Event]:
        id, name, state = text(part, "callID") or text(part, "id"), text(part, "tool"), mapping(part, "state")
        happened: list[Event] = []
        if self._told.is_new(f"call:{id}"):
            happened.append(tool_call(id, name, value(state, "input"), where))
        if text(state, "status") in ("completed", "error") and self._told.is_new(f"result:{id}"):
            happened.append(_result(id, state, where))
        return happened


def _result(id: str, state: Mapping[str, Any], where: Where) -> ToolResult:
    failed = text(state, "status") == "error"
    said = text(state, "error") if failed else text(state, "output")
    code = value(state, "metadata", "exit")
    refusal = refusal_in(said) if failed else ""
    failed = failed or (type(code) is int and code != 0)
    where = {**where, "time": seconds(value(state, "time", "end")) or where["time"]}
    return ToolResult(id=id, text=said, error=failed, refusal=refusal, detail=value(state, "metadata"), **where)


def _error(error: Mapping[str, Any], where: Where) -> list[Event]:
    said = text(error, "data", "message") or text(error, "message") or text(error, "name")
    told = [Message(role="error", text=said, **where), End(reason="error", error=True, text=said, **where)]
    return told if said else []


def _tokens(tokens: Mapping[str, Any]) -> Tokens | None:
    prompt, read, written = count(tokens, "input"), count(tokens, "cache", "read"), count(tokens, "cache", "write")
    output = count(tokens, "output") + count(tokens, "reasoning")
    if not prompt + read + written + output:
        return None
    return Tokens(input=prompt, cache_read=read, cache_write_5m=written, output=output)
