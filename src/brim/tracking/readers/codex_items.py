"""The calls and answers in a Codex rollout.

A patch becomes one call for each file in it: the first has the client's id, the second file that id with ``#2``, and so
on. Each gets the answer to the patch as its own result, so that an id always names one call and one result.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from brim.tracking.events import ToolCall, ToolResult
from brim.tracking.readers.codex_patch import edits, patch_in
from brim.tracking.readers.codex_words import lines_of
from brim.tracking.readers.declined import refusal_in
from brim.tracking.readers.fields import mapping, text, text_of, value
from brim.tracking.readers.inputs import arguments, named
from brim.tracking.readers.tools import tool_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from brim.tracking.events import Event

_CALLS = ("function_call", "custom_tool_call", "local_shell_call", "web_search_call")
_ANSWERS = ("function_call_output", "custom_tool_call_output", "local_shell_call_output")
_EXIT = re.compile(r"^(?:Process exited with code|Exit code:) (-?\d{1,9})$", re.MULTILINE)
_OUTPUT = re.compile(r"^Output:\n?", re.MULTILINE)
_HEADS = ("Chunk ID:", "Exit code:", "Wall time:", "Process exited", "Original token count:")
_MOST_OPEN = 10_000


class Calls:
    """The calls of a rollout and their answers."""

    def __init__(self) -> None:
        self._files: dict[str, int] = {}

    def events(self, payload: Mapping[str, Any], where: Mapping[str, Any]) -> list[Event]:
        """Return what the item *payload* calls or answers; nothing if it does neither."""
        kind = text(payload, "type")
        if kind in _CALLS:
            return self._called(payload, kind, where)
        if kind in _ANSWERS:
            return self._answered(payload, where)
        return []

    def _called(self, payload: Mapping[str, Any], kind: str, where: Mapping[str, Any]) -> list[Event]:
        call = text(payload, "call_id") or text(payload, "id")
        name = text(payload, "name") or {"local_shell_call": "local_shell", "web_search_call": "web_search"}.get(
            kind, ""
        )
        given = arguments(value(payload, "arguments") or value(payload, "input") or value(payload, "action"))
        patch = text(given, "input") if name == "apply_patch" else patch_in(given.get("command") or given.get("cmd"))
        files = edits(patch) if patch else []
        if not files:
            tool = tool_of(name)
            return [ToolCall(id=call, name=name, tool=tool, input=named(tool, given), **where)]
        if len(files) > 1:
            self._files[call] = len(files)
            while len(self._files) > _MOST_OPEN:
                del self._files[next(iter(self._files))]
        calls = zip(_ids(call, len(files)), files, strict=True)
        return [ToolCall(id=id, name="apply_patch", tool=tool, input=given, **where) for id, (tool, given) in calls]

    def _answered(self, payload: Mapping[str, Any], where: Mapping[str, Any]) -> list[Event]:
        call = text(payload, "call_id") or text(payload, "id")
        said, code, failed = answer(value(payload, "output"))
        refusal = refusal_in(said) if code is None else ""
        ids = _ids(call, self._files.pop(call, 1))
        told = code is None and said.lstrip()[:200].lower().startswith(lines_of("codex_failures.txt"))
        error = failed or bool(code) or bool(refusal) or told
        detail = None if code is None else {"exit_code": code}
        return [ToolResult(id=id, text=said, error=error, refusal=refusal, detail=detail, **where) for id in ids]


def answer(output: object) -> tuple[str, int | None, bool]:
    """Return the text of a call's *output*, its exit code if it says one, and whether the client calls it a failure.

    What the client puts before the text (a chunk's id, the time it took) is left out: it differs each time.
    """
    failed = value(output, "success") is False
    if isinstance(output, Mapping):
        output = output.get("content") if output.get("content") is not None else output.get("output")
    said = text_of(output)
    if said.startswith("{") and '"metadata"' in said:
        about = _parsed(said)
        code = value(about, "metadata", "exit_code")
        return text(about, "output"), code if type(code) is int else None, failed
    if said.startswith(_HEADS):
        body = _OUTPUT.search(said)
        head, said = (said[: body.start()], said[body.end() :]) if body else (said, "")
        found = _EXIT.search(head)
        return said, int(found[1]) if found else None, failed
    return said, None, failed


def _ids(call: str, files: int) -> list[str]:
    return [call, *[f"{call}#{number}" for number in range(2, files + 1)]]


def _parsed(said: str) -> Mapping[str, Any]:
    try:
        return mapping(json.loads(said))
    except (ValueError, RecursionError):
        return {}
