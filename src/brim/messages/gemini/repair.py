"""Repairs histories of Gemini's contents."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from brim.messages.content import with_fields, words
from brim.messages.entries import Entry, EntryCall
from brim.messages.gemini.reading import (
    CALLS,
    RESULTS,
    call_in,
    is_empty_part,
    parts_of,
    read_content,
    result_in,
)
from brim.messages.repairs import (
    NO_RESULT,
    UNKNOWN_TOOL,
    Half,
    Pass,
    Repair,
    RepairSlot,
    Sides,
    begin_with_user,
    give_roles,
)
from brim.tokens.messages.fields import get, string


def fill_parts(repair: Repair) -> None:
    """Remove empty parts and contents without parts.

    What a content says elsewhere becomes its part.
    """
    for slot, entry in repair.read():
        parts = parts_of(slot.message)
        if not parts:
            _fill_content(repair, slot, entry)
            continue

        empty = [part for part in parts if is_empty_part(part)]
        if empty:
            repair.note(
                slot,
                "part-not-empty",
                "removed",
                words(empty),
            )
            repair.set_body(slot, [part for part in parts if not is_empty_part(part)])


def _fill_content(repair: Repair, slot: RepairSlot, entry: Entry) -> None:
    """Give a content without parts one with what it says; remove it if it says nothing."""
    text = words(slot.message)
    if not text.strip():
        repair.drop(slot, "has-content")
        return

    repair.note(
        slot,
        "has-content",
        "changed",
        "what it says is a part of it",
    )
    role = "model" if entry.role == "assistant" else "user"
    slot.message = {"role": role, "parts": [{"text": text}]}


def side_of(part: object) -> str:
    """Return who alone may say *part*; empty if both may."""
    if call_in(part) is not None:
        return "assistant"

    if result_in(part) is not None:
        return "user"

    return ""


SIDES = Sides(parts_of, side_of, "model")


def merge_before_calls(repair: Repair) -> None:
    """Join the model's contents before a call with it, so that the call comes right after the
    user."""
    run: list[RepairSlot] = []
    for slot, entry in repair.read():
        if entry.role != "assistant":
            run = []
            continue

        if entry.calls and run:
            _merge(repair, run, slot)
            run = []

        run.append(slot)


def _merge(repair: Repair, contents: list[RepairSlot], call: RepairSlot) -> None:
    """Move the parts of *contents* into the content with the call."""
    parts: list[Any] = []
    for content in contents:
        parts += parts_of(content.message)

    parts += parts_of(call.message)
    text = "with the call that the model makes after it"
    for content in contents:
        repair.note(
            content,
            "call-after-user",
            "merged",
            text,
        )
        repair.set_body(content, [])

    repair.set_body(call, parts)


class FunctionPairing:
    """The calls and responses of a history while they are paired.

    Ids are optional here. A response belongs to the call with its id, else to one with its name;
    where there are as many as there are calls, they are taken as they stand.
    """

    def __init__(self, repair: Repair) -> None:
        self.repair = repair
        self.slots = repair.read()
        self.calls: dict[int, list[Half]] = {}
        """The calls of each content that makes some, by its place."""
        self.complete: set[int] = set()
        """The places of contents that are followed by as many responses as they have calls."""
        for at, (slot, entry) in enumerate(self.slots):
            if entry.calls:
                self.calls[at] = [Half(call, at, slot) for call in entry.calls]
                if self._results_after(at) == len(entry.calls):
                    self.complete.add(at)

        self.responses = self._read_responses()

    def _results_after(self, at: int) -> int:
        """Return how many responses are in the content after the place *at*."""
        if at + 1 >= len(self.slots):
            return 0

        return len(self.slots[at + 1][1].results)

    def _read_responses(self) -> list[Half]:
        """Return every response, with the calls that it follows, over other contents that hold only
        responses."""
        responses: list[Half] = []
        home: int | None = None
        for at, (slot, entry) in enumerate(self.slots):
            is_next = home is not None and home + 1 == at
            if entry.calls:
                home = at
            elif not entry.results or (entry.says and not is_next):
                home = None

            parts = [part for part in parts_of(slot.message) if result_in(part) is not None]
            for result, part in zip(entry.results, parts, strict=True):
                responses.append(Half(result, at, RepairSlot(slot.index, part), home))

        return responses

    def match(self) -> None:
        """Give every response its call."""
        for response in self.responses:
            if response.place - 1 in self.complete:
                response.answer(self.calls[response.place - 1])

        for fits in (_same_id, _same_name, _without_name):
            for response in self.responses:
                response.answer(_fitting(self._calls_at(response.home), response, fits))

        newest_first = sorted(self.calls, reverse=True)
        for response in self.responses:
            if response.other is not None:
                continue

            fits = _same_id if response.call.id else _same_name
            for at in newest_first:
                if at < response.place:
                    response.answer(_fitting(self.calls[at], response, fits))

            response.answer(_fitting(self._calls_at(response.place + 1), response, fits))

    def _calls_at(self, place: int | None) -> list[Half]:
        if place is None:
            return []

        return self.calls.get(place, [])

    @property
    def is_whole(self) -> bool:
        """Whether nothing has to change."""
        if self.complete != self.calls.keys():
            return False

        return all(response.other is not None for response in self.responses)

    def rebuild(self) -> None:
        """Put every response into the content after its call."""
        orphans: dict[int, list[Half]] = defaultdict(list)
        for response in self.responses:
            if response.other is None:
                orphans[response.place].append(response)

        rebuilt: list[RepairSlot] = []
        for at, (slot, entry) in enumerate(self.slots):
            restored = _restore(
                self.repair,
                rebuilt,
                slot,
                orphans[at],
            )
            if self._stays(at, slot, entry, restored):
                rebuilt.append(slot)

            if at in self.calls and not self._results_after(at):
                answers = _answers(self.repair, self.calls[at])
                rebuilt.append(RepairSlot(slot.index, {"role": "user", "parts": answers}))

        self.repair.slots = rebuilt

    def _stays(
        self,
        at: int,
        slot: RepairSlot,
        entry: Entry,
        restored: list[Half],
    ) -> bool:
        """Put the responses that belong there into a content; return whether it holds any part."""
        if not entry.results or at - 1 in self.complete:
            return True

        parts = parts_of(slot.message)
        start = next(n for n, part in enumerate(parts) if result_in(part) is not None)
        new_parts = parts[:start]
        new_parts += _answers(self.repair, self._calls_at(at - 1))
        new_parts += [response.slot.message for response in restored]
        new_parts += [part for part in parts[start:] if result_in(part) is None]
        if [id(part) for part in new_parts] != [id(part) for part in parts]:
            self.repair.set_body(slot, new_parts)

        return bool(new_parts)


def pair_functions(repair: Repair) -> None:
    """Move responses to their calls, answer calls without one, and remove what answers nothing."""
    pairing = FunctionPairing(repair)
    pairing.match()
    if not pairing.is_whole:
        pairing.rebuild()


def _same_id(call: Half, response: Half) -> bool:
    return bool(response.call.id) and call.call.id == response.call.id


def _same_name(call: Half, response: Half) -> bool:
    return bool(response.call.name) and call.call.name == response.call.name


def _without_name(_: Half, response: Half) -> bool:
    return not response.call.name


Fits = Callable[[Half, Half], bool]
"""Whether a response may answer a call."""


def _fitting(calls: Iterable[Half], response: Half, fits: Fits) -> Iterator[Half]:
    return (call for call in calls if fits(call, response))


def _restore(
    repair: Repair, rebuilt: list[RepairSlot], slot: RepairSlot, orphans: list[Half]
) -> list[Half]:
    """Return the responses without calls that stay: all, behind stubs of their calls, or none."""
    for response in orphans:
        rule = "result-has-call" if response.home is None else "results-match-calls"
        if repair.restore_calls:
            text = f"a call of {response.call.name or 'a function'} for its response"
            repair.note(
                slot,
                rule,
                "added",
                text,
            )
        else:
            repair.note(
                slot,
                rule,
                "removed",
                words(response.slot.message),
            )

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
        response = call.other
        name = call.call.name or "a function"
        if response is None:
            repair.note(
                call.slot,
                "call-has-result",
                "added",
                f"a response for {name}",
            )
            stub = {**_stub(call.call), "response": {"error": NO_RESULT}}
            parts.append({"functionResponse": stub})
            continue

        text = f"the response of {name}"
        if response.place != call.place + 1 and response.is_home:
            repair.note(
                response.slot,
                "results-match-calls",
                "merged",
                text,
            )
        elif response.place != call.place + 1:
            repair.note(
                response.slot,
                "result-has-call",
                "moved",
                text,
            )

        parts.append(response.slot.message)

    return parts


def _stub(call: EntryCall) -> dict[str, Any]:
    fields = {"name": call.name or UNKNOWN_TOOL}
    if call.id:
        return {"id": call.id, **fields}

    return fields


def name_functions(repair: Repair) -> None:
    """Name calls and responses without a name: as the other does, or with a stub."""
    names: list[str] = []
    for slot, entry in reversed(repair.read()):
        if entry.calls:
            pairs_of_names = zip(entry.calls, names, strict=False)
            names = [call.name or name or UNKNOWN_TOOL for call, name in pairs_of_names]
            _set_names(
                repair,
                slot,
                CALLS,
                names,
            )

        names = [result.name for result in entry.results]

    for slot, entry in repair.read():
        if entry.results:
            _set_names(
                repair,
                slot,
                RESULTS,
                names,
            )

        names = [call.name for call in entry.calls]


def _set_names(
    repair: Repair,
    slot: RepairSlot,
    fields: tuple[str, str],
    names: list[str],
) -> None:
    """Name the calls, or the results, of a content where they have no name."""
    rule = "call-has-name" if fields == CALLS else "result-has-name"
    names_left = list(names)
    is_changed = False
    parts = parts_of(slot.message)
    for at, part in enumerate(parts):
        field = next((field for field in fields if get(part, field) is not None), "")
        if not field:
            continue

        name = names_left.pop(0) if names_left else ""
        function = get(part, field)
        if not string(get(function, "name")):
            repair.note(
                slot,
                rule,
                "changed",
                f"named {name}; it was: {words(part)}",
            )
            parts[at] = with_fields(part, **{field: with_fields(function, name=name)})
            is_changed = True

    if is_changed:
        repair.set_body(slot, parts)


PASSES: tuple[Pass, ...] = (
    give_roles,
    fill_parts,
    SIDES.split,
    merge_before_calls,
    pair_functions,
    name_functions,
    begin_with_user,
)
