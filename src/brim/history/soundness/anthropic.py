"""Anthropic's Messages API: messages of one role in a row are one turn; results begin the turn after their calls."""

from __future__ import annotations

from itertools import groupby, takewhile
from typing import TYPE_CHECKING

from brim.history.reading.anthropic import SERVER_CALLS, blocks_of, is_directive, is_server_result, kind_of
from brim.history.soundness.naming import named
from brim.tokens.messages.fields import get

if TYPE_CHECKING:
    from collections.abc import Sequence

    from brim.history.reading.entry import Entry


def broken_messages(entries: Sequence[Entry]) -> dict[int, str]:
    """Return what is broken in *entries*: index and reason. Settings without a text may stand anywhere."""
    entries = [entry for entry in entries if not is_directive(entry.message)]
    turns = [list(turn) for _, turn in groupby(entries, key=lambda entry: entry.role)]
    broken = {**_out_of_order(turns), **_reused(entries), **_misplaced_notes(turns), **_last_thought(entries)}
    before: list[Entry] = []
    for turn in turns:
        broken.update(_orphans(before, turn))
        broken.update(_unanswered(before, turn))
        before = turn
    return {**broken, **_unanswered(before, []), **_own_tools(turns)}


def is_empty_answer(entry: Entry) -> bool:
    """Whether *entry* is an empty message of the assistant's, which may stand at the end and nowhere else."""
    empty = entry.rule == "has-content" and entry.role == "assistant"
    return empty and get(entry.message, "content") is not None


def _out_of_order(turns: list[list[Entry]]) -> dict[int, str]:
    """Within a turn results come first, and nothing is said after a call."""
    broken = {}
    for turn in turns:
        said = called = False
        for entry in turn:
            if not entry.in_order:
                broken[entry.index] = "a result stands after text, or text after a call"
            elif entry.results and said:
                broken[entry.index] = "the result stands after other text of the same turn"
            elif called and any(kind_of(block) == "text" for block in blocks_of(entry.message)):
                broken[entry.index] = "it stands between a call and its result"
            said, called = said or entry.says, called or bool(entry.calls)
    return broken


def _reused(entries: Sequence[Entry]) -> dict[int, str]:
    """A call's id may be used once in a history; the newest use stays."""
    broken: dict[int, str] = {}
    seen: set[str] = set()
    for entry in reversed(entries):
        for call in entry.calls:
            if call.id in seen:
                broken[entry.index] = f"the id {named([call.id])} is used again later"
        seen.update(call.id for call in entry.calls)
    return broken


def _orphans(before: list[Entry], turn: list[Entry]) -> dict[int, str]:
    called = {call.id for entry in before if entry.role == "assistant" for call in entry.calls}
    broken, answered = {}, set()
    for entry in turn:
        for result in entry.results:
            if result.id not in called:
                broken[entry.index] = "it answers no call of the turn before it"
            elif result.id in answered:
                broken[entry.index] = "its call was answered before"
            answered.add(result.id)
    return broken


def _unanswered(turn: list[Entry], after: list[Entry]) -> dict[int, str]:
    answered = {result.id for entry in after for result in entry.results}
    missing = [call.id for entry in turn for call in entry.calls if call.id not in answered]
    reason = f"{named(missing)} has no result"
    return {entry.index: reason for entry in turn if entry.calls} if missing else {}


def _misplaced_notes(turns: list[list[Entry]]) -> dict[int, str]:
    """A system message stands after a user's turn and before an assistant's, or at the end, and never two in a row."""
    broken = {}
    for at, turn in enumerate(turns):
        if turn[0].role == "system":
            after = turns[at + 1][0].role if at + 1 < len(turns) else "assistant"
            fits = at > 0 and _may_precede_a_note(turns[at - 1]) and after == "assistant"
            for entry in turn if not fits else turn[1:]:
                broken[entry.index] = "a system message must stand between a user's turn and the assistant's"
    return broken


def _may_precede_a_note(turn: list[Entry]) -> bool:
    if turn[-1].role != "assistant":
        return turn[-1].role == "user"
    last = kind_of((blocks_of(turn[-1].message) or [""])[-1])
    return (last in SERVER_CALLS or is_server_result(last)) and not any(entry.calls for entry in turn)


def _own_tools(turns: list[list[Entry]]) -> dict[int, str]:
    """The provider's own calls have their results in the same turn, which goes on over bare results of other calls."""
    broken: dict[int, str] = {}
    waiting: dict[str, int] = {}
    for turn in turns:
        if turn[0].role == "user" and any(entry.says or entry.reasons for entry in turn):
            broken.update(dict.fromkeys(waiting.values(), "a call of the provider's own tool has no result"))
            waiting = {}
        for entry in turn if turn[0].role == "assistant" else ():
            if any(waiting.pop(call, None) is None for call in entry.closes):
                broken[entry.index] = "a result of the provider's own tool has no call"
            waiting.update(dict.fromkeys(entry.opens, entry.index))
    return broken


def _last_thought(entries: Sequence[Entry]) -> dict[int, str]:
    last = takewhile(lambda entry: entry.ends_in_reasoning, reversed(entries))
    return {entry.index: "the last message cannot end in thinking" for entry in last}
