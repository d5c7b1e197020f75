"""``SpendMeter``: what the requests of a stream cost, each counted once.

A request is told several times (a line per block of its answer, a stream and a transcript, a session and the fork of
it): the later report replaces the earlier. Some requests are in no line at all; the client's own total has them.
"""

from __future__ import annotations

from brim.tracking.events import RunTotal, Usage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Protocol

    from brim.models.usage import Tokens
    from brim.tracking.events import Event
else:
    Protocol = object


class Prices(Protocol):
    """What a meter asks: ``brim.spend.prices.PriceList``, or whatever prices as it does."""

    def request(self, tokens: Tokens, model: str, time: float | None) -> int | None:
        """Return the micro-dollars of one request at *time*, or None if the price is not known."""
        ...

    def sum(self, tokens: Mapping[str, Tokens], time: float | None) -> int | None:
        """Return the micro-dollars of sums by model, or None if a price is not known."""
        ...


class SpendMeter:
    """Adds up events. Amounts are micro-dollars, at the prices of the day of each request.

    A total of the client (``RunTotal``) settles only the difference to what is known of its session; that difference is
    ``unattributed``. A request without a known price costs what the client says, else nothing until a total comes.

    Nothing is counted twice, in whatever order the files of a session come: only streams whose lines have no times must
    come in theirs. What may be missed: requests that no line shows, in a session whose client begins its total anew
    when it is resumed, or that goes on from another session without that one's total.
    """

    def __init__(self, prices: Prices | None = None) -> None:
        self._prices = prices
        self._requests: dict[str, _Request] = {}
        self._longer: dict[str, _Request] = {}
        self._sessions: dict[str, _Session] = {}
        self._known = 0
        self.by_model: dict[str, int] = {}
        """What each model's requests cost; a model without a price is in ``unpriced``, and not here as 0."""
        self.by_agent: dict[str, int] = {}
        """What each agent's requests cost; the empty name is the main thread."""
        self.unpriced: dict[str, int] = {}
        """How many requests of each model have neither a price nor a cost."""
        self.unpriced_sessions: set[str] = set()
        """Sessions of which only a total in tokens is known, and no price for it."""
        self.reported = 0
        """What of the total rests on the client's word for single requests, because brim has no price."""

    @property
    def total(self) -> int:
        """Everything."""
        return self._known + self.unattributed

    @property
    def unattributed(self) -> int:
        """What the clients' totals have more than their requests: compactions, and answers that no line has whole."""
        return sum(self._unattributed(name) for name in self._sessions)

    @property
    def requests(self) -> int:
        """How many requests were counted."""
        return len(self._requests)

    def update(self, event: Event) -> int:
        """Take in *event*; return the micro-dollars that it added, negative if an amount was corrected downwards."""
        if event.time is not None and event.session:
            session = self._sessions.setdefault(event.session, _Session())
            session.latest = max(event.time, session.latest or event.time)
        if isinstance(event, Usage):
            return self._use(event)
        return self._settle(event) if isinstance(event, RunTotal) else 0

    def _use(self, event: Usage) -> int:
        request = self._find(event.request) if event.request else None
        if request is None:
            request = _Request(event.model, event.agent)
            self._requests[event.request or f"\0{len(self._requests)}"] = request
            self._longer.setdefault(event.request.partition(":")[0], request)
        session = self._sessions.setdefault(event.session, _Session())
        self.unpriced_sessions.discard(event.session)
        touched = self._touched(event.session, *request.sessions)
        before = self._sum(touched)
        if event.session not in request.sessions:
            for name, other in request.sessions.items():
                if event.session not in other.kin:
                    session.kin.add(name)
                    other.heirs.add(event.session)
            request.sessions[event.session] = session
            session.show(request, event.time)
        request.time = next((time for time in (event.time, request.time, session.latest) if time is not None), None)
        self._price(request, event)
        return self._sum(touched) - before

    def _find(self, key: str) -> _Request | None:
        """Return the request *key*. A line that lacks the second half of ``message:request`` means the same one."""
        found = self._requests.get(key) or self._requests.get(key.partition(":")[0])
        return found or self._longer.get(key)

    def _price(self, request: _Request, event: Usage) -> None:
        """Put what *event* costs in place of what *request* had cost so far; a placeholder replaces nothing final."""
        if request.final and not event.final:
            return
        request.final = event.final
        cost = self._list.request(event.tokens, event.model, request.time)
        basis = "price" if cost is not None else "client" if event.cost is not None else "none"
        self._count(request, -1)
        more = (event.cost or 0 if cost is None else cost) - request.cost
        request.cost, request.basis, request.model = request.cost + more, basis, event.model or request.model
        self._count(request, 1)
        for session in request.sessions.values():
            session.before += more if request not in session.after else 0

    def _count(self, request: _Request, sign: int) -> None:
        if not request.basis:
            return
        self._known += sign * request.cost
        if request.basis == "client":
            self.reported += sign * request.cost
        if request.basis != "none":
            for sums, name in ((self.by_model, request.model), (self.by_agent, request.agent)):
                sums[name] = sums.get(name, 0) + sign * request.cost
        else:
            self.unpriced[request.model] = self.unpriced.get(request.model, 0) + sign
            if not self.unpriced[request.model]:
                del self.unpriced[request.model]

    def _settle(self, event: RunTotal) -> int:
        session = self._sessions.setdefault(event.session, _Session())
        total = event.cost
        if total is None and event.tokens:
            total = self._list.sum(event.tokens, session.latest if event.time is None else event.time)
        if total is None and (event.tokens or event.usage) and not (session.after or session.before):
            self.unpriced_sessions.add(event.session)
        if total is None or total <= session.reported:
            return 0
        self.unpriced_sessions.discard(event.session)
        touched = self._touched(event.session)
        before = self._sum(touched)
        session.settle(total, event.time)
        return self._sum(touched) - before

    @property
    def _list(self) -> Prices:
        if self._prices is None:
            from brim.spend.prices import PriceList

            self._prices = PriceList()
        return self._prices

    def _touched(self, *sessions: str) -> set[str]:
        """Return the sessions whose difference depends on one of *sessions*."""
        return set(sessions).union(*(self._sessions[name].heirs for name in sessions))

    def _sum(self, sessions: set[str]) -> int:
        return self._known + sum(self._unattributed(name) for name in sessions)

    def _unattributed(self, name: str) -> int:
        session = self._sessions[name]
        carried = max((self._sessions[each].difference for each in session.kin), default=0)
        return max(0, session.difference - carried)


class _Request:
    """One request as it is known now."""

    __slots__ = ("agent", "basis", "cost", "final", "model", "sessions", "time")

    def __init__(self, model: str, agent: str) -> None:
        self.model, self.agent, self.cost, self.final = model, agent, 0, False
        self.time: float | None = None
        """When it was made; its price is of that day, and not every line about it says so."""
        self.basis = ""
        """What its cost rests on: ``price``, ``client`` or ``none``; empty until it has one."""
        self.sessions: dict[str, _Session] = {}
        """Those that showed it."""


class _Session:
    """What is known of one session: its client's total, and which of its requests are in that."""

    __slots__ = ("after", "before", "heirs", "is_dated", "kin", "latest", "mark", "reported")

    def __init__(self) -> None:
        self.reported = 0
        """The highest total that the client gave. One that begins anew is lower, and what follows it is counted."""
        self.before = 0
        """The cost of the requests that are in that total."""
        self.after: dict[_Request, None] = {}
        """The requests that are not."""
        self.mark: float | None = None
        """When that total was made, if that is known."""
        self.is_dated = False
        """Whether its own line says so."""
        self.latest: float | None = None
        """The time of the latest event."""
        self.kin: set[str] = set()
        """Sessions whose requests this one showed too: it goes on from them, and may have taken over their total."""
        self.heirs: set[str] = set()
        """Those that go on from this one."""

    @property
    def difference(self) -> int:
        """What the total has more than its requests."""
        return max(0, self.reported - self.before)

    def show(self, request: _Request, time: float | None) -> None:
        """Take in *request*. It may be in the total already: a sub-agent's file is read after the main one.

        Where only one of the two has a time they are from different files, and it may be in; of one stream that has no
        times, what comes after the total is not.
        """
        if time is None or self.mark is None:
            is_in = self.reported > 0 and (self.is_dated or time is not None)
        else:
            is_in = time <= self.mark
        if is_in:
            self.before += request.cost
        else:
            self.after[request] = None

    def settle(self, total: int, time: float | None) -> None:
        """Take in the client's *total*, which has every request that was shown so far."""
        self.before += sum(request.cost for request in self.after)
        self.after.clear()
        self.reported = total
        self.mark = time if time is not None else self.latest
        self.is_dated = time is not None
