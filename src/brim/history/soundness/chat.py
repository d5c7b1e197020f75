"""OpenAI's chat API: the results of a message's calls follow it directly, one for each call, in any order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brim.history.soundness.naming import named

if TYPE_CHECKING:
    from collections.abc import Sequence

    from brim.history.reading.entry import Entry


def broken_chat(entries: Sequence[Entry]) -> dict[int, str]:
    """Return what is broken in *entries*: index and reason."""
    broken: dict[int, str] = {}
    at = 0
    while at < len(entries):
        entry = entries[at]
        at += 1
        if entry.role == "tool":
            broken[entry.index] = "it answers no call of the message before it"
        elif entry.calls:
            end = at
            while end < len(entries) and entries[end].role == "tool":
                end += 1
            broken.update(_step(entry, entries[at:end]))
            at = end
    return broken


def _step(caller: Entry, answers: Sequence[Entry]) -> dict[int, str]:
    open_calls = {call.key for call in caller.calls}
    answered = set()
    broken: dict[int, str] = {}
    for answer in answers:
        key = answer.results[0].key
        if key in answered:
            broken[answer.index] = "its call was answered before"
        elif key not in open_calls:
            broken[answer.index] = "it answers no call of the message before it"
        answered.add(key)
    if open_calls - answered:
        missing = named(sorted(call_id for _, call_id in open_calls - answered))
        broken.update(dict.fromkeys((caller.index, *(answer.index for answer in answers)), f"{missing} has no result"))
    return broken
