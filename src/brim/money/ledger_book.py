"""A ledger's limits as people set and see them. ``brim limit --store`` is its command."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Self

from brim.errors import InputError
from brim.figures import clock, dollars
from brim.money.allowances import DEPTHS, SPANS, Allowance, ledger_limit, local_zone
from brim.money.amounts import UNITS, USD, as_money, in_unit
from brim.money.budget import ASKED, OPEN, Raise
from brim.money.ledger import ScopeStatus
from brim.money.limits import SpendingLimit, amount_text
from brim.money.periods import SUBAGENT, TOTAL
from brim.money.scopes import EVERYWHERE, one_scope
from brim.money.stored_ledger import StoredLedger
from brim.money.team_keys import TeamKeys
from brim.record import PlainData

MOST = 10_000
"""Scopes that are looked at."""
MOST_COMMANDS = 3


@dataclass(frozen=True)
class LimitRow(PlainData):
    """One limit and where it stands. Amounts are in ``unit``; ``resets_at`` is None if it never
    does."""

    scope: str
    limit: str
    """As a person writes it: ``5/day``."""
    amount: int
    unit: str
    period: str
    spent: int
    reserved: int
    left: int
    set_aside: int
    state: str
    zone: str
    resets_at: float | None
    is_pattern: bool = False
    """Whether it is the limit of every session or sub-agent below; then nothing is spent under it
    itself."""

    @property
    def name(self) -> str:
        """The limit with its unit: $5.00/day, 2M tokens/day, $50.00 in all."""
        amount = self.in_words(self.amount)
        if self.period == TOTAL:
            return f"{amount} in all"
        return f"{amount}/{self._period_name}"

    @property
    def _period_name(self) -> str:
        if self.period == SUBAGENT:
            return "sub-agent"
        return self.period

    def in_words(self, amount: int, *, up: bool = False) -> str:
        """Return *amount* in its unit, for a person; money is rounded *up* or down to the cent."""
        if self.unit == USD:
            return dollars(amount, up=up)
        return in_unit(amount, self.unit)

    def is_loosened_by(self, limit: SpendingLimit, *, including_past: bool) -> bool:
        """Whether more may be spent once *limit* takes its place."""
        amount_left = self.amount
        if not self.is_pattern and not including_past:
            amount_left -= self.spent
        return self.state != OPEN or limit.amount > amount_left

    def sentence(self, now: float) -> str:
        """Return the limit and where it stands, as a sentence."""
        if self.is_pattern:
            return f"{self.in_words(self.amount)} for each {self._period_name}"
        parts = [self.name, f"{self.in_words(self.spent, up=True)} spent"]
        if self.reserved:
            parts.append(f"{self.in_words(self.reserved, up=True)} reserved")
        parts.append(f"{self.in_words(self.left)} left")
        if self.set_aside:
            parts.append(f"{self.in_words(self.set_aside)} kept for the wrap-up")
        if self.resets_at is not None:
            parts.append(f"resets {clock(self.resets_at, now)}")
        return ", ".join(parts)


@dataclass(frozen=True)
class ProjectRow(PlainData):
    """One scope with its limits: an outermost one, or one below that has some or a key."""

    scope: str
    name: str
    """What people call it."""
    spent: int
    """Micro-dollars of all time."""
    state: str
    limits: tuple[LimitRow, ...] = ()
    left: int | None = None
    """Micro-dollars that would still be admitted, under its limits and those above; None means no
    limit."""


class LedgerBook:
    """The limits in *ledger*, for a person in the project whose scope there is *project*; empty if
    it has none."""

    def __init__(self, ledger: StoredLedger, *, project: str, environ: Mapping[str, str]) -> None:
        self.ledger = ledger
        self._project = project
        self._environ = environ

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.ledger.close()

    @property
    def keys(self) -> TeamKeys:
        """The keys of the team's people."""
        return TeamKeys(self.ledger)

    def scope(self, name: str = "", *, must_exist: bool = False) -> str:
        """Return the scope *name*, or this project's."""
        if name == EVERYWHERE:
            return name
        if _is_path(name):
            raise InputError(
                f"{name[:200]}: a shared store knows projects by their id, not by their folder"
            )
        if not name and not self._project:
            raise InputError(
                "this folder has no name in a shared store: name a scope, or set one with"
                " 'brim config set --project project.id NAME'"
            )
        scope = one_scope(name or self._project)
        if name and must_exist and not self._knows(scope):
            raise self._unknown(name)
        return scope

    def _knows(self, scope: str) -> bool:
        if self.ledger.allowances(scope):
            return True
        return any(status.scope == scope for status in self.ledger.statuses(scope, count=1))

    def _unknown(self, name: str) -> InputError:
        names = [status.scope for status in self.ledger.statuses(count=MOST)]
        names += [allowance.scope for allowance in self.ledger.allowances()]
        near = get_close_matches(name, names, n=1)
        hint = "'brim limit --store URL' lists them."
        if near:
            hint = f"Did you mean {near[0]}?"
        return InputError(f'No project is called "{name[:80]}". {hint}')

    # Changing

    def set(
        self, scope: str, limits: Sequence[SpendingLimit], *, including_past: bool = False
    ) -> list[LimitRow]:
        """Set limits on *scope*; what was stopped is open again. They count from now, unless the
        past is included."""
        zone = local_zone(self._environ)
        kinds = [(limit.period, limit.unit) for limit in limits]
        if scope != EVERYWHERE:
            own = self.ledger.status(scope)
            if (TOTAL, USD) in kinds:
                self.ledger.limit(scope, None, anew=True)
            elif own.state != OPEN:
                self.ledger.limit(scope, own.original, anew=True)
        for limit in limits:
            self.ledger.allow(scope, limit, zone=zone, including_past=including_past)
        return [row for row in self.rows(scope) if (row.period, row.unit) in kinds]

    def loosens(self, scope: str, limits: Sequence[SpendingLimit], *, including_past: bool) -> bool:
        """Whether setting *limits* would let more be spent than now: a limit counts from when it is
        set, and opens what was stopped."""
        if self._status(scope).state != OPEN:
            return True
        rows = {(row.period, row.unit): row for row in self.rows(scope)}
        for limit in limits:
            row = rows.get((limit.period, limit.unit))
            if row is not None and row.is_loosened_by(limit, including_past=including_past):
                return True
        return False

    def remove(self, scope: str, texts: Sequence[str]) -> list[LimitRow]:
        """Remove limits of *scope*: all, or those of *texts*, each a limit as it was set or a
        period; return them."""
        before = self.rows(scope)
        removed = before
        if texts:
            removed = []
            for text in texts:
                removed += _named(before, text)
        for row in removed:
            self.ledger.disallow(scope, period=row.period, unit=row.unit)
            if scope != EVERYWHERE and (row.period, row.unit) == (TOTAL, USD):
                self.ledger.limit(scope, None)
        return removed

    def answer(self, scope: str, answer: str, limit: SpendingLimit | None = None) -> list[LimitRow]:
        """Do what a person said at a limit: ``continue``, ``raise`` to *limit*, ``wrap_up`` or
        ``stop``.

        To continue also opens what was stopped or wrapped up.
        """
        if limit is not None:
            to = as_money(limit.amount, limit.unit)
            self.ledger.answer(scope, Raise(to, limit.period, limit.unit))
            return self.rows(scope)
        was_ended = answer == "continue" and self._reopen(scope)
        try:
            self.ledger.answer(scope, answer)
        except InputError as error:
            if was_ended:  # nothing was asked: it is open, and that is all
                return self.rows(scope)
            commands = self._commands_below(scope) if answer == "continue" else []
            if not commands:
                raise
            raise InputError(f"{error}. A limit below was reached: {', '.join(commands)}") from None
        return self.rows(scope)

    def _reopen(self, scope: str) -> bool:
        """Open *scope* if a person had ended it; return whether one had."""
        own = self._status(scope)
        if own.state in (OPEN, ASKED):
            return False
        self.ledger.limit(scope, own.limit, anew=True)
        return True

    def _commands_below(self, scope: str) -> list[str]:
        """Return the commands that continue in sessions and sub-agents of *scope*, three at
        most."""
        if scope == EVERYWHERE:
            return []
        full = [
            status.scope
            for status in self.ledger.statuses(scope)
            if status.scope != scope and status.left == 0
        ]
        outermost = [name for name in full if name.rpartition("/")[0] not in full]
        return [f"brim limit continue {name}" for name in outermost[:MOST_COMMANDS]]

    # Looking

    def rows(self, scope: str) -> list[LimitRow]:
        """Return the limits of *scope* itself, the shortest period first."""
        rows = [_row_of(allowance) for allowance in self.ledger.allowances(scope)]
        rows += _total_rows(self._status(scope))
        return sorted(rows, key=_order)

    def _status(self, scope: str) -> ScopeStatus:
        """Return how *scope* stands; everything together has no limit without a period."""
        if scope == EVERYWHERE:
            return ScopeStatus(scope)
        return self.ledger.status(scope)

    def projects(self, under: str = "") -> list[ProjectRow]:
        """Return every outermost scope with its limits, and what below has limits or a key; or only
        the one *under* and what is below it. First comes what is for all of them."""
        statuses = {status.scope: status for status in self.ledger.projects()}
        limits: dict[str, list[LimitRow]] = {scope: [] for scope in statuses}
        for allowance in self.ledger.allowances():
            if allowance.is_pattern or allowance.period not in DEPTHS:
                limits.setdefault(allowance.scope, []).append(_row_of(allowance))
        for scope in [*self.ledger.limited_scopes(), *self.keys.people()]:
            limits.setdefault(scope, [])
        projects: list[ProjectRow] = []
        for scope in sorted(limits):
            if under and under not in (scope, scope.partition("/")[0]):
                continue
            status = statuses.get(scope) or self._status(scope)
            rows = tuple(sorted([*limits[scope], *_total_rows(status)], key=_order))
            name = display_name(scope)
            row = ProjectRow(scope, name, status.spent, status.state, rows, status.left)
            projects.append(row)
        return projects

    def statuses(self, under: str = "", *, limit: int = MOST) -> tuple[list[ScopeStatus], int]:
        """Return how the scopes *under* one stand, and how many there are beyond *limit*."""
        statuses = self.ledger.statuses(under, count=limit)
        if len(statuses) < limit:
            return statuses, 0
        return statuses, self.ledger.count(under) - len(statuses)


def display_name(scope: str) -> str:
    """Return what people call *scope*."""
    if scope == EVERYWHERE:
        return "all projects"
    return scope


def _row_of(allowance: Allowance) -> LimitRow:
    limit = allowance.limit
    amount = limit.amount or 0
    return LimitRow(
        allowance.scope,
        allowance.text,
        amount,
        allowance.unit,
        allowance.period,
        allowance.spent,
        allowance.reserved,
        max(0, amount - limit.set_aside - allowance.used),
        limit.set_aside,
        limit.state,
        allowance.zone,
        allowance.ends,
        allowance.is_pattern,
    )


def _total_rows(status: ScopeStatus) -> list[LimitRow]:
    """Return the limit over everything that was ever spent in a scope, if it has one."""
    if status.limit is None:
        return []
    left = max(0, status.limit - status.set_aside - status.spent - status.reserved)
    text = amount_text(status.limit, USD)
    sums = (status.spent, status.reserved, left, status.set_aside)
    return [LimitRow(status.scope, text, status.limit, USD, TOTAL, *sums, status.state, "", None)]


def _named(rows: Sequence[LimitRow], text: str) -> list[LimitRow]:
    """Return those of *rows* that *text* means: a limit as it was set, or a period."""
    wanted = text.lower()
    if wanted not in SPANS:
        wanted = ledger_limit(text).text
    named = [row for row in rows if wanted in (row.limit, row.period)]
    if not named:
        limits = ", ".join(row.limit for row in rows) or "none"
        raise InputError(f'There is no limit "{text[:40]}" to remove here. There are: {limits}.')
    return named


def _order(row: LimitRow) -> tuple[int, int]:
    return SPANS.index(row.period), UNITS.index(row.unit)


def _is_path(name: str) -> bool:
    beginnings = (os.sep, "~", f".{os.sep}", f"..{os.sep}")
    return name.startswith(beginnings) or name in (".", "..")
