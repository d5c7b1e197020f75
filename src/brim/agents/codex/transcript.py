"""Reads Codex: its rollouts, ``~/.codex/sessions/**/rollout-*.jsonl``, and ``codex exec --json``.

A rollout is everything that one thread did. What is copied from a parent thread gives no events,
and each request counts once. A patch becomes one call for each file in it: the first has the
client's id, the second file that id with ``#2``, and so on, each with the answer to the patch as
its own result, so that an id always names one call and one result. A compaction is told when its
line is followed by the count of what is left, or by anything else that shows that none follows;
``finish`` tells one that the file ends with.

``codex exec`` writes what one run did. The usage of ``turn.completed`` is the sum over all requests
of the thread so far, including those of a resumed thread: a ``RunTotal``, never what is in the
window, and never to be added up. The stream names no model and doesn't repeat what the person
asked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from brim.agents.call import Event, ToolCall, arguments, command_line, edits_in, patch_in
from brim.agents.codex.lineage import Lineage
from brim.agents.codex.value import TOOLS, asked, typed
from brim.agents.events import (
    Attachment,
    Compaction,
    End,
    Message,
    ModelSeen,
    RunTotal,
    ToolResult,
    Usage,
)
from brim.agents.fields import (
    count,
    first_text,
    first_value,
    flag,
    items,
    mapping,
    parsed_line,
    text,
    text_of,
    value,
)
from brim.agents.lines import Bounded, LineReader, refusal_in, tokens
from brim.agents.times import seconds
from brim.files import data_lines
from brim.models.usage import Tokens
from brim.rules.shell import unwrapped

_AFTER_COMPACTION = ("world_state", "turn_context", "event_msg")
_TYPES = (*_AFTER_COMPACTION, "session_meta", "response_item", "compacted", "token_usage_record")
_CALLS = ("function_call", "custom_tool_call", "local_shell_call", "web_search_call")
_ANSWERS = ("function_call_output", "custom_tool_call_output", "local_shell_call_output")
_UNNAMED = {"local_shell_call": "local_shell", "web_search_call": "web_search"}
_HEADS = ("Chunk ID:", "Exit code:", "Wall time:", "Process exited", "Original token count:")
_COUNTERS = ("input_tokens", "cached_input_tokens", "cache_write_input_tokens", "output_tokens")
_MOST_OPEN = 10_000
_NOT_ITEMS = ("token_count", "thread_settings_applied", "context_compacted")
"""Notes that can come between a compaction and the count of what is left."""

Counters = tuple[int, ...]
"""What ``_COUNTERS`` say."""


class CodexRolloutReader(LineReader):
    """Reads one rollout, line by line."""

    tools = TOOLS

    _model = ""
    _window = 0
    _window_is_new = False
    _copied = False
    _records = False
    """Whether the rollout has a record for each request."""
    _compacts = False
    """Whether the next request asks for the summary of a compaction."""
    _sum: Counters | None = None
    """The last sum of the thread's requests."""
    _begin: Counters = ()
    """The sum before the first request of the rollout."""

    def __init__(self) -> None:
        super().__init__()
        self._lineage = Lineage()
        self._models: set[str] = set()
        self._files = Bounded(_MOST_OPEN)
        self._prompts = Bounded(64)
        self._compacted: list[Any] = []

    @staticmethod
    def recognises(line: Mapping[str, Any]) -> bool:
        """Return whether *line* is one of a rollout."""
        return text(line, "type") in _TYPES and bool(mapping(line, "payload"))

    def read(self, line: Mapping[str, Any]) -> None:
        """Tell what happened in *line*; nothing if it is a copy."""
        self._copied = self._lineage.see(line)
        kind = text(line, "type")
        self.where["session"] = self._lineage.session
        self.where["agent"] = self._lineage.agent
        self.where["time"] = seconds(value(line, "timestamp"))
        if kind not in _AFTER_COMPACTION:
            self.line_events += self.finish()
        self._payload(line, kind, mapping(line, "payload"))
        if self._copied:
            self.line_events = []
            self._compacted = []

    def _payload(self, line: Mapping[str, Any], kind: str, payload: Mapping[str, Any]) -> None:
        if kind == "session_meta":
            self.states(payload, version="cli_version", folder="cwd")
            self.states(mapping(payload, "git"), branch="branch")
        elif kind == "turn_context":
            self._turn(payload)
        elif kind == "token_usage_record":
            self._record(payload)
        elif kind == "response_item":
            self._item(payload, mapping(line, "metadata"))
        elif kind == "compacted":
            self._compact(payload)
        elif kind == "event_msg":
            self._note(payload, text(payload, "type"))

    def state(self) -> dict[str, Any]:
        """Return what ``resume`` needs to count the requests of the lines that follow, as JSON."""
        return {
            "model": self._model,
            "records": self._records,
            "sum": self._sum,
            "begin": self._begin,
            "models": sorted(self._models),
            "lineage": vars(self._lineage),
        }

    def resume(self, state: Mapping[str, Any]) -> None:
        """Go on where the reader stood whose *state* this is."""
        self._model = text(state, "model")
        self._records = flag(state, "records")
        self._sum = None
        sum_before = value(state, "sum")
        if sum_before is not None:
            self._sum = tuple(sum_before)
        self._begin = tuple(items(state, "begin"))
        self._models = set(items(state, "models"))
        vars(self._lineage).update(mapping(state, "lineage"))

    def finish(self) -> list[Event]:
        """Return the compaction that no count followed yet."""
        compacted = self._compacted
        self._compacted = []
        return compacted

    # Compactions and notes

    def _compact(self, payload: Mapping[str, Any]) -> None:
        """Hold back the compaction of *payload*: its summary, and the history that the next request
        begins with."""
        history = items(payload, "replacement_history")
        summaries = [text_of(value(item, "content")) for item in history if _is_summary(item)]
        summary = text(payload, "message") or "\n".join(summaries)
        is_encrypted = any(text(item, "encrypted_content") for item in history)
        hidden = is_encrypted and not summary
        self._compacted = [Compaction(hidden=hidden, **self.where)]
        if summary:
            self._compacted.append(Message(role="summary", text=summary, **self.where))
        for words in _words_kept(history):
            self._compacted.append(Attachment(kind="kept", text=words, **self.where))

    def _note(self, payload: Mapping[str, Any], kind: str) -> None:
        if kind not in _NOT_ITEMS:
            self.line_events += self.finish()
        read = _NOTES.get(kind)
        if read is not None:
            read(self, payload)

    def _token_count(self, payload: Mapping[str, Any]) -> None:
        self._count(mapping(payload, "info"))

    def _settings_applied(self, payload: Mapping[str, Any]) -> None:
        self._turn(mapping(payload, "thread_settings"))

    def _task_started(self, payload: Mapping[str, Any]) -> None:
        self._window = count(payload, "model_context_window")
        self._window_is_new = self._window > 0

    def _user_message(self, payload: Mapping[str, Any]) -> None:
        self._prompt(text(payload, "message"), "user_message")

    def _item_completed(self, payload: Mapping[str, Any]) -> None:
        if text(payload, "item", "type") == "UserMessage":
            self._prompt(text_of(value(payload, "item", "content")), "item_completed")

    def _task_complete(self, payload: Mapping[str, Any]) -> None:
        self.tell(End, reason="complete", text=text(payload, "last_agent_message"))

    def _turn_aborted(self, payload: Mapping[str, Any]) -> None:
        self.tell(End, reason=text(payload, "reason") or "aborted")

    def _error(self, payload: Mapping[str, Any]) -> None:
        self.say("error", text(payload, "message"))

    # Requests

    def _count(self, info: Mapping[str, Any]) -> None:
        last = mapping(info, "last_token_usage")
        if not count(last, "input_tokens") + count(last, "output_tokens"):
            self._note_size(count(last, "total_tokens"))
        self.line_events += self.finish()
        window = count(info, "model_context_window")
        if window:
            self._window = window
            self._see_model()
        self._add_up(info)

    def _note_size(self, size: int) -> None:
        """Note the *size* of what the compaction left, which a count without a request says."""
        if self._compacted and size:
            self._compacted[0] = replace(self._compacted[0], after=size)

    def _record(self, payload: Mapping[str, Any]) -> None:
        """Tell the request of a ``token_usage_record``."""
        self._records = True
        usage = tokens(mapping(payload, "usage"))
        total = count(payload, "thread_token_usage", "total_tokens")
        request = text(payload, "response_id") or f"{text(payload, 'thread_id')}:{total}"
        if usage and self.told.is_new(f"request:{request}", usage):
            self._request(usage, request)

    def _request(self, usage: Tokens, request: str) -> None:
        self.tell(Usage, tokens=usage, model=self._model, request=request, compacts=self._compacts)
        self._compacts = False

    def _add_up(self, info: Mapping[str, Any]) -> None:
        """Tell the request in a ``token_count``, if it is new and no record tells it.

        Newer clients write a record per request. Before that there are only notes of the sum so
        far: they are written more often than requests are made (twice around a compaction), so what
        counts is by how much the sum grew. The first sum of a file is only where it begins: it may
        contain a parent's. If it grew by more than the last request, requests are missing, and a
        ``RunTotal`` tells the sum.
        """
        total = _counters(mapping(info, "total_token_usage"))
        if not any(total):
            return
        before = self._sum
        self._sum = total
        if self._copied or self._records:
            return
        last = _counters(mapping(info, "last_token_usage"))
        if before is None or _has_shrunk(before, total):
            before = _sum_before(total, last)
        self._begin = self._begin or before
        growth = _difference(total, before)
        if not any(growth):
            return
        if self._model:
            self._models.add(self._model)
        request = growth
        if mapping(info, "last_token_usage"):
            request = last
        if any(request):
            thread = self.where["agent"] or self.where["session"]
            self._request(_tokens(request), f"{thread}:{total[0]}:{total[3]}")
        if growth != request:
            self._run_total(_tokens(_difference(total, self._begin)))

    def _run_total(self, usage: Tokens) -> None:
        by_model = {}
        if self._models == {self._model}:
            by_model[self._model] = usage
        self.tell(RunTotal, tokens=by_model, usage=usage)

    # Models and states

    def _turn(self, settings: Mapping[str, Any]) -> None:
        model = text(settings, "model")
        if model and model != self._model:
            if self._model and not self._window_is_new:
                self._window = 0
            self._model = model
        self._window_is_new = False
        if model:
            self._see_model()
        self.states(settings, permission_mode="approval_policy", folder="cwd")

    def _see_model(self) -> None:
        if self._copied:
            return
        model_and_window = (self._model, self._window)
        if any(model_and_window) and self.told.is_new("model", model_and_window):
            self.tell(ModelSeen, model=self._model, window=self._window)

    def states(self, line: object, **keys: str) -> None:
        """Tell which of the session's states changed, unless *line* is a copy."""
        if not self._copied:
            super().states(line, **keys)

    # Messages and calls

    def _item(self, payload: Mapping[str, Any], metadata: Mapping[str, Any]) -> None:
        kind = text(payload, "type")
        is_summary = flag(metadata, "compaction_output")
        if is_summary:
            self._compacts = True
        if kind in _CALLS:
            self._call(payload, kind)
        elif kind in _ANSWERS:
            self._result(payload)
        elif kind == "message" and not is_summary:
            self._message(payload)

    def _message(self, payload: Mapping[str, Any]) -> None:
        id = text(payload, "id")
        role = text(payload, "role")
        words = text_of(value(payload, "content"))
        if role == "assistant":
            self.say("assistant", words, id=id)
        elif role != "user":
            self.say("system", words, id=id)
        elif words and typed(payload, words):
            self._prompt(words, "item", id)
        else:
            self.say("user", words, id=id)

    def _prompt(self, words: str, source: str, id: str = "") -> None:
        """Tell what a person typed.

        Two sources that say the same tell it once; one source twice tells it twice.
        """
        words = asked(words)
        if not words or self._copied:
            return
        times = self._prompts.get(hash(words), {})
        most_times = max(times.values(), default=0)
        times_here = times.get(source, 0) + 1
        self._prompts[hash(words)] = {**times, source: times_here}
        if times_here > most_times:
            self.say("user", words, human=not self._lineage.agent, id=id)

    def _call(self, payload: Mapping[str, Any], kind: str) -> None:
        call = first_text(payload, "call_id", "id")
        name = text(payload, "name") or _UNNAMED.get(kind, "")
        input = arguments(first_value(payload, "arguments", "input", "action"))
        if name == "apply_patch":
            patch = text(input, "input")
        else:
            patch = patch_in(first_value(input, "command", "cmd"))
        edits = edits_in(patch)
        if not edits:
            self.call(call, name, input)
            return
        if len(edits) > 1:
            self._files[call] = len(edits)
        for id, (tool, edit) in zip(_ids(call, len(edits)), edits, strict=True):
            self.tell(ToolCall, id=id, name="apply_patch", kind=tool, input=edit)

    def _result(self, payload: Mapping[str, Any]) -> None:
        call = first_text(payload, "call_id", "id")
        output = value(payload, "output")
        answer, code = _answer_and_code(_text_of_output(output))
        failed = value(output, "success") is False
        refusal = ""
        if code is None:
            refusal = refusal_in(answer)
            failed = failed or bool(refusal) or _tells_failure(answer)
        for id in _ids(call, self._files.pop(call, 1)):
            self.result(id, answer, failed=failed, refusal=refusal, code=code)


_NOTES: dict[str, Callable[[CodexRolloutReader, Mapping[str, Any]], None]] = {
    "token_count": CodexRolloutReader._token_count,
    "thread_settings_applied": CodexRolloutReader._settings_applied,
    "task_started": CodexRolloutReader._task_started,
    "user_message": CodexRolloutReader._user_message,
    "item_completed": CodexRolloutReader._item_completed,
    "task_complete": CodexRolloutReader._task_complete,
    "turn_aborted": CodexRolloutReader._turn_aborted,
    "error": CodexRolloutReader._error,
    "stream_error": CodexRolloutReader._error,
}
"""Who reads each kind of note."""


def _is_summary(item: object) -> bool:
    metadata = value(item, "internal_chat_message_metadata_passthrough")
    return "compaction.summary" in items(metadata, "content_item_kinds")


def _words_kept(history: list[Any]) -> list[str]:
    """Return what each item of a *history* says that isn't its summary."""
    texts = [_words_of(item) for item in history if not _is_summary(item)]
    return [words for words in texts if words]


def _words_of(item: object) -> str:
    """Return what an *item* of a history says, calls or answers."""
    call = first_text(item, "arguments", "input")
    texts = [
        text_of(value(item, "content")),
        text_of(value(item, "output")),
        call or command_line(value(item, "action", "command")),
    ]
    return "\n".join(filter(None, texts))


def _counters(usage: Mapping[str, Any]) -> Counters:
    return tuple([count(usage, name) for name in _COUNTERS])


def _has_shrunk(before: Counters, now: Counters) -> bool:
    return any(new < old for new, old in zip(now, before, strict=True))


def _sum_before(total: Counters, last: Counters) -> Counters:
    """Return the sum before the *last* request, nothing if that isn't known."""
    if any(last):
        return _difference(total, last)
    return (0, 0, 0, 0)


def _difference(total: Counters, part: Counters) -> Counters:
    return tuple([max(0, whole - portion) for whole, portion in zip(total, part, strict=True)])


def _tokens(counters: Counters) -> Tokens:
    prompt, read, written, output = counters
    return Tokens(
        input=max(0, prompt - read - written),
        cache_read=read,
        cache_write_5m=written,
        output=output,
        writes_are_input=True,
    )


def _text_of_output(output: object) -> str:
    """Return the text of a call's *output*."""
    if not isinstance(output, Mapping):
        return text_of(output)
    content = output.get("content")
    if content is None:
        content = output.get("output")
    return text_of(content)


def _answer_and_code(output: str) -> tuple[str, int | None]:
    """Return what a call answered, and its exit code if the *output* says one.

    What the client puts before the text (a chunk's id, the time it took) is left out: it differs
    each time.
    """
    if output.startswith("{") and '"metadata"' in output:
        parsed = parsed_line(output.encode("utf-8", "replace"))
        code = value(parsed, "metadata", "exit_code")
        if type(code) is not int:
            code = None
        return text(parsed, "output"), code
    if not output.startswith(_HEADS):
        return output, None
    body = re.search(r"^Output:\n?", output, re.MULTILINE)
    if body is None:
        return "", _exit_code(output)
    return output[body.end() :], _exit_code(output[: body.start()])


def _exit_code(head: str) -> int | None:
    sentence = r"^(?:Process exited with code|Exit code:) (-?\d{1,9})$"
    match = re.search(sentence, head, re.MULTILINE)
    if match is None:
        return None
    return int(match[1])


def _tells_failure(answer: str) -> bool:
    """Whether the client itself wrote the *answer*, because the call failed."""
    opening = answer.lstrip()[:200].lower()
    return opening.startswith(data_lines(__file__, "failures.txt"))


def _ids(id: str, number: int) -> list[str]:
    """Return *id* and those of the other calls that a patch becomes."""
    if number < 1:
        return []
    return [id, *[f"{id}#{nth}" for nth in range(2, number + 1)]]


# The stream ---------------------------------------------------------------------------------------


class CodexExecReader(LineReader):
    """Reads one stream, line by line."""

    tools = TOOLS

    _session = ""
    _last_answer = ""
    _todo_lists = 0

    def __init__(self) -> None:
        super().__init__()
        self._open = Bounded(_MOST_OPEN)
        self._todos: dict[str, Any] = {}

    @staticmethod
    def recognises(line: Mapping[str, Any]) -> bool:
        """Return whether *line* is one of this stream."""
        kind = text(line, "type")
        if kind.startswith("item."):
            return bool(_kind_of(mapping(line, "item")))
        if kind == "error":
            is_others = "error" in line or "severity" in line or "sessionID" in line
            return bool(text(line, "message")) and not is_others
        return kind in ("thread.started", "turn.started", "turn.completed", "turn.failed")

    def read(self, line: Mapping[str, Any]) -> None:
        """Tell what happened in *line*."""
        kind = text(line, "type")
        if kind == "thread.started":
            self._session = text(line, "thread_id")
        self.where["session"] = self._session
        if kind == "turn.completed":
            usage = tokens(mapping(line, "usage"))
            if usage:
                self.tell(RunTotal, usage=usage)
            self.tell(End, reason="complete", text=self._last_answer)
        elif kind == "turn.failed":
            error = text(line, "error", "message")
            self.say("error", error)
            self.tell(End, reason="failed", error=True, text=error)
        elif kind == "error":
            self.say("error", text(line, "message"))
        elif kind.startswith("item."):
            self._item(mapping(line, "item"), kind)

    def _item(self, item: Mapping[str, Any], line_type: str) -> None:
        kind = _kind_of(item)
        id = text(item, "id")
        if kind in ("agent_message", "assistant_message", "error"):
            if line_type == "item.completed":
                self._message(item, kind, id)
        elif kind == "todo_list":
            self._todo_list(TOOLS.normalized("todo", {"items": items(item, "items")}), id)
        elif line_type != "item.updated":
            if id not in self._open:
                self._begin(item, kind, id)
            if line_type == "item.completed":
                self._end(item, _ids(id, self._open.pop(id)))

    def _message(self, item: Mapping[str, Any], kind: str, id: str) -> None:
        if kind == "error":
            self.tell(Message, role="error", text=text(item, "message"), id=id)
            return
        self._last_answer = text(item, "text")
        self.tell(Message, role="assistant", text=self._last_answer, id=id)

    def _todo_list(self, todos: dict[str, Any], id: str) -> None:
        """Tell a call each time that the list is another: an item is written again when something
        in it changes."""
        if todos == self._todos:
            return
        self._todos = todos
        self._todo_lists += 1
        if self._todo_lists > 1:
            id = f"{id}#{self._todo_lists}"
        self.tell(ToolCall, id=id, name="todo_list", kind="todo", input=todos)
        self.tell(ToolResult, id=id)

    def _begin(self, item: Mapping[str, Any], kind: str, id: str) -> None:
        calls = _calls(kind, item)
        self._open[id] = len(calls)
        for call, (name, tool, input) in zip(_ids(id, len(calls)), calls, strict=True):
            self.call(call, name, input, tool)

    def _end(self, item: Mapping[str, Any], ids: list[str]) -> None:
        status = text(item, "status")
        code = value(item, "exit_code")
        answer = text(item, "aggregated_output") or text(item, "error", "message")
        answer = answer or text_of(value(item, "result", "content"))
        is_error_code = type(code) is int and code != 0
        failed = status in ("failed", "declined") or is_error_code
        refusal = _refusal_of(status, answer, failed=failed)
        for id in ids:
            self.result(id, answer, failed=failed, refusal=refusal, code=code)


def _refusal_of(status: str, answer: str, *, failed: bool) -> str:
    """Return which refusal an item that ended with *status* is; empty if it is none."""
    if status == "declined":
        return "permission"
    if failed:
        return refusal_in(answer)
    return ""


def _kind_of(item: Mapping[str, Any]) -> str:
    return first_text(item, "type", "item_type")


def _calls(kind: str, item: Mapping[str, Any]) -> list[tuple[str, str, dict[str, Any]]]:
    """Return name, kind and input of the calls that an *item* makes; a change of several files is
    one for each."""
    name = text(item, "tool")
    if kind == "command_execution":
        return [(kind, "shell", {"command": unwrapped(text(item, "command"))})]
    if kind == "file_change":
        return _file_changes(item)
    if kind == "mcp_tool_call":
        input = arguments(value(item, "arguments"))
        return [(f"mcp__{text(item, 'server')}__{name}", "", input)]
    if kind == "web_search":
        return [(kind, "search", {"query": text(item, "query")})]
    if kind == "collab_tool_call":
        return [(name, TOOLS.kind(name), {"prompt": text(item, "prompt")})]
    return []


def _file_changes(item: Mapping[str, Any]) -> list[tuple[str, str, dict[str, Any]]]:
    calls = []
    for change in items(item, "changes"):
        path = text(change, "path")
        if not path:
            continue
        tool = "write" if text(change, "kind") == "add" else "edit"
        calls.append(("file_change", tool, {"file_path": path, **change}))
    return calls
