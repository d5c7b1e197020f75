"""Where may a history be cut? Each rule names the places that it allows; a legal cut is one that all of them allow.

A place *k* lies before the entry at position *k*: 0 is before the first, ``len(entries)`` after the last. Every rule is
a function of its own and knows none of the others. They are asked about entries that are sound (``soundness``).
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from brim.history.soundness.responses import runs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from brim.history.reading.entry import Entry
    from brim.history.types import Provider

    Rule = Callable[[Sequence[Entry], Provider], set[int]]


def calls_with_results(entries: Sequence[Entry], provider: Provider) -> set[int]:
    """Never between a call and the last of its results, in whatever order they come."""
    spans = []
    waiting: dict[tuple[str, str], list[int]] = {}
    for at, entry in enumerate(entries):
        if provider == "gemini" and entry.results:  # ids are optional there: the content before has the calls
            spans.append((at - 1, at))
            continue
        for call in entry.calls:
            waiting.setdefault(call.key, []).append(at)
        for result in entry.results:
            if waiting.get(result.key):
                spans.append((waiting[result.key].pop(), at))
    return _outside(entries, spans)


def own_tools_with_results(entries: Sequence[Entry], provider: Provider) -> set[int]:
    """Never between a call of the provider's own tool and its result in a later message."""
    del provider  # only Anthropic's come apart
    spans = []
    waiting: dict[str, int] = {}
    for at, entry in enumerate(entries):
        spans += [(waiting[call], at) for call in entry.closes if call in waiting]
        waiting.update(dict.fromkeys(entry.opens, at))
    return _outside(entries, spans)


def parallel_calls(entries: Sequence[Entry], provider: Provider) -> set[int]:
    """Never between calls that one response made, where they are messages of their own."""
    if provider == "responses":
        return _outside(entries, ((run.start, run.stop - 1) for run in runs(entries)))
    return _outside(entries, ())


def reasoning_with_its_call(entries: Sequence[Entry], provider: Provider) -> set[int]:
    """Never between reasoning and what the assistant did next."""
    del provider  # every provider wants its reasoning back with what it led to
    spans = [
        (at, at + 1)
        for at, entry in enumerate(entries[:-1])
        if entry.ends_in_reasoning and entries[at + 1].role == "assistant"
    ]
    return _outside(entries, spans)


def one_voice(entries: Sequence[Entry], provider: Provider) -> set[int]:
    """Never inside a turn of the assistant that the provider reads as one message."""
    if provider not in ("anthropic", "gemini"):
        return _outside(entries, ())
    pairs = pairwise(entries)
    return _outside(
        entries,
        ((at, at + 1) for at, (one, two) in enumerate(pairs) if one.role == two.role == "assistant"),
    )


def notes_with_their_turns(entries: Sequence[Entry], provider: Provider) -> set[int]:
    """Never around a system message that has to stand between a user's turn and the assistant's."""
    if provider != "anthropic":
        return _outside(entries, ())
    last = len(entries) - 1
    notes = [at for at, entry in enumerate(entries) if entry.role == "system"]
    return _outside(entries, ((max(0, at - 1), min(last, at + 1)) for at in notes))


RULES: tuple[Rule, ...] = (
    calls_with_results,
    own_tools_with_results,
    parallel_calls,
    reasoning_with_its_call,
    one_voice,
    notes_with_their_turns,
)


def legal_cuts(entries: Sequence[Entry], provider: Provider) -> list[int]:
    """Return the places where every rule allows a cut, in order; the beginning and the end are always among them."""
    allowed = set(range(len(entries) + 1))
    for rule in RULES:
        allowed &= rule(entries, provider)
    return sorted(allowed)


def _outside(entries: Sequence[Entry], spans: Iterable[tuple[int, int]]) -> set[int]:
    """Return every place that lies in none of *spans*, each from the first to the last entry that it holds together."""
    depth = [0] * (len(entries) + 2)
    for first, last in spans:
        depth[first + 1] += 1
        depth[last + 1] -= 1
    allowed, inside = set(), 0
    for place in range(len(entries) + 1):
        inside += depth[place]
        if not inside:
            allowed.add(place)
    return allowed
