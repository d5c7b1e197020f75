"""Gemini: a content with calls comes right after a user's, and the very next content answers every one of them."""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from brim.history.reading.entry import Entry


def broken_contents(entries: Sequence[Entry]) -> dict[int, str]:
    """Return what is broken in *entries*: index and reason."""
    broken = {}
    for at, entry in enumerate(entries):
        before = entries[at - 1] if at else None
        after = entries[at + 1] if at + 1 < len(entries) else None
        if entry.calls:
            results = len(after.results) if after is not None else 0
            if results != len(entry.calls):
                broken[entry.index] = f"{results} of its {len(entry.calls)} calls have results right after it"
            elif before is None:
                broken[entry.index] = "a call cannot come first"
            else:
                broken.update(_between_user_and_call(entries, at))
        if entry.results and (before is None or not before.calls):
            broken[entry.index] = "it answers no call of the content before it"
    return broken


def _between_user_and_call(entries: Sequence[Entry], call: int) -> dict[int, str]:
    """Return the texts of the model's right before the *call*."""
    before = (entries[at] for at in range(call - 1, -1, -1))
    texts = takewhile(lambda entry: entry.role == "assistant" and not entry.calls, before)
    return {entry.index: "a call follows, which must come right after the user" for entry in texts}
