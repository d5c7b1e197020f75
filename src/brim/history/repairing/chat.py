"""Repairs OpenAI's chat format: every call gets its result right behind it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from brim.history.editing import is_structured, with_fields, without_field
from brim.history.reading.entry import filled
from brim.history.repairing.draft import Draft, Pass, Slot
from brim.history.repairing.pairing import CallAt, ResultAt, pair
from brim.history.repairing.roles import give_roles
from brim.history.repairing.stubs import UNKNOWN_TOOL, chat_call, chat_result
from brim.history.repairing.words import words
from brim.tokens.messages.fields import get, is_sequence, string

if TYPE_CHECKING:
    from brim.history.reading.entry import Entry


def drop_empty_calls(draft: Draft) -> None:
    """Take out what is no call, and the list if nothing is left in it."""
    for slot, entry in draft.read():
        calls = get(slot.message, "tool_calls")
        if entry.role != "assistant" or not is_sequence(calls):
            continue
        real = [call for call in calls if is_structured(call)]  # type: ignore[attr-defined]
        gone = [words(call) for call in calls if not is_structured(call)]  # type: ignore[attr-defined]
        if gone:
            draft.note(slot, "call-has-id", "removed", "\n".join(gone))
            slot.message = with_fields(slot.message, tool_calls=real)
        if not real and (gone or string(get(slot.message, "role"))):
            draft.note(slot, "calls-not-empty", "changed", "tool_calls is left out")
            slot.message = without_field(slot.message, "tool_calls")


def name_calls(draft: Draft) -> None:
    """Give a name to every call that has none: the one that a result has, or a stub."""
    read = draft.read()
    for at, (slot, entry) in enumerate(read):
        if all(call.name for call in entry.calls):
            continue
        old = get(slot.message, "function_call")
        if filled(old) and not string(get(old, "name")):
            answer = read[at + 1][1].results[:1] if at + 1 < len(read) else ()
            name = (answer[0].name if answer and answer[0].kind == "function" else "") or UNKNOWN_TOOL
            draft.note(slot, "call-has-name", "changed", f"named {name}; it was: {words(old)}")
            slot.message = with_fields(slot.message, function_call=with_fields(old, name=name))
        calls = get(slot.message, "tool_calls")
        if is_sequence(calls):
            slot.message = with_fields(
                slot.message,
                tool_calls=[_named(draft, slot, call) for call in calls],  # type: ignore[attr-defined]
            )


def _named(draft: Draft, slot: Slot, call: Any) -> Any:
    where = next((name for name in ("function", "custom") if get(call, name) is not None), "")
    inner = get(call, where) if where else call
    if string(get(inner, "name")):
        return call
    draft.note(slot, "call-has-name", "changed", f"named {UNKNOWN_TOOL}; it was: {words(call)}")
    if where:
        return with_fields(call, **{where: with_fields(inner, name=UNKNOWN_TOOL)})
    return with_fields(call, type="function", function={"name": UNKNOWN_TOOL, "arguments": "{}"})


def give_ids(draft: Draft) -> None:
    """Give an id of its own to every call of a message; a result that nobody waits for has one to give."""
    read = draft.read()
    for at, (slot, entry) in enumerate(read):
        calls = get(slot.message, "tool_calls")
        ids = [call.id for call in entry.calls if call.kind != "function"]
        if len(set(ids)) == len(ids) and all(ids):
            continue
        run = _run(read, at)
        changed, seen = [], set()
        for call in calls:  # type: ignore[attr-defined]
            id_ = string(get(call, "id"))
            if not id_ or id_ in seen:
                new = _given_up(run, ids) if not id_ else ""
                new = new or draft.fresh_id("call_")
                rule = "call-ids-unique" if id_ else "call-has-id"
                draft.note(slot, rule, "changed", f"id {id_!r} to {new!r}")
                _rename_second(run, id_, new)
                call, id_ = with_fields(call, id=new), new  # noqa: PLW2901
                ids.append(new)
            seen.add(id_)
            changed.append(call)
        slot.message = with_fields(slot.message, tool_calls=changed)


def _run(read: list[tuple[Slot, Entry]], at: int) -> list[Slot]:
    """Return the tool messages right after the message at *at*."""
    end = at + 1
    while end < len(read) and read[end][1].role == "tool":
        end += 1
    return [slot for slot, entry in read[at + 1 : end] if entry.results[0].kind != "function"]


def _given_up(run: list[Slot], ids: list[str]) -> str:
    """Return the first id in *run* that no call has."""
    return next((id_ for id_ in (string(get(slot.message, "tool_call_id")) for slot in run) if id_ not in ids), "")


def _rename_second(run: list[Slot], old: str, new: str) -> None:
    """Let the second result of *old*, if there are two, answer *new*."""
    same = [slot for slot in run if old and string(get(slot.message, "tool_call_id")) == old]
    if len(same) > 1:
        same[1].message = with_fields(same[1].message, tool_call_id=new)


def pair_results(draft: Draft) -> None:
    """Put every result behind its call, answer the calls that have none, and take out what answers nothing."""
    read = draft.read()
    calls = [CallAt(call, at) for at, (_, entry) in enumerate(read) for call in entry.calls]
    results = _placed_results([entry for _, entry in read])
    pair(calls, list(results.values()))
    answers: dict[int, list[CallAt]] = {}
    for call in calls:
        answers.setdefault(call.place, []).append(call)
    rebuilt: list[Slot] = []
    for at, (slot, _) in enumerate(read):
        if at in results:
            rebuilt += _leftover(draft, slot, results[at]) if results[at].call is None else []
        else:
            rebuilt.append(slot)
            rebuilt += _answers(draft, slot, answers.get(at, []), read)
    draft.slots = rebuilt


def _placed_results(entries: list[Entry]) -> dict[int, ResultAt]:
    """Return every result by its place, with the message before its run and the one behind it."""
    results: dict[int, ResultAt] = {}
    before: int | None = None
    run: list[ResultAt] = []
    for at, entry in enumerate(entries):
        if entry.role == "tool":
            results[at] = ResultAt(entry.results[0], at, before)
            run.append(results[at])
        else:
            for result in run:
                result.ahead = at
            before, run = at, []
    return results


def _answers(draft: Draft, caller: Slot, calls: list[CallAt], read: list[tuple[Slot, Entry]]) -> list[Slot]:
    """Return the results of *calls*: those in place in their order, then the others."""
    in_place = [call.answer for call in calls if call.answer is not None and call.answer.is_home]
    slots = [read[result.place][0] for result in sorted(in_place, key=lambda result: result.place)]
    for call in calls:
        if call.answer is None:
            draft.note(caller, "call-has-result", "added", f"a result for {call.call.id}")
            slots.append(Slot(caller.index, chat_result(call.call)))
            continue
        slot = read[call.answer.place][0]
        if not call.answer.is_home:
            draft.note(slot, "result-has-call", "moved", f"the result of {call.call.id}, to its call")
            slots.append(slot)
        if not call.answer.result.id:
            field = "name" if call.call.kind == "function" else "tool_call_id"
            draft.note(slot, "result-has-id", "changed", f"{field} is {call.call.id}")
            slot.message = with_fields(slot.message, **{field: call.call.id})
    return slots


def _leftover(draft: Draft, slot: Slot, result: ResultAt) -> list[Slot]:
    """Return what becomes of a result that answers nothing: nothing, or itself behind a stub of its call."""
    rule = "one-result-per-call" if result.repeated else "result-has-call" if result.result.id else "result-has-id"
    if result.repeated or not draft.restore_calls:
        draft.note(slot, rule, "removed", words(slot.message))
        return []
    answer = result.result
    if not answer.id:
        field = "name" if answer.kind == "function" else "tool_call_id"
        slot.message = with_fields(
            slot.message, **{field: UNKNOWN_TOOL if field == "name" else draft.fresh_id("call_")}
        )
        answer = Draft([slot], "openai").read()[0][1].results[0]
    draft.note(slot, rule, "added", f"a call for the result of {answer.id}")
    return [Slot(slot.index, chat_call(answer)), slot]


def fill_content(draft: Draft) -> None:
    """Make content an empty text where it must not be null."""
    for slot, entry in draft.read():
        if entry.rule == "has-content":
            draft.note(slot, "has-content", "changed", "content is an empty text")
            slot.message = with_fields(slot.message, content="")


PASSES: tuple[Pass, ...] = (give_roles, drop_empty_calls, name_calls, give_ids, pair_results, fill_content)
