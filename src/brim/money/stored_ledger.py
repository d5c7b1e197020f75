"""``StoredLedger``: a ledger whose books are in a database.

Every call is one transaction that holds the lock from its first look.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from typing import Self

from brim.database import Database
from brim.errors import InputError, LimitReached
from brim.money.allowances import Allowance, bounds, checked_limit, ledger_limit
from brim.money.amounts import USD, checked_amount
from brim.money.books import Books
from brim.money.budget import ASKED, OPEN, WRAP_UP, Limit, Raise
from brim.money.ledger import (
    EXPIRED,
    LEASE,
    LONGEST_LEASE,
    DaySum,
    Ledger,
    Reservation,
    ScopeStatus,
)
from brim.money.ledger_sums import below
from brim.money.limits import SpendingLimit
from brim.money.orders import Order
from brim.money.periods import TOTAL
from brim.money.rows import Scope, money_or_none
from brim.money.scopes import EVERYWHERE, checked_scope, lineage, one_scope
from brim.notices import Notice, Subscribers
from brim.usd import Dollars, Money, read_money

LONGEST_ID = 200
"""Characters of a request id."""


class StoredLedger(Ledger):
    """A ``Ledger`` whose books are in a database, which its subclasses open."""

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

    def now(self) -> float:
        """Return the time by the ledger's clock, in seconds since 1970."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # Limits

    def limit(self, scope: str, amount: Dollars | None, *, anew: bool = False) -> ScopeStatus:
        """Set the limit of *scope*: see ``Ledger.limit``."""
        name = one_scope(scope)
        new = Limit()
        if amount is not None:
            new = Limit(int(read_money(amount, "the limit", up=False)))
        with self._books() as books:
            limited = books.scope(name)
            if anew or limited.limit.original != new.original:
                limited = replace(limited, limit=new)
                books.put_scope(limited)
                books.reached(limited)
                books.note_answer(name, "limit", new.original)
            return books.status(name)

    def allow(
        self,
        scope: str,
        limit: SpendingLimit | str,
        *,
        zone: str = "UTC",
        including_past: bool = False,
    ) -> Allowance:
        """Limit *scope* per period: see ``Ledger.allow``."""
        name = checked_scope(scope)
        wanted = ledger_limit(limit) if isinstance(limit, str) else checked_limit(limit)
        now = self.now()
        starts, ends = bounds(wanted.period, zone, now)
        if not including_past:
            starts = now
        elif ends is None:
            starts = 0.0
        allowance = Allowance(
            name,
            wanted.period,
            wanted.unit,
            Limit(wanted.amount),
            zone=zone,
            starts=starts,
            ends=ends,
        )
        with self._books() as books:
            books.own_allowances(name)
            begun = books.begin(allowance)
            books.note_answer(name, f"limit {wanted.text}", wanted.amount)
            return begun

    def disallow(self, scope: str, *, period: str = "", unit: str = "") -> list[Allowance]:
        """Remove the limits per period of *scope*, or those of one *period* and *unit*; return
        them."""
        name = checked_scope(scope)
        removed: list[Allowance] = []
        with self._books() as books:
            for allowance in books.own_allowances(name):
                if period in ("", allowance.period) and unit in ("", allowance.unit):
                    books.remove(allowance)
                    books.note_answer(name, f"remove {allowance.text}", None)
                    removed.append(allowance)
        return removed

    def answer(self, scope: str, answer: str | Raise) -> ScopeStatus:
        """Do what a person said about the limits of *scope*, and keep it."""
        name = checked_scope(scope)
        word = "raise" if isinstance(answer, Raise) else answer
        with self._books() as books:
            for about in _limits_meant(books, name, answer):
                limit = about.limit.answered(answer, about.used, self._warn, unit=about.unit)
                books.put_limit(about, limit)
                if isinstance(about, Allowance) and about.is_pattern:
                    books.raise_below(replace(about, limit=limit))
                books.note_answer(name, word, limit.amount)
            if name == EVERYWHERE:
                return ScopeStatus(EVERYWHERE)
            return books.status(name)

    # Spending

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
        """Set *amount* aside for one request: see ``Ledger.reserve``."""
        lineage(scope)
        money = read_money(amount, "the amount")
        checked_amount(tokens, "tokens", "tokens")
        _check_lease(lease)
        if purpose not in ("", WRAP_UP):
            raise InputError(f"the purpose is empty or {WRAP_UP}, not {repr(purpose)[:40]}")
        if request_id is None:
            request_id = os.urandom(12).hex()
        order_id = checked_id(request_id)
        made_with = (model, branch)
        order = Order("reserve", order_id, scope, money, tokens, lease, purpose, made_with)
        if at_most is not None:
            order = replace(order, at_most=int(read_money(at_most, "at_most", up=False)))
        return self._spend(replace(order, asks=asks))

    def settle(
        self, reservation: Reservation | str, amount: Dollars, *, tokens: int | None = None
    ) -> Reservation:
        """Say what the request really cost: see ``Ledger.settle``."""
        money = read_money(amount, "the amount")
        checked_amount(tokens or 0, "tokens", "tokens")
        return self._spend(Order("settle", *_id_and_scope(reservation), money, tokens))

    def release(self, reservation: Reservation | str) -> Reservation:
        """Give back what was set aside: the request was not sent."""
        return self._spend(Order("release", *_id_and_scope(reservation)))

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
        """Count a spend that was never reserved: see ``Ledger.record``."""
        lineage(scope)
        money = read_money(amount, "the amount")
        checked_amount(tokens, "tokens", "tokens")
        order_id = checked_id(request_id)
        made_with = (model, branch)
        return self._spend(
            Order("record", order_id, scope, money, tokens, made_with=made_with, at=at)
        )

    def _spend(self, order: Order) -> Reservation:
        with self._books() as books:
            result = order.do(books)
        if isinstance(result, LimitReached):
            raise result  # after the question is on the disk
        return result

    def fold(self) -> int:
        """Fold entries older than 90 days into sums, as ``days`` has them; return how many were, 0
        if none is left."""
        with self._books() as books:
            return books.fold()

    # Looking

    def status(self, scope: str) -> ScopeStatus:
        """Return how *scope* stands."""
        name = one_scope(scope)
        with self._looking() as books:
            return books.status(name)

    def tightest(self, scope: str) -> ScopeStatus:
        """Return how *scope* stands under the one of its limits in dollars that has the least
        room."""
        name = one_scope(scope)
        with self._looking() as books:
            status = books.status(name)
            allowances = books.allowances(name, only_stored=True)
        in_dollars = [allowance for allowance in allowances if allowance.unit == USD]
        if not in_dollars or status.state not in (OPEN, ASKED):
            return status
        tightest = min(in_dollars, key=_room)
        own_room = _status_room(status)
        if own_room is not None and own_room <= _room_before_question(tightest):
            return status
        return _status_under(tightest, status)

    def reached(self, scope: str) -> list[Allowance]:
        """Return the limits per period that are used up in *scope*: see ``Ledger.reached``."""
        with self._looking() as books:
            allowances = books.allowances(scope)
        return [allowance for allowance in allowances if allowance.limit.is_reached(allowance.used)]

    def statuses(self, under: str = "", *, count: int | None = None) -> list[ScopeStatus]:
        """Return how every known scope stands, by name: all, or *under* and those below it; the
        first *count*."""
        if under:
            one_scope(under)
        with self._looking() as books:
            return books.statuses(under, count)

    def count(self, under: str = "") -> int:
        """Return how many scopes are known: all, or *under* and those below it."""
        query = f"SELECT count(*) FROM spend_scopes {below(under)}"  # noqa: S608
        values = (under,) if under else ()
        with self.database.reading():
            return int(self.database.row(query, values)[0])

    def days(self, under: str = "") -> list[DaySum]:
        """Return what was spent per day, scope, model and branch: all, or *under* and what is below
        it."""
        if under:
            one_scope(under)
        with self._looking() as books:
            return books.days(under)

    def reservation(self, request_id: str) -> Reservation | None:
        """Return the reservation of a request, or None."""
        with self._looking() as books:
            return books.reservation(request_id)

    def allowances(self, scope: str = "") -> list[Allowance]:
        """Return every limit per period as it stands now, by scope; of *scope* alone if that is
        named."""
        with self._looking() as books:
            if scope:
                return books.own_allowances(scope)
            return books.all_allowances()

    def projects(self) -> list[ScopeStatus]:
        """Return how every outermost scope stands, by name."""
        with self._looking() as books:
            return books.statuses(projects=True)

    def limited_scopes(self) -> list[str]:
        """Return the scopes with a limit over everything that was ever spent in them, by name."""
        query = "SELECT scope FROM spend_scopes WHERE amount IS NOT NULL ORDER BY scope"
        with self.database.reading():
            return [row[0] for row in self.database.rows(query)]

    def subscribe(self, subscriber: Callable[[Notice], object]) -> Callable[[], None]:
        """Tell *subscriber* of warnings and limits that this ledger comes upon; call what is
        returned to end that."""
        return self._subscribers.add(subscriber)

    # Transactions

    @contextmanager
    def _books(self) -> Iterator[Books]:
        """Hand out the books for one transaction, ended leases charged; tell what happened when it
        is on the disk."""
        with self._turn(), self.database.writing():
            books = self._new_books()
            for reservation in books.ended():
                # Charged in full: its call may have been sent.
                expired = replace(
                    reservation,
                    state=EXPIRED,
                    charged=reservation.amount,
                    charged_tokens=reservation.tokens,
                )
                books.replace(reservation, expired, "expired")
            yield books
            books.save()
        self._subscribers.tell(books.notices)

    def _turn(self) -> AbstractContextManager[object]:
        """Wait for the other threads of this process, where that is faster than in the database."""
        return nullcontext()

    @contextmanager
    def _looking(self) -> Iterator[Books]:
        """Hand out the books to look at, ended leases charged; a read-only ledger shows those as
        reserved still."""
        if not self.database.readonly and self._new_books().ended():
            with self._books():
                pass
        with self.database.reading():
            yield self._new_books()

    def _new_books(self) -> Books:
        return Books(self.database, self.now(), self._warn)


def _limits_meant(books: Books, name: str, answer: str | Raise) -> list[Scope | Allowance]:
    """Return the limits of the scope *name* that *answer* is about.

    Wrapping up and stopping are about the scope. ``continue`` is about every limit that was
    reached. ``Raise`` is about the one it names, or the only one there is.
    """
    scope = None if name == EVERYWHERE else books.scope(name)
    own = books.own_allowances(name)
    if isinstance(answer, Raise):
        return [_limit_to_raise(scope, own, name, answer)]
    if answer != "continue":
        if scope is None:
            raise InputError("wrap-up and stop are for one project: name it, or leave out --all")
        return [scope]
    reached: list[Scope | Allowance] = [
        allowance for allowance in own if allowance.limit.is_reached(allowance.used)
    ]
    if scope is None:
        return reached
    is_reached = scope.limit.state != OPEN or scope.limit.room(scope.used) == 0
    if is_reached or not reached:
        return [scope, *reached]
    return reached


def _limit_to_raise(
    scope: Scope | None, own: list[Allowance], name: str, answer: Raise
) -> Scope | Allowance:
    has_total = scope is not None and scope.limit.amount is not None
    names_total = answer.per in ("", TOTAL) and answer.unit == USD
    if scope is not None and has_total and names_total:
        return scope
    of_unit = [allowance for allowance in own if allowance.unit == answer.unit]
    named = [allowance for allowance in of_unit if answer.per in ("", allowance.period)]
    if answer.per == TOTAL and not named:  # a bare number, and there is no limit in all
        named = of_unit
    if len(named) > 1:
        texts = ", ".join(allowance.text for allowance in named)
        raise InputError(f"{name}: which limit? There are {texts}")
    if named:
        return named[0]
    if scope is not None and (has_total or not own):
        return scope
    raise InputError(f"{name}: there is no such limit to raise: 'brim limit' shows those there are")


def _room(allowance: Allowance) -> int:
    return allowance.limit.room(allowance.used) or 0


def _room_before_question(allowance: Allowance) -> int:
    return (allowance.limit.pause_at or 0) - allowance.used


def _status_room(status: ScopeStatus) -> int | None:
    if status.limit is None:
        return None
    return status.limit - status.set_aside - status.spent - status.reserved


def _status_under(allowance: Allowance, status: ScopeStatus) -> ScopeStatus:
    """Return *status* with the sums and the state of *allowance*."""
    limit = allowance.limit
    return replace(
        status,
        scope=allowance.scope,
        spent=Money(allowance.spent),
        reserved=Money(allowance.reserved),
        limit=money_or_none(limit.amount),
        original=money_or_none(limit.original),
        set_aside=Money(limit.set_aside),
        state=limit.state,
        overshoot=Money(max(0, allowance.spent - (limit.amount or 0))),
        period=allowance.period,
    )


def _id_and_scope(reservation: Reservation | str) -> tuple[str, str]:
    """Return the id of *reservation*, and its scope if that is known."""
    if isinstance(reservation, Reservation):
        return reservation.request_id, reservation.scope
    return checked_id(reservation), ""


def _check_lease(lease: object) -> None:
    is_number = isinstance(lease, int | float) and not isinstance(lease, bool)
    if not is_number or not 0 < float(str(lease)) <= LONGEST_LEASE:
        raise InputError(
            f"the lease must be seconds, more than 0 and at most a week, not {repr(lease)[:40]}"
        )


def checked_id(request_id: str) -> str:
    """Return *request_id* if it can be one, else raise an ``InputError``."""
    is_text = isinstance(request_id, str) and request_id.isprintable()
    if not is_text or not 0 < len(request_id) <= LONGEST_ID:
        raise InputError(
            f"{repr(request_id)[:60]} isn't a valid request id: it must have 1 to {LONGEST_ID}"
            " characters, all printable"
        )
    return request_id
