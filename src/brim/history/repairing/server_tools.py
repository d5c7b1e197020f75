"""Repairs calls of Anthropic's own tools: call and result stand in one turn of the assistant's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from brim.history.reading.anthropic import SERVER_CALLS, is_server_result, kind_of
from brim.history.repairing.blocks import kinds_in, listed, set_blocks, turns_of
from brim.history.repairing.stubs import server_call, server_result
from brim.history.repairing.words import words
from brim.tokens.messages.fields import get, string

if TYPE_CHECKING:
    from brim.history.repairing.draft import Draft, Slot


def pair_server_tools(draft: Draft) -> None:
    """Take out results without their calls, and give an error to calls whose turn is over."""
    going_on: list[Slot] = []
    for turn in turns_of(draft):
        if turn.role == "assistant":
            going_on += turn.slots
        elif turn.role != "system" and any(kind != "tool_result" for slot in turn.slots for kind in kinds_in(slot)):
            _pair(draft, going_on, is_over=True)
            going_on = []
    _pair(draft, going_on, is_over=False)


def _pair(draft: Draft, slots: list[Slot], *, is_over: bool) -> None:
    blocks = [block for slot in slots for block in listed(slot)]
    answered = {string(get(block, "tool_use_id")) for block in blocks if is_server_result(kind_of(block))}
    called: set[str] = set()
    for slot in slots:
        changed: list[Any] = []
        before = len(draft.changes)
        for block in listed(slot):
            if kind_of(block) in SERVER_CALLS:
                changed += _call(draft, slot, block, is_over and string(get(block, "id")) not in answered)
            elif is_server_result(kind_of(block)) and string(get(block, "tool_use_id")) not in called:
                changed += _orphan(draft, slot, block)
            else:
                changed.append(block)
            called.update(string(get(call, "id")) for call in changed[-2:] if kind_of(call) in SERVER_CALLS)
        if len(draft.changes) > before:
            set_blocks(draft, slot, changed)


def _call(draft: Draft, slot: Slot, block: Any, is_missing: bool) -> list[Any]:
    """Return the call, with an error as its result if that is missing; a call that cannot have one is taken out."""
    id_, name = string(get(block, "id")), string(get(block, "name"))
    if not is_missing:
        return [block]
    if not id_ or not name:
        draft.note(slot, "server-call-has-result", "removed", words(block))
        return []
    draft.note(slot, "server-call-has-result", "added", f"an error as the result of {id_}")
    return [block, server_result(kind_of(block), id_, name)]


def _orphan(draft: Draft, slot: Slot, block: Any) -> list[Any]:
    """Return what becomes of a result without its call: nothing, or itself behind a stub of it."""
    id_ = string(get(block, "tool_use_id"))
    if not draft.restore_calls or not id_:
        draft.note(slot, "server-result-has-call", "removed", words(block))
        return []
    draft.note(slot, "server-result-has-call", "added", f"a call for the result of {id_}")
    return [server_call(kind_of(block), id_), block]
