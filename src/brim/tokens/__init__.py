"""How many tokens is this?

``count`` is the answer: a number that says how sure it is. ``vocabulary`` and ``engines`` count text, ``messages``
knows what a provider counts of a message, ``counters`` puts them together and chooses one for a model. ``calibrate``
learns ratios for vocabularies that aren't public, ``anchor`` builds on what a provider reported, ``api`` asks the
provider (``api_requests`` writes its requests). ``costs`` says what each message takes, and ``stream`` counts what
doesn't fit into memory.
"""

from __future__ import annotations

from brim._lazy import exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brim.tokens.anchor import Anchor, AnchoredTokenCounter, AnchorStore, MemoryAnchorStore
    from brim.tokens.api import ApiTokenCounter
    from brim.tokens.calibrate import Calibration, CalibrationStore, MemoryCalibrationStore
    from brim.tokens.count import BASES, Count
    from brim.tokens.counters import (
        MODES,
        ApproximateTokenCounter,
        CalibratedTokenCounter,
        ExactTokenCounter,
        TokenCounter,
        counter_for,
        estimate_tokens,
    )
    from brim.tokens.stream import blocks

__all__ = [
    "BASES",
    "MODES",
    "Anchor",
    "AnchorStore",
    "AnchoredTokenCounter",
    "ApiTokenCounter",
    "ApproximateTokenCounter",
    "CalibratedTokenCounter",
    "Calibration",
    "CalibrationStore",
    "Count",
    "ExactTokenCounter",
    "MemoryAnchorStore",
    "MemoryCalibrationStore",
    "TokenCounter",
    "blocks",
    "counter_for",
    "estimate_tokens",
]

__getattr__, __dir__ = exports(
    __name__,
    {
        "BASES": "count",
        "MODES": "counters",
        "Anchor": "anchor",
        "AnchorStore": "anchor",
        "AnchoredTokenCounter": "anchor",
        "ApiTokenCounter": "api",
        "ApproximateTokenCounter": "counters",
        "CalibratedTokenCounter": "counters",
        "Calibration": "calibrate",
        "CalibrationStore": "calibrate",
        "Count": "count",
        "ExactTokenCounter": "counters",
        "MemoryAnchorStore": "anchor",
        "MemoryCalibrationStore": "calibrate",
        "TokenCounter": "counters",
        "blocks": "stream",
        "counter_for": "counters",
        "estimate_tokens": "counters",
    },
)
