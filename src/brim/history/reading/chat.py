"""Reads a message of OpenAI's chat API, and of everybody who copies it."""

from __future__ import annotations

from brim.history.reading.entry import Call, Entry, Role, filled
from brim.tokens.messages.fields import get, is_sequence, string

ROLES: dict[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    "function": "tool",
}
"""Every role of the format."""
TYPES: dict[str, Role] = {
    "system": "system",
    "human": "user",
    "ai": "assistant",
    "tool": "tool",
    "function": "tool",
}
"""The types of LangChain's messages, which have no role; LangChain itself gives them one when it sends them."""


def type_name(message: object) -> str:
    """Return the type of LangChain's *message*; a piece of a streamed one is called ``AIMessageChunk``."""
    kind = string(get(message, "type"))
    return kind.removesuffix("MessageChunk").lower() if kind.endswith("MessageChunk") else kind


def type_role(message: object) -> Role:
    """Return who speaks in *message*, if its type says so and it has no role: then it is LangChain's."""
    return "" if get(message, "role") is not None else TYPES.get(type_name(message), "")


def read_chat(index: int, message: object) -> Entry:
    """Return what *message* holds."""
    name = string(get(message, "role"))
    role = ROLES.get(name, "")
    if not name:
        name = type_name(message)
        role = TYPES.get(name, "")
    own_id = string(get(message, "id"))
    if not role:
        shown = f"{name!r} is not a role" if name else "it has no role"
        return Entry(index, message, "", id=own_id, problem=f"{shown} that the API knows", rule="known-role")
    content = get(message, "content")
    says = any(filled(said) for said in (content, get(message, "audio"), get(message, "refusal")))
    if role == "tool":
        return _result(index, message, name, own_id)
    calls = _calls(message) if role == "assistant" else ()
    problem, rule = _problem(message, role, content, calls)
    return Entry(
        index,
        message,
        role,
        calls=calls,
        says=says,
        reasons=filled(get(message, "reasoning_content")) or filled(get(message, "reasoning")),
        id=own_id,
        problem=problem,
        rule=rule,
    )


def _result(index: int, message: object, role: str, own_id: str) -> Entry:
    tool = string(get(message, "name"))
    if role == "function":
        problem = "" if tool else "a function message needs the name of its function"
        answer = Call(tool, tool, kind="function")
    else:
        answer = Call(string(get(message, "tool_call_id")), tool)
        problem = "" if answer.id else "a tool message needs a tool_call_id"
    rule = "result-has-id" if problem else ""
    if not problem and get(message, "content") is None:
        problem, rule = "it has no content", "has-content"
    return Entry(index, message, "tool", results=(answer,), id=own_id, problem=problem, rule=rule)


def _calls(message: object) -> tuple[Call, ...]:
    found = []
    # What LangChain could not parse it keeps apart, and sends as calls all the same.
    for field in ("tool_calls", "invalid_tool_calls"):
        several = get(message, field)
        for call in several if is_sequence(several) else ():  # type: ignore[attr-defined]
            inner = [get(call, "function"), get(call, "custom"), call]
            function = next((value for value in inner if value is not None), None)
            found.append(Call(string(get(call, "id")), string(get(function, "name"))))
    one = get(message, "function_call")
    if filled(one):
        name = string(get(one, "name"))
        found.append(Call(name, name, kind="function"))
    return tuple(found)


def _problem(message: object, role: Role, content: object, calls: tuple[Call, ...]) -> tuple[str, str]:
    several = get(message, "tool_calls")
    if role == "assistant" and is_sequence(several) and not several and string(get(message, "role")):
        return "tool_calls is an empty list", "calls-not-empty"
    if any(not call.id for call in calls):
        return "a tool call has no id", "call-has-id"
    if any(not call.name for call in calls):
        return "a tool call has no name", "call-has-name"
    if len({call.key for call in calls}) < len(calls):
        return "two tool calls of one message have the same id", "call-ids-unique"
    nothing = content is None and not calls and get(message, "audio") is None and get(message, "refusal") is None
    return ("it has no content", "has-content") if nothing else ("", "")
