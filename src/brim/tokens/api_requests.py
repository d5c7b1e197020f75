"""Messages and tools of any provider's shape, read into one.

OpenAI chat and Responses, Anthropic and Gemini messages become a role and a list of blocks, written
as Anthropic writes them: ``text``, ``image``, ``tool_use``, ``tool_result``. Other blocks stay as
they are, for the provider they belong to. One that another provider has no counterpart for raises
``Unconvertible``: counting something else isn't exact.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from brim.tokens.messages.frameworks import as_blocks, call_block, result_block
from brim.tokens.messages.request import without_options
from brim.tokens.messages.schemas import chosen_tool

Block = dict[str, Any]
Request = dict[str, Any]

_ROLES = {"developer": "system", "model": "assistant", "tool": "user", "function": "user"}
_FIELDS = (
    "type",
    "role",
    "content",
    "parts",
    "tool_calls",
    "tool_call_id",
    "call_id",
    "name",
    "arguments",
    "output",
)


class Unconvertible(ValueError):
    """A part of the messages that the provider has no counterpart for."""


def fields(value: Any) -> Block:
    """Return *value* as a dict: it may be one, a model of an SDK, or an object with ``role`` and
    ``content``."""
    if isinstance(value, Mapping):
        return dict(value)
    dump = getattr(value, "model_dump", None)
    if callable(dump):
        return dict(dump(exclude_none=True))
    named = {name: getattr(value, name, None) for name in _FIELDS}
    message = {name: field for name, field in named.items() if field is not None}
    if not message:
        raise Unconvertible(
            f"an object of type {type(value).__name__} has neither role nor content"
        )
    return message


def role_of(message: Block) -> str:
    """Return who speaks: system, user or assistant, whatever the provider calls it."""
    role = str(message.get("role") or "user")
    return _ROLES.get(role, role)


def turn(message: Block) -> tuple[str, list[Block]]:
    """Return the role (system, user or assistant) and the blocks of one message."""
    kind = message.get("type", "message")
    if kind == "function_call":
        return "assistant", [_call(message.get("call_id"), message)]
    if kind == "function_call_output":
        return "user", [result_block(message.get("call_id"), message.get("output"))]
    if kind != "message":
        raise Unconvertible(f"an item of type {kind!r}")
    if message.get("function_call"):
        raise Unconvertible("the old function_call field")
    if "parts" in message:
        parts = message["parts"] or ()
        return role_of(message), [_from_gemini(fields(part)) for part in parts]
    if message.get("role") in ("tool", "function"):
        call_id = message.get("tool_call_id") or message.get("name")
        return "user", [result_block(call_id, message.get("content"))]
    blocks = blocks_of(message.get("content"))
    for call in message.get("tool_calls") or ():
        blocks.append(_chat_call(fields(call)))
    return role_of(message), blocks


def _chat_call(call: Block) -> Block:
    if "function" not in call:
        raise Unconvertible(f"a tool call of type {call.get('type')!r}")
    return _call(call.get("id"), fields(call["function"]))


def _call(call_id: Any, function: Block) -> Block:
    """Return the call of *function*; one without an id is known by its name."""
    return call_block(
        call_id or function.get("name"), function.get("name"), function.get("arguments")
    )


def blocks_of(content: Any) -> list[Block]:
    """Return the blocks of a message's content, or of a tool result's.

    An empty text isn't a block.
    """
    parts = content or ()
    if isinstance(content, str):
        parts = (content,)
    blocks = [_content_block(part) for part in parts]
    return [block for block in blocks if block.get("type") != "text" or block.get("text")]


def _content_block(part: Any) -> Block:
    if isinstance(part, str):
        return {"type": "text", "text": part}
    block = fields(part)
    if block.get("type") in ("input_text", "output_text", "refusal"):
        return {"type": "text", "text": block.get("text") or block.get("refusal") or ""}
    return block


def _from_gemini(part: Block) -> Block:
    if isinstance(part.get("text"), str):
        return {"type": "text", "text": part["text"]}
    call = part.get("functionCall") or part.get("function_call")
    if call:
        function = fields(call)
        call_id = function.get("id") or function.get("name")
        return call_block(call_id, function.get("name"), function.get("args"))
    response = part.get("functionResponse") or part.get("function_response")
    if response:
        return _from_gemini_response(fields(response))
    data = part.get("inlineData") or part.get("inline_data")
    if data:
        return _from_gemini_data(fields(data))
    raise Unconvertible(f"a part with {', '.join(sorted(part)) or 'nothing in it'}")


def _from_gemini_response(response: Block) -> Block:
    content = json.dumps(response.get("response"), ensure_ascii=False)
    return result_block(response.get("id") or response.get("name"), content)


def _from_gemini_data(data: Block) -> Block:
    source = {
        "type": "base64",
        "media_type": data.get("mimeType") or data.get("mime_type"),
        "data": data.get("data"),
    }
    return {"type": "image", "source": source}


def arguments_of(value: Any) -> Block:
    """Return a call's arguments as an object.

    OpenAI writes them as JSON text.
    """
    if isinstance(value, str):
        value = json.loads(value or "{}")
    return dict(value or {})


def image_source(block: Block) -> Block | None:
    """Return the source of an image, as Anthropic writes it: its data, or its address."""
    if block.get("type") == "image":
        return dict(block["source"])
    if block.get("type") not in ("image_url", "input_image"):
        return None
    url = block.get("image_url")
    if isinstance(url, Mapping):
        url = url.get("url")
    if not isinstance(url, str):
        raise Unconvertible("an image without data or address")
    if not url.startswith("data:"):
        return {"type": "url", "url": url}
    head, _, data = url[5:].partition(",")
    return {"type": "base64", "media_type": head.partition(";")[0], "data": data}


def functions(tools: Sequence[Any], *, split: bool = True) -> Iterator[Block]:
    """Yield each tool: ``{"function": {name, description, parameters}}``, or as it is if it isn't a
    function.

    Anthropic's tools come with ``tool`` as well, the tool as it was: it may hold more than a
    function has. With *split*, Gemini's lists of declarations become one function each.
    """
    for tool in map(fields, tools):
        declarations = tool.get("functionDeclarations") or tool.get("function_declarations")
        if declarations and split:
            for function in map(fields, declarations):
                schema = function.get("parametersJsonSchema") or function.get("parameters")
                yield _function(function, schema)
        elif tool.get("type") == "function":
            bare_tool = {key: value for key, value in tool.items() if key != "type"}
            yield {"function": fields(tool.get("function") or bare_tool)}
        elif "input_schema" in tool:
            yield {**_function(tool, tool["input_schema"]), "tool": tool}
        else:
            yield tool


def _function(tool: Block, schema: Any) -> Block:
    function = {
        "name": tool.get("name"),
        "description": tool.get("description"),
        "parameters": schema,
    }
    return {"function": {key: value for key, value in function.items() if value is not None}}


# Each endpoint's own request.


def anthropic_request(messages: Sequence[Any], tools: Sequence[Any] | None) -> Request:
    """Return the arguments for Anthropic's endpoint: system texts are taken out of the list of
    messages."""
    system: list[Block] = []
    turns: list[Block] = []
    for message in map(fields, map(as_blocks, messages)):
        role, blocks = turn(message)
        content = [_anthropic_block(block) for block in blocks]
        if role == "system":
            system += content
        elif content:
            _add_turn(turns, role, content)
    for message in turns:
        message["content"] = _bare(message["content"])
    request: Request = {"messages": turns}
    if system:
        request["system"] = _bare(system)
    definitions, choice = _tools_and_choice(tools)
    if definitions:
        request["tools"] = [_anthropic_tool(tool) for tool in functions(definitions)]
        if choice is not None:
            request["tool_choice"] = _anthropic_choice(choice)
    return request


def _add_turn(turns: list[Block], role: str, content: list[Block]) -> None:
    """Add a message; the results of parallel calls belong into one."""
    if turns and _only_results(content) and _only_results(turns[-1]["content"]):
        turns[-1]["content"] += content
    else:
        turns.append({"role": role, "content": content})


def _anthropic_choice(choice: Any) -> Block:
    """Return the choice of a tool as Anthropic writes it."""
    if isinstance(choice, Mapping) and choice.get("type") in ("any", "auto", "none", "tool"):
        return dict(choice)
    name = chosen_tool(choice)
    if name is not None:
        return {"type": "tool", "name": name}
    if choice == "required":
        return {"type": "any"}
    return {"type": str(choice)}


def _tools_and_choice(tools: Sequence[Any] | None) -> tuple[list[Any], Any]:
    """Return the definitions of *tools*, and the choice among them that ``with_options`` put
    there."""
    definitions, choice, schema = without_options(tools)
    if schema is not None:
        raise Unconvertible("the schema of an answer: endpoints have different fields for it")
    return list(definitions or ()), choice  # type: ignore[call-overload]


def openai_request(messages: Sequence[Any], tools: Sequence[Any] | None) -> Request:
    """Return the arguments for OpenAI's endpoint, which takes the items of the Responses API."""
    items: list[Block] = []
    for message in map(fields, map(as_blocks, messages)):
        if message.get("type", "message") != "message":
            items.append(message)
            continue
        role, blocks = turn(message)
        for is_item, group in groupby(blocks, _is_openai_item):
            if is_item:
                items += map(_openai_item, group)
            else:
                parts = [_openai_part(block, role) for block in group]
                items.append({"role": role, "content": _bare(parts)})
    request: Request = {"input": items}
    definitions, choice = _tools_and_choice(tools)
    if definitions:
        request["tools"] = [_openai_tool(tool) for tool in functions(definitions)]
        if choice is not None:
            request["tool_choice"] = _openai_choice(choice)
    return request


def _is_openai_item(block: Block) -> bool:
    """Whether *block* stands beside the messages in the Responses API."""
    return block.get("type") in ("tool_use", "tool_result")


def _openai_tool(tool: Block) -> Block:
    if "function" in tool:
        return {"type": "function", **tool["function"]}
    return tool


def _openai_choice(choice: Any) -> Any:
    """Return the choice of a tool as the Responses API writes it."""
    kind = choice
    if isinstance(choice, Mapping):
        kind = choice.get("type")
    if kind == "any":
        return "required"
    name = chosen_tool(choice)
    is_function = isinstance(choice, str) or kind in (None, "function", "tool")
    if is_function and name is not None:
        return {"type": "function", "name": name}
    return choice


def gemini_request(messages: Sequence[Any], tools: Sequence[Any] | None) -> Request:
    """Return ``contents`` and, where there are any, ``systemInstruction`` and ``tools`` as Gemini
    writes them."""
    system: list[Block] = []
    contents: list[Block] = []
    names: dict[str, str] = {}
    for message in map(fields, map(as_blocks, messages)):
        role = role_of(message)
        if "parts" in message:
            parts = [fields(part) for part in message["parts"] or ()]
        else:
            _, blocks = turn(message)
            parts = [_gemini_part(block, names) for block in blocks]
        if role == "system":
            system += parts
        elif parts:
            contents.append({"role": _gemini_role(role), "parts": parts})
    request: Request = {"contents": contents}
    if system:
        request["systemInstruction"] = {"parts": system}
    definitions, _ = _tools_and_choice(tools)
    if definitions:
        request["tools"] = _gemini_tools(definitions)
    return request


def _gemini_role(role: str) -> str:
    if role == "assistant":
        return "model"
    return "user"


def _gemini_tools(definitions: list[Any]) -> list[Block]:
    tools = []
    declarations = []
    for tool in functions(definitions, split=False):
        if "function" in tool:
            declarations.append(_gemini_function(tool["function"]))
        else:
            tools.append(tool)
    if declarations:
        tools.append({"functionDeclarations": declarations})
    return tools


def _anthropic_block(block: Block) -> Block:
    kind = block.get("type")
    if kind == "tool_use":
        return {**block, "input": arguments_of(block.get("input"))}
    if kind == "tool_result":
        content = block.get("content")
        if not isinstance(content, str):
            content = [_anthropic_block(part) for part in blocks_of(content)]
        return {**block, "content": content}
    source = image_source(block)
    if source is None or kind == "image":
        return block
    return {"type": "image", "source": source}


def _openai_item(block: Block) -> Block:
    """Return a call or a result as the item that it is in the Responses API."""
    if block.get("type") == "tool_use":
        arguments = block.get("input")
        if not isinstance(arguments, str):
            arguments = json.dumps(arguments or {}, ensure_ascii=False)
        return {
            "type": "function_call",
            "call_id": block.get("id"),
            "name": block.get("name"),
            "arguments": arguments,
        }
    output = block.get("content")
    if not isinstance(output, str):
        output = [_openai_part(part, "user") for part in blocks_of(output)]
    return {"type": "function_call_output", "call_id": block.get("tool_use_id"), "output": output}


def _openai_part(block: Block, role: str) -> Block:
    kind = str(block.get("type"))
    if kind == "text":
        text_type = "input_text"
        if role == "assistant":
            text_type = "output_text"
        return {"type": text_type, "text": block["text"]}
    if kind.startswith("input_"):
        return block
    source = image_source(block)
    if source is None:
        raise Unconvertible(f"a part of type {kind!r}")
    url = source.get("url") or f"data:{source.get('media_type')};base64,{source.get('data')}"
    detail = None
    image = block.get("image_url")
    if isinstance(image, Mapping):
        detail = image.get("detail")
    return {"type": "input_image", "image_url": url, "detail": detail or "auto"}


def _gemini_part(block: Block, names: dict[str, str]) -> Block:
    """Return *block* as a part.

    *names* remembers which call has which name, as a result needs it.
    """
    kind = block.get("type")
    if kind == "text":
        return {"text": block["text"]}
    if kind == "tool_use":
        names[str(block.get("id"))] = str(block.get("name"))
        function = {"name": block.get("name"), "args": arguments_of(block.get("input"))}
        return {"functionCall": function}
    if kind == "tool_result":
        call_id = str(block.get("tool_use_id"))
        response = {"result": _result_text(block.get("content"))}
        return {"functionResponse": {"name": names.get(call_id, call_id), "response": response}}
    source = image_source(block)
    if source is None or "data" not in source:
        raise Unconvertible(f"a part of type {kind!r}")
    return {"inlineData": {"mimeType": source.get("media_type"), "data": source["data"]}}


def _result_text(content: Any) -> str:
    if isinstance(content, str):
        return content
    texts = [part.get("text") for part in blocks_of(content)]
    if not all(isinstance(text, str) for text in texts):
        raise Unconvertible("a tool result that is not text")
    return "\n".join(map(str, texts))


def _anthropic_tool(tool: Block) -> Block:
    if "tool" in tool:
        return dict(tool["tool"])
    if "function" not in tool:
        return tool
    function = tool["function"]
    definition = {key: function[key] for key in ("name", "description") if key in function}
    schema = function.get("parameters") or {"type": "object", "properties": {}}
    definition["input_schema"] = schema
    return definition


def _gemini_function(function: Block) -> Block:
    names = {"name": "name", "description": "description", "parameters": "parametersJsonSchema"}
    return {names[key]: value for key, value in function.items() if key in names}


def _only_results(content: list[Block]) -> bool:
    return all(block.get("type") == "tool_result" for block in content)


def _bare(content: list[Block]) -> Any:
    """Return a single plain text as a string, the short form that every provider takes."""
    if len(content) == 1 and set(content[0]) == {"type", "text"}:
        return content[0]["text"]
    return content
