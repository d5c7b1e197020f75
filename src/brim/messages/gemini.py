"""Gemini's format.

Calls come right after the user's content, and the very next content answers all of them. This
module reads it, checks it (``check``) and repairs it (``PASSES``); ``broken`` finds what a pruner
must drop.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from brim.messages.content import call_of, items_of, with_fields, words
from brim.messages.entries import NO_FAULT, Entry, EntryCall, Fault, Role, unknown_role
from brim.messages.receipt import Violation
from brim.messages.repairs import (
    NO_RESULT,
    UNKNOWN_TOOL,
    Half,
    Pass,
    Repair,
    RepairSlot,
    begin_with_user,
    give_roles,
    split_sides,
)
from brim.messages.rules import calls_have_names, known_roles, sides_are_right, user_is_first
from brim.tokens.messages.fields import first, get, pairs, string

ROLES: dict[str, Role] = {
    "user": "user",
    "model": "assistant",
    "function": "user",
    "tool": "user",
    "": "user",
}
"""A content without a role is the user's; old programs answer calls as ``function``, Google's own
SDK as ``tool``."""
NO_DATA = frozenset(
    ("thought", "thoughtSignature", "thought_signature", "videoMetadata", "video_metadata")
)
"""Fields of a part that describe its data and aren't data themselves."""
CALLS = ("functionCall", "function_call")
RESULTS = ("functionResponse", "function_response")


# Reading


def parts_of(content: object) -> list[Any]:
    """Return the parts of *content*; a text is one part."""
    return items_of(content if isinstance(content, str) else get(content, "parts"))


def call_in(part: object) -> object:
    """Return the function call in *part*, or None."""
    return first(part, *CALLS)


def result_in(part: object) -> object:
    """Return the function response in *part*, or None."""
    return first(part, *RESULTS)


def is_empty_part(part: object) -> bool:
    """Whether *part* holds no data at all: no text, not even an empty one, no image, no call."""
    return not isinstance(part, str) and all(name in NO_DATA for name, _ in pairs(part))


def read_content(index: int, message: object) -> Entry:
    """Return what the content *message* holds."""
    if isinstance(message, str):
        return Entry(
            index,
            message,
            "user",
            says=True,
            fault=NO_FAULT if message else ("has-content", "it is empty"),
        )
    name = string(get(message, "role"))
    role = ROLES.get(name, "")
    if not role:
        return unknown_role(
            index, message, "", f"{name!r} is not a role: only user and model speak"
        )
    parts = parts_of(message)
    thoughts = [get(part, "thought") is True for part in parts]
    calls = [call_of(call_in(part)) for part in parts if call_in(part) is not None]
    others = [part for part in parts if call_in(part) is None]
    results = [call_of(result_in(part)) for part in others if result_in(part) is not None]
    others = [part for part in others if result_in(part) is None]
    faults: dict[Fault, bool] = {
        ("call-by-assistant", "only the model can call a function"): bool(calls)
        and role != "assistant",
        ("result-by-user", "only the user can answer a call"): bool(results) and role != "user",
        ("result-has-name", "a function response has no name"): any(
            not result.name for result in results
        ),
        ("call-has-name", "a call has no name"): any(not call.name for call in calls),
        ("has-content", "it has no parts"): not parts,
        ("part-not-empty", "a part of it is empty"): any(is_empty_part(part) for part in others),
    }
    return Entry(
        index,
        message,
        role,
        calls=tuple(calls),
        results=tuple(results),
        says=any(not is_empty_part(part) and get(part, "thought") is not True for part in others),
        reasons=any(thoughts),
        ends_in_reasoning=any(thoughts[-1:]),
        fault=next((fault for fault, is_there in faults.items() if is_there), NO_FAULT),
    )


# Checking


def check(history: Sequence[Entry]) -> Iterator[Violation]:
    """Yield every place where *history* breaks a rule."""
    yield from known_roles(history)
    for entry in history:
        parts = parts_of(entry.message) if entry.role else []
        if entry.role and not parts:
            yield Violation(entry.index, "has-content", "it has no parts")
        for part in parts:
            if call_in(part) is None and result_in(part) is None and is_empty_part(part):
                yield Violation(entry.index, "part-not-empty", "a part of it holds nothing")
    yield from user_is_first(history)
    yield from sides_are_right(history)
    yield from calls_have_names(history)
    for entry in history:
        for result in entry.results:
            if not result.name:
                yield Violation(
                    entry.index, "result-has-name", "a function response does not name its function"
                )
    for before, entry, after in zip([None, *history], history, [*history[1:], None], strict=False):
        yield from _check_pairs(before, entry, after)


def _check_pairs(before: Entry | None, entry: Entry, after: Entry | None) -> Iterator[Violation]:
    """Calls follow the user and are answered in the next content, by as many responses as there are
    calls."""
    called, calls = (
        len(each.calls) if each and each.role == "assistant" else 0 for each in (before, entry)
    )
    results, answers = (
        len(each.results) if each and each.role == "user" else 0 for each in (entry, after)
    )
    if calls and (before is None or before.role != "user"):
        text = "a function call must come right after the user or after a function response"
        yield Violation(entry.index, "call-after-user", text)
    if calls and not answers:
        yield Violation(entry.index, "call-has-result", "the next content has no function response")
    if results and not called:
        yield Violation(
            entry.index, "result-has-call", "the content before it has no function call"
        )
    if called and results and called != results:
        text = f"{results} function responses answer {called} function calls"
        yield Violation(entry.index, "results-match-calls", text)


# Repairing


def fill_parts(repair: Repair) -> None:
    """Remove empty parts and contents without parts.

    What a content says elsewhere becomes its part.
    """
    for slot, entry in repair.read():
        parts = parts_of(slot.message)
        kept = [part for part in parts if not is_empty_part(part)]
        text = "" if parts else words(slot.message)
        if text.strip():
            repair.note(slot, "has-content", "changed", "what it says is a part of it")
            slot.message = {
                "role": "model" if entry.role == "assistant" else "user",
                "parts": [{"text": text}],
            }
        elif not parts:
            repair.drop(slot, "has-content")
        elif len(kept) < len(parts):
            repair.note(
                slot,
                "part-not-empty",
                "removed",
                words([part for part in parts if is_empty_part(part)]),
            )
            repair.set_body(slot, kept)


def side_of(part: object) -> str:
    """Return who alone may say *part*; empty if both may."""
    return (
        "assistant" if call_in(part) is not None else "user" if result_in(part) is not None else ""
    )


split_contents = partial(split_sides, parts_of=parts_of, side_of=side_of, assistant="model")


def merge_before_calls(repair: Repair) -> None:
    """Join the model's contents before a call with it, so that the call comes right after the
    user."""
    run: list[RepairSlot] = []
    for slot, entry in repair.read():
        if entry.calls and run:
            parts = [part for content in (*run, slot) for part in parts_of(content.message)]
            for content in run:
                repair.note(
                    content,
                    "call-after-user",
                    "merged",
                    "with the call that the model makes after it",
                )
                repair.set_body(content, [])
            repair.set_body(slot, parts)
            run = []
        run = [*run, slot] if entry.role == "assistant" else []


def pair_functions(repair: Repair) -> None:
    """Move responses to their calls, answer calls without one, and remove what answers nothing.

    Ids are optional here. A response belongs to the call with its id, else to one with its name;
    where there are as many as there are calls, they are taken as they stand.
    """
    read = repair.read()
    calls = {
        at: [Half(call, at, slot) for call in entry.calls]
        for at, (slot, entry) in enumerate(read)
        if entry.calls
    }
    following = [len(entry.results) for _, entry in read[1:]]
    right = {at for at, several in calls.items() if following[at : at + 1] == [len(several)]}
    responses = _responses(read)
    _match(calls, right, responses)
    if right == calls.keys() and all(response.other for response in responses):
        return
    orphans: dict[int, list[Half]] = defaultdict(list)
    for response in responses:
        if response.other is None:
            orphans[response.place].append(response)
    rebuilt: list[RepairSlot] = []
    for at, (slot, entry) in enumerate(read):
        restored = _restore(repair, rebuilt, slot, orphans[at])
        new: list[Any] = [slot.message]
        if entry.results and at - 1 not in right:
            parts = parts_of(slot.message)
            first = next(n for n, part in enumerate(parts) if result_in(part) is not None)
            others = [part for part in parts[first:] if result_in(part) is None]
            answers = [
                *_answers(repair, calls.get(at - 1, [])),
                *(response.slot.message for response in restored),
            ]
            new = [*parts[:first], *answers, *others]
            if [id(part) for part in new] != [id(part) for part in parts]:
                repair.set_body(slot, new)
        rebuilt += [slot] if new else []
        if at in calls and not any(following[at : at + 1]):
            rebuilt.append(
                RepairSlot(slot.index, {"role": "user", "parts": _answers(repair, calls[at])})
            )
    repair.slots = rebuilt


def _responses(read: list[tuple[RepairSlot, Entry]]) -> list[Half]:
    """Return every response, with the calls that it follows, over other contents that hold only
    responses."""
    found: list[Half] = []
    home: int | None = None
    for at, (slot, entry) in enumerate(read):
        if entry.calls:
            home = at
        elif not entry.results or (home is not None and home + 1 < at and entry.says):
            home = None
        parts = [
            RepairSlot(slot.index, part)
            for part in parts_of(slot.message)
            if result_in(part) is not None
        ]
        found += [
            Half(result, at, part, home) for result, part in zip(entry.results, parts, strict=True)
        ]
    return found


def _same_id(call: Half, result: Half) -> bool:
    return bool(result.call.id) and call.call.id == result.call.id


def _same_name(call: Half, result: Half) -> bool:
    return bool(result.call.name) and call.call.name == result.call.name


def _match(calls: dict[int, list[Half]], right: set[int], responses: list[Half]) -> None:
    """Give every response its call; those of the contents *right* have as many responses as calls
    behind them."""
    for response in responses:
        if response.place - 1 in right:
            response.answer(calls[response.place - 1])
    for fits in (_same_id, _same_name, lambda _, result: not result.call.name):
        for response in responses:
            at_home = calls[response.home] if response.home is not None else ()
            response.answer(call for call in at_home if fits(call, response))
    newest_first = sorted(calls, reverse=True)
    for response in responses:
        places = [*(at for at in newest_first if at < response.place), response.place + 1]
        fits = _same_id if response.call.id else _same_name
        response.answer(call for at in places for call in calls.get(at, ()) if fits(call, response))


def _restore(
    repair: Repair, rebuilt: list[RepairSlot], slot: RepairSlot, orphans: list[Half]
) -> list[Half]:
    """Return the responses without calls that stay: all, behind stubs of their calls, or none."""
    for response in orphans:
        rule = "result-has-call" if response.home is None else "results-match-calls"
        if repair.restore_calls:
            repair.note(
                slot,
                rule,
                "added",
                f"a call of {response.call.name or 'a function'} for its response",
            )
        else:
            repair.note(slot, rule, "removed", words(response.slot.message))
    if not orphans or not repair.restore_calls:
        return []
    calls = [{"functionCall": {**_stub(response.call), "args": {}}} for response in orphans]
    before = rebuilt[-1] if rebuilt else None
    if before and read_content(before.index, before.message).role == "assistant":
        before.message = with_fields(before.message, parts=[*parts_of(before.message), *calls])
    else:
        rebuilt.append(RepairSlot(slot.index, {"role": "model", "parts": calls}))
    return orphans


def _answers(repair: Repair, calls: list[Half]) -> list[Any]:
    """Return a response for every one of *calls*, in their order."""
    parts = []
    for call in calls:
        response, name = call.other, call.call.name or "a function"
        if response is None:
            repair.note(call.slot, "call-has-result", "added", f"a response for {name}")
            parts.append(
                {"functionResponse": {**_stub(call.call), "response": {"error": NO_RESULT}}}
            )
            continue
        if response.place != call.place + 1:
            action, rule = (
                ("merged", "results-match-calls")
                if response.is_home
                else ("moved", "result-has-call")
            )
            repair.note(response.slot, rule, action, f"the response of {name}")
        parts.append(response.slot.message)
    return parts


def _stub(call: EntryCall) -> dict[str, Any]:
    return {**({"id": call.id} if call.id else {}), "name": call.name or UNKNOWN_TOOL}


def name_functions(repair: Repair) -> None:
    """Name calls and responses without a name: as the other does, or with a stub."""
    names: list[str] = []
    for slot, entry in reversed(repair.read()):
        if entry.calls:
            names = [
                call.name or name or UNKNOWN_TOOL
                for call, name in zip(entry.calls, names, strict=False)
            ]
            _set_names(repair, slot, "call", names)
        names = [result.name for result in entry.results]
    for slot, entry in repair.read():
        if entry.results:
            _set_names(repair, slot, "result", names)
        names = [call.name for call in entry.calls]


def _set_names(repair: Repair, slot: RepairSlot, what: str, names: list[str]) -> None:
    """Name the calls, or the results, of a content where they have no name."""
    left, changed, parts = list(names), False, parts_of(slot.message)
    for at, part in enumerate(parts):
        field = next(
            (
                field
                for field in (CALLS if what == "call" else RESULTS)
                if get(part, field) is not None
            ),
            "",
        )
        name = left.pop(0) if field and left else ""
        if field and not string(get(get(part, field), "name")):
            repair.note(slot, f"{what}-has-name", "changed", f"named {name}; it was: {words(part)}")
            parts[at] = with_fields(part, **{field: with_fields(get(part, field), name=name)})
            changed = True
    if changed:
        repair.set_body(slot, parts)


PASSES: tuple[Pass, ...] = (
    *(
        give_roles,
        fill_parts,
        split_contents,
        merge_before_calls,
        pair_functions,
        name_functions,
        begin_with_user,
    ),
)
