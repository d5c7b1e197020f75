"""``SpendMeter``: what the requests of a stream cost, each counted once.

A request is reported several times (a line per block of its answer, a stream and a transcript, a
session and its fork): the later report replaces the earlier.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from brim.agents.call import Event
from brim.agents.events import RunTotal, Usage
from brim.models.price_list import PriceList, Prices
from brim.spend.account import SessionTotal


class SpendMeter:
    """Adds up events.

    Amounts are micro-dollars, at the prices of the day of each request.

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
        self._requests: dict[str, _Request] = {}
        self._longer: dict[str, _Request] = {}
        self._sessions: dict[str, _MeteredSession] = {}
        self._known = 0
        self.by_model: dict[str, int] = {}
        """What each model's requests cost; a model without a price is in ``unpriced``, and not here
        as 0."""
        self.by_agent: dict[str, int] = {}
        """What each agent's requests cost; the empty name is the main thread."""
        self.unpriced: dict[str, int] = {}
        """How many requests of each model have neither a price nor a cost."""
        self.unpriced_sessions: set[str] = set()
        """Sessions of which only a total in tokens is known, and no price for it."""
        self.reported = 0
        """What of the total rests on the client's word for single requests, because brim has no
        price."""

    @property
    def total(self) -> int:
        """Everything."""
        return self._sum(self._sessions)

    @property
    def unattributed(self) -> int:
        """What the clients' totals have more than their requests.

        Those are compactions, and answers that no line has whole.
        """
        return self.total - self._known

    @property
    def requests(self) -> int:
        """How many requests were counted."""
        return len(self._requests)

    def update(self, event: Event) -> int:
        """Take in *event*.

        Return the micro-dollars that it added, negative if an amount was corrected downwards.
        """
        if event.time is not None and event.session:
            self._session(event.session).see(event.time)
        if isinstance(event, Usage):
            return self._use(event)
        return self._settle(event) if isinstance(event, RunTotal) else 0

    def _use(self, event: Usage) -> int:
        key, half = event.request, event.request.partition(":")[0]
        # A line that lacks the second half of "message:request" means the same request.
        request = (
            (self._requests.get(key) or self._requests.get(half) or self._longer.get(key))
            if key
            else None
        )
        if request is None:
            request = _Request(event.model, event.agent)
            self._requests[key or f"\0{len(self._requests)}"] = request
            self._longer.setdefault(half, request)
        session = self._session(event.session)
        self.unpriced_sessions.discard(event.session)
        touched = self._touched(event.session, *request.sessions)
        before = self._sum(touched)
        if event.session not in request.sessions:
            for name, other in request.sessions.items():
                if event.session not in other.kin:
                    session.kin.add(name)
                    other.heirs.add(event.session)
            request.sessions[event.session] = session
            if not session.add(request.cost, event.time):
                session.later.add(request)
        request.time = next(
            (time for time in (event.time, request.time, session.latest) if time is not None), None
        )
        self._price(request, event)
        return self._sum(touched) - before

    def _price(self, request: _Request, event: Usage) -> None:
        """Put what *event* costs in place of what *request* had cost so far; a placeholder replaces
        nothing final."""
        if request.final and not event.final:
            return
        request.final = event.final
        cost = self._list.request(event.tokens, event.model, request.time)
        basis = "price" if cost is not None else "client" if event.cost is not None else "none"
        self._count(request, -1)
        more = (event.cost or 0 if cost is None else cost) - request.cost
        request.cost, request.basis, request.model = (
            request.cost + more,
            basis,
            event.model or request.model,
        )
        self._count(request, 1)
        for session in request.sessions.values():
            if request in session.later:
                session.after += more
            else:
                session.before += more

    def _count(self, request: _Request, sign: int) -> None:
        self._known += sign * request.cost
        if request.basis == "client":
            self.reported += sign * request.cost
        if request.basis in ("price", "client"):
            for sums, name in ((self.by_model, request.model), (self.by_agent, request.agent)):
                sums[name] = sums.get(name, 0) + sign * request.cost
        elif request.basis:
            left = self.unpriced.pop(request.model, 0) + sign
            self.unpriced.update({request.model: left} if left else {})

    def _settle(self, event: RunTotal) -> int:
        session = self._session(event.session)
        total = session.priced(event, self._list)
        if (
            total is None
            and (event.tokens or event.usage)
            and not (session.later or session.before)
        ):
            self.unpriced_sessions.add(event.session)
        if total is None or total <= session.reported:
            return 0
        self.unpriced_sessions.discard(event.session)
        touched = self._touched(event.session)
        before = self._sum(touched)
        session.settle(total, event.time)
        session.later.clear()
        return self._sum(touched) - before

    @cached_property
    def _list(self) -> Prices:

        return PriceList() if self._prices is None else self._prices

    def _session(self, name: str) -> _MeteredSession:
        return self._sessions.setdefault(name, _MeteredSession())

    def _touched(self, *sessions: str) -> set[str]:
        """Return the sessions whose difference depends on one of *sessions*."""
        return set(sessions).union(*(self._sessions[name].heirs for name in sessions))

    def _sum(self, names: Iterable[str]) -> int:
        """Return the cost of all requests, and what the totals of the sessions *names* have beyond
        them."""
        found = self._known
        for session in map(self._sessions.__getitem__, names):
            carried = max((self._sessions[each].difference for each in session.kin), default=0)
            found += max(0, session.difference - carried)
        return found


class _Request:
    """One request as it is known now."""

    def __init__(self, model: str, agent: str) -> None:
        self.model, self.agent, self.cost, self.final = model, agent, 0, False
        self.time: float | None = None
        """When it was made; its price is of that day, and not every line about it says so."""
        self.basis = ""
        """What its cost rests on: ``price``, ``client`` or ``none``; empty until it has one."""
        self.sessions: dict[str, _MeteredSession] = {}
        """Those that showed it."""


class _MeteredSession(SessionTotal):
    def __init__(self) -> None:
        super().__init__()
        self.later: set[_Request] = set()
        """The requests that are not in the client's total."""
        self.kin: set[str] = set()
        """Sessions whose requests this one showed too: it continues them, and may have taken over
        their total."""
        self.heirs: set[str] = set()
        """Those that continue this one."""
