"""Who may still spend?

Bottom up: ``money`` is how amounts are written, ``scope_names`` who spends. ``limits`` has the rules of one limit: the
marks, the part held back, the four answers. ``notices`` is what is told, ``wrapping`` what an agent is told at the end.
``budget`` watches one limit while money is spent; ``ledger`` says what a ledger of many scopes does, which decides
before the money is spent (``brim.store.open_ledger`` opens one). ``prices`` says what a request costs, and ``meter``
adds up the requests of a stream, each once.
"""

from __future__ import annotations

from brim._lazy import exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brim.spend.budget import CostBudget
    from brim.spend.ledger import Ledger, Reservation, ScopeStatus
    from brim.spend.limits import ANSWERS, Limit, Raise
    from brim.spend.meter import Prices, SpendMeter
    from brim.spend.money import in_dollars, micro_dollars
    from brim.spend.notices import CostLimit, CostNotice, CostWarning, InputRequested
    from brim.spend.prices import PriceList, estimate_cost
    from brim.spend.scope_names import lineage
    from brim.spend.wrapping import build_wrap_up_prompt

__all__ = [
    "ANSWERS",
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
        "CostBudget": "budget",
        "CostLimit": "notices",
        "CostNotice": "notices",
        "CostWarning": "notices",
        "InputRequested": "notices",
        "Ledger": "ledger",
        "Limit": "limits",
        "PriceList": "prices",
        "Prices": "meter",
        "Raise": "limits",
        "Reservation": "ledger",
        "ScopeStatus": "ledger",
        "SpendMeter": "meter",
        "build_wrap_up_prompt": "wrapping",
        "estimate_cost": "prices",
        "in_dollars": "money",
        "lineage": "scope_names",
        "micro_dollars": "money",
    },
)
