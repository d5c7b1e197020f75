"""The result of a measurement, and the ledger that adds it up.

Two currencies are kept apart. *Text* is what ``count_text`` counted: when its vocabulary is not the
model's, the caller multiplies it by a ratio. *Other* is what a rule gave in the model's own tokens
(framing, images, pages): a ratio must not touch it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cache, cached_property
from math import ceil, floor

from brim.errors import InputError
from brim.record import PlainData
from brim.tokens.count import Basis, Count
from brim.tokens.messages.rules import Width

TEXT, TEXT_LOW, TEXT_HIGH, OTHER, OTHER_LOW, OTHER_HIGH = range(6)

Part = tuple[tuple[int, ...], tuple[str, ...]]
"""What was added: text and other tokens, each as point, low and high; and why that isn't exact."""


@dataclass(frozen=True)
class Tally(PlainData):
    """The tokens of messages, between ``low`` and ``high``.

    Guarantees: ``low <= tokens <= high``; ``sum(per_message) + fixed == tokens``; ``exact`` means
    that there is no reason for doubt, and then all three are equal.
    """

    outside: Part
    """Priming, tools, a separate system text."""
    messages: tuple[Part, ...]
    ratio: tuple[float, float, float] | None = None
    """What text is multiplied by: point, low and high."""

    @cached_property
    def reasons(self) -> tuple[str, ...]:
        """Why it is not exact."""
        reasons: dict[str, None] = {}
        for _, part_reasons in (self.outside, *self.messages):
            reasons.update(dict.fromkeys(part_reasons))
        if not reasons and self.ratio is not None:
            return ("text counted with another vocabulary",)
        return tuple(reasons)

    def _text(self, part: Part) -> int:
        amounts, _ = part
        if self.ratio is None:
            return amounts[TEXT]
        return round(amounts[TEXT] * self.ratio[0])

    def _sum(self, at: int) -> int:
        return self.outside[0][at] + sum(amounts[at] for amounts, _ in self.messages)

    @cached_property
    def per_message(self) -> tuple[int, ...]:
        """The tokens of each message, its framing included."""
        return tuple(max(0, self._text(part) + part[0][OTHER]) for part in self.messages)

    @cached_property
    def text_tokens(self) -> int:
        """The share of ``tokens`` that ``count_text`` counted."""
        return self._text(self.outside) + sum(map(self._text, self.messages))

    @cached_property
    def tokens(self) -> int:
        """The best single number."""
        return max(self.text_tokens + self._sum(OTHER), sum(self.per_message), 0)

    @property
    def low(self) -> int:
        """The least it can be."""
        if not self.reasons:
            return self.tokens
        _, ratio, _ = self.ratio or (1, 1, 1)
        low = floor(self._sum(TEXT_LOW) * ratio) + self._sum(OTHER_LOW)
        return max(0, min(self.tokens, low))

    @property
    def high(self) -> int:
        """The most it can be."""
        if not self.reasons:
            return self.tokens
        _, _, ratio = self.ratio or (1, 1, 1)
        high = ceil(self._sum(TEXT_HIGH) * ratio) + self._sum(OTHER_HIGH)
        return max(self.tokens, high)

    @property
    def exact(self) -> bool:
        """Whether the provider publishes everything that was needed."""
        return not self.reasons

    @property
    def fixed(self) -> int:
        """The tokens outside of messages."""
        return self.tokens - sum(self.per_message)

    def scaled(self, ratio: float, low: float | None = None, high: float | None = None) -> Tally:
        """Return the tally with its text multiplied by *ratio*.

        Use it for a model whose vocabulary isn't that of ``count_text``. *low* and *high* bound the
        ratio. What rules gave in the model's own tokens stays as it is.
        """
        if low is None:
            low = ratio
        if high is None:
            high = ratio
        if not 0 < low <= ratio <= high < float("inf"):
            raise InputError(
                f"a ratio needs 0 < low <= ratio <= high, not low {low}, ratio {ratio}, high {high}"
            )
        return replace(self, ratio=(ratio, low, high))

    def only(self, places: Iterable[int]) -> Tally:
        """Return the tally of the messages at *places*, and of what is outside of
        messages.

        It is what measuring them again would give, as long as nothing in them depends on the
        others: the last prompt must be among them, because reasoning before it may not count.
        """
        return replace(self, messages=tuple([self.messages[at] for at in places]))

    @property
    def count(self) -> Count:
        """This tally as a count; if it's estimated, the note says why."""
        return self.count_on(None)

    def count_on(self, basis: Basis | None) -> Count:
        """Return this tally as a count on *basis*, or its own."""
        if basis is None:
            basis = "estimated"
            if self.exact:
                basis = "exact"
        return Count(self.tokens, basis, self.low, self.high, "; ".join(self.reasons))

    def __repr__(self) -> str:
        if self.exact:
            return f"Tally({self.tokens}, exact)"
        return f"Tally({self.tokens}, {self.low}..{self.high}: {'; '.join(self.reasons)})"


class TallyLedger:
    """Adds up one measurement. Each distinct text is given to ``count_text`` once."""

    def __init__(self, count_text: Callable[[str], int]) -> None:
        self._count = cache(count_text)
        self._parts: list[Part] = []
        self._amounts = [0] * 6
        self._reasons: dict[str, None] = {}

    def _tokens(self, text: str) -> int:
        if not text:
            return 0
        return self._count(text)

    def text(self, text: str, low: float = 1.0, high: float = 1.0) -> None:
        """Add *text*; *low* and *high* are factors for its interval."""
        tokens = self._tokens(text)
        lowest = tokens
        if low != 1.0:
            lowest = int(tokens * low)
        highest = tokens
        if high != 1.0:
            highest = -int(-tokens * high // 1)
        self._add(TEXT, tokens, lowest, highest)

    def difference(self, text: str, without: str) -> None:
        """Add what *text* takes more than *without*."""
        difference = self._tokens(text) - self._tokens(without)
        self._add(TEXT, difference, difference, difference)

    def maybe(self, text: str, likely: bool) -> None:
        """Add *text* that the provider may drop: to the point only if it is *likely* kept, to the
        interval always."""
        tokens = self._tokens(text)
        point = 0
        if likely:
            point = tokens
        self._add(TEXT, point, 0, tokens)

    def other(self, tokens: int, low: int, high: int) -> None:
        """Add *tokens* of the model's own kind."""
        self._add(OTHER, tokens, min(low, tokens), max(high, tokens))

    def width(self, width: Width, times: int = 1) -> None:
        """Add what a row of ``widths.tsv`` says, *times* over, and give its reason."""
        self.other(width.tokens * times, width.low * times, width.high * times)
        self.because(width.reason)

    def because(self, reason: str) -> None:
        """Give a reason why the result is not exact.

        Each is listed once.
        """
        self._reasons[reason] = None

    def close(self) -> None:
        """End a part: the first is what is outside of messages, and each other one is a message."""
        self._parts.append((tuple(self._amounts), tuple(self._reasons)))
        self._amounts = [0] * 6
        self._reasons = {}

    def tally(self) -> Tally:
        """Return the result."""
        return Tally(self._parts[0], tuple(self._parts[1:]))

    def _add(self, at: int, point: int, low: int, high: int) -> None:
        self._amounts[at] += point
        self._amounts[at + 1] += low
        self._amounts[at + 2] += high
