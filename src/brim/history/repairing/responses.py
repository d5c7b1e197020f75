"""Repairs OpenAI's Responses format: every call gets an output somewhere behind it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brim.history.editing import with_fields, without_field
from brim.history.reading.responses import ANSWERED
from brim.history.repairing.draft import Draft, Pass, Slot
from brim.history.repairing.pairing import CallAt, ResultAt, pair
from brim.history.repairing.roles import give_roles
from brim.history.repairing.stubs import response_call, response_output
from brim.history.repairing.words import words
from brim.tokens.messages.fields import get, string

if TYPE_CHECKING:
    from brim.history.reading.entry import Entry

Read = list[tuple[Slot, "Entry"]]
ALIKE = ("function", "custom_tool")
"""Kinds of calls whose outputs differ in nothing but their type."""


def drop_copies(draft: Draft) -> None:
    """Take out an item that stands there twice; take the id from another item that has the same one."""
    first: dict[str, Slot] = {}
    for slot, entry in draft.read():
        if not entry.id or entry.id not in first:
            first[entry.id] = slot
        elif _is_copy(slot, first[entry.id]):
            draft.note(slot, "item-ids-unique", "removed", words(slot.message))
            draft.remove(slot)
        else:
            draft.note(slot, "item-ids-unique", "changed", f"without its id {entry.id}")
            slot.message = without_field(slot.message, "id")


def _is_copy(slot: Slot, first: Slot) -> bool:
    if string(get(slot.message, "type")) == "item_reference":
        return True
    try:
        return bool(slot.message == first.message)
    except Exception:  # a stranger's class may refuse to be compared
        return False


def give_ids(draft: Draft) -> None:
    """Give an id to every call that has none: that of an output behind it that nobody waits for, or a new one."""
    read = draft.read()
    called = {call.key for _, entry in read for call in entry.calls}
    for at, (slot, entry) in enumerate(read):
        if entry.rule != "call-has-id":
            continue
        kind = entry.calls[0].kind
        waiting = (result for _, other in read[at:] for result in other.results)
        orphan = next(
            (result for result in waiting if result.id and result.kind == kind and result.key not in called), None
        )
        new = orphan.id if orphan is not None else draft.fresh_id("call_")
        called.add((kind, new))
        draft.note(slot, "call-has-id", "changed", f"call_id is {new}")
        slot.message = with_fields(slot.message, call_id=new)


def align_kinds(draft: Draft) -> None:
    """Give an output the type that its call wants, where an output of another type has its id."""
    read = draft.read()
    called = {call.key for _, entry in read for call in entry.calls}
    answered = {result.key for _, entry in read for result in entry.results}
    for slot, entry in read:
        for result in entry.results:
            other = ALIKE[1 - ALIKE.index(result.kind)] if result.kind in ALIKE else ""
            meant = (other, result.id)
            if other and result.id and result.key not in called and meant in called and meant not in answered:
                draft.note(slot, "result-has-call", "changed", f"type is {other}_call_output, as its call wants")
                slot.message = with_fields(slot.message, type=f"{other}_call_output")
                answered.add(meant)


def pair_outputs(draft: Draft) -> None:
    """Put an output behind its call, answer the calls that have none, and take out what answers nothing."""
    read = draft.read()
    calls = [CallAt(call, at) for at, (_, entry) in enumerate(read) for call in entry.calls if call.id]
    results = {
        at: ResultAt(entry.results[0], at, None, _call_behind(read, at))
        for at, (_, entry) in enumerate(read)
        if entry.results
    }
    pair(calls, list(results.values()))
    late = _added(draft, calls, read)
    rebuilt: list[Slot] = []
    for at, (slot, _) in enumerate(read):
        result = results.get(at)
        if result is None:
            rebuilt.append(slot)
        elif result.call is None:
            rebuilt += _leftover(draft, slot, result)
        elif result.call.place < at:
            rebuilt.append(_with_id(draft, slot, result))
        rebuilt += late.get(at, [])
    draft.slots = rebuilt


def _call_behind(read: Read, at: int) -> int | None:
    """Return the place of the item after the output at *at* and the outputs beside it."""
    return next((other for other in range(at + 1, len(read)) if not read[other][1].results), None)


def _added(draft: Draft, calls: list[CallAt], read: Read) -> dict[int, list[Slot]]:
    """Return what must be added behind which item: stubs, and outputs that stood before their calls."""
    added: dict[int, list[Slot]] = {}
    for call in calls:
        caller = read[call.place][0]
        if call.answer is not None and call.answer.place < call.place:
            slot = read[call.answer.place][0]
            draft.note(slot, "result-has-call", "moved", f"the output of {call.call.id}, to its call")
        elif call.answer is None and call.call.required:
            slot = Slot(caller.index, response_output(call.call))
            draft.note(caller, "call-has-result", "added", f"an output for {call.call.id}")
        else:
            continue
        end = call.place
        while end + 1 < len(read) and read[end + 1][1].calls:
            end += 1
        added.setdefault(end, []).append(slot)
    return added


def _with_id(draft: Draft, slot: Slot, result: ResultAt) -> Slot:
    if not result.result.id and result.call is not None:
        field = "approval_request_id" if result.result.kind == "mcp" else "call_id"
        draft.note(slot, "result-has-id", "changed", f"{field} is {result.call.call.id}")
        slot.message = with_fields(slot.message, **{field: result.call.call.id})
    return slot


def _leftover(draft: Draft, slot: Slot, result: ResultAt) -> list[Slot]:
    """Return what becomes of an output that answers nothing: nothing, or itself behind a stub of its call."""
    rule = "one-result-per-call" if result.repeated else "result-has-call" if result.result.id else "result-has-id"
    if result.repeated or not draft.restore_calls or result.result.kind not in ANSWERED:
        draft.note(slot, rule, "removed", words(slot.message))
        return []
    if not result.result.id:
        slot.message = with_fields(slot.message, call_id=draft.fresh_id("call_"))
    answer = Draft([slot], "responses").read()[0][1].results[0]
    draft.note(slot, rule, "added", f"a call for the output of {answer.id}")
    return [Slot(slot.index, response_call(answer)), slot]


def fill_content(draft: Draft) -> None:
    """Make content an empty text where it must not be null."""
    for slot, entry in draft.read():
        if entry.rule == "has-content":
            draft.note(slot, "has-content", "changed", "content is an empty text")
            slot.message = with_fields(slot.message, content="")


def drop_loose_reasoning(draft: Draft) -> None:
    """Take out reasoning that nothing of the assistant's follows."""
    leads_on = False
    for slot, entry in reversed(draft.read()):
        if not entry.reasons:
            leads_on = entry.role == "assistant"
        elif not leads_on:
            draft.note(slot, "reasoning-has-item", "removed", words(slot.message))
            draft.remove(slot)


PASSES: tuple[Pass, ...] = (
    give_roles,
    drop_copies,
    give_ids,
    align_kinds,
    pair_outputs,
    fill_content,
    drop_loose_reasoning,
)
