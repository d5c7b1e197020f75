"""Lines of Claude Code transcripts for the tests of usage: their shapes are the client's, their
numbers are small."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

MODEL = "claude-sonnet-4-5-20250929"
FOLDER = "/home/user/shop"


def usage(input: int = 10, output: int = 5, written: int = 0, read: int = 0) -> dict[str, Any]:
    """Return the usage of one request."""
    return {
        "input_tokens": input,
        "cache_creation_input_tokens": written,
        "cache_read_input_tokens": read,
        "cache_creation": {"ephemeral_5m_input_tokens": written, "ephemeral_1h_input_tokens": 0},
        "output_tokens": output,
        "service_tier": "standard",
    }


def answer(
    id: str = "msg_1",
    request: str | None = "req_1",
    used: Any = None,
    *,
    model: str = MODEL,
    time: str = "2026-01-05T10:00:00.000Z",
    session: str = "s-1",
    side: bool = False,
    text: str = "Done.",
    **more: Any,
) -> dict[str, Any]:
    """Return a line of an answer."""
    line: dict[str, Any] = {
        "parentUuid": None,
        "isSidechain": side,
        "cwd": FOLDER,
        "sessionId": session,
        "message": {
            "model": model,
            "id": id,
            "type": "message",
            "role": "assistant",
            "content": [{"type": "text", "text": text}],
            "usage": usage() if used is None else used,
        },
        "requestId": request,
        "type": "assistant",
        "uuid": f"u-{id}",
        "timestamp": time,
        **more,
    }
    if request is None:
        del line["requestId"]
    return line


def result(text: str = "ok", **more: Any) -> dict[str, Any]:
    """Return a line with the result of a tool."""
    content = [{"tool_use_id": "toolu_1", "type": "tool_result", "content": text}]
    line = {
        "parentUuid": None,
        "isSidechain": False,
        "cwd": FOLDER,
        "sessionId": "s-1",
        "type": "user",
    }
    return {
        **line,
        "message": {"role": "user", "content": content},
        "uuid": "u",
        "toolUseResult": text,
        **more,
    }


def cost_state(dollars: Any, session: str = "s-1", **tokens: int) -> dict[str, Any]:
    """Return the client's own total; *tokens* are those of the model."""
    used = {
        "inputTokens": 0,
        "outputTokens": 0,
        "cacheReadInputTokens": 0,
        "cacheCreationInputTokens": 0,
        **tokens,
    }
    return {
        "type": "cost-state",
        "sessionId": session,
        "totalCostUSD": dollars,
        "modelUsage": {MODEL: used},
    }


def compact(line: Any) -> str:
    """Return *line* as the client writes it."""
    return json.dumps(line, ensure_ascii=False, separators=(",", ":"))


def write(path: Path, *lines: Any) -> Path:
    """Write *lines* into *path*: mappings as the client does, texts as they are."""
    path.parent.mkdir(parents=True, exist_ok=True)
    texts = [line if isinstance(line, str) else compact(line) for line in lines]
    path.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    return path
