"""What is done about the money of one request: reserve, settle, release or record it.

Each is a function that changes the books of one transaction. ``refusal`` says why an amount is not
admitted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from brim.errors import InputError, LimitReached
from brim.money.allowances import Allowance
from brim.money.amounts import TOKENS, as_limit, as_money, dollars, in_unit
from brim.money.books import Books
from brim.money.budget import STOPPED, WRAP_UP, WRAPPING_UP
from brim.money.ledger import (
    LEASE,
    NOTHING,
    RECORDED,
    RELEASED,
    RESERVED,
    SETTLED,
    Reservation,
)
from brim.money.notices import spent_out_of
from brim.money.rows import Scope, is_ending
from brim.money.scopes import EVERYWHERE, lineage, paths
from brim.record import PlainData
from brim.usd import Money


@dataclass(frozen=True)
class Order(PlainData):
    """What is to be done about the money of one request: its kind is a name in ``ACTIONS``."""

    kind: str
    request_id: str
    scope: str = ""
    """Empty if only the id is known."""
    amount: Money = NOTHING
    tokens: int | None = None
    lease: float = LEASE
    purpose: str = ""
    made_with: tuple[str, str] = ("", "")
    """The model and the branch."""
    at: float | None = None
    """When it was spent; None is now."""
    at_most: int | None = None
    """The caller's own limit for everything in the scope, the first one if there are several."""
    asks: bool = True
    """Whether a person is asked if it doesn't fit."""

    def do(self, books: Books) -> Reservation | LimitReached:
        """Do it in *books*. What is refused is noted there, so it is returned, to be raised when
        that is written."""
        return ACTIONS[self.kind](books, self)


def reserve(books: Books, order: Order) -> Reservation | LimitReached:
    """Set the money of *order* aside, or return why it doesn't fit."""
    tokens = order.tokens or 0
    earlier = books.reservation(order.request_id)
    if earlier is not None:
        return _repeated(earlier, order)
    path = [books.scope(name) for name in lineage(order.scope)]
    ending = is_ending(path)
    limited: list[Scope | Allowance] = [*path, *books.allowances(order.scope)]
    for about in limited:
        wanted = tokens if about.unit == TOKENS else order.amount
        refused = refusal(about, wanted, order.purpose, ending)
        if refused is not None:
            if order.asks:
                books.ask(about, wanted=wanted)
            return refused
    own_scope = books.scope(paths(order.scope)[0])
    if order.at_most is not None and own_scope.used + order.amount > order.at_most:
        return _over_own_limit(own_scope, order.amount, order.at_most)
    reservation = Reservation(
        order.request_id,
        order.scope,
        order.amount,
        lease_end=books.now + order.lease,
        purpose=order.purpose,
        tokens=tokens,
        made_at=books.now,
    )
    books.replace(None, reservation, made_with=order.made_with)
    return reservation


def settle(books: Books, order: Order) -> Reservation:
    """Charge what a request took."""
    return _settled(books, _existing(books, order), order)


def release(books: Books, order: Order) -> Reservation:
    """Give back what was set aside."""
    reservation = _existing(books, order)
    if reservation.state == SETTLED:
        raise InputError(
            f"{reservation.request_id}: was settled at {dollars(reservation.charged)}, so it cannot"
            " be released; settle it at 0 if it cost nothing"
        )
    released = replace(reservation, state=RELEASED, charged=NOTHING, charged_tokens=0)
    if reservation.state != RELEASED:
        books.replace(reservation, released, "released")
    return released


def record(books: Books, order: Order) -> Reservation:
    """Charge a request that was never reserved."""
    earlier = books.reservation(order.request_id)
    if earlier is not None:
        if earlier.scope != order.scope:
            raise InputError(
                f"{order.request_id}: belongs to {earlier.scope}, not to {order.scope}"
            )
        return _settled(books, earlier, order)
    made_at = books.now
    if order.at is not None:
        made_at = min(order.at, books.now)
    recorded = Reservation(
        order.request_id,
        order.scope,
        NOTHING,
        order.amount,
        SETTLED,
        books.now,
        RECORDED,
        charged_tokens=order.tokens or 0,
        made_at=made_at,
    )
    books.replace(None, recorded, "recorded", made_with=order.made_with)
    return recorded


ACTIONS: dict[str, Callable[[Books, Order], Reservation | LimitReached]] = {
    "reserve": reserve,
    "settle": settle,
    "release": release,
    "record": record,
}


def _existing(books: Books, order: Order) -> Reservation:
    reservation = books.reservation(order.request_id)
    if reservation is None:
        raise InputError(f"{order.request_id}: nothing is reserved under this id")
    return reservation


def _settled(books: Books, reservation: Reservation, order: Order) -> Reservation:
    """Return *reservation*, settled as *order* says; without tokens it took those that were set
    aside.

    It counts for the period in which it was made, or of the order's moment.
    """
    tokens = order.tokens
    if tokens is None:
        tokens = reservation.charged_tokens or reservation.tokens
    is_same = (order.amount, tokens) == (reservation.charged, reservation.charged_tokens)
    if reservation.state == SETTLED and is_same:
        return reservation
    overrun = reservation.overrun or _overruns(books, reservation, order.amount, tokens)
    settled = replace(
        reservation, state=SETTLED, charged=order.amount, charged_tokens=tokens, overrun=overrun
    )
    kind = "corrected"
    if reservation.state in (RESERVED, RELEASED):
        kind = "settled"
    books.replace(reservation, settled, kind, order.at)
    return settled


def _overruns(books: Books, reservation: Reservation, amount: int, tokens: int) -> bool:
    """Whether this is more than was set aside.

    Settling or releasing gives back what wasn't spent, and another request may have taken it since:
    then only what still counts is set aside.
    """
    if reservation.purpose == RECORDED:
        return False
    counted = (reservation.charged, reservation.charged_tokens)
    if reservation.state == RESERVED:
        counted = reservation.set_aside
    set_aside = (reservation.amount, reservation.tokens)
    added = (amount - counted[0], tokens - counted[1])
    if reservation.state == RELEASED or not books.fits(reservation.scope, *added):
        set_aside = counted
    if amount > set_aside[0]:
        return True
    return reservation.tokens > 0 and tokens > set_aside[1]  # else no tokens were set aside


def _repeated(earlier: Reservation, order: Order) -> Reservation:
    """Return *earlier* if *order* asks for the same again."""
    asked = (order.scope, order.amount, order.purpose, order.tokens or 0)
    if (earlier.scope, earlier.amount, earlier.purpose, earlier.tokens) != asked:
        purpose = " to wrap up" if earlier.purpose else ""
        raise InputError(
            f"{earlier.request_id}: was used for {dollars(earlier.amount)} in {earlier.scope}"
            f"{purpose} already: take another request id"
        )
    if earlier.state == RELEASED:
        raise InputError(f"{earlier.request_id}: was released already: take another request id")
    return earlier


def refusal(
    about: Scope | Allowance, amount: int, purpose: str, ending: bool
) -> LimitReached | None:
    """Return why *amount* is not admitted under the limit of *about*; None if it is."""
    limit = about.limit
    room = limit.room(about.used, purpose, ending=ending)
    reason = limit.refusal(purpose)
    if not reason and (room is None or amount <= room):
        return None
    if reason == STOPPED:
        text = (
            f"{about.name}: was stopped, so nothing more is spent:"
            f" 'brim limit continue {about.name}' opens it"
        )
    elif reason == WRAPPING_UP:
        text = f"{about.name}: is being wrapped up, and only requests for that are admitted"
    else:
        text = _too_large(about, amount, ending=ending and purpose == WRAP_UP)
    return LimitReached(
        text,
        scope=about.scope,
        reason=reason or "limit",
        amount=as_money(amount, about.unit),
        limit=as_limit(limit.amount, about.unit),
        spent=as_money(about.spent, about.unit),
        reserved=as_money(about.reserved, about.unit),
        room=as_limit(room, about.unit),
        unit=about.unit,
        when=about.when,
    )


def _over_own_limit(scope: Scope, amount: int, limit: int) -> LimitReached:
    """Return that *amount* is more than the caller's own *limit* leaves."""
    return LimitReached(
        f"{scope.name}: {dollars(amount)} more doesn't fit: {dollars(scope.used)} of the caller's"
        f" limit of {dollars(limit)} is spent or reserved: raise limit_usd, or stop here",
        scope=scope.name,
        amount=Money(amount),
        room=Money(max(0, limit - scope.used)),
        limit=Money(limit),
        spent=Money(scope.spent),
        reserved=Money(scope.reserved),
    )


def _too_large(about: Scope | Allowance, amount: int, *, ending: bool) -> str:
    """Return the sentence that *amount* doesn't fit under the limit of *about*."""
    limit = about.limit
    spent = spent_out_of(about.spent, limit.amount, about.unit)
    parts = [f"{spent} is spent{about.when}"]
    if about.reserved:
        parts.append(f"{in_unit(about.reserved, about.unit)} is reserved")
    if limit.set_aside and not ending:
        parts.append(f"{in_unit(limit.set_aside, about.unit)} is held back for the wrap-up")
    answers = ""
    if limit.state != WRAPPING_UP:
        scope = "--all" if about.scope == EVERYWHERE else about.scope
        answers = f": brim limit continue|raise|wrap-up|stop {scope}"
    wanted = in_unit(amount, about.unit)
    return f"{about.name}: {wanted} more does not fit: {', '.join(parts)}{answers}"
