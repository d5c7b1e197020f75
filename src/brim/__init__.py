"""brim: the context budget for LLM agents.

Fill the context window to the brim, never over. ``count`` counts tokens, ``fit`` shortens a request
until it fits its model, and ``Guard`` wraps every call of a conversation. ``activate`` and
``ActivationTierMapper`` choose the rules that matter now, and ``render`` writes them within a
budget. ``CostBudget`` and ``open_ledger`` stop spending at a limit. ``ContextBudget`` watches how
full a window is, and ``ScratchWriter`` keeps what a compaction would lose.

Everything is imported when it's first used. Each room of the house is a module with more names:
``brim.tokens`` (how many tokens is this?), ``brim.models`` (what does a model hold and charge?),
``brim.messages`` (which of them can be dropped, and how much room is there?), and those in
``dir(brim)``.
"""

from __future__ import annotations

from brim._lazy import exports

__version__ = "0.3.0"

__getattr__, __dir__ = exports(
    __name__,
    packages="adapters agents config guard memory messages models money rules sessions tokens",
    **{
        "rules.activation": "activate",
        "rules.library_rule": "Rule",
        "errors": "BrimError DoesNotFit InputError LimitReached UnknownPrice",
        "guard.conversation": "Guard",
        "messages.fitting": "Fitted fit",
        "messages.formats": "repair validate",
        "rules.mapper": "ActivationTierMapper",
        "rules.session": "Session",
        "rules.text": "render",
        "models.catalog": "cost model",
        "memory.model": "ScratchModel",
        "memory.writer": "ScratchWriter",
        "money.budget": "CostBudget",
        "money.ledger": "Ledger",
        "money.opening": "open_ledger",
        "usd": "Money",
        "tokens.count": "Count",
        "tokens.counters": "count counter_for",
        "sessions.window.budget": "ContextBudget",
        "messages.budget": "TokenBudgetCalculator",
        "messages.memory": "MemoryConfig WorkingMemory",
    },
)
