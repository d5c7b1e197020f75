"""The result of a measurement, and the ledger it is added up in.

Two currencies are kept apart. *Text* is what ``count_text`` counted: when its vocabulary is not the model's, the caller
multiplies it by a ratio. *Other* is what a rule gave in the model's own tokens (framing, images, pages): a ratio must
not touch it.
"""

from __future__ import annotations

from brim.tokens.count import Count

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from brim.tokens.count import Basis
    from brim.tokens.messages.rules import Width

__all__ = ["Ledger", "Sums", "Tally"]


class Sums:
    """A point and an interval in both currencies."""

    __slots__ = ("other", "other_high", "other_low", "text", "text_high", "text_low")

    def __init__(self, text: tuple[int, int, int] = (0, 0, 0), other: tuple[int, int, int] = (0, 0, 0)) -> None:
        self.text, self.text_low, self.text_high = text
        self.other, self.other_low, self.other_high = other

    def __eq__(self, there: object) -> bool:
        if not isinstance(there, Sums):
            return NotImplemented
        return all(getattr(self, name) == getattr(there, name) for name in Sums.__slots__)

    __hash__ = None  # type: ignore[assignment]


class Tally:
    """What messages take: ``tokens``, never less than ``low`` or more than ``high`` as far as is published.

    Guarantees: ``low <= tokens <= high``; ``sum(per_message) + fixed == tokens``; ``exact`` means that there is no
    reason for doubt, and then all three are equal. It does not change.
    """

    __slots__ = (
        "_details",
        "_pairs",
        "_sums",
        "exact",
        "fixed",
        "high",
        "low",
        "per_message",
        "reasons",
        "text_tokens",
        "tokens",
    )

    _details: Details | None
    _pairs: tuple[tuple[int, int], ...]
    _sums: Sums
    tokens: int
    """The best single number."""
    low: int
    """The least it can be."""
    high: int
    """The most it can be."""
    exact: bool
    """Whether the provider publishes everything that was needed."""
    reasons: tuple[str, ...]
    """Why it is not exact."""
    per_message: tuple[int, ...]
    """The tokens of each message, its framing included."""
    fixed: int
    """What belongs to no message: priming, tools, a separate system text."""
    text_tokens: int
    """The share of ``tokens`` that ``count_text`` counted."""

    def __init__(
        self,
        pairs: tuple[tuple[int, int], ...],
        sums: Sums,
        reasons: tuple[str, ...],
        details: Details | None = None,
    ) -> None:
        per_message = tuple(max(0, text + other) for text, other in pairs)
        tokens = max(sums.text + sums.other, sum(per_message), 0)
        values = {
            "_details": details,
            "_pairs": pairs,
            "_sums": sums,
            "tokens": tokens,
            "low": max(0, min(tokens, sums.text_low + sums.other_low)) if reasons else tokens,
            "high": max(tokens, sums.text_high + sums.other_high) if reasons else tokens,
            "exact": not reasons,
            "reasons": reasons,
            "per_message": per_message,
            "fixed": tokens - sum(per_message),
            "text_tokens": sums.text,
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def scaled(self, ratio: float, low: float | None = None, high: float | None = None) -> Tally:
        """Return the tally with its text multiplied by *ratio*, for a model whose vocabulary ``count_text`` is not.

        *low* and *high* bound the ratio. What rules gave in the model's own tokens stays as it is.
        """
        from math import ceil, floor

        from brim.errors import InputError

        low, high = ratio if low is None else low, ratio if high is None else high
        if not 0 < low <= ratio <= high < float("inf"):
            raise InputError(f"a ratio needs 0 < low <= ratio <= high, not low {low}, ratio {ratio}, high {high}")
        old = self._sums
        pairs = tuple((round(text * ratio), other) for text, other in self._pairs)
        in_messages = sum(text for text, _ in self._pairs)
        text = sum(text for text, _ in pairs) + round((old.text - in_messages) * ratio)
        bounds = floor(old.text_low * low), ceil(old.text_high * high)
        sums = Sums((text, *bounds), (old.other, old.other_low, old.other_high))
        return Tally(pairs, sums, self.reasons or ("text counted with another vocabulary",))

    def only(self, kept: Iterable[int]) -> Tally:
        """Return the tally of the messages at the places *kept* alone, with what belongs to no message.

        It is what measuring them again would give, as long as nothing in them depends on the others: the last prompt
        must be among them, because reasoning before it may not count. Not for a tally that was ``scaled``.
        """
        if self._details is None:
            raise ValueError("take the messages before the tally is scaled")
        details, everything = self._details, self._sums
        sums, pairs, reasons = Sums(), [], dict.fromkeys(details.fixed)
        in_messages = [sum(column) for column in zip(*details.messages, strict=True)] or [0] * 6
        chosen = [0] * 6
        for at in kept:
            pairs.append(self._pairs[at])
            reasons.update(dict.fromkeys(details.reasons[at]))
            for column, value in enumerate(details.messages[at]):
                chosen[column] += value
        for name, all_of_it, here in zip(_COLUMNS, in_messages, chosen, strict=True):
            setattr(sums, name, getattr(everything, name) - all_of_it + here)
        return Tally(tuple(pairs), sums, tuple(reasons))

    @property
    def parts(self) -> tuple[tuple[int, int], ...]:
        """What ``count_text`` counted of each message, and what rules gave for it."""
        return self._pairs

    @property
    def rest(self) -> tuple[int, int]:
        """The same for what belongs to no message."""
        return self._sums.text - sum(text for text, _ in self._pairs), self._sums.other - sum(o for _, o in self._pairs)

    @property
    def count(self) -> Count:
        """This tally as a count: ``exact``, or ``estimated`` with the reasons as its note."""
        return self.count_on("exact" if self.exact else "estimated")

    def count_on(self, basis: Basis) -> Count:
        """Return this tally as a count that rests on *basis*."""
        return Count(self.tokens, basis, self.low, self.high, "; ".join(self.reasons))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a Tally does not change: cannot set {name!r}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a Tally does not change: cannot delete {name!r}")

    def __eq__(self, there: object) -> bool:
        if not isinstance(there, Tally):
            return NotImplemented
        return (self._pairs, self._sums, self.reasons) == (there._pairs, there._sums, there.reasons)

    def __hash__(self) -> int:
        return hash((self._pairs, self.tokens, self.low, self.high, self.reasons))

    def __reduce__(self) -> tuple[object, ...]:
        return Tally, (self._pairs, self._sums, self.reasons, self._details)

    def __repr__(self) -> str:
        if self.exact:
            return f"Tally({self.tokens}, exact)"
        return f"Tally({self.tokens}, {self.low}..{self.high}: {'; '.join(self.reasons)})"


_COLUMNS = ("text", "text_low", "text_high", "other", "other_low", "other_high")


class Details:
    """What each message added, so that a tally can be taken of some of them: six numbers, and reasons for doubt."""

    __slots__ = ("fixed", "messages", "reasons")

    def __init__(self) -> None:
        self.fixed: tuple[str, ...] = ()
        self.messages: list[tuple[int, ...]] = []
        self.reasons: list[tuple[str, ...]] = []


class Ledger:
    """Adds up one measurement. Each distinct text is given to ``count_text`` once."""

    __slots__ = ("_count_text", "_details", "_here", "_mark", "_memo", "_pairs", "_reasons", "sums")

    def __init__(self, count_text: Callable[[str], int]) -> None:
        self._count_text = count_text
        self._memo: dict[str, int] = {"": 0}
        self._pairs: list[tuple[int, int]] = []
        self._reasons: dict[str, None] = {}
        self._here: dict[str, None] = {}
        self._mark: tuple[int, ...] = (0,) * 6
        self._details = Details()
        self.sums = Sums()

    def count(self, text: str) -> int:
        """Return the tokens of *text* without adding them."""
        found = self._memo.get(text)
        if found is None:
            found = self._memo[text] = self._count_text(text)
        return found

    def text(self, text: str, low: float = 1.0, high: float = 1.0) -> None:
        """Add *text*; *low* and *high* are factors for its interval."""
        tokens = self.count(text)
        sums = self.sums
        sums.text += tokens
        sums.text_low += tokens if low == 1.0 else int(tokens * low)
        sums.text_high += tokens if high == 1.0 else -int(-tokens * high // 1)

    def maybe(self, text: str, likely: bool) -> None:
        """Add *text* that the provider may drop: to the point only if it is *likely* kept, to the interval always."""
        tokens = self.count(text)
        self.sums.text += tokens if likely else 0
        self.sums.text_high += tokens

    def other(self, tokens: int, low: int, high: int) -> None:
        """Add *tokens* of the model's own kind."""
        sums = self.sums
        sums.other += tokens
        sums.other_low += min(low, tokens)
        sums.other_high += max(high, tokens)

    def width(self, width: Width, times: int = 1) -> None:
        """Add what a row of ``widths.tsv`` says, *times* over, and give its reason."""
        self.other(width.tokens * times, width.low * times, width.high * times)
        self.because(width.reason)

    def because(self, reason: str) -> None:
        """Give a reason why the result is not exact; each is listed once."""
        self._reasons[reason] = self._here[reason] = None

    def close_message(self) -> None:
        """End a message: what was added since the last one, or since ``begin_messages``, is this message's."""
        now = self._now()
        added = tuple(new - old for new, old in zip(now, self._mark, strict=True))
        self._pairs.append((added[0], added[3]))
        self._details.messages.append(added)
        self._details.reasons.append(tuple(self._here))
        self._mark = now
        if self._here:
            self._here = {}

    def begin_messages(self) -> None:
        """Begin the first message: what was added before belongs to none."""
        self._mark = self._now()
        self._details.fixed = tuple(self._here)
        self._here = {}

    def tally(self) -> Tally:
        """Return the result."""
        return Tally(tuple(self._pairs), self.sums, tuple(self._reasons), self._details)

    def _now(self) -> tuple[int, ...]:
        sums = self.sums
        return sums.text, sums.text_low, sums.text_high, sums.other, sums.other_low, sums.other_high
