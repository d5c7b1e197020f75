"""Puts a request together from its pieces, so that it keeps within its limits."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from brim.messages.account import RequestAccount
from brim.messages.arguments import TOKENS, whole_number
from brim.messages.assembly import Assembly
from brim.messages.drafting import draft
from brim.messages.formats import read
from brim.messages.parts import SYSTEM_IN_MESSAGES, Parts, Tail
from brim.messages.pruners import Pruner
from brim.messages.receipt import Pruned
from brim.models.light import input_within, lookup
from brim.models.names import clean
from brim.models.reported import window_of
from brim.tokens.costs import message_costs
from brim.tokens.count import Count
from brim.tokens.protocol import TokenCounter

ROUNDS = 8
"""How often a history is pruned again because the whole is still too large; the last time nothing
of it is spared."""
NO_ROOM = "no room for it next to what must stay"


@dataclass(frozen=True, slots=True)
class WindowLimits:
    """What a request may take, the response not included."""

    window: int | None
    """The model's window; None if unknown."""
    largest: int | None
    """What the provider takes: more is an error. None if the window is unknown."""
    budget: int
    """What it should take: never more than ``largest``, never negative."""

    @classmethod
    def of(
        cls, model: str | None, context_window: object, budget: int, reserve: int
    ) -> WindowLimits:
        """Return the limits of a request to *model*: *budget*, and the window less the *reserve*
        for the response.

        *context_window* outranks the model's window. The window of an unknown model is a guess, so
        it limits nothing; one that was reported does. Some models keep a part of the window for the
        response alone.
        """
        facts = lookup(model) if model else None
        if context_window is not None:
            window = whole_number("context_window", context_window, 1, TOKENS)
            largest_input = window
            if facts and facts.resolved:
                largest_input = input_within(facts, window)
        elif facts and (facts.resolved or window_of(clean(model or ""))):
            window = facts.context_window
            largest_input = facts.max_input
        else:
            return cls(None, None, max(0, budget))

        largest = min(window - reserve, largest_input)
        return cls(window, largest, max(0, min(budget, largest)))

    def fits(self, count: Count) -> bool:
        """Whether the provider takes a request of *count* tokens, even at the top of its
        interval."""
        return self.largest is None or count.high <= self.largest

    def holds(self, count: Count) -> bool:
        """Whether it fits and is within the budget, too."""
        return int(count) <= self.budget and self.fits(count)

    @property
    def widest(self) -> int:
        """What a request may take at most where the minimum history can't stay whole."""
        if self.largest is None:
            return self.budget

        return max(0, self.largest)


@dataclass(frozen=True, slots=True)
class FilledRequest:
    """A request whose history was pruned."""

    messages: list[Any]
    """History and current message, as far as they stay."""
    tokens: Count
    """The size of the whole request."""
    pruned: Pruned
    """What the pruner returned."""


@dataclass(frozen=True, slots=True)
class Assembler:
    """Assembles one request."""

    counter: TokenCounter
    model: str | None
    limits: WindowLimits
    min_history: int
    pruner: Pruner
    tools: Sequence[Any] | None
    tail: Tail

    def assemble(self, parts: Parts) -> Assembly:
        """Return the request with as much of the history as fits.

        Episodes and then the procedure make way for the minimum history; it makes way for the
        window alone.
        """
        minimum = self._minimum(parts)
        while not self.limits.holds(self._measured(parts, minimum)):
            smaller = parts.with_less(self.counter, NO_ROOM)
            if smaller is None:
                break

            parts = smaller

        is_protected = self.limits.fits(self._measured(parts, minimum))
        filling = _Filling(
            self,
            parts,
            minimum,
            is_protected,
        )
        request = filling.fill()
        account = RequestAccount(
            counter=self.counter,
            tools=self.tools,
            tail=self.tail,
            parts=parts,
            messages=request.messages,
            tokens=request.tokens,
            receipt=request.pruned.receipt,
            budget=self.limits.budget,
            window=self.limits.window,
            largest=self.limits.largest,
            has_minimum=self.min_history > 0,
            below_minimum=filling.is_below_minimum(request),
        )
        return account.assembly()

    def _minimum(self, parts: Parts) -> frozenset[int]:
        """Return the places of the newest messages that stay while the window allows.

        ``min_history_tokens`` is for the conversation: the current message and OpenAI's system
        messages, which stay anyway, don't count towards it.
        """
        messages = self.tail.messages
        anyway = set(self.tail.pins)
        if parts.provider in SYSTEM_IN_MESSAGES:
            for entry in read(messages, parts.provider):
                if entry.role == "system":
                    anyway.add(entry.index)

        costs = message_costs(self.counter, [messages[at] for at in sorted(anyway)])
        work = draft(
            messages,
            self.min_history + sum(costs.each),
            counter=self.counter,
            model=self.model,
            provider=parts.provider,
            pin=self.tail.pins,
        )
        return frozenset(work.indices(work.newest()))

    def _measured(self, parts: Parts, places: Collection[int]) -> Count:
        """Return the size of the request with the messages at *places*."""
        request = parts.counted
        request += [self.tail.messages[at] for at in sorted(places)]
        return message_costs(self.counter, request, self.tools).count(range(len(request)))


class _Filling:
    """Prunes the history until the whole request is within its limits, as its own counter counts
    it."""

    def __init__(
        self, assembler: Assembler, parts: Parts, minimum: frozenset[int], is_protected: bool
    ) -> None:
        self.assembler = assembler
        self.parts = parts
        self.before = parts.counted
        self.minimum = minimum
        self.is_protected = is_protected
        """Whether the minimum history stays."""
        self.limit = assembler.limits.widest
        if is_protected:
            self.limit = assembler.limits.budget

        self.aim = self.limit
        """What the request should take by the sum of its messages."""

    def fill(self) -> FilledRequest:
        """Return the request with as much of the history as fits."""
        tokens_before = sum(message_costs(self.assembler.counter, self.before).each)
        for left in range(ROUNDS, -1, -1):
            request = self._attempt(max(0, self.aim - tokens_before))
            if not self._lower_aim(request):
                break

            if left == 1:
                self.is_protected = False
                self.aim = 0

        return request

    def _attempt(self, room: int) -> FilledRequest:
        """Return the request with a history of at most *room* tokens."""
        assembler = self.assembler
        pin = self.minimum if self.is_protected else assembler.tail.pins
        pruned = assembler.pruner.prune(
            assembler.tail.messages,
            room,
            tools=assembler.tools,
            pin=pin,
            model=assembler.model,
            provider=self.parts.provider,
            counter=assembler.counter,
        )
        messages = assembler.tail.completed(pruned.messages)
        tokens = assembler.counter.count_messages([*self.before, *messages], assembler.tools)
        return FilledRequest(messages, tokens, pruned)

    def _lower_aim(self, request: FilledRequest) -> bool:
        """Lower the aim if the request is too large; return whether another attempt can help."""
        limits = self.assembler.limits
        tokens = request.tokens
        if limits.largest is not None and not limits.fits(tokens):
            if request.pruned.fits:
                share = int(tokens) * max(0, limits.largest) // max(1, tokens.high)
                self.aim = min(self.aim - 1, share)
                return True

            if self.is_protected:
                self.is_protected = False
                self.limit = limits.widest
                self.aim = limits.widest
                return True

            return False

        if int(tokens) > self.limit and request.pruned.fits:
            # The sizes of messages didn't add up to that of the whole.
            self.aim -= int(tokens) - self.limit
            return True

        return False

    def is_below_minimum(self, request: FilledRequest) -> bool:
        """Whether something of the minimum history had to leave."""
        if self.is_protected:
            return False

        present = {id(message) for message in request.messages}
        messages = self.assembler.tail.messages
        return any(id(messages[at]) not in present for at in self.minimum)
