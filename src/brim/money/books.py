"""The books of one transaction: the scopes, limits and reservations that it reads and changes.

Two kinds of limits stand on a scope: one over everything that was ever spent in it
(``Scope.limit``), and any number per period (``Allowance``). Both keep the rules of ``Limit``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from brim.config.retention import REQUEST_DAYS
from brim.database import ALL, Database
from brim.money.allowances import SECONDS_PER_DAY, Allowance
from brim.money.amounts import TOKENS
from brim.money.budget import ASKED, ENDING, OPEN, Limit
from brim.money.ledger import LONGEST_LEASE, NOTHING, DaySum, Reservation, ScopeStatus
from brim.money.ledger_sums import below, fold_before, sum_of_period, sums_of_days
from brim.money.notices import ANSWERS, CostLimit, CostWarning, InputRequested
from brim.money.rows import (
    LIMIT_COLUMNS,
    RESERVATION_COLUMNS,
    SCOPE_COLUMNS,
    Scope,
    allowance_of,
    reservation_of,
    scope_of,
)
from brim.money.scopes import EVERYWHERE, lineage
from brim.notices import Notice

SET_BACK = "set back"
"""Noted among the answers when the clock leaves a period for an earlier one, with the end of the
one it leaves."""
SELECT_RESERVATION = f"SELECT {RESERVATION_COLUMNS} FROM reservations"  # noqa: S608
SELECT_SCOPE = f"SELECT {SCOPE_COLUMNS} FROM spend_scopes"  # noqa: S608
SELECT_LIMIT = f"SELECT {LIMIT_COLUMNS} FROM spend_limits"  # noqa: S608
UPSERT_RESERVATION = (
    f"INSERT INTO reservations ({RESERVATION_COLUMNS}, model, branch)"  # noqa: S608
    " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)"
    " ON CONFLICT (request_id) DO UPDATE SET amount = ?3, charged = ?4, state = ?5,"
    " lease_end = ?6, overrun = ?8, tokens = ?9, charged_tokens = ?10"
)
INSERT_ENTRY = (
    "INSERT INTO spend_entries (time, request_id, scope, kind, amount, tokens)"
    " VALUES (?, ?, ?, ?, ?, ?)"
)
REPLACE_SCOPE = (
    f"INSERT OR REPLACE INTO spend_scopes ({SCOPE_COLUMNS})"  # noqa: S608
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
)
REPLACE_LIMIT = (
    f"INSERT OR REPLACE INTO spend_limits ({LIMIT_COLUMNS})"  # noqa: S608
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
RAISE_LIMITS = (
    "UPDATE spend_limits SET original = ?4, base = ?4, amount = ?4, state = 'open', warned = FALSE"
)

Key = tuple[str, str, str]
"""The scope, period and unit of a limit."""


class Books:
    """The scopes, limits and reservations that one transaction touches; ``save`` writes back those
    that changed."""

    def __init__(self, database: Database, now: float, warn: float) -> None:
        self._database = database
        self._warn = warn
        self.now = now
        """The time at which everything in this transaction happens."""
        self._scopes: dict[str, Scope] = {}
        self._changed_scopes: set[str] = set()
        self._keys: dict[str, list[Key]] = {}
        """The limits that stand on each scope that was looked at."""
        self._allowances: dict[Key, Allowance] = {}
        self._changed_allowances: set[Key] = set()
        self._later_ends: dict[Key, float] = {}
        """When the periods end from which the clock was set back to an earlier one."""
        self.notices: list[Notice] = []
        """What is to be told when everything is written."""

    # Scopes and reservations

    def ended(self) -> list[Reservation]:
        """Return the reservations whose lease has ended; one longer than any may be was made by a
        wrong clock."""
        longest = self.now + LONGEST_LEASE + SECONDS_PER_DAY
        rows = self._database.rows(
            f"{SELECT_RESERVATION} WHERE state = 'open' AND (lease_end <= ?1 OR lease_end > ?2)"
            " ORDER BY lease_end, request_id",
            (self.now, longest),
        )
        return [reservation_of(row) for row in rows]

    def reservation(self, request_id: str) -> Reservation | None:
        """Return the reservation of a request, or None."""
        row = self._database.row(f"{SELECT_RESERVATION} WHERE request_id = ?", (request_id,))
        if row is None:
            return None
        return reservation_of(row)

    def scope(self, name: str) -> Scope:
        """Return the scope *name*; one that is not known yet has no limit and has spent nothing."""
        if name not in self._scopes:
            row = self._database.row(f"{SELECT_SCOPE} WHERE scope = ?", (name,))
            self._scopes[name] = scope_of(row, self._database.path) if row else Scope(name)
        return self._scopes[name]

    def put_scope(self, scope: Scope) -> None:
        """Put *scope* in place of the one of its name."""
        self._scopes[scope.name] = scope
        self._changed_scopes.add(scope.name)

    def status(self, name: str, *, only_stored: bool = False) -> ScopeStatus:
        """Return how the scope *name* stands.

        With *only_stored*, a limit of sessions counts only for those that have one already.
        """
        above = [self.scope(outer) for outer in lineage(name)[:-1]]
        return self.scope(name).status(above, self.allowances(name, only_stored=only_stored))

    def statuses(
        self, under: str = "", count: int | None = None, *, projects: bool = False
    ) -> list[ScopeStatus]:
        """Return how the known scopes stand, by name: all, or *under* and those below it; the first
        *count*. Only the outermost if they are to be *projects*."""
        where = "WHERE scope NOT LIKE '%/%'" if projects else below(under)
        values: list[object] = [under] if under and not projects else []
        values.append(ALL if count is None else count)
        query = f"{SELECT_SCOPE} {where} ORDER BY scope LIMIT ?"
        names: list[str] = []
        for row in self._database.rows(query, values):
            scope = scope_of(row, self._database.path)
            self._scopes[scope.name] = scope
            self._keys[scope.name] = []
            names.append(scope.name)
        self.all_allowances()
        return [self.status(name, only_stored=True) for name in names]

    def days(self, under: str) -> list[DaySum]:
        """Return what was spent per day, scope, model and branch in *under* and below it; in all if
        that is empty."""
        return sums_of_days(self._database, under)

    # Limits per period

    def all_allowances(self) -> list[Allowance]:
        """Return every limit per period, as it is now."""
        for row in self._database.rows(f"{SELECT_LIMIT} ORDER BY scope"):
            self._take(row)
        return [self._allowances[key] for key in sorted(self._allowances)]

    def own_allowances(self, scope: str) -> list[Allowance]:
        """Return the limits per period that stand on *scope* itself."""
        if scope not in self._keys:
            self._keys[scope] = []
            for row in self._database.rows(f"{SELECT_LIMIT} WHERE scope = ?", (scope,)):
                self._take(row)
        return [self._allowances[key] for key in self._keys[scope]]

    def allowances(self, scope: str, *, only_stored: bool = False) -> list[Allowance]:
        """Return the limits in dollars and tokens that a spend in *scope* counts against, the
        widest first.

        A session or sub-agent that has no limit of its own yet gets the strictest that is set for
        it above, unless *only_stored* ones are asked for.
        """
        all_limits: list[Allowance] = []
        for name in (EVERYWHERE, *lineage(scope)):
            own = self.own_allowances(name)
            if not only_stored:
                own += self._from_patterns(all_limits, own, name)
            all_limits += own
        return [allowance for allowance in all_limits if not allowance.is_pattern]

    def _from_patterns(
        self, above: Sequence[Allowance], own: Sequence[Allowance], name: str
    ) -> list[Allowance]:
        """Return the limits that the scope *name* gets from patterns *above*, beside its *own*."""
        kinds = {(allowance.period, allowance.unit) for allowance in own}
        patterns = [allowance for allowance in above if allowance.is_pattern_of(name)]
        new: list[Allowance] = []
        for pattern in sorted(patterns, key=lambda pattern: pattern.limit.amount or 0):
            kind = (pattern.period, pattern.unit)
            if kind in kinds:
                continue
            kinds.add(kind)
            allowance = pattern.of(name)
            if self.scope(name).used:
                allowance = self._with_past(allowance)
            new.append(self.put(allowance))
        return new

    def put(self, allowance: Allowance, *, is_changed: bool = True) -> Allowance:
        """Put *allowance* in place of the one with its key."""
        key = allowance.key
        keys = self._keys.setdefault(allowance.scope, [])
        if key not in keys:
            keys.append(key)
        self._allowances[key] = allowance
        if is_changed:
            self._changed_allowances.add(key)
        return allowance

    def begin(self, allowance: Allowance) -> Allowance:
        """Set *allowance*, with what was spent and reserved since it starts; those of sessions
        below begin again."""
        if allowance.is_pattern:
            self._forget_below(allowance)
            return self.put(allowance)
        self.reached(self.put(self._with_past(allowance)))
        return self._allowances[allowance.key]

    def remove(self, allowance: Allowance) -> None:
        """Remove *allowance*, and those that sessions below have because of it."""
        self._forget_below(allowance)
        self._database.run(
            "DELETE FROM spend_limits WHERE scope = ? AND period = ? AND unit = ?", allowance.key
        )
        self._keys[allowance.scope].remove(allowance.key)
        del self._allowances[allowance.key]

    def raise_below(self, pattern: Allowance) -> None:
        """Raise the limits that sessions below have because of *pattern* to what that is now."""
        where, values = self._below_pattern(pattern)
        self._database.run(
            f"{RAISE_LIMITS} {where} AND amount < ?4",
            (*values, pattern.limit.amount),
        )

    def _forget_below(self, pattern: Allowance) -> None:
        if pattern.is_pattern:
            where, values = self._below_pattern(pattern)
            self._database.run(f"DELETE FROM spend_limits {where}", values)  # noqa: S608

    def _below_pattern(self, pattern: Allowance) -> tuple[str, Key]:
        """Return the condition for the limits that *pattern* is for, and its values."""
        under = "WHERE ?3 = '*'"
        if pattern.scope != EVERYWHERE:
            under = below(pattern.scope, 3)
        where = f"{under} AND period = ?1 AND unit = ?2 AND scope LIKE '%/%'"
        return where, (pattern.period, pattern.unit, pattern.scope)

    def _take(self, row: Any) -> None:
        """Take in a stored limit as it stands now. If the clock was in this period before, what was
        recorded then counts."""
        stored = allowance_of(row, self._database.path)
        current = stored.at(self.now)
        if current.ends != stored.ends and self._was_set_back(stored):
            current = self._with_past(current)
        self.put(current, is_changed=False)
        if stored.ends is not None and current.ends is not None and current.ends < stored.ends:
            self._later_ends[stored.key] = stored.ends

    def _was_set_back(self, stored: Allowance) -> bool:
        """Whether the clock was set back: to before the period of *stored*, or from a later one to
        it."""
        if not stored.is_over(self.now):
            return self.now < stored.starts
        row = self._database.row(
            "SELECT 1 FROM spend_answers WHERE scope = ? AND answer = ? AND amount >= ? LIMIT 1",
            (stored.scope, SET_BACK, stored.ends),
        )
        return row is not None

    def _with_past(self, allowance: Allowance) -> Allowance:
        """Return *allowance* with what was spent and reserved in its scope since it starts, and
        until it ends."""
        past = sum_of_period(
            self._database, allowance.scope, allowance.unit, allowance.starts, allowance.ends
        )
        return replace(
            allowance,
            spent=max(0, allowance.spent + past.spent),
            reserved=allowance.reserved + max(0, past.reserved),
        )

    # Moving money

    def fits(self, scope: str, amount: int, tokens: int) -> bool:
        """Whether *amount* more and *tokens* more are within the limits of *scope* and those above
        it."""
        limited: list[Scope | Allowance] = [self.scope(name) for name in lineage(scope)]
        limited += self.allowances(scope)
        for about in limited:
            wanted = tokens if about.unit == TOKENS else amount
            ceiling = about.limit.amount
            if wanted > 0 and ceiling is not None and about.used + wanted > ceiling:
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
        if old is None:
            old = replace(new, amount=NOTHING, tokens=0, charged=NOTHING, charged_tokens=0)
        when = min(self.now, new.made_at if when is None else when)
        move = Move(old, new)
        allowances = self.allowances(new.scope)  # with what was there before
        is_ending = self._move_scopes(new.scope, move)
        for allowance in allowances:
            if when >= allowance.starts:  # otherwise it belongs to an earlier period
                self._move_allowance(allowance, move, is_ending=is_ending)
        self._database.run(UPSERT_RESERVATION, (*new.to_dict().values(), *made_with))
        if move.spent or move.tokens:
            self._database.run(
                INSERT_ENTRY, (when, new.request_id, new.scope, kind, move.spent, move.tokens)
            )

    def _move_scopes(self, path: str, move: Move) -> bool:
        """Move the sums of the scopes in *path*; return whether a person has said that one ends."""
        is_ending = False
        for name in lineage(path):
            scope = self.scope(name)
            moved = replace(
                scope, spent=scope.spent + move.spent, reserved=scope.reserved + move.reserved
            )
            self.put_scope(moved)
            # A person who has said that a scope ends is not asked about those below it.
            if move.spent > 0 and not is_ending:
                self.reached(moved)
            is_ending = is_ending or self.scope(name).limit.state in ENDING
        return is_ending

    def _move_allowance(self, allowance: Allowance, move: Move, *, is_ending: bool) -> None:
        spent = move.spent
        reserved = move.reserved
        if allowance.unit == TOKENS:
            spent = move.tokens
            reserved = move.reserved_tokens
        moved = self.put(
            replace(
                allowance,
                spent=max(0, allowance.spent + spent),
                reserved=max(0, allowance.reserved + reserved),
            )
        )
        if spent > 0 and not is_ending:
            self.reached(moved)

    def fold(self) -> int:
        """Fold the oldest entries into sums, a few at a time; return how many."""
        return fold_before(self._database, self.now - REQUEST_DAYS * SECONDS_PER_DAY)

    def save(self) -> None:
        """Write the scopes and limits."""
        for name in sorted(self._changed_scopes):
            self._database.run(REPLACE_SCOPE, self._scopes[name].to_row())
        for key in sorted(self._changed_allowances & self._allowances.keys()):
            allowance = self._allowances[key]
            if key in self._later_ends:
                self.note_answer(allowance.scope, SET_BACK, int(self._later_ends[key]))
            limit = allowance.limit.to_dict().values()
            sums = (allowance.spent, allowance.reserved)
            period = (allowance.zone, allowance.starts, allowance.ends)
            self._database.run(REPLACE_LIMIT, (*key, *limit, *sums, *period))

    # Asking

    def reached(self, about: Scope | Allowance) -> None:
        """Warn or ask if what is spent has reached a mark of the limit."""
        limit, warns, asks = about.limit.reached(about.spent, self._warn)
        if warns and limit.amount is not None:
            self.notices.append(
                CostWarning(about.spent, limit.amount, about.name, about.unit, about.when)
            )
        if asks:
            self._ask(about)
        self.put_limit(about, limit)

    def ask(self, about: Scope | Allowance, *, wanted: int) -> None:
        """Ask about a limit, once per limit: what is *wanted* does not fit."""
        if about.limit.state == OPEN:
            self._ask(about, wanted=wanted)
            self.put_limit(about, replace(about.limit, state=ASKED))

    def _ask(self, about: Scope | Allowance, *, wanted: int = 0) -> None:
        limit = about.limit
        answers: tuple[str, ...] = ANSWERS
        if limit.amount is None:
            answers = tuple(answer for answer in ANSWERS if answer != "raise")
        sums = (about.spent, limit.amount, about.name, about.unit, about.when)
        self.notices.append(CostLimit(*sums, set_aside=limit.set_aside, wanted=wanted))
        self.notices.append(InputRequested(*sums, answers=answers))

    def put_limit(self, about: Scope | Allowance, limit: Limit) -> None:
        """Put *limit* in place of the one that *about* has."""
        if isinstance(about, Scope):
            self.put_scope(replace(about, limit=limit))
        else:
            self.put(replace(about, limit=limit))

    def note_answer(self, name: str, answer: str, amount: int | None) -> None:
        """Note that a person said *answer* about the scope *name*."""
        self._database.run(
            "INSERT INTO spend_answers (time, scope, answer, amount) VALUES (?, ?, ?, ?)",
            (self.now, name, answer, amount),
        )


class Move:
    """What changes in the sums if *new* takes the place of *old*."""

    def __init__(self, old: Reservation, new: Reservation) -> None:
        old_amount, old_tokens = old.set_aside
        amount, tokens = new.set_aside
        self.spent = int(new.charged) - int(old.charged)
        self.tokens = new.charged_tokens - old.charged_tokens
        self.reserved = int(amount) - int(old_amount)
        self.reserved_tokens = tokens - old_tokens
