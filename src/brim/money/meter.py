"""``SpendMeter``: what the requests of a stream cost, each counted once.

A request is reported several times (a line per block of its answer, a stream and a transcript, a
session and its fork): the later report replaces the earlier. Some requests, such as compactions,
aren't in any line; only the client's total includes them.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from brim.agents.call import Event
from brim.agents.events import RunTotal, Usage
from brim.models.price_list import PriceList, Prices
from brim.usd import Money

PRICE = "price"
CLIENT = "client"
NO_PRICE = "none"


class SpendMeter:
    """Adds up events.

    Amounts are money, at the prices of the day of each request.

    A total of the client (``RunTotal``) settles only the difference to what is known of its
    session; that difference is ``unattributed``. A request without a known price costs what the
    client says, otherwise nothing until a total comes.

    Nothing is counted twice, in whatever order the files of a session come: only streams whose
    lines have no times must come in theirs. It can miss requests that no line shows, in a session
    whose client starts its total over when it's resumed, or that continues another session without
    that one's total.
    """

    def __init__(self, prices: Prices | None = None) -> None:
        self._prices = prices
        self._requests: dict[str, MeteredRequest] = {}
        self._by_message: dict[str, MeteredRequest] = {}
        """By the first half of an id; the second half may come with a later line."""
        self._sessions: dict[str, MeteredSession] = {}
        self._cost_of_requests = Money(0)
        self.by_model: dict[str, Money] = {}
        """What each model's requests cost; a model without a price is in ``unpriced``, and not here
        as 0."""
        self.by_agent: dict[str, Money] = {}
        """What each agent's requests cost; the empty name is the main thread."""
        self.unpriced: dict[str, int] = {}
        """How many requests of each model have neither a price nor a cost."""
        self.unpriced_sessions: set[str] = set()
        """Sessions of which only a total in tokens is known, and no price for it."""
        self.reported = Money(0)
        """What of the total rests on the client's word for single requests, because brim has no
        price."""

    @property
    def total(self) -> Money:
        """Everything."""
        return self._sum(self._sessions)

    @property
    def unattributed(self) -> Money:
        """What the clients' totals have more than their requests.

        Those are compactions, and answers that no line has whole.
        """
        return self.total - self._cost_of_requests

    @property
    def requests(self) -> int:
        """How many requests were counted."""
        return len(self._requests)

    def update(self, event: Event) -> Money:
        """Take in *event*.

        Return the money that it added, negative if an amount was corrected downwards.
        """
        if event.time is not None and event.session:
            self._session(event.session).see(event.time)
        if isinstance(event, Usage):
            return self._use(event)
        if isinstance(event, RunTotal):
            return self._settle(event)
        return Money(0)

    def _use(self, event: Usage) -> Money:
        request = self._request(event)
        session = self._session(event.session)
        self.unpriced_sessions.discard(event.session)
        touched = self._touched(event.session, *request.sessions)
        before = self._sum(touched)
        if event.session not in request.sessions:
            self._join(request, event, session)
        for time in (event.time, request.time, session.latest):
            if time is not None:
                request.time = time
                break
        self._price(request, event)
        return self._sum(touched) - before

    def _request(self, event: Usage) -> MeteredRequest:
        """Return the request that *event* reports."""
        key = event.request
        half = key.partition(":")[0]
        if key:
            # A line that lacks the second half of "message:request" means the same request.
            for request in (
                self._requests.get(key),
                self._requests.get(half),
                self._by_message.get(key),
            ):
                if request is not None:
                    return request
        request = MeteredRequest(event.model, event.agent)
        self._requests[key or f"\0{len(self._requests)}"] = request
        self._by_message.setdefault(half, request)
        return request

    def _join(self, request: MeteredRequest, event: Usage, session: MeteredSession) -> None:
        """Take note that *session* shows *request*, which others may have shown before."""
        for name, other in request.sessions.items():
            if event.session not in other.kin:
                session.kin.add(name)
                other.heirs.add(event.session)
        request.sessions[event.session] = session
        if not session.add(request.cost, event.time):
            session.later.add(request)

    def _price(self, request: MeteredRequest, event: Usage) -> None:
        """Put what *event* costs in place of what *request* had cost so far; a placeholder replaces
        nothing final."""
        if request.final and not event.final:
            return
        request.final = event.final
        cost = self._list.request(event.tokens, event.model, request.time)
        basis = PRICE
        if cost is None:
            cost = event.cost
            basis = CLIENT
        if cost is None:
            cost = 0
            basis = NO_PRICE
        self._count(request, -1)
        difference = cost - request.cost
        request.cost = cost
        request.basis = basis
        request.model = event.model or request.model
        self._count(request, 1)
        for session in request.sessions.values():
            if request in session.later:
                session.after += difference
            else:
                session.before += difference

    def _count(self, request: MeteredRequest, sign: int) -> None:
        cost = sign * request.cost
        self._cost_of_requests += cost
        if request.basis == CLIENT:
            self.reported += cost
        if request.basis in (PRICE, CLIENT):
            self.by_model[request.model] = self.by_model.get(request.model, Money(0)) + cost
            self.by_agent[request.agent] = self.by_agent.get(request.agent, Money(0)) + cost
        elif request.basis:
            count = self.unpriced.pop(request.model, 0) + sign
            if count:
                self.unpriced[request.model] = count

    def _settle(self, event: RunTotal) -> Money:
        session = self._session(event.session)
        total = session.priced(event, self._list)
        has_tokens = event.tokens or event.usage
        if total is None and has_tokens and not session.later and not session.before:
            self.unpriced_sessions.add(event.session)
        if total is None or total <= session.reported:
            return Money(0)
        self.unpriced_sessions.discard(event.session)
        touched = self._touched(event.session)
        before = self._sum(touched)
        session.settle(total, event.time)
        session.later.clear()
        return self._sum(touched) - before

    @cached_property
    def _list(self) -> Prices:
        if self._prices is None:
            return PriceList()
        return self._prices

    def _session(self, name: str) -> MeteredSession:
        return self._sessions.setdefault(name, MeteredSession())

    def _touched(self, *sessions: str) -> set[str]:
        """Return the sessions whose difference depends on one of *sessions*."""
        touched = set(sessions)
        for name in sessions:
            touched |= self._sessions[name].heirs
        return touched

    def _sum(self, names: Iterable[str]) -> Money:
        """Return the cost of all requests, and what the totals of the sessions *names* have beyond
        them."""
        total = self._cost_of_requests
        for name in names:
            session = self._sessions[name]
            carried = [self._sessions[kin].difference for kin in session.kin]
            total += max(0, session.difference - max(carried, default=0))
        return total


class MeteredRequest:
    """One request as it is known now."""

    def __init__(self, model: str, agent: str) -> None:
        self.model = model
        self.agent = agent
        self.cost = 0
        self.final = False
        self.time: float | None = None
        """When it was made; its price is of that day, and not every line about it says so."""
        self.basis = ""
        """What its cost rests on: ``price``, ``client`` or ``none``; empty until it has one."""
        self.sessions: dict[str, MeteredSession] = {}
        """Those that showed it."""


class MeteredSession:
    """The cost of one session's requests, and its client's own total, in micro-dollars."""

    def __init__(self) -> None:
        self.reported = 0
        """The highest total that the client gave. A lower one started over, and the requests after
        it count."""
        self.before = 0
        """The cost of the requests that are in that total."""
        self.after = 0
        """The cost of those that aren't."""
        self.mark: float | None = None
        """When that total was made, if known."""
        self.is_dated = False
        """Whether its own line says so."""
        self.latest: float | None = None
        """The time of the latest event."""
        self.later: set[MeteredRequest] = set()
        """The requests that are not in the client's total."""
        self.kin: set[str] = set()
        """Sessions whose requests this one showed too: it continues them, and may have taken over
        their total."""
        self.heirs: set[str] = set()
        """Those that continue this one."""

    def see(self, time: float) -> None:
        """Take note that something happened at *time*."""
        self.latest = max(time, self.latest or time)

    def add(self, cost: int, time: float | None) -> bool:
        """Add the cost of a request at *time*; return whether the client's total includes it.

        A request may be in the total already: a sub-agent's file is read after the main one. If
        only one of the two has a time they are from different files, and the total may include it;
        in one stream without times, a request that comes after the total isn't included.
        """
        if time is None or self.mark is None:
            is_included = self.reported > 0 and (self.is_dated or time is not None)
        else:
            is_included = time <= self.mark
        if is_included:
            self.before += cost
        else:
            self.after += cost
        return is_included

    def priced(self, event: RunTotal, prices: Prices) -> int | None:
        """Return the client's total in micro-dollars; None if neither it nor *prices* say."""
        if event.cost is not None or not event.tokens:
            return event.cost
        time = self.latest if event.time is None else event.time
        return prices.sum(event.tokens, time)

    def settle(self, total: int, time: float | None) -> None:
        """Take the client's *total*, which includes every request so far. A lower one than before
        is ignored."""
        if total <= self.reported:
            return
        self.before += self.after
        self.after = 0
        self.reported = total
        self.mark = self.latest if time is None else time
        self.is_dated = time is not None

    @property
    def difference(self) -> int:
        """How much the client's total is above the sum of its requests."""
        return max(0, self.reported - self.before)
