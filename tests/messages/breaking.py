"""Breaks a history: holes, copies, swaps, wrong fields, foreign messages, junk."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from brim.messages import PROVIDERS, Provider
from tests.messages.making import MAKERS
from tests.messages.tape import Tape

JUNK: tuple[Any, ...] = (
    None,
    "",
    "   ",
    "<junk text>",
    0,
    3.5,
    True,
    b"bytes",
    [],
    {},
    ("human", "<junk pair>"),
    ["<junk list>", {"role": "user"}],
    {"role": None, "content": "<junk 1>"},
    {"role": "human", "content": "<junk 2>"},
    {"role": "ai", "content": "<junk 3>"},
    {"role": "wizard", "content": [{"type": "text", "text": "<junk 4>"}]},
    {"role": "user"},
    {"role": "user", "content": None},
    {"role": "assistant", "content": None, "tool_calls": []},
    {"role": "assistant", "tool_calls": [None, 1, {"id": 5}]},
    {"role": "assistant", "content": [{"type": "thinking", "thinking": "<junk 5>"}]},
    {"role": "user", "content": [{"type": "text", "text": " "}]},
    {"role": "system", "content": "<junk 6>"},
    {"role": "system", "content": []},
    {"role": "tool", "content": "<junk 7>"},
    {"role": "function", "content": "<junk 8>"},
    {"role": "user", "content": [{"type": "tool_result", "content": "<junk 9>"}]},
    {"role": "user", "content": [{"type": "tool_use", "id": "u", "name": "read", "input": {}}]},
    {
        "role": "assistant",
        "content": [{"type": "tool_result", "tool_use_id": "u", "content": "<junk 10>"}],
    },
    {
        "role": "assistant",
        "content": [{"type": "tool_use", "input": {}}, {"type": "text", "text": "<junk 11>"}],
    },
    {
        "role": "assistant",
        "content": [{"type": "server_tool_use", "id": "srvtoolu_0", "name": "web_search"}],
    },
    {
        "role": "assistant",
        "content": [{"type": "web_search_tool_result", "tool_use_id": "srvtoolu_9"}],
    },
    {"type": "reasoning", "id": "rs_0", "summary": []},
    {"type": "function_call", "name": "read"},
    {"type": "function_call", "call_id": "c", "id": "rs_0", "name": "read"},
    {"type": "function_call_output", "output": "<junk 12>"},
    {"type": "custom_tool_call_output", "call_id": "c", "output": "<junk 13>"},
    {"type": "mcp_approval_response", "approval_request_id": "nobody"},
    {"type": "item_reference", "id": "rs_0"},
    {"role": "model", "parts": []},
    {"role": "model", "parts": [{}, {"text": "<junk 14>"}]},
    {"role": "model", "parts": [{"functionCall": {}}, {"functionResponse": {"name": ""}}]},
    {
        "role": "user",
        "parts": [{"functionResponse": {"name": "read", "response": {"a": "<junk 15>"}}}],
    },
    {"role": "user", "parts": [{"functionCall": {"name": "read"}}, {"text": "<junk 16>"}]},
    {"parts": "<junk 17>"},
)
"""Messages that some provider, or every one, refuses."""

FIELDS = (
    *(
        "role",
        "content",
        "parts",
        "type",
        "id",
        "call_id",
        "tool_call_id",
        "tool_calls",
        "output",
        "name",
    ),
    *(
        "tool_use_id",
        "text",
        "function",
        "functionCall",
        "functionResponse",
        "function_call",
        "function_response",
    ),
)
VALUES: tuple[Any, ...] = (
    None,
    "",
    [],
    "user",
    "assistant",
    "model",
    "system",
    "tool",
    "call_0",
    "toolu_1",
    "text",
)


def broken(tape: Tape, provider: Provider) -> list[Any]:
    """Return a history that was valid once, after a few accidents."""
    wounds = tape.number(7)
    kinds = [tape.number(9) for _ in range(wounds)]
    places = [tape.number(251) for _ in range(2 * wounds)]
    foreign = MAKERS[tape.pick((provider, provider, *PROVIDERS))]
    messages = foreign(tape, True)
    for at, kind in enumerate(kinds):
        _break(messages, kind, places[2 * at], places[2 * at + 1])
    return messages


def _break(messages: list[Any], kind: int, first: int, second: int) -> None:
    here = first % len(messages) if messages else 0
    there = second % len(messages) if messages else 0
    if kind in (0, 1) or not messages:
        messages.insert(
            here, _marked(JUNK[second % len(JUNK)], f"{len(messages)}-{first}-{second}")
        )
    elif kind == 2:
        del messages[here]
    elif kind == 3:
        messages.insert(there, deepcopy(messages[here]))
    elif kind == 4:
        messages.insert(there, messages.pop(here))
    elif kind == 5:
        del messages[:here]
    elif kind == 6:
        messages[here], messages[there] = messages[there], messages[here]
    else:
        _spoil(messages[here], first, second)


def _spoil(message: Any, first: int, second: int) -> None:
    """Change one field, somewhere in *message*."""
    places = _dicts(message)
    if places:
        place = places[first % len(places)]
        fields = [field for field in FIELDS if field in place] or ["role"]
        field = fields[second % len(fields)]
        if isinstance(place.get(field), list) and len(place[field]) > 1:
            place[field].reverse() if first % 2 else place[field].pop()
        elif first % 3 == 0:
            place.pop(field, None)
        else:
            place[field] = VALUES[(first + second) % len(VALUES)]


def _dicts(value: Any) -> list[dict[str, Any]]:
    if isinstance(value, dict):
        return [value, *(found for inner in value.values() for found in _dicts(inner))]
    return [found for inner in value for found in _dicts(inner)] if isinstance(value, list) else []


def _marked(value: Any, mark: str) -> Any:
    """Return a copy of *value* in which every junk text is unique."""
    if isinstance(value, str):
        return value.replace("<junk", f"<{mark} junk")
    if isinstance(value, dict):
        return {key: _marked(inner, mark) for key, inner in value.items()}
    return (
        type(value)(_marked(inner, mark) for inner in value)
        if isinstance(value, (list, tuple))
        else value
    )
