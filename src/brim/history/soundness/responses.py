"""OpenAI's Responses API: an output comes anywhere after its call; reasoning comes before what it led to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brim.history.soundness.naming import named

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from brim.history.reading.entry import Entry


def broken_items(entries: Sequence[Entry]) -> dict[int, str]:
    """Return what is broken in *entries*: index and reason."""
    return {**_twice(entries), **_unpaired(entries), **_loose_reasoning(entries)}


def runs(entries: Sequence[Entry]) -> Iterator[range]:
    """Yield the places of each run of items that one response gave: reasoning and all that follows, or parallel calls.

    The API does not say where a response begins. Items of the assistant's side that stand together and hold reasoning
    are taken as one; without reasoning only calls that stand together are.
    """
    start = 0
    while start < len(entries):
        stop = start
        while stop < len(entries) and entries[stop].role == "assistant":
            stop += 1
        thinking = next((at for at in range(start, stop) if entries[at].reasons), stop)
        yield from _calls_together(entries, start, thinking)
        if thinking < stop:
            yield range(thinking, stop)
        start = stop + 1


def _calls_together(entries: Sequence[Entry], start: int, stop: int) -> Iterator[range]:
    at = start
    while at < stop:
        end = at + 1
        while entries[at].calls and end < stop and entries[end].calls:
            end += 1
        yield range(at, end)
        at = end


def _twice(entries: Sequence[Entry]) -> dict[int, str]:
    seen: set[str] = set()
    broken = {}
    for entry in entries:
        if entry.id and entry.id in seen:
            broken[entry.index] = f"an item with the id {entry.id} stands before it"
        seen.add(entry.id)
    return broken


def _unpaired(entries: Sequence[Entry]) -> dict[int, str]:
    waiting: dict[tuple[str, str], list[int]] = {}
    broken = {}
    for at, entry in enumerate(entries):
        for call in entry.calls:
            if call.required:
                waiting.setdefault(call.key, []).append(at)
            else:
                waiting.setdefault(call.key, []).insert(0, -1)
        for result in entry.results:
            if waiting.get(result.key):
                waiting[result.key].pop()
            else:
                broken[entry.index] = "it answers no call before it"
    unanswered = {at for places in waiting.values() for at in places if at >= 0}
    if unanswered:
        for run in _led_by_reasoning(entries):
            missing = [entries[at].calls[0].id for at in run if at in unanswered]
            for at in run if missing else ():
                if entries[at].calls or entries[at].reasons:
                    broken[entries[at].index] = f"{named(missing)} has no result"
    return broken


def _led_by_reasoning(entries: Sequence[Entry]) -> Iterator[range]:
    """Yield the runs, divided before each reasoning that follows something else: it led to what comes after it."""
    for run in runs(entries):
        start = run.start
        for at in run[1:]:
            if entries[at].reasons and not entries[at - 1].reasons:
                yield range(start, at)
                start = at
        yield range(start, run.stop)


def _loose_reasoning(entries: Sequence[Entry]) -> dict[int, str]:
    broken = {}
    leads_on = False
    for entry in reversed(entries):
        if entry.reasons:
            if not leads_on:
                broken[entry.index] = "the reasoning leads to nothing"
        else:
            leads_on = entry.role == "assistant"
    return broken
