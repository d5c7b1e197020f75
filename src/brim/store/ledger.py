"""``SqliteLedger``: the ledger in a file. Every call is one transaction that holds the lock from its first look.

What a call has returned is on the disk: unlike the rest of the store it waits for that (``synchronous=FULL``), so that
no settled amount is lost in a power cut. One ledger belongs to one thread; open another for the next.
"""

from __future__ import annotations

import os
import time

from brim._light import contextmanager
from brim.errors import InputError, LimitReached
from brim.spend.ledger import LEASE, LONGEST_LEASE, RECORDED, RELEASED, RESERVED, SETTLED, Reservation, lineage
from brim.spend.limits import CLOSED, STOPPED, WARN, WRAP_UP, WRAPPING_UP, Limit, Raise
from brim.spend.money import checked_amount, in_dollars
from brim.store.books import Books, is_ending
from brim.store.database import TIMEOUT
from brim.store.ledger_address import ledger_path
from brim.store.opening import open_database
from brim.tracking.notices import Subscribers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Self

    from brim.spend.ledger import ScopeStatus
    from brim.store.books import Scope
    from brim.store.database import Database
    from brim.tracking.notices import Notice

LONGEST_ID = 200
"""Characters of a request id."""


def open_ledger(
    address: str,
    *,
    migrate: bool = True,
    timeout: float = TIMEOUT,
    warn: float = WARN,
    clock: Callable[[], float] = time.time,
) -> SqliteLedger:
    """Open the ledger at *address*: ``sqlite:///PATH`` or a path, such as a store's ``brim.db``.

    It is made if it is missing, unless *migrate* is False. *warn* is the share of a limit that is worth a warning.
    *clock* says when a lease has ended: every process on one ledger should have the same.
    """
    database = open_database(ledger_path(address), migrate=migrate, timeout=timeout)
    if not database.readonly:
        database.run("PRAGMA synchronous = FULL")
    return SqliteLedger(database, warn=warn, clock=clock)


class SqliteLedger:
    """A ``brim.spend.Ledger`` in one SQLite file."""

    def __init__(self, database: Database, *, warn: float = WARN, clock: Callable[[], float] = time.time) -> None:
        self.database = database
        self._warn, self._clock = warn, clock
        self._subscribers = Subscribers()

    # Limits -----------------------------------------------------------------------------------------------------

    def limit(self, scope: str, amount: int | None, *, anew: bool = False, default: bool = False) -> ScopeStatus:
        """Set the limit of *scope*: see ``brim.spend.Ledger.limit``."""
        name, new = lineage(scope)[-1], Limit(amount)
        with self._books() as books:
            found = books.scope(name)
            gives_way = default and not found.is_default
            is_same = found.limit.given == amount and found.is_default == default
            if anew or not (gives_way or is_same):
                found = books.changing(name)
                found.limit = found.limit.renewed(amount) if default and not anew else new
                found.is_default = default
                books.reached(found)
                books.answered(found, "limit")
            return books.status(name)

    def answer(self, scope: str, answer: str | Raise) -> ScopeStatus:
        """Do what a person said about the limit of *scope*, and keep it."""
        name = lineage(scope)[-1]
        with self._books() as books:
            found = books.changing(name)
            found.limit = found.limit.answered(answer, found.taken, self._warn)
            found.is_default = found.is_default and not isinstance(answer, Raise)
            books.answered(found, "raise" if isinstance(answer, Raise) else answer)
            return books.status(name)

    # Spending ---------------------------------------------------------------------------------------------------

    def reserve(
        self, scope: str, amount: int, *, request_id: str | None = None, lease: float = LEASE, purpose: str = ""
    ) -> Reservation:
        """Set *amount* aside for one request: see ``brim.spend.Ledger.reserve``."""
        names = lineage(scope)
        checked_amount(amount)
        if isinstance(lease, bool) or not isinstance(lease, int | float) or not 0 < lease <= LONGEST_LEASE:
            raise InputError(f"the lease must be seconds, more than 0 and at most a week, not {repr(lease)[:40]}")
        if purpose not in ("", WRAP_UP):
            raise InputError(f"the purpose is empty or {WRAP_UP}, not {repr(purpose)[:40]}")
        id = _checked_id(os.urandom(12).hex() if request_id is None else request_id)
        refused: LimitReached | None = None
        with self._books() as books:
            found = books.reservation(id)
            if found is not None:
                return _same(found, scope, amount, purpose)
            path = [books.scope(name) for name in names]
            ending = is_ending(path)
            for each in path:
                refused = _refusal(each, amount, purpose, ending)
                if refused is not None:
                    books.ask(each.name, amount)
                    break
            else:
                end = self._clock() + lease
                found = Reservation(request_id=id, scope=scope, amount=amount, lease_end=end, purpose=purpose)
                books.replace(None, found)
        if refused is not None or found is None:
            raise refused or LimitReached(scope)
        return found

    def settle(self, reservation: Reservation | str, amount: int) -> Reservation:
        """Say what the request really cost: see ``brim.spend.Ledger.settle``."""
        checked_amount(amount)
        with self._books() as books:
            return _settled(books, _found(books, reservation), amount)

    def release(self, reservation: Reservation | str) -> Reservation:
        """Give back what was set aside: the request was not sent."""
        with self._books() as books:
            found = _found(books, reservation)
            if found.state == SETTLED:
                raise InputError(
                    f"{found.request_id}: was settled at {in_dollars(found.charged)}, so it cannot be released; "
                    "settle it at 0 if it cost nothing"
                )
            released = found.replace(state=RELEASED, charged=0)
            if found.state != RELEASED:
                books.replace(found, released, "released")
        return released

    def record(self, scope: str, request_id: str, amount: int) -> Reservation:
        """Count a spend that nobody could stand before: see ``brim.spend.Ledger.record``."""
        lineage(scope)
        checked_amount(amount)
        id = _checked_id(request_id)
        with self._books() as books:
            found = books.reservation(id)
            if found is not None and found.scope != scope:
                raise InputError(f"{id}: belongs to {found.scope}, not to {scope}")
            if found is not None:
                return _settled(books, found, amount)
            recorded = Reservation(
                request_id=id,
                scope=scope,
                amount=0,
                charged=amount,
                state=SETTLED,
                purpose=RECORDED,
                lease_end=self._clock(),
            )
            books.replace(None, recorded, "recorded")
        return recorded

    # Looking ----------------------------------------------------------------------------------------------------

    def status(self, scope: str) -> ScopeStatus:
        """Return how *scope* stands."""
        name = lineage(scope)[-1]
        self._charge_ended()
        with self.database.reading():
            return self._new_books().status(name)

    def statuses(self, under: str = "", *, default: Limit | None = None) -> list[ScopeStatus]:
        """Return how every known scope stands, by name: all, or *under* and those below it.

        *default* shows them as they would stand under that default: see ``limit``. Nothing is written.
        """
        if under:
            lineage(under)
        self._charge_ended()
        with self.database.reading():
            return self._new_books().statuses(under, default)

    def reservation(self, request_id: str) -> Reservation | None:
        """Return what is known of a request, or None."""
        self._charge_ended()
        return self._new_books().reservation(request_id)

    def subscribe(self, subscriber: Callable[[Notice], object]) -> Callable[[], None]:
        """Tell *subscriber* of warnings and limits that this ledger comes upon; call what is returned to end that."""
        return self._subscribers.add(subscriber)

    def close(self) -> None:
        """Close the file."""
        self.database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def _books(self) -> Iterator[Books]:
        """Hand out the books for one transaction, ended leases charged; tell what happened when it is on the disk."""
        with self.database.writing():
            books = self._new_books()
            books.expire()
            yield books
            books.save()
        self._subscribers.tell(books.notices)

    def _new_books(self) -> Books:
        return Books(self.database, self._clock(), self._warn)

    def _charge_ended(self) -> None:
        """Charge leases that have ended; a ledger that cannot be written shows them as reserved still."""
        if not self.database.readonly and self._new_books().ended():
            with self._books():
                pass


def _found(books: Books, reservation: Reservation | str) -> Reservation:
    id = reservation.request_id if isinstance(reservation, Reservation) else _checked_id(reservation)
    found = books.reservation(id)
    if found is None:
        raise InputError(f"{id}: nothing is reserved under this id")
    return found


def _settled(books: Books, found: Reservation, amount: int) -> Reservation:
    """Return *found*, settled at *amount*; one that cost more than was set aside for it closes its scope."""
    if found.state == SETTLED and found.charged == amount:
        return found
    set_aside = 0 if found.state == RELEASED else found.amount
    is_over = found.purpose != RECORDED and amount > set_aside
    settled = found.replace(state=SETTLED, charged=amount, overrun=found.overrun or is_over)
    books.replace(found, settled, "settled" if found.state in (RESERVED, RELEASED) else "corrected")
    if is_over:
        books.close(found.scope, amount - set_aside)
    return settled


def _same(found: Reservation, scope: str, amount: int, purpose: str) -> Reservation:
    """Return *found* if it is what is asked for again."""
    if (found.scope, found.amount, found.purpose) != (scope, amount, purpose):
        was = f"{in_dollars(found.amount)} in {found.scope}{' to wrap up' if found.purpose else ''}"
        raise InputError(f"{found.request_id}: was used for {was} already: take another request id")
    if found.state == RELEASED:
        raise InputError(f"{found.request_id}: was released already: take another request id")
    return found


def _refusal(scope: Scope, amount: int, purpose: str, ending: bool) -> LimitReached | None:
    """Return why *amount* is not admitted under the limit of *scope*; None if it is."""
    limit, name = scope.limit, scope.name
    room = limit.room(scope.taken, purpose, ending=ending)
    reason = limit.refusal(purpose)
    if not reason and (room is None or amount <= room):
        return None
    parts = [f"{in_dollars(scope.spent)} of {in_dollars(limit.amount or 0)} is spent"]
    parts += [f"{in_dollars(scope.reserved)} is reserved"] if scope.reserved else []
    if limit.held and not (ending and purpose == WRAP_UP):
        parts.append(f"{in_dollars(limit.held)} is held back for the wrap-up")
    answers = "" if limit.state == WRAPPING_UP else f": brim spend continue|raise|wrap-up|stop {name}"
    opens = f"limit {name} none --anew" if limit.amount is None else f"raise {name} USD"
    text = {
        STOPPED: f"{name}: was stopped, so nothing more is spent: 'brim spend {opens}' opens it",
        CLOSED: f"{name}: is closed, because a request cost more than was reserved for it: "
        f"'brim spend continue {name}' opens it",
        WRAPPING_UP: f"{name}: is being wrapped up, and only requests for that are admitted",
    }.get(reason) or f"{name}: {in_dollars(amount)} more does not fit: {', '.join(parts)}{answers}"
    return LimitReached(
        text,
        scope=name,
        reason=reason or "limit",
        amount=amount,
        limit=limit.amount,
        spent=scope.spent,
        reserved=scope.reserved,
        room=room,
    )


def _checked_id(request_id: str) -> str:
    if not isinstance(request_id, str) or not 0 < len(request_id) <= LONGEST_ID or not request_id.isprintable():
        raise InputError(
            f"{repr(request_id)[:60]} is no request id: it must have 1 to {LONGEST_ID} characters, all printable"
        )
    return request_id
