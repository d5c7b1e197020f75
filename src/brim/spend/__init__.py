"""Who may still spend?

Bottom up: ``money`` is amounts and what requests cost. ``limits`` has the rules of one limit, its notices, and
``CostBudget``, which watches one while money is spent. ``ledger`` is what a ledger of many scopes does: it decides
before the money is spent (``brim.store.open_ledger`` opens one). ``account`` compares one session's requests with its
client's own total, and ``meter`` adds up the requests of a stream, each once.
"""

from __future__ import annotations

from brim._lazy import exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brim.spend.account import Account
    from brim.spend.ledger import Ledger, Reservation, ScopeStatus, lineage
    from brim.spend.limits import (
        ANSWERS,
        CostBudget,
        CostLimit,
        CostNotice,
        CostWarning,
        InputRequested,
        Limit,
        Raise,
        build_wrap_up_prompt,
    )
    from brim.spend.meter import SpendMeter
    from brim.spend.money import PriceList, Prices, estimate_cost, in_dollars, micro_dollars

__all__ = [
    "ANSWERS",
    "Account",
    "CostBudget",
    "CostLimit",
    "CostNotice",
    "CostWarning",
    "InputRequested",
    "Ledger",
    "Limit",
    "PriceList",
    "Prices",
    "Raise",
    "Reservation",
    "ScopeStatus",
    "SpendMeter",
    "build_wrap_up_prompt",
    "estimate_cost",
    "in_dollars",
    "lineage",
    "micro_dollars",
]

__getattr__, __dir__ = exports(
    __name__,
    {
        "ANSWERS": "limits",
        "Account": "account",
        "CostBudget": "limits",
        "CostLimit": "limits",
        "CostNotice": "limits",
        "CostWarning": "limits",
        "InputRequested": "limits",
        "Ledger": "ledger",
        "Limit": "limits",
        "PriceList": "money",
        "Prices": "money",
        "Raise": "limits",
        "Reservation": "ledger",
        "ScopeStatus": "ledger",
        "SpendMeter": "meter",
        "build_wrap_up_prompt": "limits",
        "estimate_cost": "money",
        "in_dollars": "money",
        "lineage": "ledger",
        "micro_dollars": "money",
    },
)
