"""Puts Anthropic's system messages where they may stand: between a user's turn and an assistant's, or at the end.

The first system text belongs beside the messages, where this repair cannot reach: it becomes a tagged text of the
user's, and so does one for which there is no place near.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from brim.history.editing import with_fields
from brim.history.reading.anthropic import SERVER_CALLS, is_server_result
from brim.history.repairing.blocks import TurnAt, kinds_in, listed, set_blocks, turns_of
from brim.tokens.messages.fields import get

if TYPE_CHECKING:
    from brim.history.repairing.draft import Draft, Slot


def place_system(draft: Draft) -> None:
    """Move every system message that stands in a wrong place."""
    turns = turns_of(draft)
    for at, turn in enumerate(turns):
        if turn.role != "system":
            continue
        after = turns[at + 1] if at + 1 < len(turns) else None
        if at == 0:
            for slot in reversed(turn.slots):
                _into_user(draft, slot, after)
            continue
        for slot in turn.slots[:-1]:
            _as_user(draft, slot)
        last = turn.slots[-1]
        follows = len(turn.slots) > 1 or _may_precede(turns[at - 1])
        if after is not None and after.role == "user":
            is_free = at + 2 >= len(turns) or turns[at + 2].role == "assistant"
            _behind(draft, last, after) if is_free else _as_user(draft, last)
        elif not follows:
            _as_user(draft, last)


def _may_precede(turn: TurnAt) -> bool:
    if turn.role == "user":
        return True
    kinds = [kind for slot in turn.slots for kind in kinds_in(slot)]
    ends_in_server = bool(kinds) and (kinds[-1] in SERVER_CALLS or is_server_result(kinds[-1]))
    return ends_in_server and "tool_use" not in kinds


def _behind(draft: Draft, slot: Slot, turn: TurnAt) -> None:
    """Move a system message behind the user's turn that follows it."""
    draft.note(slot, "system-placement", "moved", "behind the user's turn")
    draft.remove(slot)
    draft.slots.insert(draft.slots.index(turn.slots[-1]) + 1, slot)


def _as_user(draft: Draft, slot: Slot) -> None:
    """Let the user say it, tagged."""
    draft.note(slot, "system-placement", "changed", "a text of the user's, tagged as system")
    slot.message = with_fields(slot.message, role="user", content=_tagged(slot))


def _into_user(draft: Draft, slot: Slot, turn: TurnAt | None) -> None:
    """Put the first system text into the first message of the user's, or make it that."""
    if turn is None or turn.role != "user":
        _as_user(draft, slot)
        return
    draft.note(slot, "system-placement", "moved", "into the first message of the user's, tagged as system")
    first, tagged = turn.slots[0], _tagged(slot)
    content = get(first.message, "content")
    if isinstance(content, str) and isinstance(get(slot.message, "content"), str):
        first.message = with_fields(first.message, content=f"{tagged[0]['text']}\n\n{content}")
    else:
        results = kinds_in(first).count("tool_result")
        set_blocks(draft, first, [*listed(first)[:results], *tagged, *listed(first)[results:]])
    draft.remove(slot)


def _tagged(slot: Slot) -> list[Any]:
    """Return what a system message says, between tags."""
    blocks = listed(slot)
    if len(blocks) == 1 and kinds_in(slot) == ["text"] and isinstance(blocks[0], dict):
        return [with_fields(blocks[0], text=f"<system>\n{blocks[0]['text']}\n</system>")]
    start, end = ({"type": "text", "text": tag} for tag in ("<system>", "</system>"))
    return [start, *blocks, end]
