"""Messages of agent frameworks, written as providers write them.

pydantic-ai, LangChain and Haystack have classes of their own, which they translate for each
provider, and Bedrock's Converse has blocks of its own. Here such a message becomes a dict with
Anthropic's blocks, so that it's counted, divided and checked like any other. The classes aren't
imported: a message is known by its fields.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from brim.tokens.messages.fields import compact, first, get, is_sequence, items, string

Block = dict[str, Any]

LANGCHAIN_ROLES = {
    "system": "system",
    "human": "user",
    "ai": "assistant",
    "tool": "tool",
    "function": "tool",
}
"""The types of LangChain's messages, which have no role; LangChain gives them one when it sends
them."""
PYDANTIC_KINDS = {"request": "user", "response": "assistant"}
CONVERSE_BLOCKS = frozenset(
    (
        "text",
        "toolUse",
        "toolResult",
        "reasoningContent",
        "image",
        "document",
        "video",
        "cachePoint",
    )
)
"""Fields of the blocks of Bedrock's Converse; each block has one of them, and no type."""
_URLS = ("audio-url", "document-url", "video-url")


def framework_of(message: object) -> str:
    """Return whose *message* is: ``langchain``, ``pydantic-ai``, ``haystack``, ``converse``, or
    ``""`` for a provider's."""
    if type(message) is dict and message.get("role") is not None:
        return "converse" if _is_converse(message.get("content")) else ""
    if string(get(message, "kind")) in PYDANTIC_KINDS and is_sequence(get(message, "parts")):
        return "pydantic-ai"
    if langchain_role(message):
        return "langchain"
    if get(message, "_role") is not None and is_sequence(get(message, "_content")):
        return "haystack"
    return ""


def langchain_role(message: object) -> str:
    """Return who speaks in *message* if it is LangChain's: its type says so, and it has no role."""
    if get(message, "role") is not None:
        return ""
    return LANGCHAIN_ROLES.get(langchain_type(message), "")


def langchain_type(message: object) -> str:
    """Return the type of a LangChain *message*.

    A piece of a streamed one is called ``AIMessageChunk``.
    """
    kind = string(get(message, "type"))
    if kind.endswith("MessageChunk"):
        return kind.removesuffix("MessageChunk").lower()
    return kind


def as_blocks(message: object) -> object:
    """Return the message of a framework as a dict with a role and Anthropic's blocks, any other as
    it is."""
    reader = _READERS.get(framework_of(message))
    if reader is None:
        return message
    return reader(message)


def instructions_of(messages: list[object]) -> object:
    """Return the instructions that pydantic-ai sends with *messages*: those of the last request
    that has any."""
    for message in reversed(messages):
        if get(message, "kind") == "request":
            instructions = get(message, "instructions")
            if isinstance(instructions, str):
                return instructions
    return None


def has_system_text(message: object) -> bool:
    """Whether *message* is pydantic-ai's and holds a system prompt, alone or with something
    else."""
    parts = items(get(message, "parts"))
    return any(get(part, "part_kind") == "system-prompt" for part in parts)


# LangChain


def _langchain(message: object) -> Block:
    role = langchain_role(message)
    content = get(message, "content")
    if role == "tool":
        result = result_block(first(message, "tool_call_id", "name"), content)
        return {"role": "user", "content": [result]}
    if role != "assistant":
        return {"role": role, "content": content}
    blocks: list[object] = []
    for part in _texts(content):
        # The content can hold the same calls once more, as the provider wrote them; LangChain
        # sends the parsed ones.
        if string(get(part, "type")) not in ("tool_use", "input_json_delta"):
            blocks.append(part)
    for name in ("tool_calls", "invalid_tool_calls"):
        for call in items(get(message, name)):
            blocks.append(call_block(get(call, "id"), get(call, "name"), get(call, "args")))
    return {"role": "assistant", "content": blocks}


def _texts(content: object) -> Iterator[object]:
    """Yield the parts of a content, without the empty texts that frameworks leave out."""
    parts = [content]
    if is_sequence(content):
        parts = items(content)
    for part in parts:
        if isinstance(part, str):
            if string(part).strip():
                yield {"type": "text", "text": part}
        elif part is not None and not _is_empty_text(part):
            yield part


def _is_empty_text(part: object) -> bool:
    if get(part, "type") != "text":
        return False
    text = get(part, "text")
    return text is not None and not string(text).strip()


# pydantic-ai


def _pydantic(message: object) -> Block:
    """Return a request or a response of pydantic-ai as one message.

    A request can hold the system prompt among its parts; alone it becomes a system message.
    """
    role = PYDANTIC_KINDS[string(get(message, "kind"))]
    system: list[Block] = []
    blocks: list[object] = []
    for part in items(get(message, "parts")):
        if get(part, "part_kind") == "system-prompt":
            system.append({"type": "text", "text": string(get(part, "content"))})
        else:
            blocks += _pydantic_part(part)
    if system and not blocks:
        return {"role": "system", "content": system}
    # Anthropic takes the results of tools only at the beginning of a message.
    after_results = 0
    while after_results < len(blocks) and get(blocks[after_results], "type") == "tool_result":
        after_results += 1
    results = blocks[:after_results]
    other_blocks = blocks[after_results:]
    return {"role": role, "content": [*results, *system, *other_blocks]}


def _pydantic_part(part: object) -> list[object]:
    kind = string(get(part, "part_kind"))
    content = get(part, "content")
    if kind == "retry-prompt" and get(part, "tool_name") is not None:
        kind = "tool-return"
    if kind in ("user-prompt", "text", "retry-prompt", "retry-feedback"):
        return list(_texts(_result(content)))
    writer = _PYDANTIC_WRITERS.get(kind)
    if writer is not None:
        return [writer(part)]
    unread: Block = {"type": kind or "unknown"}
    if content is None:
        unread["part"] = part
    else:
        unread["content"] = content
    return [unread]


def _pydantic_call(part: object) -> Block:
    return call_block(get(part, "tool_call_id"), get(part, "tool_name"), get(part, "args"))


def _pydantic_server_call(part: object) -> Block:
    return {**_pydantic_call(part), "type": "server_tool_use"}


def _pydantic_result(part: object) -> Block:
    return result_block(get(part, "tool_call_id"), _result(get(part, "content")))


def _pydantic_server_result(part: object) -> Block:
    return {**_pydantic_result(part), "type": "server_tool_result"}


def _pydantic_thinking(part: object) -> Block:
    return {
        "type": "thinking",
        "thinking": string(get(part, "content")),
        "signature": get(part, "signature"),
    }


def _pydantic_compaction(part: object) -> Block:
    # OpenAI's has no text, only what it encrypted; one without either stands for a compaction that
    # failed.
    content = get(part, "content")
    encrypted = get(get(part, "provider_details"), "encrypted_content")
    if content is None and encrypted:
        content = ""
    return {"type": "compaction", "content": content}


def _pydantic_file(part: object) -> object:
    return _medium(get(part, "content"))


_PYDANTIC_WRITERS: dict[str, Callable[[object], object]] = {
    "tool-call": _pydantic_call,
    "builtin-tool-call": _pydantic_server_call,
    "tool-return": _pydantic_result,
    "builtin-tool-return": _pydantic_server_result,
    "thinking": _pydantic_thinking,
    "compaction": _pydantic_compaction,
    "file": _pydantic_file,
}
"""What writes a part of pydantic-ai's as a block, by the part's kind."""


def _result(content: object) -> object:
    """Return what a part holds: a text, media, or the JSON of what a tool returned."""
    if isinstance(content, str) or content is None:
        return content
    if is_sequence(content):
        return [_medium(item) for item in items(content)]
    medium = _medium(content)
    if medium is content:
        return compact(content)
    return [medium]


def _medium(item: object) -> object:
    kind = string(get(item, "kind"))
    if kind == "image-url":
        return {"type": "image_url", "image_url": {"url": get(item, "url")}}
    if kind in _URLS:
        return {"file_data": {"file_uri": get(item, "url"), "mime_type": get(item, "media_type")}}
    if kind == "binary":
        return {"inline_data": {"mime_type": get(item, "media_type"), "data": get(item, "data")}}
    if kind == "text-content":
        return string(get(item, "content"))
    return item


# Haystack


def _haystack(message: object) -> Block:
    role = string(get(message, "_role"))
    if role == "tool":
        role = "user"
    blocks = [_haystack_part(part) for part in items(get(message, "_content"))]
    return {"role": role, "content": blocks, "name": get(message, "_name")}


def _haystack_part(part: object) -> object:
    if get(part, "tool_name") is not None:
        return call_block(get(part, "id"), get(part, "tool_name"), get(part, "arguments"))
    if get(part, "origin") is not None:
        return result_block(get(get(part, "origin"), "id"), get(part, "result"))
    if get(part, "base64_image") is not None:
        return {
            "inline_data": {"mime_type": get(part, "mime_type"), "data": get(part, "base64_image")}
        }
    if get(part, "reasoning_text") is not None:
        return {"type": "thinking", "thinking": get(part, "reasoning_text")}
    if get(part, "text") is not None:
        return {"type": "text", "text": get(part, "text")}
    return part


# Bedrock's Converse: API_runtime_ContentBlock.html of Amazon Bedrock's API reference


def _is_converse(content: object) -> bool:
    """Whether a message's *content* has blocks that are known by the name of their only field."""
    if type(content) is not list or not content or type(content[0]) is not dict:
        return False
    return len(content[0]) == 1 and not CONVERSE_BLOCKS.isdisjoint(content[0])


def _converse(message: object) -> Block:
    blocks = [_converse_block(block) for block in items(get(message, "content"))]
    return {
        "role": string(get(message, "role")),
        "content": [block for block in blocks if block is not None],
    }


def _converse_block(block: object) -> object:
    """Return a block as Anthropic writes it; None for a mark that the model doesn't see."""
    if get(block, "text") is not None:
        return {"type": "text", "text": get(block, "text")}
    call = get(block, "toolUse")
    if call is not None:
        return call_block(get(call, "toolUseId"), get(call, "name"), get(call, "input"))
    result = get(block, "toolResult")
    if result is not None:
        parts = [_converse_part(part) for part in items(get(result, "content"))]
        return result_block(get(result, "toolUseId"), parts)
    thinking = get(get(block, "reasoningContent"), "reasoningText")
    if thinking is not None:
        signature = get(thinking, "signature")
        return {"type": "thinking", "thinking": get(thinking, "text"), "signature": signature}
    if get(block, "cachePoint") is not None:
        return None
    return block


def _converse_part(part: object) -> object:
    """Return a part of a result as Anthropic writes it; files are counted as they are."""
    if get(part, "text") is not None:
        return {"type": "text", "text": get(part, "text")}
    if get(part, "json") is not None:
        return {"type": "text", "text": compact(get(part, "json"))}
    return part


def call_block(call_id: object, name: object, arguments: object) -> Block:
    """Return a call as Anthropic writes it."""
    if arguments is None:
        arguments = {}
    return {"type": "tool_use", "id": call_id, "name": name, "input": arguments}


def result_block(call_id: object, content: object) -> Block:
    """Return the result of a call as Anthropic writes it."""
    return {"type": "tool_result", "tool_use_id": call_id, "content": content}


_READERS: dict[str, Callable[[Any], Block]] = {
    "langchain": _langchain,
    "pydantic-ai": _pydantic,
    "haystack": _haystack,
    "converse": _converse,
}
