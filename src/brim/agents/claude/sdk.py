"""Claude's Agent SDK: its messages as lines of Claude Code's stream, so that one reader is enough.

It needs the optional extra: ``pip install 'brim[agent-sdk]'``.
"""

from __future__ import annotations

import importlib
from typing import Any

from brim.errors import InputError

BLOCKS = {"TextBlock": "text", "ToolUseBlock": "tool_use", "ToolResultBlock": "tool_result"}
"""The blocks of content that matter, as the stream calls them."""


def load_sdk() -> Any:
    """Return the SDK's module, or say how to install it."""
    try:
        return importlib.import_module("claude_agent_sdk")
    except ImportError:
        raise InputError(
            "the Claude Agent SDK is not installed: pip install 'brim[agent-sdk]'"
        ) from None


def line_of(message: Any, session: str = "") -> dict[str, Any]:
    """Return the line of the stream that *message* was made of. *session* is the one so far.

    It's empty if the message says nothing about the run.
    """
    kind = type(message).__name__
    about = {"session_id": getattr(message, "session_id", None) or session}
    if kind == "AssistantMessage":
        return _assistant_line(message, about)
    if kind == "UserMessage":
        return {
            "type": "user",
            "message": {"role": "user", "content": _content(message)},
            **about,
            "parent_tool_use_id": message.parent_tool_use_id,
            "tool_use_result": message.tool_use_result,
        }
    if kind == "ResultMessage":
        usage = getattr(message, "model_usage", None) or {}
        return {**vars(message), "type": "result", **about, "modelUsage": usage}
    data = getattr(message, "data", None)
    if isinstance(data, dict):
        return {"type": "system", "subtype": message.subtype, **data}
    return {}


def _assistant_line(message: Any, about: dict[str, Any]) -> dict[str, Any]:
    inner = {
        "id": message.message_id,
        "content": _content(message),
        "model": message.model,
        "usage": message.usage,
        "stop_reason": message.stop_reason,
    }
    line = {
        "type": "assistant",
        "message": inner,
        **about,
        "parent_tool_use_id": message.parent_tool_use_id,
    }
    if message.error:
        line["is_api_error_message"] = True
    return line


def _content(message: Any) -> Any:
    """Return the content of *message*: a text, or blocks as the stream has them."""
    if isinstance(message.content, str):
        return message.content
    blocks = []
    for block in message.content:
        kind = BLOCKS.get(type(block).__name__, "other")
        blocks.append({**vars(block), "type": kind})
    return blocks
