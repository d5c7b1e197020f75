"""A ledger's rows: its tables' columns, and the values that are made of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from brim.errors import StoreError
from brim.money.allowances import Allowance
from brim.money.amounts import TOKENS, UNITS, USD
from brim.money.budget import STATES, WRAP_UP, WRAPPING_UP, Limit, smallest
from brim.money.ledger import Reservation, ScopeStatus
from brim.money.periods import TOTAL
from brim.usd import Money

RESERVATION_COLUMNS = (
    "request_id, scope, amount, charged, state, lease_end, purpose, overrun, tokens,"
    " charged_tokens, made_at"
)
SCOPE_COLUMNS = "scope, original, base, amount, state, warned, spent, reserved"
LIMIT_COLUMNS = (
    "scope, period, unit, original, base, amount, state, warned, spent, reserved,"
    " zone, starts, ends"
)
UNLIMITED = Limit()


@dataclass(frozen=True)
class Scope:
    """A scope with the limit over everything that was ever spent in it."""

    name: str
    limit: Limit = UNLIMITED
    spent: int = 0
    reserved: int = 0

    unit = USD
    period = TOTAL
    when = ""

    @property
    def scope(self) -> str:
        """Its name, as an ``Allowance`` has it."""
        return self.name

    @property
    def used(self) -> int:
        """What is spent or reserved."""
        return self.spent + self.reserved

    @property
    def overshoot(self) -> int:
        """How far what is spent is over the limit."""
        if self.limit.amount is None:
            return 0
        return max(0, self.spent - self.limit.amount)

    def status(self, above: list[Scope], allowances: list[Allowance]) -> ScopeStatus:
        """Return how it stands under its own limits and those of the scopes *above* it."""
        ending = is_ending([self, *above])
        limited: list[Scope | Allowance] = [self, *above, *allowances]
        return ScopeStatus(
            self.name,
            Money(self.spent),
            Money(self.reserved),
            money_or_none(self.limit.amount),
            money_or_none(self.limit.original),
            Money(self.limit.set_aside),
            money_or_none(_left(limited, USD, ending)),
            self.limit.state,
            Money(self.overshoot),
            left_tokens=_left(limited, TOKENS, ending),
        )

    def to_row(self) -> tuple[object, ...]:
        """Return its fields in the order of ``SCOPE_COLUMNS``."""
        return self.name, *self.limit.to_dict().values(), self.spent, self.reserved


def is_ending(path: list[Scope]) -> bool:
    """Whether a person let a scope in *path* wrap up: then the wrap-up may take what is kept
    for it."""
    return any(scope.limit.state == WRAPPING_UP for scope in path)


def _left(limited: Sequence[Scope | Allowance], unit: str, ending: bool) -> int | None:
    """Return what the limits in *unit* still admit; None without a limit."""
    return smallest(
        [
            about.limit.room(about.used, WRAP_UP, ending=ending)
            for about in limited
            if about.unit == unit
        ]
    )


def scope_of(row: Any, path: str) -> Scope:
    """Return the scope that *row* holds; raise if it holds none."""
    name, original, base, amount, state, warned, spent, reserved = row
    amounts = [value for value in (original, base, amount) if value is not None]
    _check(path, name, state, [*amounts, spent, reserved])
    return Scope(name, Limit(original, base, amount, state, bool(warned)), spent, reserved)


def allowance_of(row: Any, path: str) -> Allowance:
    """Return the limit per period that *row* holds; raise if it holds none."""
    scope, period, unit, original, base, amount, state, warned, *fields = row
    spent, reserved, zone, starts, ends = fields
    if unit not in UNITS:
        raise _damaged(path, scope)
    _check(path, scope, state, [original, base, amount, spent, reserved])
    limit = Limit(original, base, amount, state, bool(warned))
    return Allowance(scope, period, unit, limit, spent, reserved, zone, starts, ends)


def reservation_of(row: Any) -> Reservation:
    """Return the reservation that *row* holds."""
    fields = list(row)
    fields[2] = Money(fields[2])
    fields[3] = Money(fields[3])
    fields[7] = bool(fields[7])  # SQLite has no truth values
    return Reservation(*fields)


def money_or_none(amount: int | None) -> Money | None:
    """Return *amount* as money; None for none."""
    if amount is None:
        return None
    return Money(amount)


def _check(path: str, name: object, state: object, amounts: list[Any]) -> None:
    are_amounts = all(type(amount) is int and amount >= 0 for amount in amounts)
    if state not in STATES or not are_amounts:
        raise _damaged(path, name)


def _damaged(path: str, name: object) -> StoreError:
    return StoreError(
        f"The ledger {path} is damaged: the limit of {str(name)[:80]!r} can't be read. Nothing is"
        " admitted until it is repaired",
        "damaged",
    )
