"""What a client's total shows beyond the requests in its session's lines: the rest.

A compaction is a request that Claude Code writes in no line. The client's own prices are in its
totals: where they are lower than the table's, nothing may be left.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from brim.models.names import split_window
from brim.sessions.requests import ClientTotal, IndexedRequest

Counts = list[int]
"""Input, output, cache read, cache written for 5 minutes and for an hour."""
NOTHING = [0, 0, 0, 0, 0]


@dataclass(frozen=True, slots=True)
class Rest:
    """Tokens and micro-dollars beyond the requests; the cost is None if the client says none."""

    counts: tuple[int, ...] = (0, 0, 0, 0, 0)
    cost: int | None = None

    @property
    def is_positive(self) -> bool:
        """Whether any number is above 0."""
        return (self.cost or 0) > 0 or max(self.counts) > 0

    @property
    def excess(self) -> Rest:
        """What is below 0, as positive numbers."""
        counts = tuple(max(0, -count) for count in self.counts)
        return Rest(counts, max(0, -(self.cost or 0)))

    def minus(self, rows: Iterable[IndexedRequest]) -> Rest:
        """Return what is left of it without *rows*; numbers may be below 0."""
        counts = list(self.counts)
        cost = self.cost or 0
        for row in rows:
            counts = [
                count - covered_part for count, covered_part in zip(counts, row.counts, strict=True)
            ]
            cost -= row.cost or 0
        return Rest(tuple(counts), cost)

    def added_to(self, row: IndexedRequest, *, has_cost: bool) -> IndexedRequest:
        """Return *row* with what is above 0 in this; without a cost its price is unknown."""
        counts = [
            count + max(0, added) for count, added in zip(row.counts, self.counts, strict=True)
        ]
        cost = row.cost
        if has_cost:
            cost = (row.cost or 0) + max(0, self.cost or 0)
        return with_counts(row, counts, cost)

    def taken_from(self, row: IndexedRequest) -> tuple[IndexedRequest, Rest]:
        """Return *row* without as much of this as it has, and what is still to be taken."""
        counts = [
            max(0, count - covered_part)
            for count, covered_part in zip(row.counts, self.counts, strict=True)
        ]
        left = [
            max(0, covered_part - count)
            for count, covered_part in zip(row.counts, self.counts, strict=True)
        ]
        cost = row.cost
        taken_cost = self.cost or 0
        if cost is not None:
            cost = max(0, cost - taken_cost)
            taken_cost = max(0, taken_cost - (row.cost or 0))
        return with_counts(row, counts, cost), Rest(tuple(left), taken_cost)


@dataclass(frozen=True, slots=True)
class SessionRest:
    """The rest of one session: its tokens, together and by model, its cost, and when it was made.

    ``time`` is that of the session's last request, because totals have none.
    """

    session: str
    tokens: list[int]
    cost: int | None
    time: float | None
    by_model: Mapping[str, Counts]


def rest_by_model(total: ClientTotal, covered: Mapping[str, Counts]) -> dict[str, Counts]:
    """Return the tokens by model that *total* has beyond the requests that it includes.

    *covered* are the tokens of these requests by model; a total of all models together is compared
    with all of them.
    """
    rests: dict[str, Counts] = {}
    for model, reported in total.tokens.items():
        ours = _tokens_of(model, covered)
        rests[model] = [max(0, count - ours[column]) for column, count in enumerate(reported)]
    return rests


def rest_of(total: ClientTotal, covered: Mapping[str, Counts], covered_cost: int) -> Rest:
    """Return what *total* has beyond the requests that it includes, never below 0."""
    counts = list(NOTHING)
    for by_one_model in rest_by_model(total, covered).values():
        counts = [count + added for count, added in zip(counts, by_one_model, strict=True)]
    cost = None
    if total.cost is not None:
        cost = max(0, total.cost - covered_cost)
    return Rest(tuple(counts), cost)


def _tokens_of(model: str, covered: Mapping[str, Counts]) -> Counts:
    """Return the covered tokens of *model*, whatever window was asked for; of all without a
    name."""
    bare = split_window(model)[0]
    sums = list(NOTHING)
    for name, counts in covered.items():
        if not model or split_window(name)[0] == bare:
            sums = [one + other for one, other in zip(sums, counts, strict=True)]
    return sums


def with_counts(row: IndexedRequest, counts: Counts, cost: int | None) -> IndexedRequest:
    """Return *row* with other numbers."""
    input, output, cache_read, write_5m, write_1h = counts
    return replace(
        row,
        input=input,
        output=output,
        cache_read=cache_read,
        write_5m=write_5m,
        write_1h=write_1h,
        fresh=input + output + write_5m + write_1h,
        cost=cost,
    )
