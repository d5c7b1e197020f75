"""What pruning, checking and repairing return: receipts, decisions, violations, changes."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from brim.errors import InputError
from brim.figures import counted
from brim.messages.entries import Provider
from brim.record import PlainData
from brim.tokens.count import Count
from brim.usd import Money


@dataclass(frozen=True, slots=True)
class Dropped(PlainData):
    """Messages that left together, and why."""

    indices: tuple[int, ...]
    """Their places in the given list."""
    kind: str
    """What they were: ``user``, ``assistant``, ``step`` (calls with their results), ``broken``, or
    ``compacted``."""
    tokens: int
    """Their size."""
    reason: str
    """Why they left."""


@dataclass(frozen=True, slots=True)
class CacheEffect(PlainData):
    """What a prune does to the provider's prompt cache."""

    prefix_tokens: int
    """The unchanged beginning, which is still read from the cache."""
    rewritten_tokens: int
    """What stays but moves up, so it is written to the cache again."""
    saved_tokens: int
    """What later requests no longer read."""
    rewrite_cost: Money | None
    """The extra cost of writing instead of reading."""
    saving_per_turn: Money | None
    """What each later request saves."""

    @property
    def pays_after(self) -> int | None:
        """Number of requests after which the cut has paid for itself.

        None if unknown or never.
        """
        if not self.saving_per_turn or self.rewrite_cost is None:
            return None

        return -(-self.rewrite_cost // self.saving_per_turn)


@dataclass(frozen=True, slots=True)
class Step(PlainData):
    """One thing that was done to make a history fit."""

    action: str
    """``cleared``, ``folded``, ``shortened``, ``dropped``, ``summarized`` or ``without
    thinking``."""
    indices: tuple[int, ...]
    """The places of the messages, in the given list."""
    tokens: int
    """How many tokens that saves."""
    saving: Money | None
    """What each later request saves by it; None if the price is unknown."""


@dataclass(frozen=True, slots=True)
class Receipt(PlainData):
    """What a prune did, and why."""

    pruner: str
    """The strategy: ``fifo``, ``sliding``, ``summarize``, ``watermark``, ``cap``, ``shorten`` or
    ``tiered``."""
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

    def with_note(self, note: str) -> Receipt:
        """Return a copy that says something more."""
        return replace(self, notes=(*self.notes, note))

    def __str__(self) -> str:
        parts = []
        for step in self.steps:
            if step.action != "dropped":
                parts.append(f"{len(step.indices):,} {step.action}")

        gone = sum(len(unit.indices) for unit in self.dropped)
        if gone:
            parts.append(f"{counted(gone, 'message')} dropped")

        size = f"{self.after:,} of {self.target:,} tokens"
        if int(self.before) != int(self.after):
            size = f"{self.before:,} -> {size}"
        elif parts:
            parts[-1] += " by earlier calls"

        if not gone:
            parts.append("nothing dropped")

        text = f"{self.pruner}: {', '.join(parts)}, {size}"
        if self.fits:
            return text

        return f"{text}; does not fit: {self.reason}"


@dataclass(frozen=True, slots=True)
class Pruned(PlainData):
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
class Violation(PlainData):
    """One place where a history breaks a rule of its provider."""

    index: int
    """The message, as its place in the list."""
    rule: str
    """The name of the rule, as docs/messages.md lists it."""
    text: str
    """What is wrong, in words."""


@dataclass(frozen=True, slots=True)
class Change(PlainData):
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
class Repaired(PlainData):
    """A history made valid again, and every change made to it."""

    messages: list[Any]
    """The caller's own objects where nothing had to change."""
    changes: tuple[Change, ...]
    """The changes, in the order of the messages."""


# Decisions

VERSION = 1
"""The version of the JSON of ``Decisions``."""


@dataclass(frozen=True, slots=True)
class Decisions(PlainData):
    """What has been cut so far.

    Transcript and decisions give the same view in any process.
    """

    cut: int = 0
    """The first message of the run that stays; all after it stay too."""
    kept: tuple[int, ...] = ()
    """Messages before the cut that stay."""
    digest: str = ""
    """Identifies the messages before the cut; empty if they can't be written down, and then it
    matches nothing."""
    cuts: int = 0
    """How often it was cut."""

    def __post_init__(self) -> None:
        numbers = (self.cut, self.cuts, *self.kept)
        for number in numbers:
            if not isinstance(number, int) or isinstance(number, bool) or number < 0:
                raise InputError(
                    f"decisions: places must be whole numbers from 0 on, not {numbers!r}"
                )

        is_ordered = list(self.kept) == sorted(set(self.kept))
        if not is_ordered or any(place >= self.cut for place in self.kept):
            raise InputError(
                f"decisions: kept must be in order and before the cut at {self.cut}, "
                f"not {self.kept!r}"
            )

        if not isinstance(self.digest, str):
            raise InputError(f"decisions: digest must be a text, not {self.digest!r}")

    def view(self, messages: Sequence[Any]) -> list[int] | None:
        """Return the places in *messages* that stay.

        None if these decisions were made on another transcript.
        """
        if not self.cut:
            return list(range(len(messages)))

        if not self.digest or self.cut > len(messages):
            return None

        if digest_of(messages[: self.cut]) != self.digest:
            return None

        return [*self.kept, *range(self.cut, len(messages))]

    def cut_again(
        self, messages: Sequence[Any], indices: Sequence[int], broken: Collection[int]
    ) -> Decisions:
        """Return the decisions to keep the messages at the places *indices*.

        All that follow the last of them stay too.

        The cut lies before the run of kept messages that reaches to the end; kept messages before
        it are listed. *broken* messages don't end the run: a call that waits for its result now
        will have it in the next turn.
        """
        stays = {*indices, *broken}
        cut = len(messages)
        while cut and cut - 1 in stays:
            cut -= 1

        before_cut = tuple(place for place in indices if place < cut)
        return Decisions(
            cut,
            before_cut,
            digest_of(messages[:cut]),
            self.cuts + 1,
        )

    def to_json(self) -> str:
        """Return the decisions as one line of JSON."""
        return json.dumps({"version": VERSION, **asdict(self)}, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> Decisions:
        """Return the decisions that ``to_json`` wrote; ``InputError`` for anything else."""
        try:
            fields = json.loads(text)
            version = fields.pop("version")
            fields["kept"] = tuple(fields["kept"])
            decisions = cls(**fields)
        except InputError:
            raise
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            raise InputError(
                "decisions: this is not what WatermarkPruner wrote; start over without them"
            ) from None

        if version != VERSION:
            raise InputError(
                f"decisions: version {version!r} is not {VERSION}; start over without them"
            )

        return decisions


def digest_of(messages: Sequence[Any]) -> str:
    """Return what identifies *messages*; empty if one of them can't be written down."""
    # Only a history that is cut is remembered by its digest.
    from brim.tokens.anchor import digests

    message_digests = list(digests(messages, None, ""))
    if not message_digests or len(message_digests) < len(messages):
        return ""

    return message_digests[-1]
