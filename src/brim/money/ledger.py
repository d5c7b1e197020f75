"""``Ledger``: who may still spend, decided before the call.

``open_ledger`` opens one in a file or a PostgreSQL server. Scopes are paths such as
``project/job/agent``. What a child spends counts against every scope above it. A request may belong
to several, as in ``acme/ann+acme/shop``.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from brim.money.allowances import Allowance
from brim.money.budget import Raise
from brim.money.limits import SpendingLimit
from brim.money.workers import in_loop, on_worker
from brim.notices import Notice
from brim.record import PlainData
from brim.usd import Dollars, Money

if TYPE_CHECKING:
    from brim.money.spend import Spend

_Result = TypeVar("_Result")

NOTHING = Money(0)
LEASE = 60.0
"""Seconds that a reservation stands without being settled."""
LONG_LEASE = 600.0
"""Seconds that a request's money stands until its response: as long as SDKs wait for one."""
LONGEST_LEASE = 7 * 24 * 3600.0
RESERVED = "open"
SETTLED = "settled"
RELEASED = "released"
EXPIRED = "expired"
RESERVATION_STATES = (RESERVED, SETTLED, RELEASED, EXPIRED)
"""``expired``: the lease ended without a settlement, so it is charged in full; a later ``settle``
corrects that."""
RECORDED = "recorded"
"""The purpose of a spend that was not reserved."""


@dataclass(frozen=True)
class Reservation(PlainData):
    """Money that was reserved for one request, and how that ended."""

    request_id: str
    scope: str
    amount: Money
    """The reserved amount; 0 for a spend that was recorded without a reservation."""
    charged: Money = NOTHING
    """The amount that counts as spent; 0 while it is open."""
    state: str = RESERVED
    """One of ``RESERVATION_STATES``."""
    lease_end: float = 0.0
    """When it is charged in full unless it is settled or released before; seconds since 1970."""
    purpose: str = ""
    """``wrap_up`` if it may take what is held back for that, ``recorded`` if it was never reserved;
    otherwise empty."""
    overrun: bool = False
    """Whether the request cost more than was set aside for it."""
    tokens: int = 0
    """Tokens that were set aside."""
    charged_tokens: int = 0
    """Tokens that count as used."""
    made_at: float = 0.0
    """When it was made, in seconds since 1970: it counts for the period of that moment."""

    @property
    def set_aside(self) -> tuple[Money, int]:
        """The money and the tokens that nobody else may spend, while it's open."""
        if self.state != RESERVED:
            return NOTHING, 0
        return self.amount, self.tokens


@dataclass(frozen=True)
class DaySum(PlainData):
    """The sum of one day, scope, model and branch. An unknown model or branch is empty."""

    day: int
    """Days since 1970, in UTC."""
    scope: str
    model: str
    branch: str
    amount: Money
    """A correction that was made later than its request can make it negative."""
    tokens: int


@dataclass(frozen=True)
class ScopeStatus(PlainData):
    """How much one scope, including everything below it, has spent."""

    scope: str
    spent: Money = NOTHING
    reserved: Money = NOTHING
    """The sum of reservations that aren't settled yet."""
    limit: Money | None = None
    """The limit in force, which an answer may have raised; None means no limit."""
    original: Money | None = None
    """The limit as it was set."""
    set_aside: Money = NOTHING
    """The part of the limit that is held back for the wrap-up."""
    left: Money | None = None
    """What would still be admitted, for the wrap-up while that is on; None means no limit."""
    state: str = "open"
    """``open``, ``asked``, ``wrapping_up`` or ``stopped``."""
    overshoot: Money = NOTHING
    """How far the sum is over the limit, because of requests that weren't reserved or cost more
    than that."""
    period: str = "total"
    """What the sums are of: all time, or the period of the limit."""
    left_tokens: int | None = None
    """What would still be admitted under limits in tokens; None means no limit."""


class Ledger(Protocol):
    """Limits over a tree of scopes, with the sums that are spent and reserved.

    A ledger of your own can inherit from this class to get ``spend`` and the calls for ``asyncio``.
    Every ledger keeps these rules:

    - What is admitted never exceeds a limit: settled + reserved + the new amount fits in the scope
      and in every scope above it, decided at one moment, whatever else is reserved at that time.
    - A reservation ends: by ``settle``, by ``release``, or at the end of its lease, when it is
      charged in full, because the call may have been sent. That happens at the next operation,
      whichever process makes it.
    - The same request id twice is the same reservation. What was settled is there after any crash.
    - A limit, what was spent under it and what a person answered outlast the process: nothing
      starts over on resume.
    """

    def limit(self, scope: str, amount: Dollars | None, *, anew: bool = False) -> ScopeStatus:
        """Set the limit of *scope*, as in ``"10"``: None removes it, ``"0"`` means that nothing may
        be spent.

        Setting the same limit again changes nothing, so that a job can set its limit at every start
        and keep a person's answers. With *anew*, it counts as a new limit all the same, and reopens
        a stopped scope. If more is spent already, a person is asked at once.
        """

    def allow(
        self,
        scope: str,
        limit: SpendingLimit | str,
        *,
        zone: str = "UTC",
        including_past: bool = False,
    ) -> Allowance:
        """Limit *scope* per period, as in ``5/day`` or ``2M tokens/week``, next to its other
        limits.

        Periods begin and end in the time zone *zone*. It counts from now; with *including_past*
        from the beginning of the period. Another of the same period and unit replaces it. The scope
        ``*`` is everything in this ledger.
        """

    def reserve(
        self,
        scope: str,
        amount: Dollars,
        *,
        request_id: str | None = None,
        lease: float = LEASE,
        purpose: str = "",
        tokens: int = 0,
        model: str = "",
        branch: str = "",
        at_most: Dollars | None = None,
        asks: bool = True,
    ) -> Reservation:
        """Set *amount* aside for one request, and *tokens* under limits in tokens.

        Raise ``LimitReached`` if it does not fit: then do not send it. ``days`` adds up by *model*
        and *branch*. *at_most* is a limit of the caller's own for everything in *scope*. If it
        doesn't fit under a stored limit, a person is asked, unless *asks* is False.

        The same *request_id* gives the same reservation again, whatever its state, unless it was
        released; one that is settled was sent already. Another scope, amount or purpose is an
        ``InputError``. Without an id it gets one.

        The purpose ``wrap_up`` may take what is held back, here and above, once one of these scopes
        is wrapped up.
        """

    def settle(
        self, reservation: Reservation | str, amount: Dollars, *, tokens: int | None = None
    ) -> Reservation:
        """Say what the request really cost. Saying it again is harmless.

        Another amount corrects the first. Without *tokens* it took as many as were set aside.

        More than was set aside is recorded as it is, counts, and is marked as an overrun. So is an
        amount after a release, and a correction that no longer fits because another request has
        taken the room.
        """

    def release(self, reservation: Reservation | str) -> Reservation:
        """Give back the money of a request that wasn't sent. A settled one can't be released."""

    def record(
        self,
        scope: str,
        request_id: str,
        amount: Dollars,
        *,
        tokens: int = 0,
        at: float | None = None,
        model: str = "",
        branch: str = "",
    ) -> Reservation:
        """Count a spend that couldn't be reserved. It was made *at* that moment, or now.

        The same id again replaces the amount.
        """

    def answer(self, scope: str, answer: str | Raise) -> ScopeStatus:
        """Do what a person said about the limits of *scope*.

        That is ``continue``, ``Raise(to)``, ``wrap_up`` or ``stop``. To continue answers every
        limit that was reached.
        """

    def status(self, scope: str) -> ScopeStatus:
        """Return how *scope* stands; an unused one has spent nothing."""

    def tightest(self, scope: str) -> ScopeStatus:
        """Return how *scope* stands under the one of its limits in dollars that has the least
        room."""

    def reached(self, scope: str) -> list[Allowance]:
        """Return the limits per period under which nothing more may be spent in *scope*."""

    def statuses(self, under: str = "", *, count: int | None = None) -> list[ScopeStatus]:
        """Return how every known scope stands, by name; the first *count* of them.

        With *under*, only that one and those below it.
        """

    def days(self, under: str = "") -> list[DaySum]:
        """Return what was spent per day, scope, model and branch: all, or *under* and what is below
        it."""

    def subscribe(self, subscriber: Callable[[Notice], object]) -> Callable[[], None]:
        """Send *subscriber* warnings and limits from now on.

        Each is sent once per limit, whichever process is first.
        """

    def spend(
        self,
        scope: str,
        *,
        model: str,
        messages: Sequence[Any],
        max_output: int,
        tools: Sequence[Any] | None = None,
        options: Mapping[str, Any] | None = None,
        lease: float = LONG_LEASE,
    ) -> Spend:
        """Return the money for one request, to reserve with ``with`` or ``async with``.

        *max_output* is the most that may come back: what you send as ``max_tokens``. *options* are
        the other fields of your request, as in ``Guard.call``.

            with ledger.spend("shop/agent-1", model=model, messages=messages, max_output=1_000) as
            spend:
                spend.settle(client.messages.create(...))
        """
        from brim.money.quote import quote_messages  # limits alone load no tokenizer
        from brim.money.spend import Spend

        quote = quote_messages(model, messages, max_output, tools, options or {})
        return Spend(self, scope, quote, lease=lease)

    # For asyncio: in a thread of the ledger's own, so that a lock which another process holds never
    # stops the loop.

    async def areserve(self, scope: str, amount: Dollars, **options: Any) -> Reservation:
        """Reserve as ``reserve`` does, without blocking the event loop."""
        return await self._in_loop(self.reserve, scope, amount, **options)

    async def asettle(
        self, reservation: Reservation | str, amount: Dollars, **options: Any
    ) -> Reservation:
        """Settle as ``settle`` does, without blocking the event loop."""
        return await self._in_loop(self.settle, reservation, amount, **options)

    async def arelease(self, reservation: Reservation | str) -> Reservation:
        """Release as ``release`` does, without blocking the event loop."""
        return await self._in_loop(self.release, reservation)

    def _in_loop(
        self, function: Callable[..., _Result], *args: Any, **kwargs: Any
    ) -> Awaitable[_Result]:
        return in_loop(on_worker(self, function, *args, **kwargs))
