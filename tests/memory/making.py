"""Events as a stream gives them, in as few words as a test needs."""

from __future__ import annotations

from typing import Any

from brim.agents.call import ToolCall, normalized
from brim.agents.events import Message, ToolResult


def said(text: str, id: str = "", **more: Any) -> Message:
    return Message(role="user", text=text, human=True, id=id, **more)


def call(id: str, name: str, tool: str, **given: Any) -> ToolCall:
    return ToolCall(id=id, name=name, kind=tool, input=normalized(tool, given))


def ok(id: str, text: str = "done", detail: Any = None) -> ToolResult:
    return ToolResult(id=id, text=text, detail=detail)


def failed(
    id: str, text: str = "Exit code 1\nerror: no", refusal: str = "", detail: Any = None
) -> ToolResult:
    return ToolResult(id=id, text=text, error=True, refusal=refusal, detail=detail)
