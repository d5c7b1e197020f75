"""Messages of the Claude Agent SDK, as the lines of the stream that they were made of: one reader is enough."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def line_of(message: Any, session: str = "") -> dict[str, Any]:
    """Return the line that *message* was; empty if it says nothing about the run. *session* is the one so far."""
    kind = type(message).__name__
    session = getattr(message, "session_id", None) or session
    if kind == "AssistantMessage":
        inner = {
            "id": message.message_id,
            "model": message.model,
            "usage": message.usage,
            "stop_reason": message.stop_reason,
            "content": [_block(block) for block in message.content],
        }
        error = {"is_api_error_message": True} if message.error else {}
        parent = {"parent_tool_use_id": message.parent_tool_use_id}
        return {"type": "assistant", "message": inner, "session_id": session, **parent, **error}
    if kind == "UserMessage":
        content = message.content if isinstance(message.content, str) else [_block(each) for each in message.content]
        return {
            "type": "user",
            "message": {"role": "user", "content": content},
            "session_id": session,
            "parent_tool_use_id": message.parent_tool_use_id,
            "tool_use_result": message.tool_use_result,
        }
    if kind == "ResultMessage":
        names = ("subtype", "is_error", "num_turns", "total_cost_usd", "usage", "result", "errors", "stop_reason")
        fields = {name: getattr(message, name, None) for name in (*names, "terminal_reason")}
        usage = getattr(message, "model_usage", None) or {}
        return {"type": "result", "session_id": session, **fields, "modelUsage": usage}
    data = getattr(message, "data", None)
    return {"type": "system", "subtype": message.subtype, **data} if isinstance(data, dict) else {}


def _block(block: Any) -> dict[str, Any]:
    """Return a block of content. What is neither text nor a tool's does not matter here."""
    kind = type(block).__name__
    if kind == "TextBlock":
        return {"type": "text", "text": block.text}
    if kind == "ToolUseBlock":
        return {"type": "tool_use", "id": block.id, "name": block.name, "input": block.input}
    if kind == "ToolResultBlock":
        error = bool(block.is_error)
        return {"type": "tool_result", "tool_use_id": block.tool_use_id, "content": block.content, "is_error": error}
    return {"type": "other"}
