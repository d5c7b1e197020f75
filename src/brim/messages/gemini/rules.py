"""The rules of Gemini's API, and what a pruner must drop because of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from brim.messages.entries import Entry
from brim.messages.gemini.reading import is_empty_part, parts_of
from brim.messages.receipt import Violation
from brim.messages.rules import calls_have_names, known_roles, sides_are_right, user_is_first


def check(history: Sequence[Entry]) -> Iterator[Violation]:
    """Yield every place where *history* breaks a rule."""
    yield from known_roles(history)
    for entry in history:
        if entry.role:
            yield from _check_parts(entry)

    yield from user_is_first(history)
    yield from sides_are_right(history)
    yield from calls_have_names(history)
    for entry in history:
        for result in entry.results:
            if not result.name:
                text = "a function response does not name its function"
                yield Violation(entry.index, "result-has-name", text)

    before: Entry | None = None
    for at, entry in enumerate(history):
        after = history[at + 1] if at + 1 < len(history) else None
        yield from _check_calls(before, entry, after)
        yield from _check_results(before, entry)
        before = entry


def _check_parts(entry: Entry) -> Iterator[Violation]:
    parts = parts_of(entry.message)
    if not parts:
        yield Violation(entry.index, "has-content", "it has no parts")

    for part in parts:
        # A part with a call holds something, and so isn't empty.
        if is_empty_part(part):
            yield Violation(entry.index, "part-not-empty", "a part of it holds nothing")


def _check_calls(before: Entry | None, entry: Entry, after: Entry | None) -> Iterator[Violation]:
    """Calls follow the user, and the next content answers them."""
    if not _calls_of(entry):
        return

    if before is None or before.role != "user":
        text = "a function call must come right after the user or after a function response"
        yield Violation(entry.index, "call-after-user", text)

    if not _results_of(after):
        text = "the next content has no function response"
        yield Violation(entry.index, "call-has-result", text)


def _check_results(before: Entry | None, entry: Entry) -> Iterator[Violation]:
    """Results answer the calls of the content before them, by as many responses as there are."""
    results = _results_of(entry)
    called = _calls_of(before)
    if results and not called:
        text = "the content before it has no function call"
        yield Violation(entry.index, "result-has-call", text)
    elif results and results != called:
        text = f"{results} function responses answer {called} function calls"
        yield Violation(entry.index, "results-match-calls", text)


def _calls_of(entry: Entry | None) -> int:
    """Return how many calls the model makes in a content."""
    if entry is None or entry.role != "assistant":
        return 0

    return len(entry.calls)


def _results_of(entry: Entry | None) -> int:
    """Return how many calls the user answers in a content."""
    if entry is None or entry.role != "user":
        return 0

    return len(entry.results)


# What a pruner must drop


def find_broken(entries: Sequence[Entry]) -> dict[int, str]:
    """Return the contents that can't be sent next to the others: index and reason."""
    broken: dict[int, str] = {}
    before: Entry | None = None
    for at, entry in enumerate(entries):
        if entry.calls:
            after = entries[at + 1] if at + 1 < len(entries) else None
            results = 0 if after is None else len(after.results)
            if results != len(entry.calls):
                text = f"{results} of its {len(entry.calls)} calls have results right after it"
                broken[entry.index] = text
            elif before is None:
                broken[entry.index] = "a call cannot come first"
            else:
                broken.update(_texts_before_call(entries, at))

        if entry.results and (before is None or not before.calls):
            broken[entry.index] = "it answers no call of the content before it"

        before = entry

    return broken


def _texts_before_call(entries: Sequence[Entry], call: int) -> dict[int, str]:
    """Return the model's texts right before the place *call*: a call may only follow the user."""
    broken: dict[int, str] = {}
    for at in range(call - 1, -1, -1):
        entry = entries[at]
        if entry.role != "assistant" or entry.calls:
            break

        broken[entry.index] = "a call follows, which must come right after the user"

    return broken
