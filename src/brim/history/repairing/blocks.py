"""The blocks of Anthropic's messages, while they are repaired."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

from brim.history.editing import with_fields, without_field
from brim.history.reading.anthropic import blocks_of, is_directive, kind_of
from brim.history.repairing.words import words
from brim.tokens.messages.fields import get, string

if TYPE_CHECKING:
    from brim.history.repairing.draft import Draft, Slot


@dataclass(frozen=True, slots=True)
class TurnAt:
    """Messages of one role that follow each other."""

    role: str
    slots: list[Slot]


def turns_of(draft: Draft) -> list[TurnAt]:
    """Return the turns of the history; settings without a text are in none."""
    said = [slot for slot in draft.slots if not is_directive(slot.message)]
    return [TurnAt(role, list(slots)) for role, slots in groupby(said, key=role_of)]


def role_of(slot: Slot) -> str:
    """Return who speaks."""
    return string(get(slot.message, "role"))


def kinds_in(slot: Slot) -> list[str]:
    """Return the types of the blocks in a message."""
    return [kind_of(block) for block in blocks_of(slot.message)]


def listed(slot: Slot) -> list[Any]:
    """Return the blocks of a message, texts among them as blocks."""
    return [{"type": "text", "text": block} if isinstance(block, str) else block for block in blocks_of(slot.message)]


def set_blocks(draft: Draft, slot: Slot, blocks: list[Any]) -> None:
    """Let a message hold *blocks*; without any it goes, and what else it holds is noted."""
    if blocks:
        slot.message = with_fields(slot.message, content=blocks)
        return
    left = words(without_field(slot.message, "content"))
    if left:
        draft.note(slot, "has-content", "removed", left)
    draft.remove(slot)
