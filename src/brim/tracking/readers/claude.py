"""Reads Claude Code: its transcripts, its stream, and what it gives to a status line.

A transcript is ``projects/<folder>/<session>.jsonl`` and the files of its sub-agents. One answer is several lines, one
per block, each with the usage of the whole answer: it is reported once. A compaction's own request is in no line, only
in the totals of ``cost-state``. The stream is that of ``claude --output-format stream-json``, and the short events of
orchestrators that look like it. There the output tokens of an answer are a placeholder until a partial-message event or
the ``result`` gives them. A ``result`` is a sum over every call, never what is in the window.
"""

from __future__ import annotations

from collections.abc import Mapping

from brim.files import data_lines
from brim.models.usage import Tokens
from brim.tracking.events import (
    Compaction,
    End,
    Message,
    ModelSeen,
    RunTotal,
    ToolCall,
    ToolResult,
    Usage,
)
from brim.tracking.readers.fields import (
    SYNTHETIC,
    Bounded,
    Requests,
    Told,
    count,
    flag,
    is_short_for,
    items,
    mapping,
    micro_dollars,
    named,
    opening_of,
    seconds,
    text,
    text_of,
    tokens,
    tool_of,
    value,
    whole,
)
from brim.tracking.readers.stream import parsed_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from brim.tracking.events import Event
    from brim.tracking.readers.fields import Where

_UNKNOWN_AGENT = "sidechain"
"""Older transcripts mark the lines of sub-agents without saying whose they are."""
_CONTINUED = "This session is being continued"
_STREAM_TYPES: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("stream_event", "control_request", "control_response", "keep_alive", "rate_limit_event"), ()),
    "system": ("subtype",),
    "tool_use": ("name", "input"),
    "tool_result": ("tool_use_id",),
}
"""Types of the stream's lines, and the keys that they have."""
_TYPED_TAGS = (("bash-input", "!"), ("user-memory-input", "#"))
"""What a person typed behind a sign of its own, and the sign."""
_REMINDER = "system-reminder"
_BEFORE = (f"<{_REMINDER}>", "<ide_", "<new-diagnostics>")
"""How a block opens that may stand before a person's words: what an editor shows, and reminders."""
_DECISIONS = (
    ("permission", ("reject", "deny", "denied", "block", "permission", "hook")),
    ("interrupt", ("interrupt", "cancel", "abort")),
    ("cascade", ("sibling", "parallel")),
)
"""Parts of the words by which the client itself says that a call wasn't carried out."""


def report_in(line: bytes) -> Usage | RunTotal | Compaction | None:
    """Return the request, total or compaction that a *line* of a transcript reports; None if it reports nothing."""
    if not any(sign in line for sign in (b'"usage"', b'"cost-state"', b'"compact_boundary"')):
        return None
    parsed = parsed_line(line)
    return report_of(parsed) if isinstance(parsed, dict) else None


def parsed_report(line: bytes) -> dict[str, Any] | None:
    """Return the parsed *line* of a transcript if it may report usage, as one in two does; else None.

    The other lines are mostly tool results, with most of the bytes. A line that is broken raises ``ValueError``.
    """
    if b'"usage"' not in line and b'"cost-state"' not in line:
        return None
    parsed = parsed_line(line)
    if not isinstance(parsed, dict):
        raise ValueError("not a JSON object")
    return parsed


def report_of(line: Mapping[str, Any], *, agent: str = "", at: int = 0) -> Usage | RunTotal | Compaction | None:
    """Return what a parsed *line* of a transcript reports.

    *agent* is the sub-agent whose file it is, *at* the byte where the line begins.

    This is the only place that reads the usage of a transcript. The same request may be in several lines and files:
    count it once, by ``Usage.request``, which is empty if the line names neither message nor request.
    """
    kind, where = line.get("type"), _where(line, agent, at)
    if kind == "system" and line.get("subtype") == "compact_boundary":
        return _compaction(line, where)
    if kind != "assistant":
        return _run_total(line, where) if kind == "cost-state" else None
    message = _message_of(line)
    model = text(message, "model")
    used = None if flag(line, "isApiErrorMessage") or model == SYNTHETIC else tokens(message.get("usage"))
    if used is None:
        return None
    key = _key(text(message, "id"), text(line, "requestId"))
    return Usage(tokens=used, model=model, request=key, cost=micro_dollars(line, "costUSD"), **where)


def _where(line: Mapping[str, Any], agent: str, at: int) -> dict[str, Any]:
    """Return session, agent and time of a transcript's *line* in the file of *agent*."""
    own, side = text(line, "agentId") or agent, line.get("isSidechain")
    agent = own or _UNKNOWN_AGENT if side is True else agent if side is False else own
    session = text(line, "sessionId") or text(line, "session_id")
    return {"session": session, "agent": agent, "time": seconds(line.get("timestamp")), "at": at}


def _key(id: str, request: str) -> str:
    return f"{id}:{request}" if id and request else id or request


class _Reader:
    """What transcript and stream have in common: models, states and sub-agents that were seen."""

    def __init__(self) -> None:
        self._requests = Requests()
        self._sub_agents, self._states = Told(), Told()
        self._models = Bounded(1_000)

    def _model_change(self, model: str, where: Where, *, chosen: bool = False) -> list[Event]:
        """Return the new model; ``claude-x[1m]`` that was *chosen* is the ``claude-x`` of the answers."""
        before = self._models.get(where["agent"], "")
        if not model or model == before or (not chosen and is_short_for(model, before)):
            return []
        self._models[where["agent"]] = model
        return [ModelSeen(model=model, **where)]

    def _sub_agent_end(self, agent: str, status: str, said: str, where: Where) -> list[Event]:
        if agent not in self._sub_agents or not status:
            return []
        return [End(reason=status, error=status != "completed", text=said, **{**where, "agent": agent})]


class ClaudeTranscriptReader(_Reader):
    """Reads one session: its own file first, then those of its sub-agents, with ``agent`` set to each one's id."""

    def __init__(self) -> None:
        super().__init__()
        self.agent = ""
        """Whose file is read; empty for the session's own."""
        self._last_report: tuple[str, object] = ("", None)
        self._main_messages, self._lines = Told(), Told()

    @staticmethod
    def recognises(line: Mapping[str, Any]) -> bool:
        """Return whether *line* is of a transcript: its keys are in camel case, unlike the stream's."""
        kind = line.get("type")
        if not isinstance(kind, str):
            return False
        named = "isSidechain" in line or isinstance(line.get("sessionId"), str)
        return named or kind.startswith("file-history-") or (kind == "summary" and "leafUuid" in line)

    def events(self, line: Mapping[str, Any], at: int = 0) -> list[Event]:
        """Return what happened in *line*."""
        where, kind = _where(line, self.agent, at), line.get("type")
        found: list[Event] = []
        if not where["agent"]:
            mode, branch = text(line, "permissionMode"), text(line, "gitBranch")
            folder, version = text(line, "cwd"), text(line, "version")
            found = self._states.states(where, permission_mode=mode, branch=branch, folder=folder, version=version)
        if kind == "assistant":
            found += self._assistant(line, where)
        elif kind == "user":
            found += self._user(line, where) if self._lines.is_new(text(line, "uuid")) else []
        elif kind == "attachment":
            found += self._attachment(mapping(line, "attachment"), where)
        elif (report := report_of(line, agent=self.agent, at=at)) is not None:
            found.append(report)
        return found

    def _assistant(self, line: Mapping[str, Any], where: Where) -> list[Event]:
        message = _message_of(line)
        id, model = text(message, "id"), text(message, "model")
        if where["agent"] and id in self._main_messages:
            return []
        if flag(line, "isApiErrorMessage") or model == SYNTHETIC:
            return _spoken(message, "error" if flag(line, "isApiErrorMessage") else "system", where)
        found = self._model_change(model, where)
        reported = (_key(id, text(line, "requestId")), message.get("usage"))
        if not reported[0] or reported != self._last_report:
            self._last_report = reported
            usage = report_of(line, agent=self.agent, at=where["at"])
            if isinstance(usage, Usage):
                if not where["agent"]:
                    self._main_messages.is_new(id)
                if self._requests.is_news(usage.request, usage.tokens, final=True):
                    found.append(usage)
        # A session that is resumed can have its history again.
        return found + (_spoken(message, "assistant", where) if self._lines.is_new(text(line, "uuid")) else [])

    def _user(self, line: Mapping[str, Any], where: Where) -> list[Event]:
        content = _message_of(line).get("content")
        id = text(line, "uuid")
        if flag(line, "isCompactSummary"):
            return [Message(role="summary", text=text_of(content), id=id, **where)]
        found = _answered(line, content, where)
        if found:
            self._sub_agents.is_new(text(line, "toolUseResult", "agentId"))
        said, human = words(line, content)
        if said:
            human = human and not found and not where["agent"]
            found.append(Message(role="user", text=said, human=human, id=id, **where))
            found += self._notified(said, where) if not human else []
        return found

    def _notified(self, said: str, where: Where) -> list[Event]:
        if not said.startswith("<task-notification>"):
            return []
        result = tagged(said, "result") or tagged(said, "summary")
        return self._sub_agent_end(tagged(said, "task-id"), tagged(said, "status"), result, where)

    def _attachment(self, attachment: Mapping[str, Any], where: Where) -> list[Event]:
        kind = attachment.get("type")
        if kind == "model":
            return self._model_change(text(attachment, "identity", "modelId"), where, chosen=True)
        if kind != "queued_command" or where["agent"]:
            return []
        said = text_of(attachment.get("prompt"))
        is_typed = text(attachment, "commandMode") in ("", "prompt") and not _is_machines(attachment)
        if is_typed and (typed := typed_text(said)):
            return [Message(role="user", text=typed, human=True, **where)]
        return self._notified(said, where)


class ClaudeStreamReader(_Reader):
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

    def events(self, line: Mapping[str, Any], at: int = 0) -> list[Event]:
        """Return what happened in *line*."""
        parent = text(line, "parent_tool_use_id")
        agent = (text(line, "agent_id") or parent) if parent else ""
        time = seconds(line.get("timestamp"))
        where: dict[str, Any] = {"session": text(line, "session_id"), "agent": agent, "time": time, "at": at}
        readers: dict[str, Callable[[Mapping[str, Any], Where], list[Event]]] = {
            "assistant": self._assistant,
            "user": self._user,
            "stream_event": self._partial,
            "result": _result,
            "system": self._system,
            "control_response": self._context_usage,
            "tool_use": lambda line, where: [_call(line, where)],
            "tool_result": lambda line, where: _answered(line, [line], where),
        }
        read = readers.get(text(line, "type"))
        return read(line, where) if read else []

    def _assistant(self, line: Mapping[str, Any], where: Where) -> list[Event]:
        message = _message_of(line)
        id, model = text(message, "id"), text(message, "model")
        failed = flag(line, "is_api_error_message") or flag(line, "isApiErrorMessage")
        if failed or model == SYNTHETIC:
            return _spoken(message, "error" if failed else "system", where)
        key = _key(id, text(line, "request_id") or text(line, "requestId"))
        opened = self._open.get(where["agent"])
        if opened and opened["id"] == id:
            opened["key"] = key
        found = self._model_change(model, where)
        found += self._usage(key, model, message.get("usage"), where, final=bool(message.get("stop_reason")))
        return found + _spoken(message, "assistant", where)

    def _usage(self, key: str, model: str, usage: object, where: Where, *, final: bool) -> list[Event]:
        used = tokens(usage)
        if used is None or not self._requests.is_news(key, used, final=final):
            return []
        return [Usage(tokens=used, model=model, request=key, final=final, **where)]

    def _partial(self, line: Mapping[str, Any], where: Where) -> list[Event]:
        """Follow one answer: it begins with the prompt's tokens and ends with the output's; its key comes between."""
        event, agent = mapping(line, "event"), where["agent"]
        kind = event.get("type")
        if kind == "message_start":
            message = mapping(event, "message")
            id = text(message, "id")
            usage = dict(mapping(message, "usage"))
            self._open[agent] = {"id": id, "key": id, "model": text(message, "model"), "usage": usage}
        elif kind == "message_delta" and (opened := self._open.get(agent)):
            opened["usage"].update({name: n for name, n in mapping(event, "usage").items() if n is not None})
            return self._usage(opened["key"], opened["model"], opened["usage"], where, final=True)
        elif kind == "message_stop":
            self._open.pop(agent, None)
        return []

    def _user(self, line: Mapping[str, Any], where: Where) -> list[Event]:
        content = _message_of(line).get("content")
        found = _answered(line, content, where)
        if found:
            self._sub_agents.is_new(text(line, "tool_use_result", "agentId"))
        said, human = words(line, content)
        if not said:
            return found
        role = "user"
        if self._compacted and not where["agent"] and (flag(line, "isSynthetic") or said.startswith(_CONTINUED)):
            role, self._compacted = "summary", False
        human = human and not found
        return [*found, Message(role=role, text=said, human=human, id=text(line, "uuid"), **where)]

    def _system(self, line: Mapping[str, Any], where: Where) -> list[Event]:
        subtype = line.get("subtype")
        found: list[Event] = []
        if subtype == "compact_boundary":
            self._compacted = self._compacted or not where["agent"]
            found.append(_compaction(line, where))
        elif subtype == "task_started" and "agent" in text(line, "task_type"):
            self._sub_agents.is_new(text(line, "task_id"))
        elif subtype == "task_notification":
            found += self._sub_agent_end(text(line, "task_id"), text(line, "status"), text(line, "summary"), where)
        if not where["agent"]:
            mode, folder, version = (text(line, key) for key in ("permissionMode", "cwd", "claude_code_version"))
            found += self._states.states(where, permission_mode=mode, folder=folder, version=version)
            found += self._model_change(text(line, "model"), where, chosen=True) if subtype == "init" else []
        return found

    def _context_usage(self, line: Mapping[str, Any], where: Where) -> list[Event]:
        answer = mapping(line, "response", "response")
        model, window = text(answer, "model"), count(answer, "maxTokens")
        if not model or not window:
            return []
        self._models[where["agent"]] = model
        return [ModelSeen(model=model, window=window, **where)]


def _result(line: Mapping[str, Any], where: Where) -> list[Event]:
    total = _run_total(line, where)
    errors = "; ".join(error for error in items(line, "errors") if isinstance(error, str))
    reason = text(line, "terminal_reason") or text(line, "subtype")
    end = End(reason=reason, error=flag(line, "is_error"), text=text(line, "result") or errors, **where)
    return [total, end] if total else [end]


class ClaudeStatusReader:
    """Reads one status after the other. They come often: only what changed is told."""

    def __init__(self) -> None:
        self._told = Told()
        self._requests = 0

    @staticmethod
    def recognises(line: Mapping[str, Any]) -> bool:
        """Return whether *line* is the input of a status line."""
        return (
            "type" not in line and isinstance(line.get("context_window"), dict) and isinstance(line.get("model"), dict)
        )

    def events(self, line: Mapping[str, Any], at: int = 0) -> list[Event]:
        """Return what changed with *line*."""
        session = text(line, "session_id")
        where: dict[str, Any] = {"session": session, "agent": "", "time": None, "at": at}
        found: list[Event] = []
        model, window = text(line, "model", "id"), count(line, "context_window", "context_window_size")
        if model and self._told.is_new("model", (session, model, window)):
            found.append(ModelSeen(model=model, window=window, **where))
        found += self._told.states(where, folder=text(line, "cwd"), version=text(line, "version"))
        used = tokens(value(line, "context_window", "current_usage"))
        cost = micro_dollars(line, "cost", "total_cost_usd")
        if used and self._told.is_new("usage", (session, used)):
            self._requests += 1  # a status names no request
            request = f"status:{session}:{self._requests}:{used.prompt}:{used.output}"
            found.append(Usage(tokens=used, model=model, request=request, **where))
        if cost is not None and self._told.is_new("cost", (session, cost)):
            found.append(RunTotal(cost=cost, windows={model: window} if model and window else {}, **where))
        return found


def _spoken(message: Mapping[str, Any], role: str, where: Where) -> list[Event]:
    """Return the texts and the tool calls of an assistant's *message*; *role* is whose text it is."""
    id = text(message, "id")
    content = message.get("content")
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    found: list[Event] = []
    for block in content if isinstance(content, list) else []:
        kind = text(block, "type")
        if kind == "text" and (written := text(block, "text")):
            found.append(Message(role=role, text=written, id=id, **where))
        elif kind in ("tool_use", "server_tool_use", "mcp_tool_use"):
            found.append(_call(block, where))
    return found


def _call(block: Mapping[str, Any], where: Where) -> ToolCall:
    """Return the call in a ``tool_use`` *block*."""
    name, given = text(block, "name"), mapping(block, "input")
    tool = tool_of(name)
    if tool == "edit":
        given = named(tool, given)
    return ToolCall(id=text(block, "id"), name=name, tool=tool, input=given, **where)


def _answered(line: Mapping[str, Any], content: object, where: Where) -> list[Event]:
    """Return the tool results in the *content* of a user's *line*.

    What the line says in addition to the text belongs to the result if there is only one.
    """
    blocks = [block for block in content if text(block, "type") == "tool_result"] if isinstance(content, list) else []
    told = line.get("tool_use_result")
    detail = (line.get("toolUseResult") if told is None else told) if len(blocks) == 1 else None
    found: list[Event] = []
    for block in blocks:
        id, said, failed = text(block, "tool_use_id"), text_of(block.get("content")), flag(block, "is_error")
        refusal = _decided(line, block, id)
        if not refusal and flag(detail, "interrupted"):
            refusal = "interrupt"
        elif not refusal and failed:
            refusal = refusal_of(said) or (refusal_of(detail) if isinstance(detail, str) else "")
        found.append(ToolResult(id=id, text=said, error=failed, refusal=refusal, detail=detail, **where))
    return found


def _run_total(line: Mapping[str, Any], where: Where) -> RunTotal | None:
    """Return what *line* says that the whole run took so far, None if it says nothing of it."""
    by_model, windows = {}, {}
    for model, used in mapping(line, "modelUsage").items():
        hour = min(count(used, "cacheCreationEphemeral1hInputTokens"), count(used, "cacheCreationInputTokens"))
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
    """Return the compaction in *line*: the stream's names have underscores, the transcript's have capitals."""
    about = mapping(line, "compact_metadata") or mapping(line, "compactMetadata")
    before, after = whole(about, "pre_tokens"), whole(about, "post_tokens")
    before = whole(about, "preTokens") if before is None else before
    after = whole(about, "postTokens") if after is None else after
    return Compaction(trigger=text(about, "trigger"), before=before, after=after, **where)


def _message_of(line: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the message of *line*; a short form has its content in the line itself."""
    return mapping(line, "message") or line


def _decided(line: Mapping[str, Any], block: Mapping[str, Any], id: str) -> str:
    """Return why the call *id* was not carried out, as far as the client says it in a field of its own."""
    about = [meta for meta in items(line, "tool_result_meta") if text(meta, "id") == id]
    said = [text(meta, "permission_decision", "decision") for meta in about]
    said += [text(meta, "non_execution_kind") for meta in (*about, block)]
    said += [text(line, "permissionDecision", "decision"), text(line, "nonExecutionKind")]
    return next((refusal for word in said if (refusal := refusal_of_decision(word))), "")


def refusal_of(said: str) -> str:
    """Return which of ``events.REFUSALS`` the text *said* by a failed call's result is, empty if it is a failure.

    >>> refusal_of("<tool_use_error>Sibling tool call errored</tool_use_error>"), refusal_of("rm: Permission denied")
    ('cascade', '')
    """
    opening = said[:200].lstrip().lower().replace("\u2019", "'")
    for wrapping in ("<tool_use_error>", "error: "):
        opening = opening.removeprefix(wrapping)
    return opening_of(opening, "claude_refusals.tsv")


def refusal_of_decision(word: str) -> str:
    """Return which of ``events.REFUSALS`` the client's own *word* for it is, empty for ``accept`` and unknown words.

    >>> refusal_of_decision("user-rejected"), refusal_of_decision("accept")
    ('permission', '')
    """
    lower = word.lower()
    return next((kind for kind, signs in _DECISIONS if any(sign in lower for sign in signs)), "")


def words(line: Mapping[str, Any], content: object) -> tuple[str, bool]:
    """Return the text of a user's *line*, and whether a person typed it; then without what the client added.

    A slash command is what was typed: ``/model sonnet``.
    """
    everything = text_of(content)
    by_tool = text(line, "parent_tool_use_id") or text(line, "sourceToolUseID")
    if not everything or by_tool or _is_machines(line) or text(line, "promptSource") == "system":
        return everything, False
    parts = content if isinstance(content, list) else [content]
    typed = [found for part in parts if (found := typed_text(text_of(part)))]
    return ("\n".join(typed), True) if typed else (everything, False)


def typed_text(written: str) -> str:
    """Return what a person typed to get *written*, empty if no person did.

    >>> typed_text("<command-name>/model</command-name>\\n<command-args>sonnet</command-args>")
    '/model sonnet'
    """
    written = _without_reminders(written)
    opening = _without_blocks(written.lstrip())
    if opening.startswith("<command-") and (name := tagged(opening, "command-name")):
        arguments = tagged(opening, "command-args")
        return f"/{name.removeprefix('/')} {arguments}".rstrip()
    for tag, sign in _TYPED_TAGS:
        if opening.startswith(f"<{tag}>"):
            return sign + tagged(opening, tag)
    if opening.startswith(data_lines(__file__, "machine_openings.txt")):
        return ""
    return opening if written.lstrip() != opening else written


def _without_blocks(opening: str) -> str:
    """Return *opening* without the whole blocks that the client put before a person's words.

    A block goes to the last of its closing tags: what it shows may hold one too, and no person typed it.
    """
    while opening.startswith(_BEFORE):
        tag, closed, _ = opening[1:].partition(">")
        _, found, rest = opening.rpartition(f"</{tag}>")
        if not (closed and found):
            break
        opening = rest.lstrip()
    return opening


def _without_reminders(written: str) -> str:
    """Return *written* without the blocks that the client put after it, each from the beginning of a line."""
    while written.rstrip().endswith(f"</{_REMINDER}>"):
        before, opened, _ = written.rpartition(f"\n<{_REMINDER}>")
        if not opened:
            break
        written = before.rstrip("\n")
    return written


def tagged(written: str, tag: str) -> str:
    """Return what stands between ``<tag>`` and ``</tag>`` in *written*, empty if nothing does."""
    _, opened, rest = written.partition(f"<{tag}>")
    inside, closed, _ = rest.partition(f"</{tag}>")
    return inside.strip() if opened and closed else ""


def _is_machines(line: Mapping[str, Any]) -> bool:
    signs = ("isMeta", "isSynthetic", "isSidechain", "isVisibleInTranscriptOnly")
    return any(flag(line, sign) for sign in signs) or text(line, "origin", "kind") not in ("", "human")
