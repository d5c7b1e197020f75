"""Reads one part of a message, whatever its provider calls it: one function per type, found in a table.

A part of unknown type is counted as its compact JSON, without what looks like base64.
"""

from __future__ import annotations

from brim.tokens.messages import calls, media, reasoning
from brim.tokens.messages.fields import get, is_sequence, string
from brim.tokens.messages.rules import width

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from brim.tokens.messages.walk import Walk

    Reader = Callable[[object, Walk], None]

__all__ = ["PARTS", "is_prompt", "reader_of"]


def _text(part: object, walk: Walk) -> None:
    found = get(part, "text")
    if found is None:
        found = get(part, "refusal")
    if get(part, "thought") is True:
        reasoning.add_reasoning_text(found, walk)
    else:
        walk.text(found)
    reasoning.add_opaque(get(part, "thoughtSignature") or get(part, "thought_signature"), walk)


def _message(part: object, walk: Walk) -> None:
    walk.part(get(part, "content"))


def _by_mime(part: object, walk: Walk) -> None:
    media.add_by_mime(part, walk)


def _gemini_call(part: object, walk: Walk) -> None:
    call = get(part, "functionCall") or get(part, "function_call")
    calls.add_fields(call, ("name", "args"), walk)
    reasoning.add_opaque(get(part, "thoughtSignature") or get(part, "thought_signature"), walk)


def _gemini_response(part: object, walk: Walk) -> None:
    response = get(part, "functionResponse") or get(part, "function_response")
    walk.text(get(response, "name"))
    walk.text_or_json(get(response, "response"))
    walk.parts(get(response, "parts"))
    walk.ledger.width(width("tool_result"))


def _fields_of(name: str, fields: tuple[str, ...]) -> Reader:
    def read(part: object, walk: Walk) -> None:
        calls.add_fields(get(part, name), fields, walk)

    return read


def _content_of(name: str) -> Reader:
    def read(part: object, walk: Walk) -> None:
        walk.part(get(get(part, name), "content"))
        walk.ledger.width(width("tool_result"))

    return read


def _json_of(name: str) -> Reader:
    def read(part: object, walk: Walk) -> None:
        walk.text_or_json(get(part, name))

    return read


def _nothing(part: object, walk: Walk) -> None:
    """A mark for the provider (a cache point), not for the model."""


PARTS: dict[str, Reader] = {
    **dict.fromkeys(("text", "input_text", "output_text", "summary_text", "reasoning_text", "refusal"), _text),
    **dict.fromkeys(("image", "image_url", "input_image", "computer_screenshot"), media.add_image_part),
    **dict.fromkeys(("audio", "input_audio", "output_audio"), media.add_audio),
    **dict.fromkeys(("video", "video_url", "input_video"), media.add_video),
    **dict.fromkeys(("document", "file", "input_file", "container_upload"), media.add_document),
    **dict.fromkeys(calls.CALLS, calls.add_call),
    **dict.fromkeys(calls.RESULTS, calls.add_result),
    **dict.fromkeys(calls.TEXTS, calls.add_texts),
    **dict.fromkeys(("redacted_thinking", "compaction"), reasoning.add_redacted),
    "thinking": reasoning.add_thinking,
    "reasoning": reasoning.add_reasoning,
    "image_generation_call": calls.add_generated_image,
    "item_reference": calls.add_reference,
    "message": _message,
}
"""The reader of each type of part or item."""

_KEYED: tuple[tuple[str, Reader], ...] = (
    ("text", _text),
    ("functionCall", _gemini_call),
    ("function_call", _gemini_call),
    ("functionResponse", _gemini_response),
    ("function_response", _gemini_response),
    ("inlineData", _by_mime),
    ("inline_data", _by_mime),
    ("fileData", _by_mime),
    ("file_data", _by_mime),
    ("executableCode", _fields_of("executableCode", ("code",))),
    ("executable_code", _fields_of("executable_code", ("code",))),
    ("codeExecutionResult", _json_of("codeExecutionResult")),
    ("code_execution_result", _json_of("code_execution_result")),
    ("toolUse", _fields_of("toolUse", ("name", "input"))),
    ("toolResult", _content_of("toolResult")),
    ("json", _json_of("json")),
    ("image", media.add_image_part),
    ("document", media.add_document),
    ("cachePoint", _nothing),
)
"""The reader of a part that has no type but a field of this name: Gemini, and Amazon's Converse API."""


def reader_of(value: object) -> Reader | None:
    """Return the function that reads *value*; ``None`` if nobody knows what it is."""
    kind = string(get(value, "type"))
    if kind:
        return PARTS.get(kind)
    for name, reader in _KEYED:
        if get(value, name) is not None:
            return reader
    return None


def is_prompt(message: object) -> bool:
    """Whether a person wrote *message*: results of tools also come in the name of the user."""
    role = string(get(message, "role"))
    if role not in ("user", "human"):
        # A content of Gemini's that names no role is the user's.
        return isinstance(message, str) or (not role and get(message, "parts") is not None)
    content = get(message, "content")
    if content is None:
        content = get(message, "parts")
    if not is_sequence(content):
        return True
    several: list[object] = list(content)  # type: ignore[call-overload]
    return not several or not all(
        string(get(part, "type")) in calls.RESULTS
        or get(part, "functionResponse") is not None
        or get(part, "function_response") is not None
        for part in several
    )
