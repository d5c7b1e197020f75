"""Ledgers that are stored. Every call is one transaction that holds the lock from its first look.

``SqliteLedger`` is the one in a file. What a call has returned is on the disk: unlike the rest of
the store it waits for that (``synchronous=FULL``), so that no settled amount is lost in a power
cut. Each thread gets its own connection, and so does a process after a fork.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from threading import get_ident
from typing import Any, Self

from brim.errors import InputError, LimitReached, StoreError
from brim.notices import Notice, Subscribers
from brim.record import PlainData
from brim.spend.ledger import (
    EXPIRED,
    LEASE,
    LONGEST_LEASE,
    RECORDED,
    RELEASED,
    RESERVED,
    SETTLED,
    DaySum,
    Ledger,
    Reservation,
    ScopeStatus,
    lineage,
)
from brim.spend.limits import ASKED, OPEN, STOPPED, WARN, WRAP_UP, WRAPPING_UP, Limit, Raise
from brim.spend.money import PERCENT, TOKENS, USD, checked_amount, in_dollars, in_unit, out_of
from brim.spend.periods import EVERYWHERE, TOTAL, Allowance, Ceiling, bounds, read_ceiling
from brim.store.books import Books, Scope, below, is_ending
from brim.store.database import POSTGRES, TIMEOUT, Database, open_database
from brim.store.project import scope_at

LONGEST_ID = 200
"""Characters of a request id."""


def open_ledger(
    address: str,
    *,
    create: bool = True,
    timeout: float = TIMEOUT,
    warn: float = WARN,
    clock: Callable[[], float] | None = None,
) -> StoredLedger:
    """Open the ledger at *address*.

    The address is ``sqlite:///PATH``, a path (such as a store's ``brim.db``), or, for many
    machines, ``postgresql://USER:PASSWORD@HOST/DATABASE``. A missing ledger is created, unless
    *create* is False. *warn* is the share of a limit from which to warn. *timeout* is how many
    seconds to wait for another writer, or for a server that is down. *clock* gives the time for
    leases; by default that's this machine's, or the server's with PostgreSQL.
    """
    if address.startswith(POSTGRES):
        from brim.store.postgres.ledger import PostgresLedger

        return PostgresLedger(address, create=create, warn=warn, clock=clock, timeout=timeout)
    database = _open(ledger_path(address), create, timeout)
    return SqliteLedger(database, warn=warn, clock=clock or time.time, timeout=timeout)


def _open(path: str, create: bool, timeout: float) -> Database:
    database = open_database(path, create=create, timeout=timeout)
    if not database.readonly:
        database.run("PRAGMA synchronous = FULL")
    return database


@dataclass(frozen=True)
class Order(PlainData):
    """What is to be done about the money of one request: its kind is a name in ``_DOING``."""

    kind: str
    request_id: str
    scope: str = ""
    """Empty if only the id is known."""
    amount: int = 0
    tokens: int | None = None
    lease: float = LEASE
    purpose: str = ""
    made_with: tuple[str, str] = ("", "")
    """The model and the branch."""
    at: float | None = None
    """When it was spent; None is now."""

    def do(self, books: Books) -> Reservation | LimitReached:
        """Do it in *books*. What is refused is noted there, so it is returned, to be raised when
        that is written."""
        return _DOING[self.kind](books, self)


class StoredLedger(Ledger):
    """A ``brim.spend.Ledger`` whose books are in a database, which its subclasses open."""

    def __init__(self, warn: float) -> None:
        self._warn = warn
        self._subscribers = Subscribers()

    @property
    def database(self) -> Database:
        """The connection for this thread."""
        raise NotImplementedError

    def close(self) -> None:
        """Close it for all threads of this process. Closing twice does nothing."""
        raise NotImplementedError

    def _now(self) -> float:
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # Limits ---------------------------------------------------------------------------------------

    def limit(
        self, scope: str, amount: int | None, *, anew: bool = False, default: bool = False
    ) -> ScopeStatus:
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
                books.answered(name, "limit", found.limit.amount)
            return books.status(name)

    def allow(
        self, scope: str, ceiling: Ceiling | str, *, zone: str = "UTC", including_past: bool = False
    ) -> Allowance:
        """Limit *scope* per period: see ``brim.spend.Ledger.allow``."""
        name = _checked_scope(scope)
        wanted = read_ceiling(ceiling) if isinstance(ceiling, str) else ceiling
        now = self._now()
        starts, ends = bounds(wanted.period, zone, now)
        starts = now if not including_past else 0.0 if ends is None else starts
        with self._books() as books:
            made = Allowance(
                name,
                wanted.period,
                wanted.unit,
                Limit(wanted.amount),
                zone=zone,
                starts=starts,
                ends=ends,
            )
            books.own_allowances(name)
            found = books.begin(made)
            books.answered(name, f"limit {wanted}", wanted.amount)
            return found

    def disallow(self, scope: str, *, period: str = "", unit: str = "") -> list[Allowance]:
        """Remove the limits per period of *scope*, or those of one *period* and *unit*; return
        them."""
        name = _checked_scope(scope)
        with self._books() as books:
            found = [
                each
                for each in books.own_allowances(name)
                if period in ("", each.period) and unit in ("", each.unit)
            ]
            for each in found:
                books.remove(each)
                books.answered(name, f"remove {each.ceiling}", None)
        return found

    def answer(self, scope: str, answer: str | Raise) -> ScopeStatus:
        """Do what a person said about the limits of *scope*, and keep it."""
        name = _checked_scope(scope)
        with self._books() as books:
            if name != EVERYWHERE:
                books.changing(name)
            for about in _answered(books, name, answer):
                limit = about.limit.answered(answer, about.taken, self._warn, unit=about.unit)
                if isinstance(about, Scope):
                    about.is_default = about.is_default and not isinstance(answer, Raise)
                books.keep(about, limit)
                if isinstance(about, Allowance) and about.is_pattern:
                    books.raised(replace(about, limit=limit))
                books.answered(name, "raise" if isinstance(answer, Raise) else answer, limit.amount)
            return books.status(name) if name != EVERYWHERE else ScopeStatus(EVERYWHERE)

    # Spending -------------------------------------------------------------------------------------

    def reserve(
        self,
        scope: str,
        amount: int,
        *,
        request_id: str | None = None,
        lease: float = LEASE,
        purpose: str = "",
        tokens: int = 0,
        model: str = "",
        branch: str = "",
    ) -> Reservation:
        """Set *amount* aside for one request: see ``brim.spend.Ledger.reserve``."""
        lineage(scope)
        checked_amount(amount)
        checked_amount(tokens, "tokens", "tokens")
        if (
            isinstance(lease, bool)
            or not isinstance(lease, int | float)
            or not 0 < lease <= LONGEST_LEASE
        ):
            raise InputError(
                f"the lease must be seconds, more than 0 and at most a week, not {repr(lease)[:40]}"
            )
        if purpose not in ("", WRAP_UP):
            raise InputError(f"the purpose is empty or {WRAP_UP}, not {repr(purpose)[:40]}")
        id = _checked_id(os.urandom(12).hex() if request_id is None else request_id)
        return self._spend(
            Order("reserve", id, scope, amount, tokens, lease, purpose, (model, branch))
        )

    def settle(
        self, reservation: Reservation | str, amount: int, *, tokens: int | None = None
    ) -> Reservation:
        """Say what the request really cost: see ``brim.spend.Ledger.settle``."""
        checked_amount(amount)
        checked_amount(tokens or 0, "tokens", "tokens")
        return self._spend(Order("settle", *_known(reservation), amount, tokens))

    def release(self, reservation: Reservation | str) -> Reservation:
        """Give back what was set aside: the request was not sent."""
        return self._spend(Order("release", *_known(reservation)))

    def record(
        self,
        scope: str,
        request_id: str,
        amount: int,
        *,
        tokens: int = 0,
        at: float | None = None,
        model: str = "",
        branch: str = "",
    ) -> Reservation:
        """Count a spend that was never reserved: see ``brim.spend.Ledger.record``."""
        lineage(scope)
        checked_amount(amount)
        checked_amount(tokens, "tokens", "tokens")
        id = _checked_id(request_id)
        return self._spend(
            Order("record", id, scope, amount, tokens, at=at, made_with=(model, branch))
        )

    def _spend(self, order: Order) -> Reservation:
        with self._books() as books:
            done = order.do(books)
        if isinstance(done, LimitReached):
            raise done  # after the question is on the disk
        return done

    def fold(self) -> int:
        """Fold entries older than 90 days into sums, as ``days`` has them; return how many were, 0
        if none is left."""
        with self._books() as books:
            return books.fold()

    # Looking --------------------------------------------------------------------------------------

    def status(self, scope: str) -> ScopeStatus:
        """Return how *scope* stands."""
        name = lineage(scope)[-1]
        with self._looking() as books:
            return books.status(name)

    def tightest(self, scope: str) -> ScopeStatus:
        """Return how *scope* stands under the one of its limits in dollars that has the least
        room."""
        name = lineage(scope)[-1]
        with self._looking() as books:
            status = books.status(name)
            found = [each for each in books.allowances(name, known=True) if each.unit == USD]
        tight = min(found, key=lambda each: each.limit.room(each.taken) or 0, default=None)
        if tight is None or tight.limit.amount is None or status.state not in (OPEN, ASKED):
            return status
        room = tight.limit.amount - tight.limit.held - tight.taken
        if (
            status.limit is not None
            and status.limit - status.held - status.spent - status.reserved <= room
        ):
            return status
        return replace(
            status,
            scope=tight.scope,
            spent=tight.spent,
            reserved=tight.reserved,
            limit=tight.limit.amount,
            given=tight.limit.given,
            held=tight.limit.held,
            state=tight.limit.state,
            overshoot=max(0, tight.spent - tight.limit.amount),
            period=tight.period,
        )

    def reached(
        self, scope: str, *, plans: Callable[[Allowance], list[Allowance]] | None = None
    ) -> list[Allowance]:
        """Return the limits per period that are used up in *scope*: see
        ``brim.spend.Ledger.reached``."""
        with self._looking() as books:
            counted = books.allowances(scope)
            windows = books.plan_allowances(scope) if plans is not None else []
        found = [
            each
            for each in counted
            if each.limit.state == ASKED or each.limit.room(each.taken) == 0
        ]
        read = [each for window in windows for each in (plans(window) if plans is not None else [])]
        return [*found, *(each for each in read if each.spent >= (each.limit.amount or 0))]

    def statuses(
        self, under: str = "", *, default: Limit | None = None, most: int | None = None
    ) -> list[ScopeStatus]:
        """Return how every known scope stands, by name: all, or *under* and those below it; the
        first *most*.

        *default* shows them as they would stand under that default: see ``limit``. Nothing is
        written.
        """
        if under:
            lineage(under)
        with self._looking() as books:
            return books.statuses(under, default, most)

    def count(self, under: str = "") -> int:
        """Return how many scopes are known: all, or *under* and those below it."""
        with self.database.reading():
            count = f"SELECT count(*) FROM spend_scopes {below(under)}"  # noqa: S608 - a condition without values
            row = self.database.row(count, (under,) if under else ())
        return int(row[0]) if row else 0

    def days(self, under: str = "") -> list[DaySum]:
        """Return what was spent per day, scope, model and branch: all, or *under* and what is below
        it."""
        if under:
            lineage(under)
        with self._looking() as books:
            return books.days(under)

    def reservation(self, request_id: str) -> Reservation | None:
        """Return what is known of a request, or None."""
        with self._looking() as books:
            return books.reservation(request_id)

    def allowances(self, scope: str = "") -> list[Allowance]:
        """Return every limit per period as it stands now, by scope; of *scope* alone if that is
        given."""
        with self._looking() as books:
            return books.own_allowances(scope) if scope else books.all_allowances()

    def projects_spent(self, *, default: Limit | None = None) -> list[ScopeStatus]:
        """Return how every outermost scope stands, by name; *default* as in ``statuses``."""
        with self._looking() as books:
            return books.statuses("", default, None, projects=True)

    # Projects -------------------------------------------------------------------------------------

    def project(self, place: str, *, claim: bool = True) -> str:
        """Return the scope of the project at *place*; with *claim* it is kept for that place."""
        scope = scope_at(self.database, place)
        if claim and place and not self.database.readonly:
            with self.database.writing():
                scope = scope_at(self.database, place)
                self.database.run(
                    "DELETE FROM spend_projects WHERE place = ? OR scope = ?", (place, scope)
                )
                self.database.run(
                    "INSERT INTO spend_projects (place, scope) VALUES (?, ?)", (place, scope)
                )
        return scope

    def projects(self) -> dict[str, str]:
        """Return the place of every project that is known, by its scope."""
        return dict(self.database.rows("SELECT scope, place FROM spend_projects ORDER BY scope"))

    def subscribe(self, subscriber: Callable[[Notice], object]) -> Callable[[], None]:
        """Tell *subscriber* of warnings and limits that this ledger comes upon; call what is
        returned to end that."""
        return self._subscribers.add(subscriber)

    @contextmanager
    def _books(self) -> Iterator[Books]:
        """Hand out the books for one transaction, ended leases charged; tell what happened when it
        is on the disk."""
        with self.database.writing():
            books = self._new_books()
            for found in books.ended():  # charged in full: its call may have been sent
                expired = replace(
                    found, state=EXPIRED, charged=found.amount, charged_tokens=found.tokens
                )
                books.replace(found, expired, "expired")
            yield books
            books.save()
        self._subscribers.tell(books.notices)

    def _new_books(self) -> Books:
        return Books(self.database, self._now(), self._warn)

    @contextmanager
    def _looking(self) -> Iterator[Books]:
        """Hand out the books to look at, ended leases charged; a read-only ledger shows those as
        reserved still."""
        if not self.database.readonly and self._new_books().ended():
            with self._books():
                pass
        with self.database.reading():
            yield self._new_books()


class SqliteLedger(StoredLedger):
    """A ``brim.spend.Ledger`` in one SQLite file.

    One object serves many threads, and goes on after a fork.
    """

    def __init__(
        self,
        database: Database,
        *,
        warn: float = WARN,
        clock: Callable[[], float] = time.time,
        timeout: float = TIMEOUT,
    ) -> None:
        super().__init__(warn)
        self._path, self._timeout, self._clock = os.path.abspath(database.path), timeout, clock
        self._open = {(os.getpid(), get_ident()): database}
        self._closed = False

    @property
    def database(self) -> Database:
        """The file, through the connection of this thread and process: SQLite can't share one after
        a fork."""
        me = os.getpid(), get_ident()
        found = self._open.get(me)
        if found is None:
            if self._closed:
                raise StoreError(f"{self._path}: this ledger was closed: open it again")
            found = self._open[me] = _open(self._path, False, self._timeout)
        return found

    def close(self) -> None:
        """Close the file for all threads of this process. Closing twice does nothing."""
        self._closed = True
        for (process, _), database in self._open.items():
            if process == os.getpid():  # closing what another process opened could end its locks
                database.close()

    def _now(self) -> float:
        return self._clock()


def _known(reservation: Reservation | str) -> tuple[str, str]:
    """Return the id of *reservation*, and its scope if that is known."""
    if isinstance(reservation, Reservation):
        return reservation.request_id, reservation.scope
    return _checked_id(reservation), ""


def _reserve(books: Books, order: Order) -> Reservation | LimitReached:
    id, scope, tokens = order.request_id, order.scope, order.tokens or 0
    if (found := books.reservation(id)) is not None:
        return _same(found, scope, order.amount, order.purpose, tokens)
    path = [books.scope(name) for name in lineage(scope)]
    ending = is_ending(path)
    limited: list[Scope | Allowance] = [*path, *books.allowances(scope)]
    for each in limited:
        wanted = tokens if each.unit == TOKENS else order.amount
        refused = refusal(each, wanted, order.purpose, ending)
        if refused is not None:
            books.ask(each, wanted=wanted)
            return refused
    ends, purpose = books.now + order.lease, order.purpose
    reserved = Reservation(
        id, scope, order.amount, lease_end=ends, purpose=purpose, tokens=tokens, made_at=books.now
    )
    books.replace(None, reserved, made_with=order.made_with)
    return reserved


def _settle(books: Books, order: Order) -> Reservation:
    return _settled(books, _found(books, order), order.amount, order.tokens)


def _release(books: Books, order: Order) -> Reservation:
    found = _found(books, order)
    if found.state == SETTLED:
        was = f"{found.request_id}: was settled at {in_dollars(found.charged)}"
        raise InputError(f"{was}, so it cannot be released; settle it at 0 if it cost nothing")
    released = replace(found, state=RELEASED, charged=0, charged_tokens=0)
    if found.state != RELEASED:
        books.replace(found, released, "released")
    return released


def _record(books: Books, order: Order) -> Reservation:
    id, scope, amount, tokens = order.request_id, order.scope, order.amount, order.tokens or 0
    if (found := books.reservation(id)) is not None:
        if found.scope != scope:
            raise InputError(f"{id}: belongs to {found.scope}, not to {scope}")
        return _settled(books, found, amount, tokens, when=order.at)
    made = books.now if order.at is None else min(order.at, books.now)
    recorded = Reservation(
        id, scope, 0, amount, SETTLED, books.now, RECORDED, charged_tokens=tokens, made_at=made
    )
    books.replace(None, recorded, "recorded", made_with=order.made_with)
    return recorded


_DOING: dict[str, Callable[[Books, Order], Reservation | LimitReached]] = {
    "reserve": _reserve,
    "settle": _settle,
    "release": _release,
    "record": _record,
}


def _found(books: Books, order: Order) -> Reservation:
    found = books.reservation(order.request_id)
    if found is None:
        raise InputError(f"{order.request_id}: nothing is reserved under this id")
    return found


def _settled(
    books: Books, found: Reservation, amount: int, tokens: int | None, *, when: float | None = None
) -> Reservation:
    """Return *found*, settled at *amount* and *tokens*; None takes the tokens that were set aside.

    It counts for the period in which it was made, or of *when*.

    Settling or releasing gives back what wasn't spent, and another request may have taken it since.
    """
    tokens = (found.charged_tokens or found.tokens) if tokens is None else tokens
    if found.state == SETTLED and (found.charged, found.charged_tokens) == (amount, tokens):
        return found
    aside = found.amount, found.tokens
    held = aside if found.state == RESERVED else (found.charged, found.charged_tokens)
    if found.state == RELEASED or not books.fits(found.scope, amount - held[0], tokens - held[1]):
        aside = held
    is_over = amount > aside[0] or (
        found.tokens > 0 and tokens > aside[1]
    )  # else no tokens were set aside
    overrun = found.overrun or (found.purpose != RECORDED and is_over)
    settled = replace(found, state=SETTLED, charged=amount, charged_tokens=tokens, overrun=overrun)
    books.replace(
        found, settled, "settled" if found.state in (RESERVED, RELEASED) else "corrected", when
    )
    return settled


def _same(found: Reservation, scope: str, amount: int, purpose: str, tokens: int) -> Reservation:
    """Return *found* if it is what is asked for again."""
    if (found.scope, found.amount, found.purpose, found.tokens) != (scope, amount, purpose, tokens):
        was = f"{in_dollars(found.amount)} in {found.scope}{' to wrap up' if found.purpose else ''}"
        raise InputError(f"{found.request_id}: was used for {was} already: take another request id")
    if found.state == RELEASED:
        raise InputError(f"{found.request_id}: was released already: take another request id")
    return found


def _answered(books: Books, name: str, answer: str | Raise) -> list[Scope | Allowance]:
    """Return the limits of the scope *name* that *answer* is about.

    Wrapping up and stopping are about the scope. ``continue`` is about every limit that was
    reached. ``Raise`` is about the one it names, or the only one there is.
    """
    scope: list[Scope | Allowance] = [books.scope(name)] if name != EVERYWHERE else []
    own = [
        each
        for each in books.own_allowances(name)
        if each.unit != PERCENT or isinstance(answer, Raise)
    ]
    if isinstance(answer, Raise):
        if (
            answer.per in ("", TOTAL)
            and answer.unit == USD
            and scope
            and scope[0].limit.amount is not None
        ):
            return scope
        named = [
            each for each in own if each.unit == answer.unit and answer.per in ("", each.period)
        ]
        if answer.per == TOTAL and not named:  # a bare number, and there is no limit in all
            named = [each for each in own if each.unit == answer.unit]
        if len(named) > 1:
            raise InputError(
                f"{name}: which limit? There are {', '.join(str(each.ceiling) for each in named)}"
            )
        if named:
            return [*named]
        if scope and (scope[0].limit.amount is not None or not own):
            return scope
        raise InputError(
            f"{name}: there is no such limit to raise: 'brim limit' shows those there are"
        )
    if answer == "continue":
        reached = [
            each for each in own if each.limit.state == ASKED or each.limit.room(each.taken) == 0
        ]
        is_asked = bool(scope) and (
            scope[0].limit.state != OPEN or scope[0].limit.room(scope[0].taken) == 0
        )
        return [*(scope if is_asked or not reached else []), *reached]
    if not scope:
        raise InputError("wrap-up and stop are for one project: name it, or leave out --all")
    return scope


def refusal(
    about: Scope | Allowance, amount: int, purpose: str, ending: bool
) -> LimitReached | None:
    """Return why *amount* is not admitted under the limit of *about*; None if it is."""
    limit, name, unit = about.limit, about.name, about.unit
    room = limit.room(about.taken, purpose, ending=ending)
    reason = limit.refusal(purpose)
    if not reason and (room is None or amount <= room):
        return None
    parts = [f"{out_of(about.spent, limit.amount or 0, unit)} is spent{about.when}"]
    parts += [f"{in_unit(about.reserved, unit)} is reserved"] if about.reserved else []
    if limit.held and not (ending and purpose == WRAP_UP):
        parts.append(f"{in_unit(limit.held, unit)} is held back for the wrap-up")
    whose = "--all" if about.scope == EVERYWHERE else about.scope
    answers = (
        "" if limit.state == WRAPPING_UP else f": brim limit continue|raise|wrap-up|stop {whose}"
    )
    text = {
        STOPPED: f"{name}: was stopped, so nothing more is spent: 'brim limit continue {name}' opens it",
        WRAPPING_UP: f"{name}: is being wrapped up, and only requests for that are admitted",
    }.get(
        reason
    ) or f"{name}: {in_unit(amount, unit)} more does not fit: {', '.join(parts)}{answers}"
    what: dict[str, Any] = {
        "scope": about.scope,
        "reason": reason or "limit",
        "amount": amount,
        "unit": unit,
    }
    return LimitReached(
        text, **what, limit=limit.amount, spent=about.spent, reserved=about.reserved, room=room
    )


def _checked_scope(scope: str) -> str:
    return scope if scope == EVERYWHERE else lineage(scope)[-1]


def _checked_id(request_id: str) -> str:
    if (
        not isinstance(request_id, str)
        or not 0 < len(request_id) <= LONGEST_ID
        or not request_id.isprintable()
    ):
        shown = repr(request_id)[:60]
        raise InputError(
            f"{shown} isn't a valid request id: it must have 1 to {LONGEST_ID} characters, all printable"
        )
    return request_id


def ledger_path(address: str) -> str:
    """Return the file that *address* means: ``sqlite:///`` and a path, which begins with one more
    ``/`` if absolute.

    >>> ledger_path("sqlite:///money.db"), ledger_path("sqlite:////var/money.db"), ledger_path("money.db")
    ('money.db', '/var/money.db', 'money.db')
    """
    scheme, found, rest = address.partition("://")
    path = address if not found else rest[1:]
    if found and (scheme != "sqlite" or not rest.startswith("/") or "?" in rest):
        raise InputError(
            f"{address[:80]!r} isn't a ledger: use PATH, sqlite:///PATH with one more / if PATH is absolute, or "
            "postgresql://USER@HOST/DATABASE"
        )
    if not path or path == ":memory:":
        raise InputError(
            f"{address[:80]!r} names no file: a ledger is shared through one, as in sqlite:///money.db"
        )
    return path
