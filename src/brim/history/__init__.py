"""What may leave?

A history is pruned so that its provider still accepts it. Bottom up: ``reading`` says what stands in a message of any
format; ``soundness`` finds what can never be sent; ``cuts`` and ``joins`` hold the rules, one function each, of where a
history may be cut and what may then stand together; ``units`` are what no cut divides. ``draft`` puts a history on the
table with its prices, ``pins`` says what stays, ``select`` chooses. Each pruner is a file, on ``base``: ``fifo``,
``sliding``, ``summarize`` (with ``extract``), ``cap`` (with ``shorten``), ``watermark`` (with ``decisions``,
``economics`` and ``cache``).

``validity`` checks a history by rules written apart from all of these, and ``repairing`` makes a broken one valid.
``transcript`` finds the conversation in a session file. ``types`` holds what they take and return.
"""

from __future__ import annotations

from brim._lazy import exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brim.history.cap import ToolResultCap
    from brim.history.decisions import Decisions
    from brim.history.fifo import FifoPruner
    from brim.history.repairing import repair
    from brim.history.sliding import SlidingWindowPruner
    from brim.history.summarize import SummarizePruner
    from brim.history.types import (
        PROVIDERS,
        CacheEffect,
        Change,
        Dropped,
        Provider,
        Pruned,
        Pruner,
        Receipt,
        Repaired,
        Violation,
    )
    from brim.history.units import Unit
    from brim.history.validity import validate
    from brim.history.watermark import WatermarkPruner

__all__ = [
    "PROVIDERS",
    "CacheEffect",
    "Change",
    "Decisions",
    "Dropped",
    "FifoPruner",
    "Provider",
    "Pruned",
    "Pruner",
    "Receipt",
    "Repaired",
    "SlidingWindowPruner",
    "SummarizePruner",
    "ToolResultCap",
    "Unit",
    "Violation",
    "WatermarkPruner",
    "repair",
    "validate",
]

_MODULES = {
    "Decisions": "decisions",
    "FifoPruner": "fifo",
    "SlidingWindowPruner": "sliding",
    "SummarizePruner": "summarize",
    "ToolResultCap": "cap",
    "Unit": "units",
    "WatermarkPruner": "watermark",
    "repair": "repairing",
    "validate": "validity",
}

__getattr__, __dir__ = exports(__name__, {name: _MODULES.get(name, "types") for name in __all__})
