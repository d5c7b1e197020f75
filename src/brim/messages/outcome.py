"""Turns a draft, and the units that stay of it, into a pruned history with its receipt."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from brim.messages.caching import CachePrices, cache_effect
from brim.messages.draft import Draft
from brim.messages.receipt import Decisions, Dropped, Pruned, Receipt
from brim.models.light import lookup
from brim.tokens.count import Count

NO_PLACE = "no message of the user's can stand before it, and the first must be the user's"
NO_ROOM = "it does not fit with what is newer"
THINKING_STAYS = (
    "thinking blocks stay after a change before them: models that bind thinking to its "
    'conversation want prefix_mismatch_behavior "drop_block"'
)


@dataclass(frozen=True, slots=True)
class HistorySummary:
    """A message in place of the first units that left."""

    message: Any
    tokens: Count


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a pruner decided about a draft."""

    pruner: str
    """Its name."""
    draft: Draft
    units: frozenset[int]
    """The units that stay."""
    reason: str = NO_ROOM
    """Why the others left,"""
    reasons: Mapping[int, str] = field(default_factory=dict)
    """unless one has a reason of its own."""
    notes: Sequence[str] = ()
    decisions: Decisions | None = None
    prices: CachePrices | None = None
    limit: int | None = None
    """What the units had to fit into, if not the target."""
    summary: HistorySummary | None = None

    def pruned(self) -> Pruned:
        """Return the history that stays, and the receipt."""
        draft = self.draft
        after = draft.costs.count(draft.positions(self.units))
        if self.summary is not None:
            after += self.summary.tokens

        fits = int(after) <= draft.target
        receipt = Receipt(
            pruner=self.pruner,
            provider=draft.provider,
            model=draft.model,
            target=draft.target,
            before=draft.before,
            after=after,
            dropped=self._dropped(),
            fits=fits,
            reason="" if fits else self._why_not(int(after)),
            cache=cache_effect(
                draft,
                self.units,
                int(after),
                self.prices,
            ),
            notes=(*draft.notes, *self.notes, *self._thinking_notes()),
            steps=draft.steps,
        )
        return Pruned(
            self._messages(),
            after,
            fits,
            receipt,
            self.decisions,
        )

    def _messages(self) -> list[Any]:
        messages = [self.draft.messages[at] for at in self.draft.indices(self.units)]
        if self.summary is not None:
            first_gone = 0
            while first_gone in self.units:
                first_gone += 1

            place = len(self.draft.indices(range(first_gone)))
            messages.insert(place, self.summary.message)

        return messages

    def _dropped(self) -> tuple[Dropped, ...]:
        """Return everything that left, oldest first."""
        reasons = dict.fromkeys(self._without_a_place(), NO_PLACE)
        reasons.update(self.reasons)
        for at in self.draft.pins:
            reasons[at] = f"it is pinned, but {NO_PLACE}"

        dropped = list(self.draft.broken)
        for at, unit in enumerate(self.draft.units):
            if at not in self.units:
                reason = reasons.get(at, self.reason)
                dropped.append(
                    Dropped(
                        unit.indices,
                        unit.kind,
                        self.draft.sizes[at],
                        reason,
                    )
                )

        dropped.sort(key=lambda unit: unit.indices)
        return tuple(dropped)

    def _without_a_place(self) -> Iterator[int]:
        """Yield the units right before the newest run that would have fit, had they been allowed to
        begin it."""
        limit = self.draft.target if self.limit is None else self.limit
        run = len(self.draft.units)
        while run - 1 in self.units:
            run -= 1

        tokens = self.draft.price(self.units)
        for at in range(run - 1, -1, -1):
            tokens += self.draft.sizes[at]
            if at in self.units or tokens > limit:
                return

            yield at

    def _why_not(self, after: int) -> str:
        """Return why what stays is more than the target though nothing else can leave."""
        draft = self.draft
        last_prompt = set(draft.prompts[-1:]) & self.units
        system = {at for at in self.units if draft.units[at].kind == "system"}
        pinned = (draft.pins & self.units) - system
        parts = {
            "tools and framing": draft.costs.fixed,
            "system messages": self._tokens(system),
            "pinned messages": self._tokens(pinned),
            "the last user message": self._tokens(last_prompt - draft.pins),
        }
        parts["the user messages they need"] = after - sum(parts.values())
        largest = ", ".join(f"{name} {tokens:,}" for name, tokens in parts.items() if tokens)
        over = after - draft.target
        return f"what is never dropped takes {after:,} tokens, {over:,} too many ({largest})"

    def _tokens(self, units: Collection[int]) -> int:
        return sum(self.draft.sizes[at] for at in units)

    def _thinking_notes(self) -> tuple[str, ...]:
        """Return a note if thinking stays after a change before it, and the model may refuse
        that."""
        draft = self.draft
        if draft.provider != "anthropic":
            return ()

        if draft.model is not None and not lookup(draft.model).binds_thinking:
            return ()

        is_changed = False
        for at, unit in enumerate(draft.units):
            if at not in self.units:
                is_changed = True
                continue

            for entry in unit.entries:
                if is_changed and entry.reasons:
                    return (THINKING_STAYS,)

                is_changed = is_changed or entry.index in draft.changed

        return ()
