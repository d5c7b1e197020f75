"""``Books``: what one transaction reads and writes of the ledger, so that every sum above a spend moves with it."""

from __future__ import annotations

from brim.errors import StoreError
from brim.spend.ledger import EXPIRED, LONGEST_LEASE, RESERVED, Reservation, ScopeStatus, lineage
from brim.spend.limits import (
    ANSWERS,
    ASKED,
    CLOSED,
    OPEN,
    STATES,
    STOPPED,
    WRAP_UP,
    WRAPPING_UP,
    CostLimit,
    CostWarning,
    InputRequested,
    Limit,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from brim.store.database import Database
    from brim.tracking.notices import Notice

RESERVATION = "SELECT request_id, scope, amount, charged, state, purpose, overrun, lease_end FROM reservations"
_ENDED = f"{RESERVATION} WHERE state = 'open' AND (lease_end <= ?1 OR lease_end > ?2) ORDER BY lease_end, request_id"
_SCOPE = "SELECT scope, given, base, amount, is_default, state, warned, spent, reserved FROM spend_scopes"


class Scope:
    """One scope, as it becomes during the transaction."""

    __slots__ = ("is_default", "limit", "name", "reserved", "spent")

    def __init__(self, name: str) -> None:
        self.name, self.limit = name, Limit()
        self.is_default, self.spent, self.reserved = True, 0, 0

    @property
    def taken(self) -> int:
        """What is spent or reserved."""
        return self.spent + self.reserved

    def status(self, above: list[Scope]) -> ScopeStatus:
        """Return how it stands under its own limit and those of the scopes *above* it."""
        limit = self.limit
        ending = is_ending([self, *above])
        rooms = [scope.limit.room(scope.taken, WRAP_UP, ending=ending) for scope in (self, *above)]
        return ScopeStatus(
            scope=self.name,
            spent=self.spent,
            reserved=self.reserved,
            limit=limit.amount,
            given=limit.given,
            held=limit.held,
            left=min((room for room in rooms if room is not None), default=None),
            state=limit.state,
            overshoot=0 if limit.amount is None else max(0, self.spent - limit.amount),
        )


class Books:
    """The scopes and reservations that one transaction touches; ``save`` writes back the scopes that were changed."""

    def __init__(self, database: Database, now: float, warn: float) -> None:
        self._database, self._now, self._warn = database, now, warn
        self._scopes: dict[str, Scope] = {}
        self._changed: set[str] = set()
        self.notices: list[Notice] = []
        """What is to be told when everything is written."""

    def expire(self) -> None:
        """Charge every reservation whose lease has ended: its call may have been sent."""
        for found in self.ended():
            self.replace(found, found.replace(state=EXPIRED, charged=found.amount), "expired")

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

    def statuses(self, under: str, default: Limit | None = None) -> list[ScopeStatus]:
        """Return how the known scopes stand, by name: all, or *under* and those below it.

        With *default*, as they would under that limit of every project for which nobody has set one.
        """
        if not under:
            rows = self._database.rows(f"{_SCOPE} ORDER BY scope")
        else:  # what is below begins with the name and '/', and '0' is what follows '/'
            where = f"{_SCOPE} WHERE scope = ?1 OR (scope > ?1 || '/' AND scope < ?1 || '0') ORDER BY scope"
            rows = self._database.rows(where, (under,))
        self._scopes |= {row[0]: scope_of(row, self._database.path) for row in rows}
        for name in {lineage(row[0])[0] for row in rows} if default is not None else ():
            project = self.scope(name)
            if default is not None and project.is_default and project.limit.given != default.given:
                project.limit = project.limit.renewed(default.given)
        return [self.status(row[0]) for row in rows]

    def reservation(self, request_id: str) -> Reservation | None:
        """Return what is known of the request, or None."""
        row = self._database.row(f"{RESERVATION} WHERE request_id = ?", (request_id,))
        return reservation_of(row) if row else None

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
        fields = (new.scope, new.amount, new.charged, new.state, new.purpose, new.overrun, new.lease_end)
        self._database.run(
            "INSERT INTO reservations "
            "(request_id, scope, amount, charged, state, purpose, overrun, lease_end, made_at) "
            "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) ON CONFLICT (request_id) DO UPDATE SET "
            "amount = ?3, charged = ?4, state = ?5, overrun = ?7, lease_end = ?8",
            (new.request_id, *fields, self._now),
        )
        if spent:
            self._database.run(
                "INSERT INTO spend_entries (time, request_id, scope, kind, amount) VALUES (?, ?, ?, ?, ?)",
                (self._now, new.request_id, new.scope, kind, spent),
            )

    def close(self, name: str, overrun: int) -> None:
        """Admit nothing more in *name* until a person says so: a request cost *overrun* more than was reserved."""
        scope = self.changing(name)
        if scope.limit.state == OPEN:
            self._ask(scope, overrun=overrun)
        if scope.limit.state != STOPPED:
            scope.limit = scope.limit.replace(state=CLOSED)

    def ask(self, name: str, wanted: int) -> None:
        """Ask about the limit of *name*, under which *wanted* does not fit; once per limit."""
        scope = self.changing(name)
        if scope.limit.state == OPEN:
            self._ask(scope, wanted=wanted)
            scope.limit = scope.limit.replace(state=ASKED)

    def answered(self, scope: Scope, answer: str) -> None:
        """Note that a person said *answer* about *scope*."""
        self._database.run(
            "INSERT INTO spend_answers (time, scope, answer, amount) VALUES (?, ?, ?, ?)",
            (self._now, scope.name, answer, scope.limit.amount),
        )

    def save(self) -> None:
        """Write the scopes."""
        for name in sorted(self._changed):
            scope = self._scopes[name]
            limit = scope.limit
            fields = (limit.given, limit.base, limit.amount, scope.is_default, limit.state, limit.warned)
            self._database.run(
                "INSERT OR REPLACE INTO spend_scopes "
                "(scope, given, base, amount, is_default, state, warned, spent, reserved) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (scope.name, *fields, scope.spent, scope.reserved),
            )

    def reached(self, scope: Scope) -> None:
        """Warn or ask if what is spent in *scope* has reached a mark of its limit."""
        scope.limit, warn, ask = scope.limit.reached(scope.spent, self._warn)
        if warn and scope.limit.amount is not None:
            self.notices.append(CostWarning(scope.spent, scope.limit.amount, scope.name))
        if ask:
            self._ask(scope)

    def _ask(self, scope: Scope, *, wanted: int = 0, overrun: int = 0) -> None:
        spent, limit, name = scope.spent, scope.limit.amount, scope.name
        told = CostLimit(spent, limit, name, held=scope.limit.held, wanted=wanted, overrun=overrun)
        answers = ANSWERS if limit is not None else tuple(each for each in ANSWERS if each != "raise")
        self.notices += [told, InputRequested(spent, limit, name, answers=answers)]


def is_ending(path: list[Scope]) -> bool:
    """Whether somebody has said of a scope in *path* that it is wrapped up: then the wrap-up may take what is held."""
    return any(scope.limit.state == WRAPPING_UP for scope in path)


def scope_of(row: Any, path: str) -> Scope:
    """Return the scope that *row* holds; raise if it holds none."""
    name, given, base, amount, is_default, state, warned, spent, reserved = row
    amounts = [each for each in (given, base, amount) if each is not None]
    if state not in STATES or not all(type(each) is int and each >= 0 for each in (*amounts, spent, reserved)):
        raise StoreError(f"{path}: what is kept about the scope {str(name)[:80]!r} cannot be read", "damaged")
    scope = Scope(name)
    scope.limit = Limit(given, base=base, amount=amount, state=state, warned=bool(warned))
    scope.is_default, scope.spent, scope.reserved = bool(is_default), spent, reserved
    return scope


def reservation_of(row: Any) -> Reservation:
    """Return the reservation that *row* holds."""
    request_id, scope, amount, charged, state, purpose, overrun, lease_end = row
    return Reservation(
        request_id=request_id,
        scope=scope,
        amount=amount,
        charged=charged,
        state=state,
        purpose=purpose,
        overrun=bool(overrun),
        lease_end=lease_end,
    )


def _set_aside(reservation: Reservation) -> int:
    return reservation.amount if reservation.state == RESERVED else 0
