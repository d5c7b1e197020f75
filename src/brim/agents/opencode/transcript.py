"""opencode: ``opencode run --format json``, and the object that ``opencode export`` writes.

The stream names no model; an export does. ``tokens.input`` is without what was read from or written
to a cache, and ``reasoning`` is counted in addition to ``output``. A cost of 0 is also written
where opencode knows no price: it counts as unsaid.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from brim.agents.events import Compaction, End, ModelSeen, Usage
from brim.agents.fields import count, first_text, flag, items, mapping, text, value
from brim.agents.lines import LineReader, micro_dollars, refusal_in
from brim.agents.opencode.value import TOOLS
from brim.agents.times import seconds
from brim.models.usage import Tokens

_TYPES = ("step_start", "step_finish", "text", "tool_use", "reasoning", "error")
_LAST_STEPS = ("stop", "length", "content-filter", "error")


class OpencodeReader(LineReader):
    """Reads a stream line by line, or an export as one line."""

    tools = TOOLS

    _model = ""
    _last_answer = ""

    @staticmethod
    def recognises(line: Mapping[str, Any]) -> bool:
        """Return whether *line* is one of the stream, or an export."""
        if text(line, "sessionID") and text(line, "type") in _TYPES:
            return True
        return bool(text(line, "info", "id")) and isinstance(value(line, "messages"), list)

    def read(self, line: Mapping[str, Any]) -> None:
        """Tell what happened in *line*."""
        if "messages" in line:
            self._export(line)
            return
        self.where["session"] = text(line, "sessionID")
        self.where["time"] = seconds(value(line, "timestamp"))
        self.states(line, folder="cwd")
        if text(line, "type") == "error":
            self._error(mapping(line, "error"))
        else:
            self._part(mapping(line, "part"), "assistant")

    def _export(self, line: Mapping[str, Any]) -> None:
        session = mapping(line, "info")
        id = text(session, "id")
        parent = text(session, "parentID")
        self.where["session"] = parent or id
        self.where["agent"] = id if parent else ""
        self.where["time"] = seconds(value(session, "time", "created"))
        self.states(session, folder="directory", version="version")
        for message in items(line, "messages"):
            self._message(mapping(message, "info"), items(message, "parts"))

    def _message(self, message: Mapping[str, Any], parts: list[Any]) -> None:
        self.where["time"] = seconds(value(message, "time", "created"))
        model = text(message, "modelID") or text(message, "model", "modelID")
        if model and model != self._model:
            self._model = model
            self.tell(ModelSeen, model=model)
        role = "summary" if flag(message, "summary") else text(message, "role")
        for part in parts:
            self._part(mapping(part), role)
        if message.get("error"):
            self._error(mapping(message, "error"))

    def _part(self, part: Mapping[str, Any], role: str) -> None:
        kind = text(part, "type")
        if kind == "tool":
            self._tool(part)
        elif not self.told.is_new(text(part, "id")):
            return
        elif kind == "step-finish":
            self._step(part)
        elif kind == "compaction":
            self.tell(Compaction, trigger="auto" if flag(part, "auto") else "manual")
        elif kind == "text":
            self._words(part, role)

    def _step(self, part: Mapping[str, Any]) -> None:
        """Tell the request of a step that ended, and the end of the turn if it was the last."""
        usage = _tokens(mapping(part, "tokens"))
        if usage:
            cost = micro_dollars(part, "cost") or None
            self.tell(Usage, tokens=usage, model=self._model, request=text(part, "id"), cost=cost)
        reason = text(part, "reason")
        if reason in _LAST_STEPS:
            self.tell(End, reason=reason, error=reason == "error", text=self._last_answer)

    def _words(self, part: Mapping[str, Any], role: str) -> None:
        words = text(part, "text")
        if not words:
            return
        self._last_answer = words
        human = role == "user" and not self.where.get("agent") and not flag(part, "synthetic")
        self.say(role or "assistant", words, human=human, id=text(part, "messageID"))

    def _tool(self, part: Mapping[str, Any]) -> None:
        id = first_text(part, "callID", "id")
        state = mapping(part, "state")
        if self.told.is_new(f"call:{id}"):
            self.call(id, text(part, "tool"), value(state, "input"))
        status = text(state, "status")
        if status in ("completed", "error") and self.told.is_new(f"result:{id}"):
            self._result(id, state, failed=status == "error")

    def _result(self, id: str, state: Mapping[str, Any], *, failed: bool) -> None:
        answer = text(state, "output")
        refusal = ""
        if failed:
            answer = text(state, "error")
            refusal = refusal_in(answer)
        detail = value(state, "metadata")
        self.result(
            id,
            answer,
            failed=failed,
            refusal=refusal,
            code=value(detail, "exit"),
            detail=detail,
            time=seconds(value(state, "time", "end")) or self.where["time"],
        )

    def _error(self, error: Mapping[str, Any]) -> None:
        message = text(error, "data", "message") or first_text(error, "message", "name")
        if message:
            self.say("error", message)
            self.tell(End, reason="error", error=True, text=message)


def _tokens(tokens: Mapping[str, Any]) -> Tokens | None:
    prompt = count(tokens, "input")
    read = count(tokens, "cache", "read")
    written = count(tokens, "cache", "write")
    output = count(tokens, "output") + count(tokens, "reasoning")
    if not prompt + read + written + output:
        return None
    return Tokens(input=prompt, cache_read=read, cache_write_5m=written, output=output)
