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

    def alone(self, kept: Sequence[int]) -> Count:
        """Return the count of the messages at the places *kept* without ``fixed``."""
        return difference(self.count(kept), Count(self.fixed))

    def replaced(self, places: Sequence[int], other: MessageCosts) -> MessageCosts:
        """Return these costs with those of *other* at *places*, in its order."""
        new = {place: at for at, place in enumerate(places)}
        each = tuple(
            other.each[new[at]] if at in new else tokens for at, tokens in enumerate(self.each)
        )

        def count_of(kept: Sequence[int]) -> Count:
            return self.count([at for at in kept if at not in new]) + other.alone(
                [new[at] for at in kept if at in new]
            )

        return MessageCosts(each, self.fixed, count_of)


def message_costs(
    counter: TokenCounter, messages: Sequence[Any], tools: Sequence[Any] | None = None
) -> MessageCosts:
    """Return what *counter* gives for each of *messages*, each counted once.

    Any counter will do whose count of a list is a constant and a sum over the messages.
    """
    if hasattr(counter, "costs"):
        found: MessageCosts = counter.costs(messages, tools)
        return found
    base = counter.count_messages([])
    fixed = counter.count_messages([], tools) if tools else base
    counts = [difference(counter.count_messages([message]), base) for message in messages]
    return MessageCosts(
        tuple(map(int, counts)), int(fixed), lambda kept: sum((counts[at] for at in kept), fixed)
    )


def difference(whole: Count, part: Count) -> Count:
    """Return what *whole* counts more than *part*, at least 0."""
    tokens = max(0, int(whole) - int(part))
    low, high = max(0, whole.low - part.low), max(0, whole.high - part.high)
    return Count(tokens, whole.basis, min(low, tokens), max(high, tokens), whole.note)
