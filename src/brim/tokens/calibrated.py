"""Counts for models without a public vocabulary: another vocabulary's tokens, times what is known of the ratio."""

from __future__ import annotations

from brim.models.light import lookup
from brim.tokens.calibrate import ANY_FAMILY, ratio_for
from brim.tokens.count import Count
from brim.tokens.engines import ADDITIVE, STAND_IN, encoding_counter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from brim.tokens.calibrate import CalibrationStore, Ratio
    from brim.tokens.costs import MessageCosts
    from brim.tokens.messages import Framing, Tally


class CalibratedTokenCounter:
    """Counts with a stand-in vocabulary, times a ratio: learned (``calibrated``), else a prior (``estimated``).

    A name that brim does not know but whose family it does (``gpt-4o-next``) is counted with the family's vocabulary.
    """

    def __init__(self, model: str, *, calibrations: CalibrationStore | None = None) -> None:
        found = lookup(model)
        self.model = model
        self.encoding = found.encoding
        self._calibrations = calibrations
        # The vocabulary of a name that is not known is a guess, so its ratio is as uncertain as any.
        self.family = found.encoding if found.resolved else ANY_FAMILY
        counter = encoding_counter(found.encoding) or encoding_counter(STAND_IN)
        assert counter is not None  # noqa: S101 - the table engine has the stand-in
        self._count = counter

    @property
    def ratio(self) -> Ratio:
        """Tokens of the model for one token of the vocabulary that is counted with."""
        return ratio_for(self.model, self.family, self._calibrations)

    def count(self, text: str, /) -> Count:
        """Return the local count times the ratio, rounded up once."""
        return self.of_units(self._count(text))

    def count_blocks(self, blocks: Iterable[str]) -> Count:
        """Return the count of one text given in *blocks*: the ratio is applied once, to their sum."""
        return self.of_units(self._count.sum(blocks))

    def units(self, text: str, /) -> int:
        """Return what adds up over the lines of a text: tokens of the vocabulary that is counted with."""
        return self._count(text)

    def of_units(self, units: int, /) -> Count:
        """Return so many tokens of that vocabulary times the ratio, rounded up once."""
        return Count(units).scaled(*self.ratio)

    @property
    def adds_up(self) -> bool:
        """Whether the units of the lines of a text are the units of the whole."""
        return self._count.encoding in ADDITIVE

    def count_messages(
        self, messages: Sequence[Any], tools: Sequence[Any] | None = None, *, framing: Framing | None = None
    ) -> Count:
        """Return the tokens of a request: its text times the ratio, and the rest by the provider's own rules."""
        return self._scaled(self._tally(messages, tools, framing)).count_on(self.ratio.basis)

    def costs(self, messages: Sequence[Any], tools: Sequence[Any] | None = None) -> MessageCosts:
        """Return the tokens of each message, which add up to ``count_messages``."""
        from brim.tokens.costs import costs_of

        return costs_of(self._tally(messages, tools, None), self._scaled, self.ratio.basis)

    def _tally(self, messages: Sequence[Any], tools: Sequence[Any] | None, framing: Framing | None) -> Tally:
        from brim.tokens.messages import measure

        return measure(messages, tools, model_name=self.model, count_text=self._count, framing=framing)

    def _scaled(self, tally: Tally) -> Tally:
        value, low, high, _ = self.ratio
        return tally.scaled(value, low, high)
