"""Counters: exact, calibrated and approximate, and which one a model gets.

``counter_for`` chooses. All counters keep the rules of ``TokenCounter``, and every answer is a
``Count`` that says what it rests on. The counters that ask a provider or remember its reports are
in ``api`` and ``anchor``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from brim.errors import InputError, NoExactCounter
from brim.models.light import DEFAULT_ENCODING, lookup
from brim.tokens.approximate import NOT_A_TEXT, ApproximateTokenCounter
from brim.tokens.calibrate import ANY_FAMILY, CalibrationStore, Ratio, prior_for, ratio_for
from brim.tokens.costs import MessageCosts
from brim.tokens.count import Basis, Count
from brim.tokens.engines import (
    ADDITIVE,
    STAND_IN,
    EncodingCounter,
    KeptCounts,
    NativeEngine,
    encoding_counter,
)
from brim.tokens.messages import Framing, Tally, measure
from brim.tokens.protocol import Mode, TokenCounter

MODES = ("auto", "approximate", "exact", "api")
"""``auto`` is the best count without the network; ``exact`` refuses where there is none; ``api``
asks the provider."""


class VocabularyCounter:
    """Counts with a vocabulary that is on this machine, and with a ratio where it isn't the model's
    own."""

    def __init__(self, model: str | None, encoding: str, engine: EncodingCounter) -> None:
        self.model = model
        self.encoding = encoding
        self._engine: EncodingCounter | KeptCounts = engine

    def keep_counts(self) -> None:
        """Keep the counts of texts from now on: for one that counts the same ones often."""
        if isinstance(self._engine, EncodingCounter):
            self._engine = KeptCounts(self._engine)

    def _ratio(self) -> Ratio | None:
        """Tokens of the model for one token of the vocabulary; None if they are the same."""
        raise NotImplementedError

    @property
    def adds_up(self) -> bool:
        """Whether the units of the lines of a text are the units of the whole."""
        return self._engine.encoding in ADDITIVE and self._engine.exact

    def units(self, text: str, /) -> int:
        """Return what adds up over the lines of a text: tokens of the vocabulary, not yet
        scaled."""
        return self._engine(text)

    def of_units(self, units: int, /) -> Count:
        """Return so many tokens of the vocabulary in tokens of the model, rounded up once."""
        ratio = self._ratio()
        if ratio is None:
            return Count(units)
        return Count(units).scaled(*ratio)

    def count(self, text: str, /) -> Count:
        """Return the number of tokens of *text*."""
        if not isinstance(text, str):
            raise InputError(NOT_A_TEXT.format(type(text).__name__))
        return self.of_units(self._engine(text))

    def count_blocks(self, blocks: Iterable[str]) -> Count:
        """Return the count of one text, given in *blocks* as ``brim.tokens.stream`` cuts them."""
        return self.of_units(self._engine.sum(blocks))

    def count_messages(
        self,
        messages: Sequence[Any],
        tools: Sequence[Any] | None = None,
        *,
        framing: Framing | None = None,
    ) -> Count:
        """Return the tokens of a request in the framing that the model's provider published, or in
        *framing*."""
        tally, basis = self._measured(messages, tools, framing)
        return tally.count_on(basis)

    def costs(self, messages: Sequence[Any], tools: Sequence[Any] | None = None) -> MessageCosts:
        """Return the tokens of each message, which add up to ``count_messages``."""

        tally, basis = self._measured(messages, tools)

        def count_of(places: Sequence[int]) -> Count:
            return tally.only(places).count_on(basis)

        return MessageCosts(tally.per_message, tally.fixed, count_of)

    def _measured(
        self, messages: Sequence[Any], tools: Sequence[Any] | None, framing: Framing | None = None
    ) -> tuple[Tally, Basis | None]:
        """Return the tally of a request in tokens of the model, and the basis of its count, if the
        ratio has one."""

        ratio = self._ratio()
        encoding = None
        if ratio is None:
            encoding = self.encoding
        tally = measure(
            messages,
            tools,
            model_name=self.model,
            encoding=encoding,
            count_text=self._engine,
            framing=framing,
        )
        if ratio is None:
            return tally, None
        return tally.scaled(ratio.value, ratio.low, ratio.high), ratio.basis


class ExactTokenCounter(VocabularyCounter):
    """Counts with the vocabulary of *model*, or of an *encoding* named directly.

    Offline, without a download.

    It promises the provider's own number for text, and for plain-text chat of the families whose
    framing is published. Tools, images and other families make a message count ``estimated``, with
    an interval.

    >>> ExactTokenCounter("gpt-4o").count("Hello world")
    Count(2)
    """

    def __init__(self, model: str | None = None, *, encoding: str | None = None) -> None:
        """Raise ``NoExactCounter`` if the vocabulary is not public, the model is unknown or no
        engine here has it."""
        if not encoding:
            encoding = _own_encoding(model)
        name = model or encoding
        engine = encoding_counter(encoding)
        if engine is None and encoding in NativeEngine.encodings:
            raise NoExactCounter(
                f"{name}: its vocabulary comes with brim[fast]; install that, or use mode 'auto' "
                "for an estimate"
            )
        if engine is None:
            raise NoExactCounter(
                f"{name}: its vocabulary is not public, so brim cannot count it exactly here; "
                "use mode 'api' for the provider's own count, or 'auto' for an estimate with an "
                "interval"
            )
        super().__init__(model, encoding, engine)

    def _ratio(self) -> Ratio | None:
        if self._engine.exact:
            return None
        return prior_for(ANY_FAMILY)

    def of_units(self, units: int, /) -> Count:
        """Return a count; exact, unless another engine had to stand in."""
        count = super().of_units(units)
        if self._engine.exact:
            return count
        return Count(
            int(count), "estimated", count.low, count.high, f"the engine of {self.encoding} failed"
        )


def _own_encoding(model: str | None) -> str:
    """Return the encoding of *model*; without one, of OpenAI's newer models."""
    if model is None:
        return DEFAULT_ENCODING
    light = lookup(model)
    if not light.resolved:
        raise NoExactCounter(
            f"{model}: brim does not know this model, so it cannot count it exactly; "
            "use mode 'auto' for an estimate, or add it under models: in the configuration"
        )
    return light.encoding


class CalibratedTokenCounter(VocabularyCounter):
    """Counts with a stand-in vocabulary, times a ratio.

    The ratio is learned (``calibrated``), else a prior (``estimated``).

    A name that brim does not know but whose family it does (``gpt-4o-next``) is counted with the
    family's vocabulary.
    """

    model: str

    def __init__(self, model: str, *, calibrations: CalibrationStore | None = None) -> None:
        light = lookup(model)
        engine = encoding_counter(light.encoding) or encoding_counter(STAND_IN)
        assert engine is not None  # noqa: S101 - the table engine has the stand-in
        super().__init__(model, light.encoding, engine)
        self._calibrations = calibrations
        # The vocabulary of an unknown name is a guess, so its ratio is as uncertain as any.
        self.family = ANY_FAMILY
        if light.resolved:
            self.family = light.encoding

    @property
    def ratio(self) -> Ratio:
        """Tokens of the model for one token of the vocabulary."""
        return ratio_for(self.model, self.family, self._calibrations)

    def _ratio(self) -> Ratio:
        return self.ratio


def counter_for(
    model: str | None = None,
    *,
    mode: Mode = "auto",
    calibrations: CalibrationStore | None = None,
    client: Any = None,
) -> TokenCounter:
    """Return the counter for *model*; without one, for o200k_base.

    *calibrations* is where the ratios of models without a public vocabulary are learned; *client*
    is the provider's own SDK client for ``mode="api"``. ``mode="auto"`` never uses the network and
    never raises.
    """
    if mode == "auto":
        return local_counter(model, calibrations)
    if mode == "exact":
        return ExactTokenCounter(model)
    if mode == "approximate":
        return ApproximateTokenCounter(model)
    if mode == "api":
        if model is None:
            raise NoExactCounter("mode 'api' needs a model: which provider should be asked?")
        # Only who asks for the network pays for loading it.
        from brim.tokens.api import ApiTokenCounter

        return ApiTokenCounter(model, client=client, fallback=local_counter(model, calibrations))
    raise ValueError(f"unknown mode {mode!r}: use one of {', '.join(MODES)}")


def local_counter(
    model: str | None, calibrations: CalibrationStore | None = None
) -> ExactTokenCounter | CalibratedTokenCounter:
    """Return the best counter for *model* that needs no network."""
    if model is None:
        return ExactTokenCounter()
    light = lookup(model)
    if light.resolved and encoding_counter(light.encoding) is not None:
        return ExactTokenCounter(model)
    return CalibratedTokenCounter(model, calibrations=calibrations)


def count(text: str, model: str | None = None, *, mode: Mode = "auto") -> Count:
    """Return the number of tokens of *text* for *model*.

    Without a model, brim counts with o200k_base. ``basis``, ``low`` and ``high`` of the result say
    how sure it is.

    >>> count("Hello world", model="gpt-4o")
    Count(2)
    """
    return counter_for(model, mode=mode).count(text)
