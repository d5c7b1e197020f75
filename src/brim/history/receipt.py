"""What pruning, checking and repairing return: receipts, violations, changes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from brim.history.decisions import Decisions
from brim.history.entries import Provider
from brim.record import Value
from brim.tokens.count import Count


@dataclass(frozen=True, slots=True)
class Dropped(Value):
    """Messages that left together, and why."""

    indices: tuple[int, ...]
    """Their places in the given list."""
    kind: str
    """What they were: ``user``, ``assistant``, ``step`` (calls with their results), ``broken``, or ``compacted``."""
    tokens: int
    """Their size."""
    reason: str
    """Why they left."""


@dataclass(frozen=True, slots=True)
class CacheEffect(Value):
    """What a prune does to the provider's prompt cache."""

    prefix_tokens: int
    """The unchanged beginning, which is still read from the cache."""
    rewritten_tokens: int
    """What stays but moves up, so it is written to the cache again."""
    saved_tokens: int
    """What later requests no longer read."""
    rewrite_cost: int | None
    """The extra cost of writing instead of reading, in micro-dollars."""
    saving_per_turn: int | None
    """What each later request saves, in micro-dollars."""

    @property
    def pays_after(self) -> int | None:
        """Number of requests after which the cut has paid for itself.

        None if unknown or never.
        """
        if not self.saving_per_turn or self.rewrite_cost is None:
            return None
        return -(-self.rewrite_cost // self.saving_per_turn)


@dataclass(frozen=True, slots=True)
class Step(Value):
    """One thing that was done to make a history fit."""

    action: str
    """``cleared``, ``folded``, ``shortened``, ``dropped`` or ``summarized``."""
    indices: tuple[int, ...]
    """The places of the messages, in the given list."""
    tokens: int
    """How many tokens that saves."""
    saving: int | None
    """What each later request saves by it, in micro-dollars; None if the price is unknown."""


@dataclass(frozen=True, slots=True)
class Receipt(Value):
    """What a prune did, and why."""

    pruner: str
    """The strategy: ``fifo``, ``sliding``, ``summarize``, ``watermark``, ``cap``, ``shorten`` or ``tiered``."""
    provider: Provider
    """Whose rules were kept."""
    model: str | None
    """The model whose tokens were counted; None for the default encoding."""
    target: int
    """The requested size in tokens."""
    before: Count
    """Size of the given messages, or of what an earlier cut of ``WatermarkPruner`` left of them."""
    after: Count
    """Size of what is left."""
    dropped: tuple[Dropped, ...]
    """What left, oldest first."""
    fits: bool
    """Whether the result is at most the target."""
    reason: str
    """Why it does not fit; empty if it does."""
    cache: CacheEffect | None
    """The effect on the prompt cache; None if nothing changed."""
    notes: tuple[str, ...] = ()
    """Anything else worth knowing."""
    steps: tuple[Step, ...] = ()
    """What was done, in order, where messages were changed and not only dropped."""

    @property
    def over_by(self) -> int:
        """Tokens over the target; 0 if it fits."""
        return max(0, int(self.after) - self.target)

    def __str__(self) -> str:
        gone = sum(len(unit.indices) for unit in self.dropped)
        what = f"{gone:,} message{'' if gone == 1 else 's'} dropped" if gone else "nothing dropped"
        changed = [f"{len(step.indices):,} {step.action}" for step in self.steps if step.action != "dropped"]
        what = ", ".join((*changed, what))
        text = f"{self.pruner}: {what}, {self.before:,} -> {self.after:,} of {self.target:,} tokens"
        return text if self.fits else f"{text}; does not fit: {self.reason}"


@dataclass(frozen=True, slots=True)
class Pruned(Value):
    """A history that its provider accepts, and the receipt."""

    messages: list[Any]
    """The caller's own objects, in order."""
    tokens: Count
    """Their size, by the counter that decided."""
    fits: bool
    """Whether that is at most the target."""
    receipt: Receipt
    """What was dropped, and why."""
    decisions: Decisions | None = None
    """What a later turn needs to render the same prefix; only from ``WatermarkPruner``."""


@dataclass(frozen=True, slots=True)
class Violation(Value):
    """One place where a history breaks a rule of its provider."""

    index: int
    """The message, as its place in the list."""
    rule: str
    """The name of the rule, as docs/history.md lists it."""
    text: str
    """What is wrong, in words."""


@dataclass(frozen=True, slots=True)
class Change(Value):
    """One thing that ``repair`` did."""

    index: int
    """The message of the given list that changed, or before which something was added."""
    rule: str
    """The rule that was broken."""
    action: str
    """What was done: ``removed``, ``added``, ``moved``, ``merged`` or ``changed``."""
    text: str
    """What it was, in words; for what was removed its whole text."""


@dataclass(frozen=True, slots=True)
class Repaired(Value):
    """A history made valid again, and every change made to it."""

    messages: list[Any]
    """The caller's own objects where nothing had to change."""
    changes: tuple[Change, ...]
    """The changes, in the order of the messages."""
