"""Gemini: a content with calls comes right after the user's, and the very next content answers every one of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brim.history.reading.gemini import call_in, is_empty_part, parts_of, result_in
from brim.history.types import Violation
from brim.history.validity.shared import (
    Rule,
    call_by_assistant,
    call_has_name,
    first_is_user,
    known_role,
    result_by_user,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from brim.history.reading.entry import Entry


def neighbours(history: Sequence[Entry]) -> Iterator[tuple[Entry | None, Entry, Entry | None]]:
    """Yield every content with the ones right before and right after it."""
    for at, entry in enumerate(history):
        yield history[at - 1] if at else None, entry, history[at + 1] if at + 1 < len(history) else None


def number_of_calls(entry: Entry | None) -> int:
    """Return how many functions the model calls in *entry*."""
    return len(entry.calls) if entry is not None and entry.role == "assistant" else 0


def number_of_results(entry: Entry | None) -> int:
    """Return how many calls the user answers in *entry*."""
    return len(entry.results) if entry is not None and entry.role == "user" else 0


def has_content(history: Sequence[Entry]) -> Iterator[Violation]:
    """A content has at least one part."""
    for entry in history:
        if entry.role and not parts_of(entry.message):
            yield Violation(entry.index, "has-content", "it has no parts")


def part_not_empty(history: Sequence[Entry]) -> Iterator[Violation]:
    """A part holds something: a text, an image, a call."""
    for entry in history:
        for part in parts_of(entry.message) if entry.role else ():
            if call_in(part) is None and result_in(part) is None and is_empty_part(part):
                yield Violation(entry.index, "part-not-empty", "a part of it holds nothing")


def result_has_name(history: Sequence[Entry]) -> Iterator[Violation]:
    """A function response names its function."""
    for entry in history:
        for result in entry.results:
            if not result.name:
                yield Violation(entry.index, "result-has-name", "a function response does not name its function")


def call_after_user(history: Sequence[Entry]) -> Iterator[Violation]:
    """Calls come right after the user or after function responses; a text of the model's between is in the way."""
    for before, entry, _ in neighbours(history):
        if number_of_calls(entry) and (before is None or before.role != "user"):
            text = "a function call must come right after the user or after a function response"
            yield Violation(entry.index, "call-after-user", text)


def call_has_result(history: Sequence[Entry]) -> Iterator[Violation]:
    """Calls are answered in the very next content."""
    for _, entry, after in neighbours(history):
        if number_of_calls(entry) and not number_of_results(after):
            yield Violation(entry.index, "call-has-result", "the next content has no function response")


def result_has_call(history: Sequence[Entry]) -> Iterator[Violation]:
    """Function responses stand right after the content with their calls."""
    for before, entry, _ in neighbours(history):
        if number_of_results(entry) and not number_of_calls(before):
            yield Violation(entry.index, "result-has-call", "the content before it has no function call")


def results_match_calls(history: Sequence[Entry]) -> Iterator[Violation]:
    """There are as many function responses as calls, in one content."""
    for before, entry, _ in neighbours(history):
        calls, results = number_of_calls(before), number_of_results(entry)
        if calls and results and calls != results:
            text = f"{results} function responses answer {calls} function calls"
            yield Violation(entry.index, "results-match-calls", text)


RULES: tuple[Rule, ...] = (
    known_role,
    has_content,
    part_not_empty,
    first_is_user,
    call_by_assistant,
    result_by_user,
    call_has_name,
    result_has_name,
    call_after_user,
    call_has_result,
    result_has_call,
    results_match_calls,
)
