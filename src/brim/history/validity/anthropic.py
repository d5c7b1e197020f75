"""Anthropic's Messages API: results begin the turn after their calls; nothing is said between."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brim.history.reading.anthropic import SERVER_CALLS, THINKING, blocks_of, is_directive, is_server_result, kind_of
from brim.history.types import Violation
from brim.history.validity.server_tools import server_call_has_result, server_result_has_call
from brim.history.validity.shared import (
    Rule,
    call_by_assistant,
    call_has_id,
    first_is_user,
    known_role,
    result_by_user,
    result_has_id,
)
from brim.history.validity.turns import turns_of, with_next
from brim.tokens.messages.fields import get, string

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from brim.history.reading.entry import Entry
    from brim.history.validity.turns import Turn


def calls_of(turn: Turn | None) -> list[tuple[Entry, str]]:
    """Return the ids of the calls in an assistant's turn, each with its message."""
    if turn is None or turn.role != "assistant":
        return []
    return [(block.entry, string(get(block.value, "id"))) for block in turn.of("tool_use")]


def results_of(turn: Turn | None) -> list[tuple[Entry, str]]:
    """Return the ids of the calls that a user's turn answers, each with its message."""
    if turn is None or turn.role != "user":
        return []
    return [(block.entry, string(get(block.value, "tool_use_id"))) for block in turn.of("tool_result")]


def has_content(history: Sequence[Entry]) -> Iterator[Violation]:
    """A message has content; only the last one may be empty, if it is the assistant's."""
    for entry in history:
        is_last = entry is history[-1] and entry.role == "assistant" and get(entry.message, "content") is not None
        if entry.role and not blocks_of(entry.message) and not is_last and not is_directive(entry.message):
            yield Violation(entry.index, "has-content", "it has no content")


def text_not_empty(history: Sequence[Entry]) -> Iterator[Violation]:
    """A text is more than white space."""
    for entry in history:
        for block in blocks_of(entry.message) if entry.role else ():
            text = block if isinstance(block, str) else get(block, "text")
            if kind_of(block) == "text" and not string(text).strip():
                yield Violation(entry.index, "text-not-empty", "it holds a text without a letter")


def call_ids_unique(history: Sequence[Entry]) -> Iterator[Violation]:
    """No id is used by two calls, in the whole history."""
    seen = set()
    for entry in history:
        for call in entry.calls:
            if call.id and call.id in seen:
                yield Violation(entry.index, "call-ids-unique", f"an earlier call has the id {call.id}")
            seen.add(call.id)


def results_first(history: Sequence[Entry]) -> Iterator[Violation]:
    """In a user's turn, results come before everything else."""
    for turn in turns_of(history):
        said = False
        for block in turn.blocks if turn.role == "user" else ():
            if block.kind == "tool_result" and said:
                yield Violation(block.entry.index, "results-first", "a result stands after other content of its turn")
            said = said or block.kind != "tool_result"


def calls_last(history: Sequence[Entry]) -> Iterator[Violation]:
    """In an assistant's turn, no text comes after a call."""
    for turn in turns_of(history):
        called = False
        for block in turn.blocks if turn.role == "assistant" else ():
            if block.kind == "text" and called:
                yield Violation(block.entry.index, "calls-last", "a text stands after a call of the same turn")
            called = called or block.kind == "tool_use"


def result_has_call(history: Sequence[Entry]) -> Iterator[Violation]:
    """A result answers a call of the turn right before."""
    for before, turn in with_next(turns_of(history)):
        called = {id_ for _, id_ in calls_of(before)}
        for entry, id_ in results_of(turn):
            if id_ and id_ not in called:
                text = f"the result of {id_} answers no call of the turn before it"
                yield Violation(entry.index, "result-has-call", text)


def one_result_per_call(history: Sequence[Entry]) -> Iterator[Violation]:
    """A call is answered once."""
    for before, turn in with_next(turns_of(history)):
        called = {id_ for _, id_ in calls_of(before)}
        answered = set()
        for entry, id_ in results_of(turn):
            if id_ in answered and id_ in called:
                yield Violation(entry.index, "one-result-per-call", f"the call {id_} has been answered before")
            answered.add(id_)


def call_has_result(history: Sequence[Entry]) -> Iterator[Violation]:
    """Every call is answered in the turn right after."""
    for turn, after in with_next(turns_of(history)):
        answered = {id_ for _, id_ in results_of(after)}
        for entry, id_ in calls_of(turn):
            if id_ and id_ not in answered:
                yield Violation(entry.index, "call-has-result", f"the call {id_} has no result in the next turn")


def reasoning_not_last(history: Sequence[Entry]) -> Iterator[Violation]:
    """The history does not end in thinking."""
    turns = turns_of(history)
    last = turns[-1].blocks if turns and turns[-1].role == "assistant" else []
    if last and last[-1].kind in THINKING:
        yield Violation(last[-1].entry.index, "reasoning-not-last", "the last message cannot end in thinking")


def system_placement(history: Sequence[Entry]) -> Iterator[Violation]:
    """A system message follows a user's turn or a call of the provider's own, and an assistant's turn follows it."""
    for before, turn, after in _between(turns_of(history)):
        if turn.role != "system":
            continue
        if before is None:
            text = "the first system text belongs into the request, beside the messages"
        elif not _may_precede_system(before) or (after is not None and after.role != "assistant"):
            text = "a system message stands between a user's turn and an assistant's, or at the end"
        else:
            text = ""
        for entry in turn.entries if text else turn.entries[1:]:
            yield Violation(entry.index, "system-placement", text or "two system messages follow each other")


def _between(turns: list[Turn]) -> Iterator[tuple[Turn | None, Turn, Turn | None]]:
    for at, turn in enumerate(turns):
        yield turns[at - 1] if at else None, turn, turns[at + 1] if at + 1 < len(turns) else None


def _may_precede_system(turn: Turn) -> bool:
    if turn.role != "assistant":
        return turn.role == "user"
    last = turn.blocks[-1].kind if turn.blocks else ""
    return (last in SERVER_CALLS or is_server_result(last)) and not turn.of("tool_use")


RULES: tuple[Rule, ...] = (
    known_role,
    has_content,
    text_not_empty,
    first_is_user,
    system_placement,
    call_by_assistant,
    result_by_user,
    call_has_id,
    result_has_id,
    call_ids_unique,
    results_first,
    calls_last,
    result_has_call,
    one_result_per_call,
    call_has_result,
    reasoning_not_last,
    server_result_has_call,
    server_call_has_result,
)
