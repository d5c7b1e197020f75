"""Repairs histories of Anthropic's messages."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from brim.messages.anthropic.reading import (
    SERVER_CALLS,
    THINKING,
    blocks_of,
    is_directive,
    is_empty_text,
    is_open_end,
    kind_of,
)
from brim.messages.anthropic.turns import (
    NO_TURN,
    SIDES,
    Block,
    MessageTurn,
    summaries_of,
    turns_of,
    unpaired_server_tools,
)
from brim.messages.content import with_fields, words
from brim.messages.entries import EntryCall
from brim.messages.markers import within_limit
from brim.messages.repairs import (
    NO_RESULT,
    UNKNOWN_TOOL,
    Half,
    Pairs,
    Pass,
    Repair,
    RepairSlot,
    Sides,
    begin_with_user,
    give_roles,
    pair,
)
from brim.tokens.messages.fields import get, string


def kinds_in(slot: RepairSlot) -> list[str]:
    """Return the types of the blocks in a message."""
    return [kind_of(block) for block in blocks_of(slot.message)]


def as_blocks(values: Iterable[Any]) -> list[Any]:
    """Return *values* with each text as a block."""
    blocks: list[Any] = []
    for value in values:
        if isinstance(value, str):
            blocks.append({"type": "text", "text": value})
        else:
            blocks.append(value)

    return blocks


def blocks_in(slot: RepairSlot) -> list[Any]:
    """Return the blocks of a message, texts among them as blocks."""
    return as_blocks(blocks_of(slot.message))


class Edits(defaultdict[RepairSlot, dict[int, tuple[Any, ...]]]):
    """Blocks to put in place of others, by message and place."""

    def set(self, old: Any, *new: Any) -> None:
        """Put *new* in the place of the block *old*; nothing removes it."""
        is_same = len(new) == 1 and new[0] is blocks_of(old.owner.message)[old.at]
        if not is_same:
            self[old.owner][old.at] = new

    def apply(self, repair: Repair) -> None:
        """Change the messages."""
        for slot, edits in self.items():
            blocks: list[Any] = []
            for at, block in enumerate(blocks_in(slot)):
                blocks += edits.get(at, (block,))

            repair.set_body(slot, blocks)


# Contents


def drop_compacted(repair: Repair) -> None:
    """Remove what stands before the last signed summary, which must come first."""
    summaries = summaries_of(repair.slots)
    if not summaries:
        return

    last, at = summaries[-1]
    for slot in repair.slots[: repair.slots.index(last)]:
        repair.drop(slot, "compaction-first")

    if at > 0:
        blocks = blocks_in(last)
        repair.note(last, "compaction-first", "removed", words(blocks[:at]))
        repair.set_body(last, blocks[at:])


def drop_empty(repair: Repair) -> None:
    """Remove texts without a letter, and messages without content except an open end."""
    for slot, entry in repair.read():
        blocks = blocks_of(slot.message)
        if not blocks:
            is_end = slot is repair.slots[-1] and is_open_end(entry.role, slot.message)
            if not is_end and not is_directive(slot.message):
                repair.drop(slot, "has-content")

            continue

        empty = [block for block in blocks if is_empty_text(block)]
        if empty:
            repair.note(slot, "text-not-empty", "removed", words(empty))
            repair.set_body(slot, [block for block in blocks if not is_empty_text(block)])


def side_of(block: object) -> str:
    """Return who alone may say *block*; empty if both may."""
    return SIDES.get(kind_of(block), "")


MESSAGE_SIDES = Sides(blocks_of, side_of, "assistant")


# System messages


def place_system(repair: Repair) -> None:
    """Move system messages to between a user's turn and an assistant's, or to the end.

    The first system text belongs into the request, which a repair can't change: it becomes a tagged
    text of the user's, and so does one without a legal place nearby.
    """
    turns = turns_of(repair.slots)
    for at, turn in enumerate(turns):
        if turn.role == "system" and at == 0:
            after = turns[1] if len(turns) > 1 else NO_TURN
            for slot in reversed(turn.owners):
                _into_user(repair, slot, after)
        elif turn.role == "system":
            for slot in turn.owners[:-1]:
                _as_user(repair, slot)

            _place_last(repair, turns, at)


def _place_last(repair: Repair, turns: list[MessageTurn], at: int) -> None:
    """Move the last message of the system's turn *at* to a legal place, or let the user say it."""
    turn = turns[at]
    last = turn.owners[-1]
    after = turns[at + 1] if at + 1 < len(turns) else NO_TURN
    second_after = turns[at + 2] if at + 2 < len(turns) else NO_TURN
    may_follow_it = second_after is NO_TURN or second_after.role == "assistant"
    if after.role == "user" and may_follow_it:
        repair.note(last, "system-placement", "moved", "behind the user's turn")
        repair.slots.remove(last)
        repair.insert_after(after.owners[-1], last)
        return

    follows_user = len(turn.owners) > 1 or turns[at - 1].may_precede_system
    if after.role == "user" or not follows_user:
        _as_user(repair, last)


def _as_user(repair: Repair, slot: RepairSlot) -> None:
    """Let the user say it, tagged."""
    text = "a text of the user's, tagged as system"
    repair.change(
        slot,
        "system-placement",
        text,
        role="user",
        content=_tagged(slot),
    )


def _into_user(repair: Repair, slot: RepairSlot, turn: MessageTurn) -> None:
    """Put the first system text into the first message of the user's, or make it that."""
    if turn.role != "user":
        _as_user(repair, slot)
        return

    text = "into the first message of the user's, tagged as system"
    repair.note(slot, "system-placement", "moved", text)
    first = turn.owners[0]
    tagged = _tagged(slot)
    content = get(first.message, "content")
    if isinstance(content, str) and isinstance(get(slot.message, "content"), str):
        first.message = with_fields(first.message, content=f"{tagged[0]['text']}\n\n{content}")
    else:
        blocks = blocks_in(first)
        results = kinds_in(first).count("tool_result")
        repair.set_body(first, blocks[:results] + tagged + blocks[results:])

    repair.slots.remove(slot)


def _tagged(slot: RepairSlot) -> list[Any]:
    """Return what a system message says, between tags."""
    blocks = blocks_in(slot)
    if kinds_in(slot) == ["text"] and isinstance(blocks[0], dict):
        return [with_fields(blocks[0], text=f"<system>\n{blocks[0]['text']}\n</system>")]

    return [{"type": "text", "text": "<system>"}, *blocks, {"type": "text", "text": "</system>"}]


# Pairs


def give_ids(repair: Repair) -> None:
    """Give every call its own id, and the same one to its result."""
    turns = turns_of(repair.slots)
    used_ids: set[str] = set()
    for turn in turns:
        used_ids.update(call.id for call in turn.blocks_of_kind("tool_use"))

    earlier_ids: set[str] = set()
    edits = Edits(dict)
    for turn, after in zip(turns, [*turns[1:], NO_TURN], strict=False):
        calls = turn.blocks_of_kind("tool_use")
        results = after.blocks_of_kind("tool_result")
        PAIRS.give_ids(
            repair,
            calls,
            results,
            earlier_ids,
            used_ids,
        )
        for block in (*calls, *results):
            edits.set(block, block.message)

    edits.apply(repair)


def pair_results(repair: Repair) -> None:
    """Move results to their calls, answer calls without one, and remove what answers nothing."""
    turns = turns_of(repair.slots)
    calls = _placed_calls(turns)
    results = _placed_results(turns)
    pair(calls, results)
    answers: dict[int, list[Any]] = defaultdict(list)
    for call in calls:
        answers[call.place] += [slot.message for slot in PAIRS.result_of(repair, call)]

    edits = Edits(dict)
    stubs = _restored_calls(repair, calls, results, edits)
    edits.apply(repair)
    for at, blocks in answers.items():
        if blocks:
            _add_results(repair, turns[at], blocks)

    for at, blocks in stubs.items():
        if blocks:
            _add_calls(repair, turns, at, blocks)


def _placed_calls(turns: list[MessageTurn]) -> list[Half]:
    calls = []
    for at, turn in enumerate(turns):
        for block in turn.blocks_of_kind("tool_use"):
            calls.append(Half(EntryCall(block.id), at, block))

    return calls


def _placed_results(turns: list[MessageTurn]) -> list[Half]:
    """Return the results, each with the assistant's turns before and behind it."""
    results = []
    for at, turn in enumerate(turns):
        home = at - 1 if at > 0 and turns[at - 1].role == "assistant" else None
        is_before = at + 1 < len(turns) and turns[at + 1].role == "assistant"
        ahead = at + 1 if is_before else None
        for block in turn.blocks_of_kind("tool_result"):
            results.append(
                Half(
                    EntryCall(block.id),
                    at,
                    block,
                    home,
                    ahead,
                )
            )

    return results


def _restored_calls(
    repair: Repair, calls: list[Half], results: list[Half], edits: Edits
) -> dict[int, list[Any]]:
    """Take the results that don't stay from their places.

    Return calls for those that stay without one, by the turns of the results.
    """
    used_ids = {call.call.id for call in calls}
    restored: set[str] = set()
    stubs: dict[int, list[Any]] = defaultdict(list)
    for result in results:
        staying = [result.slot] if result.is_home else []
        if result.other is None:
            result.repeated = result.repeated or result.call.id in restored
            slots = PAIRS.leftover(repair, result, used_ids=used_ids)
            for stub in slots[:1]:
                stubs[result.place].append(stub.message)
                restored.add(stub.message["id"])

            staying = slots[1:]

        edits.set(result.slot, *(slot.message for slot in staying))

    return stubs


def _add_calls(
    repair: Repair,
    turns: list[MessageTurn],
    at: int,
    blocks: list[Any],
) -> None:
    """Add calls to the assistant's turn before the results of the turn *at*, or as one."""
    if at > 0 and turns[at - 1].role == "assistant":
        neighbor = turns[at - 1].owners[-1]
        place = repair.slots.index(neighbor) + 1
    else:
        neighbor = next(slot for slot in turns[at].owners if slot in repair.slots)
        place = repair.slots.index(neighbor)

    message = {"role": "assistant", "content": blocks}
    repair.slots.insert(place, RepairSlot(neighbor.index, message))


def _add_results(repair: Repair, turn: MessageTurn, blocks: list[Any]) -> None:
    """Add results behind the calls of *turn*: to the results that are there, or as a message before
    what is said."""
    last = turn.owners[-1]
    place = repair.slots.index(last) + 1
    following = repair.slots[place] if place < len(repair.slots) else None
    if following is None or not _begins_with_result(following):
        message = {"role": "user", "content": blocks}
        repair.slots.insert(place, RepairSlot(last.index, message))
        return

    own_blocks = blocks_in(following)
    end = 0
    while end < len(own_blocks) and kind_of(own_blocks[end]) == "tool_result":
        end += 1

    repair.set_body(following, own_blocks[:end] + blocks + own_blocks[end:])


def _begins_with_result(slot: RepairSlot) -> bool:
    """Whether a message is the user's and begins with a result."""
    if string(get(slot.message, "role")) != "user":
        return False

    return kinds_in(slot)[:1] == ["tool_result"]


def _stub_result(call: EntryCall) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call.id, "is_error": True, "content": NO_RESULT}


def _stub_call(result: EntryCall) -> dict[str, Any]:
    return {"type": "tool_use", "id": result.id, "name": UNKNOWN_TOOL, "input": {}}


PAIRS = Pairs(
    "result",
    "tool_use_id",
    "toolu_",
    _stub_result,
    _stub_call,
)


# Order


def results_first(repair: Repair) -> None:
    """Put results first in the user's turns: whole messages where that is enough, otherwise
    blocks."""
    for turn in turns_of(repair.slots):
        is_result = [block.kind == "tool_result" for block in turn.blocks]
        if turn.role == "user" and is_result != sorted(is_result, reverse=True):
            start = repair.slots.index(turn.owners[0])
            ordered = _ordered(repair, turn)
            following = [slot for slot in repair.slots[start:] if slot not in turn.owners]
            repair.slots[start:] = ordered + following


def _ordered(repair: Repair, turn: MessageTurn) -> list[RepairSlot]:
    """Return the messages of *turn* with their results first."""
    front: list[RepairSlot] = []
    back: list[RepairSlot] = []
    for slot in turn.owners:
        results = []
        other_blocks = []
        for block in blocks_in(slot):
            if kind_of(block) == "tool_result":
                results.append(block)
            else:
                other_blocks.append(block)

        first_kinds = set(kinds_in(slot)[: len(results)])
        is_mixed = first_kinds - {"tool_result"} != set()
        is_late = bool(results) and (bool(back) or is_mixed)
        if is_late:
            text = "the results, before everything else in the turn"
            repair.note(slot, "results-first", "moved", text)

        if not other_blocks:
            front.append(slot)
            continue

        if back and results:
            front.append(RepairSlot(slot.index, {"role": "user", "content": results}))
            repair.set_body(slot, other_blocks)
        elif is_late:
            repair.set_body(slot, results + other_blocks)

        back.append(slot)

    return front + back


def calls_last(repair: Repair) -> None:
    """Move a text that stands after a call to before the first call of its turn."""
    edits = Edits(dict)
    for turn in turns_of(repair.slots):
        late = _texts_after_call(turn)
        if not late:
            continue

        for owner in dict.fromkeys(block.owner for block in late):
            repair.note(owner, "calls-last", "moved", "the text, before the calls of its turn")

        for block in late:
            edits.set(block)

        first_call = turn.blocks_of_kind("tool_use")[0]
        texts = as_blocks(block.message for block in late)
        edits.set(first_call, *texts, first_call.message)

    edits.apply(repair)


def _texts_after_call(turn: MessageTurn) -> list[Block]:
    """Return the texts behind the first call of *turn*."""
    calls = turn.blocks_of_kind("tool_use")
    if not calls:
        return []

    start = turn.blocks.index(calls[0])
    return [block for block in turn.blocks[start:] if block.kind == "text"]


# The provider's own tools


def pair_server_tools(repair: Repair) -> None:
    """Remove results of the provider's tools without calls, and give an error to calls whose turn
    is over."""
    edits = Edits(dict)
    restored: set[str] = set()
    for block in unpaired_server_tools(turns_of(repair.slots)):
        if block.kind in SERVER_CALLS:
            edits.set(block, *_with_error(repair, block))
        elif block.id not in restored:
            new_blocks = _with_call(repair, block)
            edits.set(block, *new_blocks)
            if new_blocks:
                restored.add(block.id)

    edits.apply(repair)


def _with_error(repair: Repair, call: Block) -> list[Any]:
    """Return *call* with an error as its result, or nothing if it can't have one."""
    name = string(get(call.message, "name"))
    if not call.id or not name:
        repair.note(call, "server-call-has-result", "removed", words(call.message))
        return []

    repair.note(call, "server-call-has-result", "added", f"an error as the result of {call.id}")
    if call.kind == "mcp_tool_use":
        result = {
            "type": "mcp_tool_result",
            "tool_use_id": call.id,
            "is_error": True,
            "content": [{"type": "text", "text": NO_RESULT}],
        }
    else:
        result = {
            "type": f"{name}_tool_result",
            "tool_use_id": call.id,
            "content": {"type": f"{name}_tool_result_error", "error_code": "unavailable"},
        }

    return [call.message, result]


def _with_call(repair: Repair, result: Block) -> list[Any]:
    """Return what becomes of a result without its call: nothing, or itself behind a stub of it."""
    if not repair.restore_calls or not result.id:
        repair.note(result, "server-result-has-call", "removed", words(result.message))
        return []

    repair.note(result, "server-result-has-call", "added", f"a call for the result of {result.id}")
    name = result.kind.removesuffix("_tool_result")
    stub = {"type": "server_tool_use", "id": result.id, "name": name, "input": {}}
    if name == "mcp":
        stub.update(type="mcp_tool_use", name=UNKNOWN_TOOL, server_name="unknown")

    return [stub, result.message]


# The end, and the markers


def drop_last_thinking(repair: Repair) -> None:
    """Remove thinking that leads to nothing, at the end of the history."""
    turns = turns_of(repair.slots)
    if not turns or turns[-1].role != "assistant":
        return

    for slot in reversed(turns[-1].owners):
        blocks = blocks_in(slot)
        end = len(blocks)
        while end and kind_of(blocks[end - 1]) in THINKING:
            end -= 1

        if end < len(blocks):
            repair.note(slot, "reasoning-not-last", "removed", words(blocks[end:]))
            repair.set_body(slot, blocks[:end])

        if end:
            break


def remove_markers(repair: Repair) -> None:
    """Remove the oldest cache markers if there are more than the API accepts."""
    messages, _ = within_limit([slot.message for slot in repair.slots], 0)
    for slot, message in zip(repair.slots, messages, strict=True):
        if message is not slot.message:
            text = "a cache marker that is one too many was removed"
            repair.note(slot, "few-markers", "changed", text)
            slot.message = message


PASSES: tuple[Pass, ...] = (
    give_roles,
    drop_compacted,
    drop_empty,
    MESSAGE_SIDES.split,
    place_system,
    give_ids,
    pair_results,
    results_first,
    calls_last,
    pair_server_tools,
    drop_last_thinking,
    begin_with_user,
    remove_markers,
)
