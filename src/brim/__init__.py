"""brim: the context budget for LLM agents.

Fill the context window to the brim, never over. ``fit`` shortens a request until it fits its model,
and ``Guard`` wraps every call of a conversation. Each package answers one question: ``tokens`` (how
many tokens is this?), ``models`` (how large is a model's window, and what does it charge?),
``messages`` (which of them can be dropped, and how much room is there?), ``spend`` (who may still
spend?).
"""

from __future__ import annotations

from brim._lazy import exports

__version__ = "0.3.0"

__getattr__, __dir__ = exports(
    __name__,
    packages="activation agents behaviors guard injection memory messages models spend store tokens tracking",
    **{
        "errors": "BrimError DoesNotFit InputError LimitReached",
        "guard.conversation": "Guard",
        "messages.fitting": "Fitted fit",
        "messages.formats": "repair validate",
        "messages.pruners": "prune",
        "models.catalog": "cost model",
        "tokens.count": "Count",
        "tokens.counters": "count counter_for",
    },
)
