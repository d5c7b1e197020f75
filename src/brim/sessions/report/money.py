"""Money that adds up: what requests cost, what compactions cost, and what the clients' own totals
say.

A compaction's request is in no line of a Claude Code transcript, only in the client's total. So the
rest of a total, when its known requests are taken off, is compared with what the compactions of the
session must have read and written. What is left then isn't explained, and is shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from brim.agents.call import Event
from brim.agents.events import Compaction, Message, ModelSeen, Usage
from brim.memory.token_length import BilledRatio, length_of
from brim.models.price_list import PriceList
from brim.models.usage import Tokens
from brim.sessions.requests import ClientTotal, IndexedRequest
from brim.sessions.rests import SessionRest

INSTRUCTIONS = 6_000
"""Tokens of a compaction's prompt that no line shows, at most: its instructions, and what hooks
add."""
OUTPUT = 1
"""The place of the output in ``IndexedRequest.counts``."""
THOUGHT = 20_000
"""Tokens that a model may write for a compaction in addition to the summary, at most: its
analysis."""


class SummaryRequest(NamedTuple):
    """A compaction's own request, as far as the lines around it say: its prompt and its summary in
    tokens."""

    session: str
    time: float | None
    model: str
    prompt: int
    summary: int


class SummaryReader:
    """Finds the compactions' requests in the events of one file; *ratio* takes the same events."""

    def __init__(self, ratio: BilledRatio) -> None:
        self._ratio = ratio
        self._last: dict[str, Usage] = {}
        self._models: dict[str, str] = {}
        self._found: list[SummaryRequest] = []

    def take(self, event: Event) -> None:
        """Take the next event."""
        if isinstance(event, Usage):
            self._last[event.agent] = event
            self._models[event.agent] = event.model
        elif isinstance(event, ModelSeen):
            self._models[event.agent] = event.model
        elif isinstance(event, Compaction):
            last = self._last.get(event.agent)
            prompt = 0 if last is None else last.tokens.prompt + last.tokens.output
            where = (
                event.session,
                event.time,
                self._models.get(event.agent, ""),
                max(prompt, event.before or 0),
            )
            self._found.append(SummaryRequest(*where, summary=0))
        elif isinstance(event, Message) and event.role == "summary" and self._found:
            last_one = self._found[-1]
            written = self._ratio.tokens(length_of(event.text), last_one.model)
            self._found[-1] = last_one._replace(summary=last_one.summary + written)

    def finish(self) -> list[SummaryRequest]:
        """Return the requests."""
        return self._found


@dataclass(frozen=True)
class Bill:
    """What sessions cost, in micro-dollars: what ``brim usage`` and limits count.

    ``total`` is the sum of requests, compactions, what isn't explained, and what a client's own
    prices add. The other fields that begin with ``client`` are of the sessions whose client reports
    a total of its own: their number, that total, and what brim has for the same time.
    """

    sessions: int = 0
    requests: int = 0
    compactions: int = 0
    """Those that a client's total shows, and those that are only estimated yet."""
    unexplained: int = 0
    unpriced: int = 0
    """Requests that have no price."""
    client_sessions: int = 0
    client_total: int = 0
    client_counted: int = 0
    client_prices: int = 0
    """What the client's prices make more of the tokens than the price list."""

    @property
    def total(self) -> int:
        """What all of it cost."""
        return self.requests + self.compactions + self.unexplained + self.client_prices

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON can hold it."""
        return {"total": self.total, **asdict(self)}


@dataclass
class RestCost:
    """What a session cost beyond its requests, by what explains it."""

    requests: int = 0
    compactions: int = 0
    unexplained: int = 0
    client_prices: int = 0

    @property
    def total(self) -> int:
        """All of it."""
        return self.requests + self.compactions + self.unexplained + self.client_prices


def bill(
    requests: Sequence[IndexedRequest],
    totals: Mapping[str, ClientTotal],
    rests: Iterable[SessionRest],
    summaries: Iterable[SummaryRequest],
    prices: PriceList,
    *,
    estimated: int = 0,
) -> Bill:
    """Add up *requests* and the *rests* of the clients' totals, which *summaries* explain in part.

    *totals* are those of the sessions all of whose requests are in *requests*: they can be
    compared. *estimated* is what compactions are expected to cost that no total shows yet.
    """
    unread_parts = _unread_parts(requests)
    unpriced = {request.session for request in requests if request.cost is None}
    by_session: dict[str, list[SummaryRequest]] = {}
    for summary in summaries:
        by_session.setdefault(summary.session, []).append(summary)
    rest_costs: dict[str, RestCost] = {}
    for rest in rests:
        session_summaries = by_session.get(rest.session, [])
        missing = unread_parts.get(rest.session, "all")
        cost = _split(rest, session_summaries, prices, missing=missing)
        if rest.session in unpriced:
            cost.requests += cost.client_prices
            cost.client_prices = 0
        rest_costs[rest.session] = cost
    compared = {name: total for name, total in totals.items() if total.cost is not None}
    counted = 0
    for request in requests:
        if request.session in compared and compared[request.session].covers(request):
            counted += request.cost or 0
    for name in compared.keys() & rest_costs.keys():
        counted += rest_costs[name].total
    costs = rest_costs.values()
    return Bill(
        sessions=len({request.session for request in requests} | rest_costs.keys()),
        requests=sum(request.cost or 0 for request in requests)
        + sum(cost.requests for cost in costs),
        compactions=estimated + sum(cost.compactions for cost in costs),
        unexplained=sum(cost.unexplained for cost in costs),
        unpriced=sum(request.cost is None for request in requests),
        client_sessions=len(compared),
        client_total=sum(total.cost or 0 for total in compared.values()),
        client_counted=counted,
        client_prices=sum(cost.client_prices for cost in costs),
    )


def _unread_parts(requests: Iterable[IndexedRequest]) -> dict[str, str]:
    """Return what no line has of each session's requests: nothing, or their ``output``.

    A stream reports the length of its answers only in its total.
    """
    parts: dict[str, str] = {}
    for request in requests:
        if not request.final:
            parts[request.session] = "output"
        else:
            parts.setdefault(request.session, "")
    return parts


def _split(
    rest: SessionRest, summaries: list[SummaryRequest], prices: PriceList, *, missing: str
) -> RestCost:
    """Return what of a session's *rest* its requests cost, what its compactions, and what isn't
    explained.

    *missing* is what no line has of the session's requests: ``""``, their ``output``, or ``all`` of
    them.
    """
    if not rest.by_model:
        return RestCost(unexplained=rest.cost or 0)
    unread_prompt = sum(summary.prompt + INSTRUCTIONS for summary in summaries)
    unread_output = sum(summary.summary + THOUGHT for summary in summaries)
    first_model = ""
    if summaries:
        first_model = summaries[0].model
    costs = RestCost()
    # A compaction may be of another model than the last request: the largest rest is likely to be
    # it.
    for model, tokens in sorted(rest.by_model.items(), key=lambda item: -sum(item[1])):
        prompt = sum(tokens) - tokens[OUTPUT]
        share = min(1.0, unread_prompt / max(1, prompt))
        compaction = [round(count * share) for count in tokens]
        compaction[OUTPUT] = min(tokens[OUTPUT], unread_output)
        left = [count - part for count, part in zip(tokens, compaction, strict=True)]
        unread_prompt = max(0, unread_prompt - prompt)
        unread_output -= compaction[OUTPUT]
        late = [0] * len(left)
        if missing == "all":
            late = left
        elif missing:
            late[OUTPUT] = left[OUTPUT]
        left = [count - part for count, part in zip(left, late, strict=True)]
        name = model or first_model
        costs.requests += _cost(late, name, rest.time, prices)
        costs.compactions += _cost(compaction, name, rest.time, prices)
        costs.unexplained += _cost(left, name, rest.time, prices)
    if rest.cost is None:
        return costs
    return _within(costs, rest.cost)


def _within(costs: RestCost, total: int) -> RestCost:
    """Return *costs* so that they add up to *total*: what is beyond them is the client's prices."""
    requests = min(costs.requests, total)
    compactions = min(costs.compactions, total - requests)
    unexplained = min(costs.unexplained, total - requests - compactions)
    beyond = total - requests - compactions - unexplained
    return RestCost(requests, compactions, unexplained, beyond)


def _cost(counts: list[int], model: str, time: float | None, prices: PriceList) -> int:
    input, output, read, minutes, hour = counts
    tokens = Tokens(
        input=input, output=output, cache_read=read, cache_write_5m=minutes, cache_write_1h=hour
    )
    return prices.sum({model: tokens}, time) or 0
