"""Reads one of Gemini's contents."""

from __future__ import annotations

from brim.history.reading.entry import Call, Entry, Role, filled
from brim.tokens.messages.fields import get, is_sequence, pairs, string

ROLES: dict[str, Role] = {"user": "user", "model": "assistant", "function": "user", "tool": "user", "": "user"}
"""A content without a role is the user's; old programs answer calls as ``function``, Google's own SDK as ``tool``."""

NO_DATA = frozenset(("thought", "thoughtSignature", "thought_signature", "videoMetadata", "video_metadata"))
"""Fields of a part that say something about its data and are none."""


def parts_of(content: object) -> list[object]:
    """Return the parts of *content*; a text is one part."""
    if isinstance(content, str):
        return [content] if content else []
    found = get(content, "parts")
    if is_sequence(found):
        return list(found)  # type: ignore[call-overload, no-any-return]
    return [] if not filled(found) else [found]


def call_in(part: object) -> object:
    """Return the function call in *part*, or None."""
    found = get(part, "functionCall")
    return get(part, "function_call") if found is None else found


def result_in(part: object) -> object:
    """Return the function response in *part*, or None."""
    found = get(part, "functionResponse")
    return get(part, "function_response") if found is None else found


def is_empty_part(part: object) -> bool:
    """Whether *part* holds no data at all: no text, not even an empty one, no image, no call."""
    return not isinstance(part, str) and all(name in NO_DATA for name, _ in pairs(part))


def read_content(index: int, message: object) -> Entry:
    """Return what the content *message* holds."""
    if isinstance(message, str):
        problem, rule = ("", "") if message else ("it is empty", "has-content")
        return Entry(index, message, "user", says=True, problem=problem, rule=rule)
    name = string(get(message, "role"))
    role = ROLES.get(name, "")
    if not role:
        problem = f"{name!r} is not a role: only user and model speak"
        return Entry(index, message, "", problem=problem, rule="known-role")
    calls, results, says, thoughts = [], [], False, []
    problem, rule = "", ""
    for part in parts_of(message):
        call, answer = call_in(part), result_in(part)
        thoughts.append(get(part, "thought") is True)
        if call is not None:
            calls.append(Call(string(get(call, "id")), string(get(call, "name"))))
        elif answer is not None:
            results.append(Call(string(get(answer, "id")), string(get(answer, "name"))))
        elif is_empty_part(part):
            problem, rule = "a part of it is empty", "part-not-empty"
        elif not thoughts[-1]:
            says = True
    if not thoughts:
        problem, rule = "it has no parts", "has-content"
    if any(not call.name for call in calls):
        problem, rule = "a call has no name", "call-has-name"
    if any(not result.name for result in results):
        problem, rule = "a function response has no name", "result-has-name"
    if calls and role != "assistant":
        problem, rule = "only the model can call a function", "call-by-assistant"
    elif results and role != "user":
        problem, rule = "only the user can answer a call", "result-by-user"
    return Entry(
        index,
        message,
        role,
        calls=tuple(calls),
        results=tuple(results),
        says=says,
        reasons=any(thoughts),
        ends_in_reasoning=bool(thoughts) and thoughts[-1],
        problem=problem,
        rule=rule,
    )
