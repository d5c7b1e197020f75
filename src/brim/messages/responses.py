"""OpenAI's Responses format.

An output comes anywhere after its call, reasoning before what it led to. This module reads it,
checks it (``check``) and repairs it (``PASSES``); ``broken`` finds what a pruner must drop.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

from brim.messages.content import without_field
from brim.messages.entries import NO_FAULT, Entry, EntryCall, Role, unknown_role
from brim.messages.receipt import Violation
from brim.messages.repairs import (
    NO_RESULT,
    UNKNOWN_TOOL,
    Half,
    Pairs,
    Pass,
    Repair,
    RepairSlot,
    fill_content,
    give_roles,
    pair,
)
from brim.messages.rules import calls_have_ids, known_roles, results_have_ids
from brim.tokens.messages.fields import get, string

ANSWERED = ("function", "custom_tool", "computer", "local_shell", "shell", "apply_patch")
"""Families of calls that the caller's own program answers: ``X_call`` with ``X_call_output``."""
HOSTED = frozenset(
    (
        *(
            "web_search_call",
            "file_search_call",
            "code_interpreter_call",
            "image_generation_call",
            "mcp_call",
        ),
        *(
            "mcp_list_tools",
            "tool_search_call",
            "tool_search_output",
            "compaction",
            "item_reference",
        ),
    )
)
"""Items of the assistant's side that need no answer: the provider's own tools hold theirs."""
TYPES = HOSTED.union(
    (f"{family}_call{end}" for family in ANSWERED for end in ("", "_output")),
    ("mcp_approval_request", "mcp_approval_response", "reasoning", "message"),
)
"""The types of items that are known here. The API's list grows, so another type is not an error."""
ROLES: dict[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
}
ALIKE = ("function", "custom_tool")
"""Kinds of calls whose outputs differ only in their type."""
NO_PICTURE = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII="
"""One transparent pixel: the answer of a computer must be a picture."""
NO_ID = "__fake_id__"
"""What the OpenAI Agents SDK writes as the id of items that have none; it sends them without it."""


# Reading


def read_item(index: int, message: object) -> Entry:
    """Return what the item *message* holds."""
    kind, own_id = string(get(message, "type")), string(get(message, "id"))
    own_id = "" if own_id == NO_ID else own_id
    if kind in ("", "message"):
        return _read_message(index, message, own_id)
    if kind == "reasoning":
        return Entry(index, message, "assistant", reasons=True, ends_in_reasoning=True, id=own_id)
    family = kind.removesuffix("_output").removesuffix("_call")
    call_id = string(get(message, "call_id")) or (own_id if family == "local_shell" else "")
    call, what = (
        EntryCall(call_id, string(get(message, "name")), family, family in ANSWERED),
        "an output has no call_id",
    )
    if kind == "mcp_approval_request":
        call = EntryCall(own_id, kind="mcp", required=False)
    elif kind == "mcp_approval_response":
        field = "approval_request_id"
        call, what = (
            EntryCall(string(get(message, field)), kind="mcp"),
            f"an approval has no {field}",
        )
    elif kind in HOSTED or not (family in ANSWERED or call_id):
        return Entry(
            index, message, "assistant", says=True, id=own_id, compacts=kind == "compaction"
        )
    if kind.endswith("_output") or kind == "mcp_approval_response":
        own_id = (
            "" if call_id == own_id else own_id
        )  # a local shell's output has the id of its call
        fault = NO_FAULT if call.id else ("result-has-id", what)
        return Entry(index, message, "tool", results=(call,), id=own_id, fault=fault)
    fault = NO_FAULT if call.id or not call.required else ("call-has-id", "a call has no call_id")
    return Entry(index, message, "assistant", calls=(call,), id=own_id, fault=fault)


def _read_message(index: int, message: object, own_id: str) -> Entry:
    name = string(get(message, "role"))
    role = ROLES.get(name, "")
    if not role:
        shown = f"{name!r} is not a role" if name else "it has neither a type nor a role"
        return unknown_role(index, message, own_id, f"{shown} that the API knows")
    if get(message, "content") is None:
        return Entry(index, message, role, id=own_id, fault=("has-content", "it has no content"))
    return Entry(index, message, role, says=True, id=own_id)


# Checking


def check(history: Sequence[Entry]) -> Iterator[Violation]:
    """Yield every place where *history* breaks a rule."""
    yield from known_roles(history)
    for entry in history:
        is_message = string(get(entry.message, "type")) in ("", "message")
        if entry.role and is_message and get(entry.message, "content") is None:
            yield Violation(entry.index, "has-content", "it has no content")
    yield from calls_have_ids(history)
    yield from results_have_ids(history)
    yield from _check_pairs(history)
    for entry in _loose_reasoning(history):
        yield Violation(
            entry.index, "reasoning-has-item", "nothing of the assistant's follows this reasoning"
        )
    seen = set()
    for entry in history:
        if entry.id and entry.id in seen:
            yield Violation(
                entry.index, "item-ids-unique", f"an item with the id {entry.id} stands before it"
            )
        seen.add(entry.id)


def _loose_reasoning(history: Sequence[Entry]) -> Iterator[Entry]:
    """Yield reasoning that nothing of the assistant's follows, last first."""
    leads_on = False
    for entry in reversed(history):
        if not entry.reasons:
            leads_on = entry.role == "assistant"
        elif not leads_on:
            yield entry


def _check_pairs(history: Sequence[Entry]) -> Iterator[Violation]:
    """Each output answers the nearest call before it that has its kind and id and no output yet."""
    waiting: dict[tuple[str, str], list[tuple[Entry, EntryCall]]] = {}
    for entry in history:
        for call in entry.calls:
            if call.id:
                waiting.setdefault(call.key, []).append((entry, call))
        for result in entry.results:
            if result.id and result.key not in waiting:
                text = f"no {result.kind} call with the id {result.id} stands before this output"
                yield Violation(entry.index, "result-has-call", text)
            elif result.id and not waiting[result.key]:
                yield Violation(
                    entry.index,
                    "one-result-per-call",
                    f"the call {result.id} has been answered before",
                )
            elif result.id:
                waiting[result.key].pop()
    for entry, call in (each for calls in waiting.values() for each in calls):
        if call.required:
            yield Violation(
                entry.index, "call-has-result", f"the call {call.id} has no output after it"
            )


def runs(entries: Sequence[Entry]) -> Iterator[range]:
    """Yield the places of each run of items that one response gave: reasoning and all that follows,
    or parallel calls.

    The API doesn't say where a response begins. Items of the assistant's side that stand together
    and hold reasoning are taken as one; without reasoning, only calls that stand together are.
    """
    at = 0
    while at < len(entries):
        first, end = entries[at], at + 1
        while first.role == "assistant" and end < len(entries) and entries[end].role == "assistant":
            if not first.reasons and not (first.calls and entries[end].calls):
                break
            end += 1
        if first.role == "assistant":
            yield range(at, end)
        at = end


# Repairing


def drop_copies(repair: Repair) -> None:
    """Remove an item that stands there twice.

    Take the id from a different item that has the same one.
    """
    first: dict[str, RepairSlot] = {}
    for slot, entry in repair.read():
        if not entry.id or entry.id not in first:
            first[entry.id] = slot
        elif _is_copy(slot, first[entry.id]):
            repair.drop(slot, "item-ids-unique")
        else:
            repair.note(slot, "item-ids-unique", "changed", f"without its id {entry.id}")
            slot.message = without_field(slot.message, "id")


def _is_copy(slot: RepairSlot, first: RepairSlot) -> bool:
    try:
        return string(get(slot.message, "type")) == "item_reference" or bool(
            slot.message == first.message
        )
    except Exception:  # a class may refuse to be compared
        return False


def give_ids(repair: Repair) -> None:
    """Give every call an id: that of an output behind it without a call, or a new one."""
    read = repair.read()
    called = {call.key for _, entry in read for call in entry.calls}
    for at, (slot, entry) in enumerate(read):
        if entry.rule != "call-has-id":
            continue
        kind = entry.calls[0].kind
        behind = (
            result
            for _, other in read[at:]
            for result in other.results
            if result.id and result.kind == kind
        )
        new = next(
            (result.id for result in behind if result.key not in called), ""
        ) or repair.fresh_id("call_")
        called.add((kind, new))
        repair.change(slot, "call-has-id", f"call_id is {new}", call_id=new)


def align_kinds(repair: Repair) -> None:
    """Give an output the type that its call wants, where an output of another type has its id."""
    read = repair.read()
    called = {call.key for _, entry in read for call in entry.calls}
    answered = {result.key for _, entry in read for result in entry.results}
    for slot, entry in read:
        for result in entry.results:
            other = ALIKE[1 - ALIKE.index(result.kind)] if result.kind in ALIKE else ""
            meant = (other, result.id)
            if (
                other
                and result.id
                and result.key not in called
                and meant in called
                and meant not in answered
            ):
                kind = f"{other}_call_output"
                repair.change(
                    slot, "result-has-call", f"type is {kind}, as its call wants", type=kind
                )
                answered.add(meant)


def pair_outputs(repair: Repair) -> None:
    """Put an output behind its call, answer calls without one, and remove what answers nothing."""
    read = repair.read()
    calls = [
        Half(call, at, slot)
        for at, (slot, entry) in enumerate(read)
        for call in entry.calls
        if call.id
    ]
    results: dict[int, Half] = {}
    behind: int | None = None  # the item after an output and the outputs next to it
    for at, (slot, entry) in reversed(list(enumerate(read))):
        if entry.results:
            results[at] = Half(entry.results[0], at, slot, ahead=behind)
        else:
            behind = at
    pair(calls, [results[at] for at in sorted(results)])
    added: dict[int, list[RepairSlot]] = defaultdict(list)
    for call in calls:
        if call.other is not None and call.place < call.other.place:
            call.other.home = call.place  # it may stand anywhere behind its call
        if call.other is not None or call.call.required:
            end = call.place
            while end + 1 < len(read) and read[end + 1][1].calls:
                end += 1
            added[end] += PAIRS.result_of(repair, call)
    repair.slots = []
    for at, (slot, _) in enumerate(read):
        result = results.get(at)
        if result is not None and result.other is None:
            repair.slots += PAIRS.leftover(repair, result, restore=result.call.kind in ANSWERED)
        elif result is None or result.is_home:
            repair.slots.append(slot)
        repair.slots += added[at]


def _stub_output(call: EntryCall) -> dict[str, Any]:
    outcome = {"type": "exit", "exit_code": 1}
    extras: dict[str, dict[str, Any]] = {
        "computer": {"output": {"type": "computer_screenshot", "image_url": NO_PICTURE}},
        "shell": {"output": [{"stdout": "", "stderr": NO_RESULT, "outcome": outcome}]},
        "apply_patch": {"status": "failed"},
        "local_shell": {"id": call.id},
    }
    answer = {"type": f"{call.kind}_call_output", "call_id": call.id, "output": NO_RESULT}
    return {**answer, **extras.get(call.kind, {})}


def _stub_call(output: EntryCall) -> dict[str, Any]:
    name = output.name or UNKNOWN_TOOL
    extras: dict[str, dict[str, Any]] = {
        "function": {"name": name, "arguments": "{}"},
        "custom_tool": {"name": name, "input": ""},
        "computer": {
            "action": {"type": "screenshot"},
            "pending_safety_checks": [],
            "status": "completed",
        },
        "shell": {"action": {"commands": []}, "status": "completed"},
        "local_shell": {
            "action": {"type": "exec", "command": [], "env": {}},
            "status": "completed",
        },
        "apply_patch": {
            "operation": {"type": "delete_file", "path": "unknown"},
            "status": "completed",
        },
    }
    return {"type": f"{output.kind}_call", "call_id": output.id, **extras[output.kind]}


PAIRS = Pairs(
    ("an output", "output"),
    "call_id",
    "call_",
    _stub_output,
    _stub_call,
    {"mcp": "approval_request_id"},
)


def drop_loose_reasoning(repair: Repair) -> None:
    """Remove reasoning that nothing of the assistant's follows."""
    slots = {id(entry): slot for slot, entry in repair.read()}
    for entry in _loose_reasoning([entry for _, entry in repair.read()]):
        repair.drop(slots[id(entry)], "reasoning-has-item")


PASSES: tuple[Pass, ...] = (
    *(
        give_roles,
        drop_copies,
        give_ids,
        align_kinds,
        pair_outputs,
        fill_content,
        drop_loose_reasoning,
    ),
)
