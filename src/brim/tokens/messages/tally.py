"""The result of a measurement, and its ledger.

Two currencies are kept apart. *Text* is what ``count_text`` counted: when its vocabulary is not the model's, the caller
multiplies it by a ratio. *Other* is what a rule gave in the model's own tokens (framing, images, pages): a ratio must
not touch it.
"""

from __future__ import annotations

from functools import cache, cached_property
from math import ceil, floor
from typing import TYPE_CHECKING

from brim.errors import InputError
from brim.record import Record
from brim.tokens.count import Count

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from brim.tokens.count import Basis
    from brim.tokens.messages.rules import Width

Amounts = tuple[int, ...]
"""Text and other tokens, each as point, low and high."""

TEXT, TEXT_LOW, TEXT_HIGH, OTHER, OTHER_LOW, OTHER_HIGH = range(6)
NOTHING: Amounts = (0, 0, 0, 0, 0, 0)


class Tally(Record):
    """The tokens of messages, between ``low`` and ``high``.

    Guarantees: ``low <= tokens <= high``; ``sum(per_message) + fixed == tokens``; ``exact`` means that there is no
    reason for doubt, and then all three are equal.
    """

    parts: tuple[tuple[int, int], ...]
    """Of each message: what ``count_text`` counted, and what rules gave."""
    sums: Amounts
    """Of everything."""
    reasons: tuple[str, ...]
    """Why it is not exact."""
    details: tuple[tuple[Amounts, tuple[str, ...]], ...] | None = None
    """Of each message: what it added, and its reasons for doubt. None if the tally was scaled."""
    fixed_reasons: tuple[str, ...] = ()
    """Reasons that belong to no message."""

    @cached_property
    def per_message(self) -> tuple[int, ...]:
        """The tokens of each message, its framing included."""
        return tuple(max(0, text + other) for text, other in self.parts)

    @cached_property
    def tokens(self) -> int:
        """The best single number."""
        return max(self.sums[TEXT] + self.sums[OTHER], sum(self.per_message), 0)

    @property
    def low(self) -> int:
        """The least it can be."""
        return max(0, min(self.tokens, self.sums[TEXT_LOW] + self.sums[OTHER_LOW])) if self.reasons else self.tokens

    @property
    def high(self) -> int:
        """The most it can be."""
        return max(self.tokens, self.sums[TEXT_HIGH] + self.sums[OTHER_HIGH]) if self.reasons else self.tokens

    @property
    def exact(self) -> bool:
        """Whether the provider publishes everything that was needed."""
        return not self.reasons

    @property
    def fixed(self) -> int:
        """What belongs to no message: priming, tools, a separate system text."""
        return self.tokens - sum(self.per_message)

    @property
    def text_tokens(self) -> int:
        """The share of ``tokens`` that ``count_text`` counted."""
        return self.sums[TEXT]

    @property
    def rest(self) -> tuple[int, int]:
        """Text and other tokens of what belongs to no message."""
        texts, others = zip(*self.parts, strict=True) if self.parts else ((), ())
        return self.sums[TEXT] - sum(texts), self.sums[OTHER] - sum(others)

    def scaled(self, ratio: float, low: float | None = None, high: float | None = None) -> Tally:
        """Return the tally with its text multiplied by *ratio*.

        Use it for a model whose vocabulary isn't that of ``count_text``. *low* and *high* bound the ratio. What rules
        gave in the model's own tokens stays as it is.
        """
        low, high = ratio if low is None else low, ratio if high is None else high
        if not 0 < low <= ratio <= high < float("inf"):
            raise InputError(f"a ratio needs 0 < low <= ratio <= high, not low {low}, ratio {ratio}, high {high}")
        parts = tuple((round(text * ratio), other) for text, other in self.parts)
        text = sum(text for text, _ in parts) + round(self.rest[0] * ratio)
        _, text_low, text_high, *others = self.sums
        sums = (text, floor(text_low * low), ceil(text_high * high), *others)
        return Tally(parts, sums, self.reasons or ("text counted with another vocabulary",))

    def only(self, kept: Iterable[int]) -> Tally:
        """Return the tally of the messages at the places *kept*.

        What belongs to no message is in it too.

        It is what measuring them again would give, as long as nothing in them depends on the others: the last prompt
        must be among them, because reasoning before it may not count. Not for a tally that was ``scaled``.
        """
        if self.details is None:
            raise ValueError("take the messages before the tally is scaled")
        kept = list(kept)
        details = tuple([self.details[at] for at in kept])
        everything, chosen = (_sum(amounts for amounts, _ in each) for each in (self.details, details))
        sums = _sum((self.sums, _minus(NOTHING, everything), chosen))
        reasons = dict.fromkeys((*self.fixed_reasons, *(reason for _, reasons in details for reason in reasons)))
        return Tally(tuple([self.parts[at] for at in kept]), sums, tuple(reasons), details, self.fixed_reasons)

    @property
    def count(self) -> Count:
        """This tally as a count; if it's estimated, the note says why."""
        return self.count_on(None)

    def count_on(self, basis: Basis | None) -> Count:
        """Return this tally as a count on *basis*, or its own."""
        basis = basis or ("exact" if self.exact else "estimated")
        return Count(self.tokens, basis, self.low, self.high, "; ".join(self.reasons))

    def __repr__(self) -> str:
        if self.exact:
            return f"Tally({self.tokens}, exact)"
        return f"Tally({self.tokens}, {self.low}..{self.high}: {'; '.join(self.reasons)})"


class Ledger:
    """Adds up one measurement. Each distinct text is given to ``count_text`` once."""

    def __init__(self, count_text: Callable[[str], int]) -> None:
        self._count = cache(count_text)
        self._sums = list(NOTHING)
        self._reasons: dict[str, None] = {}
        self._here: dict[str, None] = {}  # the reasons of this message
        self._fixed_reasons: tuple[str, ...] = ()
        self._mark = NOTHING  # the sums where this message began
        self._details: list[tuple[Amounts, tuple[str, ...]]] = []

    def text(self, text: str, low: float = 1.0, high: float = 1.0) -> None:
        """Add *text*; *low* and *high* are factors for its interval."""
        tokens = self._count(text) if text else 0
        most = tokens if high == 1.0 else -int(-tokens * high // 1)
        self._add(TEXT, tokens, tokens if low == 1.0 else int(tokens * low), most)

    def difference(self, text: str, without: str) -> None:
        """Add what *text* takes more than *without*."""
        more = self._count(text) - (self._count(without) if without else 0)
        self._add(TEXT, more, more, more)

    def maybe(self, text: str, likely: bool) -> None:
        """Add *text* that the provider may drop: to the point only if it is *likely* kept, to the interval always."""
        tokens = self._count(text) if text else 0
        self._add(TEXT, tokens if likely else 0, 0, tokens)

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
        self._reasons[reason] = self._here[reason] = None

    def begin_messages(self) -> None:
        """Begin the first message: what was added before belongs to none."""
        self._mark, self._fixed_reasons, self._here = tuple(self._sums), tuple(self._here), {}

    def close_message(self) -> None:
        """End a message: what was added since the last one, or since ``begin_messages``, is this message's."""
        now = tuple(self._sums)
        self._details.append((_minus(now, self._mark), tuple(self._here)))
        self._mark, self._here = now, {}

    def tally(self) -> Tally:
        """Return the result."""
        parts = tuple([(added[TEXT], added[OTHER]) for added, _ in self._details])
        return Tally(parts, tuple(self._sums), tuple(self._reasons), tuple(self._details), self._fixed_reasons)

    def _add(self, at: int, point: int, low: int, high: int) -> None:
        self._sums[at] += point
        self._sums[at + 1] += low
        self._sums[at + 2] += high


def _sum(several: Iterable[Amounts]) -> Amounts:
    return tuple(map(sum, zip(NOTHING, *several, strict=True)))


def _minus(these: Amounts, those: Amounts) -> Amounts:
    return tuple([this - that for this, that in zip(these, those, strict=True)])
