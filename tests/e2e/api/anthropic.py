"""The Messages wire of Anthropic: what Claude Code speaks."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tests.e2e.api.script import Kind, Overflow, Part, Reply, Sent, texts_of

SUMMARY_ASKED = "create a detailed summary of the conversation"
"""What Claude Code writes into one of the last messages when it wants the conversation summarised."""


def parts_of(body: Mapping[str, Any]) -> tuple[Part, ...]:
    """Return what the model reads, system prompt first."""
    found = [Part(-1, "system", kind, text) for kind, text in texts_of(body.get("system"))]
    for place, message in enumerate(body.get("messages", [])):
        found += [Part(place, message["role"], kind, text) for kind, text in texts_of(message["content"])]
    return tuple(found)


def kind_of(path: str, body: Mapping[str, Any]) -> Kind:
    """Say what a request is for."""
    if path.endswith("/count_tokens"):
        return "count"
    last = body.get("messages", [])[-3:]
    tail = " ".join(text for message in last for _, text in texts_of(message["content"]))
    if SUMMARY_ASKED in tail:
        return "compaction"
    return "turn" if body.get("tools") else "side"


def summary(text: str) -> str:
    """Return *text* as a summary; without the tag Claude Code asks a second time."""
    return f"<analysis>All of it was read.</analysis>\n<summary>\n{text}\n</summary>"


def side(_body: Mapping[str, Any]) -> str:
    """Return what a request beside the conversation is answered with: the title of a session."""
    return '{"title": "A session"}'


def counted(tokens: int) -> Mapping[str, Any]:
    """Return the answer to a request for a count."""
    return {"input_tokens": tokens}


def overflow(step: Overflow) -> Sent:
    """Return the provider's words for a prompt that is too long."""
    message = f"prompt is too long: {step.tokens} tokens > {step.most} maximum"
    return Sent(400, {"type": "error", "error": {"type": "invalid_request_error", "message": message}})


def write(reply: Reply) -> Sent:
    """Write a reply down, whole or as the events of a stream."""
    usage = {
        "input_tokens": 8,
        "cache_creation_input_tokens": reply.fresh,
        "cache_read_input_tokens": reply.read,
        "cache_creation": {"ephemeral_5m_input_tokens": reply.fresh, "ephemeral_1h_input_tokens": 0},
        "service_tier": "standard",
    }
    stop = "tool_use" if reply.call else "end_turn"
    blocks: list[dict[str, Any]] = [{"type": "text", "text": reply.text}]
    if reply.call:
        call_id = f"toolu_{reply.number:024d}"
        blocks.append({"type": "tool_use", "id": call_id, "name": reply.call.tool, "input": dict(reply.call.input)})
    message = {
        "id": f"msg_{reply.number:024d}",
        "type": "message",
        "role": "assistant",
        "model": reply.model,
        "stop_sequence": None,
    }
    headers = {"request-id": f"req_{reply.number:024d}"}
    if reply.whole:
        ended = {"stop_reason": stop, "usage": {**usage, "output_tokens": reply.written}}
        return Sent(200, {**message, "content": blocks, **ended}, headers=headers)
    opened: dict[str, Any] = {"content": [], "stop_reason": None, "usage": {**usage, "output_tokens": 1}}
    events: list[dict[str, Any]] = [{"type": "message_start", "message": {**message, **opened}}]
    for index, block in enumerate(blocks):
        events += _streamed(index, block)
    ended = {"delta": {"stop_reason": stop, "stop_sequence": None}, "usage": {**usage, "output_tokens": reply.written}}
    events += [{"type": "message_delta", **ended}, {"type": "message_stop"}]
    return Sent(200, {}, tuple(events), headers)


def _streamed(index: int, block: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the events of one block: it opens empty, and its content comes as a delta."""
    if block["type"] == "text":
        empty = {**block, "text": ""}
        delta = {"type": "text_delta", "text": block["text"]}
    else:
        empty = {**block, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
    return [
        {"type": "content_block_start", "index": index, "content_block": empty},
        {"type": "content_block_delta", "index": index, "delta": delta},
        {"type": "content_block_stop", "index": index},
    ]
