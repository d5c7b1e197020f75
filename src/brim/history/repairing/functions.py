"""Pairs Gemini's calls and responses: the content after calls holds one response for each, and nobody else has any.

Ids are optional here. A response belongs to the call with its id, else to one with its name; where there are as many as
there are calls, they are taken as they stand.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from brim.history.editing import with_fields
from brim.history.reading.gemini import parts_of, result_in
from brim.history.repairing.draft import Draft, Slot
from brim.history.repairing.parts import set_parts
from brim.history.repairing.stubs import gemini_call, gemini_result
from brim.history.repairing.words import words

if TYPE_CHECKING:
    from brim.history.reading.entry import Call, Entry

Read = list[tuple[Slot, "Entry"]]


@dataclass(eq=False, slots=True)
class Response:
    """A function response, where it stands."""

    result: Call
    place: int
    """The place of its content."""
    part: Any
    home: int | None
    """The place of the calls that it follows."""
    group: Group | None = None
    """The calls that it answers one of."""


@dataclass(eq=False, slots=True)
class Group:
    """A content with calls."""

    calls: tuple[Call, ...]
    place: int
    is_right: bool
    """Whether the next content has as many responses as this one has calls."""
    answers: dict[int, Response] = field(default_factory=dict)
    """The response to each call that has one, by the call's place in the content."""


def pair_functions(draft: Draft) -> None:
    """Move responses to their calls, answer the calls that have none, and take out what answers nothing."""
    read = draft.read()
    groups = {at: _group(read, at) for at, (_, entry) in enumerate(read) if entry.calls}
    responses = _responses(read)
    _match(groups, responses)
    if all(group.is_right for group in groups.values()) and all(response.group for response in responses):
        return
    orphans: dict[int, list[Response]] = {}
    for response in responses:
        if response.group is None:
            orphans.setdefault(response.place, []).append(response)
    rebuilt: list[Slot] = []
    for at, (slot, _) in enumerate(read):
        left = _leftover(draft, read[at][0], orphans.get(at, []))
        if left:
            _restore(rebuilt, slot, left)
        rebuilt += _with_responses(draft, read, at, groups, left)
    draft.slots = rebuilt


def _group(read: Read, at: int) -> Group:
    following = len(read[at + 1][1].results) if at + 1 < len(read) else 0
    return Group(read[at][1].calls, at, is_right=following == len(read[at][1].calls))


def _responses(read: Read) -> list[Response]:
    """Return every response, with the calls that it follows, over other contents that hold only responses."""
    found: list[Response] = []
    home: int | None = None
    for at, (slot, entry) in enumerate(read):
        if entry.calls:
            home = at
        elif not entry.results or (home is not None and home + 1 < at and entry.says):
            home = None
        parts = [part for part in parts_of(slot.message) if result_in(part) is not None]
        found += [Response(result, at, part, home) for result, part in zip(entry.results, parts, strict=True)]
    return found


def _match(groups: dict[int, Group], responses: list[Response]) -> None:
    for response in responses:
        group = groups.get(response.place - 1)
        if group is not None and group.is_right:
            group.answers[len(group.answers)] = response
            response.group = group
    at_home = [(response, groups[response.home]) for response in responses if response.home is not None]
    for response, group in at_home:
        _answer(response, group, lambda call, result: bool(result.id) and call.id == result.id)
    for response, group in at_home:
        _answer(response, group, lambda call, result: bool(result.name) and call.name == result.name)
    for response, group in at_home:
        _answer(response, group, lambda _, result: not result.name)
    newest_first = sorted(groups.values(), key=lambda group: -group.place)
    for response in (response for response in responses if response.group is None):
        earlier = [group for group in newest_first if group.place < response.place]
        swapped = [groups[response.place + 1]] if response.place + 1 in groups else []
        for group in (*earlier, *swapped):
            _answer(response, group, _is_meant)


def _is_meant(call: Call, result: Call) -> bool:
    return call.id == result.id if result.id else bool(result.name) and call.name == result.name


def _answer(response: Response, group: Group, fits: Any) -> None:
    """Let *response* answer the first waiting call of *group* that fits."""
    if response.group is None:
        for at, call in enumerate(group.calls):
            if at not in group.answers and fits(call, response.result):
                group.answers[at] = response
                response.group = group
                return


def _leftover(draft: Draft, slot: Slot, orphans: list[Response]) -> list[Response]:
    """Return the orphans that stay, with a stub of their call: all or none."""
    for response in orphans:
        rule = "result-has-call" if response.home is None else "results-match-calls"
        if draft.restore_calls:
            draft.note(slot, rule, "added", f"a call of {response.result.name or 'a function'} for its response")
        else:
            draft.note(slot, rule, "removed", words(response.part))
    return orphans if draft.restore_calls else []


def _restore(rebuilt: list[Slot], slot: Slot, orphans: list[Response]) -> None:
    """Add calls for *orphans* to the model's content before them, or as one."""
    calls = [gemini_call(response.result) for response in orphans]
    before = Draft(rebuilt[-1:], "gemini").read()
    if before and before[0][1].role == "assistant":
        old = before[0][0]
        old.message = with_fields(old.message, parts=[*parts_of(old.message), *calls])
    else:
        rebuilt.append(Slot(slot.index, {"role": "model", "parts": calls}))


def _with_responses(draft: Draft, read: Read, at: int, groups: dict[int, Group], orphans: list[Response]) -> list[Slot]:
    """Return the content at *at* with the responses that belong there, and behind it those that no content holds."""
    slot, entry = read[at]
    mine = groups.get(at - 1)
    slots = [slot]
    if entry.results and not (mine is not None and mine.is_right):
        answers = _answers(draft, read, mine) if mine is not None else []
        kept = [*answers, *(response.part for response in orphans)]
        parts = parts_of(slot.message)
        first = next(n for n, part in enumerate(parts) if result_in(part) is not None)
        others = [part for part in parts[first:] if result_in(part) is None]
        whole = Draft([slot], "gemini", changes=draft.changes)
        if [id(part) for part in [*parts[:first], *kept, *others]] != [id(part) for part in parts]:
            set_parts(whole, slot, [*parts[:first], *kept, *others])
        slots = whole.slots
    group = groups.get(at)
    if group is not None and not (at + 1 < len(read) and read[at + 1][1].results):
        slots.append(Slot(slot.index, {"role": "user", "parts": _answers(draft, read, group)}))
    return slots


def _answers(draft: Draft, read: Read, group: Group) -> list[Any]:
    """Return a response for every call of *group*, in their order."""
    parts = []
    for at, call in enumerate(group.calls):
        response = group.answers.get(at)
        if response is None:
            draft.note(read[group.place][0], "call-has-result", "added", f"a response for {call.name or 'a function'}")
            parts.append(gemini_result(call))
            continue
        if response.place != group.place + 1:
            action, rule = (
                ("merged", "results-match-calls") if response.home == group.place else ("moved", "result-has-call")
            )
            draft.note(read[response.place][0], rule, action, f"the response of {call.name or 'a function'}")
        parts.append(response.part)
    return parts
