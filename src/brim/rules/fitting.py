"""Fits rules into a budget of tokens, characters and bytes: less detail from the end, spare room
back from the front."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from brim.files import data_rows
from brim.record import PlainData
from brim.rules.stored import StoredRule
from brim.rules.tiers import INTRODUCTION, Tier, left_out

ENCODINGS = ("o200k_base", "cl100k_base")
_PARTS = 1_000_000
"""A ratio is rounded up to this many parts, so that sums are exact."""


@dataclass(frozen=True)
class LineSize(PlainData):
    """What a part of a text takes."""

    units: int
    """Tokens in the vocabulary of the budget."""
    characters: int
    bytes: int

    @classmethod
    def of(cls, rule: StoredRule, tier: Tier, budget: Budget) -> LineSize:
        """Return what *rule* takes at *tier*."""
        text = rule.text(tier)
        size = len(text.encode("utf-8", "replace")) if budget.bytes is not None else 0
        return cls(rule.tokens(tier, budget.encoding), rule.characters(tier), size)


@dataclass(frozen=True)
class Budget(PlainData):
    """What a text may take; None means no limit."""

    tokens: int | None
    characters: int | None = None
    bytes: int | None = None
    encoding: str = "o200k_base"
    """The vocabulary in which lines were counted."""
    ratio: float = 1.0
    """Tokens of the agent's model for one token of the vocabulary."""

    @property
    def encoding_number(self) -> int:
        """The place of the vocabulary among those of the index."""
        return ENCODINGS.index(self.encoding)

    def tokens_of(self, units: int) -> int:
        """Return *units* in the tokens of the model, rounded up once."""
        if self.ratio == 1.0:
            return units
        parts = -int(-self.ratio * _PARTS // 1)
        return -(-units * parts // _PARTS)

    def total_tokens(self, lines: Iterable[LineSize], uncounted: int) -> int:
        """Return the tokens of a text of *lines* with its frame, which counts *uncounted* rules."""
        units = sum([line.units for line in lines])
        return self.tokens_of(units + frame_tokens(uncounted, self.encoding))

    def holds(self, lines: list[LineSize], uncounted: int) -> bool:
        """Whether a text of *lines* fits."""
        if not lines:
            return True
        frame = INTRODUCTION + left_out(uncounted)
        if self.tokens is not None and self.total_tokens(lines, uncounted) > self.tokens:
            return False
        characters = sum([line.characters for line in lines]) + len(frame)
        if self.characters is not None and characters > self.characters:
            return False
        size = sum([line.bytes for line in lines]) + len(frame)
        return self.bytes is None or size <= self.bytes


def frame_tokens(uncounted: int, encoding: str) -> int:
    """Return what the line above the rules takes, and the one below that counts the others."""
    costs = _frame_costs(encoding)
    tokens = costs["introduction"]
    if uncounted == 1:
        tokens += costs["one_left_out"]
    elif uncounted:
        # A vocabulary takes numbers apart into three digits at a time.
        tokens += costs["several_left_out"] - (-len(str(uncounted)) // 3)
    return tokens


@cache
def _frame_costs(encoding: str) -> dict[str, int]:
    column = 2 if encoding == "o200k_base" else 4
    return {row[0]: int(row[column]) for row in data_rows(__file__, "headings.tsv")}


class _Text:
    """Rules at tiers, with the running size of the text that they make."""

    def __init__(self, rules: list[tuple[StoredRule, Tier]], budget: Budget, beyond: int) -> None:
        self.rules = [rule for rule, _ in rules]
        self.wanted = [tier for _, tier in rules]
        self.tiers = list(self.wanted)
        self._budget = budget
        self._uncounted = beyond
        self._lines = [LineSize.of(rule, tier, budget) for rule, tier in rules]
        self._sum = LineSize(
            sum([line.units for line in self._lines]),
            sum([line.characters for line in self._lines]),
            sum([line.bytes for line in self._lines]),
        )

    def fits(self) -> bool:
        """Whether the text fits, with a last line that counts what is left out."""
        return self._budget.holds([self._sum], self._uncounted)

    def move(self, place: int, tier: Tier) -> None:
        """Give the rule at *place* another tier."""
        old = self._lines[place]
        new = LineSize.of(self.rules[place], tier, self._budget)
        self._lines[place] = new
        self._uncounted += (tier is Tier.OMITTED) - (self.tiers[place] is Tier.OMITTED)
        self.tiers[place] = tier
        self._sum = LineSize(
            self._sum.units - old.units + new.units,
            self._sum.characters - old.characters + new.characters,
            self._sum.bytes - old.bytes + new.bytes,
        )

    def is_shorter_at(self, place: int, tier: Tier) -> bool:
        """Whether the rule at *place* would take less at *tier*."""
        new = LineSize.of(self.rules[place], tier, self._budget)
        return new.units < self._lines[place].units

    def demote(self, place: int, lowest: Tier) -> None:
        """Give the rule at *place* less detail until the text fits, down to *lowest*."""
        if lowest is Tier.OMITTED:
            before = self.tiers[place]
            self.move(place, Tier.OMITTED)
            if not self.fits():  # so it wouldn't with some of it either
                return
            self.move(place, before)
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
    places = list(range(len(rules)))
    protected = [place for place in places if text.rules[place].protected]
    free = [place for place in places if place not in set(protected)]
    steps = [(free, Tier.OMITTED), (protected, Tier.SUMMARY), (protected, Tier.OMITTED)]
    for step_places, lowest in steps:
        for place in reversed(step_places):
            if text.fits():
                break
            text.demote(place, lowest)
    _give_back(text)
    return text.tiers


def _give_back(text: _Text) -> None:
    """Give spare room back from the front, each rule as much detail as fits."""
    for place, wanted in enumerate(text.wanted):
        before = text.tiers[place]
        for tier in (Tier.FULL, Tier.SUMMARY, Tier.NAME_ONLY):
            if tier > wanted or tier <= before:
                continue
            text.move(place, tier)
            if text.fits():
                break
            text.move(place, before)
