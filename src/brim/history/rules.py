"""Rules that several providers have. Nothing here knows how histories are pruned."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from brim.history.entries import Entry
from brim.history.receipt import Violation


def known_roles(history: Sequence[Entry]) -> Iterator[Violation]:
    """Every message has a role that the provider knows."""
    for entry in history:
        if not entry.role:
            yield Violation(entry.index, "known-role", entry.problem)


def calls_have_ids(history: Sequence[Entry]) -> Iterator[Violation]:
    """Every call that needs an answer has an id."""
    for entry in history:
        for call in entry.calls:
            if not call.id and call.required:
                yield Violation(entry.index, "call-has-id", f"a call of {call.name or 'a tool'} has no id")


def calls_have_names(history: Sequence[Entry]) -> Iterator[Violation]:
    """Every call says what it calls."""
    for entry in history:
        for call in entry.calls:
            if not call.name:
                yield Violation(entry.index, "call-has-name", f"the call {call.id or 'without an id'} has no name")


def results_have_ids(history: Sequence[Entry]) -> Iterator[Violation]:
    """Every result says which call it answers."""
    for entry in history:
        for result in entry.results:
            if not result.id:
                yield Violation(entry.index, "result-has-id", "a result does not say which call it answers")


def user_is_first(history: Sequence[Entry]) -> Iterator[Violation]:
    """The conversation begins with the user; another rule places system messages."""
    first = next((entry for entry in history if entry.role != "system"), None)
    if first is not None and first.role == "assistant":
        yield Violation(first.index, "first-is-user", "the first message is not the user's")


def sides_are_right(history: Sequence[Entry]) -> Iterator[Violation]:
    """Only the assistant calls, and only the user answers."""
    for entry in history:
        if entry.calls and entry.role != "assistant":
            yield Violation(entry.index, "call-by-assistant", "a call stands in a message that is not the assistant's")
        if entry.results and entry.role != "user":
            yield Violation(entry.index, "result-by-user", "a result stands in a message that is not the user's")
