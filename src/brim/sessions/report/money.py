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
    """What sessions cost, in micro-dollars.

    ``total`` is the sum of requests, compactions and what isn't explained.

    The fields that begin with ``client`` are of the sessions whose client reports a total of its
    own: their number, that total, and what brim has for the same time. ``prices`` is how much of
    the difference is that the client has other prices.
    """

    sessions: int = 0
    requests: int = 0
    compactions: int = 0
    unexplained: int = 0
    unpriced: int = 0
    """Requests that have no price."""
    client_sessions: int = 0
    client_total: int = 0
    client_counted: int = 0
    client_prices: int = 0

    @property
    def total(self) -> int:
        """What all of it cost."""
        return self.requests + self.compactions + self.unexplained

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON can hold it."""
        return {"total": self.total, **asdict(self)}


def bill(
    requests: Sequence[IndexedRequest],
    totals: Mapping[str, ClientTotal],
    rests: Iterable[SessionRest],
    summaries: Iterable[SummaryRequest],
    prices: PriceList,
) -> Bill:
    """Add up *requests* and the *rests* of the clients' totals, which *summaries* explain in part.

    *totals* are those of the sessions all of whose requests are in *requests*: they can be
    compared. Where a request has no price, the client's total counts.
    """
    by_session: dict[str, list[SummaryRequest]] = {}
    for summary in summaries:
        by_session.setdefault(summary.session, []).append(summary)
    # A stream reports the length of its answers only in its total; some report nothing but totals.
    missing = {request.session: "" for request in requests}
    missing |= {request.session: "output" for request in requests if not request.final}
    hidden = {}
    for rest in rests:
        mine = by_session.get(rest.session, [])
        hidden[rest.session] = _split(rest, mine, prices, missing=missing.get(rest.session, "all"))
    ours = {
        name: sum(hidden.get(name, (0, 0, 0)))
        for name, total in totals.items()
        if total.cost is not None
    }
    without: set[str] = set()
    for request in requests:
        if request.session in ours and totals[request.session].covers(request):
            ours[request.session] += request.cost or 0
            without |= {request.session} if request.cost is None else set()
    differences = {name: (totals[name].cost or 0) - amount for name, amount in ours.items()}
    reported = sum(max(0, differences[name]) for name in without)
    return Bill(
        sessions=len({request.session for request in requests} | hidden.keys()),
        requests=sum(request.cost or 0 for request in requests)
        + reported
        + sum(part[0] for part in hidden.values()),
        compactions=sum(part[1] for part in hidden.values()),
        unexplained=sum(part[2] for part in hidden.values()),
        unpriced=sum(request.cost is None for request in requests),
        client_sessions=len(ours),
        client_total=sum(totals[name].cost or 0 for name in ours),
        client_counted=sum(ours.values()) + reported,
        client_prices=sum(differences.values()) - reported,
    )


def _split(
    rest: SessionRest, summaries: list[SummaryRequest], prices: PriceList, *, missing: str
) -> tuple[int, int, int]:
    """Return what of a session's *rest* its requests cost, what its compactions, and what isn't
    explained.

    *missing* is what no line has of the session's requests: ``""``, their ``output``, or ``all`` of
    them.
    """
    if not rest.by_model:
        return 0, 0, rest.cost or 0
    prompt = sum(each.prompt + INSTRUCTIONS for each in summaries)
    written = sum(each.summary + THOUGHT for each in summaries)
    costs = [0, 0, 0]
    # A compaction may be of another model than the last request: the largest rest is likely to be
    # it.
    for model, tokens in sorted(rest.by_model.items(), key=lambda item: -sum(item[1])):
        input, output, *cached = tokens
        share = min(1.0, prompt / max(1, input + sum(cached)))
        explained = [
            round(input * share),
            min(output, written),
            *[round(count * share) for count in cached],
        ]
        left = [count - part for count, part in zip(tokens, explained, strict=True)]
        prompt, written = max(0, prompt - input - sum(cached)), written - explained[1]
        lacking = left if missing == "all" else [0, left[1] if missing else 0, 0, 0, 0]
        left = [count - part for count, part in zip(left, lacking, strict=True)]
        for at, part in enumerate((lacking, explained, left)):
            costs[at] += _cost(
                part, model or (summaries[0].model if summaries else ""), rest.time, prices
            )
    return costs[0], costs[1], costs[2]


def _cost(counts: list[int], model: str, time: float | None, prices: PriceList) -> int:
    input, output, read, minutes, hour = counts
    tokens = Tokens(
        input=input, output=output, cache_read=read, cache_write_5m=minutes, cache_write_1h=hour
    )
    return prices.sum({model: tokens}, time) or 0
