"""Reads a message of Anthropic's, and its blocks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from brim.messages.content import call_of, items_of
from brim.messages.entries import NO_FAULT, Entry, EntryCall, Fault, Role, unknown_role
from brim.tokens.messages.fields import get, is_sequence, string

ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant", "system": "system"}
"""Newer models take system messages too, but only after a user's; the first system text goes into
its own field."""
THINKING = frozenset(("thinking", "redacted_thinking"))
SERVER_CALLS = frozenset(("server_tool_use", "mcp_tool_use"))
"""Calls that the provider answers itself, in the same turn."""
NOT_SAID = THINKING.union(("tool_use", "tool_result"))
"""Types of blocks that say nothing themselves."""
ORDER = {"tool_result": 0, "tool_use": 2}
"""Where a block stands in a message: results first, calls last, anything else between them."""


def blocks_of(message: object) -> list[Any]:
    """Return the blocks of *message*; a text is one block."""
    return items_of(get(message, "content"))


def kind_of(block: object) -> str:
    """Return the type of *block*."""
    if isinstance(block, str):
        return "text"

    return string(get(block, "type"))


def is_server_result(kind: str) -> bool:
    """Whether a block of this type is a result of one of the provider's own tools."""
    return kind.endswith("_tool_result")


def is_server_kind(kind: str) -> bool:
    """Whether a block of this type belongs to one of the provider's own tools: a call, or a
    result."""
    return kind in SERVER_CALLS or is_server_result(kind)


def is_directive(message: object) -> bool:
    """Whether *message* holds only settings: a system message that may stand anywhere."""
    content = get(message, "content")
    if not is_sequence(content) or content:
        return False

    if string(get(message, "role")) != "system":
        return False

    return get(message, "output_config") is not None


def has_letters(block: object) -> bool:
    """Whether a text block is more than white space."""
    text = block if isinstance(block, str) else get(block, "text")
    return bool(string(text).strip())


def is_empty_text(block: object) -> bool:
    """Whether *block* is a text without a letter."""
    return kind_of(block) == "text" and not has_letters(block)


def is_summary(block: object) -> bool:
    """Whether *block* is a compaction that has a summary; one without is of a compaction that
    failed, and ignored."""
    return kind_of(block) == "compaction" and get(block, "content") is not None


def is_open_end(role: str, message: object) -> bool:
    """Whether *message* may be empty at the end: an answer about to be written."""
    return role == "assistant" and get(message, "content") is not None


@dataclass(frozen=True, slots=True)
class ServerTools:
    """The provider's own calls and results in one message that have their other half elsewhere."""

    opens: tuple[str, ...]
    """Ids of calls without a result here."""
    closes: tuple[str, ...]
    """Ids of results without a call here."""

    @classmethod
    def of(cls, blocks: list[Any]) -> ServerTools:
        """Return those in *blocks*."""
        call_ids = []
        result_ids = []
        for block in blocks:
            kind = kind_of(block)
            if kind in SERVER_CALLS:
                call_ids.append(string(get(block, "id")))
            elif is_server_result(kind):
                result_ids.append(string(get(block, "tool_use_id")))

        opens = tuple(id_ for id_ in call_ids if id_ not in result_ids)
        closes = tuple(id_ for id_ in result_ids if id_ not in call_ids)
        return cls(opens, closes)


def read_message(index: int, message: object) -> Entry:
    """Return what *message* holds."""
    name = string(get(message, "role"))
    own_id = string(get(message, "id"))
    role = ROLES.get(name, "")
    if not role:
        problem = f"{name!r} is not a role" if name else "it has no role"
        return unknown_role(index, message, own_id, f"{problem} that the API knows")

    blocks = blocks_of(message)
    kinds = [kind_of(block) for block in blocks]
    calls = []
    results = []
    for kind, block in zip(kinds, blocks, strict=True):
        if kind == "tool_use":
            calls.append(call_of(block))
        elif kind == "tool_result":
            results.append(EntryCall(string(get(block, "tool_use_id"))))

    server_tools = ServerTools.of(blocks)
    return Entry(
        index,
        message,
        role,
        calls=tuple(calls),
        results=tuple(results),
        says=not NOT_SAID.issuperset(kinds),
        in_order=_is_in_order(kinds),
        reasons=not THINKING.isdisjoint(kinds),
        ends_in_reasoning=bool(kinds) and kinds[-1] in THINKING,
        opens=server_tools.opens,
        closes=server_tools.closes,
        id=own_id,
        fault=_fault(
            role,
            message,
            blocks,
            calls,
        ),
        compacts=role != "system" and any(is_summary(block) for block in blocks),
    )


def _is_in_order(kinds: list[str]) -> bool:
    """Whether results stand before other blocks, and calls after them."""
    ranks = []
    for kind in kinds:
        if kind not in THINKING and not is_server_kind(kind):
            ranks.append(ORDER.get(kind, 1))

    return ranks == sorted(ranks)


def _fault(
    role: Role,
    message: object,
    blocks: list[Any],
    calls: list[EntryCall],
) -> Fault:
    if not blocks and not is_directive(message):
        return "has-content", "it has no content"

    for block in blocks:
        fault = _fault_of_block(role, block)
        if fault != NO_FAULT:
            return fault

    if len({call.id for call in calls}) < len(calls):
        return "call-ids-unique", "two tool calls have the same id"

    return NO_FAULT


def _fault_of_block(role: Role, block: object) -> Fault:
    """Return the rule that *block* breaks in a message of *role*."""
    if is_empty_text(block):
        return "text-not-empty", "it holds an empty text"

    if is_summary(block) and role == "system":
        return "compaction-first", "a system message can't hold a compaction"

    if is_summary(block) and get(block, "content") == "":
        return "text-not-empty", "it holds a compaction with an empty summary"

    return _fault_of_pair(role, block)


def _fault_of_pair(role: Role, block: object) -> Fault:
    """Return the rule that *block* breaks, if it is a call or a result."""
    kind = kind_of(block)
    if kind == "tool_use" and role != "assistant":
        return "call-by-assistant", "only the assistant can call a tool"

    if kind == "tool_use" and not string(get(block, "id")):
        return "call-has-id", "a tool_use block has no id"

    if kind == "tool_result" and role != "user":
        return "result-by-user", "only the user can answer a call"

    if kind == "tool_result" and not string(get(block, "tool_use_id")):
        return "result-has-id", "a tool_result has no tool_use_id"

    return NO_FAULT
