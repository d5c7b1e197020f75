"""Reads a message of Anthropic's Messages API."""

from __future__ import annotations

from brim.history.reading.entry import Call, Entry, Role, filled
from brim.tokens.messages.fields import get, is_sequence, string

ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant", "system": "system"}
"""Newer models take system messages too, but only after a user's; the first system text goes beside the messages."""
THINKING = frozenset(("thinking", "redacted_thinking"))
SERVER_CALLS = frozenset(("server_tool_use", "mcp_tool_use"))
"""Calls that the provider answers itself, in the same turn."""


def blocks_of(message: object) -> list[object]:
    """Return the blocks of *message*; a text is one block."""
    content = get(message, "content")
    if is_sequence(content):
        return list(content)  # type: ignore[call-overload, no-any-return]
    return [] if not filled(content) else [content]


def kind_of(block: object) -> str:
    """Return the type of *block*."""
    return "text" if isinstance(block, str) else string(get(block, "type"))


def is_server_result(kind: str) -> bool:
    """Whether a block of this type answers one of the provider's own calls."""
    return kind.endswith("_tool_result")


def is_directive(message: object) -> bool:
    """Whether *message* holds settings and no text: a system message of a form that may stand anywhere."""
    content = get(message, "content")
    empty = is_sequence(content) and not content
    return empty and string(get(message, "role")) == "system" and get(message, "output_config") is not None


def read_message(index: int, message: object) -> Entry:
    """Return what *message* holds."""
    name, own_id = string(get(message, "role")), string(get(message, "id"))
    role = ROLES.get(name, "")
    if not role:
        shown = f"{name!r} is not a role" if name else "it has no role"
        return Entry(index, message, "", id=own_id, problem=f"{shown} that the API knows", rule="known-role")
    blocks = blocks_of(message)
    kinds = [kind_of(block) for block in blocks]
    calls = [Call(string(get(block, "id")), string(get(block, "name"))) for block in _of(blocks, "tool_use")]
    problem, rule = _problem(role, message, blocks)
    begun = [string(get(block, "id")) for block in blocks if kind_of(block) in SERVER_CALLS]
    ended = [string(get(block, "tool_use_id")) for block in blocks if is_server_result(kind_of(block))]
    return Entry(
        index,
        message,
        role,
        calls=tuple(calls),
        results=tuple(Call(string(get(block, "tool_use_id"))) for block in _of(blocks, "tool_result")),
        says=any(kind not in ("tool_use", "tool_result", *THINKING) for kind in kinds),
        in_order=_in_order(kinds),
        reasons=any(kind in THINKING for kind in kinds),
        ends_in_reasoning=bool(kinds) and kinds[-1] in THINKING,
        opens=tuple(id_ for id_ in begun if id_ not in ended),
        closes=tuple(id_ for id_ in ended if id_ not in begun),
        id=own_id,
        problem=problem,
        rule=rule,
    )


def _of(blocks: list[object], kind: str) -> list[object]:
    return [block for block in blocks if kind_of(block) == kind]


def _in_order(kinds: list[str]) -> bool:
    """Whether results stand first, and no text after a call."""
    own = (*THINKING, *SERVER_CALLS)
    others = [kind for kind in kinds if kind not in own and not is_server_result(kind)]
    ranks = [0 if kind == "tool_result" else 2 if kind == "tool_use" else 1 for kind in others]
    return ranks == sorted(ranks)


def _problem(role: Role, message: object, blocks: list[object]) -> tuple[str, str]:
    if not blocks and not is_directive(message):
        return "it has no content", "has-content"
    for block in blocks:
        problem = _block_problem(role, block, kind_of(block))
        if problem is not None:
            return problem
    ids = [string(get(block, "id")) for block in _of(blocks, "tool_use")]
    return ("two tool calls have the same id", "call-ids-unique") if len(set(ids)) < len(ids) else ("", "")


def _block_problem(role: Role, block: object, kind: str) -> tuple[str, str] | None:
    if kind == "text" and not string(block if isinstance(block, str) else get(block, "text")).strip():
        return "it holds an empty text", "text-not-empty"
    if kind == "tool_use":
        if role != "assistant":
            return "only the assistant can call a tool", "call-by-assistant"
        return None if string(get(block, "id")) else ("a tool_use block has no id", "call-has-id")
    if kind == "tool_result":
        if role != "user":
            return "only the user can answer a call", "result-by-user"
        return None if string(get(block, "tool_use_id")) else ("a tool_result has no tool_use_id", "result-has-id")
    return None
