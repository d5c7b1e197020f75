"""How many tokens is this?

Bottom up: ``table`` holds a vocabulary, ``split`` and ``merge`` apply it, ``encoding`` is the engine made of the three,
``engines`` chooses between it and the ``native`` one, ``stream`` feeds them what does not fit into memory. On top stand
the counters, each with its own promise: ``exact``, ``calibrated``, ``anchor``, ``approximate``, ``api``; ``counters``
says which one a model gets. ``messages`` knows what of a message is counted, ``costs`` what each one takes of it, and
``digests`` knows messages again. Every answer is a ``Count``.
"""

from __future__ import annotations

from brim._lazy import exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brim.tokens.anchor import Anchor, AnchoredTokenCounter, AnchorStore, MemoryAnchorStore
    from brim.tokens.api import ApiTokenCounter
    from brim.tokens.approximate import ApproximateTokenCounter, estimate_tokens
    from brim.tokens.calibrate import Calibration, CalibrationStore, MemoryCalibrationStore
    from brim.tokens.calibrated import CalibratedTokenCounter
    from brim.tokens.count import BASES, Count
    from brim.tokens.counters import MODES, counter_for
    from brim.tokens.exact import ExactTokenCounter
    from brim.tokens.stream import blocks
    from brim.tokens.types import TokenCounter

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
        "ApproximateTokenCounter": "approximate",
        "CalibratedTokenCounter": "calibrated",
        "Calibration": "calibrate",
        "CalibrationStore": "calibrate",
        "Count": "count",
        "ExactTokenCounter": "exact",
        "MemoryAnchorStore": "anchor",
        "MemoryCalibrationStore": "calibrate",
        "TokenCounter": "types",
        "blocks": "stream",
        "counter_for": "counters",
        "estimate_tokens": "approximate",
    },
)
