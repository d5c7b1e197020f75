"""Splits a message in which one side says what only the other can: calls are the assistant's, results the user's."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any

from brim.history.editing import with_fields
from brim.history.repairing.draft import Slot

if TYPE_CHECKING:
    from collections.abc import Callable

    from brim.history.repairing.draft import Draft


def split_sides(
    draft: Draft, parts_of: Callable[[object], list[object]], side_of: Callable[[object], str], names: dict[str, str]
) -> None:
    """Give calls and results to messages of those who may say them, in the order in which they stand.

    *side_of* says who alone may say a part, or nothing; *names* has the provider's names of the two sides.
    """
    body = "parts" if draft.provider == "gemini" else "content"
    for slot, entry in draft.read():
        pieces = [
            (side, list(parts))
            for side, parts in groupby(parts_of(slot.message), key=lambda part, own=entry.role: side_of(part) or own)  # type: ignore[misc]
        ]
        if all(side == entry.role for side, _ in pieces):
            continue
        is_call = any(side == "assistant" != entry.role for side, _ in pieces)
        draft.note(
            slot,
            "call-by-assistant" if is_call else "result-by-user",
            "changed" if len(pieces) == 1 else "moved",
            f"from a message of {entry.role} to one of {'assistant' if is_call else 'user'}",
        )
        split = []
        for at, (side, parts) in enumerate(pieces):
            fields: dict[str, Any] = {body: parts} if side == entry.role else {"role": names[side], body: parts}
            old = slot.message if at == 0 else {"role": names.get(side, side)}
            split.append(Slot(slot.index, with_fields(old, **fields)))
        where = draft.slots.index(slot)
        draft.slots[where : where + 1] = split
