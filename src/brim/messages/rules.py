"""Rules that several providers have. Nothing here knows how histories are pruned."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from brim.messages.entries import Entry, EntryCall
from brim.messages.receipt import Violation

Found = tuple[int, EntryCall]
"""A call or a result, and the index of its message."""


def known_roles(history: Sequence[Entry]) -> Iterator[Violation]:
    """Every message has a role that the provider knows."""
    return (
        Violation(entry.index, "known-role", entry.problem) for entry in history if not entry.role
    )


def calls_have_ids(history: Sequence[Entry]) -> Iterator[Violation]:
    """Every call that needs an answer has an id."""
    wrong = (
        (entry.index, call)
        for entry in history
        for call in entry.calls
        if not call.id and call.required
    )
    return (
        Violation(index, "call-has-id", f"a call of {call.name or 'a tool'} has no id")
        for index, call in wrong
    )


def calls_have_names(history: Sequence[Entry]) -> Iterator[Violation]:
    """Every call says what it calls."""
    wrong = (
        (entry.index, call.id or "without an id")
        for entry in history
        for call in entry.calls
        if not call.name
    )
    return (
        Violation(index, "call-has-name", f"the call {shown} has no name") for index, shown in wrong
    )


def results_have_ids(history: Sequence[Entry]) -> Iterator[Violation]:
    """Every result says which call it answers."""
    wrong = (entry.index for entry in history for result in entry.results if not result.id)
    return (
        Violation(index, "result-has-id", "a result does not say which call it answers")
        for index in wrong
    )


def user_is_first(history: Sequence[Entry]) -> Iterator[Violation]:
    """The conversation begins with the user, or with a compaction; another rule places system
    messages."""
    first = next((entry for entry in history if entry.role != "system"), None)
    if first is not None and first.role == "assistant" and not first.compacts:
        yield Violation(first.index, "first-is-user", "the first message is not the user's")


def sides_are_right(history: Sequence[Entry]) -> Iterator[Violation]:
    """Only the assistant calls, and only the user answers."""
    for entry in history:
        if entry.calls and entry.role != "assistant":
            yield Violation(
                entry.index,
                "call-by-assistant",
                "a call stands in a message that is not the assistant's",
            )
        if entry.results and entry.role != "user":
            yield Violation(
                entry.index, "result-by-user", "a result stands in a message that is not the user's"
            )


def pairs_match(
    calls: Sequence[Found], results: Sequence[Found], before: str, after: str
) -> Iterator[Violation]:
    """The *results* answer the *calls* right before them, each of them once.

    *before* names what has the calls, and *after* where their results belong.
    """
    called, answered = {call.key for _, call in calls}, set()
    for index, result in results:
        if result.id and result.key not in called:
            text = f"the result of {result.id} answers no call of the {before} before it"
            yield Violation(index, "result-has-call", text)
        elif result.id and result.key in answered:
            yield Violation(
                index, "one-result-per-call", f"the call {result.id} has been answered before"
            )
        answered.add(result.key)
    for index, call in calls:
        if call.id and call.key not in answered:
            yield Violation(index, "call-has-result", f"the call {call.id} has no result {after}")
