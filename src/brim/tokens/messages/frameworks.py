"""Messages of agent frameworks, written as providers write them.

pydantic-ai, LangChain and Haystack have classes of their own, which they translate for each
provider. Here such a message becomes a dict with Anthropic's blocks, so that it's counted, divided
and checked like any other. The classes aren't imported: a message is known by its fields.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from brim.tokens.messages.fields import compact, first, get, is_sequence, string

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
_URLS = ("audio-url", "document-url", "video-url")


def framework_of(message: object) -> str:
    """Return whose class *message* is: ``langchain``, ``pydantic-ai``, ``haystack``, or ``""`` for
    a provider's."""
    if type(message) is dict and message.get("role") is not None:
        return ""
    if string(get(message, "kind")) in PYDANTIC_KINDS and is_sequence(get(message, "parts")):
        return "pydantic-ai"
    if langchain_role(message):
        return "langchain"
    is_haystack = get(message, "_role") is not None and is_sequence(get(message, "_content"))
    return "haystack" if is_haystack else ""


def langchain_role(message: object) -> str:
    """Return who speaks in *message* if it is LangChain's: its type says so, and it has no role."""
    return (
        "" if get(message, "role") is not None else LANGCHAIN_ROLES.get(langchain_type(message), "")
    )


def langchain_type(message: object) -> str:
    """Return the type of a LangChain *message*.

    A piece of a streamed one is called ``AIMessageChunk``.
    """
    kind = string(get(message, "type"))
    return kind.removesuffix("MessageChunk").lower() if kind.endswith("MessageChunk") else kind


def as_blocks(message: object) -> object:
    """Return the message of a framework as a dict with a role and Anthropic's blocks, any other as
    it is."""
    reader = _READERS.get(framework_of(message))
    return message if reader is None else reader(message)


def instructions_of(messages: list[object]) -> object:
    """Return the instructions that pydantic-ai sends with *messages*: those of the last request
    that has any."""
    given = (
        get(message, "instructions")
        for message in reversed(messages)
        if get(message, "kind") == "request"
    )
    return next((text for text in given if isinstance(text, str)), None)


def has_system_text(message: object) -> bool:
    """Whether *message* is pydantic-ai's and holds a system prompt, alone or with something
    else."""
    parts = get(message, "parts")
    found = is_sequence(parts) and any(get(part, "part_kind") == "system-prompt" for part in parts)  # type: ignore[attr-defined]
    return bool(found)


# LangChain


def _langchain(message: object) -> Block:
    role, content = langchain_role(message), get(message, "content")
    if role == "tool":
        return {
            "role": "user",
            "content": [result_block(first(message, "tool_call_id", "name"), content)],
        }
    if role != "assistant":
        return {"role": role, "content": content}
    several = (get(message, "tool_calls"), get(message, "invalid_tool_calls"))
    calls = [call for each in several if is_sequence(each) for call in each]  # type: ignore[attr-defined]
    # The content can hold the same calls once more, as the provider wrote them; LangChain sends the
    # parsed ones.
    said = [
        block
        for block in _texts(content)
        if string(get(block, "type")) not in ("tool_use", "input_json_delta")
    ]
    called = [call_block(get(call, "id"), get(call, "name"), get(call, "args")) for call in calls]
    return {"role": "assistant", "content": [*said, *called]}


def _texts(content: object) -> Iterator[object]:
    """Yield the parts of a content, without the empty texts that frameworks leave out."""
    for part in content if is_sequence(content) else (content,):  # type: ignore[attr-defined]
        text = (
            part
            if isinstance(part, str)
            else get(part, "text")
            if get(part, "type") == "text"
            else None
        )
        if part is not None and (text is None or string(text).strip()):
            yield {"type": "text", "text": part} if isinstance(part, str) else part


# pydantic-ai


def _pydantic(message: object) -> Block:
    role = PYDANTIC_KINDS[string(get(message, "kind"))]
    system: list[Block] = []
    blocks: list[object] = []
    for part in get(message, "parts"):  # type: ignore[attr-defined]
        if get(part, "part_kind") == "system-prompt":
            system += [{"type": "text", "text": string(get(part, "content"))}]
        else:
            blocks += _pydantic_part(part)
    if system and not blocks:
        return {"role": "system", "content": system}
    results = next(
        (at for at, block in enumerate(blocks) if get(block, "type") != "tool_result"), len(blocks)
    )
    return {"role": role, "content": [*blocks[:results], *system, *blocks[results:]]}


def _pydantic_part(part: object) -> list[object]:
    kind, content, call_id = (
        string(get(part, "part_kind")),
        get(part, "content"),
        get(part, "tool_call_id"),
    )
    is_result = kind == "tool-return" or (
        kind == "retry-prompt" and get(part, "tool_name") is not None
    )
    if kind in ("user-prompt", "text", "retry-prompt", "retry-feedback") and not is_result:
        return list(_texts(_said(content)))
    block: object = {
        "type": kind or "unknown",
        **({"content": content} if content is not None else {"part": part}),
    }
    if kind in ("tool-call", "builtin-tool-call"):
        call = call_block(call_id, get(part, "tool_name"), get(part, "args"))
        block = call if kind == "tool-call" else {**call, "type": "server_tool_use"}
    elif is_result or kind == "builtin-tool-return":
        result = result_block(call_id, _said(content))
        block = result if is_result else {**result, "type": "server_tool_result"}
    elif kind == "thinking":
        block = {
            "type": "thinking",
            "thinking": string(content),
            "signature": get(part, "signature"),
        }
    elif kind == "compaction":
        # OpenAI's has no text, only what it encrypted; one without either stands for a compaction
        # that failed.
        encrypted = get(get(part, "provider_details"), "encrypted_content")
        block = {"type": "compaction", "content": "" if content is None and encrypted else content}
    elif kind == "file":
        block = _medium(content)
    return [block]


def _said(content: object) -> object:
    """Return what a part says: a text, media, or the JSON of what a tool returned."""
    if isinstance(content, str) or content is None:
        return content
    if is_sequence(content):
        return [_medium(item) for item in content]  # type: ignore[attr-defined]
    medium = _medium(content)
    return compact(content) if medium is content else [medium]


def _medium(item: object) -> object:
    kind = string(get(item, "kind"))
    if kind == "image-url":
        return {"type": "image_url", "image_url": {"url": get(item, "url")}}
    if kind in _URLS:
        return {"file_data": {"file_uri": get(item, "url"), "mime_type": get(item, "media_type")}}
    if kind == "binary":
        return {"inline_data": {"mime_type": get(item, "media_type"), "data": get(item, "data")}}
    return string(get(item, "content")) if kind == "text-content" else item


# Haystack


def _haystack(message: object) -> Block:
    role = string(get(message, "_role"))
    blocks = [_haystack_part(part) for part in get(message, "_content")]  # type: ignore[attr-defined]
    return {
        "role": "user" if role == "tool" else role,
        "content": blocks,
        "name": get(message, "_name"),
    }


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
    return part


def call_block(call_id: object, name: object, arguments: object) -> Block:
    """Return a call as Anthropic writes it."""
    return {
        "type": "tool_use",
        "id": call_id,
        "name": name,
        "input": {} if arguments is None else arguments,
    }


def result_block(call_id: object, content: object) -> Block:
    """Return the result of a call as Anthropic writes it."""
    return {"type": "tool_result", "tool_use_id": call_id, "content": content}


_READERS: dict[str, Callable[[Any], Block]] = {
    "langchain": _langchain,
    "pydantic-ai": _pydantic,
    "haystack": _haystack,
}
