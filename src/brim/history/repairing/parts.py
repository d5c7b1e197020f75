"""Changes the parts of Gemini's contents, while they are repaired."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from brim.history.editing import with_fields, without_field
from brim.history.repairing.words import words

if TYPE_CHECKING:
    from brim.history.repairing.draft import Draft, Slot


def set_parts(draft: Draft, slot: Slot, parts: list[Any]) -> None:
    """Let a content hold *parts*; without any it goes, and what else it holds is noted."""
    if parts:
        slot.message = with_fields(slot.message, parts=parts)
        return
    left = words(without_field(slot.message, "parts"))
    if left:
        draft.note(slot, "has-content", "removed", left)
    draft.remove(slot)
