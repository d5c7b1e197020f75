"""brim: the context budget for LLM agents.

Fill the context window to the brim, never over. One folder per question: ``tokens`` (how many tokens is this?),
``models`` (what does this model hold, and what does it charge?), ``history`` (what may leave?), ``window`` (how much
room is there?).
"""

from __future__ import annotations

from brim._lazy import exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brim.errors import BrimError as BrimError
    from brim.tokens.count import Count as Count
    from brim.tokens.counters import count as count
    from brim.tokens.counters import counter_for as counter_for

__version__ = "0.2.0.dev0"

__getattr__, __dir__ = exports(
    __name__,
    **{
        "errors": "BrimError",
        "tokens.count": "Count",
        "tokens.counters": "count counter_for",
    },
)
