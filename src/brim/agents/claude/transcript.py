"""Reads Claude Code: its transcripts, its stream, and what it gives to a status line.

A transcript is ``projects/<folder>/<session>.jsonl`` and the files of its sub-agents. One answer is
several lines, one per block, each with the usage of the whole answer: it is reported once. The
stream is that of ``claude --output-format stream-json``, and the short events of orchestrators that
look like it. There the output tokens of an answer are a placeholder until a partial-message event
or the ``result`` gives them. A ``result`` is a sum over every call, never what is in the window.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from brim.agents.claude.lines import ClaudeLineReader, is_written_by_client, words
from brim.agents.claude.reports import (
    compaction_of,
    message_of,
    report_of,
    request_key,
    run_total,
    where_of,
)
from brim.agents.claude.value import tagged, typed_text
from brim.agents.events import Attachment, Compaction, End, Message, ModelSeen, RunTotal, Usage
from brim.agents.fields import count, first_text, flag, items, mapping, text, text_of, value
from brim.agents.lines import SYNTHETIC, Bounded, LineReader, Told, micro_dollars, tokens
from brim.agents.times import seconds

_CONTINUED = "This session is being continued"
"""How the summary of a compaction begins."""

_STREAM_KEYS: dict[str, set[str]] = {
    "stream_event": set(),
    "control_request": set(),
    "control_response": set(),
    "keep_alive": set(),
    "rate_limit_event": set(),
    "system": {"subtype"},
    "tool_use": {"name", "input"},
    "tool_result": {"tool_use_id"},
}
"""Types of the stream's lines, and the keys that they have."""


class ClaudeTranscriptReader(ClaudeLineReader):
    """Reads one session: its own file first, then those of its sub-agents, with ``agent`` set to
    the id of each."""

    def __init__(self) -> None:
        super().__init__()
        self.agent = ""
        """Whose file is read; empty for the session's own."""
        self._last_report: tuple[str, object] = ("", None)
        self._main_messages = Told()
        self._lines = Told()

    @staticmethod
    def recognises(line: Mapping[str, Any]) -> bool:
        """Return whether *line* is of a transcript: its keys are in camel case, unlike the
        stream's."""
        kind = line.get("type")
        if not isinstance(kind, str):
            return False
        if "isSidechain" in line or isinstance(line.get("sessionId"), str):
            return True
        if kind == "summary":
            return "leafUuid" in line
        return kind.startswith("file-history-")

    def read(self, line: Mapping[str, Any]) -> None:
        """Tell what happened in *line*."""
        self.where = where_of(line, self.agent, self.where["at"])
        self._places[text(line, "uuid")] = self.where["at"]
        if not self.where["agent"]:
            self.states(
                line,
                permission_mode="permissionMode",
                branch="gitBranch",
                folder="cwd",
                version="version",
            )
        kind = line.get("type")
        if kind == "assistant":
            self._assistant(line)
        elif kind == "user":
            self._user(line)
        elif kind == "attachment":
            self._attachment(line, mapping(line, "attachment"))
        else:
            self._report(line)

    def _report(self, line: Mapping[str, Any]) -> None:
        report = report_of(line, agent=self.agent, at=self.where["at"])
        if isinstance(report, Compaction):
            self.tell_compaction(line, report)
        elif report is not None:
            self.line_events.append(report)

    def _assistant(self, line: Mapping[str, Any]) -> None:
        message = message_of(line)
        if self.where["agent"] and text(message, "id") in self._main_messages:
            return
        if flag(line, "isApiErrorMessage"):
            self.tell_message(message, "error")
            return
        if text(message, "model") == SYNTHETIC:
            self.tell_message(message, "system")
            return
        self.see_model(text(message, "model"))
        self._request(line, message)
        if self._lines.is_new(text(line, "uuid")):
            # A session that is resumed can have its history again.
            self.tell_message(message, "assistant")

    def _request(self, line: Mapping[str, Any], message: Mapping[str, Any]) -> None:
        """Tell the request that *line* reports, unless the line before it reported the same."""
        id = text(message, "id")
        key = request_key(id, text(line, "requestId"))
        report = (key, message.get("usage"))
        if key and report == self._last_report:
            return
        self._last_report = report
        usage = report_of(line, agent=self.agent, at=self.where["at"])
        if not isinstance(usage, Usage):
            return
        if not self.where["agent"]:
            self._main_messages.is_new(id)
        if self._requests.is_new(usage.request, usage.tokens):
            self.line_events.append(usage)

    def _user(self, line: Mapping[str, Any]) -> None:
        content = message_of(line).get("content")
        id = text(line, "uuid")
        if not self._lines.is_new(id):
            return
        if flag(line, "isCompactSummary"):
            self.tell(Message, role="summary", text=text_of(content), id=id)
            return
        has_results = self.tell_results(line, content)
        prompt, is_typed = words(line, content)
        human = is_typed and not has_results and not self.where["agent"]
        self.say("user", prompt, human=human, id=id)
        if not human:
            self._notification(prompt)

    def _notification(self, notice: str) -> None:
        """Tell the end of a sub-agent, if *notice* tells the main thread of one."""
        if not notice.startswith("<task-notification>"):
            return
        answer = tagged(notice, "result") or tagged(notice, "summary")
        self.end_sub_agent(tagged(notice, "task-id"), tagged(notice, "status"), answer)

    def _attachment(self, line: Mapping[str, Any], attachment: Mapping[str, Any]) -> None:
        kind = text(attachment, "type")
        if kind == "queued_command" and not self.where["agent"]:
            self._queued_command(attachment)
            return
        if kind == "model":
            self.see_model(text(attachment, "identity", "modelId"), chosen=True)
        path = ""
        if kind == "file":
            path = text(attachment, "filename")
        texts = _attached_texts(line, attachment, kind)
        if path or any(texts):
            self.tell(Attachment, kind=kind, path=path, text="\n".join(texts))

    def _queued_command(self, attachment: Mapping[str, Any]) -> None:
        """Tell what a person typed while the model was at work, or a notification."""
        prompt = text_of(attachment.get("prompt"))
        is_prompt = text(attachment, "commandMode") in ("", "prompt")
        typed = ""
        if is_prompt and not is_written_by_client(attachment):
            typed = typed_text(prompt)
        if typed:
            self.say("user", typed, human=True)
        else:
            self._notification(prompt)


def _attached_texts(line: Mapping[str, Any], attachment: Mapping[str, Any], kind: str) -> list[str]:
    """Return the texts of an *attachment*, as the model gets them if the *line* says that."""
    rendered = [text(part, "content") for part in items(line, "rendered")]
    if rendered:
        return rendered
    if kind == "file":
        return [text(attachment, "content", "file", "content")]
    if kind == "hook_additional_context":
        return [part for part in items(attachment, "content") if isinstance(part, str)]
    return []


# The stream ---------------------------------------------------------------------------------------


@dataclass
class _OpenAnswer:
    """An answer of which the stream hasn't shown the end."""

    id: str
    key: str
    """The key of its request, which comes after its beginning."""
    model: str
    usage: dict[str, Any]


class ClaudeStreamReader(ClaudeLineReader):
    """Reads one stream. Sub-agents speak in it too, under the tool call that started them."""

    def __init__(self) -> None:
        super().__init__()
        self._open_answers = Bounded(1_000)
        self._awaits_summary = False

    @staticmethod
    def recognises(line: Mapping[str, Any]) -> bool:
        """Return whether *line* is an event of the stream."""
        if "sessionId" in line or "isSidechain" in line:
            return False
        kind = text(line, "type")
        if kind in ("assistant", "user"):
            return "message" in line or "content" in line
        if kind == "result":
            return "stats" not in line
        return kind in _STREAM_KEYS and line.keys() >= _STREAM_KEYS[kind]

    def read(self, line: Mapping[str, Any]) -> None:
        """Tell what happened in *line*."""
        agent = ""
        if text(line, "parent_tool_use_id"):
            agent = first_text(line, "agent_id", "parent_tool_use_id")
        self.where["session"] = text(line, "session_id")
        self.where["agent"] = agent
        self.where["time"] = seconds(line.get("timestamp"))
        self._places[text(line, "uuid")] = self.where["at"]
        read_kind = _STREAM_READERS.get(text(line, "type"))
        if read_kind is not None:
            read_kind(self, line)

    def _assistant(self, line: Mapping[str, Any]) -> None:
        message = message_of(line)
        id = text(message, "id")
        model = text(message, "model")
        if flag(line, "is_api_error_message") or flag(line, "isApiErrorMessage"):
            self.tell_message(message, "error")
            return
        if model == SYNTHETIC:
            self.tell_message(message, "system")
            return
        key = request_key(id, first_text(line, "request_id", "requestId"))
        answer = self._open_answers.get(self.where["agent"])
        if answer is not None and answer.id == id:
            answer.key = key
        self.see_model(model)
        self._usage(key, model, message.get("usage"), final=bool(message.get("stop_reason")))
        self.tell_message(message, "assistant")

    def _usage(self, key: str, model: str, usage: object, *, final: bool) -> None:
        request_tokens = tokens(usage)
        if request_tokens and self._requests.is_new(key, request_tokens, final=final):
            self.tell(Usage, tokens=request_tokens, model=model, request=key, final=final)

    def _partial(self, line: Mapping[str, Any]) -> None:
        """Follow one answer: it begins with the prompt's tokens and ends with the output's.

        Its key comes between.
        """
        event = mapping(line, "event")
        agent = self.where["agent"]
        kind = event.get("type")
        if kind == "message_start":
            self._open_answers[agent] = _opened_answer(mapping(event, "message"))
        elif kind == "message_delta" and agent in self._open_answers:
            answer = self._open_answers[agent]
            reported = mapping(event, "usage").items()
            answer.usage.update({name: number for name, number in reported if number is not None})
            self._usage(answer.key, answer.model, answer.usage, final=True)
        elif kind == "message_stop":
            self._open_answers.pop(agent, None)

    def _user(self, line: Mapping[str, Any]) -> None:
        content = message_of(line).get("content")
        has_results = self.tell_results(line, content)
        prompt, is_typed = words(line, content)
        role = "user"
        if self._is_summary(line, prompt):
            self._awaits_summary = False
            role = "summary"
        human = is_typed and not has_results
        self.say(role, prompt, human=human, id=text(line, "uuid"))

    def _is_summary(self, line: Mapping[str, Any], prompt: str) -> bool:
        """Whether *prompt* is the summary that a compaction left."""
        if not self._awaits_summary or not prompt or self.where["agent"]:
            return False
        return flag(line, "isSynthetic") or prompt.startswith(_CONTINUED)

    def _results(self, line: Mapping[str, Any]) -> None:
        self.tell_results(line, [line])

    def _system(self, line: Mapping[str, Any]) -> None:
        subtype = line.get("subtype")
        is_main = not self.where["agent"]
        if subtype == "compact_boundary":
            self._awaits_summary = self._awaits_summary or is_main
            self.tell_compaction(line, compaction_of(line, self.where))
        elif subtype == "task_started" and "agent" in text(line, "task_type"):
            self._sub_agents.is_new(text(line, "task_id"))
        elif subtype == "task_notification":
            self.end_sub_agent(text(line, "task_id"), text(line, "status"), text(line, "summary"))
        if not is_main:
            return
        self.states(
            line, permission_mode="permissionMode", folder="cwd", version="claude_code_version"
        )
        if subtype == "init":
            self.see_model(text(line, "model"), chosen=True)

    def _context_usage(self, line: Mapping[str, Any]) -> None:
        answer = mapping(line, "response", "response")
        model = text(answer, "model")
        window = count(answer, "maxTokens")
        if model and window:
            self._models[self.where["agent"]] = model
            self.tell(ModelSeen, model=model, window=window)

    def _end(self, line: Mapping[str, Any]) -> None:
        total = run_total(line, self.where)
        if total:
            self.line_events.append(total)
        errors = [error for error in items(line, "errors") if isinstance(error, str)]
        self.tell(
            End,
            reason=first_text(line, "terminal_reason", "subtype"),
            error=flag(line, "is_error"),
            text=text(line, "result") or "; ".join(errors),
        )


_STREAM_READERS = {
    "assistant": ClaudeStreamReader._assistant,
    "user": ClaudeStreamReader._user,
    "stream_event": ClaudeStreamReader._partial,
    "result": ClaudeStreamReader._end,
    "system": ClaudeStreamReader._system,
    "control_response": ClaudeStreamReader._context_usage,
    "tool_use": ClaudeStreamReader.tell_call,
    "tool_result": ClaudeStreamReader._results,
}
"""What reads each type of the stream's lines."""


def _opened_answer(message: Mapping[str, Any]) -> _OpenAnswer:
    id = text(message, "id")
    usage = dict(mapping(message, "usage"))
    return _OpenAnswer(id=id, key=id, model=text(message, "model"), usage=usage)


# The status line ----------------------------------------------------------------------------------


class ClaudeStatusReader(LineReader):
    """Reads one status after the other. They come often: only what changed is told."""

    _requests = 0

    @staticmethod
    def recognises(line: Mapping[str, Any]) -> bool:
        """Return whether *line* is the input of a status line."""
        if "type" in line:
            return False
        return isinstance(line.get("context_window"), dict) and isinstance(line.get("model"), dict)

    def read(self, line: Mapping[str, Any]) -> None:
        """Tell what changed with *line*."""
        session = text(line, "session_id")
        model = text(line, "model", "id")
        window = count(line, "context_window", "context_window_size")
        self.where["session"] = session
        if model and self.told.is_new("model", (session, model, window)):
            self.tell(ModelSeen, model=model, window=window)
        self.states(line, folder="cwd", version="version")
        self._request(line, session, model)
        cost = micro_dollars(line, "cost", "total_cost_usd")
        if cost is not None and self.told.is_new("cost", (session, cost)):
            windows = {model: window} if model and window else {}
            self.tell(RunTotal, cost=cost, windows=windows)

    def _request(self, line: Mapping[str, Any], session: str, model: str) -> None:
        usage = tokens(value(line, "context_window", "current_usage"))
        if not usage or not self.told.is_new("usage", (session, usage)):
            return
        # A status names no request.
        self._requests += 1
        request = f"status:{session}:{self._requests}:{usage.prompt}:{usage.output}"
        self.tell(Usage, tokens=usage, model=model, request=request)
