"""Calls of tools and their results: which fields of each kind of part or item the model is sent.

Names, arguments and results are text. Ids and markers around them are not published: they are in the interval.
"""

from __future__ import annotations

from brim.tokens.messages.fields import get, string
from brim.tokens.messages.media import add_image_part
from brim.tokens.messages.reasoning import add_opaque
from brim.tokens.messages.rules import width

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brim.tokens.messages.walk import Walk

__all__ = [
    "CALLS",
    "RESULTS",
    "TEXTS",
    "add_call",
    "add_chat_call",
    "add_fields",
    "add_generated_image",
    "add_reference",
    "add_result",
    "add_texts",
]

CALLS: dict[str, tuple[str, ...]] = {
    "tool_use": ("name", "input"),
    "server_tool_use": ("name", "input"),
    "mcp_tool_use": ("server_name", "name", "input"),
    "function_call": ("name", "arguments"),
    "custom_tool_call": ("name", "input"),
    "mcp_call": ("server_label", "name", "arguments", "output", "error"),
    "mcp_approval_request": ("server_label", "name", "arguments"),
    "mcp_list_tools": ("server_label", "tools"),
    "local_shell_call": ("action",),
    "shell_call": ("action",),
    "apply_patch_call": ("operation",),
    "computer_call": ("action", "actions"),
    "web_search_call": ("action",),
    "file_search_call": ("queries", "results"),
    "code_interpreter_call": ("code", "outputs"),
    "tool_search_call": ("arguments",),
    "tool-call": ("toolName", "args", "input"),
}
"""Type of a call, and the fields of it that are sent."""

RESULTS: dict[str, tuple[str, ...]] = {
    "tool_result": ("content",),
    "mcp_tool_result": ("content",),
    "web_search_tool_result": ("content",),
    "web_fetch_tool_result": ("content",),
    "code_execution_tool_result": ("content",),
    "bash_code_execution_tool_result": ("content",),
    "text_editor_code_execution_tool_result": ("content",),
    "tool_search_tool_result": ("content",),
    "function_call_output": ("output",),
    "custom_tool_call_output": ("output",),
    "local_shell_call_output": ("output",),
    "shell_call_output": ("output",),
    "apply_patch_call_output": ("output",),
    "computer_call_output": ("output",),
    "mcp_approval_response": ("reason",),
    "tool-result": ("output", "result"),
}
"""Type of a result, and the field that holds what the model reads."""

TEXTS: dict[str, tuple[str, ...]] = {
    "web_search_result": ("title", "url", "page_age"),
    "web_fetch_result": ("url", "content"),
    "search_result": ("source", "title", "content"),
    "code_execution_result": ("stdout", "stderr", "content"),
    "bash_code_execution_result": ("stdout", "stderr", "content"),
    "encrypted_code_execution_result": ("stderr", "content"),
    "tool_reference": ("tool_name",),
    "resource": ("resource",),
}
"""Type of a part inside a result, and the fields of it that are sent."""


def add_call(part: object, walk: Walk) -> None:
    """Add a call whose type is in ``CALLS``."""
    add_fields(part, CALLS.get(string(get(part, "type")), ("name", "arguments")), walk)


def add_fields(part: object, names: tuple[str, ...], walk: Walk) -> None:
    """Add the fields *names* of a call, and what surrounds a call."""
    for name in names:
        walk.text_or_json(get(part, name))
    add_opaque(get(part, "thoughtSignature") or get(part, "thought_signature"), walk)
    walk.ledger.width(width("tool_call"))


def add_chat_call(call: object, walk: Walk) -> None:
    """Add an entry of ``tool_calls``, or a ``function_call``, of a chat message; also the form that LangChain uses."""
    function = get(call, "function") or get(call, "custom") or call
    walk.text_or_json(get(function, "name"))
    for name in ("arguments", "args", "input"):
        found = get(function, name)
        if found is not None:
            walk.text_or_json(found)
            break
    walk.ledger.width(width("tool_call"))


def add_result(part: object, walk: Walk) -> None:
    """Add a result whose type is in ``RESULTS``."""
    for name in RESULTS[string(get(part, "type"))]:
        walk.part(get(part, name))
    walk.ledger.width(width("tool_result"))


def add_texts(part: object, walk: Walk) -> None:
    """Add a part of a result whose type is in ``TEXTS``. What is encrypted for the provider alone is opaque."""
    for name in TEXTS[string(get(part, "type"))]:
        walk.part(get(part, name))
    add_opaque(get(part, "encrypted_content") or get(part, "encrypted_stdout"), walk)
    walk.ledger.because(width("tool_result").reason)


def add_generated_image(part: object, walk: Walk) -> None:
    """Add an image that a tool of the provider made."""
    walk.text(get(part, "revised_prompt"))
    add_image_part(part, walk)


def add_reference(_: object, walk: Walk) -> None:
    """Add an item that is only named: what it holds is at the provider."""
    walk.ledger.width(width("reference"))
