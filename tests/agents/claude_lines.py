"""Lines as Claude Code writes them, for the tests: its stream and its transcripts."""

from __future__ import annotations

from typing import Any

SESSION = "11111111-2222-4333-8444-555555555555"
MODEL = "claude-sonnet-4-5"
TIME = "2026-11-15T06:39:07.416Z"
SECONDS = 1794724747.416


def usage(input: int = 8, output: int = 42, read: int = 100, write: int = 20) -> dict[str, Any]:
    """Return a report as the provider gives it."""
    return {
        "input_tokens": input,
        "output_tokens": output,
        "cache_read_input_tokens": read,
        "cache_creation_input_tokens": write,
        "cache_creation": {"ephemeral_5m_input_tokens": write, "ephemeral_1h_input_tokens": 0},
        "service_tier": "standard",
    }


def text_block(words: str = "I look.") -> dict[str, Any]:
    """Return a block of text."""
    return {"type": "text", "text": words}


def tool_block(id: str = "toolu_1", name: str = "Bash", **given: Any) -> dict[str, Any]:
    """Return a block that calls a tool."""
    return {"type": "tool_use", "id": id, "name": name, "input": given}


def result_block(id: str = "toolu_1", said: Any = "ok", **more: Any) -> dict[str, Any]:
    """Return a block that answers a call."""
    return {"type": "tool_result", "tool_use_id": id, "content": said, **more}


def message(id: str, *blocks: Any, **more: Any) -> dict[str, Any]:
    """Return an answer of the model."""
    whole = {
        "id": id,
        "type": "message",
        "role": "assistant",
        "model": MODEL,
        "content": list(blocks),
    }
    return {**whole, "usage": usage(), **more}


def streamed(kind: str, **more: Any) -> dict[str, Any]:
    """Return an event of the stream."""
    return {
        "type": kind,
        "session_id": SESSION,
        "parent_tool_use_id": None,
        "timestamp": TIME,
        **more,
    }


def stream_answer(id: str, *blocks: Any, request: str = "req_1", **more: Any) -> dict[str, Any]:
    """Return an answer in the stream: its output tokens are a placeholder."""
    about = {"usage": usage(output=1), "stop_reason": None, **more.pop("about", {})}
    return streamed("assistant", message=message(id, *blocks, **about), request_id=request, **more)


def stream_user(content: Any, **more: Any) -> dict[str, Any]:
    """Return what a user, or the client for it, says in the stream."""
    return streamed("user", message={"role": "user", "content": content}, **more)


def kept(kind: str, **more: Any) -> dict[str, Any]:
    """Return a line of a transcript."""
    return {"type": kind, "sessionId": SESSION, "isSidechain": False, "timestamp": TIME, **more}


def kept_answer(id: str, *blocks: Any, request: str = "req_1", **more: Any) -> dict[str, Any]:
    """Return an answer in a transcript."""
    about = {"stop_reason": "tool_use", **more.pop("about", {})}
    return kept("assistant", message=message(id, *blocks, **about), requestId=request, **more)


def kept_user(content: Any, **more: Any) -> dict[str, Any]:
    """Return what a user, or the client for it, says in a transcript."""
    return kept("user", message={"role": "user", "content": content}, **more)


STREAM: list[dict[str, Any]] = [
    streamed(
        "system", subtype="init", cwd="/home/user/project", model=MODEL, permissionMode="default"
    ),
    stream_user("make the parser faster"),
    stream_answer("msg_1", text_block()),
    stream_answer("msg_1", tool_block(command="make test")),
    stream_user(
        [result_block(said="Exit code 2", is_error=True)], tool_use_result="Error: Exit code 2"
    ),
    stream_answer(
        "msg_2",
        text_block("From below."),
        request="req_2",
        parent_tool_use_id="toolu_1",
        agent_id="a1",
    ),
    streamed(
        "system",
        subtype="compact_boundary",
        compact_metadata={"trigger": "auto", "pre_tokens": 9, "post_tokens": 3},
    ),
    stream_user(
        [text_block("This session is being continued from a previous conversation.")],
        isSynthetic=True,
    ),
    streamed("stream_event", event={"type": "message_start", "message": message("msg_3")}),
    streamed("stream_event", event={"type": "message_delta", "usage": {"output_tokens": 77}}),
    streamed(
        "result",
        subtype="success",
        is_error=False,
        result="Done.",
        total_cost_usd=0.1447407,
        usage=usage(input=24, read=300),
        modelUsage={MODEL: {"inputTokens": 24, "outputTokens": 90, "contextWindow": 200_000}},
    ),
]
"""A short stream with one of each."""

TRANSCRIPT: list[dict[str, Any]] = [
    {"type": "permission-mode", "permissionMode": "default", "sessionId": SESSION},
    {"type": "file-history-snapshot", "messageId": "u0", "snapshot": {}},
    kept_user(
        "make the parser faster",
        uuid="u1",
        origin={"kind": "human"},
        cwd="/home/user/project",
        gitBranch="main",
    ),
    kept(
        "attachment",
        attachment={"type": "queued_command", "prompt": "and tests", "commandMode": "prompt"},
    ),
    kept_answer("msg_1", text_block(), uuid="u2"),
    kept_answer("msg_1", tool_block(command="make test"), uuid="u3"),
    kept_user(
        [result_block(said="Exit code 2", is_error=True)],
        uuid="u4",
        toolUseResult="Error: Exit code 2",
    ),
    kept_answer(
        "msg_2",
        text_block("From below."),
        uuid="u5",
        request="req_2",
        isSidechain=True,
        agentId="a1",
    ),
    kept(
        "system",
        subtype="compact_boundary",
        compactMetadata={"trigger": "manual", "preTokens": 9, "postTokens": 3},
    ),
    kept_user("This session is being continued.", uuid="u6", isCompactSummary=True),
    {
        "type": "cost-state",
        "sessionId": SESSION,
        "totalCostUSD": 0.129,
        "modelUsage": {MODEL: {"inputTokens": 5}},
    },
]
"""A short transcript with one of each."""

STATUS: dict[str, Any] = {
    "session_id": SESSION,
    "cwd": "/home/user/project",
    "model": {"id": MODEL, "display_name": "Sonnet"},
    "version": "2.1.325",
    "cost": {"total_cost_usd": 0.068167},
    "context_window": {
        "context_window_size": 200_000,
        "current_usage": {
            "input_tokens": 8,
            "output_tokens": 42,
            "cache_creation_input_tokens": 13_459,
            "cache_read_input_tokens": 0,
        },
    },
}
"""What a status line is given."""
