"""The APIs that the agents speak: Anthropic's Messages, OpenAI's Responses and chat completions, and
Gemini's."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tests.e2e.script import Kind, Overflow, Part, Reply, Sent, texts_of


class Wire:
    """How one provider writes down requests and answers."""

    summary_asked: str
    """What the client writes when it wants the conversation summarised."""

    def parts_of(self, body: Mapping[str, Any]) -> tuple[Part, ...]:
        """Return what the model reads, system prompt first."""
        raise NotImplementedError

    def kind_of(self, path: str, body: Mapping[str, Any]) -> Kind:
        """Say what a request is for."""
        raise NotImplementedError

    def summary(self, text: str) -> str:
        """Return *text* as a summary."""
        return text

    def side(self, _body: Mapping[str, Any]) -> str:
        """Return the answer to a request outside the conversation."""
        return "{}"

    def counted(self, tokens: int) -> Mapping[str, Any]:
        """Return the answer to a request for a count."""
        raise NotImplementedError

    def overflow(self, step: Overflow) -> Sent:
        """Return the provider's words for a prompt that is too long."""
        raise NotImplementedError

    def write(self, reply: Reply) -> Sent:
        """Write a reply down, whole or as the events of a stream."""
        raise NotImplementedError


class Messages(Wire):
    """Anthropic: what Claude Code speaks."""

    summary_asked = "create a detailed summary of the conversation"
    """What Claude Code writes into one of the last messages when it wants the conversation
    summarised."""

    def parts_of(self, body: Mapping[str, Any]) -> tuple[Part, ...]:
        """Return what the model reads, system prompt first."""
        found = [Part(-1, "system", kind, text) for kind, text in texts_of(body.get("system"))]
        for place, message in enumerate(body.get("messages", [])):
            found += [
                Part(place, message["role"], kind, text)
                for kind, text in texts_of(message["content"])
            ]
        return tuple(found)

    def kind_of(self, path: str, body: Mapping[str, Any]) -> Kind:
        """Say what a request is for."""
        if path.endswith("/count_tokens"):
            return "count"
        last = body.get("messages", [])[-3:]
        tail = " ".join(text for message in last for _, text in texts_of(message["content"]))
        if self.summary_asked in tail:
            return "compaction"
        return "turn" if body.get("tools") else "side"

    def summary(self, text: str) -> str:
        """Return *text* as a summary; without the tag Claude Code asks a second time."""
        return f"<analysis>All of it was read.</analysis>\n<summary>\n{text}\n</summary>"

    def side(self, _body: Mapping[str, Any]) -> str:
        """Return what a request beside the conversation is answered with: the title of a
        session."""
        return '{"title": "A session"}'

    def counted(self, tokens: int) -> Mapping[str, Any]:
        """Return the answer to a request for a count."""
        return {"input_tokens": tokens}

    def overflow(self, step: Overflow) -> Sent:
        """Return the provider's words for a prompt that is too long."""
        message = f"prompt is too long: {step.tokens} tokens > {step.most} maximum"
        return Sent(
            400, {"type": "error", "error": {"type": "invalid_request_error", "message": message}}
        )

    def write(self, reply: Reply) -> Sent:
        """Write a reply down, whole or as the events of a stream."""
        usage = {
            "input_tokens": 8,
            "cache_creation_input_tokens": reply.fresh,
            "cache_read_input_tokens": reply.read,
            "cache_creation": {
                "ephemeral_5m_input_tokens": reply.fresh,
                "ephemeral_1h_input_tokens": 0,
            },
            "service_tier": "standard",
        }
        stop = "tool_use" if reply.call else "end_turn"
        blocks: list[dict[str, Any]] = [{"type": "text", "text": reply.text}]
        if reply.call:
            call_id = f"toolu_{reply.number:024d}"
            blocks.append(
                {
                    "type": "tool_use",
                    "id": call_id,
                    "name": reply.call.tool,
                    "input": dict(reply.call.input),
                }
            )
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
        opened: dict[str, Any] = {
            "content": [],
            "stop_reason": None,
            "usage": {**usage, "output_tokens": 1},
        }
        events: list[dict[str, Any]] = [{"type": "message_start", "message": {**message, **opened}}]
        for index, block in enumerate(blocks):
            events += _streamed(index, block)
        ended = {
            "delta": {"stop_reason": stop, "stop_sequence": None},
            "usage": {**usage, "output_tokens": reply.written},
        }
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


class Responses(Wire):
    """OpenAI: what Codex speaks."""

    summary_asked = "CONTEXT CHECKPOINT COMPACTION"
    """What Codex writes into the last message when it wants the conversation summarised."""

    def parts_of(self, body: Mapping[str, Any]) -> tuple[Part, ...]:
        """Return what the model reads, instructions first."""
        found = [
            Part(-1, "system", kind, text) for kind, text in texts_of(body.get("instructions"))
        ]
        items = body.get("input", [])
        for place, item in enumerate(
            [{"role": "user", "content": items}] if isinstance(items, str) else items
        ):
            kind = str(item.get("type", "message"))
            if kind.endswith("_output"):
                output = item.get("output")
                found.append(
                    Part(
                        place,
                        "tool",
                        "result",
                        output if isinstance(output, str) else json.dumps(output),
                    )
                )
            elif kind.endswith("_call"):
                found.append(
                    Part(
                        place, "assistant", "call", str(item.get("arguments") or item.get("input"))
                    )
                )
            else:
                found += [
                    Part(place, str(item.get("role")), sort, text)
                    for sort, text in texts_of(item.get("content"))
                ]
        return tuple(found)

    def kind_of(self, _path: str, body: Mapping[str, Any]) -> Kind:
        """Say what a request is for."""
        last = self.parts_of(body)[-1:]
        return "compaction" if any(self.summary_asked in part.text for part in last) else "turn"

    def counted(self, tokens: int) -> Mapping[str, Any]:
        """Return the answer to a request for a count."""
        return {"object": "response.input_tokens", "input_tokens": tokens}

    def overflow(self, step: Overflow) -> Sent:
        """Return the provider's words for a prompt that is too long."""
        message = f"Your input exceeds the context window of this model ({step.tokens} tokens > {step.most})."
        error = {
            "type": "invalid_request_error",
            "code": "context_length_exceeded",
            "message": message,
        }
        return Sent(400, {"error": error})

    def write(self, reply: Reply) -> Sent:
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
            call = {
                "name": reply.call.tool,
                "call_id": f"call_{reply.number}",
                "status": "completed",
            }
            if reply.call.tool == "apply_patch":  # its input is bare text
                call |= {
                    "type": "custom_tool_call",
                    "id": f"ctc_{reply.number}",
                    "input": reply.call.input["patch"],
                }
            else:
                arguments = json.dumps(dict(reply.call.input))
                call |= {
                    "type": "function_call",
                    "id": f"fc_{reply.number}",
                    "arguments": arguments,
                }
            items.append(call)
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
            {
                "type": "response.created",
                "response": {**opened, "status": "in_progress", "output": []},
            }
        ]
        for index, item in enumerate(items):
            at = {"output_index": index}
            events.append({"type": "response.output_item.added", **at, "item": item})
            if item["type"] == "message":
                delta = {"item_id": item["id"], "content_index": 0, "delta": reply.text}
                events.append({"type": "response.output_text.delta", **at, **delta})
            events.append({"type": "response.output_item.done", **at, "item": item})
        events.append({"type": "response.completed", "response": done})
        return Sent(
            200,
            {},
            tuple({**event, "sequence_number": number} for number, event in enumerate(events)),
        )


class Completions(Wire):
    """OpenAI's chat completions: what Qwen Code speaks."""

    summary_asked = "summarizes a conversation when its context"
    """What Qwen Code writes into the system prompt or the last message when it wants the
    conversation summarised."""

    def parts_of(self, body: Mapping[str, Any]) -> tuple[Part, ...]:
        """Return what the model reads, system prompt first."""
        found: list[Part] = []
        for place, message in enumerate(body.get("messages", [])):
            role = str(message.get("role"))
            at = -1 if role == "system" else place
            for kind, text in texts_of(message.get("content")):
                found.append(Part(at, role, "result" if role == "tool" else kind, text))
            for call in message.get("tool_calls") or ():
                found.append(Part(at, role, "call", call["function"]["arguments"]))
        return tuple(found)

    def kind_of(self, _path: str, body: Mapping[str, Any]) -> Kind:
        """Say what a request is for."""
        parts = self.parts_of(body)
        if any(self.summary_asked in part.text for part in (*parts[:1], *parts[-1:])):
            return "compaction"
        return "turn" if body.get("tools") else "side"

    def summary(self, text: str) -> str:
        """Return *text* as a summary; without the tag Qwen Code asks a second time."""
        return f"<state_snapshot>\n{text}\n</state_snapshot>"

    def overflow(self, step: Overflow) -> Sent:
        """Return the provider's words for a prompt that is too long."""
        message = f"This model's maximum context length is {step.most} tokens."
        error = {"message": message, "code": "context_length_exceeded"}
        return Sent(400, {"error": error})

    def write(self, reply: Reply) -> Sent:
        """Write a reply down, whole or as the events of a stream."""
        total = reply.read + reply.fresh
        usage = {
            "prompt_tokens": total,
            "completion_tokens": reply.written,
            "total_tokens": total + reply.written,
            "prompt_tokens_details": {"cached_tokens": reply.read},
        }
        said: dict[str, Any] = {"role": "assistant", "content": reply.text}
        if reply.call:
            call = {"name": reply.call.tool, "arguments": json.dumps(dict(reply.call.input))}
            id = f"call_{reply.number}"
            said["tool_calls"] = [{"index": 0, "id": id, "type": "function", "function": call}]
        reason = "tool_calls" if reply.call else "stop"
        answer = {
            "id": f"chatcmpl-{reply.number:024d}",
            "created": 1_700_000_000,
            "model": reply.model,
        }
        if reply.whole:
            choice = {"index": 0, "message": said, "finish_reason": reason}
            return Sent(200, {**answer, "choices": [choice], "usage": usage})
        deltas = [(said, None), ({}, reason)]
        chunks: list[dict[str, Any]] = [
            {**answer, "choices": [{"index": 0, "delta": delta, "finish_reason": end}]}
            for delta, end in deltas
        ]
        return Sent(200, {}, (*chunks, {**answer, "choices": [], "usage": usage}))


JUDGED = {
    "reasoning": "It is done.",
    "next_speaker": "user",
    "model_choice": "flash",
    "complexity_score": 1,
}
"""What answers the questions that Gemini CLI asks about a conversation, all of them in JSON."""


class Contents(Wire):
    """Google: what Gemini CLI speaks."""

    summary_asked = "<state_snapshot>"
    """What Gemini CLI writes into the system instruction when it wants the conversation summarised,
    twice in a row."""

    def parts_of(self, body: Mapping[str, Any]) -> tuple[Part, ...]:
        """Return what the model reads, system instruction first."""
        found = [
            Part(-1, "system", kind, text) for kind, text in _texts(body.get("systemInstruction"))
        ]
        for place, content in enumerate(body.get("contents", [])):
            found += [
                Part(place, str(content.get("role")), kind, text) for kind, text in _texts(content)
            ]
        return tuple(found)

    def kind_of(self, path: str, body: Mapping[str, Any]) -> Kind:
        """Say what a request is for."""
        if path.endswith(":countTokens"):
            return "count"
        system = " ".join(text for _, text in _texts(body.get("systemInstruction")))
        if self.summary_asked in system and not body.get("tools"):
            return "compaction"
        return "turn" if body.get("tools") else "side"

    def summary(self, text: str) -> str:
        """Return *text* as a summary."""
        return f"<state_snapshot>\n{text}\n</state_snapshot>"

    def side(self, _body: Mapping[str, Any]) -> str:
        """Return what a request beside the conversation is answered with."""
        return json.dumps(JUDGED)

    def counted(self, tokens: int) -> Mapping[str, Any]:
        """Return the answer to a request for a count."""
        return {"totalTokens": tokens}

    def overflow(self, step: Overflow) -> Sent:
        """Return the provider's words for a prompt that is too long."""
        message = f"The input token count ({step.tokens}) exceeds the maximum number of tokens allowed ({step.most})."
        return Sent(400, {"error": {"code": 400, "message": message, "status": "INVALID_ARGUMENT"}})

    def write(self, reply: Reply) -> Sent:
        """Write a reply down: the stream of this provider is one event of the same shape."""
        parts: list[dict[str, Any]] = [{"text": reply.text}]
        if reply.call:
            parts.append(
                {"functionCall": {"name": reply.call.tool, "args": dict(reply.call.input)}}
            )
        total = reply.read + reply.fresh
        answer = {
            "candidates": [
                {"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}
            ],
            "usageMetadata": {
                "promptTokenCount": total,
                "candidatesTokenCount": reply.written,
                "totalTokenCount": total + reply.written,
                "cachedContentTokenCount": reply.read,
            },
            "modelVersion": reply.model,
            "responseId": f"gemini-{reply.number}",
        }
        return Sent(200, answer) if reply.whole else Sent(200, {}, (answer,))


def _texts(content: Any) -> list[tuple[str, str]]:
    found = []
    for part in (content or {}).get("parts", []):
        match part:
            case {"functionResponse": {"response": response}}:
                found.append(("result", json.dumps(response, ensure_ascii=False)))
            case {"functionCall": {"args": args}}:
                found.append(("call", json.dumps(args, ensure_ascii=False)))
            case {"text": str(text)}:
                found.append(("text", text))
            case _:
                found.append(("other", json.dumps(part)))
    return found
