"""Messages and tools as each provider's counting endpoint wants them.

What is in the provider's own shape already is passed on as it is: the endpoint may know more than brim does.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from brim.tokens.api.shapes import (
    Block,
    Unconvertible,
    arguments_of,
    blocks_of,
    fields,
    functions,
    image_source,
    role_of,
    turn,
)

Request = dict[str, Any]


def anthropic_request(messages: Sequence[Any], tools: Sequence[Any] | None) -> Request:
    """Return the arguments for Anthropic's endpoint: system texts are taken out of the list of messages."""
    system: list[Block] = []
    turns: list[Block] = []
    for message in map(fields, messages):
        role, blocks = turn(message)
        content = [_anthropic_block(block) for block in blocks]
        if role == "system":
            system += content
        elif content and turns and _only_results(content) and _only_results(turns[-1]["content"]):
            turns[-1]["content"] += content  # the results of parallel calls belong into one message
        elif content:
            turns.append({"role": role, "content": content})
    request: Request = {"messages": [{"role": each["role"], "content": _bare(each["content"])} for each in turns]}
    if system:
        request["system"] = _bare(system)
    if tools:
        request["tools"] = [_anthropic_tool(tool) for tool in functions(tools)]
    return request


def openai_request(messages: Sequence[Any], tools: Sequence[Any] | None) -> Request:
    """Return the arguments for OpenAI's endpoint, which takes the items of the Responses API."""
    items: list[Block] = []
    for message in map(fields, messages):
        if message.get("type", "message") != "message":
            items.append(message)
            continue
        role, blocks = turn(message)
        parts: list[Block] = []
        for block in blocks:
            item = _openai_item(block)
            if item is None:
                parts.append(_openai_part(block, role))
                continue
            if parts:
                items.append({"role": role, "content": _bare(parts)})
                parts = []
            items.append(item)
        if parts:
            items.append({"role": role, "content": _bare(parts)})
    request: Request = {"input": items}
    if tools:
        request["tools"] = [
            {"type": "function", **tool["function"]} if "function" in tool else tool for tool in functions(tools)
        ]
    return request


def gemini_request(messages: Sequence[Any], tools: Sequence[Any] | None) -> Request:
    """Return ``contents`` and, where there are any, ``systemInstruction`` and ``tools`` as Gemini writes them."""
    system: list[Block] = []
    contents: list[Block] = []
    names: dict[str, str] = {}
    for message in map(fields, messages):
        role = role_of(message)
        if "parts" in message:
            parts = [dict(fields(part)) for part in message["parts"] or ()]
        else:
            parts = [_gemini_part(block, names) for block in turn(message)[1]]
        if role == "system":
            system += parts
        elif parts:
            contents.append({"role": "model" if role == "assistant" else "user", "parts": parts})
    request: Request = {"contents": contents}
    if system:
        request["systemInstruction"] = {"parts": system}
    if tools:
        found = list(functions(tools, split=False))
        declared = [_gemini_function(tool["function"]) for tool in found if "function" in tool]
        request["tools"] = [tool for tool in found if "function" not in tool]
        request["tools"] += [{"functionDeclarations": declared}] if declared else []
    return request


def _anthropic_block(block: Block) -> Block:
    kind = block.get("type")
    if kind == "tool_use":
        return {**block, "input": arguments_of(block.get("input"))}
    if kind == "tool_result":
        content = block.get("content")
        whole = content if isinstance(content, str) else [_anthropic_block(part) for part in blocks_of(content)]
        return {**block, "content": whole}
    source = image_source(block)
    return block if source is None or kind == "image" else {"type": "image", "source": source}


def _openai_item(block: Block) -> Block | None:
    """Return the item that a call or a result is by itself in the Responses API, or None for a part of a message."""
    if block.get("type") == "tool_use":
        arguments = block.get("input")
        text = arguments if isinstance(arguments, str) else json.dumps(arguments or {}, ensure_ascii=False)
        return {"type": "function_call", "call_id": block.get("id"), "name": block.get("name"), "arguments": text}
    if block.get("type") == "tool_result":
        content = block.get("content")
        output = content if isinstance(content, str) else [_openai_part(part, "user") for part in blocks_of(content)]
        return {"type": "function_call_output", "call_id": block.get("tool_use_id"), "output": output}
    return None


def _openai_part(block: Block, role: str) -> Block:
    kind = str(block.get("type"))
    if kind == "text":
        return {"type": "output_text" if role == "assistant" else "input_text", "text": block["text"]}
    if kind.startswith("input_"):
        return block
    source = image_source(block)
    if source is None:
        raise Unconvertible(f"a part of type {kind!r}")
    url = source.get("url") or f"data:{source.get('media_type')};base64,{source.get('data')}"
    given = block.get("image_url")
    detail = given.get("detail") if isinstance(given, Mapping) else None
    return {"type": "input_image", "image_url": url, "detail": detail or "auto"}


def _gemini_part(block: Block, names: dict[str, str]) -> Block:
    """Return *block* as a part; *names* remembers which call has which name, as a result needs it."""
    kind = block.get("type")
    if kind == "text":
        return {"text": block["text"]}
    if kind == "tool_use":
        names[str(block.get("id"))] = str(block.get("name"))
        return {"functionCall": {"name": block.get("name"), "args": arguments_of(block.get("input"))}}
    if kind == "tool_result":
        call_id, content = str(block.get("tool_use_id")), block.get("content")
        texts = [content] if isinstance(content, str) else [part.get("text") for part in blocks_of(content)]
        if not all(isinstance(text, str) for text in texts):
            raise Unconvertible("a tool result that is not text")
        response = {"result": "\n".join(map(str, texts))}
        return {"functionResponse": {"name": names.get(call_id, call_id), "response": response}}
    source = image_source(block)
    if source is None or "data" not in source:
        raise Unconvertible(f"a part of type {kind!r}")
    return {"inlineData": {"mimeType": source.get("media_type"), "data": source["data"]}}


def _anthropic_tool(tool: Block) -> Block:
    if "function" not in tool or "given" in tool:
        return dict(tool.get("given", tool))
    function = dict(tool["function"])
    schema = function.pop("parameters", None) or {"type": "object", "properties": {}}
    return {**{key: function[key] for key in ("name", "description") if key in function}, "input_schema": schema}


def _gemini_function(function: Block) -> Block:
    names = {"name": "name", "description": "description", "parameters": "parametersJsonSchema"}
    return {names[key]: value for key, value in function.items() if key in names}


def _only_results(content: Any) -> bool:
    return isinstance(content, list) and all(block.get("type") == "tool_result" for block in content)


def _bare(content: list[Block]) -> Any:
    """Return a single plain text as a string, the short form that every provider takes."""
    if len(content) == 1 and set(content[0]) == {"type", "text"}:
        return content[0]["text"]
    return content
