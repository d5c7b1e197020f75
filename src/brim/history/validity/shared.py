"""What a rule is, and the rules that every provider has."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from brim.history.types import Violation

if TYPE_CHECKING:
    from brim.history.reading.entry import Entry

Rule = Callable[[Sequence["Entry"]], Iterator[Violation]]
"""Finds every place where a history, read, breaks one rule."""


def known_role(history: Sequence[Entry]) -> Iterator[Violation]:
    """Every message is spoken by somebody whom the provider knows."""
    for entry in history:
        if not entry.role:
            yield Violation(entry.index, "known-role", entry.problem)


def call_has_id(history: Sequence[Entry]) -> Iterator[Violation]:
    """Every call has an id."""
    for entry in history:
        for call in entry.calls:
            if not call.id and call.required:
                yield Violation(entry.index, "call-has-id", f"a call of {call.name or 'a tool'} has no id")


def call_has_name(history: Sequence[Entry]) -> Iterator[Violation]:
    """Every call says what it calls."""
    for entry in history:
        for call in entry.calls:
            if not call.name:
                yield Violation(entry.index, "call-has-name", f"the call {call.id or 'without an id'} has no name")


def result_has_id(history: Sequence[Entry]) -> Iterator[Violation]:
    """Every result says which call it answers."""
    for entry in history:
        for result in entry.results:
            if not result.id:
                yield Violation(entry.index, "result-has-id", "a result does not say which call it answers")


def first_is_user(history: Sequence[Entry]) -> Iterator[Violation]:
    """The conversation begins with the user; a system message before is the business of another rule."""
    first = next((entry for entry in history if entry.role != "system"), None)
    if first is not None and first.role == "assistant":
        yield Violation(first.index, "first-is-user", "the first message is not the user's")


def call_by_assistant(history: Sequence[Entry]) -> Iterator[Violation]:
    """Only the assistant calls."""
    for entry in history:
        if entry.calls and entry.role != "assistant":
            yield Violation(entry.index, "call-by-assistant", "a call stands in a message that is not the assistant's")


def result_by_user(history: Sequence[Entry]) -> Iterator[Violation]:
    """Only the user answers a call."""
    for entry in history:
        if entry.results and entry.role != "user":
            yield Violation(entry.index, "result-by-user", "a result stands in a message that is not the user's")
