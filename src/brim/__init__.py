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

# Every hook loads this module before its start-up file, so it can't import typing.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from brim import activation as activation
    from brim import adapters as adapters
    from brim import agents as agents
    from brim import behaviors as behaviors
    from brim import config as config
    from brim import guard as guard
    from brim import injection as injection
    from brim import memory as memory
    from brim import messages as messages
    from brim import models as models
    from brim import report as report
    from brim import spend as spend
    from brim import store as store
    from brim import tokens as tokens
    from brim import tracking as tracking
    from brim.activation.engine import activate as activate
    from brim.behaviors.behavior import Rule as Rule
    from brim.errors import BrimError as BrimError
    from brim.errors import DoesNotFit as DoesNotFit
    from brim.errors import InputError as InputError
    from brim.errors import LimitReached as LimitReached
    from brim.guard.conversation import Guard as Guard
    from brim.injection.mapper import ActivationTierMapper as ActivationTierMapper
    from brim.injection.session import Session as Session
    from brim.injection.text import render as render
    from brim.memory.model import ScratchModel as ScratchModel
    from brim.memory.writer import ScratchWriter as ScratchWriter
    from brim.messages.budget import TokenBudgetCalculator as TokenBudgetCalculator
    from brim.messages.fitting import Fitted as Fitted
    from brim.messages.fitting import fit as fit
    from brim.messages.formats import repair as repair
    from brim.messages.formats import validate as validate
    from brim.messages.memory import MemoryConfig as MemoryConfig
    from brim.messages.memory import WorkingMemory as WorkingMemory
    from brim.messages.pruners import prune as prune
    from brim.models.catalog import cost as cost
    from brim.models.catalog import model as model
    from brim.spend.ledger import Ledger as Ledger
    from brim.spend.limits import CostBudget as CostBudget
    from brim.store.ledger import open_ledger as open_ledger
    from brim.tokens.count import Count as Count
    from brim.tokens.counters import count as count
    from brim.tokens.counters import counter_for as counter_for
    from brim.tracking.budget import ContextBudget as ContextBudget
else:
    __getattr__, __dir__ = exports(
        __name__,
        packages="activation adapters agents behaviors config guard injection memory messages models report"
        " spend store tokens tracking",
        **{
            "activation.engine": "activate",
            "behaviors.behavior": "Rule",
            "errors": "BrimError DoesNotFit InputError LimitReached",
            "guard.conversation": "Guard",
            "messages.fitting": "Fitted fit",
            "messages.formats": "repair validate",
            "messages.pruners": "prune",
            "injection.mapper": "ActivationTierMapper",
            "injection.session": "Session",
            "injection.text": "render",
            "models.catalog": "cost model",
            "memory.model": "ScratchModel",
            "memory.writer": "ScratchWriter",
            "spend.ledger": "Ledger",
            "spend.limits": "CostBudget",
            "store.ledger": "open_ledger",
            "tokens.count": "Count",
            "tokens.counters": "count counter_for",
            "tracking.budget": "ContextBudget",
            "messages.budget": "TokenBudgetCalculator",
            "messages.memory": "MemoryConfig WorkingMemory",
        },
    )
