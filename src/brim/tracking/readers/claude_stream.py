"""Reads the stream of ``claude --output-format stream-json``, and the short events of orchestrators that look like it.

One answer is several events with the same message id, and its output tokens are a placeholder until a partial-message
event or the ``result`` gives them. A ``result`` is a sum over every call, never what is in the window.
"""

from __future__ import annotations

from brim.tracking.events import Compaction, End, Message, ModelSeen, StateSeen, Usage
from brim.tracking.readers.claude_blocks import SYNTHETIC, answered, boundary, call, message_of, run_total, spoken
from brim.tracking.readers.claude_words import words
from brim.tracking.readers.fields import count, flag, items, mapping, text, tokens
from brim.tracking.readers.requests import Ids, Requests
from brim.tracking.readers.times import seconds
from brim.tracking.windows import is_short_for

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from brim.tracking.events import Event

_STATES = (("permissionMode", "permission_mode"), ("cwd", "folder"), ("claude_code_version", "version"))
_OTHER_TYPES = ("stream_event", "control_request", "control_response", "keep_alive", "rate_limit_event")
_OPEN_MOST = 1_000
_CONTINUED = "This session is being continued"


def recognises(line: Mapping[str, Any]) -> bool:
    """Return whether *line* is an event of the stream."""
    if "sessionId" in line or "isSidechain" in line:
        return False
    match line.get("type"):
        case "assistant" | "user":
            known = "message" in line or "content" in line
        case "system":
            known = "subtype" in line
        case "tool_use":
            known = "name" in line and "input" in line
        case "tool_result":
            known = "tool_use_id" in line
        case "result":
            known = "stats" not in line
        case kind:
            known = kind in _OTHER_TYPES
    return known


class ClaudeStreamReader:
    """Reads one stream. Sub-agents speak in it too, under the tool call that started them."""

    def __init__(self) -> None:
        self._requests = Requests()
        self._sub_agents = Ids()
        self._state: dict[str, str] = {}
        self._models: dict[str, str] = {}
        self._open: dict[str, dict[str, Any]] = {}
        self._compacted = False

    def events(self, line: Mapping[str, Any], at: int = 0) -> list[Event]:
        """Return what happened in *line*."""
        parent = text(line, "parent_tool_use_id")
        agent = (text(line, "agent_id") or parent) if parent else ""
        time = seconds(line.get("timestamp"))
        where: dict[str, Any] = {"session": text(line, "session_id"), "agent": agent, "time": time, "at": at}
        match line.get("type"):
            case "assistant":
                found = self._assistant(line, where)
            case "user":
                found = self._user(line, where)
            case "stream_event":
                found = self._partial(mapping(line, "event"), where)
            case "result":
                found = _result(line, where)
            case "system":
                found = self._system(line, where)
            case "control_response":
                found = self._context_usage(mapping(line, "response", "response"), where)
            case "tool_use":
                found = [call(line, where)]
            case "tool_result":
                found = answered(line, [line], where)
            case _:
                found = []
        return found

    def _assistant(self, line: Mapping[str, Any], where: Mapping[str, Any]) -> list[Event]:
        message = message_of(line)
        id, model = text(message, "id"), text(message, "model")
        if flag(line, "is_api_error_message") or flag(line, "isApiErrorMessage"):
            return spoken(message, "error", where)
        if model == SYNTHETIC:
            return spoken(message, "system", where)
        request = text(line, "request_id") or text(line, "requestId")
        key = f"{id}:{request}" if id and request else id or request
        opened = self._open.get(where["agent"])
        if opened and opened["id"] == id:
            opened["key"] = key
        found = self._model_change(model, where)
        found += self._usage(key, model, message.get("usage"), where, final=bool(message.get("stop_reason")))
        return found + spoken(message, "assistant", where)

    def _usage(self, key: str, model: str, usage: object, where: Mapping[str, Any], *, final: bool) -> list[Event]:
        used = tokens(usage)
        if used is None or not self._requests.is_news(key, used, final=final):
            return []
        return [Usage(tokens=used, model=model, request=key, final=final, **where)]

    def _partial(self, event: Mapping[str, Any], where: Mapping[str, Any]) -> list[Event]:
        """Follow one answer: it begins with the prompt's tokens and ends with the output's; its key comes between."""
        agent, kind = where["agent"], event.get("type")
        if kind == "message_start":
            message = mapping(event, "message")
            if len(self._open) > _OPEN_MOST:
                self._open.clear()
            id = text(message, "id")
            usage = dict(mapping(message, "usage"))
            self._open[agent] = {"id": id, "key": id, "model": text(message, "model"), "usage": usage}
        elif kind == "message_delta" and (opened := self._open.get(agent)):
            opened["usage"].update({name: n for name, n in mapping(event, "usage").items() if n is not None})
            return self._usage(opened["key"], opened["model"], opened["usage"], where, final=True)
        elif kind == "message_stop":
            self._open.pop(agent, None)
        return []

    def _user(self, line: Mapping[str, Any], where: Mapping[str, Any]) -> list[Event]:
        content = message_of(line).get("content")
        found = answered(line, content, where)
        if found:
            self._sub_agents.add(text(line, "tool_use_result", "agentId"))
        said, human = words(line, content)
        if not said:
            return found
        role = "user"
        if self._compacted and not where["agent"] and (flag(line, "isSynthetic") or said.startswith(_CONTINUED)):
            role, self._compacted = "summary", False
        human = human and not found
        return [*found, Message(role=role, text=said, human=human, id=text(line, "uuid"), **where)]

    def _system(self, line: Mapping[str, Any], where: Mapping[str, Any]) -> list[Event]:
        subtype = line.get("subtype")
        found: list[Event] = []
        if subtype == "compact_boundary":
            self._compacted = self._compacted or not where["agent"]
            found.append(Compaction(**boundary(line), **where))
        elif subtype == "task_started" and "agent" in text(line, "task_type"):
            self._sub_agents.add(text(line, "task_id"))
        elif subtype == "task_notification" and (agent := text(line, "task_id")) in self._sub_agents:
            status = text(line, "status")
            ended = {**where, "agent": agent}
            found.append(End(reason=status, error=status != "completed", text=text(line, "summary"), **ended))
        if where["agent"]:
            return found
        for key, name in _STATES:
            now = text(line, key)
            if now and self._state.get(name) != now:
                self._state[name] = now
                found.append(StateSeen(name=name, value=now, **where))
        return found + (self._model_change(text(line, "model"), where, chosen=True) if subtype == "init" else [])

    def _model_change(self, model: str, where: Mapping[str, Any], *, chosen: bool = False) -> list[Event]:
        """Return the new model; ``claude-x[1m]`` that was *chosen* is the ``claude-x`` of the answers."""
        agent = where["agent"]
        before = self._models.get(agent, "")
        if not model or model == before or (not chosen and is_short_for(model, before)):
            return []
        if len(self._models) > _OPEN_MOST:
            self._models.clear()
        self._models[agent] = model
        return [ModelSeen(model=model, **where)]

    def _context_usage(self, answer: Mapping[str, Any], where: Mapping[str, Any]) -> list[Event]:
        model, window = text(answer, "model"), count(answer, "maxTokens")
        if not model or not window:
            return []
        self._models[where["agent"]] = model
        return [ModelSeen(model=model, window=window, **where)]


def _result(line: Mapping[str, Any], where: Mapping[str, Any]) -> list[Event]:
    total = run_total(line, where)
    errors = "; ".join(error for error in items(line, "errors") if isinstance(error, str))
    reason = text(line, "terminal_reason") or text(line, "subtype")
    end = End(reason=reason, error=flag(line, "is_error"), text=text(line, "result") or errors, **where)
    return [total, end] if total else [end]
