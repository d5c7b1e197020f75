"""Where a history may be cut, and what stands or falls together.

Each rule yields the spans that no cut may divide, as places of their first and last entry; a legal
cut lies in no span of any rule. A cut at *k* lies before the entry at place *k*: 0 is before the
first, ``len(entries)`` after the last. The rules expect entries that ``find_broken`` accepts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from brim.messages.entries import Entry, Provider
from brim.messages.responses import runs

Spans = Iterator[tuple[int, int]]
Rule = Callable[[Sequence[Entry], Provider], Spans]


def calls_with_results(entries: Sequence[Entry], provider: Provider) -> Spans:
    """A call stays with the last of its results, in whatever order they come."""
    waiting: dict[tuple[str, str], list[int]] = {}
    for at, entry in enumerate(entries):
        if provider == "gemini" and entry.results:
            # Ids are optional there: the content before has the calls.
            yield at - 1, at
            continue

        for call in entry.calls:
            waiting.setdefault(call.key, []).append(at)

        for result in entry.results:
            if waiting.get(result.key):
                yield waiting[result.key].pop(), at


def server_tools_with_results(entries: Sequence[Entry], _: Provider) -> Spans:
    """A call of the provider's own tool stays with its result in a later message. Only Anthropic's
    come apart."""
    waiting: dict[str, int] = {}
    for at, entry in enumerate(entries):
        for call in entry.closes:
            if call in waiting:
                yield waiting[call], at

        waiting.update(dict.fromkeys(entry.opens, at))


def parallel_calls(entries: Sequence[Entry], provider: Provider) -> Spans:
    """Calls that one response made stay together, where they are messages of their own."""
    if provider == "responses":
        for run in runs(entries):
            yield run.start, run.stop - 1


def one_voice(entries: Sequence[Entry], provider: Provider) -> Spans:
    """Reasoning stays with what the assistant did next.

    Anthropic and Gemini read all messages of one assistant's turn as one, so it isn't divided at
    all.
    """
    for at, (entry, following) in enumerate(pairwise(entries)):
        if following.role != "assistant":
            continue

        is_one_turn = entry.role == "assistant" and provider in ("anthropic", "gemini")
        if is_one_turn or entry.ends_in_reasoning:
            yield at, at + 1


def notes_with_their_turns(entries: Sequence[Entry], provider: Provider) -> Spans:
    """A system message that must stand between a user's turn and the assistant's stays with
    both."""
    if provider != "anthropic":
        return

    for at, entry in enumerate(entries):
        if entry.role == "system":
            yield max(0, at - 1), min(len(entries) - 1, at + 1)


RULES: tuple[Rule, ...] = (
    calls_with_results,
    server_tools_with_results,
    parallel_calls,
    one_voice,
    notes_with_their_turns,
)


def legal_cuts(entries: Sequence[Entry], provider: Provider) -> list[int]:
    """Return the places where every rule allows a cut, in order.

    The beginning and the end are always among them.
    """
    depth = [0] * (len(entries) + 2)
    for rule in RULES:
        for first, last in rule(entries, provider):
            depth[first + 1] += 1
            depth[last + 1] -= 1

    spans_around = enumerate(accumulate(depth[:-1]))
    return [place for place, spans in spans_around if not spans]


def may_follow(before: Entry | None, after: Entry, provider: Provider) -> bool:
    """Whether *after* may come right after *before*, or first if that is None, where something has
    left.

    Anthropic and Gemini want a prompt of the user's first, or a compaction. And the assistant must
    not answer itself there: merged into one turn, reasoning and calls would no longer come first,
    and Gemini wants calls right after the user's content.
    """
    if provider not in ("anthropic", "gemini") or after.aside:
        return True

    if before is None or before.role == "system":
        return after.is_prompt or after.compacts

    return not before.role == after.role == "assistant"


@dataclass(frozen=True, slots=True)
class Unit:
    """A prompt, an assistant's text or a step: no legal cut divides it.

    A step is a message with calls, or several that one response made, with all their results and
    the reasoning that led to them.
    """

    entries: tuple[Entry, ...]
    """The messages, read."""
    kind: str
    """``system``, ``user``, ``assistant`` or ``step``."""

    @property
    def first(self) -> Entry:
        """The message it begins with, system messages aside."""
        for entry in self.entries:
            if entry.role != "system":
                return entry

        return self.entries[0]

    @property
    def last(self) -> Entry:
        """The message it ends with, system messages aside."""
        for entry in reversed(self.entries):
            if entry.role != "system":
                return entry

        return self.entries[-1]

    @property
    def indices(self) -> tuple[int, ...]:
        """The places of its messages in the given list."""
        return tuple(entry.index for entry in self.entries)

    @property
    def has_prompt(self) -> bool:
        """Whether a person speaks in it, so a turn begins here."""
        return any(entry.is_prompt for entry in self.entries)


def units_of(entries: Sequence[Entry], provider: Provider) -> list[Unit]:
    """Return *entries* as units, in order."""
    aside = sum(entry.aside for entry in entries)
    units = [Unit((entry,), "system") for entry in entries[:aside]]
    members = entries[aside:]
    for start, stop in pairwise(legal_cuts(members, provider)):
        unit_entries = tuple(members[start:stop])
        units.append(Unit(unit_entries, _kind(unit_entries)))

    return units


def _kind(entries: Sequence[Entry]) -> str:
    """Return the kind of the unit that *entries* are."""
    if any(entry.calls for entry in entries):
        return "step"

    if any(entry.is_prompt for entry in entries):
        return "user"

    if entries[0].role == "system":
        return "system"

    return "assistant"
