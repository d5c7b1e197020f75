"""Counts by the model's own vocabulary."""

from __future__ import annotations

from brim.errors import NoExactCounter
from brim.tokens.count import Count
from brim.tokens.engines import ADDITIVE, encoding_counter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from brim.tokens.costs import MessageCosts
    from brim.tokens.engines import EncodingCounter
    from brim.tokens.messages import Framing, Tally

DEFAULT_ENCODING = "o200k_base"
"""What is counted with when no model is named."""


class ExactTokenCounter:
    """Counts with the vocabulary of *model*, or of an *encoding* named directly; offline, without a download.

    It promises the provider's own number for text, and for plain-text chat of the families whose framing is published.
    Tools, images and other families make a message count ``estimated``, with an interval.

    >>> ExactTokenCounter("gpt-4o").count("Hello world")
    Count(2)
    """

    def __init__(self, model: str | None = None, *, encoding: str | None = None) -> None:
        """Raise ``NoExactCounter`` if the vocabulary is not public, the model is unknown or no engine here has it."""
        if encoding is None:
            encoding = _public_encoding(model)
        counter = encoding_counter(encoding)
        if counter is None:
            raise NoExactCounter(_why_not(model, encoding))
        self.model = model
        self.encoding = encoding
        self._count: EncodingCounter = counter

    def count(self, text: str, /) -> Count:
        """Return the exact number of tokens of *text*."""
        return self.of_units(self._count(text))

    def count_blocks(self, blocks: Iterable[str]) -> Count:
        """Return the exact count of one text, given in *blocks* as ``brim.tokens.stream`` cuts them."""
        return self.of_units(self._count.sum(blocks))

    def units(self, text: str, /) -> int:
        """Return what adds up over the lines of a text, where its encoding is ``ADDITIVE``: the tokens."""
        return self._count(text)

    @property
    def adds_up(self) -> bool:
        """Whether the units of the lines of a text are the units of the whole."""
        return self._count.encoding in ADDITIVE and self._count.exact

    def of_units(self, units: int, /) -> Count:
        """Return so many tokens as a count: exact, unless the only engine failed and another one stood in."""
        if self._count.exact:
            return Count(units)
        from brim.tokens.calibrate import ANY_FAMILY, prior_for

        rough = Count(units).scaled(*prior_for(ANY_FAMILY))
        return Count(int(rough), "estimated", rough.low, rough.high, f"the engine of {self.encoding} failed")

    def count_messages(
        self, messages: Sequence[Any], tools: Sequence[Any] | None = None, *, framing: Framing | None = None
    ) -> Count:
        """Return the tokens of a request in the framing that the model's provider published, or in *framing*."""
        return self._judge(self._tally(messages, tools, framing)).count

    def costs(self, messages: Sequence[Any], tools: Sequence[Any] | None = None) -> MessageCosts:
        """Return the tokens of each message, which add up to ``count_messages``."""
        from brim.tokens.costs import costs_of

        return costs_of(self._tally(messages, tools, None), self._judge)

    def _tally(self, messages: Sequence[Any], tools: Sequence[Any] | None, framing: Framing | None) -> Tally:
        from brim.tokens.messages import measure

        return measure(
            messages, tools, model_name=self.model, encoding=self.encoding, count_text=self._count, framing=framing
        )

    def _judge(self, tally: Tally) -> Tally:
        if self._count.exact:
            return tally
        from brim.tokens.calibrate import ANY_FAMILY, prior_for

        value, low, high, _ = prior_for(ANY_FAMILY)
        return tally.scaled(value, low, high)


def _public_encoding(model: str | None) -> str:
    if model is None:
        return DEFAULT_ENCODING
    from brim.models.light import lookup

    found = lookup(model)
    if not found.resolved:
        raise NoExactCounter(
            f"{model}: brim does not know this model, so it cannot count it exactly; use mode 'auto' for an estimate, "
            "or add it under models: in the configuration"
        )
    return found.encoding


def _why_not(model: str | None, encoding: str) -> str:
    from brim.tokens.native import NativeEngine

    name = model or encoding
    if encoding in NativeEngine.encodings:
        return f"{name}: its vocabulary comes with brim[fast]; install that, or use mode 'auto' for an estimate"
    return (
        f"{name}: its vocabulary is not public, so brim cannot count it exactly here; use mode 'api' for the "
        "provider's own count, or 'auto' for an estimate with an interval"
    )
