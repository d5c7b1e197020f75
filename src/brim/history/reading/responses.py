"""Reads an item of OpenAI's Responses API."""

from __future__ import annotations

from brim.history.reading.entry import Call, Entry, Role
from brim.tokens.messages.fields import get, string

ANSWERED = ("function", "custom_tool", "computer", "local_shell", "shell", "apply_patch")
"""Families of calls that the caller's own program answers: ``X_call`` with ``X_call_output``."""
HOSTED = frozenset(
    (
        "web_search_call",
        "file_search_call",
        "code_interpreter_call",
        "image_generation_call",
        "mcp_call",
        "mcp_list_tools",
        "tool_search_call",
        "tool_search_output",
        "compaction",
        "item_reference",
    )
)
"""Items of the assistant's side that need no answer: the provider's own tools hold theirs."""
TYPES = frozenset(
    (
        *(f"{family}_call{end}" for family in ANSWERED for end in ("", "_output")),
        *HOSTED,
        "mcp_approval_request",
        "mcp_approval_response",
        "reasoning",
        "message",
    )
)
"""The types of items that are known here. The API's list grows, so another type is not an error."""
ROLES: dict[str, Role] = {"system": "system", "developer": "system", "user": "user", "assistant": "assistant"}


def read_item(index: int, message: object) -> Entry:
    """Return what the item *message* holds."""
    kind, own_id = string(get(message, "type")), string(get(message, "id"))
    if kind == "mcp_approval_request":
        return Entry(index, message, "assistant", calls=(Call(own_id, kind="mcp", required=False),), id=own_id)
    if kind == "mcp_approval_response":
        answer = Call(string(get(message, "approval_request_id")), kind="mcp")
        problem, rule = ("", "") if answer.id else ("an approval has no approval_request_id", "result-has-id")
        return Entry(index, message, "tool", results=(answer,), id=own_id, problem=problem, rule=rule)
    if kind == "reasoning":
        return Entry(index, message, "assistant", reasons=True, ends_in_reasoning=True, id=own_id)
    if kind in ("", "message"):
        return _message(index, message, own_id)
    family = kind.removesuffix("_output").removesuffix("_call")
    call_id = string(get(message, "call_id")) or (own_id if family == "local_shell" else "")
    if kind not in HOSTED and (family in ANSWERED or call_id):
        return _call_or_output(index, message, kind, family, call_id)
    return Entry(index, message, "assistant", says=True, id=own_id)


def _call_or_output(index: int, message: object, kind: str, family: str, call_id: str) -> Entry:
    own_id = string(get(message, "id"))
    call = Call(call_id, string(get(message, "name")), kind=family, required=family in ANSWERED)
    if kind.endswith("_output"):
        problem, rule = ("", "") if call_id else ("an output has no call_id", "result-has-id")
        own_id = "" if call_id == own_id else own_id  # a local shell's output has the id of its call
        return Entry(index, message, "tool", results=(call,), id=own_id, problem=problem, rule=rule)
    problem, rule = ("", "") if call_id else ("a call has no call_id", "call-has-id")
    return Entry(index, message, "assistant", calls=(call,), id=own_id, problem=problem, rule=rule)


def _message(index: int, message: object, own_id: str) -> Entry:
    name = string(get(message, "role"))
    role = ROLES.get(name, "")
    if not role:
        shown = f"{name!r} is not a role" if name else "it has neither a type nor a role"
        return Entry(index, message, "", id=own_id, problem=f"{shown} that the API knows", rule="known-role")
    if get(message, "content") is None:
        return Entry(index, message, role, id=own_id, problem="it has no content", rule="has-content")
    return Entry(index, message, role, says=True, id=own_id)
