"""OpenAI's Responses format.

An output comes anywhere after its call, reasoning before what it led to. This module reads it,
checks it (``check``), finds what a pruner must drop (``find_broken``) and repairs it (``PASSES``).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

from brim.messages.content import without_field
from brim.messages.entries import NO_FAULT, Entry, EntryCall, Role, named, unknown_role
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
        "web_search_call",
        "file_search_call",
        "code_interpreter_call",
        "image_generation_call",
        "mcp_call",
        "mcp_list_tools",
        "tool_search_call",
        "tool_search_output",
        "compaction",
        "item_reference",
    )
)
"""Items of the assistant's side that need no answer: the provider's own tools hold theirs."""
TYPES = HOSTED.union(
    (f"{family}_call" for family in ANSWERED),
    (f"{family}_call_output" for family in ANSWERED),
    ("mcp_approval_request", "mcp_approval_response", "reasoning", "message"),
)
"""The types of items that are known here. The API's list grows, so another type is not an error."""
ROLES: dict[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
}
ALIKE = {"function": "custom_tool", "custom_tool": "function"}
"""Kinds of calls whose outputs differ only in their type."""
NO_PICTURE = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk"
    "+A8AAQUBAScY42YAAAAASUVORK5CYII="
)
"""One transparent pixel: the answer of a computer must be a picture."""
NO_ID = "__fake_id__"
"""What the OpenAI Agents SDK writes as the id of items that have none; it sends them without it."""


# Reading


def read_item(index: int, message: object) -> Entry:
    """Return what the item *message* holds."""
    kind = string(get(message, "type"))
    own_id = string(get(message, "id"))
    if own_id == NO_ID:
        own_id = ""

    if kind in ("", "message"):
        return _read_message(index, message, own_id)

    if kind == "reasoning":
        return Entry(
            index,
            message,
            "assistant",
            reasons=True,
            ends_in_reasoning=True,
            id=own_id,
        )

    if kind == "mcp_approval_request":
        call = EntryCall(own_id, kind="mcp", required=False)
        return _call_entry(index, message, call, own_id)

    if kind == "mcp_approval_response":
        call = EntryCall(string(get(message, "approval_request_id")), kind="mcp")
        problem = "an approval has no approval_request_id"
        return _output_entry(
            index,
            message,
            call,
            own_id,
            problem,
        )

    return _read_tool_item(index, message, kind, own_id)


def _read_tool_item(
    index: int,
    message: object,
    kind: str,
    own_id: str,
) -> Entry:
    """Return what a call of a tool or its output holds."""
    family = kind.removesuffix("_output").removesuffix("_call")
    call_id = string(get(message, "call_id"))
    if not call_id and family == "local_shell":
        call_id = own_id

    if kind in HOSTED or not (family in ANSWERED or call_id):
        is_summary = kind == "compaction"
        return Entry(
            index,
            message,
            "assistant",
            says=True,
            id=own_id,
            compacts=is_summary,
        )

    call = EntryCall(call_id, string(get(message, "name")), family, family in ANSWERED)
    if kind.endswith("_output"):
        return _output_entry(
            index,
            message,
            call,
            own_id,
            "an output has no call_id",
        )

    return _call_entry(index, message, call, own_id)


def _call_entry(
    index: int,
    message: object,
    call: EntryCall,
    own_id: str,
) -> Entry:
    fault = NO_FAULT
    if call.required and not call.id:
        fault = ("call-has-id", "a call has no call_id")

    return Entry(
        index,
        message,
        "assistant",
        calls=(call,),
        id=own_id,
        fault=fault,
    )


def _output_entry(
    index: int,
    message: object,
    call: EntryCall,
    own_id: str,
    problem: str,
) -> Entry:
    fault = NO_FAULT
    if not call.id:
        fault = ("result-has-id", problem)

    if own_id == call.id and call.kind != "mcp":
        own_id = ""  # a local shell's output has the id of its call

    return Entry(
        index,
        message,
        "tool",
        results=(call,),
        id=own_id,
        fault=fault,
    )


def _read_message(index: int, message: object, own_id: str) -> Entry:
    name = string(get(message, "role"))
    role = ROLES.get(name, "")
    if not role:
        problem = f"{name!r} is not a role" if name else "it has neither a type nor a role"
        return unknown_role(index, message, own_id, f"{problem} that the API knows")

    if get(message, "content") is None:
        return Entry(
            index,
            message,
            role,
            id=own_id,
            fault=("has-content", "it has no content"),
        )

    return Entry(
        index,
        message,
        role,
        says=True,
        id=own_id,
    )


def runs(entries: Sequence[Entry]) -> Iterator[range]:
    """Yield the places of each run of items that one response gave: reasoning and all that follows,
    or parallel calls.

    The API doesn't say where a response begins. Items of the assistant's side that stand together
    and hold reasoning are taken as one; without reasoning, only calls that stand together are.
    """
    at = 0
    while at < len(entries):
        end = at + 1
        if entries[at].role == "assistant":
            while end < len(entries) and _goes_on(entries[at], entries[end]):
                end += 1

            yield range(at, end)

        at = end


def _goes_on(first: Entry, item: Entry) -> bool:
    """Whether *item* may belong to the response that begins with *first*."""
    if item.role != "assistant":
        return False

    return first.reasons or bool(first.calls and item.calls)


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
        text = "nothing of the assistant's follows this reasoning"
        yield Violation(entry.index, "reasoning-has-item", text)

    earlier_ids: set[str] = set()
    for entry in history:
        if entry.id and entry.id in earlier_ids:
            text = f"an item with the id {entry.id} stands before it"
            yield Violation(entry.index, "item-ids-unique", text)

        earlier_ids.add(entry.id)


def _loose_reasoning(history: Sequence[Entry]) -> Iterator[Entry]:
    """Yield reasoning that nothing of the assistant's follows, last first."""
    leads_on = False
    for entry in reversed(history):
        if not entry.reasons:
            leads_on = entry.role == "assistant"
        elif not leads_on:
            yield entry


OpenCalls = dict[tuple[str, str], list[tuple[Entry, EntryCall]]]
"""Calls without an output so far, by their kind and id, with their items."""


def _check_pairs(history: Sequence[Entry]) -> Iterator[Violation]:
    """Each output answers the nearest call before it that has its kind and id and no output yet."""
    open_calls: OpenCalls = {}
    for entry in history:
        for call in entry.calls:
            if call.id:
                open_calls.setdefault(call.key, []).append((entry, call))

        for result in entry.results:
            if result.id:
                yield from _check_result(entry, result, open_calls)

    for unanswered in open_calls.values():
        for entry, call in unanswered:
            if call.required:
                text = f"the call {call.id} has no output after it"
                yield Violation(entry.index, "call-has-result", text)


def _check_result(entry: Entry, result: EntryCall, open_calls: OpenCalls) -> Iterator[Violation]:
    """Close the call that *result* answers."""
    if result.key not in open_calls:
        text = f"no {result.kind} call with the id {result.id} stands before this output"
        yield Violation(entry.index, "result-has-call", text)
    elif not open_calls[result.key]:
        text = f"the call {result.id} has been answered before"
        yield Violation(entry.index, "one-result-per-call", text)
    else:
        open_calls[result.key].pop()


# What a pruner must drop


def find_broken(entries: Sequence[Entry]) -> dict[int, str]:
    """Return the items that can't be sent next to the others: index and reason."""
    broken: dict[int, str] = {}
    earlier_ids: set[str] = set()
    for entry in entries:
        if entry.id and entry.id in earlier_ids:
            broken[entry.index] = f"an item with the id {entry.id} stands before it"

        earlier_ids.add(entry.id)

    broken.update(_broken_pairs(entries))
    leads_on = False
    for entry in reversed(entries):
        if not entry.reasons:
            leads_on = entry.role == "assistant"
        elif not leads_on:
            broken[entry.index] = "the reasoning leads to nothing"

    return broken


def _broken_pairs(entries: Sequence[Entry]) -> dict[int, str]:
    """Return outputs without calls, and responses with calls that have no output."""
    required: dict[tuple[str, str], list[int]] = defaultdict(list)
    optional: dict[tuple[str, str], int] = defaultdict(int)
    broken: dict[int, str] = {}
    for at, entry in enumerate(entries):
        for call in entry.calls:
            if call.required:
                required[call.key].append(at)
            else:
                optional[call.key] += 1

        for result in entry.results:
            if required[result.key]:
                required[result.key].pop()
            elif optional[result.key]:
                optional[result.key] -= 1
            else:
                broken[entry.index] = "it answers no call before it"

    unanswered: set[int] = set()
    for places in required.values():
        unanswered.update(places)

    if unanswered:
        broken.update(_unanswered_runs(entries, unanswered))

    return broken


def _unanswered_runs(entries: Sequence[Entry], unanswered: set[int]) -> dict[int, str]:
    """Return the calls and the reasoning of each run with a call at one of the places
    *unanswered*."""
    broken: dict[int, str] = {}
    for run in _led_by_reasoning(entries):
        missing = [entries[at].calls[0].id for at in run if at in unanswered]
        if not missing:
            continue

        for at in run:
            if entries[at].calls or entries[at].reasons:
                broken[entries[at].index] = f"{named(missing)} has no result"

    return broken


def _led_by_reasoning(entries: Sequence[Entry]) -> Iterator[range]:
    """Yield the runs, divided before each reasoning that follows something else: it led to what
    comes after it."""
    for run in runs(entries):
        start = run.start
        for at in run[1:]:
            if entries[at].reasons and not entries[at - 1].reasons:
                yield range(start, at)
                start = at

        yield range(start, run.stop)


# Repairing


def drop_copies(repair: Repair) -> None:
    """Remove an item that stands there twice.

    Take the id from a different item that has the same one.
    """
    originals: dict[str, RepairSlot] = {}
    for slot, entry in repair.read():
        if not entry.id or entry.id not in originals:
            originals[entry.id] = slot
        elif _is_copy(slot, originals[entry.id]):
            repair.drop(slot, "item-ids-unique")
        else:
            repair.note(
                slot,
                "item-ids-unique",
                "changed",
                f"without its id {entry.id}",
            )
            slot.message = without_field(slot.message, "id")


def _is_copy(slot: RepairSlot, original: RepairSlot) -> bool:
    try:
        if string(get(slot.message, "type")) == "item_reference":
            return True

        return bool(slot.message == original.message)
    except Exception:  # a class may refuse to be compared
        return False


def give_ids(repair: Repair) -> None:
    """Give every call an id: that of an output behind it without a call, or a new one."""
    slots = repair.read()
    called = _keys_of_calls(slots)
    for at, (slot, entry) in enumerate(slots):
        if entry.rule != "call-has-id":
            continue

        kind = entry.calls[0].kind
        new_id = _unclaimed_id(slots[at:], kind, called) or repair.fresh_id("call_")
        called.add((kind, new_id))
        repair.change(slot, "call-has-id", f"call_id is {new_id}", call_id=new_id)


def _keys_of_calls(slots: list[tuple[RepairSlot, Entry]]) -> set[tuple[str, str]]:
    return {call.key for _, entry in slots for call in entry.calls}


def _unclaimed_id(
    slots: list[tuple[RepairSlot, Entry]], kind: str, called: set[tuple[str, str]]
) -> str:
    """Return the id of the first output of *kind* that answers none of the calls."""
    for _, entry in slots:
        for result in entry.results:
            if result.id and result.kind == kind and result.key not in called:
                return result.id

    return ""


def align_kinds(repair: Repair) -> None:
    """Give an output the type that its call wants, where an output of another type has its id."""
    slots = repair.read()
    called = _keys_of_calls(slots)
    answered = {result.key for _, entry in slots for result in entry.results}
    for slot, entry in slots:
        for result in entry.results:
            if not result.id or result.key in called or result.kind not in ALIKE:
                continue

            other_kind = ALIKE[result.kind]
            other_key = (other_kind, result.id)
            if other_key in called and other_key not in answered:
                kind = f"{other_kind}_call_output"
                text = f"type is {kind}, as its call wants"
                repair.change(slot, "result-has-call", text, type=kind)
                answered.add(other_key)


def pair_outputs(repair: Repair) -> None:
    """Put an output behind its call, answer calls without one, and remove what answers nothing."""
    slots = repair.read()
    calls = _placed_calls(slots)
    outputs = _placed_outputs(slots)
    pair(calls, [outputs[at] for at in sorted(outputs)])
    added: dict[int, list[RepairSlot]] = defaultdict(list)
    for call in calls:
        if call.other is not None and call.place < call.other.place:
            call.other.home = call.place  # it may stand anywhere behind its call

        if call.other is not None or call.call.required:
            end = call.place
            while end + 1 < len(slots) and slots[end + 1][1].calls:
                end += 1

            added[end] += PAIRS.result_of(repair, call)

    repair.slots = []
    for at, (slot, _) in enumerate(slots):
        output = outputs.get(at)
        if output is None or output.is_home:
            repair.slots.append(slot)
        elif output.other is None:
            restore = output.call.kind in ANSWERED
            repair.slots += PAIRS.leftover(repair, output, restore=restore)

        repair.slots += added[at]


def _placed_calls(slots: list[tuple[RepairSlot, Entry]]) -> list[Half]:
    calls = []
    for at, (slot, entry) in enumerate(slots):
        calls += [Half(call, at, slot) for call in entry.calls if call.id]

    return calls


def _placed_outputs(slots: list[tuple[RepairSlot, Entry]]) -> dict[int, Half]:
    """Return every output by its place, with the item after it and the outputs next to it."""
    outputs: dict[int, Half] = {}
    behind: int | None = None
    for at in range(len(slots) - 1, -1, -1):
        slot, entry = slots[at]
        if entry.results:
            outputs[at] = Half(entry.results[0], at, slot, ahead=behind)
        else:
            behind = at

    return outputs


def _stub_output(call: EntryCall) -> dict[str, Any]:
    outcome = {"type": "exit", "exit_code": 1}
    fields: dict[str, dict[str, Any]] = {
        "computer": {"output": {"type": "computer_screenshot", "image_url": NO_PICTURE}},
        "shell": {"output": [{"stdout": "", "stderr": NO_RESULT, "outcome": outcome}]},
        "apply_patch": {"status": "failed"},
        "local_shell": {"id": call.id},
    }
    answer = {"type": f"{call.kind}_call_output", "call_id": call.id, "output": NO_RESULT}
    return {**answer, **fields.get(call.kind, {})}


def _stub_call(output: EntryCall) -> dict[str, Any]:
    name = output.name or UNKNOWN_TOOL
    execution = {"type": "exec", "command": [], "env": {}}
    deletion = {"type": "delete_file", "path": "unknown"}
    fields: dict[str, dict[str, Any]] = {
        "function": {"name": name, "arguments": "{}"},
        "custom_tool": {"name": name, "input": ""},
        "computer": {
            "action": {"type": "screenshot"},
            "pending_safety_checks": [],
            "status": "completed",
        },
        "shell": {"action": {"commands": []}, "status": "completed"},
        "local_shell": {"action": execution, "status": "completed"},
        "apply_patch": {"operation": deletion, "status": "completed"},
    }
    return {"type": f"{output.kind}_call", "call_id": output.id, **fields[output.kind]}


PAIRS = Pairs(
    "output",
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
    give_roles,
    drop_copies,
    give_ids,
    align_kinds,
    pair_outputs,
    fill_content,
    drop_loose_reasoning,
)
