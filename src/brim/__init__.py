"""brim: the context budget for LLM agents.

Fill the context window to the brim, never over. One folder per question: ``tokens`` (how many tokens is this?),
``models`` (what does this model hold, and what does it charge?), ``history`` (what may leave?), ``window`` (how much
room is there?).
"""

from __future__ import annotations

from brim._lazy import exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brim.errors import BrimError
    from brim.tokens.count import Count
    from brim.tokens.counters import count, counter_for

__version__ = "0.1.0"

__all__ = ["BrimError", "Count", "__version__", "count", "counter_for"]

__getattr__, __dir__ = exports(
    __name__,
    {"BrimError": "errors", "Count": "tokens.count", "count": "tokens.counters", "counter_for": "tokens.counters"},
)
