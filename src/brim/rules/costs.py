"""What each rule costs at each tier, and what a whole text costs.

A plan is made by adding up *units*: for most counters there is something that adds up over lines
(tokens of a vocabulary, characters), and the count of a whole text is a function of the sum. So a
plan of a thousand rules counts each line once. A counter of which nothing is known is asked
again for the whole text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Protocol

from brim.errors import InputError
from brim.files import data_rows
from brim.rules.library_rule import Rule
from brim.rules.sections import Section
from brim.rules.text import item_text
from brim.rules.tiers import INTRODUCTION, Tier, left_out
from brim.tokens.calibrate import Ratio
from brim.tokens.count import Count
from brim.tokens.protocol import TokenCounter

Cost = tuple[int, int]

ENCODINGS = ("o200k_base", "o200k_harmony", "cl100k_base")
"""The encodings that costs are stored in."""


class Costs(Protocol):
    """Costs for one counter. A cost is a pair: units, and characters."""

    counter: str
    """What counts: a model, an encoding, or what kind of counter it is."""
    additive: bool
    """Whether ``count`` of the sum is what the counter says of the whole text. If not, ``recount``
    does."""

    def item(self, rule: Rule, tier: Tier, /) -> Cost:
        """Return what the lines of *rule* cost at *tier*."""

    def heading(self, section: Section, /) -> Cost:
        """Return what *section* costs once, whatever stands in it."""

    def frame(self, left: int, /, *, only_notes: bool = False) -> Cost:
        """Return what the lines around all sections cost, if *left* didn't fit. Above *only_notes*
        there is none."""

    def count(self, units: int, /) -> Count:
        """Return the tokens of a text whose lines add up to *units*."""

    def recount(self, text: str, /) -> Count:
        """Return the tokens of a whole text."""


class CountedCosts:
    """Costs that a counter finds: each line is rendered and counted when it is first asked for."""

    def __init__(self, counter: TokenCounter) -> None:
        self._counter = counter
        self.additive = bool(getattr(counter, "adds_up", False))
        units: Callable[[str], int] = getattr(counter, "units", counter.count)
        self._units = cache(units if self.additive else counter.count)
        self.counter = (
            getattr(counter, "model", None)
            or getattr(counter, "encoding", None)
            or type(counter).__name__
        )
        self._items: dict[tuple[str, Tier], Cost] = {}

    def item(self, rule: Rule, tier: Tier, /) -> Cost:
        """Return what the lines of *rule* cost at *tier*."""
        key = rule.id, tier
        if key not in self._items:
            text = item_text(rule, tier)
            self._items[key] = self._units(text), len(text)
        return self._items[key]

    def heading(self, section: Section, /) -> Cost:
        """Return what *section* costs once."""
        text = section.heading()
        return self._units(text), len(text)

    def frame(self, left: int, /, *, only_notes: bool = False) -> Cost:
        """Return what the lines around all sections cost."""
        lines = ["" if only_notes else INTRODUCTION, left_out(left)]
        return sum(self._units(line) for line in lines if line), sum(map(len, lines))

    def count(self, units: int, /) -> Count:
        """Return the tokens of a text whose lines add up to *units*."""
        if not self.additive:
            # The units are tokens, but of lines that were counted one by one.
            return Count(units, "estimated")
        tokens: Count = self._counter.of_units(units)  # type: ignore[attr-defined]
        return tokens

    def recount(self, text: str, /) -> Count:
        """Return what the counter says of *text*; a counter of one's own may answer with a plain
        number."""
        tokens = self._counter.count(text)
        if isinstance(tokens, Count):
            return tokens
        return Count(tokens)


class StoredCosts:
    """Costs that were written with the rules, in an encoding, times a model's ratio: no
    tokenizer is loaded.

    *items* maps ``(id, tier)`` to units and characters; what it does not hold is charged its UTF-8
    length.
    """

    additive = True

    def __init__(
        self,
        items: Mapping[tuple[str, int], Cost],
        *,
        encoding: str,
        ratio: Ratio | None = None,
        counter: str = "",
    ) -> None:
        self.counter = counter or encoding
        self._items = items
        self._ratio = ratio
        self._headings = heading_costs(encoding)
        self._introduction, self._one, self._several = map(
            dict(_table(encoding)).__getitem__, FRAME
        )

    def covers(self, id: str) -> bool:
        """Whether the rule *id* is stored at every tier, so that its texts are not needed for
        its costs."""
        return all((id, tier) in self._items for tier in (1, 2, 3))

    def item(self, rule: Rule, tier: Tier, /) -> Cost:
        """Return what was stored for *rule* at *tier*, else its UTF-8 length."""
        stored = self.stored(rule.id, tier)
        if stored is not None:
            return stored
        text = item_text(rule, tier)
        return len(text.encode()), len(text)

    def stored(self, id: str, tier: Tier) -> Cost | None:
        """Return what was stored for the rule *id* at *tier*; None if nothing was."""
        return self._items.get((id, int(tier)))

    def heading(self, section: Section, /) -> Cost:
        """Return what *section* costs once."""
        return self._headings[section]

    def frame(self, left: int, /, *, only_notes: bool = False) -> Cost:
        """Return what the lines around all sections cost."""
        units, characters = (0, 0) if only_notes else self._introduction
        if left:
            digits = len(str(left))
            # Both vocabularies take numbers apart into three digits at a time.
            line = self._one
            if left > 1:
                line = (self._several[0] + -(-digits // 3), self._several[1] + digits)
            units += line[0]
            characters += line[1]
        return units, characters

    def count(self, units: int, /) -> Count:
        """Return *units* times the ratio, rounded up once."""
        if self._ratio is None:
            return Count(units)
        return Count(units).scaled(*self._ratio)

    def recount(self, text: str, /) -> Count:
        """Return what the bytes of *text* cost, as of any text whose cost is not stored; a plan
        adds up instead."""
        return self.count(len(text.encode()))


def heading_costs(encoding: str) -> dict[Section, tuple[int, int]]:
    """Return tokens and characters of each section's heading, from a table: no tokenizer is
    loaded."""
    if encoding not in ENCODINGS:
        raise InputError(f"costs are stored in {', '.join(ENCODINGS)}, not in {encoding!r}")
    return {Section[name.upper()]: cost for name, cost in _table(encoding) if name not in FRAME}


FRAME = ("introduction", "one_left_out", "several_left_out")
"""The lines around all sections, as the table calls them; the last one without its number."""


def _table(encoding: str) -> list[tuple[str, Cost]]:
    at = 2 + ENCODINGS.index(encoding)
    rows = data_rows(__file__, "headings.tsv")
    return [(row[0], (int(row[at]), int(row[1]))) for row in rows]
