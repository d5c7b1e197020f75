"""Fits rules into a budget of tokens, characters and bytes: less detail from the end, spare room
back from the front."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import inf

from brim.models.light import lookup
from brim.record import PlainData
from brim.rules.stored import ENCODINGS, StoredRule
from brim.rules.tiers import INTRODUCTION, Tier, frame_tokens, left_out
from brim.tokens.calibrate import ANY_FAMILY, prior_for

_PARTS = 1_000_000
"""A ratio is rounded up to this many parts, so that sums are exact."""


@dataclass(frozen=True)
class LineSize(PlainData):
    """What a part of a text takes."""

    units: int = 0
    """Tokens in the vocabulary of the budget."""
    characters: int = 0

    @classmethod
    def of(cls, rule: StoredRule, tier: Tier, budget: Budget) -> LineSize:
        """Return what *rule* takes at *tier*."""
        return cls(rule.tokens(tier, budget.encoding), rule.characters(tier))

    def plus(self, other: LineSize) -> LineSize:
        """Return what both take together."""
        return LineSize(self.units + other.units, self.characters + other.characters)

    def exchanging(self, old: LineSize, new: LineSize) -> LineSize:
        """Return what is taken with *new* in place of *old*."""
        return LineSize(
            self.units - old.units + new.units,
            self.characters - old.characters + new.characters,
        )


@dataclass(frozen=True)
class Budget(PlainData):
    """What a text may take; None means no limit."""

    tokens: int | None
    characters: int | None = None
    encoding: str = "o200k_base"
    """The vocabulary in which lines were counted."""
    ratio: float = 1.0
    """Tokens of the agent's model for one token of the vocabulary."""

    @property
    def encoding_number(self) -> int:
        """The place of the vocabulary among those of the index."""
        return ENCODINGS.index(self.encoding)

    @cached_property
    def most_units(self) -> float:
        """Units of which no more than these can fit, whatever the frame takes."""
        if self.tokens is None:
            return inf
        if self.ratio == 1.0:
            return self.tokens
        return self.tokens * _PARTS // self._parts

    @cached_property
    def _parts(self) -> int:
        return -int(-self.ratio * _PARTS // 1)

    def tokens_of(self, units: int) -> int:
        """Return *units* in the tokens of the model, rounded up once."""
        if self.ratio == 1.0:
            return units
        return -(-units * self._parts // _PARTS)

    def total_tokens(self, size: LineSize, uncounted: int) -> int:
        """Return the tokens of a text whose rules take *size*, with its frame, which counts
        *uncounted* rules."""
        return self.tokens_of(size.units + frame_tokens(uncounted, self.encoding))

    def holds(self, size: LineSize, uncounted: int) -> bool:
        """Whether a text fits whose rules take *size*; one without rules always does."""
        if not size.characters:
            return True
        if size.units > self.most_units:
            return False
        frame = len(INTRODUCTION) + len(left_out(uncounted))
        if self.tokens is not None and self.total_tokens(size, uncounted) > self.tokens:
            return False
        return self.characters is None or size.characters + frame <= self.characters


def vocabulary_of(model: str | None) -> tuple[str, float]:
    """Return the vocabulary of the index that lines are counted in for *model*, and how many of the
    model's tokens are one of its.

    >>> vocabulary_of("gpt-4o"), vocabulary_of("claude-sonnet-4-5")
    (('o200k_base', 1.0), ('o200k_base', 1.27))
    """
    if model is None:
        return ENCODINGS[0], 1.0
    terms = lookup(model)
    if not terms.resolved:
        return ENCODINGS[0], prior_for(ANY_FAMILY).value
    if terms.encoding in ENCODINGS:
        return terms.encoding, 1.0
    return ENCODINGS[0], prior_for(terms.encoding).value


class _Text:
    """Rules at tiers, with the running size of the text that they make."""

    def __init__(self, rules: list[tuple[StoredRule, Tier]], budget: Budget, beyond: int) -> None:
        self.rules = [rule for rule, _ in rules]
        self.wanted = [tier for _, tier in rules]
        self.tiers = list(self.wanted)
        self._budget = budget
        self._uncounted = beyond
        self._sizes: list[dict[Tier, LineSize]] = []
        self._sum = LineSize()
        for rule, tier in rules:
            line = LineSize.of(rule, tier, budget)
            self._sizes.append({tier: line})
            self._sum = self._sum.plus(line)

    def fits(self) -> bool:
        """Whether the text fits, with a last line that counts what is left out."""
        return self._budget.holds(self._sum, self._uncounted)

    def fits_with(self, place: int, tier: Tier) -> bool:
        """Whether the text would fit with the rule at *place* at *tier*."""
        old = self._size(place, self.tiers[place])
        new = self._size(place, tier)
        if new.characters and self._sum.units - old.units + new.units > self._budget.most_units:
            return False
        return self._budget.holds(
            self._sum_with(place, tier), self._uncounted + self._further_uncounted(place, tier)
        )

    def move(self, place: int, tier: Tier) -> None:
        """Give the rule at *place* another tier."""
        self._sum = self._sum_with(place, tier)
        self._uncounted += self._further_uncounted(place, tier)
        self.tiers[place] = tier

    def _sum_with(self, place: int, tier: Tier) -> LineSize:
        return self._sum.exchanging(self._size(place, self.tiers[place]), self._size(place, tier))

    def _further_uncounted(self, place: int, tier: Tier) -> int:
        return (tier is Tier.OMITTED) - (self.tiers[place] is Tier.OMITTED)

    def _size(self, place: int, tier: Tier) -> LineSize:
        """Return what the rule at *place* takes at *tier*."""
        sizes = self._sizes[place]
        if tier not in sizes:
            sizes[tier] = LineSize.of(self.rules[place], tier, self._budget)
        return sizes[tier]

    def is_shorter_at(self, place: int, tier: Tier) -> bool:
        """Whether the rule at *place* would take less at *tier*."""
        return self._size(place, tier).units < self._size(place, self.tiers[place]).units

    def demote(self, place: int, lowest: Tier) -> None:
        """Give the rule at *place* less detail until the text fits, down to *lowest*."""
        if lowest is Tier.OMITTED and not self.fits_with(place, Tier.OMITTED):
            self.move(place, Tier.OMITTED)  # it wouldn't fit with some of it either
            return
        for tier in (Tier.SUMMARY, Tier.NAME_ONLY, Tier.OMITTED):
            if not lowest <= tier < self.tiers[place]:
                continue
            if tier is Tier.OMITTED or self.is_shorter_at(place, tier):
                self.move(place, tier)
                if self.fits():
                    return


def fitted(rules: list[tuple[StoredRule, Tier]], budget: Budget, beyond: int) -> list[Tier]:
    """Return the tiers at which *rules* fit into *budget*, at most those that they have now.

    The last line counts those that are left out, and rules *beyond* them. Constraints are cut to a
    summary only when everything else is out, and left out last.
    """
    if budget.tokens == 0:
        return [Tier.OMITTED] * len(rules)
    text = _Text(rules, budget, beyond)
    protected: list[int] = []
    free: list[int] = []
    for place, (rule, _) in enumerate(rules):
        if rule.protected:
            protected.append(place)
        else:
            free.append(place)
    _demote(text, free, Tier.OMITTED)
    _demote(text, protected, Tier.SUMMARY)
    _demote(text, protected, Tier.OMITTED)
    _give_back(text)
    return text.tiers


def _demote(text: _Text, places: list[int], lowest: Tier) -> None:
    """Give the rules at *places* less detail, the last first, until the text fits."""
    for place in reversed(places):
        if text.fits():
            return
        text.demote(place, lowest)


def _give_back(text: _Text) -> None:
    """Give spare room back from the front, each rule as much detail as fits."""
    for place, wanted in enumerate(text.wanted):
        before = text.tiers[place]
        for tier in (Tier.FULL, Tier.SUMMARY, Tier.NAME_ONLY):
            if tier > wanted or tier <= before:
                continue
            if text.fits_with(place, tier):
                text.move(place, tier)
                break
