"""How much room is there?

``budget`` divides a model's window between the messages, the directive, the response and what may be injected;
``memory`` divides a working memory between its sections and says what is left for history.
"""

from __future__ import annotations

from brim._lazy import exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brim.window.budget import (
        DEFAULT_CONTEXT_WINDOW,
        MODEL_CONTEXT_WINDOWS,
        RESPONSE_RESERVE_MAX,
        RESPONSE_RESERVE_MIN,
        RESPONSE_RESERVE_RATIO,
        SAFETY_BUFFER_RATIO,
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
    "MemoryConfig",
    "TokenBudget",
    "TokenBudgetCalculator",
    "WorkingMemory",
]

_MEMORY = ("MemoryConfig", "WorkingMemory")

__getattr__, __dir__ = exports(__name__, {name: "memory" if name in _MEMORY else "budget" for name in __all__})
