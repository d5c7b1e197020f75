"""What may leave?

A history is pruned so that its provider still accepts it. ``entries`` is what was read in a message; ``content`` its
text, and changed copies. One module per provider reads, checks and repairs its format: ``chat``, ``responses``,
``anthropic``, ``gemini``, with what they share in ``rules`` and ``repairs``. ``formats`` finds the format of a history,
and has ``validate`` and ``repair``.

``cuts`` says where a history may be cut; ``draft`` holds one while it is pruned, and selects; ``receipt`` is what comes
back. The pruners are in ``pruners``, ``summarize``, ``watermark`` and ``cap``. ``transcript`` finds the conversation in
a session file. ``validate`` shares only the reading with the pruners, because it is what they are tested against.
"""

from __future__ import annotations

from brim._lazy import exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brim.history.cap import ToolResultCap
    from brim.history.cuts import Unit
    from brim.history.entries import PROVIDERS, Provider
    from brim.history.formats import repair, validate
    from brim.history.pruners import FifoPruner, Pruner, SlidingWindowPruner
    from brim.history.receipt import CacheEffect, Change, Dropped, Pruned, Receipt, Repaired, Violation
    from brim.history.summarize import SummarizePruner
    from brim.history.watermark import Decisions, WatermarkPruner

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
    **dict.fromkeys(("FifoPruner", "Pruner", "SlidingWindowPruner"), "pruners"),
    **dict.fromkeys(("Decisions", "WatermarkPruner"), "watermark"),
    **dict.fromkeys(("PROVIDERS", "Provider"), "entries"),
    **dict.fromkeys(("repair", "validate"), "formats"),
    **{"SummarizePruner": "summarize", "ToolResultCap": "cap", "Unit": "cuts"},
}

__getattr__, __dir__ = exports(__name__, {name: _MODULES.get(name, "receipt") for name in __all__})
