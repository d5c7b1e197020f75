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
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from brim.agents.call import Event, ToolCall, arguments, command_line, edits_in, patch_in
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
from brim.agents.fields import count, flag, items, mapping, parsed_line, text, text_of, value
from brim.agents.lines import Bounded, LineReader, refusal_in, seconds, tokens
from brim.files import data_lines
from brim.models.usage import Tokens
from brim.rules.shell import unwrapped

_AFTER_COMPACTION = ("world_state", "turn_context", "event_msg")
_TYPES = (*_AFTER_COMPACTION, "session_meta", "response_item", "compacted", "token_usage_record")
_CALLS = ("function_call", "custom_tool_call", "local_shell_call", "web_search_call")
_ANSWERS = ("function_call_output", "custom_tool_call_output", "local_shell_call_output")
_UNNAMED = {"local_shell_call": "local_shell", "web_search_call": "web_search"}
_HEADS = ("Chunk ID:", "Exit code:", "Wall time:", "Process exited", "Original token count:")
_TIMED_ID = r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"
_COPYING = 2.0
"""Seconds in which a parent's history is copied: no answer of a model is that fast."""
_COUNTERS = ("input_tokens", "cached_input_tokens", "cache_write_input_tokens", "output_tokens")
_MOST_OPEN = 10_000


class CodexRolloutReader(LineReader):
    """Reads one rollout, line by line."""

    tools = TOOLS

    _model = ""
    _window = 0
    _copied = _records = _window_is_new = _compacts = False
    _sum: tuple[int, ...] | None = None
    _begin: tuple[int, ...] = ()

    def __init__(self) -> None:
        super().__init__()
        self._lineage = _Lineage()
        self._models: set[str] = set()
        self._files = Bounded(_MOST_OPEN)
        self._heard = Bounded(64)
        self._compacted: list[Any] = []

    @staticmethod
    def recognises(line: Mapping[str, Any]) -> bool:
        """Return whether *line* is one of a rollout."""
        return text(line, "type") in _TYPES and bool(mapping(line, "payload"))

    def read(self, line: Mapping[str, Any]) -> None:
        """Tell what happened in *line*; nothing if it is a copy."""
        self._copied = self._lineage.see(line)
        kind = text(line, "type")
        payload = mapping(line, "payload")
        self.where |= {"session": self._lineage.session, "agent": self._lineage.agent}
        self.where["time"] = seconds(value(line, "timestamp"))
        if kind not in _AFTER_COMPACTION:
            self.found += self.finish()
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
            self._note(payload)
        if self._copied:
            self.found = []
            self._compacted = []

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
        sum_before = value(state, "sum")
        self._sum = None if sum_before is None else tuple(sum_before)
        self._begin = tuple(items(state, "begin"))
        self._models = set(items(state, "models"))
        vars(self._lineage).update(mapping(state, "lineage"))

    def finish(self) -> list[Event]:
        """Return the compaction that no count followed yet."""
        held = self._compacted
        self._compacted = []
        return held

    def _compact(self, payload: Mapping[str, Any]) -> None:
        """Hold back the compaction of *payload*: its summary, and the history that the next request
        begins with."""
        left = items(payload, "replacement_history")
        summaries = [text_of(value(item, "content")) for item in left if _is_summary(item)]
        summary = text(payload, "message") or "\n".join(summaries)
        hidden = not summary and any(text(item, "encrypted_content") for item in left)
        self._compacted = [Compaction(hidden=hidden, **self.where)]
        if summary:
            self._compacted.append(Message(role="summary", text=summary, **self.where))
        for item in left:
            said = [text_of(value(item, "content")), text_of(value(item, "output"))]
            said += [
                text(item, "arguments")
                or text(item, "input")
                or command_line(value(item, "action", "command"))
            ]
            if any(said) and not _is_summary(item):
                self._compacted.append(
                    Attachment(kind="kept", text="\n".join(filter(None, said)), **self.where)
                )

    def _note(self, payload: Mapping[str, Any]) -> None:
        kind = text(payload, "type")
        said = text(payload, "message")
        if kind not in ("token_count", "thread_settings_applied", "context_compacted"):
            self.found += self.finish()
        if kind == "token_count":
            self._count(mapping(payload, "info"))
        elif kind == "thread_settings_applied":
            self._turn(mapping(payload, "thread_settings"))
        elif kind == "task_started":
            self._window = count(payload, "model_context_window")
            self._window_is_new = self._window > 0
        elif kind == "user_message":
            self._words(said, kind, True)
        elif kind == "item_completed" and text(payload, "item", "type") == "UserMessage":
            self._words(text_of(value(payload, "item", "content")), kind, True)
        elif kind == "task_complete":
            self.tell(End, reason="complete", text=text(payload, "last_agent_message"))
        elif kind == "turn_aborted":
            self.tell(End, reason=text(payload, "reason") or "aborted")
        elif kind in ("error", "stream_error"):
            self.say("error", said)

    def _count(self, info: Mapping[str, Any]) -> None:
        last = mapping(info, "last_token_usage")
        left = (
            0
            if count(last, "input_tokens") + count(last, "output_tokens")
            else count(last, "total_tokens")
        )
        if self._compacted and left:
            self._compacted[0] = replace(self._compacted[0], after=left)
        self.found += self.finish()
        if window := count(info, "model_context_window"):
            self._window = window
            self._see_model()
        self._add_up(info)

    def _record(self, payload: Mapping[str, Any]) -> None:
        """Tell the request of a ``token_usage_record``."""
        self._records = True
        used = tokens(mapping(payload, "usage"))
        total = count(payload, "thread_token_usage", "total_tokens")
        request = text(payload, "response_id") or f"{text(payload, 'thread_id')}:{total}"
        if used and self.told.is_new(f"request:{request}", used):
            self._request(used, self._model, request)

    def _request(self, used: Tokens, model: str, request: str) -> None:
        self.tell(Usage, tokens=used, model=model, request=request, compacts=self._compacts)
        self._compacts = False

    def _add_up(self, info: Mapping[str, Any]) -> None:
        """Tell the request in a ``token_count``, if it is new and no record tells it.

        Newer clients write a record per request. Before that there are only notes of the sum so
        far: they are written more often than requests are made (twice around a compaction), so what
        counts is by how much the sum grew. The first sum of a file is only where it begins: it may
        contain a parent's. If it grew by more than the last request, requests are missing, and a
        ``RunTotal`` tells the sum.
        """
        now = _counters(mapping(info, "total_token_usage"))
        last = _counters(mapping(info, "last_token_usage"))
        if not any(now):
            return
        before = self._sum
        self._sum = now
        if self._copied or self._records:
            return
        if before is None or any(new < old for new, old in zip(now, before, strict=True)):
            before = _less(now, last) if any(last) else (0, 0, 0, 0)
        self._begin = self._begin or before
        grown = _less(now, before)
        model = self._model
        if not any(grown):
            return
        self._models |= {model} - {""}
        one = last if mapping(info, "last_token_usage") else grown
        if any(one):
            request = f"{self.where['agent'] or self.where['session']}:{now[0]}:{now[3]}"
            self._request(_tokens(one), model, request)
        if grown != one:
            total = _tokens(_less(now, self._begin))
            self.tell(
                RunTotal, tokens={model: total} if self._models == {model} else {}, usage=total
            )

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
        now = self._model, self._window
        if not self._copied and any(now) and self.told.is_new("model", now):
            self.tell(ModelSeen, model=self._model, window=self._window)

    def states(self, line: object, **keys: str) -> None:
        """Tell which of the session's states changed, unless *line* is a copy."""
        if not self._copied:
            super().states(line, **keys)

    def _item(self, payload: Mapping[str, Any], about: Mapping[str, Any]) -> None:
        kind = text(payload, "type")
        role = text(payload, "role")
        words = text_of(value(payload, "content"))
        is_summary = flag(about, "compaction_output")
        self._compacts |= is_summary
        if kind in _CALLS:
            self._call(payload, kind)
        elif kind in _ANSWERS:
            self._answer(payload)
        elif kind == "message" and words and not is_summary:
            if role == "user":
                self._words(words, "item", typed(payload, words), text(payload, "id"))
            else:
                self.say(role if role == "assistant" else "system", words, id=text(payload, "id"))

    def _words(self, words: str, source: str, is_typed: bool, id: str = "") -> None:
        if not is_typed:
            self.say("user", words, id=id)
            return
        words = asked(words)
        if not words or self._copied:
            return
        # Two sources that say the same tell it once; one source twice tells it twice.
        times = self._heard.get(hash(words), {})
        again = times.get(source, 0) + 1
        self._heard[hash(words)] = times | {source: again}
        if again > max(times.values(), default=0):
            self.say("user", words, human=not self._lineage.agent, id=id)

    def _call(self, payload: Mapping[str, Any], kind: str) -> None:
        call = text(payload, "call_id") or text(payload, "id")
        name = text(payload, "name") or _UNNAMED.get(kind, "")
        given = arguments(
            value(payload, "arguments") or value(payload, "input") or value(payload, "action")
        )
        patch = (
            text(given, "input")
            if name == "apply_patch"
            else patch_in(given.get("command") or given.get("cmd"))
        )
        files = edits_in(patch)
        if not files:
            self.call(call, name, given)
        if len(files) > 1:
            self._files[call] = len(files)
        for id, (tool, edit) in zip(_ids(call, len(files)), files, strict=True):
            self.tell(ToolCall, id=id, name="apply_patch", kind=tool, input=edit)

    def _answer(self, payload: Mapping[str, Any]) -> None:
        call = text(payload, "call_id") or text(payload, "id")
        said, code, failed = _answer(value(payload, "output"))
        refusal = refusal_in(said) if code is None else ""
        told = code is None and said.lstrip()[:200].lower().startswith(
            data_lines(__file__, "failures.txt")
        )
        for id in _ids(call, self._files.pop(call, 1)):
            self.result(
                id, said, failed=failed or bool(refusal) or told, refusal=refusal, code=code
            )


class _Lineage:
    """Whose lines a rollout holds: ``session`` is the main thread's id, ``agent`` the id of another
    one.

    A fork and a sub-agent begin with the history of their parent, its token counts included. What
    was copied is in the parent's file; counted again it would multiply the parent by its children.
    The first ``session_meta`` names the thread. After one of another thread, or if the first one
    names a parent, lines are copies until one shows that it is the thread's own: it has the
    thread's id, or a turn that is younger than the thread (both are UUIDs that begin with their
    time). Old rollouts name no turns: there, what is written two seconds after the thread began is
    its own.
    """

    session = agent = _thread = ""
    _copied = _turns = False
    _began: float | None = None

    def see(self, line: Mapping[str, Any]) -> bool:
        """Take note of *line*; return whether it is a copy."""
        payload = mapping(line, "payload")
        if text(line, "type") == "session_meta":
            return self._meta(payload, seconds(value(line, "timestamp")))
        if not self._thread and text(payload, "thread_id"):
            self._thread = text(payload, "thread_id")
            self.session = text(payload, "session_id") or self._thread
            self.agent = self._thread if self.session != self._thread else ""
        elif self._copied and self._is_own(line, payload):
            self._copied = False
        return self._copied

    def _meta(self, payload: Mapping[str, Any], written: float | None) -> bool:
        thread = text(payload, "id") or text(payload, "session_id")
        if self._thread:
            another = bool(thread) and thread != self._thread
            self._copied = self._copied or another
            return another
        spawned = value(payload, "source", "subagent")
        parent = text(spawned, "thread_spawn", "parent_thread_id") or text(
            payload, "parent_thread_id"
        )
        root = text(payload, "session_id")
        self._thread = thread
        self._began = written
        is_agent = bool(spawned or parent) or text(payload, "thread_source") == "subagent"
        self.session = (root if root != thread else "") or parent or thread if is_agent else thread
        self.agent = thread if is_agent else ""
        self._copied = is_agent or bool(text(payload, "forked_from_id"))
        return False

    def _is_own(self, line: Mapping[str, Any], payload: Mapping[str, Any]) -> bool:
        if text(payload, "thread_id") == self._thread:
            return True
        turn = text(payload, "turn_id")
        if re.fullmatch(_TIMED_ID, turn) and re.fullmatch(_TIMED_ID, self._thread):
            self._turns = True
            return turn > self._thread
        written = seconds(value(line, "timestamp"))
        if self._turns or written is None or self._began is None:
            return False
        return written > self._began + _COPYING


def _is_summary(item: object) -> bool:
    about = value(item, "internal_chat_message_metadata_passthrough")
    return "compaction.summary" in items(about, "content_item_kinds")


def _counters(usage: Mapping[str, Any]) -> tuple[int, ...]:
    return tuple([count(usage, name) for name in _COUNTERS])


def _less(more: tuple[int, ...], less: tuple[int, ...]) -> tuple[int, ...]:
    return tuple([max(0, one - other) for one, other in zip(more, less, strict=True)])


def _tokens(counters: tuple[int, ...]) -> Tokens:
    prompt, read, written, output = counters
    fresh = max(0, prompt - read - written)
    return Tokens(
        input=fresh, cache_read=read, cache_write_5m=written, output=output, writes_are_input=True
    )


def _answer(output: object) -> tuple[str, int | None, bool]:
    """Return the text of a call's *output*, its exit code if it says one, and whether the client
    calls it a failure.

    What the client puts before the text (a chunk's id, the time it took) is left out: it differs
    each time.
    """
    failed = value(output, "success") is False
    if isinstance(output, Mapping):
        output = (
            output.get("content") if output.get("content") is not None else output.get("output")
        )
    said = text_of(output)
    if said.startswith("{") and '"metadata"' in said:
        about = parsed_line(said.encode("utf-8", "replace"))
        code = value(about, "metadata", "exit_code")
        return text(about, "output"), code if type(code) is int else None, failed
    if said.startswith(_HEADS):
        body = re.search(r"^Output:\n?", said, re.MULTILINE)
        head, said = (said[: body.start()], said[body.end() :]) if body else (said, "")
        found = re.search(
            r"^(?:Process exited with code|Exit code:) (-?\d{1,9})$", head, re.MULTILINE
        )
        return said, int(found[1]) if found else None, failed
    return said, None, failed


class CodexExecReader(LineReader):
    """Reads one stream, line by line."""

    tools = TOOLS

    _session = _last = ""
    _lists = 0

    def __init__(self) -> None:
        super().__init__()
        self._open = Bounded(_MOST_OPEN)
        self._todos: dict[str, Any] = {}

    @staticmethod
    def recognises(line: Mapping[str, Any]) -> bool:
        """Return whether *line* is one of this stream."""
        kind = text(line, "type")
        if kind.startswith("item."):
            return bool(text(line, "item", "type") or text(line, "item", "item_type"))
        if kind == "error":
            return bool(text(line, "message")) and not (
                "error" in line or "severity" in line or "sessionID" in line
            )
        return kind in ("thread.started", "turn.started", "turn.completed", "turn.failed")

    def read(self, line: Mapping[str, Any]) -> None:
        """Tell what happened in *line*."""
        kind = text(line, "type")
        if kind == "thread.started":
            self._session = text(line, "thread_id")
        self.where["session"] = self._session
        if kind == "turn.completed":
            if used := tokens(mapping(line, "usage")):
                self.tell(RunTotal, usage=used)
            self.tell(End, reason="complete", text=self._last)
        elif kind == "turn.failed":
            said = text(line, "error", "message")
            self.say("error", said)
            self.tell(End, reason="failed", error=True, text=said)
        elif kind == "error":
            self.say("error", text(line, "message"))
        elif kind.startswith("item."):
            self._item(mapping(line, "item"), kind)

    def _item(self, item: Mapping[str, Any], when: str) -> None:
        kind = text(item, "type") or text(item, "item_type")
        id = text(item, "id")
        done = when == "item.completed"
        if kind in ("agent_message", "assistant_message", "error"):
            role, key = ("error", "message") if kind == "error" else ("assistant", "text")
            if done:
                self._last = text(item, "text") if role == "assistant" else self._last
                self.tell(Message, role=role, text=text(item, key), id=id)
        elif kind == "todo_list":
            self._todo_list(TOOLS.normalized("todo", {"items": items(item, "items")}), id)
        elif when != "item.updated":
            if id not in self._open:
                calls = _calls(kind, item)
                self._open[id] = len(calls)
                for one, (name, tool, given) in zip(_ids(id, len(calls)), calls, strict=True):
                    self.call(one, name, given, tool)
            if done:
                self._end(item, _ids(id, self._open.pop(id)))

    def _todo_list(self, given: dict[str, Any], id: str) -> None:
        """Tell a call each time that the list is another: an item is written again when something
        in it changes."""
        if given != self._todos:
            self._todos = given
            self._lists = self._lists + 1
            id = f"{id}#{self._lists}" if self._lists > 1 else id
            self.tell(ToolCall, id=id, name="todo_list", kind="todo", input=given)
            self.tell(ToolResult, id=id)

    def _end(self, item: Mapping[str, Any], ids: list[str]) -> None:
        status = text(item, "status")
        code = value(item, "exit_code")
        said = text(item, "aggregated_output") or text(item, "error", "message")
        said = said or text_of(value(item, "result", "content"))
        failed = status in ("failed", "declined") or (type(code) is int and code != 0)
        refusal = "permission" if status == "declined" else refusal_in(said) if failed else ""
        for id in ids:
            self.result(id, said, failed=failed, refusal=refusal, code=code)


def _ids(id: str, number: int) -> list[str]:
    return [id, *[f"{id}#{nth}" for nth in range(2, number + 1)]][:number]


def _calls(kind: str, item: Mapping[str, Any]) -> list[tuple[str, str, dict[str, Any]]]:
    """Return name, tool and what was given for what an item does; a change of several files is one
    for each."""
    if kind == "command_execution":
        return [(kind, "shell", {"command": unwrapped(text(item, "command"))})]
    if kind == "file_change":
        return [
            (
                kind,
                "write" if text(each, "kind") == "add" else "edit",
                {"file_path": text(each, "path"), **each},
            )
            for each in items(item, "changes")
            if text(each, "path")
        ]
    name = text(item, "tool")
    if kind == "mcp_tool_call":
        return [(f"mcp__{text(item, 'server')}__{name}", "", arguments(value(item, "arguments")))]
    if kind == "web_search":
        return [(kind, "search", {"query": text(item, "query")})]
    return (
        [(name, TOOLS.kind(name), {"prompt": text(item, "prompt")})]
        if kind == "collab_tool_call"
        else []
    )
