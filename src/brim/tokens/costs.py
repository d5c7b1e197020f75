"""What each message costs, so that the rest needn't be counted again when some are dropped."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from brim.record import PlainData
from brim.tokens.count import Count
from brim.tokens.protocol import TokenCounter


@dataclass(frozen=True)
class MessageCosts(PlainData):
    """What each message costs."""

    each: tuple[int, ...]
    """The tokens of each message."""
    fixed: int
    """The tokens outside of messages: priming, tools."""
    count: Callable[[Sequence[int]], Count]
    """Returns the count of the messages at some places: ``fixed`` and the sum of theirs, with its
    interval."""

    def alone(self, places: Sequence[int]) -> Count:
        """Return the count of the messages at *places* without ``fixed``."""
        return difference(self.count(places), Count(self.fixed))

    def replaced(self, places: Sequence[int], other: MessageCosts) -> MessageCosts:
        """Return these costs with those of *other* at *places*, in its order."""
        place_in_other = {place: at for at, place in enumerate(places)}
        tokens = list(self.each)
        for place, at in place_in_other.items():
            if place < len(tokens):
                tokens[place] = other.each[at]

        def count_of(places: Sequence[int]) -> Count:
            own = [place for place in places if place not in place_in_other]
            others = [place_in_other[place] for place in places if place in place_in_other]
            return self.count(own) + other.alone(others)

        return MessageCosts(tuple(tokens), self.fixed, count_of)


def message_costs(
    counter: TokenCounter, messages: Sequence[Any], tools: Sequence[Any] | None = None
) -> MessageCosts:
    """Return what *counter* gives for each of *messages*, each counted once.

    Any counter will do whose count of a list is a constant and a sum over the messages.
    """
    if hasattr(counter, "costs"):
        costs: MessageCosts = counter.costs(messages, tools)
        return costs
    base = counter.count_messages([])
    fixed = base
    if tools:
        fixed = counter.count_messages([], tools)
    counts = [difference(counter.count_messages([message]), base) for message in messages]

    def count_of(places: Sequence[int]) -> Count:
        return sum([counts[place] for place in places], fixed)

    return MessageCosts(tuple(map(int, counts)), int(fixed), count_of)


class OnceCounter:
    """Counts as *counter* does, which tells the tokens of each message, and counts a list that
    comes again only once. For one call: nobody changes the messages in between."""

    def __init__(self, counter: TokenCounter) -> None:
        self._counter = counter
        self.inner: TokenCounter = getattr(counter, "inner", counter)
        """Counts messages on their own."""
        self.model: str | None = counter.model
        self._messages: list[Any] = []
        self._tools: Sequence[Any] | None = None
        self._costs: MessageCosts | None = None

    def count(self, text: str, /) -> Count:
        """Return the number of tokens of *text*."""
        return self._counter.count(text)

    def count_messages(self, messages: Sequence[Any], tools: Sequence[Any] | None = None) -> Count:
        """Return the tokens of a request."""
        return self.costs(messages, tools).count(range(len(messages)))

    def costs(self, messages: Sequence[Any], tools: Sequence[Any] | None = None) -> MessageCosts:
        """Return the tokens of each message."""
        if self._costs is None or not self._is_same(messages, tools):
            self._costs = message_costs(self._counter, messages, tools)
            self._messages = list(messages)
            self._tools = tools
        return self._costs

    def _is_same(self, messages: Sequence[Any], tools: Sequence[Any] | None) -> bool:
        if tools is not self._tools or len(messages) != len(self._messages):
            return False
        pairs = zip(messages, self._messages, strict=True)
        return all(message is other for message, other in pairs)


def counted_once(counter: TokenCounter) -> TokenCounter:
    """Return *counter*, which counts the same list only once if it can tell each message's part."""
    if hasattr(counter, "costs"):
        return OnceCounter(counter)
    return counter


def difference(whole: Count, part: Count) -> Count:
    """Return what *whole* counts more than *part*, at least 0."""
    tokens = max(0, int(whole) - int(part))
    low = max(0, whole.low - part.low)
    high = max(0, whole.high - part.high)
    return Count(tokens, whole.basis, min(low, tokens), max(high, tokens), whole.note)
