"""One request as the index keeps it, and what reports about the same request make of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from brim.models.usage import Tokens

if TYPE_CHECKING:
    from brim.models.price_list import Prices

QUARTER = 900
"""Seconds: the clock of every time zone is a multiple of a quarter of an hour ahead of UTC."""

REQUEST = "request"
REST = "rest"
"""What a client's total shows and no request: the sum of a session, dated by quarters."""
ESTIMATE = "estimate"
"""A compaction that no line shows yet: it counts until the client's total shows it."""
FORGOTTEN = "forgotten"
"""A request that a person has dropped: it stays, with nothing in it, so it can't come back."""

EVERYTHING = "*"
"""The scope of all that agents on this machine spend."""


@dataclass(slots=True)
class IndexedRequest:
    """What one request took. ``key`` names it, whichever files report it.

    It isn't frozen, which would make reading many files a tenth slower: making one would take three
    times as long. ``cost`` is in micro-dollars; None without a price. ``reported`` is what the
    client says that it cost. ``fresh`` are the tokens that a limit in tokens counts.
    """

    key: str
    kind: str = REQUEST
    agent: str = ""
    project: str = ""
    session: str = ""
    sub_agent: str = ""
    model: str = ""
    branch: str = ""
    agent_type: str = ""
    skill: str = ""
    mcp: str = ""
    time: float | None = None
    input: int = 0
    output: int = 0
    cache_read: int = 0
    write_5m: int = 0
    write_1h: int = 0
    fresh: int = 0
    details: str = ""
    """What else changes its price, as JSON: the other fields of ``Tokens``."""
    reported: int | None = None
    cost: int | None = None
    estimated_cost: int = 0
    final: bool = True
    """Whether its output is final, not a placeholder in a stream."""

    @property
    def main(self) -> bool:
        """Whether the main thread made it, not a sub-agent."""
        return not self.sub_agent

    @property
    def message(self) -> str:
        """The id of the message that answered the request, without the request's own id."""
        if self.key.count(":") != 1:
            return self.key
        return self.key.partition(":")[0]

    @property
    def quarter(self) -> int:
        """The quarter hour, counted from 1970 in UTC, in which it was made."""
        return quarter_of(self.time)

    @property
    def counted_cost(self) -> int:
        """Micro-dollars that count against limits; nothing without a price."""
        return (self.cost or 0) + self.estimated_cost

    @property
    def tokens(self) -> Tokens:
        """What the request is charged for."""
        return tokens_of(self.counts, self.details)

    @property
    def counts(self) -> tuple[int, int, int, int, int]:
        """Input, output, cache read, cache written for 5 minutes and for an hour."""
        return self.input, self.output, self.cache_read, self.write_5m, self.write_1h

    def assign(self, agent: str, project: str) -> None:
        """Make it a request of *agent* in *project*, which not every line says."""
        self.agent = agent
        self.project = project

    def scopes(self) -> list[str]:
        """Return the scopes whose sums it's part of."""
        return scopes_of(self.project, self.session, self.sub_agent)

    def merged(self, report: IndexedRequest) -> IndexedRequest:
        """Return it with what another *report* about the same request adds: the larger numbers.

        Where and when it was first seen stays. Model and details follow the dearer report, so a
        cheaper model in a line that somebody added changes nothing.
        """
        if self.kind == FORGOTTEN:
            return self
        dearer = self
        if _is_dearer(report, self):
            dearer = report
        return replace(
            self,
            model=dearer.model or self.model,
            details=dearer.details,
            branch=self.branch or report.branch,
            agent_type=self.agent_type or report.agent_type,
            skill=self.skill or report.skill,
            mcp=self.mcp or report.mcp,
            time=report.time if self.time is None else self.time,
            input=max(self.input, report.input),
            output=max(self.output, report.output),
            cache_read=max(self.cache_read, report.cache_read),
            write_5m=max(self.write_5m, report.write_5m),
            write_1h=max(self.write_1h, report.write_1h),
            fresh=max(self.fresh, report.fresh),
            reported=_larger(self.reported, report.reported),
            cost=_larger(self.cost, report.cost),
            estimated_cost=max(self.estimated_cost, report.estimated_cost),
            final=self.final or report.final,
        )

    def priced(self, prices: Prices) -> IndexedRequest:
        """Return it with what it costs: by *prices*, else what its client says, else None."""
        cost = prices.request(self.tokens, self.model, self.time)
        if cost is None:
            cost = self.reported
        if cost == self.cost:
            return self
        return replace(self, cost=cost)

    def to_row(self) -> tuple[Any, ...]:
        """Return its fields in the order of the table's columns."""
        return _ROW(self)

    def __reduce__(self) -> tuple[type[IndexedRequest], tuple[Any, ...]]:
        """Pickle it as one call: what a dataclass does by itself takes eight times as long."""
        return IndexedRequest, self.to_row()


COLUMNS = tuple(field.name for field in fields(IndexedRequest))
SELECT = f"SELECT {', '.join(COLUMNS)} FROM requests"  # noqa: S608 - names of columns
_ROW: Callable[[IndexedRequest], tuple[Any, ...]] = attrgetter(*COLUMNS)


@dataclass(frozen=True, slots=True)
class ClientTotal:
    """A client's own total for a session so far, with requests that no line shows.

    ``tokens`` is by model, in the order of ``IndexedRequest.counts``. ``until`` is the time of the
    first request that came after it, None if none did.
    """

    session: str
    cost: int | None
    tokens: Mapping[str, list[int]]
    until: float | None = None

    def covers(self, request: IndexedRequest) -> bool:
        """Whether *request*, of this session, was made before the client wrote this."""
        return self.until is None or request.time is None or request.time < self.until

    @property
    def rank(self) -> tuple[int, int]:
        """Which total of a session is the last: totals only grow, so it's the largest."""
        return self.cost or 0, sum(sum(counts) for counts in self.tokens.values())


def quarter_of(time: float | None) -> int:
    """Return the quarter hour of *time*, counted from 1970 in UTC; the first one without a time."""
    if time is None:
        return 0
    return int(time / QUARTER)


def project_scope(project: str) -> str:
    """Return the scope of all that is spent in *project*."""
    return f"p:{project}"


def session_scope(session: str) -> str:
    """Return the scope of one session, its sub-agents included."""
    return f"s:{session}"


def sub_agent_scope(session: str, sub_agent: str) -> str:
    """Return the scope of one sub-agent."""
    return f"a:{session}/{sub_agent}"


def scopes_of(project: str, session: str, sub_agent: str) -> list[str]:
    """Return the scopes that a request counts for."""
    scopes = [EVERYTHING, project_scope(project), session_scope(session)]
    if sub_agent:
        scopes.append(sub_agent_scope(session, sub_agent))
    return scopes


def details_of(tokens: Tokens) -> str:
    """Return what changes the price of *tokens* besides their counts, as JSON; mostly empty."""
    details: dict[str, Any] = {}
    if tokens.writes_are_input:
        details["writes_are_input"] = True
    if tokens.factors:
        details["factors"] = tokens.factors
    if tokens.extras:
        details["extras"] = tokens.extras
    if tokens.compactions:
        compactions = [(counts_of(part), details_of(part)) for part in tokens.compactions]
        details["compactions"] = compactions
    if not details:
        return ""
    return json.dumps(details, separators=(",", ":"))


def counts_of(tokens: Tokens) -> tuple[int, int, int, int, int]:
    """Return the counters of *tokens*, in the order of ``IndexedRequest.counts``."""
    return (
        tokens.input,
        tokens.output,
        tokens.cache_read,
        tokens.cache_write_5m,
        tokens.cache_write_1h,
    )


def tokens_of(counts: tuple[int, ...], details: str) -> Tokens:
    """Return the tokens of which ``counts_of`` and ``details_of`` were made."""
    input, output, cache_read, write_5m, write_1h = counts
    parsed = {}
    if details:
        parsed = json.loads(details)
    compactions = [tokens_of(tuple(part[0]), part[1]) for part in parsed.get("compactions", ())]
    return Tokens(
        input,
        output,
        cache_read,
        write_5m,
        write_1h,
        writes_are_input=parsed.get("writes_are_input", False),
        factors=tuple(parsed.get("factors", ())),
        extras=tuple(parsed.get("extras", ())),
        compactions=tuple(compactions),
    )


def _is_dearer(report: IndexedRequest, other: IndexedRequest) -> bool:
    if report.counted_cost != other.counted_cost:
        return report.counted_cost > other.counted_cost
    return sum(report.counts) > sum(other.counts)


def _larger(one: int | None, other: int | None) -> int | None:
    if one is None:
        return other
    if other is None:
        return one
    return max(one, other)
