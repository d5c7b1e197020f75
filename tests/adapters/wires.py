"""Three APIs for ``tests.adapters.model``: what they refuse, and how they write an answer."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import unquote
from zlib import crc32

from brim.messages import Provider
from brim.tokens.messages.frameworks import as_blocks

Made = dict[str, Any]


class Refused(Exception):
    """The API doesn't answer a request."""

    def __init__(self, text: str, status: int = 400) -> None:
        super().__init__(text)
        self.status = status


@dataclass(frozen=True)
class Reply:
    """One answer, before it's written as an API writes it."""

    number: int
    model: str
    text: str
    calls: Sequence[tuple[str, dict[str, Any]]]
    prompt: int
    """Tokens of the prompt."""
    read: int
    """Those of them that came from the cache."""
    output: int
    signature: str = ""
    """Of the thinking that comes first, where an API has that; empty for none."""

    def id(self, kind: str, at: int = 0) -> str:
        """Return an id that no other answer has."""
        return f"{kind}_{self.number}_{at}"


def refuse_unless(holds: object, text: str) -> None:
    """Refuse the request with *text* unless something holds."""
    if not holds:
        raise Refused(text)


def texts_of(content: Any) -> list[str]:
    """Return the texts of a content."""
    if isinstance(content, str):
        return [content]
    return [
        part["text"]
        for part in content or ()
        if isinstance(part, Mapping) and isinstance(part.get("text"), str)
    ]


class Wire:
    """How one API reads requests and writes answers."""

    provider: Provider

    def read(self, path: str, body: Mapping[str, Any]) -> Made:
        """Return the body of a request to *path*, with its model and whether it's streamed."""
        return dict(body)

    def check(self, body: Mapping[str, Any], before: Sequence[Any]) -> None:
        """Refuse what the API refuses; *before* is what it kept of the conversation."""
        raise NotImplementedError

    def parts(self, body: Mapping[str, Any], before: Sequence[Any]) -> tuple[list[Any], Any, Any]:
        """Return the messages, the system prompt and the tools."""
        return [*before, *body["messages"]], body.get("system"), body.get("tools")

    def most_output(self, body: Mapping[str, Any]) -> int:
        """Return how many tokens the answer may take."""
        names = ("max_tokens", "max_completion_tokens", "max_output_tokens")
        return next((body[name] for name in names if body.get(name) is not None), 0)

    def first_text(self, messages: Sequence[Any]) -> str:
        """Return the first text of the user's: it identifies the conversation."""
        users = (
            each for each in messages if isinstance(each, Mapping) and each.get("role") == "user"
        )
        return next((text for each in users for text in texts_of(each.get("content"))), "")

    def error(self, refused: Refused) -> Made:
        """Return the body of a refusal."""
        kind = "invalid_request_error" if refused.status == 400 else "api_error"
        return {"type": "error", "error": {"type": kind, "message": str(refused)}}

    def usage(self, reply: Reply) -> Made:
        """Return what is reported."""
        raise NotImplementedError

    def whole(self, reply: Reply) -> Made:
        """Return the answer in one piece."""
        raise NotImplementedError

    def events(self, reply: Reply, body: Mapping[str, Any]) -> Iterator[Made]:
        """Yield the events of a streamed answer."""
        raise NotImplementedError


class Messages(Wire):
    """Anthropic's Messages API."""

    provider: Provider = "anthropic"

    def check(self, body: Mapping[str, Any], before: Sequence[Any]) -> None:
        """Refuse wrong roles, empty contents, and calls and results that aren't pairs."""
        messages = body.get("messages")
        refuse_unless(isinstance(body.get("max_tokens"), int), "max_tokens: Field required")
        refuse_unless(
            isinstance(messages, list) and messages, "messages: at least one message is required"
        )
        waiting: set[str] = set()
        for at, message in enumerate(messages or ()):
            role, content = message.get("role"), message.get("content")
            refuse_unless(
                role in ("user", "assistant"),
                f"messages.{at}.role: Input should be 'user' or 'assistant'",
            )
            refuse_unless(at or role == "user", "messages: first message must use the user role")
            refuse_unless(content, f"messages.{at}: all messages must have non-empty content")
            blocks = [] if isinstance(content, str) else content
            empty = any(block.get("type") == "text" and not block.get("text") for block in blocks)
            refuse_unless(not empty, f"messages.{at}: text content blocks must be non-empty")
            results = {
                block["tool_use_id"] for block in blocks if block.get("type") == "tool_result"
            }
            refuse_unless(
                results <= waiting, f"messages.{at}: unexpected `tool_use_id`: {results - waiting}"
            )
            refuse_unless(
                waiting <= results,
                f"messages.{at}: `tool_use` ids without `tool_result`: {waiting}",
            )
            waiting = {block["id"] for block in blocks if block.get("type") == "tool_use"}
        refuse_unless(
            not waiting, f"`tool_use` ids were found without `tool_result` blocks: {waiting}"
        )

    def usage(self, reply: Reply) -> Made:
        """Return what is reported."""
        return {
            "input_tokens": 0,
            "cache_creation_input_tokens": reply.prompt - reply.read,
            "cache_read_input_tokens": reply.read,
            "output_tokens": reply.output,
        }

    def _blocks(self, reply: Reply) -> list[Made]:
        calls = [
            {"type": "tool_use", "id": reply.id("toolu", at), "name": name, "input": arguments}
            for at, (name, arguments) in enumerate(reply.calls)
        ]
        blocks: list[Made] = []
        if reply.signature:
            blocks.append(
                {"type": "thinking", "thinking": "Let me see.", "signature": reply.signature}
            )
        if reply.text:
            blocks.append({"type": "text", "text": reply.text})
        return [*blocks, *calls]

    def whole(self, reply: Reply) -> Made:
        """Return the answer in one piece."""
        return {
            "id": f"msg_{reply.number}",
            "type": "message",
            "role": "assistant",
            "model": reply.model,
            "content": self._blocks(reply),
            "stop_reason": "tool_use" if reply.calls else "end_turn",
            "stop_sequence": None,
            "usage": self.usage(reply),
        }

    def events(self, reply: Reply, _body: Mapping[str, Any]) -> Iterator[Made]:
        """Yield the events of a streamed answer."""
        whole = self.whole(reply)
        begun: Made = {
            "content": [],
            "stop_reason": None,
            "usage": {**whole["usage"], "output_tokens": 1},
        }
        yield {"type": "message_start", "message": {**whole, **begun}}
        for index, block in enumerate(whole["content"]):
            empty, deltas = self._pieces(block)
            yield {
                "type": "content_block_start",
                "index": index,
                "content_block": {**block, **empty},
            }
            for delta in deltas:
                yield {"type": "content_block_delta", "index": index, "delta": delta}
            yield {"type": "content_block_stop", "index": index}
        ended = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
        yield {
            "type": "message_delta",
            "delta": ended,
            "usage": whole["usage"],
        }  # of the whole message
        yield {"type": "message_stop"}

    def _pieces(self, block: Made) -> tuple[Made, list[Made]]:
        """Return what a block has at the start of a stream, and what is added to it."""
        if block["type"] == "thinking":
            thought = {"type": "thinking_delta", "thinking": block["thinking"]}
            return {"thinking": "", "signature": ""}, [
                thought,
                {"type": "signature_delta", "signature": block["signature"]},
            ]
        if block["type"] == "tool_use":
            return {"input": {}}, [
                {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
            ]
        return {"text": ""}, [{"type": "text_delta", "text": block["text"]}]


class Chat(Wire):
    """OpenAI's Chat Completions API."""

    provider: Provider = "openai"
    roles = ("system", "developer", "user", "assistant", "tool")

    def check(self, body: Mapping[str, Any], before: Sequence[Any]) -> None:
        """Refuse wrong roles, and calls and results that aren't pairs."""
        messages = body.get("messages")
        refuse_unless(isinstance(messages, list) and messages, "Invalid 'messages': empty array.")
        waiting: set[str] = set()
        for at, message in enumerate(messages or ()):
            role = message.get("role")
            refuse_unless(
                role in self.roles, f"Invalid value: {role!r}. Supported values are: {self.roles}"
            )
            if role == "tool":
                named = message.get("tool_call_id")
                refuse_unless(
                    named in waiting, f"messages.[{at}]: no preceding 'tool_calls' with {named!r}"
                )
                waiting.discard(named)
                continue
            refuse_unless(
                not waiting, f"tool_call_ids did not have response messages: {sorted(waiting)}"
            )
            is_said = message.get("content") or (role == "assistant" and message.get("tool_calls"))
            refuse_unless(
                is_said, f"Invalid value for 'messages.[{at}].content': expected a string, got null"
            )
            waiting = {call["id"] for call in message.get("tool_calls") or ()}
        refuse_unless(
            not waiting, f"tool_call_ids did not have response messages: {sorted(waiting)}"
        )

    def error(self, refused: Refused) -> Made:
        """Return the body of a refusal."""
        code = "context_length_exceeded" if "too long" in str(refused) else None
        kind = "invalid_request_error" if refused.status == 400 else "server_error"
        return {"error": {"type": kind, "code": code, "param": None, "message": str(refused)}}

    def usage(self, reply: Reply) -> Made:
        """Return what is reported."""
        return {
            "prompt_tokens": reply.prompt,
            "completion_tokens": reply.output,
            "total_tokens": reply.prompt + reply.output,
            "prompt_tokens_details": {"cached_tokens": reply.read},
        }

    def _calls(self, reply: Reply) -> list[Made]:
        return [
            {
                "id": reply.id("call", at),
                "type": "function",
                "function": {"name": name, "arguments": json.dumps(arguments)},
            }
            for at, (name, arguments) in enumerate(reply.calls)
        ]

    def whole(self, reply: Reply) -> Made:
        """Return the answer in one piece."""
        message: Made = {"role": "assistant", "content": reply.text or None}
        if reply.calls:
            message["tool_calls"] = self._calls(reply)
        choice = {
            "index": 0,
            "message": message,
            "finish_reason": "tool_calls" if reply.calls else "stop",
        }
        return {
            **self._about(reply, "chat.completion"),
            "choices": [choice],
            "usage": self.usage(reply),
        }

    def _about(self, reply: Reply, kind: str) -> Made:
        return {
            "id": f"chatcmpl-{reply.number}",
            "object": kind,
            "created": 1_700_000_000,
            "model": reply.model,
        }

    def events(self, reply: Reply, body: Mapping[str, Any]) -> Iterator[Made]:
        """Yield the events of a streamed answer; usage comes only if it was asked for."""
        about = self._about(reply, "chat.completion.chunk")
        wants_usage = (body.get("stream_options") or {}).get("include_usage")
        more: Made = {"usage": None} if wants_usage else {}

        def chunk(delta: Made, finish: str | None = None) -> Made:
            return {
                **about,
                "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
                **more,
            }

        yield chunk({"role": "assistant", "content": reply.text or None})
        for at, call in enumerate(self._calls(reply)):
            function = call["function"]
            yield chunk(
                {"tool_calls": [{"index": at, **call, "function": {**function, "arguments": ""}}]}
            )
            yield chunk(
                {"tool_calls": [{"index": at, "function": {"arguments": function["arguments"]}}]}
            )
        yield chunk({}, "tool_calls" if reply.calls else "stop")
        if wants_usage:
            yield {**about, "choices": [], "usage": self.usage(reply)}


class Responses(Wire):
    """OpenAI's Responses API."""

    provider: Provider = "responses"
    roles = ("system", "developer", "user", "assistant")

    def check(self, body: Mapping[str, Any], before: Sequence[Any]) -> None:
        """Refuse wrong roles and types, and calls and outputs that aren't pairs."""
        items, _, _ = self.parts(body, before)
        refuse_unless(items, "One of 'input' or 'previous_response_id' must be provided.")
        calls: set[str] = set()
        outputs: set[str] = set()
        for at, item in enumerate(items):
            kind = item.get("type", "message")
            if kind == "function_call":
                calls.add(item["call_id"])
            elif kind == "function_call_output":
                refuse_unless(
                    item["call_id"] in calls,
                    f"No tool call found for function call output {item['call_id']}.",
                )
                outputs.add(item["call_id"])
            else:
                refuse_unless(
                    kind in ("message", "reasoning"),
                    f"Invalid value: {kind!r} for 'input[{at}].type'",
                )
                known = kind == "reasoning" or item.get("role") in self.roles
                refuse_unless(known, f"Invalid value: {item.get('role')!r} for 'input[{at}].role'")
        refuse_unless(
            calls == outputs, f"No tool output found for function call {sorted(calls - outputs)}."
        )

    def parts(self, body: Mapping[str, Any], before: Sequence[Any]) -> tuple[list[Any], Any, Any]:
        """Return the items, the instructions and the tools."""
        given = body.get("input") or []
        items = [{"role": "user", "content": given}] if isinstance(given, str) else given
        return [*before, *items], body.get("instructions"), body.get("tools")

    def error(self, refused: Refused) -> Made:
        """Return the body of a refusal."""
        return Chat().error(refused)

    def usage(self, reply: Reply) -> Made:
        """Return what is reported."""
        return {
            "input_tokens": reply.prompt,
            "input_tokens_details": {"cached_tokens": reply.read},
            "output_tokens": reply.output,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": reply.prompt + reply.output,
        }

    def _items(
        self, reply: Reply, status: Literal["completed", "in_progress"] = "completed"
    ) -> list[Made]:
        said = {"type": "output_text", "text": reply.text, "annotations": []}
        message = {
            "type": "message",
            "id": reply.id("msg"),
            "role": "assistant",
            "status": status,
            "content": [said],
        }
        calls = [
            {
                "type": "function_call",
                "id": reply.id("fc", at),
                "call_id": reply.id("call", at),
                "name": name,
                "arguments": json.dumps(arguments),
                "status": status,
            }
            for at, (name, arguments) in enumerate(reply.calls)
        ]
        return [*([message] if reply.text else []), *calls]

    def whole(self, reply: Reply) -> Made:
        """Return the answer in one piece."""
        return {
            "id": f"resp_{reply.number}",
            "object": "response",
            "created_at": 1_700_000_000,
            "model": reply.model,
            "status": "completed",
            "output": self._items(reply),
            "usage": self.usage(reply),
            "parallel_tool_calls": True,
            "tool_choice": "auto",
            "tools": [],
            "error": None,
            "incomplete_details": None,
            "instructions": None,
            "metadata": {},
        }

    def events(self, reply: Reply, _body: Mapping[str, Any]) -> Iterator[Made]:
        """Yield the events of a streamed answer."""
        for number, event in enumerate(self._events(reply)):
            yield {**event, "sequence_number": number}

    def _events(self, reply: Reply) -> Iterator[Made]:
        whole = self.whole(reply)
        begun = {**whole, "status": "in_progress", "output": [], "usage": None}
        yield {"type": "response.created", "response": begun}
        for index, item in enumerate(whole["output"]):
            at: Made = {"output_index": index, "item_id": item["id"]}
            if item["type"] == "message":
                part = item["content"][0]
                yield self._added(index, {**item, "status": "in_progress", "content": []})
                empty = {**part, "text": ""}
                yield {
                    "type": "response.content_part.added",
                    **at,
                    "content_index": 0,
                    "part": empty,
                }
                text = {"content_index": 0, "delta": part["text"], "logprobs": []}
                yield {"type": "response.output_text.delta", **at, **text}
                done = {"content_index": 0, "text": part["text"], "logprobs": []}
                yield {"type": "response.output_text.done", **at, **done}
                yield {"type": "response.content_part.done", **at, "content_index": 0, "part": part}
            else:
                yield self._added(index, {**item, "status": "in_progress", "arguments": ""})
                yield {
                    "type": "response.function_call_arguments.delta",
                    **at,
                    "delta": item["arguments"],
                }
                named = {"name": item["name"], "arguments": item["arguments"]}
                yield {"type": "response.function_call_arguments.done", **at, **named}
            yield {"type": "response.output_item.done", "output_index": index, "item": item}
        yield {"type": "response.completed", "response": whole}

    def _added(self, index: int, item: Made) -> Made:
        return {"type": "response.output_item.added", "output_index": index, "item": item}


class Gemini(Wire):
    """Google's generateContent."""

    provider: Provider = "gemini"

    def read(self, path: str, body: Mapping[str, Any]) -> Made:
        """Return the body with the model and whether it's streamed, which stand in the path."""
        model = path.partition(":")[0].rpartition("/")[2]
        return {**body, "model": model, "stream": path.endswith(":streamGenerateContent")}

    def check(self, body: Mapping[str, Any], before: Sequence[Any]) -> None:
        """Refuse wrong roles, empty turns, and calls whose results don't follow at once."""
        contents = body.get("contents")
        refuse_unless(contents, "* GenerateContentRequest.contents: contents is not specified")
        calls: list[str] = []
        for at, content in enumerate(contents or ()):
            role, parts = content.get("role"), content.get("parts")
            refuse_unless(role in ("user", "model"), "Please use a valid role: user, model.")
            refuse_unless(parts, f"* contents[{at}].parts: contents.parts must not be empty.")
            answers = [
                part["functionResponse"]["name"] for part in parts if "functionResponse" in part
            ]
            refuse_unless(
                answers == calls,
                "Please ensure that the number of function response parts is equal to the number of"
                " function call parts of the function call turn.",
            )
            calls = [part["functionCall"]["name"] for part in parts if "functionCall" in part]
        refuse_unless(not calls, "Please ensure that function call turn comes before a response.")

    def parts(self, body: Mapping[str, Any], before: Sequence[Any]) -> tuple[list[Any], Any, Any]:
        """Return the contents, the system instruction and the tools."""
        system = body.get("systemInstruction")
        texts = [part.get("text", "") for part in (system or {}).get("parts", ())]
        return list(body["contents"]), "\n\n".join(texts) or None, body.get("tools")

    def most_output(self, body: Mapping[str, Any]) -> int:
        """Return how many tokens the answer may take."""
        return int((body.get("generationConfig") or {}).get("maxOutputTokens") or 0)

    def first_text(self, messages: Sequence[Any]) -> str:
        """Return the first text of the user's."""
        users = (each for each in messages if each.get("role") == "user")
        return next((text for each in users for text in texts_of(each.get("parts"))), "")

    def error(self, refused: Refused) -> Made:
        """Return the body of a refusal."""
        return {"error": {"code": refused.status, "message": str(refused), "status": "FAILED"}}

    def usage(self, reply: Reply) -> Made:
        """Return what is reported."""
        return {
            "promptTokenCount": reply.prompt,
            "cachedContentTokenCount": reply.read,
            "candidatesTokenCount": reply.output,
            "totalTokenCount": reply.prompt + reply.output,
        }

    def _answer(self, reply: Reply, parts: list[Made]) -> Made:
        candidate = {
            "content": {"role": "model", "parts": parts},
            "finishReason": "STOP",
            "index": 0,
        }
        return {
            "candidates": [candidate],
            "modelVersion": reply.model,
            "responseId": reply.id("resp"),
            "usageMetadata": self.usage(reply),
        }

    def _parts(self, reply: Reply) -> list[Made]:
        texts = [{"text": reply.text}] if reply.text else []
        calls = [{"functionCall": {"name": name, "args": args}} for name, args in reply.calls]
        return [*texts, *calls]

    def whole(self, reply: Reply) -> Made:
        """Return the answer in one piece."""
        return self._answer(reply, self._parts(reply))

    def events(self, reply: Reply, _body: Mapping[str, Any]) -> Iterator[Made]:
        """Yield a chunk for each part; each reports the usage so far, and the last one why the
        answer ended."""
        *parts, last = self._parts(reply)
        for part in parts:
            chunk = self._answer(reply, [part])
            del chunk["candidates"][0]["finishReason"]
            yield chunk
        yield self._answer(reply, [last])


class Converse(Wire):
    """Amazon Bedrock's Converse."""

    provider: Provider = "anthropic"
    """Its rules about turns are Anthropic's."""

    def read(self, path: str, body: Mapping[str, Any]) -> Made:
        """Return the body with the model and whether it's streamed, which stand in the path."""
        model = unquote(path.split("/")[2])
        return {**body, "model": model, "stream": path.endswith("/converse-stream")}

    def check(self, body: Mapping[str, Any], before: Sequence[Any]) -> None:
        """Refuse wrong roles, turns that don't alternate, and calls whose results don't follow."""
        messages = body.get("messages")
        refuse_unless(messages, "The messages field must not be empty.")
        calls: list[str] = []
        for at, message in enumerate(messages or ()):
            role, content = message.get("role"), message.get("content")
            refuse_unless(
                role == ("user", "assistant")[at % 2],
                "A conversation must start with a user message and alternate between roles.",
            )
            refuse_unless(content, f"The content field in messages.{at} must not be empty.")
            results = [part["toolResult"] for part in content if "toolResult" in part]
            refuse_unless(
                sorted(result["toolUseId"] for result in results) == sorted(calls),
                "Expected toolResult blocks at messages for the toolUse blocks before them.",
            )
            refuse_unless(all(isinstance(result["content"], list) for result in results), "content")
            calls = [part["toolUse"]["toolUseId"] for part in content if "toolUse" in part]
        refuse_unless(not calls, "Expected toolResult blocks for the toolUse blocks before them.")
        has_tools = any("toolUse" in part for each in messages or () for part in each["content"])
        refuse_unless(
            not has_tools or body.get("toolConfig"), "The toolConfig field must be defined."
        )

    def parts(self, body: Mapping[str, Any], before: Sequence[Any]) -> tuple[list[Any], Any, Any]:
        """Return the messages, the system prompt and the tools."""
        system = body.get("system") or None
        tools = (body.get("toolConfig") or {}).get("tools")
        return [as_blocks(message) for message in body["messages"]], system, tools

    def most_output(self, body: Mapping[str, Any]) -> int:
        """Return how many tokens the answer may take."""
        return int((body.get("inferenceConfig") or {}).get("maxTokens") or 0)

    def error(self, refused: Refused) -> Made:
        """Return the body of a refusal."""
        return {"message": str(refused)}

    def usage(self, reply: Reply) -> Made:
        """Return what is reported."""
        return {
            "inputTokens": reply.prompt - reply.read,
            "outputTokens": reply.output,
            "totalTokens": reply.prompt + reply.output,
            "cacheReadInputTokens": reply.read,
            "cacheWriteInputTokens": 0,
        }

    def _blocks(self, reply: Reply) -> list[Made]:
        blocks: list[Made] = []
        if reply.signature:
            text = {"text": "Let me see.", "signature": reply.signature}
            blocks.append({"reasoningContent": {"reasoningText": text}})
        if reply.text:
            blocks.append({"text": reply.text})
        for at, (name, arguments) in enumerate(reply.calls):
            call = {"toolUseId": reply.id("tooluse", at), "name": name, "input": arguments}
            blocks.append({"toolUse": call})
        return blocks

    def whole(self, reply: Reply) -> Made:
        """Return the answer in one piece."""
        return {
            "output": {"message": {"role": "assistant", "content": self._blocks(reply)}},
            "stopReason": "tool_use" if reply.calls else "end_turn",
            "usage": self.usage(reply),
            "metrics": {"latencyMs": 1},
        }

    def events(self, reply: Reply, _body: Mapping[str, Any]) -> Iterator[Made]:
        """Yield the events of a streamed answer, each under its name."""
        yield {"messageStart": {"role": "assistant"}}
        for at, block in enumerate(self._blocks(reply)):
            about = {"contentBlockIndex": at}
            if "toolUse" in block:
                call = dict(block["toolUse"])
                arguments = json.dumps(call.pop("input"))
                yield {"contentBlockStart": {"start": {"toolUse": call}, **about}}
                deltas: list[Made] = [{"toolUse": {"input": arguments}}]
            elif "text" in block:
                deltas = [block]
            else:
                thought = block["reasoningContent"]["reasoningText"]
                deltas = [{"reasoningContent": {name: text}} for name, text in thought.items()]
            for delta in deltas:
                yield {"contentBlockDelta": {"delta": delta, **about}}
            yield {"contentBlockStop": about}
        yield {"messageStop": {"stopReason": "tool_use" if reply.calls else "end_turn"}}
        yield {"metadata": {"usage": self.usage(reply), "metrics": {"latencyMs": 1}}}


def event_stream(events: Sequence[Mapping[str, Any]]) -> bytes:
    """Return *events* in Amazon's binary encoding."""
    return b"".join(
        _frame(name, json.dumps(value)) for each in events for name, value in each.items()
    )


def _frame(name: str, payload: str) -> bytes:
    about = {":event-type": name, ":content-type": "application/json", ":message-type": "event"}
    headers = b""
    for key, value in about.items():
        headers += bytes([len(key)]) + key.encode() + b"\x07"
        headers += len(value).to_bytes(2, "big") + value.encode()
    data = payload.encode()
    length = 16 + len(headers) + len(data)
    prelude = length.to_bytes(4, "big") + len(headers).to_bytes(4, "big")
    frame = prelude + crc32(prelude).to_bytes(4, "big") + headers + data
    return frame + crc32(frame).to_bytes(4, "big")


WIRES: dict[str, Wire] = {
    "/v1/messages": Messages(),
    "/chat/completions": Chat(),
    "/responses": Responses(),
    "/converse": Converse(),
    "/converse-stream": Converse(),
    ":generateContent": Gemini(),
    ":streamGenerateContent": Gemini(),
}
"""The APIs, by how their path ends."""
