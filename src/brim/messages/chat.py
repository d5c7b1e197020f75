"""OpenAI's chat format, and those of its many copies.

The results of a message's calls follow it directly, one for each, in any order. This module reads
it, checks it (``check``), finds what a pruner must drop (``find_broken``) and repairs it
(``PASSES``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby, islice
from typing import Any

from brim.messages.content import (
    call_of,
    filled,
    is_structured,
    listed,
    with_fields,
    without_field,
    words,
)
from brim.messages.entries import NO_FAULT, Entry, EntryCall, Fault, Role, unknown_role, unpaired
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
from brim.messages.rules import (
    PlacedCall,
    calls_have_ids,
    calls_have_names,
    known_roles,
    pairs_match,
    results_have_ids,
)
from brim.tokens.messages.fields import get, is_sequence, string
from brim.tokens.messages.frameworks import LANGCHAIN_ROLES, langchain_type

ROLES: dict[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    "function": "tool",
}
"""Every role of the format."""
BODIES = ("content", "audio", "refusal")
"""Fields in which the assistant says something."""


# Reading


def read_chat(index: int, message: object) -> Entry:
    """Return what *message* holds."""
    name = string(get(message, "role"))
    role = ROLES.get(name, "")
    if not name:
        name = langchain_type(message)
        role = ROLES.get(LANGCHAIN_ROLES.get(name, ""), "")

    own_id = string(get(message, "id"))
    if not role:
        problem = f"{name!r} is not a role" if name else "it has no role"
        return unknown_role(index, message, own_id, f"{problem} that the API knows")

    if role == "tool":
        return _read_result(
            index,
            message,
            name,
            own_id,
        )

    calls: tuple[EntryCall, ...] = ()
    if role == "assistant":
        calls = tuple(_read_calls(message))

    return Entry(
        index,
        message,
        role,
        calls=calls,
        says=any(filled(get(message, field)) for field in BODIES),
        reasons=filled(get(message, "reasoning_content")) or filled(get(message, "reasoning")),
        id=own_id,
        fault=_fault(message, role, calls),
    )


def _read_result(
    index: int,
    message: object,
    role: str,
    own_id: str,
) -> Entry:
    tool = string(get(message, "name"))
    missing = "a tool message needs a tool_call_id"
    result = EntryCall(string(get(message, "tool_call_id")), tool)
    if role == "function":
        missing = "a function message needs the name of its function"
        result = EntryCall(tool, tool, "function")

    fault = NO_FAULT
    if not result.id:
        fault = ("result-has-id", missing)
    elif get(message, "content") is None:
        fault = ("has-content", "it has no content")

    return Entry(
        index,
        message,
        "tool",
        results=(result,),
        id=own_id,
        fault=fault,
    )


def _read_calls(message: object) -> Iterator[EntryCall]:
    # LangChain keeps calls that it couldn't parse apart, and sends them all the same.
    calls = listed(get(message, "tool_calls")) + listed(get(message, "invalid_tool_calls"))
    for call in calls:
        function = get(call, "function")
        if function is None:
            function = get(call, "custom")

        yield call_of(call, function)

    function_call = get(message, "function_call")
    if filled(function_call):
        name = string(get(function_call, "name"))
        yield EntryCall(name, name, "function")


def _fault(message: object, role: Role, calls: tuple[EntryCall, ...]) -> Fault:
    if role == "assistant" and _has_empty_list(message):
        return "calls-not-empty", "tool_calls is an empty list"

    if any(not call.id for call in calls):
        return "call-has-id", "a tool call has no id"

    if any(not call.name for call in calls):
        return "call-has-name", "a tool call has no name"

    if len({call.key for call in calls}) < len(calls):
        return "call-ids-unique", "two tool calls of one message have the same id"

    if not calls and all(get(message, field) is None for field in BODIES):
        return "has-content", "it has no content"

    return NO_FAULT


def _has_empty_list(message: object) -> bool:
    """Whether *message* would be sent with an empty list of calls.

    LangChain's messages, which have no role, are sent without it.
    """
    calls = get(message, "tool_calls")
    return is_sequence(calls) and not calls and bool(string(get(message, "role")))


# Checking


def check(history: Sequence[Entry]) -> Iterator[Violation]:
    """Yield every place where *history* breaks a rule."""
    yield from known_roles(history)
    for entry in history:
        if entry.role and not _has_content(entry):
            yield Violation(entry.index, "has-content", "it has no content")

        if entry.role == "assistant" and _has_empty_list(entry.wire):
            text = "tool_calls is an empty list: leave it out"
            yield Violation(entry.index, "calls-not-empty", text)

    yield from calls_have_ids(history)
    yield from calls_have_names(history)
    yield from _check_unique_ids(history)
    yield from results_have_ids(history)
    yield from _check_pairs(history)


def _has_content(entry: Entry) -> bool:
    """Whether a message has content, or what an assistant may have in its place."""
    message = entry.wire
    if get(message, "content") is not None:
        return True

    if entry.role != "assistant":
        return False

    if entry.calls:
        return True

    return get(message, "audio") is not None or get(message, "refusal") is not None


def _check_unique_ids(history: Sequence[Entry]) -> Iterator[Violation]:
    for entry in history:
        earlier = set()
        for call in entry.calls:
            if call.id and call.key in earlier:
                text = f"two calls of one message have the id {call.id}"
                yield Violation(entry.index, "call-ids-unique", text)

            earlier.add(call.key)


def _check_pairs(history: Sequence[Entry]) -> Iterator[Violation]:
    """Each run of results answers the calls of the message right before it, each of them once."""
    calls: list[PlacedCall] = []
    results: list[PlacedCall] = []
    for entry in history:
        if entry.results:
            results += [PlacedCall(entry.index, result) for result in entry.results]
            continue

        yield from pairs_match(
            calls,
            results,
            "message",
            "right after its message",
        )
        calls = [PlacedCall(entry.index, call) for call in entry.calls]
        results = []

    yield from pairs_match(
        calls,
        results,
        "message",
        "right after its message",
    )


# What a pruner must drop


def find_broken(entries: Sequence[Entry]) -> dict[int, str]:
    """Return the places of messages that must go, each with the reason.

    A step is a message and the results right after it. Each result must answer one of its calls,
    and each call must have one.
    """
    broken: dict[int, str] = {}
    callers: list[Entry] = []
    answers: list[Entry] = []
    for entry in entries:
        if entry.results:
            answers.append(entry)
            continue

        broken.update(_broken_step(callers, answers))
        callers = [entry]
        answers = []

    broken.update(_broken_step(callers, answers))
    return broken


def _broken_step(callers: list[Entry], answers: list[Entry]) -> dict[int, str]:
    pairs = unpaired(callers, answers, "message")
    if not pairs.problem:
        return pairs.results

    return {entry.index: pairs.problem for entry in callers + answers}


# Repairing


def drop_empty_calls(repair: Repair) -> None:
    """Remove calls without fields, and the list if nothing is left in it."""
    for slot, entry in repair.read():
        calls = get(slot.message, "tool_calls")
        if entry.role != "assistant" or not is_sequence(calls):
            continue

        real_calls = []
        removed = []
        for call in listed(calls):
            if is_structured(call):
                real_calls.append(call)
            else:
                removed.append(words(call))

        if removed:
            repair.note(
                slot,
                "call-has-id",
                "removed",
                "\n".join(removed),
            )
            slot.message = with_fields(slot.message, tool_calls=real_calls)

        if not real_calls and (removed or string(get(slot.message, "role"))):
            repair.note(
                slot,
                "calls-not-empty",
                "changed",
                "tool_calls is left out",
            )
            slot.message = without_field(slot.message, "tool_calls")


def name_calls(repair: Repair) -> None:
    """Name every call without a name: as its result does, or with a stub."""
    slots = repair.read()
    for at, (slot, entry) in enumerate(slots):
        if all(call.name for call in entry.calls):
            continue

        following = slots[at + 1][1] if at + 1 < len(slots) else None
        _name_function_call(repair, slot, following)
        calls = get(slot.message, "tool_calls")
        if is_sequence(calls):
            named_calls = [_with_name(repair, slot, call) for call in listed(calls)]
            slot.message = with_fields(slot.message, tool_calls=named_calls)


def _name_function_call(repair: Repair, slot: RepairSlot, following: Entry | None) -> None:
    """Name the call in the old field ``function_call``, as the result in the message after it
    does."""
    call = get(slot.message, "function_call")
    if not filled(call) or string(get(call, "name")):
        return

    name = ""
    if following is not None and following.results and following.results[0].kind == "function":
        name = following.results[0].name

    name = name or UNKNOWN_TOOL
    text = f"named {name}; it was: {words(call)}"
    new_call = with_fields(call, name=name)
    repair.change(
        slot,
        "call-has-name",
        text,
        function_call=new_call,
    )


def _with_name(repair: Repair, slot: RepairSlot, call: Any) -> Any:
    """Return *call* with a name."""
    for field in ("function", "custom"):
        inner = get(call, field)
        if inner is not None:
            break
    else:
        field = ""
        inner = call

    if string(get(inner, "name")):
        return call

    repair.note(
        slot,
        "call-has-name",
        "changed",
        f"named {UNKNOWN_TOOL}; it was: {words(call)}",
    )
    if field:
        return with_fields(call, **{field: with_fields(inner, name=UNKNOWN_TOOL)})

    return with_fields(call, type="function", function={"name": UNKNOWN_TOOL, "arguments": "{}"})


def give_ids(repair: Repair) -> None:
    """Give every call of a message its own id.

    A result that answers no call has one to give.
    """
    slots = repair.read()
    for at, (slot, entry) in enumerate(slots):
        ids = [call.id for call in entry.calls if call.kind != "function"]
        if all(ids) and len(set(ids)) == len(ids):
            continue

        results = _results_after(slots, at)
        calls = [RepairSlot(slot.index, call) for call in listed(get(slot.message, "tool_calls"))]
        PAIRS.give_ids(
            repair,
            calls,
            results,
            set(),
            set(ids),
        )
        slot.message = with_fields(slot.message, tool_calls=[call.message for call in calls])


def _results_after(slots: list[tuple[RepairSlot, Entry]], at: int) -> list[RepairSlot]:
    """Return the results right after the message *at* that name their calls by an id."""
    results = []
    for slot, entry in islice(slots, at + 1, None):
        if entry.role != "tool":
            break

        if entry.results[0].kind != "function":
            results.append(slot)

    return results


def pair_results(repair: Repair) -> None:
    """Put every result behind its call, answer calls without a result, and remove what answers
    nothing."""
    slots = repair.read()
    calls: dict[int, list[Half]] = {}
    for at, (slot, entry) in enumerate(slots):
        calls[at] = [Half(call, at, slot) for call in entry.calls]

    results = _placed_results(slots)
    pair([call for of_message in calls.values() for call in of_message], list(results.values()))
    rebuilt: list[RepairSlot] = []
    for at, (slot, _) in enumerate(slots):
        if at not in results:
            rebuilt.append(slot)
            rebuilt += _results_in_place(calls[at])
            for call in calls[at]:
                rebuilt += PAIRS.result_of(repair, call)
        elif results[at].other is None:
            rebuilt += PAIRS.leftover(repair, results[at])

    repair.slots = rebuilt


def _results_in_place(calls: list[Half]) -> list[RepairSlot]:
    """Return the results of *calls* that stand where they belong, in the order they stand."""
    results = [call.other for call in calls if call.other is not None and call.other.is_home]
    results.sort(key=lambda result: result.place)
    return [result.slot for result in results]


def _placed_results(slots: list[tuple[RepairSlot, Entry]]) -> dict[int, Half]:
    """Return every result by its place, with the message before its run and the one behind it."""
    results: dict[int, Half] = {}
    before: int | None = None
    for is_result, run in groupby(range(len(slots)), key=lambda at: slots[at][1].role == "tool"):
        places = list(run)
        ahead = places[-1] + 1
        if is_result:
            for at in places:
                slot, entry = slots[at]
                results[at] = Half(
                    entry.results[0],
                    at,
                    slot,
                    before,
                    ahead,
                )

        before = places[-1]

    return results


def _stub_result(call: EntryCall) -> dict[str, Any]:
    if call.kind == "function":
        return {"role": "function", "name": call.id, "content": NO_RESULT}

    return {"role": "tool", "tool_call_id": call.id, "content": NO_RESULT}


def _stub_call(result: EntryCall) -> dict[str, Any]:
    function = {"name": result.name or UNKNOWN_TOOL, "arguments": "{}"}
    message: dict[str, Any] = {"role": "assistant", "content": None}
    if result.kind == "function":
        message["function_call"] = function
    else:
        message["tool_calls"] = [{"id": result.id, "type": "function", "function": function}]

    return message


PAIRS = Pairs(
    "result",
    "tool_call_id",
    "call_",
    _stub_result,
    _stub_call,
    {"function": "name"},
)
PASSES: tuple[Pass, ...] = (
    give_roles,
    drop_empty_calls,
    name_calls,
    give_ids,
    pair_results,
    fill_content,
)
