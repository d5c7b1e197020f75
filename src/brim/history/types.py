"""What every pruner takes, promises and returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from brim.history.decisions import Decisions
    from brim.tokens.count import Count
    from brim.tokens.counters import TokenCounter

    Pin = Callable[[Any], bool] | Collection[int | str]
    """Messages that stay: a predicate, or their places in the list, their ids, or ids of calls in them."""

Provider = Literal["openai", "responses", "anthropic", "gemini"]
"""Whose rules a history keeps: OpenAI's chat and Responses APIs, Anthropic's Messages, Gemini's contents."""

PROVIDERS: tuple[Provider, ...] = ("openai", "responses", "anthropic", "gemini")


@dataclass(frozen=True, slots=True)
class Dropped:
    """Messages that left together, and why."""

    indices: tuple[int, ...]
    """Where they stood in the list that was given."""
    kind: str
    """What they were: ``user``, ``assistant``, ``step`` (calls with their results) or ``broken``."""
    tokens: int
    """What they took."""
    reason: str
    """Why they left."""


@dataclass(frozen=True, slots=True)
class CacheEffect:
    """What a prune does to the provider's prompt cache, in tokens, and in micro-dollars where prices are known."""

    prefix_tokens: int
    """What stands unchanged at the beginning, and is still read from the cache."""
    rewritten_tokens: int
    """What stays but moves up: it is written to the cache once more."""
    saved_tokens: int
    """What every later request no longer reads."""
    rewrite_cost: int | None
    """What writing costs more than reading it would have."""
    saving_per_turn: int | None
    """What not reading the dropped tokens saves in each later request."""

    @property
    def pays_after(self) -> int | None:
        """After how many requests the cut has paid for itself; None if prices are unknown or it never does."""
        if not self.saving_per_turn or self.rewrite_cost is None:
            return None
        return -(-self.rewrite_cost // self.saving_per_turn)


@dataclass(frozen=True, slots=True)
class Receipt:
    """What a prune did, and why."""

    pruner: str
    """The strategy: ``fifo``, ``sliding``, ``summarize``, ``watermark`` or ``cap``."""
    provider: Provider
    """Whose rules were kept."""
    model: str | None
    """The model whose tokens were counted; None for the default encoding."""
    target: int
    """What was asked for, in tokens."""
    before: Count
    """What the given messages take; after an earlier cut of ``WatermarkPruner``, what that left of them."""
    after: Count
    """What is left takes."""
    dropped: tuple[Dropped, ...]
    """What left, oldest first."""
    fits: bool
    """Whether what is left is at most the target."""
    reason: str
    """Why it does not fit; empty if it does."""
    cache: CacheEffect | None
    """What it means for the prompt cache; None if nothing changed."""
    notes: tuple[str, ...] = ()
    """What else the reader should know."""

    @property
    def over_by(self) -> int:
        """How many tokens are too much; 0 if it fits."""
        return max(0, int(self.after) - self.target)

    def __str__(self) -> str:
        gone = sum(len(unit.indices) for unit in self.dropped)
        what = f"{gone:,} message{'' if gone == 1 else 's'} dropped" if gone else "nothing dropped"
        text = f"{self.pruner}: {what}, {self.before:,} -> {self.after:,} of {self.target:,} tokens"
        return text if self.fits else f"{text}; does not fit: {self.reason}"


@dataclass(frozen=True, slots=True)
class Pruned:
    """A history that its provider accepts, and the receipt of how it came to be."""

    messages: list[Any]
    """The caller's own objects, in order."""
    tokens: Count
    """What they take, by the counter that decided."""
    fits: bool
    """Whether that is at most the target."""
    receipt: Receipt
    """What was dropped, and why."""
    decisions: Decisions | None = None
    """What a later turn needs to render the same prefix; only ``WatermarkPruner`` has them."""


@runtime_checkable
class Pruner(Protocol):
    """Makes a history fit into a target.

    The rules that every pruner keeps:

    - The result is valid for the provider: ``validate`` finds nothing. What is broken in the history that was given is
      dropped, with the reason, even if everything fits.
    - It is at most the target, counted by the same counter; or ``fits`` is False and the receipt says why. Then only
      what is never dropped is left: system messages, pins and the last user message.
    - It returns a new list and changes neither the given one nor a message. Kept messages are the same objects, in
      order. Only ``SummarizePruner`` and ``ToolResultCap`` make new ones, and only in place of what does not fit.
    - A unit stands or falls whole: a call, its parallel calls, all their results, and the reasoning before them.
    - System and developer messages stay, and so does what the caller pins.
    - The last user message and the last complete step stay whenever they fit at all.
    - Each message is counted once. The counter must give messages costs that add up, as all of brim's do.
    - The same input gives the same result, and pruning the result again changes nothing.
    """

    def prune(
        self,
        messages: Sequence[Any],
        target: int,
        *,
        model: str | None = None,
        tools: Sequence[Any] | None = None,
        provider: Provider | Literal["auto"] = "auto",
        counter: TokenCounter | None = None,
        fill: bool = False,
        pin: Pin | None = None,
    ) -> Pruned:
        """Return *messages* pruned to *target* tokens, *tools* included, as *model* counts them.

        *provider* is found from the shape of the messages unless it is named. *counter* outranks *model*. *fill*
        adds older whole units, newest first, where the longest run of new ones leaves room. *pin* names messages that
        stay.
        """
        ...


@dataclass(frozen=True, slots=True)
class Violation:
    """One place where a history breaks a rule of its provider."""

    index: int
    """The message, as its place in the list."""
    rule: str
    """The name of the rule, as docs/history.md lists it."""
    text: str
    """What is wrong, in words."""


@dataclass(frozen=True, slots=True)
class Change:
    """One thing that ``repair`` did."""

    index: int
    """The message of the given list that it was done to, or before which something was added."""
    rule: str
    """The rule that was broken."""
    action: str
    """What was done: ``removed``, ``added``, ``moved``, ``merged`` or ``changed``."""
    text: str
    """What it was, in words; for what was removed its whole text."""


@dataclass(frozen=True, slots=True)
class Repaired:
    """A history made valid again, and every change that it took."""

    messages: list[Any]
    """The caller's own objects where nothing had to change."""
    changes: tuple[Change, ...]
    """What was changed, in the order of the messages."""
