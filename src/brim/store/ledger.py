"""``SqliteLedger``: the ledger in a file. Every call is one transaction that holds the lock from its first look.

What a call has returned is on the disk: unlike the rest of the store it waits for that (``synchronous=FULL``), so that
no settled amount is lost in a power cut. One ledger belongs to one thread; open another for the next.
"""

from __future__ import annotations

import os
import time
from contextlib import contextmanager

from brim.errors import InputError, LimitReached, StoreError
from brim.spend.ledger import (
    EXPIRED,
    LEASE,
    LONGEST_LEASE,
    RECORDED,
    RELEASED,
    RESERVED,
    SETTLED,
    Reservation,
    ScopeStatus,
    lineage,
)
from brim.spend.limits import (
    ANSWERS,
    ASKED,
    CLOSED,
    OPEN,
    STATES,
    STOPPED,
    WARN,
    WRAP_UP,
    WRAPPING_UP,
    CostLimit,
    CostWarning,
    InputRequested,
    Limit,
    Raise,
)
from brim.spend.money import checked_amount, in_dollars
from brim.store.database import TIMEOUT, Closing, open_database
from brim.tracking.notices import Subscribers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from brim.store.database import Database
    from brim.tracking.notices import Notice

LONGEST_ID = 200
"""Characters of a request id."""

RESERVATION = "SELECT request_id, scope, amount, charged, state, lease_end, purpose, overrun FROM reservations"
_ENDED = f"{RESERVATION} WHERE state = 'open' AND (lease_end <= ?1 OR lease_end > ?2) ORDER BY lease_end, request_id"
_SCOPE_COLUMNS = "scope, given, base, amount, is_default, state, warned, spent, reserved"
_SCOPE = f"SELECT {_SCOPE_COLUMNS} FROM spend_scopes"  # noqa: S608 - the names above


UNLIMITED = Limit()


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


class SqliteLedger(Closing):
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
        with self._books() as books:
            if (found := books.reservation(id)) is not None:
                return _same(found, scope, amount, purpose)
            path = [books.scope(name) for name in names]
            ending = is_ending(path)
            refused = next(filter(None, (_refusal(each, amount, purpose, ending) for each in path)), None)
            if refused is None:
                reserved = Reservation(id, scope, amount, lease_end=self._clock() + lease, purpose=purpose)
                books.replace(None, reserved)
                return reserved
            books.ask(refused.scope, ASKED, wanted=amount)
        raise refused  # after the question is on the disk

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
                was = f"{found.request_id}: was settled at {in_dollars(found.charged)}"
                raise InputError(f"{was}, so it cannot be released; settle it at 0 if it cost nothing")
            released = found.replace(state=RELEASED, charged=0)
            if found.state != RELEASED:
                books.replace(found, released, "released")
        return released

    def record(self, scope: str, request_id: str, amount: int) -> Reservation:
        """Count a spend that was never reserved: see ``brim.spend.Ledger.record``."""
        lineage(scope)
        checked_amount(amount)
        id = _checked_id(request_id)
        with self._books() as books:
            if (found := books.reservation(id)) is not None:
                if found.scope != scope:
                    raise InputError(f"{id}: belongs to {found.scope}, not to {scope}")
                return _settled(books, found, amount)
            recorded = Reservation(id, scope, 0, amount, SETTLED, lease_end=self._clock(), purpose=RECORDED)
            books.replace(None, recorded, "recorded")
        return recorded

    # Looking ----------------------------------------------------------------------------------------------------

    def status(self, scope: str) -> ScopeStatus:
        """Return how *scope* stands."""
        name = lineage(scope)[-1]
        with self._looking() as books:
            return books.status(name)

    def statuses(self, under: str = "", *, default: Limit | None = None, most: int | None = None) -> list[ScopeStatus]:
        """Return how every known scope stands, by name: all, or *under* and those below it; the first *most*.

        *default* shows them as they would stand under that default: see ``limit``. Nothing is written.
        """
        if under:
            lineage(under)
        with self._looking() as books:
            return books.statuses(under, default, most)

    def count(self, under: str = "") -> int:
        """Return how many scopes are known: all, or *under* and those below it."""
        with self.database.reading():
            count = f"SELECT count(*) FROM spend_scopes {_below(under)}"  # noqa: S608 - a condition without values
            row = self.database.row(count, (under,) if under else ())
        return int(row[0]) if row else 0

    def reservation(self, request_id: str) -> Reservation | None:
        """Return what is known of a request, or None."""
        with self._looking() as books:
            return books.reservation(request_id)

    def subscribe(self, subscriber: Callable[[Notice], object]) -> Callable[[], None]:
        """Tell *subscriber* of warnings and limits that this ledger comes upon; call what is returned to end that."""
        return self._subscribers.add(subscriber)

    @contextmanager
    def _books(self) -> Iterator[Books]:
        """Hand out the books for one transaction, ended leases charged; tell what happened when it is on the disk."""
        with self.database.writing():
            books = self._new_books()
            for found in books.ended():  # charged in full: its call may have been sent
                books.replace(found, found.replace(state=EXPIRED, charged=found.amount), "expired")
            yield books
            books.save()
        self._subscribers.tell(books.notices)

    def _new_books(self) -> Books:
        return Books(self.database, self._clock(), self._warn)

    @contextmanager
    def _looking(self) -> Iterator[Books]:
        """Hand out the books to look at, ended leases charged; a read-only ledger shows those as reserved still."""
        if not self.database.readonly and self._new_books().ended():
            with self._books():
                pass
        with self.database.reading():
            yield self._new_books()


def _found(books: Books, reservation: Reservation | str) -> Reservation:
    id = reservation.request_id if isinstance(reservation, Reservation) else _checked_id(reservation)
    found = books.reservation(id)
    if found is None:
        raise InputError(f"{id}: nothing is reserved under this id")
    return found


def _settled(books: Books, found: Reservation, amount: int) -> Reservation:
    """Return *found*, settled at *amount*; one that cost more than was set aside for it closes its scope.

    Settling or releasing gives back what wasn't spent, and another request may have taken it since.
    """
    if found.state == SETTLED and found.charged == amount:
        return found
    held = found.amount if found.state == RESERVED else found.charged
    set_aside = found.amount if found.state != RELEASED and books.fits(found.scope, amount - held) else held
    is_over = found.purpose != RECORDED and amount > set_aside
    settled = found.replace(state=SETTLED, charged=amount, overrun=found.overrun or is_over)
    books.replace(found, settled, "settled" if found.state in (RESERVED, RELEASED) else "corrected")
    if is_over:
        books.ask(found.scope, CLOSED, overrun=amount - set_aside)
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
    answers = "" if limit.state == WRAPPING_UP else f": brim limit continue|raise|wrap-up|stop {name}"
    opens = f"{name} none --anew" if limit.amount is None else f"raise {name} USD"
    text = {
        STOPPED: f"{name}: was stopped, so nothing more is spent: 'brim limit {opens}' opens it",
        CLOSED: f"{name}: is closed, because a request cost more than was reserved for it: "
        f"'brim limit continue {name}' opens it",
        WRAPPING_UP: f"{name}: is being wrapped up, and only requests for that are admitted",
    }.get(reason) or f"{name}: {in_dollars(amount)} more does not fit: {', '.join(parts)}{answers}"
    sums: dict[str, Any] = {"limit": limit.amount, "spent": scope.spent, "reserved": scope.reserved, "room": room}
    return LimitReached(text, scope=name, reason=reason or "limit", amount=amount, **sums)


def _checked_id(request_id: str) -> str:
    if not isinstance(request_id, str) or not 0 < len(request_id) <= LONGEST_ID or not request_id.isprintable():
        shown = repr(request_id)[:60]
        raise InputError(f"{shown} isn't a valid request id: it must have 1 to {LONGEST_ID} characters, all printable")
    return request_id


def ledger_path(address: str) -> str:
    """Return the file that *address* means: ``sqlite:///`` and a path, which begins with one more ``/`` if absolute.

    >>> ledger_path("sqlite:///money.db"), ledger_path("sqlite:////var/money.db"), ledger_path("money.db")
    ('money.db', '/var/money.db', 'money.db')
    """
    scheme, found, rest = address.partition("://")
    path = address if not found else rest[1:]
    if found and (scheme != "sqlite" or not rest.startswith("/") or "?" in rest):
        raise InputError(
            f"{address[:80]!r} isn't a ledger: use PATH, or sqlite:///PATH with one more / if PATH is absolute"
        )
    if not path or path == ":memory:":
        raise InputError(f"{address[:80]!r} names no file: a ledger is shared through one, as in sqlite:///money.db")
    return path


class Scope:
    """One scope, as it becomes during the transaction."""

    def __init__(
        self, name: str, limit: Limit = UNLIMITED, *, is_default: bool = True, spent: int = 0, reserved: int = 0
    ) -> None:
        self.name, self.limit, self.is_default, self.spent, self.reserved = name, limit, is_default, spent, reserved

    @property
    def taken(self) -> int:
        """What is spent or reserved."""
        return self.spent + self.reserved

    def status(self, above: list[Scope]) -> ScopeStatus:
        """Return how it stands under its own limit and those of the scopes *above* it."""
        limit = self.limit
        ending = is_ending([self, *above])
        rooms = [scope.limit.room(scope.taken, WRAP_UP, ending=ending) for scope in (self, *above)]
        left = min((room for room in rooms if room is not None), default=None)
        over = 0 if limit.amount is None else max(0, self.spent - limit.amount)
        sums = (self.spent, self.reserved, limit.amount, limit.given, limit.held, left)
        return ScopeStatus(self.name, *sums, limit.state, over)


class Books:
    """The scopes and reservations that one transaction touches; ``save`` writes back the scopes that were changed."""

    def __init__(self, database: Database, now: float, warn: float) -> None:
        self._database, self._now, self._warn = database, now, warn
        self._scopes: dict[str, Scope] = {}
        self._changed: set[str] = set()
        self.notices: list[Notice] = []
        """What is to be told when everything is written."""

    def ended(self) -> list[Reservation]:
        """Return the reservations whose lease has ended; one longer than any may be was made by a wrong clock."""
        longest = self._now + LONGEST_LEASE + 86_400
        return [reservation_of(row) for row in self._database.rows(_ENDED, (self._now, longest))]

    def scope(self, name: str) -> Scope:
        """Return the scope *name*; one that is not known yet has no limit and has spent nothing."""
        if name not in self._scopes:
            row = self._database.row(f"{_SCOPE} WHERE scope = ?", (name,))
            self._scopes[name] = scope_of(row, self._database.path) if row else Scope(name)
        return self._scopes[name]

    def changing(self, name: str) -> Scope:
        """Return the scope *name*, to be changed."""
        self._changed.add(name)
        return self.scope(name)

    def status(self, name: str) -> ScopeStatus:
        """Return how the scope *name* stands."""
        return self.scope(name).status([self.scope(each) for each in lineage(name)[:-1]])

    def statuses(self, under: str, default: Limit | None, most: int | None) -> list[ScopeStatus]:
        """Return how the known scopes stand, by name: all, or *under* and those below it; the first *most*.

        With *default*, as they would under that limit of every project that has none of its own.
        """
        bound = (under, most) if under else (most,)
        rows = self._database.rows(f"{_SCOPE} {_below(under)} ORDER BY scope LIMIT ifnull(?, -1)", bound)
        self._scopes |= {row[0]: scope_of(row, self._database.path) for row in rows}
        if default is not None:
            for project in [self.scope(name) for name in {lineage(row[0])[0] for row in rows}]:
                if project.is_default and project.limit.given != default.given:
                    project.limit = project.limit.renewed(default.given)
        return [self.status(row[0]) for row in rows]

    def reservation(self, request_id: str) -> Reservation | None:
        """Return what is known of the request, or None."""
        rows = self._database.rows(f"{RESERVATION} WHERE request_id = ?", (request_id,))
        return next(map(reservation_of, rows), None)

    def fits(self, scope: str, more: int) -> bool:
        """Whether *more* is within the limits of *scope* and those above it."""
        path = [self.scope(name) for name in lineage(scope)]
        return more <= 0 or all(each.limit.amount is None or each.taken + more <= each.limit.amount for each in path)

    def replace(self, old: Reservation | None, new: Reservation, kind: str = "") -> None:
        """Write *new* in place of *old*; move the sums of every scope that it counts against."""
        spent = new.charged - (old.charged if old else 0)
        reserved = _set_aside(new) - (_set_aside(old) if old else 0)
        is_answered = False  # who has said about a scope that it ends is not asked about those below it
        for name in lineage(new.scope):
            scope = self.changing(name)
            scope.spent += spent
            scope.reserved += reserved
            if spent > 0 and not is_answered:
                self.reached(scope)
            is_answered = is_answered or scope.limit.state in (WRAPPING_UP, STOPPED)
        self._database.run(
            "INSERT INTO reservations "
            "(request_id, scope, amount, charged, state, lease_end, purpose, overrun, made_at) "
            "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) ON CONFLICT (request_id) DO UPDATE SET "
            "amount = ?3, charged = ?4, state = ?5, lease_end = ?6, overrun = ?8",
            (*new.to_dict().values(), self._now),
        )
        if spent:
            self._database.run(
                "INSERT INTO spend_entries (time, request_id, scope, kind, amount) VALUES (?, ?, ?, ?, ?)",
                (self._now, new.request_id, new.scope, kind, spent),
            )

    def ask(self, name: str, state: str, *, wanted: int = 0, overrun: int = 0) -> None:
        """Ask about the limit of *name*, once per limit, and put it into *state*.

        What is *wanted* does not fit, or a request cost *overrun* more than was reserved: that closes the scope, so
        nothing more is admitted until a person says so.
        """
        scope = self.changing(name)
        before = scope.limit.state
        if before == OPEN:
            self._ask(scope, wanted=wanted, overrun=overrun)
        if before == OPEN or (state == CLOSED and before != STOPPED):
            scope.limit = scope.limit.replace(state=state)

    def answered(self, scope: Scope, answer: str) -> None:
        """Note that a person said *answer* about *scope*."""
        self._database.run(
            "INSERT INTO spend_answers (time, scope, answer, amount) VALUES (?, ?, ?, ?)",
            (self._now, scope.name, answer, scope.limit.amount),
        )

    def save(self) -> None:
        """Write the scopes."""
        for scope in [self._scopes[name] for name in sorted(self._changed)]:
            given, base, amount, state, warned = scope.limit.to_dict().values()
            self._database.run(
                f"INSERT OR REPLACE INTO spend_scopes ({_SCOPE_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",  # noqa: S608
                (scope.name, given, base, amount, scope.is_default, state, warned, scope.spent, scope.reserved),
            )

    def reached(self, scope: Scope) -> None:
        """Warn or ask if what is spent in *scope* has reached a mark of its limit."""
        scope.limit, warn, ask = scope.limit.reached(scope.spent, self._warn)
        if warn and scope.limit.amount is not None:
            self.notices.append(CostWarning(scope.spent, scope.limit.amount, scope.name))
        if ask:
            self._ask(scope)

    def _ask(self, scope: Scope, *, wanted: int = 0, overrun: int = 0) -> None:
        about = scope.spent, scope.limit.amount, scope.name
        answers = ANSWERS if scope.limit.amount is not None else tuple(each for each in ANSWERS if each != "raise")
        told = CostLimit(*about, held=scope.limit.held, wanted=wanted, overrun=overrun)
        self.notices += [told, InputRequested(*about, answers=answers)]


def _below(under: str) -> str:
    """Return the condition for *under*, its first parameter, and what is below it; empty for all scopes."""
    # What is below begins with the name and '/', and '0' is what follows '/'.
    return "WHERE (scope = ?1 OR (scope > ?1 || '/' AND scope < ?1 || '0'))" if under else ""


def is_ending(path: list[Scope]) -> bool:
    """Whether a person let a scope in *path* wrap up: then the wrap-up may take what is held."""
    return any(scope.limit.state == WRAPPING_UP for scope in path)


def scope_of(row: Any, path: str) -> Scope:
    """Return the scope that *row* holds; raise if it holds none."""
    name, given, base, amount, is_default, state, warned, spent, reserved = row
    amounts = [each for each in (given, base, amount) if each is not None]
    if state not in STATES or not all(type(each) is int and each >= 0 for each in (*amounts, spent, reserved)):
        raise StoreError(f"{path}: what is kept about the scope {str(name)[:80]!r} cannot be read", "damaged")
    limit = Limit(given, base, amount, state, bool(warned))
    return Scope(name, limit, is_default=bool(is_default), spent=spent, reserved=reserved)


def reservation_of(row: Any) -> Reservation:
    """Return the reservation that *row* holds."""
    return Reservation(*(*row[:7], bool(row[7])))


def _set_aside(reservation: Reservation) -> int:
    return reservation.amount if reservation.state == RESERVED else 0
