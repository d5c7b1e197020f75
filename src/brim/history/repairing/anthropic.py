"""Repairs Anthropic's format: every call gets its result at the beginning of the next turn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brim.history.reading.anthropic import THINKING, blocks_of, is_directive, kind_of
from brim.history.repairing.blocks import kinds_in, listed, set_blocks, turns_of
from brim.history.repairing.order import calls_last, results_first
from brim.history.repairing.results import give_ids, pair_results
from brim.history.repairing.roles import give_roles
from brim.history.repairing.server_tools import pair_server_tools
from brim.history.repairing.sides import split_sides
from brim.history.repairing.stubs import NO_BEGINNING
from brim.history.repairing.system import place_system
from brim.history.repairing.words import words
from brim.history.speaking import user_message
from brim.tokens.messages.fields import get, string

if TYPE_CHECKING:
    from brim.history.repairing.draft import Draft, Pass

SIDES = {"tool_use": "assistant", "tool_result": "user"}
NAMES = {"assistant": "assistant", "user": "user"}


def drop_empty(draft: Draft) -> None:
    """Take out texts without a letter, and messages without content; the last may be empty if it is the assistant's."""
    for slot, entry in draft.read():
        blocks = blocks_of(slot.message)
        empty = [block for block in blocks if kind_of(block) == "text" and not _letters(block)]
        is_last = slot is draft.slots[-1] and entry.role == "assistant" and get(slot.message, "content") is not None
        if not blocks and not is_last and not is_directive(slot.message):
            draft.note(slot, "has-content", "removed", words(slot.message))
            draft.remove(slot)
        elif empty:
            draft.note(slot, "text-not-empty", "removed", words(empty))
            set_blocks(draft, slot, [block for block in blocks if not any(block is gone for gone in empty)])


def _letters(block: object) -> str:
    return string(block if isinstance(block, str) else get(block, "text")).strip()


def split_messages(draft: Draft) -> None:
    """Give calls to the assistant and results to the user."""
    split_sides(draft, blocks_of, lambda block: SIDES.get(kind_of(block), ""), NAMES)


def drop_last_thinking(draft: Draft) -> None:
    """Take out thinking that leads to nothing, at the end of the history."""
    turns = turns_of(draft)
    for slot in reversed(turns[-1].slots) if turns and turns[-1].role == "assistant" else ():
        kinds = kinds_in(slot)
        kept = len(kinds)
        while kept and kinds[kept - 1] in THINKING:
            kept -= 1
        if kept < len(kinds):
            draft.note(slot, "reasoning-not-last", "removed", words(listed(slot)[kept:]))
            set_blocks(draft, slot, listed(slot)[:kept])
        if kept:
            break


def begin_with_user(draft: Draft) -> None:
    """Let the user begin."""
    turns = turns_of(draft)
    if turns and turns[0].role == "assistant":
        draft.note(turns[0].slots[0], "first-is-user", "added", NO_BEGINNING)
        draft.insert(0, turns[0].slots[0].index, user_message("anthropic", NO_BEGINNING))


PASSES: tuple[Pass, ...] = (
    give_roles,
    drop_empty,
    split_messages,
    place_system,
    give_ids,
    pair_results,
    results_first,
    calls_last,
    pair_server_tools,
    drop_last_thinking,
    begin_with_user,
)
