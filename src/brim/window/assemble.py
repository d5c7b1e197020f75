"""Puts a working memory together: everything that must be in it, and as much history as fits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from brim.history.reading.history import read
from brim.history.select import newest
from brim.tokens.costs import message_costs
from brim.window.account import account
from brim.window.parts import SYSTEM_IN_MESSAGES

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from brim.history.types import Pruned, Pruner
    from brim.tokens.count import Count
    from brim.tokens.counters import TokenCounter
    from brim.window.assembly import Assembly
    from brim.window.limits import Limits
    from brim.window.parts import Parts
    from brim.window.tail import Tail

ROUNDS = 8
"""So often is a history pruned again because the whole is still too large; the last time nothing of it is spared."""

NO_ROOM = "no room for it beside what must stay"


@dataclass(frozen=True, slots=True)
class Filled:
    """A request whose history was pruned."""

    kept: list[Any]
    """History and current message, as far as they stay."""
    tokens: Count
    """What the whole request takes."""
    pruned: Pruned
    """What the pruner returned."""
    below_minimum: bool
    """Whether something of the minimum history had to leave."""


@dataclass(frozen=True, slots=True)
class Assembler:
    """Assembles one request."""

    counter: TokenCounter
    model: str | None
    limits: Limits
    min_history: int
    pruner: Pruner
    tools: Sequence[Any] | None

    def assemble(self, parts: Parts, tail: Tail) -> Assembly:
        """Return the request with as much of the history as fits.

        Episodes and then the procedure make way for the minimum history; it makes way for the window alone.
        """
        minimum = self._minimum(parts, tail)
        while not self.limits.holds(self._measured(parts, tail, minimum)):
            smaller = parts.with_less(self.counter, NO_ROOM)
            if smaller is None:
                break
            parts = smaller
        return account(self, parts, tail, self._fill(parts, tail, minimum))

    def _minimum(self, parts: Parts, tail: Tail) -> frozenset[int]:
        """Return the places of the newest messages that stay while the window allows.

        ``min_history_tokens`` is for the conversation: the current message and OpenAI's system messages, which stay
        anyway, do not count towards it.
        """
        messages = tail.messages
        anyway = set(tail.pins)
        if parts.provider in SYSTEM_IN_MESSAGES:
            anyway.update(entry.index for entry in read(messages, parts.provider) if entry.role == "system")
        found = newest(
            messages,
            self.min_history + sum(message_costs(self.counter, [messages[at] for at in sorted(anyway)]).each),
            counter=self.counter,
            model=self.model,
            provider=parts.provider,
            pin=tail.pins,
        )
        gone = {index for unit in found.receipt.dropped for index in unit.indices}
        return frozenset(range(len(messages))) - gone

    def _measured(self, parts: Parts, tail: Tail, kept: Collection[int]) -> Count:
        """Return what the request takes with the messages at the places *kept*, without asking anybody."""
        messages = tail.messages
        request = [*parts.counted, *(messages[at] for at in sorted(kept))]
        return message_costs(self.counter, request, self.tools).count(range(len(request)))

    def _fill(self, parts: Parts, tail: Tail, minimum: frozenset[int]) -> Filled:
        """Prune the history so that the whole request is within its limits, as its own counter counts it."""
        limits, before = self.limits, parts.counted
        taken = sum(message_costs(self.counter, before).each)
        protected = limits.fits(self._measured(parts, tail, minimum))
        limit = aim = self._limit(protected)
        for left in range(ROUNDS, -1, -1):
            pruned = self.pruner.prune(
                tail.messages,
                max(0, aim - taken),
                model=self.model,
                tools=self.tools,
                provider=parts.provider,
                counter=self.counter,
                pin=minimum if protected else tail.pins,
            )
            kept = tail.completed(pruned.messages)
            tokens = self.counter.count_messages([*before, *kept], self.tools)
            if not limits.fits(tokens) and limits.most is not None:
                if not pruned.fits and not protected:
                    break
                if pruned.fits:
                    aim = min(aim - 1, int(tokens) * max(0, limits.most) // max(1, tokens.high))
                else:
                    protected = False
                    limit = aim = self._limit(protected)
            elif int(tokens) > limit and pruned.fits:  # what messages take did not add up to what the whole takes
                aim -= int(tokens) - limit
            else:
                break
            if left == 1:
                protected, aim = False, 0
        there, messages = {id(message) for message in kept}, tail.messages
        lost = not protected and any(id(messages[at]) not in there for at in minimum)
        return Filled(kept, tokens, pruned, lost)

    def _limit(self, protected: bool) -> int:
        """Return what the request may take: all that the window holds where the minimum history cannot stay whole."""
        return self.limits.budget if protected or self.limits.most is None else max(0, self.limits.most)
