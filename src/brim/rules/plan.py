"""``InjectionPlan``: what goes in, in how much detail, and why."""

from __future__ import annotations

from dataclasses import dataclass
from math import fsum

from brim.record import PlainData
from brim.rules.library_rule import Rule
from brim.rules.tiers import FIDELITY, Tier
from brim.tokens.count import Count


@dataclass(frozen=True)
class Item(PlainData):
    """One behavior in a plan."""

    id: str
    tier: Tier
    activation: float
    tokens: Count
    """What its lines cost, headings not included; 0 if it is omitted."""
    mapped: Tier
    """The tier that its activation alone would give it."""
    reason: str
    """Why it stands where it stands."""
    behavior: Rule

    @property
    def value(self) -> float:
        """Activation times fidelity."""
        return self.activation * FIDELITY[self.tier]

    def __repr__(self) -> str:
        size = f"{int(self.tokens)} tokens"
        return f"Item({self.id!r}, {self.tier}, {self.activation:.2f}, {size}: {self.reason})"


@dataclass(frozen=True)
class InjectionPlan(PlainData):
    """A plan for one counter. ``render(plan)`` is its text, which counts as ``total_tokens``.

    Items are ordered by activation, highest first, then id. ``over_budget`` is true only when what
    must not be left out is too much on its own; ``overflow`` says by how many tokens, and
    ``reasons`` because of what.
    """

    items: tuple[Item, ...]
    total_tokens: Count
    token_budget: int | None
    """None means no limit."""
    characters: int
    """The length of the text."""
    max_chars: int | None
    counter: str
    """What counted: a model, an encoding, or a kind of counter."""
    over_budget: bool
    overflow: int
    """Tokens over the budget; 0 if it fits, or if only the characters are too many."""
    reasons: tuple[str, ...]
    """What there is to say about the plan as a whole."""
    left_out: int = 0
    """How many didn't fit, which the last line of the text says; 0 if it has no such line."""

    @property
    def full(self) -> tuple[Item, ...]:
        """What is told whole."""
        return self.at(Tier.FULL)

    @property
    def summarized(self) -> tuple[Item, ...]:
        """What is told in one line."""
        return self.at(Tier.SUMMARY)

    @property
    def name_only(self) -> tuple[Item, ...]:
        """What is only named."""
        return self.at(Tier.NAME_ONLY)

    @property
    def omitted(self) -> tuple[Item, ...]:
        """What is left out."""
        return self.at(Tier.OMITTED)

    @property
    def included(self) -> tuple[Item, ...]:
        """Everything that is in the text."""
        return tuple(item for item in self.items if item.tier is not Tier.OMITTED)

    @property
    def value(self) -> float:
        """The sum of activation times fidelity."""
        return fsum(item.value for item in self.items)

    @property
    def fits(self) -> bool:
        """Whether the text is within its limits."""
        return not self.over_budget

    def at(self, tier: Tier) -> tuple[Item, ...]:
        """Return the items at *tier*."""
        return tuple(item for item in self.items if item.tier is tier)

    def __repr__(self) -> str:
        budget = "no limit" if self.token_budget is None else f"of {self.token_budget}"
        tiers = ", ".join(f"{len(self.at(tier))} {tier}" for tier in sorted(Tier, reverse=True))
        over = f", over by {self.overflow}" if self.over_budget else ""
        return f"InjectionPlan({int(self.total_tokens)} tokens {budget}{over}: {tiers})"
