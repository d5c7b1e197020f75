"""OpenAI's chat API: the results of a message's calls follow it directly, one for each, in any order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brim.history.types import Violation
from brim.history.validity.shared import Rule, call_has_id, call_has_name, known_role, result_has_id
from brim.tokens.messages.fields import get, is_sequence, string

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from brim.history.reading.entry import Entry


def runs(history: Sequence[Entry]) -> Iterator[tuple[Entry | None, list[Entry]]]:
    """Yield every message that is no result, with the results right after it; results at the beginning with None."""
    before: Entry | None = None
    results: list[Entry] = []
    for entry in history:
        if entry.role == "tool":
            results.append(entry)
        else:
            yield before, results
            before, results = entry, []
    yield before, results


def has_content(history: Sequence[Entry]) -> Iterator[Violation]:
    """Content is not null, except beside calls, audio or a refusal of the assistant."""
    for entry in history:
        instead = entry.role == "assistant" and (
            entry.calls or get(entry.message, "audio") is not None or get(entry.message, "refusal") is not None
        )
        if entry.role and get(entry.message, "content") is None and not instead:
            yield Violation(entry.index, "has-content", "it has no content")


def calls_not_empty(history: Sequence[Entry]) -> Iterator[Violation]:
    """A list of calls has at least one; LangChain's messages, which have no role, are sent without an empty list."""
    for entry in history:
        calls = get(entry.message, "tool_calls")
        if entry.role == "assistant" and string(get(entry.message, "role")) and is_sequence(calls) and not calls:
            yield Violation(entry.index, "calls-not-empty", "tool_calls is an empty list: leave it out")


def call_ids_unique(history: Sequence[Entry]) -> Iterator[Violation]:
    """The calls of one message have different ids; another message may use them again."""
    for entry in history:
        seen = set()
        for call in entry.calls:
            if call.id and call.key in seen:
                yield Violation(entry.index, "call-ids-unique", f"two calls of one message have the id {call.id}")
            seen.add(call.key)


def result_has_call(history: Sequence[Entry]) -> Iterator[Violation]:
    """A result answers a call of the message that its run of results follows."""
    for before, results in runs(history):
        called = {call.key for call in before.calls} if before is not None else set()
        for entry in results:
            for result in entry.results:
                if result.id and result.key not in called:
                    text = f"the result of {result.id} answers no call of the message before it"
                    yield Violation(entry.index, "result-has-call", text)


def one_result_per_call(history: Sequence[Entry]) -> Iterator[Violation]:
    """A call is answered once."""
    for before, results in runs(history):
        called = {call.key for call in before.calls} if before is not None else set()
        answered = set()
        for entry in results:
            for result in entry.results:
                if result.id and result.key in called and result.key in answered:
                    text = f"the call {result.id} has been answered before"
                    yield Violation(entry.index, "one-result-per-call", text)
                answered.add(result.key)


def call_has_result(history: Sequence[Entry]) -> Iterator[Violation]:
    """Every call is answered by the results right after its message."""
    for before, results in runs(history):
        answered = {result.key for entry in results for result in entry.results}
        for call in before.calls if before is not None else ():
            if before is not None and call.id and call.key not in answered:
                text = f"the call {call.id} has no result right after its message"
                yield Violation(before.index, "call-has-result", text)


RULES: tuple[Rule, ...] = (
    known_role,
    has_content,
    calls_not_empty,
    call_has_id,
    call_has_name,
    call_ids_unique,
    result_has_id,
    result_has_call,
    one_result_per_call,
    call_has_result,
)
