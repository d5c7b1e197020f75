"""Brings Anthropic's turns into order: results first in the user's, calls last in the assistant's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from brim.history.reading.anthropic import kind_of
from brim.history.repairing.blocks import TurnAt, kinds_in, listed, set_blocks, turns_of
from brim.history.repairing.draft import Slot

if TYPE_CHECKING:
    from brim.history.repairing.draft import Draft


def results_first(draft: Draft) -> None:
    """Let whole messages change places where that is enough, and blocks where it is not."""
    for turn in turns_of(draft):
        kinds = [kind == "tool_result" for slot in turn.slots for kind in kinds_in(slot)]
        if turn.role == "user" and kinds != sorted(kinds, reverse=True):
            ordered = _ordered(draft, turn)
            start = draft.slots.index(turn.slots[0])
            others = [slot for slot in draft.slots[start:] if slot not in turn.slots]
            draft.slots[start:] = [*ordered, *others]


def _ordered(draft: Draft, turn: TurnAt) -> list[Slot]:
    front: list[Slot] = []
    rest: list[Slot] = []
    for slot in turn.slots:
        kinds = kinds_in(slot)
        results = [block for block in listed(slot) if kind_of(block) == "tool_result"]
        others = [block for block in listed(slot) if kind_of(block) != "tool_result"]
        is_late = bool(results) and (bool(rest) or kinds[: len(results)] != ["tool_result"] * len(results))
        if is_late:
            draft.note(slot, "results-first", "moved", "the results, before everything else in the turn")
        if not others:
            front.append(slot)
        elif rest and results:
            front.append(Slot(slot.index, {"role": "user", "content": results}))
            set_blocks(draft, slot, others)
            rest.append(slot)
        else:
            if is_late:
                set_blocks(draft, slot, [*results, *others])
            rest.append(slot)
    return front + rest


def calls_last(draft: Draft) -> None:
    """Move a text that stands after a call to before the first call of its turn."""
    for turn in turns_of(draft):
        caller = next((slot for slot in turn.slots if "tool_use" in kinds_in(slot)), None)
        if turn.role != "assistant" or caller is None:
            continue
        moved: list[Any] = []
        called = False
        for slot in turn.slots:
            kept: list[Any] = []
            for block in listed(slot):
                called = called or kind_of(block) == "tool_use"
                (moved if called and kind_of(block) == "text" else kept).append(block)
            if len(kept) < len(kinds_in(slot)):
                draft.note(slot, "calls-last", "moved", "the text, before the calls of its turn")
                set_blocks(draft, slot, kept)
        if moved:
            at = kinds_in(caller).index("tool_use")
            set_blocks(draft, caller, [*listed(caller)[:at], *moved, *listed(caller)[at:]])
