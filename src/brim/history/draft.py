"""A history on the table: read, divided into units, each with its price. Every pruner starts here and ends here."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

from brim.errors import InputError
from brim.history.arguments import whole_number
from brim.history.cache import cache_effect
from brim.history.pins import pinned, unmatched
from brim.history.reading.anthropic import is_directive
from brim.history.reading.detect import provider_of
from brim.history.reading.history import as_list, read
from brim.history.soundness import find_broken
from brim.history.types import Dropped, Pruned, Receipt
from brim.history.units import Unit, units_of
from brim.tokens.costs import message_costs
from brim.tokens.counters import counter_for
from brim.tokens.messages.fields import get, string

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from brim.history.cache import CachePrices
    from brim.history.decisions import Decisions
    from brim.history.reading.entry import Entry
    from brim.history.types import Pin, Provider
    from brim.tokens.costs import MessageCosts
    from brim.tokens.count import Count
    from brim.tokens.counters import TokenCounter


NO_PLACE = "no message of the user's can stand before it, and the first must be the user's"


@dataclass(frozen=True)
class Draft:
    """A history that is being pruned. Places of units are their numbers in ``units``, oldest first."""

    messages: list[Any]
    """What was given."""
    target: int
    """The tokens that it may take."""
    provider: Provider
    """Whose rules it keeps."""
    counter: TokenCounter
    """Who counts."""
    model: str | None
    """For which model."""
    units: list[Unit]
    """What stands or falls together; what is broken is in none."""
    costs: MessageCosts
    """The tokens of each message that is not broken, in order."""
    pins: frozenset[int]
    """The units that stay: system messages, and what the caller pinned."""
    broken: tuple[Dropped, ...]
    """What can never be sent."""
    before: Count
    """What the messages that are looked at take."""
    view: Sequence[int]
    """The places, in the list that was given, of the messages that are looked at."""
    notes: tuple[str, ...] = ()
    """What was noticed on the way."""
    changed: frozenset[int] = frozenset()
    """The places, in the list that was given, of messages that another one stands for."""

    @property
    def fixed(self) -> int:
        """What belongs to no message: priming and tools."""
        return self.costs.fixed

    @property
    def broken_indices(self) -> frozenset[int]:
        """The places of the broken messages in the list that was given."""
        return frozenset(index for unit in self.broken for index in unit.indices)

    @cached_property
    def starts(self) -> list[int]:
        """Where each unit begins in the list of messages that are not broken, and where the last one ends."""
        starts = [0]
        for unit in self.units:
            starts.append(starts[-1] + len(unit.entries))
        return starts

    @cached_property
    def sizes(self) -> list[int]:
        """The tokens of each unit."""
        each, starts = self.costs.each, self.starts
        return [sum(each[start:stop]) for start, stop in pairwise(starts)]

    @cached_property
    def total(self) -> int:
        """The tokens of everything that is not broken."""
        return self.fixed + sum(self.sizes)

    @cached_property
    def prompts(self) -> list[int]:
        """The units in which a person speaks: a turn begins with each."""
        return [at for at, unit in enumerate(self.units) if unit.has_prompt]

    @cached_property
    def last_step(self) -> int | None:
        """The newest unit with calls; all of them are answered."""
        return next((at for at in range(len(self.units) - 1, -1, -1) if self.units[at].kind == "step"), None)

    def positions(self, kept: Collection[int]) -> list[int]:
        """Return the places, among the messages that are not broken, of those in the units *kept*."""
        return [at for unit in sorted(kept) for at in range(self.starts[unit], self.starts[unit + 1])]

    def indices(self, kept: Collection[int]) -> list[int]:
        """Return the places, in the list that was given, of the messages in the units *kept*."""
        return [index for unit in sorted(kept) for index in self.units[unit].indices]

    def count(self, kept: Collection[int]) -> Count:
        """Return the tokens of the units *kept*, with the interval."""
        return self.costs.count(self.positions(kept))

    def dropped(
        self, kept: Collection[int], reason: str, reasons: Mapping[int, str], limit: int
    ) -> tuple[Dropped, ...]:
        """Return what is not among the units *kept*, oldest first: *reason* is why, unless *reasons* says otherwise.

        *limit* is what more could have stayed up to: what fits into it and left all the same, left for its place.
        """
        why = {**dict.fromkeys(self._without_a_place(kept, limit), NO_PLACE), **reasons}
        why.update(dict.fromkeys(self.pins, f"it is pinned, but {NO_PLACE}"))
        gone = [
            Dropped(unit.indices, unit.kind, self.sizes[at], why.get(at, reason))
            for at, unit in enumerate(self.units)
            if at not in kept
        ]
        return tuple(sorted((*gone, *self.broken), key=lambda unit: unit.indices))

    def _without_a_place(self, kept: Collection[int], limit: int) -> list[int]:
        """Return the units right before the newest run that would have fitted, had they been allowed to begin it."""
        run = len(self.units)
        while run - 1 in kept:
            run -= 1
        tokens = self.fixed + sum(self.sizes[at] for at in kept)
        found = []
        for at in range(run - 1, -1, -1):
            tokens += self.sizes[at]
            if at in kept or tokens > limit:
                break
            found.append(at)
        return found

    def with_messages(self, changed: Mapping[int, Any], costs: MessageCosts) -> Draft:
        """Return this draft with other messages, which take *costs*, at places among those that are not broken."""
        messages, units, places, at = list(self.messages), [], [], 0
        for unit in self.units:
            entries = []
            for entry in unit.entries:
                if at in changed:
                    messages[entry.index] = changed[at]
                    places.append(entry.index)
                entries.append(replace(entry, message=messages[entry.index]))
                at += 1
            units.append(Unit(tuple(entries), unit.kind))
        return replace(
            self,
            messages=messages,
            units=units,
            costs=self.costs.replaced(list(changed), costs),
            changed=frozenset(places),
        )

    def finish(
        self,
        pruner: str,
        kept: Collection[int],
        *,
        reason: str = "",
        reasons: Mapping[int, str] | None = None,
        notes: Sequence[str] = (),
        decisions: Decisions | None = None,
        prices: CachePrices | None = None,
        limit: int | None = None,
        added: tuple[Any, Count] | None = None,
    ) -> Pruned:
        """Return the units *kept* as the result of *pruner*; *reason* is why the others left.

        *limit* is what they had to fit into, if not the target. *added* is a message, and what it takes, that stands in
        the place of the first unit that left.
        """
        chosen = frozenset(kept)
        messages = [self.messages[at] for at in self.indices(chosen)]
        after = self.count(chosen)
        if added is not None:
            first_gone = next(at for at in range(len(self.units) + 1) if at not in chosen)
            messages.insert(len(self.indices(range(first_gone))), added[0])
            after += added[1]
        fits = int(after) <= self.target
        receipt = Receipt(
            pruner=pruner,
            provider=self.provider,
            model=self.model,
            target=self.target,
            before=self.before,
            after=after,
            dropped=self.dropped(chosen, reason, reasons or {}, self.target if limit is None else limit),
            fits=fits,
            reason="" if fits else self.why_not(chosen, after),
            cache=cache_effect(self, chosen, int(after), prices),
            notes=(*self.notes, *notes, *self.thinking_notes(chosen)),
        )
        return Pruned(messages, after, fits, receipt, decisions)

    def why_not(self, kept: Collection[int], after: Count) -> str:
        """Return why the units *kept* are more than the target though nothing else can leave."""
        last = self.prompts[-1] if self.prompts else -1
        parts = {
            "tools and framing": self.fixed,
            "system messages": sum(self.sizes[at] for at in kept if self.units[at].kind == "system"),
            "pinned messages": sum(
                self.sizes[at] for at in kept if at in self.pins and self.units[at].kind != "system"
            ),
            "the last user message": self.sizes[last] if last in kept and last not in self.pins else 0,
        }
        parts["the user messages they need"] = int(after) - sum(parts.values())
        largest = ", ".join(f"{name} {tokens:,}" for name, tokens in parts.items() if tokens)
        return f"what is never dropped takes {int(after):,} tokens, {int(after) - self.target:,} too many ({largest})"

    def thinking_notes(self, kept: Collection[int]) -> tuple[str, ...]:
        """Return what a caller of Claude should know when thinking stays after something before it has left."""
        if self.provider != "anthropic" or len(kept) == len(self.units):
            return ()
        first_gap = next(at for at in range(len(self.units)) if at not in kept)
        if any(entry.reasons for at in kept if at > first_gap for entry in self.units[at].entries):
            return (
                "thinking blocks stay after a change before them: models that bind thinking to its conversation "
                'want prefix_mismatch_behavior "drop_block"',
            )
        return ()


def draft(
    messages: Sequence[Any],
    target: int,
    *,
    model: str | None = None,
    tools: Sequence[Any] | None = None,
    provider: Provider | Literal["auto"] = "auto",
    counter: TokenCounter | None = None,
    pin: Pin | None = None,
    only: Sequence[int] | None = None,
) -> Draft:
    """Return *messages*, or those at the places *only*, read, divided and priced; each is counted once."""
    whole_number("target", target, 0, "a whole number of tokens")
    given = as_list(messages)
    counter = counter or counter_for(model)
    model = model or counter.model
    whose = provider_of(given, provider, model)
    entries = read(given, whose, only)
    _refuse_leading_system(entries, whose)
    why = find_broken(entries, whose)
    sound = [entry for entry in entries if entry.index not in why]
    costs = message_costs(counter, [entry.message for entry in sound], tools)
    broken, before = _broken(given, why, counter, costs.count(range(len(sound))))
    units = units_of(sound, whose)
    view = range(len(given)) if only is None else only
    pins = pinned(units, pin, whose)
    notes = unmatched(entries if only is None else read(given, whose), pin)
    if entries and not sound:
        notes = (*notes, f"not one message can be sent as it is: are they in the format of {whose}?")
    return Draft(given, target, whose, counter, model, units, costs, pins, broken, before, view, notes)


def _refuse_leading_system(entries: Sequence[Entry], provider: Provider) -> None:
    """Refuse what would otherwise be dropped with all else that the provider does not take: the system prompt."""
    field = {"anthropic": "system", "gemini": "systemInstruction"}.get(provider)
    first = entries[0].message if entries and entries[0].index == 0 else None
    if field and string(get(first, "role")) == "system" and not is_directive(first):
        raise InputError(
            f"messages: message {entries[0].index} is a system message, which this provider takes beside the messages, "
            f"as {field!r}: take it out and prune the rest"
        )


def _broken(
    messages: Sequence[Any], why: Mapping[int, str], counter: TokenCounter, sound: Count
) -> tuple[tuple[Dropped, ...], Count]:
    """Return what is broken, and the tokens of everything: of what is *sound*, and of that."""
    if not why:
        return (), sound
    places = sorted(why)
    costs = message_costs(counter, [messages[at] for at in places])
    dropped = tuple(
        Dropped((at,), "broken", tokens, f"{why[at]}: the provider refuses it, and repair can mend it")
        for at, tokens in zip(places, costs.each, strict=True)
    )
    return dropped, sound + costs.alone(range(len(places)))
