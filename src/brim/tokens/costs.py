"""What each message costs.

With it, dropping some doesn't mean counting the rest again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from brim.record import Record

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from brim.tokens.count import Basis, Count
    from brim.tokens.messages import Tally
    from brim.tokens.protocol import TokenCounter


class MessageCosts(Record):
    """What each message costs."""

    each: tuple[int, ...]
    """The tokens of each message."""
    fixed: int
    """The tokens of what belongs to no message: priming, tools."""
    count: Callable[[Sequence[int]], Count]
    """Returns the count of the messages at some places: ``fixed`` and the sum of theirs, with its interval."""

    def alone(self, kept: Sequence[int]) -> Count:
        """Return the count of the messages at the places *kept* without ``fixed``."""
        whole = self.count(kept)
        tokens = sum(self.each[at] for at in kept)
        low, high = max(0, whole.low - self.fixed), max(0, whole.high - self.fixed)
        return type(whole)(tokens, whole.basis, min(low, tokens), max(high, tokens), whole.note)

    def replaced(self, places: Sequence[int], other: MessageCosts) -> MessageCosts:
        """Return these costs with those of *other* at *places*, in its order."""
        new = {place: at for at, place in enumerate(places)}
        each = tuple(other.each[new[at]] if at in new else tokens for at, tokens in enumerate(self.each))

        def count_of(kept: Sequence[int]) -> Count:
            return self.count([at for at in kept if at not in new]) + other.alone([new[at] for at in kept if at in new])

        return MessageCosts(each, self.fixed, count_of)


def message_costs(counter: TokenCounter, messages: Sequence[Any], tools: Sequence[Any] | None = None) -> MessageCosts:
    """Return what *counter* gives for each of *messages*, each counted once.

    Any counter will do whose count of a list is a constant and a sum over the messages.
    """
    own = getattr(counter, "costs", None)
    if own is not None:
        found: MessageCosts = own(messages, tools)
        return found
    base = counter.count_messages([])
    fixed = counter.count_messages([], tools) if tools else base
    counts = [counter.count_messages([message]) for message in messages]
    each = tuple(max(0, int(count) - int(base)) for count in counts)

    def count_of(kept: Sequence[int]) -> Count:
        from brim.tokens.count import Count

        total = fixed
        for at in kept:
            low, high = max(0, counts[at].low - base.low), max(0, counts[at].high - base.high)
            total += Count(each[at], counts[at].basis, min(low, each[at]), max(high, each[at]), counts[at].note)
        return total

    return MessageCosts(each, int(fixed), count_of)


def costs_of(tally: Tally, judge: Callable[[Tally], Tally], basis: Basis | None = None) -> MessageCosts:
    """Return the costs that *tally* holds, where *judge* puts a tally into the model's own tokens."""
    own = judge(tally)

    def count_of(kept: Sequence[int]) -> Count:
        return judge(tally.only(kept)).count_on(basis)

    return MessageCosts(own.per_message, own.fixed, count_of)
