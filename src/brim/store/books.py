"""The books of one transaction: the scopes, limits and reservations that it reads and changes.

Two kinds of limits stand on a scope: one over everything that was ever spent in it
(``Scope.limit``), and any number per period (``brim.spend.periods.Allowance``). Both keep the rules
of ``brim.spend.limits.Limit``.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from brim.config.retention import REQUEST_DAYS
from brim.errors import StoreError
from brim.notices import Notice
from brim.spend.ledger import LONGEST_LEASE, RESERVED, DaySum, Reservation, ScopeStatus, lineage
from brim.spend.limits import (
    ANSWERS,
    ASKED,
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
from brim.spend.money import PERCENT, TOKENS, UNITS, USD
from brim.spend.periods import EVERYWHERE, SECONDS_PER_DAY, SESSION, SUBAGENT, TOTAL, Allowance
from brim.store.database import ALL, Database

MOST_FOLDED = 2_000
"""Entries that are folded at a time."""

MAIN = "main"
"""The name of a session's main thread: not a sub-agent."""

_COLUMNS = "request_id, scope, amount, charged, state, lease_end, purpose, overrun, tokens, charged_tokens, made_at"
RESERVATION = f"SELECT {_COLUMNS} FROM reservations"  # noqa: S608 - the names above
_DAYS = (
    "SELECT CAST(time / 86400 AS INTEGER) AS day, scope, model, branch, sum(amount) AS amount, sum(tokens) AS tokens "
    "FROM (SELECT time, entry.scope, coalesce(model, '') AS model, coalesce(branch, '') AS branch, entry.amount, "
    "entry.tokens FROM spend_entries AS entry LEFT JOIN reservations USING (request_id) {where}) AS entries "
    "GROUP BY 1, 2, 3, 4"
)
"""What the entries come to that *where* says, as rows of ``spend_days``."""
_ENDED = f"{RESERVATION} WHERE state = 'open' AND (lease_end <= ?1 OR lease_end > ?2) ORDER BY lease_end, request_id"
SCOPE_COLUMNS = "scope, given, base, amount, is_default, state, warned, spent, reserved"
_SCOPE = f"SELECT {SCOPE_COLUMNS} FROM spend_scopes"  # noqa: S608 - the names above
LIMIT_COLUMNS = (
    "scope, period, unit, given, base, amount, state, warned, spent, reserved, zone, starts, ends"
)
_LIMIT = f"SELECT {LIMIT_COLUMNS} FROM spend_limits"  # noqa: S608 - the names above
SET_BACK = "set back"
"""Noted among the answers when the clock leaves a period for an earlier one, with the end of the
one it leaves."""
UNLIMITED = Limit()


class Scope:
    """One scope, as it becomes during the transaction."""

    period, unit, when, ends = TOTAL, USD, "", None

    def __init__(
        self,
        name: str,
        limit: Limit = UNLIMITED,
        *,
        is_default: bool = True,
        spent: int = 0,
        reserved: int = 0,
    ) -> None:
        self.name, self.limit, self.is_default, self.spent, self.reserved = (
            name,
            limit,
            is_default,
            spent,
            reserved,
        )
        self.scope = name

    @property
    def taken(self) -> int:
        """What is spent or reserved."""
        return self.spent + self.reserved

    def status(self, above: list[Scope], allowances: list[Allowance]) -> ScopeStatus:
        """Return how it stands under its own limits and those of the scopes *above* it."""
        limit = self.limit
        ending = is_ending([self, *above])
        limited: list[Scope | Allowance] = [self, *above, *allowances]

        def left(unit: str) -> int | None:
            rooms = [
                each.limit.room(each.taken, WRAP_UP, ending=ending)
                for each in limited
                if each.unit == unit
            ]
            return min((room for room in rooms if room is not None), default=None)

        over = 0 if limit.amount is None else max(0, self.spent - limit.amount)
        sums = (self.spent, self.reserved, limit.amount, limit.given, limit.held, left(USD))
        return ScopeStatus(
            self.name, *sums, limit.state, over, self.is_default, left_tokens=left(TOKENS)
        )


class Books:
    """The scopes, limits and reservations that one transaction touches; ``save`` writes back those
    that changed."""

    def __init__(self, database: Database, now: float, warn: float) -> None:
        self._database, self._warn = database, warn
        self.now = now
        """The time at which everything in this transaction happens."""
        self._scopes: dict[str, Scope] = {}
        self._changed: set[str] = set()
        self._limits: dict[str, list[tuple[str, str, str]]] = {}
        """The limits that stand on each scope that was looked at."""
        self._allowances: dict[tuple[str, str, str], Allowance] = {}
        self._moved: set[tuple[str, str, str]] = set()
        self._left: dict[tuple[str, str, str], float] = {}
        """When the periods end from which the clock was set back to an earlier one."""
        self.notices: list[Notice] = []
        """What is to be told when everything is written."""

    # Reading --------------------------------------------------------------------------------------

    def ended(self) -> list[Reservation]:
        """Return the reservations whose lease has ended; one longer than any may be was made by a
        wrong clock."""
        longest = self.now + LONGEST_LEASE + 86_400
        return [reservation_of(row) for row in self._database.rows(_ENDED, (self.now, longest))]

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

    def status(self, name: str, *, known: bool = False) -> ScopeStatus:
        """Return how the scope *name* stands; only under limits that are *known* to count for it,
        if that is said."""
        above = [self.scope(each) for each in lineage(name)[:-1]]
        return self.scope(name).status(above, self.allowances(name, known=known))

    def statuses(
        self, under: str, default: Limit | None, most: int | None, *, projects: bool = False
    ) -> list[ScopeStatus]:
        """Return how the known scopes stand, by name: all, or *under* and those below it; the first
        *most*.

        With *default*, as they would under that limit of every project that has none of its own.
        Only the outermost if they are to be *projects*.
        """
        limit = ALL if most is None else most
        where = "WHERE scope NOT LIKE '%/%'" if projects else below(under)
        rows = self._database.rows(
            f"{_SCOPE} {where} ORDER BY scope LIMIT ?", (under, limit) if under else (limit,)
        )
        self._scopes |= {row[0]: scope_of(row, self._database.path) for row in rows}
        self._limits = {row[0]: [] for row in rows}
        self.all_allowances()
        if default is not None:
            for project in [self.scope(name) for name in {lineage(row[0])[0] for row in rows}]:
                if project.is_default and project.limit.given != default.given:
                    project.limit = project.limit.renewed(default.given)
        return [self.status(row[0], known=True) for row in rows]

    def reservation(self, request_id: str) -> Reservation | None:
        """Return what is known of the request, or None."""
        rows = self._database.rows(f"{RESERVATION} WHERE request_id = ?", (request_id,))
        return next(map(reservation_of, rows), None)

    def days(self, under: str) -> list[DaySum]:
        """Return what was spent per day, scope, model and branch in *under* and below it; in all if
        that is empty."""
        rows = self._database.rows(
            "SELECT day, scope, model, branch, sum(amount), sum(tokens) FROM "  # noqa: S608
            f"(SELECT * FROM spend_days UNION ALL {_DAYS.format(where='')}) AS days {below(under)} "
            "GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4",
            (under,) if under else (),
        )
        return [DaySum(*row) for row in rows]

    # Limits per period ----------------------------------------------------------------------------

    def all_allowances(self) -> list[Allowance]:
        """Return every limit per period, as it is now."""
        for row in self._database.rows(f"{_LIMIT} ORDER BY scope"):
            self._take(row)
        return [self._allowances[key] for key in sorted(self._allowances)]

    def own_allowances(self, scope: str) -> list[Allowance]:
        """Return the limits per period that stand on *scope* itself."""
        if scope not in self._limits:
            self._limits[scope] = []
            for row in self._database.rows(f"{_LIMIT} WHERE scope = ?", (scope,)):
                self._take(row)
        return [self._allowances[key] for key in self._limits[scope]]

    def allowances(self, scope: str, *, known: bool = False) -> list[Allowance]:
        """Return the limits in dollars and tokens that a spend in *scope* counts against, the
        widest first.

        A session or sub-agent that has no limit of its own yet gets the strictest that is set for
        it above, unless only those that are *known* already are asked for.
        """
        found: list[Allowance] = []
        for name in (EVERYWHERE, *lineage(scope)):
            own = self.own_allowances(name)
            patterns = (
                [] if known else [each for each in found if each.is_pattern and _is_for(each, name)]
            )
            for pattern in sorted(patterns, key=lambda each: each.limit.amount or 0):
                if not any(
                    (each.period, each.unit) == (pattern.period, pattern.unit) for each in own
                ):
                    made = pattern.of(name)
                    own.append(
                        self.put(
                            self._with_past(made) if self.scope(name).taken else made, moved=True
                        )
                    )
            found += own
        return [each for each in found if not each.is_pattern and each.unit != PERCENT]

    def plan_allowances(self, scope: str) -> list[Allowance]:
        """Return the limits of a plan's window that *scope* is under."""
        names = (EVERYWHERE, *lineage(scope))
        return [
            each for name in names for each in self.own_allowances(name) if each.unit == PERCENT
        ]

    def put(self, allowance: Allowance, *, moved: bool = False) -> Allowance:
        """Take *allowance* in place of the one with its key; *moved* is whether to write it."""
        key = allowance.key
        known = self._limits.setdefault(allowance.scope, [])
        if key not in known:
            known.append(key)
        self._allowances[key] = allowance
        if moved:
            self._moved.add(key)
        return allowance

    def begin(self, allowance: Allowance) -> Allowance:
        """Set *allowance*, with what was spent and reserved since it starts; those of sessions
        below begin again."""
        if allowance.is_pattern or allowance.unit == PERCENT:
            self._forget_below(allowance)
            return self.put(allowance, moved=True)
        self.reached(self.put(self._with_past(allowance), moved=True))
        return self._allowances[allowance.key]

    def remove(self, allowance: Allowance) -> None:
        """Remove *allowance*, and those that sessions below have because of it."""
        self._forget_below(allowance)
        self._database.run(
            "DELETE FROM spend_limits WHERE scope = ? AND period = ? AND unit = ?", allowance.key
        )
        self._limits[allowance.scope].remove(allowance.key)
        del self._allowances[allowance.key]

    def raised(self, pattern: Allowance) -> None:
        """Raise the limits that sessions below have because of *pattern* to what that is now."""
        self._run_below(
            pattern,
            "UPDATE spend_limits SET given = ?4, base = ?4, amount = ?4, state = 'open', warned = FALSE",
            "amount < ?4",
            (pattern.limit.amount,),
        )

    def _forget_below(self, pattern: Allowance) -> None:
        if pattern.is_pattern:
            self._run_below(pattern, "DELETE FROM spend_limits")

    def _run_below(
        self, pattern: Allowance, sql: str, more: str = "TRUE", values: tuple[object, ...] = ()
    ) -> None:
        """Run *sql* for the limits of sessions and sub-agents that *pattern* is for."""
        under = (
            "?3 = '*'"
            if pattern.scope == EVERYWHERE
            else below(pattern.scope, 3).removeprefix("WHERE ")
        )
        where = f"WHERE {under} AND period = ?1 AND unit = ?2 AND scope LIKE '%/%' AND {more}"
        self._database.run(f"{sql} {where}", (pattern.period, pattern.unit, pattern.scope, *values))

    def standing(self, kept: Allowance) -> Allowance:
        """Return *kept* as it stands now. If the clock was in this period before, what was recorded
        then counts."""
        found = kept.at(self.now)
        return (
            self._with_past(found) if found.ends != kept.ends and self.was_set_back(kept) else found
        )

    def was_set_back(self, kept: Allowance) -> bool:
        """Whether the clock was set back: to before the period of *kept*, or from a later one to
        it."""
        if not kept.is_over(self.now):
            return self.now < kept.starts
        noted = "SELECT 1 FROM spend_answers WHERE scope = ? AND answer = ? AND amount >= ? LIMIT 1"
        return bool(self._database.rows(noted, (kept.scope, SET_BACK, kept.ends)))

    def _with_past(self, allowance: Allowance) -> Allowance:
        """Return *allowance* with what was spent and reserved in its scope since it starts, and
        until it ends."""
        everywhere = allowance.scope == EVERYWHERE
        where = "WHERE" if everywhere else f"{below(allowance.scope, 3)} AND"
        ends = float("inf") if allowance.ends is None else allowance.ends
        values = (
            (allowance.starts, ends) if everywhere else (allowance.starts, ends, allowance.scope)
        )
        column = "tokens" if allowance.unit == TOKENS else "amount"
        total = f"SELECT coalesce(sum({column}), 0) FROM"
        open_sum = f"{total} reservations {where} state = 'open' AND made_at >= ?1 AND made_at < ?2"
        spent_sum = f"{total} spend_entries {where} time >= ?1 AND time < ?2"
        # Days that the period only touches count whole: they are folded only if the clock was far
        # ahead.
        folded = f"{total} spend_days {where} (day + 1) * 86400.0 > ?1 AND day * 86400.0 < ?2"
        reserved, spent, old = (
            self._database.row(sql, values)[0] for sql in (open_sum, spent_sum, folded)
        )
        return replace(
            allowance,
            spent=max(0, allowance.spent + spent + old),
            reserved=allowance.reserved + max(0, reserved),
        )

    def _take(self, row: Any) -> None:
        kept = allowance_of(row, self._database.path)
        found = self.put(self.standing(kept))
        if kept.ends is not None and found.ends is not None and found.ends < kept.ends:
            self._left[kept.key] = kept.ends

    # Writing --------------------------------------------------------------------------------------

    def fits(self, scope: str, more: int, tokens: int) -> bool:
        """Whether *more* money and *tokens* are within the limits of *scope* and those above it."""
        limited: list[Scope | Allowance] = [
            *map(self.scope, lineage(scope)),
            *self.allowances(scope),
        ]
        for each in limited:
            wanted = tokens if each.unit == TOKENS else more
            if (
                wanted > 0
                and each.limit.amount is not None
                and each.taken + wanted > each.limit.amount
            ):
                return False
        return True

    def replace(
        self,
        old: Reservation | None,
        new: Reservation,
        kind: str = "",
        when: float | None = None,
        made_with: tuple[str, str] = ("", ""),
    ) -> None:
        """Write *new* in place of *old*; move the sums of every scope and limit that it counts
        against.

        The difference counts for the period in which the request was made, or of *when*.
        *made_with* is the model and the branch of a new request.
        """
        when = min(self.now, new.made_at if when is None else when)
        before = old or replace(new, amount=0, tokens=0, charged=0, charged_tokens=0)
        spent, tokens = new.charged - before.charged, new.charged_tokens - before.charged_tokens
        reserved, set_aside = (
            now - was for now, was in zip(_set_aside(new), _set_aside(before), strict=True)
        )
        allowances = self.allowances(new.scope)  # with what was there before
        is_answered = (
            False  # who has said about a scope that it ends is not asked about those below it
        )
        for name in lineage(new.scope):
            scope = self.changing(name)
            scope.spent += spent
            scope.reserved += reserved
            if spent > 0 and not is_answered:
                self.reached(scope)
            is_answered = is_answered or scope.limit.state in (WRAPPING_UP, STOPPED)
        for each in allowances:
            if when >= each.starts:  # otherwise it belongs to an earlier period
                more, aside = (tokens, set_aside) if each.unit == TOKENS else (spent, reserved)
                new_sums = replace(
                    each, spent=max(0, each.spent + more), reserved=max(0, each.reserved + aside)
                )
                moved = self.put(new_sums, moved=True)
                if more > 0 and not is_answered:
                    self.reached(moved)
        self._database.run(
            f"INSERT INTO reservations ({_COLUMNS}, model, branch) "  # noqa: S608 - the names above
            "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13) ON CONFLICT (request_id) DO UPDATE SET "
            "amount = ?3, charged = ?4, state = ?5, lease_end = ?6, overrun = ?8, tokens = ?9, charged_tokens = ?10",
            (*new.to_dict().values(), *made_with),
        )
        if spent or tokens:
            self._database.run(
                "INSERT INTO spend_entries (time, request_id, scope, kind, amount, tokens) VALUES (?, ?, ?, ?, ?, ?)",
                (when, new.request_id, new.scope, kind, spent, tokens),
            )

    def ask(self, about: Scope | Allowance, *, wanted: int) -> None:
        """Ask about a limit, once per limit: what is *wanted* does not fit."""
        if about.limit.state == OPEN:
            self._ask(about, wanted=wanted)
            self.keep(about, replace(about.limit, state=ASKED))

    def answered(self, name: str, answer: str, amount: int | None) -> None:
        """Note that a person said *answer* about the scope *name*."""
        self._database.run(
            "INSERT INTO spend_answers (time, scope, answer, amount) VALUES (?, ?, ?, ?)",
            (self.now, name, answer, amount),
        )

    def save(self) -> None:
        """Write the scopes and limits."""
        for scope in [self._scopes[name] for name in sorted(self._changed)]:
            given, base, amount, state, warned = scope.limit.to_dict().values()
            self._database.run(
                f"INSERT OR REPLACE INTO spend_scopes ({SCOPE_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",  # noqa: S608
                (
                    scope.name,
                    given,
                    base,
                    amount,
                    scope.is_default,
                    state,
                    warned,
                    scope.spent,
                    scope.reserved,
                ),
            )
        for each in [self._allowances[key] for key in sorted(self._moved)]:
            if each.key in self._left:
                self.answered(each.scope, SET_BACK, int(self._left[each.key]))
            limit = each.limit.to_dict().values()
            self._database.run(
                f"INSERT OR REPLACE INTO spend_limits ({LIMIT_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",  # noqa: S608
                (*each.key, *limit, each.spent, each.reserved, each.zone, each.starts, each.ends),
            )

    def fold(self) -> int:
        """Fold the oldest entries into sums, a few at a time; return how many."""
        oldest = (
            "WHERE number IN (SELECT number FROM spend_entries ORDER BY number LIMIT ?2) AND time < ?1",
            (self.now - REQUEST_DAYS * SECONDS_PER_DAY, MOST_FOLDED),
        )
        self._database.run(
            f"INSERT INTO spend_days {_DAYS.format(where=oldest[0])} ON CONFLICT (day, scope, model, branch) "
            "DO UPDATE SET amount = spend_days.amount + excluded.amount, tokens = spend_days.tokens + excluded.tokens",
            oldest[1],
        )
        return self._database.run(f"DELETE FROM spend_entries {oldest[0]}", oldest[1])  # noqa: S608

    # What is due ----------------------------------------------------------------------------------

    def reached(self, about: Scope | Allowance) -> None:
        """Warn or ask if what is spent has reached a mark of the limit."""
        limit, warn, ask = about.limit.reached(about.spent, self._warn)
        if warn and limit.amount is not None:
            self.notices.append(
                CostWarning(about.spent, limit.amount, about.name, about.unit, about.when)
            )
        if ask:
            self._ask(about)
        self.keep(about, limit)

    def keep(self, about: Scope | Allowance, limit: Limit) -> None:
        """Take *limit* in place of the one that *about* has."""
        if isinstance(about, Scope):
            self.changing(about.name).limit = limit
        else:
            self.put(replace(about, limit=limit), moved=True)

    def _ask(self, about: Scope | Allowance, *, wanted: int = 0) -> None:
        limit = about.limit
        what = about.spent, limit.amount, about.name, about.unit, about.when
        answers = (
            ANSWERS
            if limit.amount is not None
            else tuple(each for each in ANSWERS if each != "raise")
        )
        self.notices += [
            CostLimit(*what, held=limit.held, wanted=wanted),
            InputRequested(*what, answers=answers),
        ]


def below(under: str, number: int = 1) -> str:
    """Return the condition for *under*, parameter *number*, and what is below it; empty for all
    scopes."""
    # What is below begins with the name and '/', and '0' is what follows '/'.
    at = f"?{number}"
    return f"WHERE (scope = {at} OR (scope > {at} || '/' AND scope < {at} || '0'))" if under else ""


def is_ending(path: list[Scope]) -> bool:
    """Whether a person let a scope in *path* wrap up: then the wrap-up may take what is held."""
    return any(scope.limit.state == WRAPPING_UP for scope in path)


def scope_of(row: Any, path: str) -> Scope:
    """Return the scope that *row* holds; raise if it holds none."""
    name, given, base, amount, is_default, state, warned, spent, reserved = row
    amounts = [each for each in (given, base, amount) if each is not None]
    _check(path, name, state, [*amounts, spent, reserved])
    limit = Limit(given, base, amount, state, bool(warned))
    return Scope(name, limit, is_default=bool(is_default), spent=spent, reserved=reserved)


def allowance_of(row: Any, path: str) -> Allowance:
    """Return the limit per period that *row* holds; raise if it holds none."""
    scope, period, unit, given, base, amount, state, warned, spent, reserved, zone, starts, ends = (
        row
    )
    _check(path, scope, state if unit in UNITS else "", [given, base, amount, spent, reserved])
    limit = Limit(given, base, amount, state, bool(warned))
    return Allowance(scope, period, unit, limit, spent, reserved, zone, starts, ends)


def _check(path: str, name: object, state: object, amounts: list[Any]) -> None:
    if state not in STATES or not all(type(each) is int and each >= 0 for each in amounts):
        raise StoreError(
            f"{path}: what is kept about the scope {str(name)[:80]!r} cannot be read", "damaged"
        )


def reservation_of(row: Any) -> Reservation:
    """Return the reservation that *row* holds."""
    return Reservation(*(*row[:7], bool(row[7]), *row[8:]))


def _is_for(pattern: Allowance, scope: str) -> bool:
    """Whether *scope* is one of the sessions or sub-agents that *pattern* limits."""
    depth = scope.count("/") + 1
    if pattern.period == SUBAGENT:
        return depth == 3 and not scope.endswith(f"/{MAIN}")
    return pattern.period == SESSION and depth == 2


def _set_aside(reservation: Reservation) -> tuple[int, int]:
    return (reservation.amount, reservation.tokens) if reservation.state == RESERVED else (0, 0)
