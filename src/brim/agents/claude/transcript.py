"""Reads Claude Code: its transcripts, its stream, and what it gives to a status line.

A transcript is ``projects/<folder>/<session>.jsonl`` and the files of its sub-agents. One answer is
several lines, one per block, each with the usage of the whole answer: it is reported once. A
compaction's own request is in no line, only in the totals of ``cost-state``. The stream is that of
``claude --output-format stream-json``, and the short events of orchestrators that look like it.
There the output tokens of an answer are a placeholder until a partial-message event or the
``result`` gives them. A ``result`` is a sum over every call, never what is in the window.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from brim.agents.call import ToolCall
from brim.agents.claude.value import TOOLS, tagged, typed_text
from brim.agents.events import Attachment, Compaction, End, Message, ModelSeen, RunTotal, Usage
from brim.agents.fields import count, flag, items, mapping, parsed_line, text, text_of, value, whole
from brim.agents.lines import (
    SYNTHETIC,
    Bounded,
    LineReader,
    Told,
    Where,
    is_short_for,
    micro_dollars,
    opening_of,
    seconds,
    tokens,
)
from brim.models.usage import Tokens

_UNKNOWN_AGENT = "sidechain"
"""Older transcripts mark the lines of sub-agents without saying whose they are."""
_PLACES = 5_000
"""Lines whose place is remembered: a compaction names the latest that it left."""
_CONTINUED = "This session is being continued"
_STREAM_TYPES: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(
        ("stream_event", "control_request", "control_response", "keep_alive", "rate_limit_event"),
        (),
    ),
    "system": ("subtype",),
    "tool_use": ("name", "input"),
    "tool_result": ("tool_use_id",),
}
"""Types of the stream's lines, and the keys that they have."""
_DECISIONS = (
    ("permission", ("reject", "deny", "denied", "block", "permission", "hook")),
    ("interrupt", ("interrupt", "cancel", "abort")),
    ("cascade", ("sibling", "parallel")),
)
"""Parts of the words by which the client itself says that a call wasn't carried out."""


def report_in(line: bytes) -> Usage | RunTotal | Compaction | None:
    """Return the request, total or compaction that a *line* of a transcript reports; None if it
    reports nothing."""
    if not any(sign in line for sign in (b'"usage"', b'"cost-state"', b'"compact_boundary"')):
        return None
    parsed = parsed_line(line)
    return report_of(parsed) if isinstance(parsed, dict) else None


def report_of(
    line: Mapping[str, Any], *, agent: str = "", at: int = 0
) -> Usage | RunTotal | Compaction | None:
    """Return what a parsed *line* of a transcript reports.

    *agent* is the sub-agent whose file it is, *at* the byte where the line begins.

    This is the only place that reads the usage of a transcript. The same request may be in several
    lines and files: count it once, by ``Usage.request``, which is empty if the line names neither
    message nor request.
    """
    kind = line.get("type")
    where = _where(line, agent, at)
    if kind == "system" and line.get("subtype") == "compact_boundary":
        return _compaction(line, where)
    if kind != "assistant":
        return _run_total(line, where) if kind == "cost-state" else None
    message = _message_of(line)
    model = text(message, "model")
    used = (
        None
        if flag(line, "isApiErrorMessage") or model == SYNTHETIC
        else tokens(message.get("usage"))
    )
    if used is None:
        return None
    key = _key(text(message, "id"), text(line, "requestId"))
    return Usage(
        tokens=used, model=model, request=key, cost=micro_dollars(line, "costUSD"), **where
    )


def _where(line: Mapping[str, Any], agent: str, at: int) -> dict[str, Any]:
    """Return session, agent and time of a transcript's *line* in the file of *agent*."""
    own = text(line, "agentId") or agent
    side = line.get("isSidechain")
    agent = own or _UNKNOWN_AGENT if side is True else agent if side is False else own
    session = text(line, "sessionId") or text(line, "session_id")
    return {"session": session, "agent": agent, "time": seconds(line.get("timestamp")), "at": at}


def _key(id: str, request: str) -> str:
    return f"{id}:{request}" if id and request else id or request


class _LineReader(LineReader):
    """What transcript and stream have in common: models, requests and sub-agents that were seen."""

    tools = TOOLS

    def __init__(self) -> None:
        super().__init__()
        self._requests = Told(200_000)
        self._sub_agents = Told()
        self._models = Bounded(1_000)
        self._places = Bounded(_PLACES)

    def _compacted_in(self, line: Mapping[str, Any], compaction: Compaction) -> None:
        """Tell the *compaction* of *line*, with the places of what it left in the window."""
        about = mapping(line, "compact_metadata") or mapping(line, "compactMetadata")
        messages = mapping(about, "preserved_messages") or mapping(about, "preservedMessages")
        ids = (
            items(messages, "all_uuids") or items(messages, "allUuids") or items(messages, "uuids")
        )
        places = [self._places[id] for id in ids if isinstance(id, str) and id in self._places]
        segment = mapping(about, "preserved_segment") or mapping(about, "preservedSegment")
        if not ids and segment:  # older versions name only the ends
            ends = [
                text(segment, f"{end}_uuid") or text(segment, f"{end}Uuid")
                for end in ("head", "tail")
            ]
            first, last = map(self._places.get, ends)
            if first is not None and last is not None:
                places = [at for at in self._places.values() if first <= at <= last]
        self.found.append(replace(compaction, kept=tuple(places)))

    def _see_model(self, model: str, *, chosen: bool = False) -> None:
        """Tell the model if it is new; ``claude-x[1m]`` that was *chosen* is the ``claude-x`` of
        the answers."""
        before = self._models.get(self.where["agent"], "")
        if model and model != before and (chosen or not is_short_for(model, before)):
            self._models[self.where["agent"]] = model
            self.tell(ModelSeen, model=model)

    def _end_sub_agent(self, agent: str, status: str, said: str) -> None:
        if agent in self._sub_agents and status:
            self.tell(End, agent=agent, reason=status, error=status != "completed", text=said)

    def _speak(self, message: Mapping[str, Any], role: str) -> None:
        """Tell the texts and the tool calls of an assistant's *message*.

        *role* is whose text it is.
        """
        id = text(message, "id")
        content = message.get("content")
        for block in content if isinstance(content, list) else [{"type": "text", "text": content}]:
            kind = text(block, "type")
            if kind == "text":
                self.say(role, text(block, "text"), id=id)
            elif kind in ("tool_use", "server_tool_use", "mcp_tool_use"):
                self._call(block)

    def _call(self, block: Mapping[str, Any]) -> None:
        """Tell the call in a ``tool_use`` *block*."""
        name = text(block, "name")
        given = mapping(block, "input")
        kind = self.tools.kind(name)
        if kind == "edit":
            given = self.tools.normalized(kind, given)
        self.tell(ToolCall, id=text(block, "id"), name=name, kind=kind, input=given)

    def _answer(self, line: Mapping[str, Any], content: object) -> bool:
        """Tell the tool results in the *content* of a user's *line*; return whether there are any.

        What the line says in addition to the text belongs to the result if there is only one.
        """
        every = content if isinstance(content, list) else []
        blocks = [block for block in every if text(block, "type") == "tool_result"]
        told = line.get("tool_use_result")
        detail = (line.get("toolUseResult") if told is None else told) if len(blocks) == 1 else None
        for block in blocks:
            id = text(block, "tool_use_id")
            said = text_of(block.get("content"))
            failed = flag(block, "is_error")
            refusal = _decided(line, block, id)
            if not refusal and flag(detail, "interrupted"):
                refusal = "interrupt"
            elif not refusal and failed:
                refusal = refusal_of(said) or (
                    refusal_of(detail) if isinstance(detail, str) else ""
                )
            self.result(id, said, failed=failed, refusal=refusal, detail=detail)
        if blocks:
            self._sub_agents.is_new(
                text(line, "toolUseResult", "agentId") or text(line, "tool_use_result", "agentId")
            )
        return bool(blocks)


class ClaudeTranscriptReader(_LineReader):
    """Reads one session: its own file first, then those of its sub-agents, with ``agent`` set to
    each one's id."""

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
        named = "isSidechain" in line or isinstance(line.get("sessionId"), str)
        return (
            named or kind.startswith("file-history-") or (kind == "summary" and "leafUuid" in line)
        )

    def read(self, line: Mapping[str, Any]) -> None:
        """Tell what happened in *line*."""
        self.where = _where(line, self.agent, self.where["at"])
        kind = line.get("type")
        self._places[text(line, "uuid")] = self.where["at"]
        if not self.where["agent"]:
            self.states(
                line,
                permission_mode="permissionMode",
                branch="gitBranch",
                folder="cwd",
                version="version",
            )
        if kind == "assistant":
            self._assistant(line)
        elif kind == "user":
            self._user(line)
        elif kind == "attachment":
            self._attachment(line, mapping(line, "attachment"))
        elif report := report_of(line, agent=self.agent, at=self.where["at"]):
            if isinstance(report, Compaction):
                self._compacted_in(line, report)
            else:
                self.found.append(report)

    def _assistant(self, line: Mapping[str, Any]) -> None:
        message = _message_of(line)
        agent = self.where["agent"]
        id = text(message, "id")
        model = text(message, "model")
        if agent and id in self._main_messages:
            return
        if flag(line, "isApiErrorMessage") or model == SYNTHETIC:
            self._speak(message, "error" if flag(line, "isApiErrorMessage") else "system")
            return
        self._see_model(model)
        reported = (_key(id, text(line, "requestId")), message.get("usage"))
        if not reported[0] or reported != self._last_report:
            self._last_report = reported
            usage = report_of(line, agent=self.agent, at=self.where["at"])
            if isinstance(usage, Usage):
                if not agent:
                    self._main_messages.is_new(id)
                if self._requests.is_new(usage.request, usage.tokens):
                    self.found.append(usage)
        if self._lines.is_new(text(line, "uuid")):
            # A session that is resumed can have its history again.
            self._speak(message, "assistant")

    def _user(self, line: Mapping[str, Any]) -> None:
        content = _message_of(line).get("content")
        id = text(line, "uuid")
        if not self._lines.is_new(id):
            return
        if flag(line, "isCompactSummary"):
            self.tell(Message, role="summary", text=text_of(content), id=id)
            return
        answered = self._answer(line, content)
        said, human = words(line, content)
        human = human and not answered and not self.where["agent"]
        self.say("user", said, human=human, id=id)
        if not human:
            self._notify(said)

    def _notify(self, said: str) -> None:
        if said.startswith("<task-notification>"):
            result = tagged(said, "result") or tagged(said, "summary")
            self._end_sub_agent(tagged(said, "task-id"), tagged(said, "status"), result)

    def _attachment(self, line: Mapping[str, Any], attachment: Mapping[str, Any]) -> None:
        kind = text(attachment, "type")
        if kind == "model":
            self._see_model(text(attachment, "identity", "modelId"), chosen=True)
        elif kind == "queued_command" and not self.where["agent"]:
            said = text_of(attachment.get("prompt"))
            is_typed = text(attachment, "commandMode") in ("", "prompt") and not _is_machines(
                attachment
            )
            if is_typed and (typed := typed_text(said)):
                self.say("user", typed, human=True)
            else:
                self._notify(said)
            return
        path = text(attachment, "filename") if kind == "file" else ""
        shown = [text(part, "content") for part in items(line, "rendered")]  # as the model gets it
        if not shown and kind == "file":
            shown = [text(attachment, "content", "file", "content")]
        elif not shown and kind == "hook_additional_context":
            shown = [said for said in items(attachment, "content") if isinstance(said, str)]
        if path or any(shown):
            self.tell(Attachment, kind=kind, path=path, text="\n".join(shown))


class ClaudeStreamReader(_LineReader):
    """Reads one stream. Sub-agents speak in it too, under the tool call that started them."""

    def __init__(self) -> None:
        super().__init__()
        self._open = Bounded(1_000)
        self._compacted = False

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
        return kind in _STREAM_TYPES and all(key in line for key in _STREAM_TYPES[kind])

    def read(self, line: Mapping[str, Any]) -> None:
        """Tell what happened in *line*."""
        parent = text(line, "parent_tool_use_id")
        time = seconds(line.get("timestamp"))
        agent = (text(line, "agent_id") or parent) if parent else ""
        self.where |= {"session": text(line, "session_id"), "agent": agent, "time": time}
        self._places[text(line, "uuid")] = self.where["at"]
        readers: dict[str, Callable[[Mapping[str, Any]], object]] = {
            "assistant": self._assistant,
            "user": self._user,
            "stream_event": self._partial,
            "result": self._end,
            "system": self._system,
            "control_response": self._context_usage,
            "tool_use": self._call,
            "tool_result": lambda line: self._answer(line, [line]),
        }
        readers.get(text(line, "type"), bool)(line)

    def _assistant(self, line: Mapping[str, Any]) -> None:
        message = _message_of(line)
        id = text(message, "id")
        model = text(message, "model")
        failed = flag(line, "is_api_error_message") or flag(line, "isApiErrorMessage")
        if failed or model == SYNTHETIC:
            self._speak(message, "error" if failed else "system")
            return
        key = _key(id, text(line, "request_id") or text(line, "requestId"))
        opened = self._open.get(self.where["agent"])
        if opened and opened["id"] == id:
            opened["key"] = key
        self._see_model(model)
        self._usage(key, model, message.get("usage"), final=bool(message.get("stop_reason")))
        self._speak(message, "assistant")

    def _usage(self, key: str, model: str, usage: object, *, final: bool) -> None:
        used = tokens(usage)
        if used and self._requests.is_new(key, used, final=final):
            self.tell(Usage, tokens=used, model=model, request=key, final=final)

    def _partial(self, line: Mapping[str, Any]) -> None:
        """Follow one answer: it begins with the prompt's tokens and ends with the output's.

        Its key comes between.
        """
        event = mapping(line, "event")
        agent = self.where["agent"]
        kind = event.get("type")
        message = mapping(event, "message")
        if kind == "message_start":
            id = text(message, "id")
            usage = dict(mapping(message, "usage"))
            self._open[agent] = {
                "id": id,
                "key": id,
                "model": text(message, "model"),
                "usage": usage,
            }
        elif kind == "message_delta" and (opened := self._open.get(agent)):
            opened["usage"].update(
                {name: n for name, n in mapping(event, "usage").items() if n is not None}
            )
            self._usage(opened["key"], opened["model"], opened["usage"], final=True)
        elif kind == "message_stop":
            self._open.pop(agent, None)

    def _user(self, line: Mapping[str, Any]) -> None:
        content = _message_of(line).get("content")
        answered = self._answer(line, content)
        said, human = words(line, content)
        continued = bool(said) and (flag(line, "isSynthetic") or said.startswith(_CONTINUED))
        is_summary = self._compacted and continued and not self.where["agent"]
        self._compacted = self._compacted and not is_summary
        role = "summary" if is_summary else "user"
        self.say(role, said, human=human and not answered, id=text(line, "uuid"))

    def _system(self, line: Mapping[str, Any]) -> None:
        subtype = line.get("subtype")
        main = not self.where["agent"]
        if subtype == "compact_boundary":
            self._compacted = self._compacted or main
            self._compacted_in(line, _compaction(line, self.where))
        elif subtype == "task_started" and "agent" in text(line, "task_type"):
            self._sub_agents.is_new(text(line, "task_id"))
        elif subtype == "task_notification":
            self._end_sub_agent(text(line, "task_id"), text(line, "status"), text(line, "summary"))
        if main:
            self.states(
                line, permission_mode="permissionMode", folder="cwd", version="claude_code_version"
            )
            self._see_model(text(line, "model") if subtype == "init" else "", chosen=True)

    def _context_usage(self, line: Mapping[str, Any]) -> None:
        answer = mapping(line, "response", "response")
        model = text(answer, "model")
        window = count(answer, "maxTokens")
        if model and window:
            self._models[self.where["agent"]] = model
            self.tell(ModelSeen, model=model, window=window)

    def _end(self, line: Mapping[str, Any]) -> None:
        if total := _run_total(line, self.where):
            self.found.append(total)
        errors = "; ".join(error for error in items(line, "errors") if isinstance(error, str))
        reason = text(line, "terminal_reason") or text(line, "subtype")
        self.tell(
            End, reason=reason, error=flag(line, "is_error"), text=text(line, "result") or errors
        )


class ClaudeStatusReader(LineReader):
    """Reads one status after the other. They come often: only what changed is told."""

    _requests = 0

    @staticmethod
    def recognises(line: Mapping[str, Any]) -> bool:
        """Return whether *line* is the input of a status line."""
        known = isinstance(line.get("context_window"), dict) and isinstance(line.get("model"), dict)
        return known and "type" not in line

    def read(self, line: Mapping[str, Any]) -> None:
        """Tell what changed with *line*."""
        session = self.where["session"] = text(line, "session_id")
        model = text(line, "model", "id")
        window = count(line, "context_window", "context_window_size")
        if model and self.told.is_new("model", (session, model, window)):
            self.tell(ModelSeen, model=model, window=window)
        self.states(line, folder="cwd", version="version")
        used = tokens(value(line, "context_window", "current_usage"))
        cost = micro_dollars(line, "cost", "total_cost_usd")
        if used and self.told.is_new("usage", (session, used)):
            self._requests += 1  # a status names no request
            request = f"status:{session}:{self._requests}:{used.prompt}:{used.output}"
            self.tell(Usage, tokens=used, model=model, request=request)
        if cost is not None and self.told.is_new("cost", (session, cost)):
            self.tell(RunTotal, cost=cost, windows={model: window} if model and window else {})


def _run_total(line: Mapping[str, Any], where: Where) -> RunTotal | None:
    """Return what *line* says that the whole run took so far, None if it says nothing of it."""
    by_model = {}
    windows = {}
    for model, used in mapping(line, "modelUsage").items():
        hour = min(
            count(used, "cacheCreationEphemeral1hInputTokens"),
            count(used, "cacheCreationInputTokens"),
        )
        by_model[model] = Tokens(
            input=count(used, "inputTokens"),
            output=count(used, "outputTokens"),
            cache_read=count(used, "cacheReadInputTokens"),
            cache_write_5m=count(used, "cacheCreationInputTokens") - hour,
            cache_write_1h=hour,
        )
        if window := count(used, "contextWindow"):
            windows[model] = window
    cost = micro_dollars(line, "total_cost_usd" if "total_cost_usd" in line else "totalCostUSD")
    usage = tokens(mapping(line, "usage")) or tokens(line)
    if cost is None and usage is None and not by_model:
        return None
    return RunTotal(cost=cost, tokens=by_model, windows=windows, usage=usage, **where)


def _compaction(line: Mapping[str, Any], where: Where) -> Compaction:
    """Return the compaction in *line*: the stream's names have underscores, the transcript's have
    capitals."""
    about = mapping(line, "compact_metadata") or mapping(line, "compactMetadata")
    form = "{}_tokens" if "pre_tokens" in about or "post_tokens" in about else "{}Tokens"
    before, after = (whole(about, form.format(name)) for name in ("pre", "post"))
    return Compaction(trigger=text(about, "trigger"), before=before, after=after, **where)


def _message_of(line: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the message of *line*; a short form has its content in the line itself."""
    return mapping(line, "message") or line


def _decided(line: Mapping[str, Any], block: Mapping[str, Any], id: str) -> str:
    """Return why the call *id* was not carried out, as far as the client says it in a field of its
    own."""
    about = [meta for meta in items(line, "tool_result_meta") if text(meta, "id") == id]
    said = [text(meta, "permission_decision", "decision") for meta in about]
    said += [text(meta, "non_execution_kind") for meta in (*about, block)]
    said += [text(line, "permissionDecision", "decision"), text(line, "nonExecutionKind")]
    return next((refusal for word in said if (refusal := refusal_of_decision(word))), "")


def refusal_of(said: str) -> str:
    """Return which of ``events.REFUSALS`` the text *said* by a failed call's result is, empty if it
    is a failure.

    >>> refusal_of("<tool_use_error>Sibling tool call errored</tool_use_error>"), refusal_of("rm: Permission denied")
    ('cascade', '')
    """
    opening = said[:200].lstrip().lower().replace("\u2019", "'")
    return opening_of(
        opening.removeprefix("<tool_use_error>").removeprefix("error: "), __file__, "refusals.tsv"
    )


def refusal_of_decision(word: str) -> str:
    """Return which of ``events.REFUSALS`` the client's own *word* for it is, empty for ``accept``
    and unknown words.

    >>> refusal_of_decision("user-rejected"), refusal_of_decision("accept")
    ('permission', '')
    """
    lower = word.lower()
    return next((kind for kind, signs in _DECISIONS if any(sign in lower for sign in signs)), "")


def words(line: Mapping[str, Any], content: object) -> tuple[str, bool]:
    """Return the text of a user's *line*, and whether a person typed it; then without what the
    client added.

    A slash command is what was typed: ``/model sonnet``.
    """
    everything = text_of(content)
    by_tool = text(line, "parent_tool_use_id") or text(line, "sourceToolUseID")
    if not everything or by_tool or _is_machines(line) or text(line, "promptSource") == "system":
        return everything, False
    parts = content if isinstance(content, list) else [content]
    typed = [found for part in parts if (found := typed_text(text_of(part)))]
    return ("\n".join(typed), True) if typed else (everything, False)


def _is_machines(line: Mapping[str, Any]) -> bool:
    signs = ("isMeta", "isSynthetic", "isSidechain", "isVisibleInTranscriptOnly")
    return any(flag(line, sign) for sign in signs) or text(line, "origin", "kind") not in (
        "",
        "human",
    )
