"""Which result belongs to which call? By its id and place first, then by its id alone, at last by its place alone."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from brim.history.reading.entry import Call


@dataclass(eq=False, slots=True)
class CallAt:
    """A call, and where it stands."""

    call: Call
    place: int
    """The place of its message, or of its turn."""
    answer: ResultAt | None = None


@dataclass(eq=False, slots=True)
class ResultAt:
    """A result, and where it stands."""

    result: Call
    place: int
    """The place of its message, or of its turn."""
    home: int | None
    """The place of the calls that it would answer where it stands."""
    ahead: int | None = None
    """The place of the message right after it, in case the two were swapped."""
    call: CallAt | None = None
    repeated: bool = False
    """Whether its call, which stands before it, has another answer."""

    @property
    def is_home(self) -> bool:
        """Whether it stands where its call wants it."""
        return self.call is not None and self.call.place == self.home


def pair(calls: Sequence[CallAt], results: Sequence[ResultAt]) -> None:
    """Give every result its call and every call its answer, as far as they are there."""
    by_key: dict[tuple[str, str], list[CallAt]] = defaultdict(list)
    by_kind: dict[str, list[CallAt]] = defaultdict(list)
    for call in calls:
        by_kind[call.call.kind].append(call)
        if call.call.id:
            by_key[call.call.key].append(call)
    named = [result for result in results if result.result.id]
    for result in named:
        _answer(result, (call for call in by_key[result.result.key] if call.place == result.home))
    for result in named:
        _answer(result, (call for call in reversed(by_key[result.result.key]) if call.place < result.place))
    for result in named:
        _answer(result, (call for call in by_key[result.result.key] if call.place == result.ahead))
        answered = any(call.place < result.place for call in by_key[result.result.key])
        result.repeated = result.call is None and answered
    for result in results:
        if not result.result.id:
            same_kind = by_kind[result.result.kind]
            _answer(result, (call for call in same_kind if call.place == result.home))
            _answer(result, (call for call in reversed(same_kind) if call.place < result.place))


def _answer(result: ResultAt, calls: Iterable[CallAt]) -> None:
    """Let *result* answer the first of *calls* that waits."""
    if result.call is None:
        result.call = next((call for call in calls if call.answer is None), None)
        if result.call is not None:
            result.call.answer = result
