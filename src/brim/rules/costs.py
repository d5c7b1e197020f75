"""What each rule costs at each tier, and what a whole text costs, as a counter finds it.

A plan is made by adding up *units*: for most counters there is something that adds up over lines
(tokens of a vocabulary, characters), and the count of a whole text is a function of the sum. So a
plan of a thousand rules counts each line once. A counter of which nothing is known is asked
again for the whole text.
"""

from __future__ import annotations

from functools import cache

from brim.rules.library_rule import Rule
from brim.rules.text import Section, item_text
from brim.rules.tiers import INTRODUCTION, Tier, left_out
from brim.tokens.count import Count
from brim.tokens.protocol import TokenCounter


class Costs:
    """Costs for one counter. A cost is a pair: units, and characters."""

    def __init__(self, counter: TokenCounter) -> None:
        self._counter = counter
        self.additive = bool(getattr(counter, "adds_up", False))
        """Whether ``count`` of the sum is what the counter says of the whole text. If not,
        ``recount`` does."""
        units = counter.count
        if self.additive:
            units = getattr(counter, "units", units)
        self._units = cache(units)
        model = getattr(counter, "model", None) or getattr(counter, "encoding", None)
        self.counter: str = model or type(counter).__name__
        """What counts: a model, an encoding, or what kind of counter it is."""
        self._items: dict[tuple[str, Tier], tuple[int, int]] = {}

    def item(self, rule: Rule, tier: Tier) -> tuple[int, int]:
        """Return what the lines of *rule* cost at *tier*."""
        key = rule.id, tier
        if key not in self._items:
            self._items[key] = self._cost(item_text(rule, tier))
        return self._items[key]

    def heading(self, section: Section) -> tuple[int, int]:
        """Return what *section* costs once, whatever stands in it."""
        return self._cost(section.heading())

    def frame(self, left: int, *, only_notes: bool = False) -> tuple[int, int]:
        """Return what the lines around all sections cost, if *left* didn't fit. Above *only_notes*
        there is none."""
        units, characters = self._cost(left_out(left))
        if only_notes:
            return units, characters
        more_units, more_characters = self._cost(INTRODUCTION)
        return units + more_units, characters + more_characters

    def _cost(self, text: str) -> tuple[int, int]:
        if not text:
            return 0, 0
        return self._units(text), len(text)

    def count(self, units: int) -> Count:
        """Return the tokens of a text whose lines add up to *units*."""
        if not self.additive:
            # The units are tokens, but of lines that were counted one by one.
            return Count(units, "estimated")
        tokens: Count = self._counter.of_units(units)  # type: ignore[attr-defined]
        return tokens

    def recount(self, text: str) -> Count:
        """Return what the counter says of *text*; a counter of one's own may answer with a plain
        number."""
        tokens = self._counter.count(text)
        if isinstance(tokens, Count):
            return tokens
        return Count(tokens)
