"""The ratio of a model's tokens to locally counted tokens.

Some vocabularies are not public. Their tokens are counted with ``o200k_base`` and multiplied by a
ratio. The ratio starts as a prior (``data/priors.tsv``) and is then learned, per model, from what
the provider reports. How far the observations scatter is how wide the interval is.

A hook multiplies stored costs by this ratio, so this file imports nothing that a hook does not have
already.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol

from brim.files import data_rows
from brim.record import PlainData, set_fields
from brim.tokens.count import Basis

ALPHA = 0.1
"""The share of a new observation in the average, once there are ten.

Before that it is the plain mean of them.
"""
MIN_RATIO = 0.5
MAX_RATIO = 2.0
"""No two vocabularies differ by more.

An observation beyond is a request that held more than its messages show.
"""
FULL_WEIGHT = 2_000
"""Local tokens from which an observation counts in full.

Every request has tokens that no message shows (framing, a hidden system text: tens to hundreds), so
a small one says little about the ratio: 200 tokens count a tenth.
"""
MIN_SAMPLES = 3.0
"""Full observations until the ratio is called calibrated: before, their scatter says nothing."""
LARGEST = 1e300
"""A larger number of tokens isn't one."""
MIN_SPREAD = 0.02
"""The least spread that is believed, as a share of the ratio: other text than was seen lies further
out."""


ANY_FAMILY = "*"
"""The row of the priors for every family that has none of its own."""


@dataclass(frozen=True)
class Calibration(PlainData):
    """What is known about a model's ratio: three numbers to store. Unpacks into them.

    ``ratio`` is how many tokens the provider reports for one local token, from ``MIN_RATIO`` to
    ``MAX_RATIO``. ``spread`` is how far the observations scatter around it (a standard deviation).
    ``samples`` is a sum of weights: an observation of ``FULL_WEIGHT`` tokens or more is 1, a
    smaller one less.

    >>> Calibration(1.27).observe(reported=12_900, local=10_000)
    Calibration(ratio=1.29, spread=0, samples=1)
    """

    ratio: float
    spread: float
    samples: float

    def __init__(self, ratio: float = 1.0, spread: float = 0.0, samples: float = 0.0) -> None:
        """Begin with *ratio* (a prior), or with what a store kept."""
        if not (
            MIN_RATIO <= ratio <= MAX_RATIO and 0 <= spread <= MAX_RATIO and 0 <= samples < math.inf
        ):
            raise ValueError(
                f"a calibration needs a ratio of {MIN_RATIO} to {MAX_RATIO}, a spread and a number of samples from 0"
                f" on, not {ratio}, {spread}, {samples}"
            )
        set_fields(self, float(ratio), float(spread), float(samples))

    def __iter__(self) -> Iterator[float]:
        return iter([getattr(self, name) for name in self.__match_args__])

    def observe(self, reported: float, local: float) -> Calibration:
        """Return what is known after another report.

        The provider reported *reported* tokens where *local* were counted here.

        Nothing, negative and infinite numbers teach nothing: the calibration comes back as it is.
        Once there are ten observations, a new one moves the ratio by at most a tenth of its
        distance: one odd request spoils little.
        """
        if not (0 < local < LARGEST and 0 < reported < LARGEST):
            return self
        observed = min(MAX_RATIO, max(MIN_RATIO, float(reported) / float(local)))
        weight = min(1.0, local / FULL_WEIGHT)
        step = weight * max(ALPHA, 1.0 / (self.samples + 1.0))
        off = observed - self.ratio
        ratio = min(MAX_RATIO, max(MIN_RATIO, self.ratio + step * off))
        variance = (1.0 - step) * (self.spread * self.spread + step * off * off)
        return Calibration(ratio, math.sqrt(variance), self.samples + weight)

    def __repr__(self) -> str:
        return f"Calibration(ratio={self.ratio:.4g}, spread={self.spread:.4g}, samples={self.samples:.4g})"


@dataclass(frozen=True)
class Ratio(PlainData):
    """A ratio to multiply a local count by, the interval it lies in, and the ``basis`` that the
    product has.

    It unpacks into ``Count.scaled``: ``local.scaled(*ratio_for(...))``. The basis is ``calibrated``
    if it was learned, ``estimated`` if it is a prior, ``exact`` if there is nothing to learn.
    """

    value: float
    low: float
    high: float
    basis: Basis

    def __post_init__(self) -> None:
        if not 0 < self.low <= self.value <= self.high:
            numbers = f"low {self.low}, value {self.value}, high {self.high}"
            raise ValueError(f"a ratio needs 0 < low <= value <= high, not {numbers}")

    def __iter__(self) -> Iterator[Any]:
        return iter([getattr(self, name) for name in self.__match_args__])

    def __repr__(self) -> str:
        return f"Ratio({self.value:.4g}, {self.basis}, {self.low:.4g} to {self.high:.4g})"


class CalibrationStore(Protocol):
    """A store for calibrations, by the model's name.

    A store for a user's machine outlives the process.
    """

    def get(self, model: str, /) -> Calibration | None:
        """Return what is known about *model*, or None."""

    def put(self, model: str, calibration: Calibration, /) -> None:
        """Keep *calibration* for *model*, in place of what was there."""


class MemoryCalibrationStore(dict[str, Calibration]):
    """Calibrations in memory, for tests and long-running processes."""

    def put(self, model: str, calibration: Calibration, /) -> None:
        """Keep *calibration* for *model*."""
        self[model] = calibration


def prior_for(encoding: str) -> Ratio:
    """Return the default ratio for a family of models.

    An unknown family has a wide interval.
    """
    return _priors().get(encoding) or _priors()[ANY_FAMILY]


@cache
def _priors() -> dict[str, Ratio]:
    priors = {}
    for family, ratio, low, high, _source in data_rows(__file__, "priors.tsv"):
        basis: Basis = "estimated"
        if low == high:
            basis = "exact"
        priors[family] = Ratio(float(ratio), float(low), float(high), basis)
    return priors


def ratio_for(model_name: str, encoding: str, store: CalibrationStore | None = None) -> Ratio:
    """Return the ratio for *model_name*, whose vocabulary is of the family *encoding*.

    Learned (``calibrated``) from ``MIN_SAMPLES`` full observations on: the interval is two spreads
    to each side, wider while there are few. With fewer the value already follows them, and the
    interval is still the prior's.

    >>> ratio_for("claude-sonnet-4-5", "claude")
    Ratio(1.27, estimated, 1 to 1.5)
    """
    prior = prior_for(encoding)
    if store is None or prior.basis == "exact":
        return prior
    learned = store.get(model_name)
    if learned is None or learned.samples <= 0:
        return prior
    ratio = learned.ratio
    if learned.samples < MIN_SAMPLES:
        return Ratio(ratio, min(prior.low, ratio), max(prior.high, ratio), "estimated")
    half = 2.0 * max(learned.spread, MIN_SPREAD * ratio) * (1.0 + 2.0 / learned.samples)
    return Ratio(ratio, max(MIN_RATIO, ratio - half), min(MAX_RATIO, ratio + half), "calibrated")


def learn(
    store: CalibrationStore, model_name: str, encoding: str, *, reported: float, local: float
) -> None:
    """Put into *store* what one report teaches about *model_name*.

    The first one starts from the family's prior.

    A family whose vocabulary is here has nothing to learn: where its counts differ from the
    provider's, it is by framing, which is a sum and not a ratio.
    """
    prior = prior_for(encoding)
    if prior.basis == "exact":
        return
    before = store.get(model_name) or Calibration(prior.value)
    after = before.observe(reported, local)
    if after != before:
        store.put(model_name, after)
