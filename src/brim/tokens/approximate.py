"""Fast estimates from the length of text, without a vocabulary.

Hooks import this.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from brim.errors import InputError
from brim.tokens.costs import MessageCosts
from brim.tokens.count import Count
from brim.tokens.messages import Framing, measure
from brim.tokens.messages.tally import OTHER, TEXT

LOW = 0.8
HIGH = 3.0
"""Real tokens for each four characters.

On the sixteen kinds of text in ``bench/corpus.py`` it is 0.90 (Python) to 2.86 (Japanese) in
o200k_base; the interval is that, rounded outwards. A megabyte of spaces still lies outside.
"""

NOT_A_TEXT = (
    "count takes a text, not {}; for messages: brim.counter_for(model).count_messages(messages)"
)


def estimate_tokens(text: str) -> int:
    """Return ``(UTF-8 bytes + 3) // 4``: the quickest guess there is.

    >>> estimate_tokens(""), estimate_tokens("Hello world")
    (0, 3)
    """
    return (len(text.encode("utf-8", "surrogatepass")) + 3) // 4


class ApproximateTokenCounter:
    """Estimates one token per four characters.

    Text counts ``max(1, len(text) // 4)``, a message 4 more.
    """

    PER_MESSAGE = 4

    adds_up = True
    """Characters add up, however a text is cut."""

    def __init__(self, model: str | None = None) -> None:
        self.model = model

    def units(self, text: str, /) -> int:
        """Return what adds up over the parts of a text: its characters."""
        return len(text)

    def of_units(self, units: int, /) -> Count:
        """Return the count of a text with so many characters."""
        return self._estimate(max(1, units // 4))

    def count(self, text: str, /) -> Count:
        """Return ``max(1, len(text) // 4)``."""
        if not isinstance(text, str):
            raise InputError(NOT_A_TEXT.format(type(text).__name__))
        return self.of_units(len(text))

    def count_blocks(self, blocks: Iterable[str]) -> Count:
        """Return the count of one text given in *blocks*."""
        return self.of_units(sum(map(len, blocks)))

    def count_messages(self, messages: Sequence[Any], tools: Sequence[Any] | None = None) -> Count:
        """Return the tokens of *messages* and *tools*.

        Each message is its content's count and 4.

        Calls and images are counted by the rules in ``messages``, their text by length.
        """
        costs = self.costs(messages, tools)
        return self._estimate(costs.fixed + sum(costs.each))

    def costs(self, messages: Sequence[Any], tools: Sequence[Any] | None = None) -> MessageCosts:
        """Return the tokens of each message, which add up to ``count_messages``."""

        bare = Framing(priming=0, message=0, roles=False)
        tally = measure(messages, tools, model_name=self.model, count_text=len, framing=bare)
        fixed, *message_tokens = [
            part[TEXT] // 4 + part[OTHER] for part, _ in (tally.outside, *tally.messages)
        ]
        costs = tuple([max(1, tokens) + self.PER_MESSAGE for tokens in message_tokens])

        def count_of(places: Sequence[int]) -> Count:
            return self._estimate(fixed + sum([costs[place] for place in places]))

        return MessageCosts(costs, fixed, count_of)

    def _estimate(self, tokens: int) -> Count:
        return Count(tokens, "estimated", int(tokens * LOW), -int(-tokens * HIGH // 1))
