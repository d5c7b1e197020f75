"""Rules that several providers have. Nothing here knows how histories are pruned."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from brim.messages.entries import Entry, EntryCall
from brim.messages.receipt import Violation


@dataclass(frozen=True, slots=True)
class PlacedCall:
    """A call or a result, and the place of its message."""

    index: int
    call: EntryCall


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
                text = f"a call of {call.name or 'a tool'} has no id"
                yield Violation(entry.index, "call-has-id", text)


def calls_have_names(history: Sequence[Entry]) -> Iterator[Violation]:
    """Every call says what it calls."""
    for entry in history:
        for call in entry.calls:
            if not call.name:
                text = f"the call {call.id or 'without an id'} has no name"
                yield Violation(entry.index, "call-has-name", text)


def results_have_ids(history: Sequence[Entry]) -> Iterator[Violation]:
    """Every result says which call it answers."""
    text = "a result does not say which call it answers"
    for entry in history:
        for result in entry.results:
            if not result.id:
                yield Violation(entry.index, "result-has-id", text)


def user_is_first(history: Sequence[Entry]) -> Iterator[Violation]:
    """The conversation begins with the user, or with a compaction; another rule places system
    messages."""
    for entry in history:
        if entry.role == "system":
            continue

        if entry.role == "assistant" and not entry.compacts:
            yield Violation(entry.index, "first-is-user", "the first message is not the user's")

        return


def sides_are_right(history: Sequence[Entry]) -> Iterator[Violation]:
    """Only the assistant calls, and only the user answers."""
    for entry in history:
        if entry.calls and entry.role != "assistant":
            text = "a call stands in a message that is not the assistant's"
            yield Violation(entry.index, "call-by-assistant", text)

        if entry.results and entry.role != "user":
            text = "a result stands in a message that is not the user's"
            yield Violation(entry.index, "result-by-user", text)


def pairs_match(
    calls: Sequence[PlacedCall], results: Sequence[PlacedCall], before: str, after: str
) -> Iterator[Violation]:
    """The *results* answer the *calls* right before them, each of them once.

    *before* names what has the calls, and *after* where their results belong.
    """
    called = {placed.call.key for placed in calls}
    answered: set[tuple[str, str]] = set()
    for placed in results:
        result = placed.call
        if result.id and result.key not in called:
            text = f"the result of {result.id} answers no call of the {before} before it"
            yield Violation(placed.index, "result-has-call", text)
        elif result.id and result.key in answered:
            text = f"the call {result.id} has been answered before"
            yield Violation(placed.index, "one-result-per-call", text)

        answered.add(result.key)

    for placed in calls:
        call = placed.call
        if call.id and call.key not in answered:
            text = f"the call {call.id} has no result {after}"
            yield Violation(placed.index, "call-has-result", text)
