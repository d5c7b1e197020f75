"""Limits as people set and see them: by project, in their own words. ``brim limit`` is its command.

A project is its place, and people type its name. What counts is in ``brim.store.ledger``.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Self

from brim.config.places import place_of
from brim.errors import InputError
from brim.figures import age, clock, dollars
from brim.record import PlainData
from brim.spend.ledger import ScopeStatus, lineage
from brim.spend.limits import ASKED, OPEN, Limit, Raise
from brim.spend.money import PERCENT, UNITS, USD, in_unit
from brim.spend.periods import (
    EVERYWHERE,
    FRESH,
    SPANS,
    SUBAGENT,
    TOTAL,
    Allowance,
    Ceiling,
    local_zone,
    plan_readings,
    read_ceiling,
)
from brim.store.ledger import StoredLedger
from brim.store.project import name_of, segment

MOST = 10_000
"""Scopes that are looked at."""


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
    held: int
    state: str
    zone: str
    resets_at: float | None
    each: bool = False
    """Whether it is the limit of every session or sub-agent below; then nothing is spent under it
    itself."""
    read_at: float | None = None
    """When a plan's window was read; None for other limits, and if it wasn't."""

    @property
    def said(self) -> str:
        """The limit with its unit: $5.00/day, 2M tokens/day, 90%/5h."""
        per = (
            "sub-agent"
            if self.period == SUBAGENT
            else str(Ceiling(0, self.unit, self.period)).partition("/")[2]
        )
        return (
            f"{self.in_words(self.amount)}/{per}" if per else f"{self.in_words(self.amount)} in all"
        )

    def in_words(self, amount: int, *, up: bool = False) -> str:
        """Return *amount* in its unit, for a person; money is rounded *up* or down to the cent."""
        return dollars(amount, up=up) if self.unit == USD else in_unit(amount, self.unit)

    def sentence(self, now: float) -> str:
        """Return the limit and where it stands, as a sentence."""
        if self.each:
            period = self.period.replace("subagent", "sub-agent")
            return f"{self.in_words(self.amount)} for each {period}"
        if self.unit == PERCENT:
            return f"{self.said}, {self.reading(now)}"
        parts = [self.said, f"{self.in_words(self.spent, up=True)} spent"]
        if self.reserved:
            parts.append(f"{self.in_words(self.reserved, up=True)} reserved")
        parts.append(f"{self.in_words(self.left)} left")
        if self.held:
            parts.append(f"{self.in_words(self.held)} kept for the wrap-up")
        if self.resets_at is not None:
            parts.append(f"resets {clock(self.resets_at, now)}")
        return ", ".join(parts)

    def summary(self, now: float) -> str:
        """Return the limit and what is spent of it, in a few words: $0.40 of $5.00/day."""
        if self.each:
            return self.sentence(now)
        text = self.said
        if self.unit != PERCENT or self.read_at is not None:
            text = f"{self.in_words(self.spent, up=True)} of {text}"
        if self.scope == EVERYWHERE:
            text = f"{text} in all projects"
        return text

    def reading(self, now: float) -> str:
        """Return how much of a plan's window is used, and how old that reading is."""
        if self.read_at is None:
            return "not read yet: it comes from Claude Code's status line or from Codex"
        reading = f"{self.spent}% used, read {age(self.read_at, now)}"
        if abs(now - self.read_at) > FRESH:
            return f"{reading}: too old to hold"
        return reading


@dataclass(frozen=True)
class ProjectRow(PlainData):
    """One project with its limits."""

    scope: str
    name: str
    """What people call it: a path if two have the same name."""
    place: str
    """Its folder; empty if it isn't known."""
    spent: int
    """Micro-dollars of all time."""
    state: str
    exists: bool
    limits: tuple[LimitRow, ...] = ()


class Limits:
    """The limits in *ledger*, for a person in the project at *place*.

    *home* is the user's brim folder, where readings of plans are kept. *shared* is the scope of the
    project in a ledger of many machines, empty if it has none there; None says that the ledger is
    this machine's, where projects go by place. *default* is the limit of a project that has none of
    its own: the setting ``spend.limit``.
    """

    def __init__(
        self,
        ledger: StoredLedger,
        *,
        place: str,
        home: str,
        environ: Mapping[str, str],
        now: float,
        shared: str | None = None,
        default: int | None = None,
    ) -> None:
        self.ledger = ledger
        self.default = default
        self._place = place
        self._home = home
        self._environ = environ
        self._now = now
        self._shared = shared

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.ledger.close()

    # Which project --------------------------------------------------------------------------------

    def scope(self, name: str = "", *, known: bool = False) -> str:
        """Return the scope of the project that *name* means: this one, a name, a path, or a scope
        that is known.

        With *known*, a folder that has no limits yet is an error as well.
        """
        if name == EVERYWHERE:
            return name
        if self._shared is not None:
            return self._in_shared(name, known)
        if not name and not self._place:
            raise InputError("the current folder was deleted: go to another, or name a project")
        projects = self.ledger.projects()
        if not name or _is_path(name):
            place = (
                self._place if not name else place_of(os.path.realpath(os.path.expanduser(name)))
            )
            is_deleted = known and place in projects.values()
            if name and not is_deleted and not os.path.isdir(os.path.expanduser(name)):
                raise InputError(f"{name[:200]}: there is no such folder")
            return self.ledger.project(place, claim=not known)
        called = name if "/" in name else segment(name)
        named = sorted(
            each for each in {*projects.values(), self._place} if each and name_of(each) == called
        )
        named = [each for each in named if os.path.isdir(each)] or named
        if len(named) > 1:
            paths = " or ".join(named)
            raise InputError(
                f"{len(named)} projects are called {name}. Which one? Write its path instead: {paths}"
            )
        if named:
            return self.ledger.project(named[0], claim=not known)
        if self._knows(name):
            return name
        if "/" in name and os.path.isdir(name):
            return self.scope(os.path.realpath(name), known=known)
        names = sorted(
            {
                name_of(self._place),
                *map(name_of, projects.values()),
                *(each.scope for each in self.ledger.statuses(most=MOST)),
            }
        )
        raise _unknown(name, names)

    def _in_shared(self, name: str, known: bool) -> str:
        """Return the scope *name*, or this project's: in a shared ledger scopes are what programs
        call them."""
        if _is_path(name):
            raise InputError(
                f"{name[:200]}: a shared store knows projects by their id, not by their folder"
            )
        if not name and not self._shared:
            raise InputError(
                "this folder has no name in a shared store: name a scope, or set one with "
                "'brim config set --project project.id NAME'"
            )
        scope = lineage(name or self._shared or "")[-1]
        if name and known and not self._knows(scope):
            raise _unknown(
                name,
                [each.scope for each in self.ledger.statuses(most=MOST)],
                "'brim limit --store URL' lists them.",
            )
        return scope

    def _knows(self, scope: str) -> bool:
        try:
            return bool(self.ledger.allowances(scope)) or any(
                each.scope == scope for each in self.ledger.statuses(scope, most=1)
            )
        except InputError:  # not even a scope
            return False

    # Setting --------------------------------------------------------------------------------------

    def set(
        self, scope: str, ceilings: list[Ceiling], *, including_past: bool = False
    ) -> list[LimitRow]:
        """Set limits on *scope*; what was stopped is open again. They count from now, unless the
        past is included."""
        zone = local_zone(self._environ)
        if self._shared is not None and any(each.unit == PERCENT for each in ceilings):
            raise InputError(
                "the window of a plan belongs to one person's agents: set it without --store"
            )
        if scope != EVERYWHERE:
            own = self.ledger.status(scope)
            replaced = any((each.unit, each.period) == (USD, TOTAL) for each in ceilings)
            if own.is_default or replaced or own.state != OPEN:
                self.ledger.limit(
                    scope, None if own.is_default or replaced else own.given, anew=True
                )
        for each in ceilings:
            self.ledger.allow(scope, each, zone=zone, including_past=including_past)
        kinds = [(each.period, each.unit) for each in ceilings]
        return [each for each in self.rows(scope) if (each.period, each.unit) in kinds]

    def loosens(self, scope: str, ceilings: list[Ceiling], *, including_past: bool) -> bool:
        """Whether setting *ceilings* would let more be spent than now: a limit counts from when it
        is set.

        A limit of its own takes the place of the default, and opens what was stopped.
        """
        before = {(each.period, each.unit): each for each in self.rows(scope)}
        if scope != EVERYWHERE:
            own = self.ledger.status(scope)
            given_up = self.default if own.limit is None else own.limit if own.is_default else None
            totals = [each.amount for each in ceilings if (each.period, each.unit) == (TOTAL, USD)]
            if own.state != OPEN or (
                given_up is not None and min(totals, default=given_up + 1) > given_up
            ):
                return True
        for each in ceilings:
            if (row := before.get((each.period, each.unit))) is not None:
                counted = 0 if row.each or row.unit == PERCENT else row.spent
                if (
                    row.state != OPEN
                    or each.amount - counted * including_past > row.amount - counted
                ):
                    return True
        return False

    def remove(self, scope: str, what: list[str]) -> list[LimitRow]:
        """Remove limits of *scope*: all, or those of *what*, each a limit as it was set or a
        period."""
        before = self.rows(scope)
        for text in what or [""]:
            wanted = _wanted(text)
            removed = [each for each in before if wanted in ("", each.limit, each.period)]
            if text and not removed:
                there = ", ".join(each.limit for each in before) or "none"
                raise InputError(
                    f'There is no limit "{text[:40]}" to remove here. There are: {there}.'
                )
            for each in removed:
                self.ledger.disallow(scope, period=each.period, unit=each.unit)
                if scope != EVERYWHERE and (each.unit, each.period) == (USD, TOTAL):
                    self.ledger.limit(scope, None)
        return before if not what else [each for each in before if each not in self.rows(scope)]

    def answer(self, scope: str, answer: str, ceiling: Ceiling | None = None) -> list[LimitRow]:
        """Do what a person said at a limit: ``continue``, ``raise`` to *ceiling*, ``wrap_up`` or
        ``stop``.

        To continue also opens what was stopped or wrapped up.
        """
        if ceiling is not None:
            self.ledger.answer(scope, Raise(ceiling.amount, ceiling.period, ceiling.unit))
            return self.rows(scope)
        own = self.ledger.status(scope) if scope != EVERYWHERE else ScopeStatus(scope)
        is_ended = answer == "continue" and own.state not in (OPEN, ASKED)
        if is_ended:
            self.ledger.limit(scope, own.limit, anew=True, default=own.is_default)
        try:
            self.ledger.answer(scope, answer)
        except InputError as error:
            if is_ended:  # nothing was asked: it is open, and that is all
                return self.rows(scope)
            held = self._held_below(scope) if answer == "continue" else []
            if not held:
                raise
            commands = ", ".join(f"brim limit continue {each}" for each in held)
            raise InputError(f"{error}. A limit below was reached: {commands}") from None
        return self.rows(scope)

    def _held_below(self, scope: str) -> list[str]:
        """Return sessions and sub-agents of *scope* that may spend nothing more, three at most."""
        below = [] if scope == EVERYWHERE else self.ledger.statuses(scope)
        held = [each.scope for each in below if each.scope != scope and each.left == 0]
        return [each for each in held if each.rpartition("/")[0] not in held][:3]

    # Looking --------------------------------------------------------------------------------------

    def rows(self, scope: str) -> list[LimitRow]:
        """Return the limits of *scope* itself, the shortest period first."""
        found = [] if scope == EVERYWHERE else _of_scope(self.ledger.status(scope))
        return sorted(
            [*found, *(self._row(each) for each in self.ledger.allowances(scope))], key=_order
        )

    def projects(self, under: str = "") -> list[ProjectRow]:
        """Return every project with its limits, or the one of the scope *under*; first what is for
        all of them.

        They stand as they would under the default limit, which isn't set.
        """
        default = None if self.default is None else Limit(self.default)
        places = self.ledger.projects()
        statuses = {each.scope: each for each in self.ledger.projects_spent(default=default)}
        own: dict[str, list[LimitRow]] = {}
        for each in self.ledger.allowances():
            if "/" not in each.scope or each.scope == under:
                own.setdefault(each.scope, []).append(self._row(each))
        found = []
        for scope in sorted({*statuses, *own, *places}):
            status, place = statuses.get(scope, ScopeStatus(scope)), places.get(scope, "")
            limits = tuple(sorted([*_of_scope(status), *own.get(scope, [])], key=_order))
            if (not under or scope == under) and (limits or scope in statuses):
                name, exists = _name(scope, places), not place or os.path.isdir(place)
                found.append(
                    ProjectRow(scope, name, place, status.spent, status.state, exists, limits)
                )
        return found

    def statuses(self, under: str = "", *, limit: int = MOST) -> tuple[list[ScopeStatus], int]:
        """Return how the scopes *under* one stand, and how many there are beyond *limit*.

        They stand as they would under the default limit, which isn't set.
        """
        statuses = self.ledger.statuses(under, default=Limit(self.default), most=limit)
        if len(statuses) < limit:
            return statuses, 0
        return statuses, self.ledger.count(under) - len(statuses)

    def apply_default(self, scope: str) -> None:
        """Limit the project of *scope* by the default, unless it has a limit of its own."""
        if not self.ledger.database.readonly:
            self.ledger.limit(lineage(scope)[0], self.default, default=True)

    def name(self, scope: str) -> str:
        """Return what people call *scope*: its project's path if two have the same name."""
        return _name(scope, self.ledger.projects())

    def _row(self, allowance: Allowance) -> LimitRow:
        limit, row = allowance.limit, allowance
        read_at = None
        if allowance.unit == PERCENT:
            readings = plan_readings(allowance, self._home, self._environ, self._now)
            reading = max(readings, key=lambda each: each.used, default=None)
            if reading is not None:
                row = replace(allowance, spent=int(100 * reading.used), ends=reading.resets_at)
                read_at = reading.read_at
        held = 0 if row.unit == PERCENT else limit.held
        amount = limit.amount or 0
        left = max(0, amount - held - row.taken)
        what = (row.scope, str(row.ceiling), amount, row.unit, row.period)
        stands = (row.zone, row.ends, row.is_pattern, read_at)
        return LimitRow(*what, row.spent, row.reserved, left, held, limit.state, *stands)


def _of_scope(status: ScopeStatus) -> list[LimitRow]:
    """Return the limit over everything that was ever spent in a scope, if it has one."""
    if status.limit is None:
        return []
    left = max(0, status.limit - status.held - status.spent - status.reserved)
    what = (status.scope, str(Ceiling(status.limit)), status.limit, USD, TOTAL)
    return [
        LimitRow(*what, status.spent, status.reserved, left, status.held, status.state, "", None)
    ]


def _name(scope: str, places: Mapping[str, str]) -> str:
    if scope == EVERYWHERE:
        return "all projects"
    place = places.get(scope, "")
    if not place:
        return scope
    called = name_of(place)
    return place if sum(name_of(each) == called for each in places.values()) > 1 else called


def _order(row: LimitRow) -> tuple[bool, int, int]:
    length = SPANS.index(row.period) if row.period in SPANS else int(row.period[:-1])
    return row.unit == PERCENT, length, UNITS.index(row.unit)


def _wanted(text: str) -> str:
    """Return the limit or the period that *text* means, as it is written in a row."""
    if not text or text.lower() in SPANS:
        return text.lower()
    return str(read_ceiling(text))


def _unknown(
    name: str, names: list[str], lists: str = "Write its path, or see 'brim limit'."
) -> InputError:
    near = get_close_matches(name, names, n=1)
    hint = f" Did you mean {near[0]}?" if near else f" {lists}"
    return InputError(f'No project is called "{name[:80]}".{hint}')


def _is_path(name: str) -> bool:
    return name.startswith((os.sep, "~", f".{os.sep}", f"..{os.sep}")) or name in (".", "..")
