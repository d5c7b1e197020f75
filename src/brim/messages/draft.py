"""A history while it is pruned.

It is read and divided into units, each with its price. Every pruner starts and ends here.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, Decimal
from functools import cached_property
from itertools import accumulate, pairwise, takewhile
from typing import TYPE_CHECKING, Any, Literal

from brim.errors import InputError
from brim.messages.anthropic import is_directive
from brim.messages.cuts import Unit, may_follow, units_of
from brim.messages.entries import Entry, Provider
from brim.messages.formats import Layout, as_list, find_broken, layout_of, read, refuse_unreadable
from brim.messages.receipt import CacheEffect, Dropped, Pruned, Receipt, Step
from brim.models.catalog import Price
from brim.models.catalog import model as model_of
from brim.models.light import lookup
from brim.tokens.costs import MessageCosts, message_costs
from brim.tokens.count import Count
from brim.tokens.counters import counter_for
from brim.tokens.messages.fields import get, string
from brim.tokens.messages.request import compacted
from brim.tokens.protocol import TokenCounter, require_counter

if TYPE_CHECKING:
    from brim.messages.receipt import Decisions

Pin = Callable[[Any], bool] | Collection[int | str]
"""Messages that stay: a predicate, or their places in the list, their ids, or ids of calls in
them."""
NO_PLACE = "no message of the user's can stand before it, and the first must be the user's"
NO_ROOM = "it does not fit with what is newer"
COMPACTED = "the provider's own summary stands in its place"
THINKING_STAYS = (
    "thinking blocks stay after a change before them: models that bind thinking to its conversation want "
    'prefix_mismatch_behavior "drop_block"'
)
HOUR = 3_600


def whole_number(name: str, value: object, least: int = 0, what: str = "a whole number") -> int:
    """Return *value* if it is a whole number of at least *least*.

    Otherwise ``InputError`` names *name*.
    """
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise InputError(f"{name} must be {what}, {least} or more, not {value!r}")
    return value


@dataclass(frozen=True, slots=True)
class CachePrices:
    """What a token costs at the provider's prompt cache, in micro-dollars."""

    write: Decimal
    """Written to the cache, or sent to a provider that caches on its own."""
    read: Decimal
    """Read from the cache."""

    @classmethod
    def of(cls, price: Price | None, tokens: int, ttl: int = 300) -> CachePrices | None:
        """Return what *price* says for a prompt of *tokens*.

        None if a price is unknown.

        *ttl* is how long the cache keeps a prompt, in seconds: an hour has another price than five
        minutes. A provider without a price for writing charges new tokens as input.
        """
        rates = price.at(tokens) if price is not None else None
        if rates is None or rates.cache_read is None or rates.input is None:
            return None
        write = rates.cache_write_1h if ttl >= HOUR else rates.cache_write_5m
        return cls(write if write is not None else rates.input, rates.cache_read)


@dataclass(frozen=True)
class Draft:
    """A history that is being pruned.

    Units are named by their places in ``units``, oldest first.
    """

    messages: list[Any]
    """The given messages."""
    target: int
    """How many tokens it may take."""
    layout: Layout
    """Whose messages they are, and whose rules they keep."""
    counter: TokenCounter
    model: str | None
    units: list[Unit]
    """What stands or falls together; broken messages are in none."""
    costs: MessageCosts
    """The tokens of each message that isn't broken, in order."""
    pins: frozenset[int]
    """The units that stay: system messages, and what the caller pinned."""
    broken: tuple[Dropped, ...]
    """What can never be sent."""
    before: Count
    """The size of the messages that are looked at."""
    only: Sequence[int] | None = None
    """The places of the messages that are looked at; None for all."""
    notes: tuple[str, ...] = ()
    """Notes for the receipt."""
    changed: frozenset[int] = frozenset()
    """The places, in the given list, of messages that were replaced."""
    steps: tuple[Step, ...] = ()
    """Steps for the receipt."""

    @property
    def provider(self) -> Provider:
        """Whose API gets the history."""
        return self.layout.provider

    @cached_property
    def starts(self) -> list[int]:
        """Where each unit begins in the list of messages that aren't broken, and where the last one
        ends."""
        return list(accumulate((len(unit.entries) for unit in self.units), initial=0))

    @cached_property
    def sizes(self) -> list[int]:
        """The tokens of each unit."""
        return [sum(self.costs.each[start:stop]) for start, stop in pairwise(self.starts)]

    @cached_property
    def total(self) -> int:
        """The tokens of everything that isn't broken."""
        return self.price(range(len(self.units)))

    @cached_property
    def prompts(self) -> list[int]:
        """The units in which a person speaks: a turn begins with each."""
        return [at for at, unit in enumerate(self.units) if unit.has_prompt]

    def price(self, kept: Iterable[int]) -> int:
        """Return the tokens of the units *kept*, with what belongs to none."""
        return self.costs.fixed + sum(self.sizes[at] for at in kept)

    def cache_prices(self, given: Price | None = None, ttl: int = 300) -> CachePrices | None:
        """Return the prices of the cache for everything, by the *given* price or the model's."""
        price = model_of(self.model).price() if given is None and self.model else given
        return CachePrices.of(price, self.total, ttl)

    def positions(self, kept: Collection[int]) -> list[int]:
        """Return the places, among the messages that aren't broken, of those in the units
        *kept*."""
        return [
            at for unit in sorted(kept) for at in range(self.starts[unit], self.starts[unit + 1])
        ]

    def entry_at(self, position: int) -> Entry:
        """Return the message at a place among those that aren't broken."""
        unit = bisect_right(self.starts, position) - 1
        return self.units[unit].entries[position - self.starts[unit]]

    def noted(self, note: str) -> Draft:
        """Return this draft with one more note for the receipt."""
        return replace(self, notes=(*self.notes, note))

    def stepped(self, action: str, indices: Iterable[int], tokens: int) -> Draft:
        """Return this draft with one more step for the receipt; it saves *tokens*."""
        prices = self.cache_prices()
        saving = None if prices is None else int(prices.read * tokens)
        return replace(
            self, steps=(*self.steps, Step(action, tuple(sorted(indices)), tokens, saving))
        )

    def indices(self, kept: Collection[int]) -> list[int]:
        """Return the places, in the given list, of the messages in the units *kept*."""
        return [index for unit in sorted(kept) for index in self.units[unit].indices]

    # Which units stay?

    def select(
        self, limit: int, *, oldest: int = 0, turns: int = 0, most: int = 0, fill: bool = False
    ) -> set[int]:
        """Return the units to keep, in at most *limit* tokens if possible.

        It is the longest legal run of newest units that fits, together with what is ``required``.
        No unit before *oldest* is taken, unless it must stay. The newest *turns* stay up to *most*
        tokens. With *fill* older units follow, newest first, as far as they fit.
        """
        best = len(self.units)
        for cut, tokens in self._runs():
            if cut < oldest or tokens > limit:
                break
            if self._may_cut(cut):
                best = cut
        cut = min(best, self.cut_for_turns(turns, most))
        kept = sorted({*self.required, *range(cut, len(self.units))})
        if fill:
            self._add_older(kept, cut, limit, oldest)
        return set(kept)

    @cached_property
    def required(self) -> list[int]:
        """The units that stay in any case.

        They are the pins, the last prompt, and the last step if the target allows. A unit that
        can't legally stand where it would then stand brings the prompt of its turn along.
        """
        anyway = {*self.pins, *self.prompts[-1:]}
        both = self.with_prompts({*anyway, self.last_step} - {-1})
        fits = self.last_step in both and self.price(both) <= self.target
        return both if fits else self.with_prompts(anyway)

    @cached_property
    def last_step(self) -> int:
        """The newest unit with calls; -1 if there is none."""
        return max((at for at, unit in enumerate(self.units) if unit.kind == "step"), default=-1)

    def newest(self) -> set[int]:
        """Return the shortest legal run of newest units that reaches the target."""
        enough, best = self.price(self.required), len(self.units)
        for cut, tokens in self._runs():
            if enough - self.costs.fixed >= self.target:
                break
            if self._may_cut(cut):
                enough, best = tokens, cut
        return {*self.required, *range(best, len(self.units))}

    def cut_for_turns(self, turns: int, limit: int) -> int:
        """Return where the run of the newest *turns* that fit into *limit* begins.

        That is the end if not one of them fits. Where a turn begins inside a step (the user spoke
        with the results), the run begins at a legal place before it.
        """
        fitting = takewhile(lambda run: run[1] <= limit, self._runs())
        furthest = min((cut for cut, _ in fitting), default=len(self.units))
        for number in range(min(turns, len(self.prompts)), 0, -1):
            cut = self.prompts[-number]
            while cut > furthest and not self._may_cut(cut):
                cut -= 1
            if cut >= furthest and self._may_cut(cut):
                return cut
        return len(self.units)

    def with_prompts(self, wanted: Iterable[int]) -> list[int]:
        """Return *wanted* in order, with the prompts it needs to be legal, without what can't
        be."""
        kept: list[int] = []
        for unit in sorted(wanted):
            before = kept[-1] if kept else None
            prompt = self._prompt_before(unit)
            if self._follows(before, unit):
                kept.append(unit)
            elif prompt is not None and (before is None or prompt > before):
                kept += [prompt, unit]
        return kept

    def _follows(self, before: int | None, after: int) -> bool:
        """Whether the unit *after* may stand next to *before*, or first if that is None."""
        last = None if before is None else self.units[before].last
        return (before is not None and after == before + 1) or may_follow(
            last, self.units[after].first, self.layout.rules
        )

    def _runs(self) -> Iterator[tuple[int, int]]:
        """Yield each place, newest first, with the price of everything from there on and of what is
        required."""
        tokens, stays = self.price(self.required), set(self.required)
        for cut in range(len(self.units) - 1, -1, -1):
            tokens += 0 if cut in stays else self.sizes[cut]
            yield cut, tokens

    def _may_cut(self, cut: int) -> bool:
        """Whether the run that begins at *cut* may stand after what is required before it."""
        before = bisect_left(self.required, cut)
        return self._follows(self.required[before - 1] if before else None, cut)

    def _add_older(self, kept: list[int], cut: int, limit: int, oldest: int) -> None:
        """Add units older than *cut* to *kept*, which is in order, newest first, each with the
        prompt it needs."""
        room = limit - self.price(kept)
        for unit in range(cut - 1, oldest - 1, -1):
            place = bisect_left(kept, unit)
            before, after = (
                kept[place - 1] if place else None,
                kept[place] if place < len(kept) else None,
            )
            if (
                self.sizes[unit] > room
                or after == unit
                or (after is not None and not self._follows(unit, after))
            ):
                continue
            bundle = [unit]
            if not self._follows(before, unit):
                prompt = self._prompt_before(unit)
                if prompt is None or prompt < oldest or (before is not None and prompt <= before):
                    continue
                bundle.append(prompt)
            tokens = sum(self.sizes[at] for at in bundle)
            if tokens <= room:
                room -= tokens
                for at in bundle:
                    insort(kept, at)

    def _prompt_before(self, unit: int) -> int | None:
        """Return the nearest prompt before *unit* that can stand first and before anything."""
        for at in range(bisect_left(self.prompts, unit) - 1, -1, -1):
            found = self.units[self.prompts[at]]
            if found.first.is_prompt and found.last.role == "user":
                return self.prompts[at]
        return None

    # The result

    def with_messages(self, changed: Mapping[int, Any], costs: MessageCosts) -> Draft:
        """Return this draft with other messages, which take *costs*, at places among those that
        aren't broken."""
        messages, units = list(self.messages), []
        entries = [entry for unit in self.units for entry in unit.entries]
        for at, message in changed.items():
            messages[entries[at].index] = message
            entries[at] = replace(entries[at], message=message)
        for unit, (start, stop) in zip(self.units, pairwise(self.starts), strict=True):
            units.append(replace(unit, entries=tuple(entries[start:stop])))
        places = self.changed | {entries[at].index for at in changed}
        new_costs = self.costs.replaced(list(changed), costs)
        return replace(self, messages=messages, units=units, costs=new_costs, changed=places)

    def finish(
        self,
        pruner: str,
        kept: Collection[int],
        *,
        reason: str = NO_ROOM,
        reasons: Mapping[int, str] | None = None,
        notes: Sequence[str] = (),
        decisions: Decisions | None = None,
        prices: CachePrices | None = None,
        limit: int | None = None,
        added: tuple[Any, Count] | None = None,
    ) -> Pruned:
        """Return the units *kept* as the result of *pruner*.

        *reason*, or one of *reasons*, is why the others left.

        *limit* is what they had to fit into, if not the target. *added* is a message, and its size,
        that stands in the place of the first unit that left.
        """
        chosen = frozenset(kept)
        messages = [self.messages[at] for at in self.indices(chosen)]
        after = self.costs.count(self.positions(chosen))
        if added is not None:
            first_gone = next(at for at in range(len(self.units) + 1) if at not in chosen)
            messages.insert(len(self.indices(range(first_gone))), added[0])
            after += added[1]
        fits = int(after) <= self.target
        no_place = self._without_a_place(chosen, self.target if limit is None else limit)
        why = {**dict.fromkeys(no_place, NO_PLACE), **(reasons or {})}
        why.update(dict.fromkeys(self.pins, f"it is pinned, but {NO_PLACE}"))
        left = [(at, unit) for at, unit in enumerate(self.units) if at not in chosen]
        gone = [
            Dropped(unit.indices, unit.kind, self.sizes[at], why.get(at, reason))
            for at, unit in left
        ]
        dropped = tuple(sorted((*gone, *self.broken), key=lambda unit: unit.indices))
        why_not = "" if fits else self._why_not(chosen, int(after))
        cache = self._cache_effect(chosen, int(after), prices)
        about = pruner, self.provider, self.model, self.target, self.before, after
        told = (*self.notes, *notes, *self._thinking_notes(chosen))
        receipt = Receipt(*about, dropped, fits, why_not, cache, told, self.steps)
        return Pruned(messages, after, fits, receipt, decisions)

    def _without_a_place(self, kept: Collection[int], limit: int) -> list[int]:
        """Return the units right before the newest run that would have fit, had they been allowed
        to begin it."""
        run = len(self.units)
        while run - 1 in kept:
            run -= 1
        tokens, found = self.price(kept), []
        for at in range(run - 1, -1, -1):
            tokens += self.sizes[at]
            if at in kept or tokens > limit:
                break
            found.append(at)
        return found

    def _why_not(self, kept: Collection[int], after: int) -> str:
        """Return why the units *kept* are more than the target though nothing else can leave."""
        last = self.prompts[-1] if self.prompts else -1
        system = {at for at in kept if self.units[at].kind == "system"}
        parts = {
            "tools and framing": self.costs.fixed,
            "system messages": sum(self.sizes[at] for at in system),
            "pinned messages": sum(
                self.sizes[at] for at in kept if at in self.pins and at not in system
            ),
            "the last user message": self.sizes[last]
            if last in kept and last not in self.pins
            else 0,
        }
        parts["the user messages they need"] = after - sum(parts.values())
        largest = ", ".join(f"{name} {tokens:,}" for name, tokens in parts.items() if tokens)
        return f"what is never dropped takes {after:,} tokens, {after - self.target:,} too many ({largest})"

    def _cache_effect(
        self, kept: Collection[int], after: int, prices: CachePrices | None
    ) -> CacheEffect | None:
        """Return what it does to the prompt cache that all but the units *kept* leave; None if
        nothing changes."""
        if len(kept) == len(self.units) and not self.broken and not self.changed:
            return None
        indices, view = (
            self.indices(kept),
            range(len(self.messages)) if self.only is None else self.only,
        )
        moved = (
            at for at, index in enumerate(indices) if index != view[at] or index in self.changed
        )
        same = next(moved, len(indices))
        prefix = self.costs.fixed + sum(self.costs.each[at] for at in self.positions(kept)[:same])
        saved = max(0, int(self.before) - after)
        prices = prices or self.cache_prices()
        if prices is None:
            return CacheEffect(prefix, after - prefix, saved, None, None)
        cost = max(Decimal(0), prices.write - prices.read) * (after - prefix)
        rewrite_cost = int(cost.to_integral_value(ROUND_CEILING))
        return CacheEffect(prefix, after - prefix, saved, rewrite_cost, int(prices.read * saved))

    def _thinking_notes(self, kept: Collection[int]) -> tuple[str, ...]:
        """Return a note if thinking stays after a change before it, and the model may refuse
        that."""
        if self.provider != "anthropic":
            return ()
        if self.model is not None and not lookup(self.model).binds_thinking:
            return ()
        is_changed = False
        for at, unit in enumerate(self.units):
            if at not in kept:
                is_changed = True
                continue
            for entry in unit.entries:
                if is_changed and entry.reasons:
                    return (THINKING_STAYS,)
                is_changed = is_changed or entry.index in self.changed
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
    """Return *messages*, or those at the places *only*, read, divided and priced.

    Each is counted once.
    """
    whole_number("target", target, 0, "a whole number of tokens")
    given = as_list(messages)
    if counter is not None:
        require_counter(counter)
    counter = counter or counter_for(model)
    model = model or counter.model
    layout = layout_of(given, provider, model)
    whose = layout.rules
    entries = read(given, layout, only)
    _refuse_leading_system(entries, whose)
    refuse_unreadable(entries, layout)
    old = compacted([entry.wire for entry in entries])
    newest = [entry for at, entry in enumerate(entries) if at not in old]
    why = find_broken(newest, whose)
    sound = [entry for entry in newest if entry.index not in why]
    costs = message_costs(counter, [entry.message for entry in sound], tools)
    before = costs.count(range(len(sound)))
    broken: tuple[Dropped, ...] = ()
    if why:
        bad = message_costs(counter, [given[at] for at in sorted(why)])
        before += bad.alone(range(len(why)))
        broken = tuple(
            Dropped(
                (at,),
                "broken",
                tokens,
                f"{why[at]}: the provider refuses it, and repair can fix it",
            )
            for at, tokens in zip(sorted(why), bad.each, strict=True)
        )
    replaced = (entries[at].index for at in old)
    broken = (*broken, *(Dropped((index,), "compacted", 0, COMPACTED) for index in replaced))
    units = units_of(sound, whose)
    pins = _pinned(units, pin, whose)
    notes: list[str] = []
    if pin is not None and not callable(pin):
        known = {
            name
            for entry in (entries if only is None else read(given, layout))
            for name in (entry.index, *entry.ids)
        }
        notes += [f"pin {name!r} names no message" for name in pin if name not in known]
    if entries and not sound:
        notes.append(f"not one message can be sent as it is: are they in the format of {whose}?")
    return Draft(
        given,
        target,
        layout,
        counter,
        model,
        units,
        costs,
        pins,
        broken,
        before,
        only,
        tuple(notes),
    )


def _refuse_leading_system(entries: Sequence[Entry], provider: Provider) -> None:
    """Refuse a system prompt that would otherwise be dropped with all else that the provider
    doesn't take."""
    field = {"anthropic": "system", "gemini": "systemInstruction"}.get(provider)
    first = (
        entries[0].message if entries and entries[0].index == 0 and not entries[0].aside else None
    )
    if field and string(get(first, "role")) == "system" and not is_directive(first):
        raise InputError(
            f"messages: message {entries[0].index} is a system message, which this provider takes separately, "
            f"as {field!r}: take it out and prune the rest"
        )


def _pinned(units: Sequence[Unit], pin: Pin | None, provider: Provider) -> frozenset[int]:
    """Return the units that stay: system messages, a provider's summary, and those with a message
    that *pin* names.

    System messages in the middle of a conversation with Claude belong to their turn, and go with
    it.
    """
    names: Collection[int | str] = () if pin is None or callable(pin) else pin
    if isinstance(names, (str, bytes)) or not isinstance(names, Collection):
        raise InputError(
            f"pin must be a predicate or a collection of places and ids, not {type(pin).__name__}"
        )
    for name in names:
        if (
            not isinstance(name, (int, str))
            or isinstance(name, bool)
            or (isinstance(name, int) and name < 0)
        ):
            raise InputError(f"pin must hold places from 0 on, or ids, not {name!r}")
    known = frozenset(names)

    def stays(entry: Entry) -> bool:
        if (
            (entry.role == "system" and provider != "anthropic")
            or entry.aside
            or entry.instructs
            or entry.compacts
        ):
            return True
        return (
            bool(pin(entry.message))
            if callable(pin)
            else not known.isdisjoint((entry.index, *entry.ids))
        )

    return frozenset(
        at for at, unit in enumerate(units) if any(stays(entry) for entry in unit.entries)
    )
