"""Every sum of a ledger in SQL: what was reserved and spent in a period, and per day.

A ledger keeps the sums of its scopes and limits beside them. Entries are added up again for a limit
that begins while money was spent already, and if the clock goes back to an earlier period. Old
entries are folded into days.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from brim.database import Database
from brim.money.amounts import TOKENS
from brim.money.ledger import DaySum
from brim.money.scopes import AND, EVERYWHERE
from brim.usd import Money

MOST_FOLDED = 2_000
"""Entries that are folded at a time."""
SELECT_DAYS = (
    "SELECT CAST(time / 86400 AS INTEGER) AS day, scope, model, branch,"
    " sum(amount) AS amount, sum(tokens) AS tokens"
    " FROM (SELECT time, entry.scope, coalesce(model, '') AS model,"
    " coalesce(branch, '') AS branch, entry.amount, entry.tokens"
    " FROM spend_entries AS entry LEFT JOIN reservations USING (request_id) {where}) AS entries"
    " GROUP BY 1, 2, 3, 4"
)
"""What the entries come to that *where* says, as rows of ``spend_days``."""
SELECT_ALL_DAYS = (
    "SELECT day, scope, model, branch, sum(amount), sum(tokens)"  # noqa: S608
    f" FROM (SELECT * FROM spend_days UNION ALL {SELECT_DAYS.format(where='')}) AS days"
)
OLDEST_ENTRIES = (
    "WHERE number IN (SELECT number FROM spend_entries ORDER BY number LIMIT ?2) AND time < ?1"
)
FOLD = (
    f"INSERT INTO spend_days {SELECT_DAYS.format(where=OLDEST_ENTRIES)}"
    " ON CONFLICT (day, scope, model, branch) DO UPDATE SET"
    " amount = spend_days.amount + excluded.amount, tokens = spend_days.tokens + excluded.tokens"
)
DELETE_FOLDED = f"DELETE FROM spend_entries {OLDEST_ENTRIES}"  # noqa: S608


@dataclass(frozen=True)
class PeriodSum:
    """What was spent in a scope in a period, and what is reserved by calls made in it."""

    spent: int
    reserved: int


def sum_of_period(
    database: Database, scope: str, unit: str, starts: float, ends: float | None
) -> PeriodSum:
    """Return what was spent and reserved in *scope* from *starts* on, and before *ends*."""
    where = "WHERE"
    values: list[object] = [starts, float("inf") if ends is None else ends]
    if scope != EVERYWHERE:
        where = f"{counted_in(scope, 3)} AND"
        values.append(scope)
    column = "tokens" if unit == TOKENS else "amount"
    total = f"SELECT coalesce(sum({column}), 0) FROM"
    reserved = _sum(
        database,
        f"{total} reservations {where} state = 'open' AND made_at >= ?1 AND made_at < ?2",
        values,
    )
    spent = _sum(database, f"{total} spend_entries {where} time >= ?1 AND time < ?2", values)
    # Days that the period only touches count whole: they are folded only if the clock was far
    # ahead.
    folded = _sum(
        database,
        f"{total} spend_days {where} (day + 1) * 86400.0 > ?1 AND day * 86400.0 < ?2",
        values,
    )
    return PeriodSum(spent + folded, reserved)


def _sum(database: Database, query: str, values: Sequence[object]) -> int:
    return int(database.row(query, values)[0])


def sums_of_days(database: Database, under: str) -> list[DaySum]:
    """Return what was spent per day, scope, model and branch in *under* and below it; in all if
    that is empty."""
    values = (under,) if under else ()
    query = f"{SELECT_ALL_DAYS} {counted_in(under)} GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4"
    rows = database.rows(query, values)
    return [
        DaySum(day, scope, model, branch, Money(amount), tokens)
        for day, scope, model, branch, amount, tokens in rows
    ]


def fold_before(database: Database, time: float) -> int:
    """Fold the oldest entries before *time* into days, a few at a time; return how many."""
    values = (time, MOST_FOLDED)
    database.run(FOLD, values)
    return database.run(DELETE_FOLDED, values)


def counted_in(under: str, number: int = 1) -> str:
    """Return the condition for requests that count against *under*, parameter *number*; empty for
    all. A request may belong to several scopes."""
    if not under:
        return ""
    scopes = f"'{AND}' || scope || '{AND}'"
    name = f"'{AND}' || ?{number} || "
    return f"WHERE (instr({scopes}, {name}'{AND}') > 0 OR instr({scopes}, {name}'/') > 0)"


def below(under: str, number: int = 1) -> str:
    """Return the condition for the scope *under*, parameter *number*, and what is below it; empty
    for all scopes."""
    if not under:
        return ""
    # What is below begins with the name and '/', and '0' is what follows '/'.
    name = f"?{number}"
    return f"WHERE (scope = {name} OR (scope > {name} || '/' AND scope < {name} || '0'))"
