"""OpenAI's chat format, and those of its many copies.

The results of a message's calls follow it directly, one for each, in any order. This module reads
it, checks it (``check``) and repairs it (``PASSES``); ``broken`` finds what a pruner must drop.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby, takewhile
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
from brim.messages.entries import NO_FAULT, Entry, EntryCall, Fault, Role, unknown_role
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
    Found,
    calls_have_ids,
    calls_have_names,
    known_roles,
    pairs_match,
    results_have_ids,
)
from brim.tokens.messages.fields import get, is_sequence, string
from brim.tokens.messages.frameworks import LANGCHAIN_ROLES, langchain_type

ROLES: dict[str, Role] = {
    **{"system": "system", "developer": "system", "user": "user", "assistant": "assistant"},
    **{"tool": "tool", "function": "tool"},
}
"""Every role of the format."""


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
        shown = f"{name!r} is not a role" if name else "it has no role"
        return unknown_role(index, message, own_id, f"{shown} that the API knows")
    if role == "tool":
        return _read_result(index, message, name, own_id)
    calls = tuple(_read_calls(message)) if role == "assistant" else ()
    return Entry(
        index,
        message,
        role,
        calls=calls,
        says=any(filled(get(message, field)) for field in ("content", "audio", "refusal")),
        reasons=filled(get(message, "reasoning_content")) or filled(get(message, "reasoning")),
        id=own_id,
        fault=_fault(message, role, calls),
    )


def _read_result(index: int, message: object, role: str, own_id: str) -> Entry:
    tool, fault = string(get(message, "name")), NO_FAULT
    answer = (
        EntryCall(tool, tool, "function")
        if role == "function"
        else EntryCall(string(get(message, "tool_call_id")), tool)
    )
    if not answer.id:
        what = (
            "function message needs the name of its function"
            if answer.kind
            else "tool message needs a tool_call_id"
        )
        fault = ("result-has-id", f"a {what}")
    elif get(message, "content") is None:
        fault = ("has-content", "it has no content")
    return Entry(index, message, "tool", results=(answer,), id=own_id, fault=fault)


def _read_calls(message: object) -> Iterator[EntryCall]:
    # LangChain keeps calls that it couldn't parse apart, and sends them all the same.
    for call in (*listed(get(message, "tool_calls")), *listed(get(message, "invalid_tool_calls"))):
        function = get(call, "function")
        yield call_of(call, get(call, "custom") if function is None else function)
    one = get(message, "function_call")
    if filled(one):
        name = string(get(one, "name"))
        yield EntryCall(name, name, "function")


def _fault(message: object, role: Role, calls: tuple[EntryCall, ...]) -> Fault:
    several = get(message, "tool_calls")
    if (
        role == "assistant"
        and is_sequence(several)
        and not several
        and string(get(message, "role"))
    ):
        return "calls-not-empty", "tool_calls is an empty list"
    if any(not call.id for call in calls):
        return "call-has-id", "a tool call has no id"
    if any(not call.name for call in calls):
        return "call-has-name", "a tool call has no name"
    if len({call.key for call in calls}) < len(calls):
        return "call-ids-unique", "two tool calls of one message have the same id"
    if not calls and all(get(message, field) is None for field in ("content", "audio", "refusal")):
        return "has-content", "it has no content"
    return NO_FAULT


# Checking


def check(history: Sequence[Entry]) -> Iterator[Violation]:
    """Yield every place where *history* breaks a rule."""
    yield from known_roles(history)
    for entry in history:
        message, is_assistant = entry.wire, entry.role == "assistant"
        instead = is_assistant and (
            entry.calls or get(message, "audio") is not None or get(message, "refusal") is not None
        )
        if entry.role and get(message, "content") is None and not instead:
            yield Violation(entry.index, "has-content", "it has no content")
        calls = get(message, "tool_calls")
        # LangChain's messages, which have no role, are sent without an empty list.
        if is_assistant and string(get(message, "role")) and is_sequence(calls) and not calls:
            yield Violation(
                entry.index, "calls-not-empty", "tool_calls is an empty list: leave it out"
            )
    yield from calls_have_ids(history)
    yield from calls_have_names(history)
    for entry in history:
        seen = set()
        for call in entry.calls:
            if call.id and call.key in seen:
                yield Violation(
                    entry.index,
                    "call-ids-unique",
                    f"two calls of one message have the id {call.id}",
                )
            seen.add(call.key)
    yield from results_have_ids(history)
    yield from _check_pairs(history)


def _check_pairs(history: Sequence[Entry]) -> Iterator[Violation]:
    """Each run of results answers the calls of the message right before it, each of them once."""
    calls: list[Found] = []
    results: list[Found] = []
    for entry in (*history, None):
        if entry is None or not entry.results:
            yield from pairs_match(calls, results, "message", "right after its message")
            calls, results = [(entry.index, call) for call in entry.calls] if entry else [], []
        else:
            results += [(entry.index, result) for result in entry.results]


# Repairing


def drop_empty_calls(repair: Repair) -> None:
    """Remove calls without fields, and the list if nothing is left in it."""
    for slot, entry in repair.read():
        calls = get(slot.message, "tool_calls")
        if entry.role != "assistant" or not is_sequence(calls):
            continue
        real = [call for call in listed(calls) if is_structured(call)]
        gone = [words(call) for call in listed(calls) if not is_structured(call)]
        if gone:
            repair.note(slot, "call-has-id", "removed", "\n".join(gone))
            slot.message = with_fields(slot.message, tool_calls=real)
        if not real and (gone or string(get(slot.message, "role"))):
            repair.note(slot, "calls-not-empty", "changed", "tool_calls is left out")
            slot.message = without_field(slot.message, "tool_calls")


def name_calls(repair: Repair) -> None:
    """Name every call without a name: as its result does, or with a stub."""
    read = repair.read()
    for at, (slot, entry) in enumerate(read):
        if all(call.name for call in entry.calls):
            continue
        old = get(slot.message, "function_call")
        if filled(old) and not string(get(old, "name")):
            answer = read[at + 1][1].results[:1] if at + 1 < len(read) else ()
            name = (
                answer[0].name if answer and answer[0].kind == "function" else ""
            ) or UNKNOWN_TOOL
            repair.change(
                slot,
                "call-has-name",
                f"named {name}; it was: {words(old)}",
                function_call=with_fields(old, name=name),
            )
        calls = get(slot.message, "tool_calls")
        if is_sequence(calls):
            slot.message = with_fields(
                slot.message, tool_calls=[_named(repair, slot, call) for call in listed(calls)]
            )


def _named(repair: Repair, slot: RepairSlot, call: Any) -> Any:
    where = next((name for name in ("function", "custom") if get(call, name) is not None), "")
    inner = get(call, where) if where else call
    if string(get(inner, "name")):
        return call
    repair.note(slot, "call-has-name", "changed", f"named {UNKNOWN_TOOL}; it was: {words(call)}")
    if where:
        return with_fields(call, **{where: with_fields(inner, name=UNKNOWN_TOOL)})
    return with_fields(call, type="function", function={"name": UNKNOWN_TOOL, "arguments": "{}"})


def give_ids(repair: Repair) -> None:
    """Give every call of a message its own id.

    A result that answers no call has one to give.
    """
    read = repair.read()
    for at, (slot, entry) in enumerate(read):
        ids = [call.id for call in entry.calls if call.kind != "function"]
        if len(set(ids)) == len(ids) and all(ids):
            continue
        following = (read[place] for place in range(at + 1, len(read)))
        answers = takewhile(lambda pair: pair[1].role == "tool", following)
        run = [answer for answer, result in answers if result.results[0].kind != "function"]
        calls = [RepairSlot(slot.index, call) for call in listed(get(slot.message, "tool_calls"))]
        PAIRS.give_ids(repair, calls, run, set(), set(ids))
        slot.message = with_fields(slot.message, tool_calls=[call.message for call in calls])


def pair_results(repair: Repair) -> None:
    """Put every result behind its call, answer calls without a result, and remove what answers
    nothing."""
    read = repair.read()
    calls = {
        at: [Half(call, at, slot) for call in entry.calls] for at, (slot, entry) in enumerate(read)
    }
    results = _placed_results(read)
    pair([call for several in calls.values() for call in several], list(results.values()))
    rebuilt: list[RepairSlot] = []
    for at, (slot, _) in enumerate(read):
        if at not in results:
            in_place = [
                call.other.place
                for call in calls[at]
                if call.other is not None and call.other.is_home
            ]
            rebuilt += [slot, *(read[place][0] for place in sorted(in_place))]
            rebuilt += [new for call in calls[at] for new in PAIRS.result_of(repair, call)]
        elif results[at].other is None:
            rebuilt += PAIRS.leftover(repair, results[at])
    repair.slots = rebuilt


def _placed_results(read: list[tuple[RepairSlot, Entry]]) -> dict[int, Half]:
    """Return every result by its place, with the message before its run and the one behind it."""
    results: dict[int, Half] = {}
    before: int | None = None
    for is_result, run in groupby(range(len(read)), key=lambda at: read[at][1].role == "tool"):
        places = list(run)
        if is_result:
            ahead = places[-1] + 1
            results.update(
                {at: Half(read[at][1].results[0], at, read[at][0], before, ahead) for at in places}
            )
        before = places[-1]
    return results


def _stub_result(call: EntryCall) -> dict[str, Any]:
    role, field = ("function", "name") if call.kind == "function" else ("tool", "tool_call_id")
    return {"role": role, field: call.id, "content": NO_RESULT}


def _stub_call(result: EntryCall) -> dict[str, Any]:
    function = {"name": result.name or UNKNOWN_TOOL, "arguments": "{}"}
    calls = [{"id": result.id, "type": "function", "function": function}]
    own = {"function_call": function} if result.kind == "function" else {"tool_calls": calls}
    return {"role": "assistant", "content": None, **own}


PAIRS = Pairs(
    ("a result", "result"), "tool_call_id", "call_", _stub_result, _stub_call, {"function": "name"}
)
PASSES: tuple[Pass, ...] = (
    give_roles,
    drop_empty_calls,
    name_calls,
    give_ids,
    pair_results,
    fill_content,
)
