"""``Ledger``: who may still spend, decided before the call. ``brim.store.open_ledger`` opens one in a file."""

from __future__ import annotations

from brim._frozen import Frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Protocol

    from brim.notices import Notice
    from brim.spend.limits import Limit, Raise
else:
    Protocol = object

LEASE = 60.0
"""Seconds that a reservation stands without being settled."""

LONGEST_LEASE = 7 * 24 * 3600.0

RESERVED = "open"
SETTLED = "settled"
RELEASED = "released"
EXPIRED = "expired"
RESERVATION_STATES = (RESERVED, SETTLED, RELEASED, EXPIRED)
"""``expired``: the lease ended and nobody settled, so it is charged in full; a later ``settle`` corrects that."""


RECORDED = "recorded"
"""The purpose of a spend that was not reserved."""


class Reservation(Frozen):
    """What was set aside for one request, and what became of it. Amounts are micro-dollars."""

    __slots__ = ("amount", "charged", "lease_end", "overrun", "purpose", "request_id", "scope", "state")

    request_id: str
    scope: str
    amount: int
    """What was set aside: 0 for a spend that was recorded without a reservation."""
    charged: int
    """What counts as spent: nothing while it is open."""
    state: str
    """One of ``RESERVATION_STATES``."""
    lease_end: float
    """When it is charged in full unless it is settled or released before; seconds since 1970."""
    purpose: str
    """``wrap_up`` if it may take what is held back for that, ``recorded`` if nobody stood before it; else empty."""
    overrun: bool
    """Whether the request cost more than was set aside for it."""

    def __init__(
        self,
        *,
        request_id: str,
        scope: str,
        amount: int,
        charged: int = 0,
        state: str = RESERVED,
        lease_end: float = 0.0,
        purpose: str = "",
        overrun: bool = False,
    ) -> None:
        self._fill(
            request_id=request_id,
            scope=scope,
            amount=amount,
            charged=charged,
            state=state,
            lease_end=lease_end,
            purpose=purpose,
            overrun=overrun,
        )


class ScopeStatus(Frozen):
    """How one scope stands, everything below it included. Amounts are micro-dollars."""

    __slots__ = ("given", "held", "left", "limit", "overshoot", "reserved", "scope", "spent", "state")

    scope: str
    spent: int
    reserved: int
    """What is set aside for requests that are not settled yet."""
    limit: int | None
    """The limit in force, which an answer may have raised; None is no limit."""
    given: int | None
    """The limit as it was set."""
    held: int
    """What of the limit is held back for the wrap-up."""
    left: int | None
    """What would still be admitted here, for the wrap-up while that is on; None is without end."""
    state: str
    """``open``, ``asked``, ``wrapping_up``, ``stopped`` or ``closed``."""
    overshoot: int
    """How far over the limit spends have gone that were not reserved, or cost more than was."""

    def __init__(
        self,
        *,
        scope: str,
        spent: int = 0,
        reserved: int = 0,
        limit: int | None = None,
        given: int | None = None,
        held: int = 0,
        left: int | None = None,
        state: str = "open",
        overshoot: int = 0,
    ) -> None:
        self._fill(
            scope=scope,
            spent=spent,
            reserved=reserved,
            limit=limit,
            given=given,
            held=held,
            left=left,
            state=state,
            overshoot=overshoot,
        )


class Ledger(Protocol):
    """Limits over a tree of scopes, and what is spent and set aside under them.

    The rules that every ledger keeps:

    - What is admitted never exceeds a limit: settled + reserved + the new amount fits in the scope and in every scope
      above it, decided at one moment, whoever else reserves at the same time.
    - A reservation ends: by ``settle``, by ``release``, or at the end of its lease, when it is charged in full, because
      the call may have been sent. That happens at the next operation of anybody.
    - The same request id twice is the same reservation. What was settled is there after any crash.
    - A limit, what was spent under it and what a person answered outlast the process: nothing begins anew on resume.
    """

    def limit(self, scope: str, amount: int | None, *, anew: bool = False, default: bool = False) -> ScopeStatus:
        """Set the limit of *scope*; None takes it away, 0 lets nothing be spent.

        Setting what was set before changes nothing, so that a job which sets its limit at every start keeps what a
        person has answered since. With *anew* it counts as a new limit all the same, and what was closed is open. A
        *default* gives way to a limit that somebody set or raised, and leaves closed what is. If more is spent already,
        a person is asked at once.
        """
        ...

    def reserve(
        self, scope: str, amount: int, *, request_id: str | None = None, lease: float = LEASE, purpose: str = ""
    ) -> Reservation:
        """Set *amount* aside for one request; raise ``LimitReached`` if it does not fit: then do not send it.

        The same *request_id* gives the same reservation again, whatever its state, unless it was released; one that is
        settled was sent already. Another scope, amount or purpose is an ``InputError``. Without an id it gets one.

        The purpose ``wrap_up`` may take what is held back, here and above, once one of these scopes is wrapped up.
        """
        ...

    def settle(self, reservation: Reservation | str, amount: int) -> Reservation:
        """Say what the request really cost. Saying it again is harmless; another amount corrects the first.

        More than was set aside is recorded as it is, marked as an overrun, and closes the scope.
        """
        ...

    def release(self, reservation: Reservation | str) -> Reservation:
        """Give back what was set aside: the request was not sent. What was settled cannot be released."""
        ...

    def record(self, scope: str, request_id: str, amount: int) -> Reservation:
        """Count a spend that nobody could stand before. The same id again replaces the amount."""
        ...

    def answer(self, scope: str, answer: str | Raise) -> ScopeStatus:
        """Do what a person said about the limit of *scope*: ``continue``, ``Raise(to)``, ``wrap_up`` or ``stop``."""
        ...

    def status(self, scope: str) -> ScopeStatus:
        """Return how *scope* stands; one that nobody has used has spent nothing."""
        ...

    def statuses(self, under: str = "", *, default: Limit | None = None) -> list[ScopeStatus]:
        """Return how every known scope stands, by name: all, or *under* and those below it.

        *default* shows them as they would stand under that default, which is not set.
        """
        ...

    def subscribe(self, subscriber: Callable[[Notice], object]) -> Callable[[], None]:
        """Tell *subscriber* of warnings and limits from now on, each once per limit, whichever process is first."""
        ...
