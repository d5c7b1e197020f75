"""An arrangement: every rule at some tier, and what the whole text costs so.

This is the one place that knows how a change of tier changes the cost: the rule's lines, and
the headings that come or go with it. Each question that is asked of it is counted.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from brim.record import PlainData
from brim.rules.costs import Costs
from brim.rules.library_rule import Rule
from brim.rules.sections import Section, section_of
from brim.rules.text import text_of
from brim.rules.tiers import Tier
from brim.tokens.count import Count


class Slot:
    """One rule in an arrangement: its activation, the tiers it may have, and the one it has."""

    def __init__(
        self,
        rule: Rule,
        activation: float,
        allowed: Sequence[Tier],
        *,
        protected: bool,
        reason: str,
    ) -> None:
        self.id = rule.id
        self.rule = rule
        self.activation = activation
        self.allowed = tuple(allowed)
        """The tiers it may have, most detailed first; the first is where it stands if there is room
        for everything."""
        self.mapped = self.tier = self.allowed[0]
        self.protected = protected
        """Whether it is cut only when nothing else is left."""
        self.promotable: tuple[Tier, ...] = ()
        """More detailed tiers that it may have if there is room to spare, most detailed first."""
        self.reason = reason


@dataclass(frozen=True)
class ArrangementLimits(PlainData):
    """What a text may take: tokens, and characters for clients that cut by them. None means no
    limit."""

    tokens: int | None
    characters: int | None


class Arrangement:
    """Rules at tiers, with the running cost of the text that they make."""

    def __init__(
        self,
        slots: Iterable[Slot],
        costs: Costs,
        limits: ArrangementLimits,
        *,
        counted: bool = False,
        further: int = 0,
    ) -> None:
        """With *counted*, the last line says how many don't fit: of *slots*, and *further* ones
        that aren't among them.

        Then each begins with the most detail that fits alone, so that a very long one doesn't push
        out all others.
        """
        self.slots = list(slots)
        self.costs = costs
        self.limits = limits
        self.evaluated = 0
        """How many changes of tier were looked at."""
        self.units = self.characters = 0
        self.room = None if limits.tokens is None else _room(costs, limits.tokens)
        """The most units that are within the limit of tokens; None means no limit."""
        self._rules_in: dict[Section, int] = {}
        """How many rules are in each section."""
        self._counted = counted
        self.further = further
        self._included = 0
        self._wanted = sum(slot.mapped is not Tier.OMITTED for slot in self.slots)
        for slot in self.slots:
            tier = slot.tier
            slot.tier = Tier.OMITTED
            self.move(slot, self._alone(slot) if counted else tier)

    def _alone(self, slot: Slot) -> Tier:
        """Return the most detailed tier at which the lines of *slot* alone are within the
        limits."""
        for tier in slot.allowed:
            units, characters = self._item(slot, tier)
            within = self.limits.characters is None or characters <= self.limits.characters
            if within and (self.room is None or units <= self.room):
                return tier
        return Tier.OMITTED

    @property
    def left_out(self) -> int:
        """How many don't fit, for the last line; 0 if it isn't there."""
        return self._left(self._included)

    def _left(self, included: int) -> int:
        if not self._counted or not included:
            return 0
        return self._wanted - included + self.further

    def _frame(self, included: int, notes: int) -> tuple[int, int]:
        """Return what the introduction and the last line cost around *included* rules, of which
        *notes* are unconfirmed notes: above those alone there is no introduction."""
        if not included:
            return (0, 0)
        return self.costs.frame(self._left(included), only_notes=included == notes)

    def total(self) -> Count:
        """Return the tokens of the text: by the sum of its lines, or counted as a whole if they
        don't add up."""
        if self.costs.additive:
            return self.costs.count(self.units)
        return self.costs.recount(self.text())

    def fits(self, total: Count | None = None) -> bool:
        """Whether the text is within both limits; *total* is its tokens, if they are known."""
        if self.limits.characters is not None and self.characters > self.limits.characters:
            return False
        if self.costs.additive:
            return self.room is None or self.units <= self.room
        return (
            self.limits.tokens is None
            or (self.total() if total is None else total) <= self.limits.tokens
        )

    def change(self, slot: Slot, tier: Tier) -> tuple[int, int]:
        """Return by how much the text would grow in units and in characters if *slot* went to
        *tier*."""
        self.evaluated += 1
        old = self._section(slot, slot.tier)
        new = self._section(slot, tier)
        change = _difference(self._item(slot, tier), self._item(slot, slot.tier))
        if old != new:
            if new is not None and not self._rules_in.get(new):
                change = _sum(change, self.costs.heading(new))
            if old is not None and self._rules_in[old] == 1:
                change = _difference(change, self.costs.heading(old))
        if (old is None) != (new is None):
            change = _sum(change, self._frame_change(old, new))
        return change

    def _frame_change(self, old: Section | None, new: Section | None) -> tuple[int, int]:
        """Return by how much the introduction and the last line grow when a rule moves from the
        section *old* to *new*, of which one is None: it comes into the text, or is left out."""
        step = 1
        if new is None:
            step = -1
        notes = self._rules_in.get(Section.UNCONFIRMED_NOTES, 0)
        notes_after = notes
        if Section.UNCONFIRMED_NOTES in (old, new):
            notes_after += step
        before = self._frame(self._included, notes)
        after = self._frame(self._included + step, notes_after)
        return _difference(after, before)

    def move(self, slot: Slot, tier: Tier, change: tuple[int, int] | None = None) -> None:
        """Put *slot* at *tier*; *change* is what ``change`` said of it, if that was asked."""
        units, characters = self.change(slot, tier) if change is None else change
        old = self._section(slot, slot.tier)
        new = self._section(slot, tier)
        if old is not None:
            self._rules_in[old] -= 1
        if new is not None:
            self._rules_in[new] = self._rules_in.get(new, 0) + 1
        self._included += (new is not None) - (old is not None)
        self.units += units
        self.characters += characters
        slot.tier = tier

    def demote(self, slot: Slot, lowest: Tier = Tier.OMITTED) -> bool:
        """Put *slot* at the next tier below, but not below *lowest*, at which the whole text gets
        smaller.

        Say whether there was one. It can always be left out, even if a counter finds that the text
        isn't smaller without it.
        """
        for tier in slot.allowed:
            if lowest <= tier < slot.tier:
                change = self.change(slot, tier)
                if tier is Tier.OMITTED or self._is_smaller(change):
                    self.move(slot, tier, change)
                    return True
        return False

    def text(self) -> str:
        """Return the text that the rules make so."""
        chosen = ((slot.rule, slot.tier, slot.activation) for slot in self.slots)
        return text_of(chosen, left=self.left_out)

    def tiers(self) -> list[Tier]:
        """Return where every slot stands, to come back to with ``restore``."""
        return [slot.tier for slot in self.slots]

    def restore(self, tiers: Iterable[Tier]) -> None:
        """Put every slot where it stood."""
        for slot, tier in zip(self.slots, tiers, strict=True):
            if slot.tier is not tier:
                self.move(slot, tier)

    def _is_smaller(self, change: tuple[int, int]) -> bool:
        """Whether a change makes the text smaller: in tokens, and if characters are limited too, in
        neither larger."""
        units, characters = change
        if self.limits.characters is None:
            return units < 0
        return units <= 0 and characters <= 0 and change != (0, 0)

    def _item(self, slot: Slot, tier: Tier) -> tuple[int, int]:
        if tier is not Tier.OMITTED:
            return self.costs.item(slot.rule, tier)
        return (0, 0)

    def _section(self, slot: Slot, tier: Tier) -> Section | None:
        if tier is not Tier.OMITTED:
            return section_of(slot.rule.kind, slot.rule.status, tier)
        return None


def _room(costs: Costs, tokens: int) -> int:
    """Return the most units that count as at most *tokens*; -1 if not even nothing does."""
    units = 1
    while costs.count(units) <= tokens:
        units *= 2
    return bisect_right(range(units), tokens, key=costs.count) - 1


def _sum(one: tuple[int, int], other: tuple[int, int]) -> tuple[int, int]:
    return one[0] + other[0], one[1] + other[1]


def _difference(one: tuple[int, int], other: tuple[int, int]) -> tuple[int, int]:
    return one[0] - other[0], one[1] - other[1]


def lowest_first(arrangement: Arrangement) -> Iterator[Slot]:
    """Demote the lowest rule one tier, recount, repeat: each goes all the way down before the
    next one gives way.

    Ties go by id, and a tier at which the text wouldn't get smaller is skipped. Constraints are
    touched only when everything else is gone: they are cut to a summary and, if they may be left
    out at all, the lowest are left out. Yields after each demotion; the caller stops when it fits.
    """
    for slot in _in_order(arrangement, protected=False):
        while arrangement.demote(slot):
            yield slot
    yield from _constraints(arrangement)


def _constraints(arrangement: Arrangement) -> Iterator[Slot]:
    for slot in _in_order(arrangement, protected=True):
        if arrangement.demote(slot, Tier.SUMMARY):
            yield slot
    for slot in _in_order(arrangement, protected=True):
        if arrangement.demote(slot):
            yield slot


def _in_order(arrangement: Arrangement, *, protected: bool) -> list[Slot]:
    slots = [
        slot
        for slot in arrangement.slots
        if slot.protected is protected and slot.tier is not Tier.OMITTED
    ]
    return sorted(slots, key=lambda slot: (slot.activation, slot.id))
