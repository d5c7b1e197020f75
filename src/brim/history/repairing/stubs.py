"""What stands in for something that is missing; each says so in plain words."""

from __future__ import annotations

from typing import Any

from brim.history.reading.entry import Call

NO_RESULT = "[no result: the call was interrupted before it returned]"
NO_BEGINNING = "[the beginning of this conversation is missing]"
UNKNOWN_TOOL = "unknown_tool"
"""The name of a tool that a result without its call does not tell."""
NO_PICTURE = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII="
)
"""One transparent pixel: the answer of a computer must be a picture."""


def chat_result(call: Call) -> dict[str, Any]:
    """Return a result for a call of OpenAI's chat format."""
    if call.kind == "function":
        return {"role": "function", "name": call.id, "content": NO_RESULT}
    return {"role": "tool", "tool_call_id": call.id, "content": NO_RESULT}


def chat_call(result: Call) -> dict[str, Any]:
    """Return an assistant message that calls what *result* answers."""
    function = {"name": result.name or UNKNOWN_TOOL, "arguments": "{}"}
    if result.kind == "function":
        return {"role": "assistant", "content": None, "function_call": function}
    call = {"id": result.id, "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def response_output(call: Call) -> dict[str, Any]:
    """Return an output for a call of OpenAI's Responses format."""
    answer: dict[str, Any] = {"type": f"{call.kind}_call_output", "call_id": call.id, "output": NO_RESULT}
    if call.kind == "computer":
        answer["output"] = {"type": "computer_screenshot", "image_url": NO_PICTURE}
    elif call.kind == "shell":
        outcome = {"type": "exit", "exit_code": 1}
        answer["output"] = [{"stdout": "", "stderr": NO_RESULT, "outcome": outcome}]
    elif call.kind == "apply_patch":
        answer["status"] = "failed"
    elif call.kind == "local_shell":
        answer["id"] = call.id
    return answer


def response_call(result: Call) -> dict[str, Any]:
    """Return an item that calls what *result* answers."""
    name = result.name or UNKNOWN_TOOL
    extras: dict[str, dict[str, Any]] = {
        "function": {"name": name, "arguments": "{}"},
        "custom_tool": {"name": name, "input": ""},
        "computer": {"action": {"type": "screenshot"}, "pending_safety_checks": [], "status": "completed"},
        "shell": {"action": {"commands": []}, "status": "completed"},
        "local_shell": {"action": {"type": "exec", "command": [], "env": {}}, "status": "completed"},
        "apply_patch": {"operation": {"type": "delete_file", "path": "unknown"}, "status": "completed"},
    }
    return {"type": f"{result.kind}_call", "call_id": result.id, **extras[result.kind]}


def anthropic_result(call: Call) -> dict[str, Any]:
    """Return a block that answers a call of Anthropic's format."""
    return {"type": "tool_result", "tool_use_id": call.id, "is_error": True, "content": NO_RESULT}


def anthropic_call(result: Call) -> dict[str, Any]:
    """Return a block that calls what *result* answers."""
    return {"type": "tool_use", "id": result.id, "name": result.name or UNKNOWN_TOOL, "input": {}}


def gemini_result(call: Call) -> dict[str, Any]:
    """Return a part that answers a function call of Gemini's."""
    given = {"id": call.id} if call.id else {}
    return {"functionResponse": {**given, "name": call.name or UNKNOWN_TOOL, "response": {"error": NO_RESULT}}}


def gemini_call(result: Call) -> dict[str, Any]:
    """Return a part that calls what *result* answers."""
    given = {"id": result.id} if result.id else {}
    return {"functionCall": {**given, "name": result.name or UNKNOWN_TOOL, "args": {}}}


def server_result(kind: str, id_: str, name: str) -> dict[str, Any]:
    """Return an error as the result of one of Anthropic's own tools."""
    if kind == "mcp_tool_use":
        text = [{"type": "text", "text": NO_RESULT}]
        return {"type": "mcp_tool_result", "tool_use_id": id_, "is_error": True, "content": text}
    error = {"type": f"{name}_tool_result_error", "error_code": "unavailable"}
    return {"type": f"{name}_tool_result", "tool_use_id": id_, "content": error}


def server_call(kind: str, id_: str) -> dict[str, Any]:
    """Return a call of one of Anthropic's own tools, by the type of its result."""
    name = kind.removesuffix("_tool_result")
    if name == "mcp":
        return {"type": "mcp_tool_use", "id": id_, "name": UNKNOWN_TOOL, "server_name": "unknown", "input": {}}
    return {"type": "server_tool_use", "id": id_, "name": name, "input": {}}
