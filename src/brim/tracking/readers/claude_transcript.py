"""Reads the transcripts of Claude Code: ``projects/<folder>/<session>.jsonl`` and the files of its sub-agents.

One answer is several lines, one per block, each with the usage of the whole answer: it is reported once. A compaction's
own request is in no line but in the totals of ``cost-state``.
"""

from __future__ import annotations

from brim.tracking.events import Compaction, End, Message, ModelSeen, StateSeen, Usage
from brim.tracking.readers.claude_blocks import SYNTHETIC, answered, boundary, message_of, run_total, spoken
from brim.tracking.readers.claude_words import tagged, typed_text, words
from brim.tracking.readers.fields import flag, mapping, micro_dollars, text, text_of, tokens
from brim.tracking.readers.requests import Ids, Requests
from brim.tracking.readers.times import seconds
from brim.tracking.windows import is_short_for

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from brim.tracking.events import Event

_STATES = (("permissionMode", "permission_mode"), ("gitBranch", "branch"), ("cwd", "folder"), ("version", "version"))
_UNKNOWN_AGENT = "sidechain"
"""Older transcripts mark the lines of sub-agents without saying whose they are."""


def recognises(line: Mapping[str, Any]) -> bool:
    """Return whether *line* is of a transcript: its keys are in camel case, unlike the stream's."""
    kind = line.get("type")
    if not isinstance(kind, str):
        return False
    if "isSidechain" in line or kind.startswith("file-history-") or (kind == "summary" and "leafUuid" in line):
        return True
    return isinstance(line.get("sessionId"), str)


class ClaudeTranscriptReader:
    """Reads one session: its own file first, then those of its sub-agents, with ``agent`` set to each one's id."""

    def __init__(self) -> None:
        self.agent = ""
        """Whose file is read; empty for the session's own."""
        self._requests = Requests()
        self._last_report: tuple[str, object] = ("", None)
        self._main_messages = Ids()
        self._lines = Ids()
        self._sub_agents = Ids()
        self._state: dict[str, str] = {}
        self._models: dict[str, str] = {}

    def events(self, line: Mapping[str, Any], at: int = 0) -> list[Event]:
        """Return what happened in *line*."""
        agent = self._agent(line)
        session = text(line, "sessionId") or text(line, "session_id")
        time = seconds(line.get("timestamp"))
        where: dict[str, Any] = {"session": session, "agent": agent, "time": time, "at": at}
        kind = line.get("type")
        found = [] if agent else self._state_changes(line, where)
        if kind == "assistant":
            found += self._assistant(line, where)
        elif kind == "user":
            found += self._user(line, where) if self._is_first(line) else []
        elif kind == "system" and line.get("subtype") == "compact_boundary":
            found.append(Compaction(**boundary(line), **where))
        elif kind == "attachment":
            found += self._attachment(mapping(line, "attachment"), where)
        elif kind == "cost-state":
            found += [total for total in [run_total(line, where)] if total]
        return found

    def _agent(self, line: Mapping[str, Any]) -> str:
        named = text(line, "agentId") or self.agent
        if flag(line, "isSidechain"):
            return named or _UNKNOWN_AGENT
        return self.agent if line.get("isSidechain") is False else named

    def _state_changes(self, line: Mapping[str, Any], where: Mapping[str, Any]) -> list[Event]:
        found: list[Event] = []
        for key, name in _STATES:
            now = line.get(key)
            if isinstance(now, str) and now and self._state.get(name) != now:
                self._state[name] = now
                found.append(StateSeen(name=name, value=now, **where))
        return found

    def _assistant(self, line: Mapping[str, Any], where: Mapping[str, Any]) -> list[Event]:
        message = message_of(line)
        id, model = text(message, "id"), text(message, "model")
        if where["agent"] and id in self._main_messages:
            return []
        if flag(line, "isApiErrorMessage"):
            return spoken(message, "error", where)
        if model == SYNTHETIC:
            return spoken(message, "system", where)
        request = text(line, "requestId")
        key = f"{id}:{request}" if id and request else id or request
        found = self._model_change(model, where)
        reported = (key, message.get("usage"))
        if not key or reported != self._last_report:
            self._last_report = reported
            used = tokens(reported[1])
            if used and not where["agent"]:
                self._main_messages.add(id)
            if used and self._requests.is_news(key, used, final=True):
                cost = micro_dollars(line, "costUSD")
                found.append(Usage(tokens=used, model=model, request=key, cost=cost, **where))
        return found + (spoken(message, "assistant", where) if self._is_first(line) else [])

    def _is_first(self, line: Mapping[str, Any]) -> bool:
        """Return whether *line* was not there before: a session that is resumed can have its history again."""
        id = text(line, "uuid")
        if id in self._lines:
            return False
        self._lines.add(id)
        return True

    def _model_change(self, model: str, where: Mapping[str, Any], *, chosen: bool = False) -> list[Event]:
        """Return the new model; ``claude-x[1m]`` that was *chosen* is the ``claude-x`` of the answers."""
        agent = where["agent"]
        before = self._models.get(agent, "")
        if not model or model == before or (not chosen and is_short_for(model, before)):
            return []
        if len(self._models) > 10_000:
            self._models.clear()
        self._models[agent] = model
        return [ModelSeen(model=model, **where)]

    def _user(self, line: Mapping[str, Any], where: Mapping[str, Any]) -> list[Event]:
        content = message_of(line).get("content")
        id = text(line, "uuid")
        if flag(line, "isCompactSummary"):
            return [Message(role="summary", text=text_of(content), id=id, **where)]
        found = answered(line, content, where)
        if found:
            self._sub_agents.add(text(line, "toolUseResult", "agentId"))
        said, human = words(line, content)
        if said:
            human = human and not found and not where["agent"]
            found.append(Message(role="user", text=said, human=human, id=id, **where))
            found += self._sub_agent_end(said, where) if not human else []
        return found

    def _sub_agent_end(self, said: str, where: Mapping[str, Any]) -> list[Event]:
        if not said.startswith("<task-notification>"):
            return []
        agent, status = tagged(said, "task-id"), tagged(said, "status")
        if agent not in self._sub_agents or not status:
            return []
        result = tagged(said, "result") or tagged(said, "summary")
        return [End(reason=status, error=status != "completed", text=result, **{**where, "agent": agent})]

    def _attachment(self, attachment: Mapping[str, Any], where: Mapping[str, Any]) -> list[Event]:
        kind = attachment.get("type")
        if kind == "model":
            return self._model_change(text(attachment, "identity", "modelId"), where, chosen=True)
        if kind != "queued_command" or where["agent"]:
            return []
        said = text_of(attachment.get("prompt"))
        by_person = text(attachment, "commandMode") in ("", "prompt") and not flag(attachment, "isMeta")
        by_person = by_person and text(attachment, "origin", "kind") in ("", "human")
        if by_person and (typed := typed_text(said)):
            return [Message(role="user", text=typed, human=True, **where)]
        return self._sub_agent_end(said, where)
