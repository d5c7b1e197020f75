"""A history while it is pruned: its units, their prices, and which of them can stay."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any

from brim.messages.caching import FIVE_MINUTES, CachePrices, model_price
from brim.messages.cuts import Unit, may_follow
from brim.messages.entries import Entry, Provider
from brim.messages.layouts import Layout
from brim.messages.receipt import Dropped, Step
from brim.tokens.costs import MessageCosts
from brim.tokens.count import Count
from brim.tokens.protocol import TokenCounter
from brim.usd import Money

if TYPE_CHECKING:
    from brim.models.catalog import Price

Pin = Callable[[Any], bool] | Collection[int | str]
"""Messages that stay: a predicate, or their places in the list, their ids, or ids of calls in
them."""


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

    # Places and prices

    @cached_property
    def starts(self) -> list[int]:
        """Where each unit begins in the list of messages that aren't broken, and where the last one
        ends."""
        lengths = (len(unit.entries) for unit in self.units)
        return list(accumulate(lengths, initial=0))

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

    @cached_property
    def last_step(self) -> int:
        """The newest unit with calls; -1 if there is none."""
        for at in range(len(self.units) - 1, -1, -1):
            if self.units[at].kind == "step":
                return at

        return -1

    @property
    def loses_last_step(self) -> bool:
        """Whether the newest step has to leave because its results are too large."""
        if self.last_step < 0 or self.last_step in self.pins:
            return False

        return self.last_step not in self.required

    def price(self, units: Iterable[int]) -> int:
        """Return the tokens of *units*, with what belongs to none."""
        return self.costs.fixed + sum(self.sizes[at] for at in units)

    def cache_prices(
        self, price: Price | None = None, ttl: int = FIVE_MINUTES
    ) -> CachePrices | None:
        """Return the prices of the cache for everything, by *price* or the model's."""
        if price is None:
            price = model_price(self.model)

        return CachePrices.of(price, self.total, ttl)

    def positions(self, units: Collection[int]) -> list[int]:
        """Return the places, among the messages that aren't broken, of those in *units*."""
        positions: list[int] = []
        for unit in sorted(units):
            positions += range(self.starts[unit], self.starts[unit + 1])

        return positions

    def indices(self, units: Collection[int]) -> list[int]:
        """Return the places, in the given list, of the messages in *units*."""
        indices: list[int] = []
        for unit in sorted(units):
            indices += self.units[unit].indices

        return indices

    @cached_property
    def entries(self) -> list[Entry]:
        """The messages that aren't broken."""
        return [entry for unit in self.units for entry in unit.entries]

    def entry_at(self, position: int) -> Entry:
        """Return the message at a place among those that aren't broken."""
        unit = bisect_right(self.starts, position) - 1
        return self.units[unit].entries[position - self.starts[unit]]

    # Changed copies

    def noted(self, note: str) -> Draft:
        """Return this draft with one more note for the receipt."""
        return replace(self, notes=(*self.notes, note))

    def stepped(
        self,
        action: str,
        indices: Iterable[int],
        tokens: int,
    ) -> Draft:
        """Return this draft with one more step for the receipt; it saves *tokens*."""
        prices = self.cache_prices()
        saving = None
        if prices is not None:
            saving = Money(int(prices.read * tokens))

        step = Step(action, tuple(sorted(indices)), tokens, saving)
        return replace(self, steps=(*self.steps, step))

    def with_messages(self, changed: Mapping[int, Any], costs: MessageCosts) -> Draft:
        """Return this draft with other messages, which take *costs*, at places among those that
        aren't broken."""
        messages = list(self.messages)
        entries = list(self.entries)
        for at, message in changed.items():
            messages[entries[at].index] = message
            entries[at] = replace(entries[at], message=message)

        units = []
        for unit, (start, stop) in zip(self.units, pairwise(self.starts), strict=True):
            units.append(replace(unit, entries=tuple(entries[start:stop])))

        return replace(
            self,
            messages=messages,
            units=units,
            costs=self.costs.replaced(list(changed), costs),
            changed=self.changed.union(entries[at].index for at in changed),
        )

    # Which units stay?

    def select(
        self,
        limit: int,
        *,
        oldest: int = 0,
        turns: int = 0,
        turn_limit: int = 0,
        fill: bool = False,
    ) -> set[int]:
        """Return the units to keep, in at most *limit* tokens if possible.

        It is the longest legal run of newest units that fits, together with what is ``required``.
        No unit before *oldest* is taken, unless it must stay. The newest *turns* stay up to
        *turn_limit* tokens. With *fill* older units follow, newest first, as far as they fit.
        """
        longest_run = len(self.units)
        for cut, tokens in self._runs():
            if cut < oldest or tokens > limit:
                break

            if self._may_cut(cut):
                longest_run = cut

        cut = min(longest_run, self.cut_for_turns(turns, turn_limit))
        units = sorted({*self.required, *range(cut, len(self.units))})
        if fill:
            self._add_older(
                units,
                cut,
                limit,
                oldest,
            )

        return set(units)

    @cached_property
    def required(self) -> list[int]:
        """The units that stay in any case.

        They are the pins, the last prompt, and the last step if the target allows. A unit that
        can't legally stand where it would then stand brings the prompt of its turn along.
        """
        anyway = {*self.pins, *self.prompts[-1:]}
        if self.last_step < 0:
            return self.with_prompts(anyway)

        with_step = self.with_prompts({*anyway, self.last_step})
        if self.last_step in with_step and self.price(with_step) <= self.target:
            return with_step

        return self.with_prompts(anyway)

    def newest(self) -> set[int]:
        """Return the shortest legal run of newest units that reaches the target."""
        enough = self.price(self.required)
        start = len(self.units)
        for cut, tokens in self._runs():
            if enough - self.costs.fixed >= self.target:
                break

            if self._may_cut(cut):
                enough = tokens
                start = cut

        return {*self.required, *range(start, len(self.units))}

    def cut_for_turns(self, turns: int, limit: int) -> int:
        """Return where the run of the newest *turns* that fit into *limit* begins.

        That is the end if not one of them fits. Where a turn begins inside a step (the user spoke
        with the results), the run begins at a legal place before it.
        """
        furthest = len(self.units)
        for cut, tokens in self._runs():
            if tokens > limit:
                break

            furthest = cut

        for number in range(min(turns, len(self.prompts)), 0, -1):
            cut = self.prompts[-number]
            while cut > furthest and not self._may_cut(cut):
                cut -= 1

            if cut >= furthest and self._may_cut(cut):
                return cut

        return len(self.units)

    def with_prompts(self, wanted: Iterable[int]) -> list[int]:
        """Return the units *wanted* in order, with the prompts they need to be legal, without what
        can't be."""
        units: list[int] = []
        for unit in sorted(wanted):
            before = units[-1] if units else None
            prompt = self._prompt_before(unit)
            if self._follows(before, unit):
                units.append(unit)
            elif prompt is not None and (before is None or prompt > before):
                units += [prompt, unit]

        return units

    def _follows(self, before: int | None, after: int) -> bool:
        """Whether the unit *after* may stand next to *before*, or first if that is None."""
        first = self.units[after].first
        if before is None:
            return may_follow(None, first, self.layout.rules)

        if after == before + 1:
            return True

        return may_follow(self.units[before].last, first, self.layout.rules)

    def _runs(self) -> Iterator[tuple[int, int]]:
        """Yield each place, newest first, with the price of everything from there on and of what is
        required."""
        tokens = self.price(self.required)
        required = set(self.required)
        for cut in range(len(self.units) - 1, -1, -1):
            if cut not in required:
                tokens += self.sizes[cut]

            yield cut, tokens

    def _may_cut(self, cut: int) -> bool:
        """Whether the run that begins at *cut* may stand after what is required before it."""
        place = bisect_left(self.required, cut)
        before = self.required[place - 1] if place else None
        return self._follows(before, cut)

    def _add_older(
        self,
        units: list[int],
        cut: int,
        limit: int,
        oldest: int,
    ) -> None:
        """Add units older than *cut* to *units*, which are in order, newest first, each with the
        prompt it needs."""
        room = limit - self.price(units)
        for unit in range(cut - 1, oldest - 1, -1):
            if self.sizes[unit] > room:
                continue

            bundle = self._bundle(units, unit, oldest)
            tokens = sum(self.sizes[at] for at in bundle)
            if tokens <= room:
                room -= tokens
                for at in bundle:
                    insort(units, at)

    def _bundle(
        self,
        units: list[int],
        unit: int,
        oldest: int,
    ) -> list[int]:
        """Return *unit* and the prompt it needs among *units*; nothing if it can't stand there."""
        place = bisect_left(units, unit)
        before = units[place - 1] if place else None
        after = units[place] if place < len(units) else None
        if after is not None and (after == unit or not self._follows(unit, after)):
            return []

        if self._follows(before, unit):
            return [unit]

        prompt = self._prompt_before(unit)
        if prompt is None or prompt < oldest:
            return []

        if before is not None and prompt <= before:
            return []

        return [unit, prompt]

    def _prompt_before(self, unit: int) -> int | None:
        """Return the nearest prompt before *unit* that can stand first and before anything."""
        for at in range(bisect_left(self.prompts, unit) - 1, -1, -1):
            prompt = self.units[self.prompts[at]]
            if prompt.first.is_prompt and prompt.last.role == "user":
                return self.prompts[at]

        return None
