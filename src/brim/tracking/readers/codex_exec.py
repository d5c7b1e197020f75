"""``codex exec --json``: what one run of Codex did.

The usage of ``turn.completed`` is the sum over all requests of the thread so far, those of a resumed thread included: a
``RunTotal``, never what is in the window, and never to be added up. The stream names no model and does not repeat what
the person asked.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from brim.tracking.events import End, Message, RunTotal, ToolCall, ToolResult
from brim.tracking.readers.declined import refusal_in
from brim.tracking.readers.fields import items, mapping, text, text_of, tokens, value
from brim.tracking.readers.inputs import arguments, named
from brim.tracking.readers.tools import tool_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from brim.tracking.events import Event

_FAILED = ("failed", "declined")
_MOST_OPEN = 10_000
_SHELL = re.compile(r"(?:\S*/)?(?:ba|z|da)?sh -l?c (?=\S)")
_ESCAPED = re.compile(r"""\\(["\\$`])""")


def recognises(line: Mapping[str, Any]) -> bool:
    """Return whether *line* is one of this stream."""
    kind = text(line, "type")
    if kind.startswith("item."):
        return bool(text(line, "item", "type") or text(line, "item", "item_type"))
    if kind == "error":
        return bool(text(line, "message")) and not ("error" in line or "severity" in line or "sessionID" in line)
    return kind in ("thread.started", "turn.started", "turn.completed", "turn.failed")


class CodexExecReader:
    """Reads one stream, line by line."""

    def __init__(self) -> None:
        self._session = ""
        self._open: dict[str, int] = {}
        self._todos: dict[str, Any] = {}
        self._lists = 0
        self._last = ""

    def events(self, line: Mapping[str, Any], at: int = 0) -> list[Event]:
        """Return what happened in *line*, which begins at byte *at* of its stream."""
        kind = text(line, "type")
        if kind == "thread.started":
            self._session = text(line, "thread_id")
        where: dict[str, Any] = {"session": self._session, "at": at}
        if kind == "turn.completed":
            used = tokens(mapping(line, "usage"))
            total: list[Event] = [RunTotal(usage=used, **where)] if used else []
            return [*total, End(reason="complete", text=self._last, **where)]
        if kind == "turn.failed":
            said = text(line, "error", "message")
            told: list[Event] = [Message(role="error", text=said, **where)] if said else []
            return [*told, End(reason="failed", error=True, text=said, **where)]
        if kind == "error" and text(line, "message"):
            return [Message(role="error", text=text(line, "message"), **where)]
        if kind.startswith("item."):
            return self._item(mapping(line, "item"), kind, where)
        return []

    def _item(self, item: Mapping[str, Any], when: str, where: Mapping[str, Any]) -> list[Event]:
        kind, id = text(item, "type") or text(item, "item_type"), text(item, "id")
        done = when == "item.completed"
        if kind in ("agent_message", "assistant_message"):
            self._last = text(item, "text") if done else self._last
            return [Message(role="assistant", text=text(item, "text"), id=id, **where)] if done else []
        if kind == "error":
            return [Message(role="error", text=text(item, "message"), id=id, **where)] if done else []
        if kind == "todo_list":
            return self._todo_list(named("todo", {"items": items(item, "items")}), id, where)
        if when == "item.updated":
            return []
        happened: list[Event] = []
        if id not in self._open:
            calls = _calls(kind, item)
            for one, (name, tool, given) in zip(_ids(id, len(calls)), calls, strict=True):
                happened.append(ToolCall(id=one, name=name, tool=tool, input=named(tool, given), **where))
            self._open[id] = len(calls)
            if len(self._open) > _MOST_OPEN:
                del self._open[next(iter(self._open))]
        if done:
            happened += [_result(item, one, where) for one in _ids(id, self._open.pop(id))]
        return happened

    def _todo_list(self, given: dict[str, Any], id: str, where: Mapping[str, Any]) -> list[Event]:
        """Return a call each time that the list is another: an item is written again when something in it changes."""
        if given == self._todos:
            return []
        self._todos, self._lists = given, self._lists + 1
        id = f"{id}#{self._lists}" if self._lists > 1 else id
        return [ToolCall(id=id, name="todo_list", tool="todo", input=given, **where), ToolResult(id=id, **where)]


def _ids(id: str, number: int) -> list[str]:
    return [id, *[f"{id}#{nth}" for nth in range(2, number + 1)]][:number]


def _calls(kind: str, item: Mapping[str, Any]) -> list[tuple[str, str, dict[str, Any]]]:
    """Return name, tool and what was given for what an item does; a change of several files is one for each."""
    if kind == "command_execution":
        return [(kind, "shell", {"command": _unwrapped(text(item, "command"))})]
    if kind == "file_change":
        changes = [change for change in items(item, "changes") if text(change, "path")]
        return [(kind, _file_tool(change), {"file_path": text(change, "path"), **change}) for change in changes]
    if kind == "mcp_tool_call":
        name = f"mcp__{text(item, 'server')}__{text(item, 'tool')}"
        return [(name, "", arguments(value(item, "arguments")))]
    if kind == "web_search":
        return [(kind, "search", {"query": text(item, "query")})]
    if kind == "collab_tool_call":
        name = text(item, "tool")
        return [(name, tool_of(name), {"prompt": text(item, "prompt")})]
    return []


def _unwrapped(command: str) -> str:
    """Return what the shell was given: the client writes ``/bin/bash -lc 'make test'``."""
    found = _SHELL.match(command)
    if not found:
        return command
    inner = command[found.end() :]
    quote, body = inner[:1], inner[1:-1]
    if len(inner) < 2 or inner[-1] != quote or quote not in ("'", '"'):
        return inner
    return body.replace("'\\''", "'") if quote == "'" else _ESCAPED.sub(r"\1", body)


def _file_tool(change: Mapping[str, Any]) -> str:
    return "write" if text(change, "kind") == "add" else "edit"


def _result(item: Mapping[str, Any], id: str, where: Mapping[str, Any]) -> ToolResult:
    code = value(item, "exit_code")
    said = (
        text(item, "aggregated_output") or text(item, "error", "message") or text_of(value(item, "result", "content"))
    )
    failed = text(item, "status") in _FAILED or (type(code) is int and code != 0)
    refusal = "permission" if text(item, "status") == "declined" else refusal_in(said) if failed else ""
    detail = {"exit_code": code} if type(code) is int else None
    return ToolResult(id=id, text=said, error=failed, refusal=refusal, detail=detail, **where)
