"""opencode: ``opencode run --format json``, and the object that ``opencode export`` writes.

The stream names no model; an export does. ``tokens.input`` is without what was read from or written
to a cache, and ``reasoning`` is counted in addition to ``output``. A cost of 0 is also written
where opencode knows no price: it counts as unsaid.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from brim.agents.events import Compaction, End, ModelSeen, Usage
from brim.agents.fields import count, flag, items, mapping, text, value
from brim.agents.lines import LineReader, micro_dollars, refusal_in, seconds
from brim.agents.opencode.value import TOOLS
from brim.models.usage import Tokens

_TYPES = ("step_start", "step_finish", "text", "tool_use", "reasoning", "error")
_LAST_STEPS = ("stop", "length", "content-filter", "error")


class OpencodeReader(LineReader):
    """Reads a stream line by line, or an export as one line."""

    tools = TOOLS

    _model = _last = ""

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
        self.where |= {
            "session": text(line, "sessionID"),
            "time": seconds(value(line, "timestamp")),
        }
        if text(line, "type") == "error":
            self._error(mapping(line, "error"))
        else:
            self._part(mapping(line, "part"), "assistant")

    def _export(self, line: Mapping[str, Any]) -> None:
        about = mapping(line, "info")
        id = text(about, "id")
        parent = text(about, "parentID")
        self.where |= {"session": parent or id, "agent": id if parent else ""}
        self.where["time"] = seconds(value(about, "time", "created"))
        self.states(about, folder="directory", version="version")
        for message in items(line, "messages"):
            self._message(mapping(message, "info"), items(message, "parts"))

    def _message(self, about: Mapping[str, Any], parts: list[Any]) -> None:
        self.where["time"] = seconds(value(about, "time", "created"))
        model = text(about, "modelID") or text(about, "model", "modelID")
        if model and model != self._model:
            self._model = model
            self.tell(ModelSeen, model=model)
        for part in parts:
            self._part(mapping(part), "summary" if flag(about, "summary") else text(about, "role"))
        if about.get("error"):
            self._error(mapping(about, "error"))

    def _part(self, part: Mapping[str, Any], role: str) -> None:
        kind = text(part, "type")
        said = text(part, "text")
        if kind == "tool":
            self._tool(part)
        elif not self.told.is_new(text(part, "id")):
            return
        elif kind == "step-finish":
            if used := _tokens(mapping(part, "tokens")):
                cost = micro_dollars(part, "cost") or None
                self.tell(
                    Usage, tokens=used, model=self._model, request=text(part, "id"), cost=cost
                )
            reason = text(part, "reason")
            if reason in _LAST_STEPS:
                self.tell(End, reason=reason, error=reason == "error", text=self._last)
        elif kind == "compaction":
            self.tell(Compaction, trigger="auto" if flag(part, "auto") else "manual")
        elif kind == "text" and said:
            self._last = said
            human = role == "user" and not self.where.get("agent") and not flag(part, "synthetic")
            self.say(role or "assistant", said, human=human, id=text(part, "messageID"))

    def _tool(self, part: Mapping[str, Any]) -> None:
        id = text(part, "callID") or text(part, "id")
        state = mapping(part, "state")
        status = text(state, "status")
        about = value(state, "metadata")
        if self.told.is_new(f"call:{id}"):
            self.call(id, text(part, "tool"), value(state, "input"))
        if status in ("completed", "error") and self.told.is_new(f"result:{id}"):
            failed = status == "error"
            said = text(state, "error") if failed else text(state, "output")
            time = seconds(value(state, "time", "end")) or self.where["time"]
            refusal = refusal_in(said) if failed else ""
            code = value(about, "exit")
            self.result(
                id, said, failed=failed, refusal=refusal, code=code, detail=about, time=time
            )

    def _error(self, error: Mapping[str, Any]) -> None:
        if said := text(error, "data", "message") or text(error, "message") or text(error, "name"):
            self.say("error", said)
            self.tell(End, reason="error", error=True, text=said)


def _tokens(tokens: Mapping[str, Any]) -> Tokens | None:
    prompt = count(tokens, "input")
    read = count(tokens, "cache", "read")
    written = count(tokens, "cache", "write")
    output = count(tokens, "output") + count(tokens, "reasoning")
    if not prompt + read + written + output:
        return None
    return Tokens(input=prompt, cache_read=read, cache_write_5m=written, output=output)
