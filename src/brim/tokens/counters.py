"""Which counter for which model."""

from __future__ import annotations

from brim.tokens.count import Count
from brim.tokens.engines import encoding_counter
from brim.tokens.exact import ExactTokenCounter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal

    from brim.tokens.calibrate import CalibrationStore
    from brim.tokens.calibrated import CalibratedTokenCounter
    from brim.tokens.types import TokenCounter

    Mode = Literal["auto", "approximate", "exact", "api"]

MODES = ("auto", "approximate", "exact", "api")
"""``auto`` is the best count without the network; ``exact`` refuses where there is none; ``api`` asks the provider."""


def counter_for(
    model: str | None = None,
    *,
    mode: Mode = "auto",
    calibrations: CalibrationStore | None = None,
    client: Any = None,
) -> TokenCounter:
    """Return the counter for *model*; without one, for o200k_base.

    *calibrations* is where the ratios of models without a public vocabulary are learned; *client* is the provider's
    own SDK client for ``mode="api"``. ``mode="auto"`` never uses the network and never raises.
    """
    if mode == "auto":
        return local_counter(model, calibrations)
    if mode == "exact":
        return ExactTokenCounter(model)
    if mode == "approximate":
        from brim.tokens.approximate import ApproximateTokenCounter

        return ApproximateTokenCounter(model)
    if mode == "api":
        from brim.errors import NoExactCounter
        from brim.tokens.api import ApiTokenCounter

        if model is None:
            raise NoExactCounter("mode 'api' needs a model: which provider should be asked?")
        return ApiTokenCounter(model, client=client, fallback=local_counter(model, calibrations))
    raise ValueError(f"unknown mode {mode!r}: use one of {', '.join(MODES)}")


def count(text: str, model: str | None = None, *, mode: Mode = "auto") -> Count:
    """Return the number of tokens of *text* for *model*; without one, in o200k_base.

    >>> count("Hello world", model="gpt-4o")
    Count(2)
    """
    return counter_for(model, mode=mode).count(text)


def local_counter(
    model: str | None, calibrations: CalibrationStore | None = None
) -> ExactTokenCounter | CalibratedTokenCounter:
    """Return the best counter for *model* that needs neither the network nor luck."""
    if model is None:
        return ExactTokenCounter()
    from brim.models.light import lookup

    found = lookup(model)
    if found.resolved and encoding_counter(found.encoding) is not None:
        return ExactTokenCounter(model)
    from brim.tokens.calibrated import CalibratedTokenCounter

    return CalibratedTokenCounter(model, calibrations=calibrations)
