"""OpenAI's Responses API: an output comes anywhere after its call; reasoning comes before what it led to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from brim.history.types import Violation
from brim.history.validity.shared import Rule, call_has_id, known_role, result_has_id
from brim.tokens.messages.fields import get, string

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from brim.history.reading.entry import Call, Entry


@dataclass
class Pairs:
    """Who answers whom: each output the nearest call before it that has its kind and id and waits for an answer."""

    unanswered: list[tuple[Entry, Call]] = field(default_factory=list)
    orphans: list[tuple[Entry, Call]] = field(default_factory=list)
    repeated: list[tuple[Entry, Call]] = field(default_factory=list)
    """Outputs of calls that all have one already."""


def pairs(history: Sequence[Entry]) -> Pairs:
    """Return who answers whom in *history*."""
    found = Pairs()
    waiting: dict[tuple[str, str], list[tuple[Entry, Call]]] = {}
    for entry in history:
        for call in entry.calls:
            if call.id:
                waiting.setdefault(call.key, []).append((entry, call))
        for result in entry.results:
            if not result.id:
                continue
            if result.key not in waiting:
                found.orphans.append((entry, result))
            elif not waiting[result.key]:
                found.repeated.append((entry, result))
            else:
                waiting[result.key].pop()
    found.unanswered = [pair for calls in waiting.values() for pair in calls if pair[1].required]
    return found


def has_content(history: Sequence[Entry]) -> Iterator[Violation]:
    """A message has content; other items have their own fields."""
    for entry in history:
        is_message = string(get(entry.message, "type")) in ("", "message")
        if entry.role and is_message and get(entry.message, "content") is None:
            yield Violation(entry.index, "has-content", "it has no content")


def result_has_call(history: Sequence[Entry]) -> Iterator[Violation]:
    """An output stands after a call of its kind with its id."""
    for entry, result in pairs(history).orphans:
        text = f"no {result.kind} call with the id {result.id} stands before this output"
        yield Violation(entry.index, "result-has-call", text)


def one_result_per_call(history: Sequence[Entry]) -> Iterator[Violation]:
    """A call is answered once; an id that is used again waits for another output."""
    for entry, result in pairs(history).repeated:
        yield Violation(entry.index, "one-result-per-call", f"the call {result.id} has been answered before")


def call_has_result(history: Sequence[Entry]) -> Iterator[Violation]:
    """Every call that the caller's program answers has an output after it."""
    for entry, call in pairs(history).unanswered:
        yield Violation(entry.index, "call-has-result", f"the call {call.id} has no output after it")


def reasoning_has_item(history: Sequence[Entry]) -> Iterator[Violation]:
    """After reasoning, or several of them, comes what it led to: a message of the assistant or a call."""
    leads_on = False
    for entry in reversed(history):
        if not entry.reasons:
            leads_on = entry.role == "assistant"
        elif not leads_on:
            yield Violation(entry.index, "reasoning-has-item", "nothing of the assistant's follows this reasoning")


def item_ids_unique(history: Sequence[Entry]) -> Iterator[Violation]:
    """No two items have the same id of their own."""
    seen = set()
    for entry in history:
        if entry.id and entry.id in seen:
            yield Violation(entry.index, "item-ids-unique", f"an item with the id {entry.id} stands before it")
        seen.add(entry.id)


RULES: tuple[Rule, ...] = (
    known_role,
    has_content,
    call_has_id,
    result_has_id,
    result_has_call,
    one_result_per_call,
    call_has_result,
    reasoning_has_item,
    item_ids_unique,
)
