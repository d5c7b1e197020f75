"""An arrangement: every rule at some tier, and what the whole text costs so."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from brim.record import PlainData
from brim.rules.costs import Costs
from brim.rules.library_rule import Rule
from brim.rules.text import Section, section_of, text_of
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
    ) -> None:
        """With *counted*, the last line says how many of *slots* don't fit.

        Then each begins with the most detail that fits alone, so that a very long one doesn't push
        out all others.
        """
        self.slots = list(slots)
        self.costs = costs
        self.limits = limits
        self._counted = counted
        self._wanted = sum(slot.mapped is not Tier.OMITTED for slot in self.slots)
        self._units = 0
        self._characters = 0
        self._rules_in: Counter[Section] = Counter()
        """How many rules are in each section."""
        for slot in self.slots:
            first_tier = slot.tier
            if counted:
                first_tier = self._alone(slot)
            slot.tier = Tier.OMITTED  # the sums don't have it yet: move() adds it to them
            self.move(slot, first_tier)

    def _alone(self, slot: Slot) -> Tier:
        """Return the most detailed tier at which the lines of *slot* alone are within the
        limits."""
        for tier in slot.allowed:
            units, characters = self._item(slot, tier)
            if self._holds(self.costs.count(units), characters):
                return tier
        return Tier.OMITTED

    @property
    def left_out(self) -> int:
        """How many don't fit, for the last line; 0 if it isn't there."""
        included = self._rules_in.total()
        if not self._counted or not included:
            return 0
        return self._wanted - included

    def size(self) -> tuple[int, int]:
        """Return the units and characters of the whole text: lines, headings and the frame."""
        sections = [section for section, count in self._rules_in.items() if count]
        if not sections:
            return 0, 0
        only_notes = sections == [Section.UNCONFIRMED_NOTES]
        parts = [self.costs.heading(section) for section in sections]
        parts.append(self.costs.frame(self.left_out, only_notes=only_notes))
        units = self._units + sum([part[0] for part in parts])
        return units, self._characters + sum([part[1] for part in parts])

    @property
    def characters(self) -> int:
        """How long the text is."""
        return self.size()[1]

    def total(self) -> Count:
        """Return the tokens of the text: by the sum of its lines, or counted as a whole if they
        don't add up."""
        if self.costs.additive:
            return self.costs.count(self.size()[0])
        return self.costs.recount(self.text())

    def fits(self) -> bool:
        """Whether the text is within both limits."""
        return self._holds(self.total(), self.characters)

    def _holds(self, tokens: int, characters: int) -> bool:
        if self.limits.characters is not None and characters > self.limits.characters:
            return False
        return self.limits.tokens is None or tokens <= self.limits.tokens

    def move(self, slot: Slot, tier: Tier) -> None:
        """Put *slot* at *tier*."""
        for place, sign in ((slot.tier, -1), (tier, 1)):
            units, characters = self._item(slot, place)
            self._units += sign * units
            self._characters += sign * characters
            if place is not Tier.OMITTED:
                self._rules_in[section_of(slot.rule.kind, slot.rule.status, place)] += sign
        slot.tier = tier

    def _item(self, slot: Slot, tier: Tier) -> tuple[int, int]:
        if tier is Tier.OMITTED:
            return 0, 0
        return self.costs.item(slot.rule, tier)

    def demote(self, slot: Slot, lowest: Tier = Tier.OMITTED) -> bool:
        """Put *slot* at the next tier below, but not below *lowest*, at which the whole text gets
        smaller.

        Say whether there was one. It can always be left out, even if a counter finds that the text
        isn't smaller without it.
        """
        before = slot.tier
        size_before = self.size()
        for tier in slot.allowed:
            if lowest <= tier < before:
                self.move(slot, tier)
                if tier is Tier.OMITTED or self._is_smaller(size_before):
                    return True
        self.move(slot, before)
        return False

    def _is_smaller(self, before: tuple[int, int]) -> bool:
        """Whether the text is smaller than *before*: in tokens, and if characters are limited too,
        in neither larger."""
        units, characters = self.size()
        if self.limits.characters is None:
            return units < before[0]
        return units <= before[0] and characters <= before[1] and (units, characters) != before

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


def lowest_first(arrangement: Arrangement) -> Iterator[Slot]:
    """Demote the lowest rule one tier, recount, repeat: each goes all the way down before the
    next one gives way.

    Ties go by id, and a tier at which the text wouldn't get smaller is skipped. Constraints are
    touched only when everything else is gone: they are cut to a summary and, if they may be left
    out at all, the lowest are left out. Yields after each demotion; the caller stops when it fits.
    """
    slots = [slot for slot in arrangement.slots if slot.tier is not Tier.OMITTED]
    slots.sort(key=lambda slot: (slot.activation, slot.rule.id))
    constraints = [slot for slot in slots if slot.protected]
    for slot in slots:
        while not slot.protected and arrangement.demote(slot):
            yield slot
    for lowest in (Tier.SUMMARY, Tier.OMITTED):
        for slot in constraints:
            if arrangement.demote(slot, lowest):
                yield slot
