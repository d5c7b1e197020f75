"""The Responses wire of OpenAI: what Codex speaks."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tests.e2e.api.script import Kind, Overflow, Part, Reply, Sent, texts_of

SUMMARY_ASKED = "CONTEXT CHECKPOINT COMPACTION"
"""What Codex writes into the last message when it wants the conversation summarised."""


def parts_of(body: Mapping[str, Any]) -> tuple[Part, ...]:
    """Return what the model reads, instructions first."""
    found = [Part(-1, "system", kind, text) for kind, text in texts_of(body.get("instructions"))]
    items = body.get("input", [])
    for place, item in enumerate([{"role": "user", "content": items}] if isinstance(items, str) else items):
        kind = str(item.get("type", "message"))
        if kind.endswith("_output"):
            output = item.get("output")
            found.append(Part(place, "tool", "result", output if isinstance(output, str) else json.dumps(output)))
        elif kind.endswith("_call"):
            found.append(Part(place, "assistant", "call", str(item.get("arguments") or item.get("input"))))
        else:
            found += [Part(place, str(item.get("role")), sort, text) for sort, text in texts_of(item.get("content"))]
    return tuple(found)


def kind_of(_path: str, body: Mapping[str, Any]) -> Kind:
    """Say what a request is for."""
    last = parts_of(body)[-1:]
    return "compaction" if any(SUMMARY_ASKED in part.text for part in last) else "turn"


def summary(text: str) -> str:
    """Return *text* as a summary."""
    return text


def side(_body: Mapping[str, Any]) -> str:
    """Return what a request beside the conversation is answered with."""
    return "{}"


def counted(tokens: int) -> Mapping[str, Any]:
    """Return the answer to a request for a count."""
    return {"object": "response.input_tokens", "input_tokens": tokens}


def overflow(step: Overflow) -> Sent:
    """Return the provider's words for a prompt that is too long."""
    message = f"Your input exceeds the context window of this model ({step.tokens} tokens > {step.most})."
    error = {"type": "invalid_request_error", "code": "context_length_exceeded", "message": message}
    return Sent(400, {"error": error})


def write(reply: Reply) -> Sent:
    """Write a reply down, whole or as the events of a stream."""
    said = {"type": "output_text", "text": reply.text, "annotations": []}
    items: list[dict[str, Any]] = [
        {
            "type": "message",
            "id": f"msg_{reply.number}",
            "role": "assistant",
            "status": "completed",
            "content": [said],
        }
    ]
    if reply.call:
        call = {"name": reply.call.tool, "arguments": json.dumps(dict(reply.call.input)), "status": "completed"}
        items.append({"type": "function_call", "id": f"fc_{reply.number}", "call_id": f"call_{reply.number}", **call})
    total = reply.read + reply.fresh
    usage = {
        "input_tokens": total,
        "input_tokens_details": {"cached_tokens": reply.read},
        "output_tokens": reply.written,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": total + reply.written,
    }
    opened = {
        "id": f"resp_{reply.number:024d}",
        "object": "response",
        "created_at": 1_700_000_000,
        "model": reply.model,
    }
    done = {**opened, "status": "completed", "output": items, "usage": usage}
    if reply.whole:
        return Sent(200, done)
    events: list[dict[str, Any]] = [
        {"type": "response.created", "response": {**opened, "status": "in_progress", "output": []}}
    ]
    for index, item in enumerate(items):
        at = {"output_index": index}
        events.append({"type": "response.output_item.added", **at, "item": item})
        if item["type"] == "message":
            delta = {"item_id": item["id"], "content_index": 0, "delta": reply.text}
            events.append({"type": "response.output_text.delta", **at, **delta})
        events.append({"type": "response.output_item.done", **at, "item": item})
    events.append({"type": "response.completed", "response": done})
    return Sent(200, {}, tuple({**event, "sequence_number": number} for number, event in enumerate(events)))
