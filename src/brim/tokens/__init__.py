"""How many tokens is this?

``count`` is the answer: a number that says how sure it is. ``vocabulary`` and ``engines`` count
text, ``messages`` knows what a provider counts of a message, ``counters`` puts them together and
chooses one for a model, as ``protocol`` promises. ``calibrate`` learns ratios for vocabularies that
aren't public, ``anchor`` builds on what a provider reported, ``api`` asks the provider
(``api_requests`` writes its requests). ``costs`` says what each message takes, and ``stream``
counts what doesn't fit into memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from brim._lazy import exports

if TYPE_CHECKING:
    from brim.tokens.anchor import Anchor as Anchor
    from brim.tokens.anchor import AnchoredTokenCounter as AnchoredTokenCounter
    from brim.tokens.anchor import AnchorStore as AnchorStore
    from brim.tokens.anchor import MemoryAnchorStore as MemoryAnchorStore
    from brim.tokens.api import ApiTokenCounter as ApiTokenCounter
    from brim.tokens.approximate import ApproximateTokenCounter as ApproximateTokenCounter
    from brim.tokens.approximate import estimate_tokens as estimate_tokens
    from brim.tokens.calibrate import Calibration as Calibration
    from brim.tokens.calibrate import CalibrationStore as CalibrationStore
    from brim.tokens.calibrate import MemoryCalibrationStore as MemoryCalibrationStore
    from brim.tokens.count import Count as Count
    from brim.tokens.counters import MODES as MODES
    from brim.tokens.counters import CalibratedTokenCounter as CalibratedTokenCounter
    from brim.tokens.counters import ExactTokenCounter as ExactTokenCounter
    from brim.tokens.counters import counter_for as counter_for
    from brim.tokens.protocol import TokenCounter as TokenCounter
    from brim.tokens.stream import blocks as blocks
else:
    __getattr__, __dir__ = exports(
        __name__,
        anchor="Anchor AnchorStore AnchoredTokenCounter MemoryAnchorStore",
        api="ApiTokenCounter",
        approximate="ApproximateTokenCounter estimate_tokens",
        calibrate="Calibration CalibrationStore MemoryCalibrationStore",
        count="Count",
        counters="CalibratedTokenCounter ExactTokenCounter MODES counter_for",
        protocol="TokenCounter",
        stream="blocks",
    )
