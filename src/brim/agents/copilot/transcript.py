"""Reads GitHub Copilot CLI: ``session-state/<session>/events.jsonl``, which also has the lines of
the session's sub-agents.

Each request has a ``session.usage_record``, whose ``inputTokens`` contain what was read from and
written to a cache. A request is known by the thread that made it and its number there: the ids of
the provider may repeat. The request of a compaction has no record: what it took is in
``session.compaction_complete``. A compaction runs beside the turn, so what was said since it began
stays in the window, and so do the person's prompts. ``session.shutdown`` has sums and is left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from brim.agents.copilot.value import TOOLS, answer_and_code, is_typed
from brim.agents.events import Attachment, Compaction, End, Usage
from brim.agents.fields import count, flag, mapping, text, value
from brim.agents.lines import Bounded, SessionReader, refusal_in, tokens_of_prompt
from brim.agents.times import seconds
from brim.models.usage import Tokens

_MOST_KEPT = 5_000
"""Places of lines that a compaction may leave in the window."""
_HOOKS_WITH_TEXT = ("sessionStart", "preToolUse", "postToolUseFailure", "subagentStart")
"""The hooks whose text is in no other line."""


class CopilotEventsReader(SessionReader):
    """Reads one session, line by line."""

    tools = TOOLS

    _compacts = False
    """Whether a compaction has begun and not ended."""

    def __init__(self) -> None:
        super().__init__()
        self._prompts_at = Bounded(_MOST_KEPT)
        self._since_start = Bounded(_MOST_KEPT)
        """Where the lines begin that were written since a compaction began."""

    @staticmethod
    def recognises(line: Mapping[str, Any]) -> bool:
        """Return whether *line* is one of a session's file."""
        has_shape = "parentId" in line and isinstance(line.get("data"), Mapping)
        return has_shape and bool(text(line, "id")) and bool(text(line, "type"))

    def read(self, line: Mapping[str, Any]) -> None:
        """Tell what happened in *line*."""
        kind = text(line, "type")
        data = mapping(line, "data")
        if kind == "session.start":
            self._session = text(data, "sessionId")
        self.where["session"] = self._session
        self.where["agent"] = text(line, "agentId")
        self.where["time"] = seconds(value(line, "timestamp"))
        if self._compacts and not self.where["agent"]:
            self._since_start[self.where["at"]] = True
        read_event = _EVENTS.get(kind)
        if read_event is not None and self.told.is_new(f"line:{text(line, 'id')}"):
            read_event(self, data)

    # The session

    def _start(self, data: Mapping[str, Any]) -> None:
        self.states(data, version="copilotVersion")
        self.states(mapping(data, "context"), folder="cwd", branch="branch")

    def _usage(self, data: Mapping[str, Any]) -> None:
        usage = mapping(data, "usage")
        if not self.where["agent"]:
            # Its window is what a prompt may hold.
            self.see_model(text(usage, "model"), count(usage, "maxPromptTokens"))
        thread = text(usage, "accounting", "sourceSessionId") or self._session
        number = count(usage, "accounting", "sequence")
        self._request(usage, f"{thread}/{number}" if number else "", compacts=False)

    def _request(self, usage: Mapping[str, Any], key: str, *, compacts: bool) -> None:
        """Tell the request of *usage*, if it says what it took."""
        tokens = _tokens(usage)
        if tokens is not None and self.told.is_new(f"usage:{key}" if key else "", tokens):
            model = text(usage, "model") or self._model
            self.tell(Usage, tokens=tokens, model=model, request=key, compacts=compacts)

    # A compaction

    def _begin_compaction(self, _: Mapping[str, Any]) -> None:
        self._since_start.clear()
        self._compacts = True

    def _compaction(self, data: Mapping[str, Any]) -> None:
        """Tell the request of a compaction and, if it was applied, what it left."""
        attempt = text(data, "compactionAttemptId")
        thread = self.where["agent"] or self._session
        key = f"{thread}/compaction/{attempt}" if attempt else ""
        self._request(mapping(data, "compactionTokensUsed"), key, compacts=True)
        self._compacts = False
        if not flag(data, "success"):
            return
        trigger = "manual" if text(data, "trigger") == "manual" else "auto"
        self.tell(
            Compaction,
            trigger=trigger,
            before=count(data, "preCompactionTokens") or None,
            after=count(data, "conversationTokens") or None,  # without system prompt and tools
            kept=(*self._prompts_at, *self._since_start),
        )
        self.say("summary", text(data, "summaryContent"))

    # Messages and calls

    def _system(self, data: Mapping[str, Any]) -> None:
        content = text(data, "content")
        if self.told.is_new(f"system:{self.where['agent']}", content):
            self.say("system", content)

    def _user(self, data: Mapping[str, Any]) -> None:
        content = text(data, "content")
        is_persons = not self.where["agent"] and not text(data, "source")
        if is_persons:
            self._prompts_at[self.where["at"]] = True
        self.say("user", content, human=is_persons and is_typed(content), id=_id(data))
        added = text(data, "transformedContent").rpartition(content)[2].strip()
        if content and added:
            self.tell(Attachment, kind="hook_additional_context", text=added)

    def _assistant(self, data: Mapping[str, Any]) -> None:
        self.say("assistant", text(data, "content"), id=_id(data))

    def _hook(self, data: Mapping[str, Any]) -> None:
        added = text(data, "output", "additionalContext")
        if added and text(data, "hookType") in _HOOKS_WITH_TEXT:
            self.tell(Attachment, kind="hook_additional_context", text=added)

    def _call(self, data: Mapping[str, Any]) -> None:
        self.call(text(data, "toolCallId"), text(data, "toolName"), value(data, "arguments"))

    def _result(self, data: Mapping[str, Any]) -> None:
        failed = not flag(data, "success")
        answer = text(data, "result", "content") or text(data, "error", "message")
        answer, code = answer_and_code(answer)
        own_code = value(data, "shellExecution", "exitCode")
        refusal = ""
        if text(data, "error", "code") in ("denied", "rejected"):
            refusal = "permission"
        elif failed:
            refusal = refusal_in(answer)
        if type(own_code) is int:
            code = own_code
        self.result(text(data, "toolCallId"), answer, failed=failed, refusal=refusal, code=code)

    # Ends

    def _end_sub_agent(self, _: Mapping[str, Any]) -> None:
        self.tell(End, reason="complete")

    def _error(self, data: Mapping[str, Any]) -> None:
        self.say("error", text(data, "message"))


_EVENTS = {
    "session.start": CopilotEventsReader._start,
    "session.resume": CopilotEventsReader._start,
    "session.usage_record": CopilotEventsReader._usage,
    "session.compaction_start": CopilotEventsReader._begin_compaction,
    "session.compaction_complete": CopilotEventsReader._compaction,
    "session.error": CopilotEventsReader._error,
    "system.message": CopilotEventsReader._system,
    "user.message": CopilotEventsReader._user,
    "assistant.message": CopilotEventsReader._assistant,
    "hook.end": CopilotEventsReader._hook,
    "tool.execution_start": CopilotEventsReader._call,
    "tool.execution_complete": CopilotEventsReader._result,
    "subagent.completed": CopilotEventsReader._end_sub_agent,
}
"""What reads each type of line."""


def _id(data: Mapping[str, Any]) -> str:
    return text(data, "messageId")


def _tokens(usage: Mapping[str, Any]) -> Tokens | None:
    """Return what a request took, None if it doesn't say."""
    return tokens_of_prompt(
        count(usage, "inputTokens"),
        count(usage, "outputTokens"),
        read=count(usage, "cacheReadTokens"),
        written=count(usage, "cacheWriteTokens"),
    )
