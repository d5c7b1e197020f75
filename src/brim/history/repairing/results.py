"""Pairs calls and results of Anthropic's: every call has one result in the turn after it, and no two have one id."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from brim.history.editing import with_fields
from brim.history.reading.anthropic import blocks_of, kind_of
from brim.history.reading.entry import Call
from brim.history.repairing.blocks import TurnAt, kinds_in, listed, role_of, set_blocks, turns_of
from brim.history.repairing.pairing import CallAt, ResultAt, pair
from brim.history.repairing.stubs import anthropic_call, anthropic_result
from brim.history.repairing.words import words
from brim.tokens.messages.fields import get, string

if TYPE_CHECKING:
    from brim.history.repairing.draft import Draft, Slot


@dataclass(eq=False, slots=True)
class Spot:
    """A call or a result, where it stands."""

    slot: Slot
    at: int
    """Its place among the blocks of its message."""
    block: Any
    id: str


@dataclass(eq=False, slots=True)
class Edits:
    """What shall stand where."""

    draft: Draft
    blocks: dict[Slot, dict[int, Any]] = field(default_factory=dict)
    """Blocks instead of others, by their place in the message; None is nothing."""
    results: dict[int, list[Any]] = field(default_factory=dict)
    """Results to be added behind the calls of a turn."""
    calls: dict[int, list[Any]] = field(default_factory=dict)
    """Calls to be added before the results of a turn."""

    def set(self, spot: Spot, block: Any) -> None:
        """Remember what shall stand at *spot*."""
        self.blocks.setdefault(spot.slot, {})[spot.at] = block

    def apply(self) -> None:
        """Change the messages."""
        for slot, edits in self.blocks.items():
            changed = [edits.get(at, block) for at, block in enumerate(listed(slot))]
            set_blocks(self.draft, slot, [block for block in changed if block is not None])


def spots(turn: TurnAt | None, role: str) -> list[Spot]:
    """Return the calls of an assistant's turn, or the results of a user's."""
    if turn is None or turn.role != role:
        return []
    kind, name = ("tool_use", "id") if role == "assistant" else ("tool_result", "tool_use_id")
    return [
        Spot(slot, at, block, string(get(block, name)))
        for slot in turn.slots
        for at, block in enumerate(blocks_of(slot.message))
        if kind_of(block) == kind
    ]


def give_ids(draft: Draft) -> None:
    """Give every call an id of its own, and the same one to its result."""
    turns = turns_of(draft)
    taken = {spot.id for turn in turns for spot in spots(turn, "assistant")}
    seen: set[str] = set()
    edits = Edits(draft)
    for at, turn in enumerate(turns):
        after = turns[at + 1] if at + 1 < len(turns) else None
        home = spots(after, "user")
        mine: set[str] = set()
        for call in spots(turn, "assistant"):
            if not call.id or call.id in seen:
                rule = "call-ids-unique" if call.id else "call-has-id"
                given_up = next((result.id for result in home if result.id not in taken), "") if not call.id else ""
                new = given_up or draft.fresh_id("toolu_")
                draft.note(call.slot, rule, "changed", f"id {call.id!r} to {new!r}")
                edits.set(call, with_fields(call.block, id=new))
                same = [result for result in home if call.id and result.id == call.id][call.id in mine :]
                for result in same[:1]:
                    result.id = new
                    edits.set(result, with_fields(result.block, tool_use_id=new))
                call.id = new
                taken.add(new)
            seen.add(call.id)
            mine.add(call.id)
    edits.apply()


def pair_results(draft: Draft) -> None:
    """Move results to their calls, answer the calls that have none, and take out what answers nothing."""
    turns = turns_of(draft)
    calls = {CallAt(Call(spot.id), at): spot for at, turn in enumerate(turns) for spot in spots(turn, "assistant")}
    results = {
        ResultAt(Call(spot.id), at, *_beside(turns, at)): spot
        for at, turn in enumerate(turns)
        for spot in spots(turn, "user")
    }
    pair(list(calls), list(results))
    edits = Edits(draft)
    for call, spot in calls.items():
        if call.answer is None:
            draft.note(spot.slot, "call-has-result", "added", f"a result for {spot.id}")
            edits.results.setdefault(call.place, []).append(anthropic_result(call.call))
        else:
            _answered(edits, call, results[call.answer])
    taken = {call.call.id for call in calls}
    for result, spot in results.items():
        if result.call is None:
            _leftover(edits, result, spot, taken)
    edits.apply()
    for at, blocks in edits.results.items():
        _add_results(draft, turns[at], blocks)
    for at, blocks in edits.calls.items():
        _add_calls(draft, turns[at - 1] if at else None, turns[at], blocks)


def _beside(turns: list[TurnAt], at: int) -> tuple[int | None, int | None]:
    """Return the places of the assistant's turns right before and right after the one at *at*."""
    before = at - 1 if at and turns[at - 1].role == "assistant" else None
    return before, at + 1 if at + 1 < len(turns) and turns[at + 1].role == "assistant" else None


def _answered(edits: Edits, call: CallAt, spot: Spot) -> None:
    """Move the answer of *call* to it if it is elsewhere, and give it its id if it has none."""
    block = spot.block
    if not spot.id:
        edits.draft.note(spot.slot, "result-has-id", "changed", f"tool_use_id is {call.call.id}")
        block = with_fields(block, tool_use_id=call.call.id)
        edits.set(spot, block)
    if call.answer is not None and not call.answer.is_home:
        edits.draft.note(spot.slot, "result-has-call", "moved", f"the result of {call.call.id}, to its call")
        edits.set(spot, None)
        edits.results.setdefault(call.place, []).append(block)


def _leftover(edits: Edits, result: ResultAt, spot: Spot, taken: set[str]) -> None:
    """Take out a result that answers nothing, or let a stub of its call stand before it."""
    draft = edits.draft
    restored = any(get(block, "id") == spot.id for blocks in edits.calls.values() for block in blocks)
    rule = "result-has-call" if spot.id else "result-has-id"
    if result.repeated or restored or not draft.restore_calls:
        rule = "one-result-per-call" if result.repeated or restored else rule
        draft.note(spot.slot, rule, "removed", words(spot.block))
        edits.set(spot, None)
        return
    answer = result.result if spot.id and spot.id not in taken else Call(draft.fresh_id("toolu_"))
    if answer.id != spot.id:
        edits.set(spot, with_fields(spot.block, tool_use_id=answer.id))
    draft.note(spot.slot, rule, "added", f"a call for the result of {answer.id}")
    edits.calls.setdefault(result.place, []).append(anthropic_call(answer))


def _add_calls(draft: Draft, before: TurnAt | None, turn: TurnAt, blocks: list[Any]) -> None:
    """Add calls for the results in *turn*: to the assistant's turn before it, or as one."""
    message = {"role": "assistant", "content": blocks}
    if before is not None and before.role == "assistant":
        draft.insert(draft.slots.index(before.slots[-1]) + 1, before.slots[-1].index, message)
    else:
        first = next(slot for slot in turn.slots if slot in draft.slots)
        draft.insert(draft.slots.index(first), first.index, message)


def _add_results(draft: Draft, turn: TurnAt, blocks: list[Any]) -> None:
    """Add results behind the calls of *turn*: to the results that are there, or as a message before what is said."""
    last = turn.slots[-1]
    at = draft.slots.index(last) + 1
    following = draft.slots[at] if at < len(draft.slots) else None
    if following is not None and role_of(following) == "user" and kinds_in(following)[:1] == ["tool_result"]:
        own = listed(following)
        end = next((n for n, kind in enumerate(kinds_in(following)) if kind != "tool_result"), len(own))
        set_blocks(draft, following, [*own[:end], *blocks, *own[end:]])
    else:
        draft.insert(at, last.index, {"role": "user", "content": blocks})
