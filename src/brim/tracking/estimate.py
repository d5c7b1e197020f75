"""How large will the next prompt be? What was reported, and a local count of what came since.

No tokenizer is loaded for it: without a counter, text is taken by its length and by the model's ratio.
"""

from __future__ import annotations

from brim.models.light import lookup
from brim.tokens.calibrate import ANY_FAMILY, ratio_for
from brim.tokens.count import APPROXIMATE_HIGH, APPROXIMATE_LOW, PREFIX_ERROR, Count

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from brim.tokens.counters import TokenCounter


_TEXT_KEPT = 4_000_000
"""Characters that are kept for a counter; of what comes after them only the length is."""


def length_of(text: str) -> int:
    """Return the number of UTF-8 bytes of *text*."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def by_length(size: int, model: str = "") -> Count:
    """Return the tokens of a text of *size* bytes: a fourth, times the ratio of *model*'s vocabulary.

    >>> by_length(4_000, "gpt-4o")
    Count(1000, estimated, 800 to 3000)
    """
    light = lookup(model)
    ratio = ratio_for(model, light.encoding if light.resolved else ANY_FAMILY)
    tokens = (size + 3) // 4
    return Count(tokens, "estimated", int(tokens * APPROXIMATE_LOW), -int(-tokens * APPROXIMATE_HIGH // 1)).scaled(
        *ratio
    )


def anchored(reported: int, rest: Count, *, more: int = 0) -> Count:
    """Return a prompt of which *reported* tokens are known, and *rest* counted here.

    *more* may be missing in what was reported: it is in the value and in ``high``, not in ``low``.
    """
    margin = -(-reported * round(PREFIX_ERROR * 100) // 100)
    low, high = max(0, reported - margin) + rest.low, reported + margin + more + rest.high
    return Count(reported + more + int(rest), "anchored", low, high, rest.note)


class Words:
    """Texts to be counted later: kept while they are few, then only their length."""

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._kept = 0
        self._rest = 0
        self.size = 0
        """Their UTF-8 bytes."""

    def add(self, text: str) -> None:
        """Add one text."""
        size = length_of(text)
        self.size += size
        if self._kept + len(text) <= _TEXT_KEPT:
            self._texts.append(text)
            self._kept += len(text)
        else:
            self._rest += size

    def count(self, counter: TokenCounter | None, model: str) -> Count:
        """Return their tokens by *counter*, or without one by their length for *model*."""
        if counter is None:
            return by_length(self.size, model) if self.size else Count(0)
        return _summed(map(counter.count, self._texts)) + (by_length(self._rest, model) if self._rest else Count(0))


class Tail:
    """What came since the last report: what the model wrote then, and what arrived for its next call.

    Most clients report a call before they carry out its tools. Some (opencode) report a step when its tools are done:
    then what they answered is not in the prompt that is reported, but in the next. That order is known by a call and
    its result that both come before any report.
    """

    def __init__(self) -> None:
        self._written, self._arrived, self._step = Words(), Words(), Words()
        self._reported = self._called = self._late = False

    @property
    def size(self) -> int:
        """Bytes that arrived."""
        return self._arrived.size + self._step.size

    def wrote(self, text: str, *, call: bool = False) -> None:
        """Take what the model wrote: words, or a *call*."""
        self._called |= call
        self._written.add(text)

    def arrive(self, text: str, *, result: bool = False) -> None:
        """Take what the next prompt will have on top: a message, or the *result* of a tool."""
        if result and self._called and not self._reported:
            self._late = True
        (self._step if result and self._late else self._arrived).add(text)

    def report(self) -> None:
        """Take that a newer prompt was reported: what came before is in it."""
        self._written, self._arrived, self._step = Words(), self._step, Words()
        self._reported = True

    def clear(self) -> None:
        """Take that the window was compacted: what came before is in what is left."""
        self._written, self._arrived, self._step = Words(), Words(), Words()

    def count(self, output: int, counter: TokenCounter | None, model: str) -> Count:
        """Return the tokens of all of it; *output* is what the last call is known to have written, 0 if not known."""
        written = Count(output) if output else self._written.count(counter, model)
        return written + self._arrived.count(counter, model) + self._step.count(counter, model)


def _summed(counts: Iterable[Count]) -> Count:
    total = Count(0)
    for count in counts:
        total += count
    return total
