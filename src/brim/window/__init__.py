"""How much room is there?

``budget`` divides a model's window between the messages, the directive, the response and what may be injected.
``memory`` divides a working memory between its sections, says what is left for history, and assembles the request.
For that, ``pieces`` reads the arguments, ``assembler`` decides what leaves and accounts for every token, and
``assembly`` is the result.
"""

from __future__ import annotations

from brim._lazy import exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brim.window.assembly import Assembly, DroppedItem, Section
    from brim.window.budget import (
        DEFAULT_CONTEXT_WINDOW,
        MODEL_CONTEXT_WINDOWS,
        RESPONSE_RESERVE_MAX,
        RESPONSE_RESERVE_MIN,
        RESPONSE_RESERVE_RATIO,
        SAFETY_BUFFER_RATIO,
        Reserves,
        TokenBudget,
        TokenBudgetCalculator,
    )
    from brim.window.memory import MemoryConfig, WorkingMemory

__all__ = [
    "DEFAULT_CONTEXT_WINDOW",
    "MODEL_CONTEXT_WINDOWS",
    "RESPONSE_RESERVE_MAX",
    "RESPONSE_RESERVE_MIN",
    "RESPONSE_RESERVE_RATIO",
    "SAFETY_BUFFER_RATIO",
    "Assembly",
    "DroppedItem",
    "MemoryConfig",
    "Reserves",
    "Section",
    "TokenBudget",
    "TokenBudgetCalculator",
    "WorkingMemory",
]

_ELSEWHERE = {
    **dict.fromkeys(("Assembly", "DroppedItem", "Section"), "assembly"),
    **dict.fromkeys(("MemoryConfig", "WorkingMemory"), "memory"),
}

__getattr__, __dir__ = exports(__name__, {name: _ELSEWHERE.get(name, "budget") for name in __all__})
