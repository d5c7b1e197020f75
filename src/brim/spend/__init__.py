"""Who may still spend?

Bottom up: ``money`` has amounts. ``limits`` has the rules of one limit,
its notices, and ``CostBudget``, which watches a limit while money is spent. ``periods`` has limits
per day, week, month or session, in dollars or tokens. A ``ledger`` of many scopes decides before
money is spent (``brim.store.open_ledger`` opens one). ``spending`` is the money of one request, and
``unsent`` says which errors cost nothing. ``account`` compares one session's requests with its
client's own total, and ``meter`` adds up the requests of a stream, counting each once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from brim._lazy import exports

if TYPE_CHECKING:
    from brim.spend.ledger import Ledger as Ledger
    from brim.spend.ledger import Reservation as Reservation
    from brim.spend.ledger import ScopeStatus as ScopeStatus
    from brim.spend.ledger import lineage as lineage
    from brim.spend.limits import CostBudget as CostBudget
    from brim.spend.limits import CostLimit as CostLimit
    from brim.spend.limits import CostNotice as CostNotice
    from brim.spend.limits import CostWarning as CostWarning
    from brim.spend.limits import InputRequested as InputRequested
    from brim.spend.limits import Limit as Limit
    from brim.spend.limits import Raise as Raise
    from brim.spend.limits import build_wrap_up_prompt as build_wrap_up_prompt
    from brim.spend.meter import SpendMeter as SpendMeter
    from brim.spend.money import estimate_cost as estimate_cost
    from brim.spend.money import in_dollars as in_dollars
    from brim.spend.money import micro_dollars as micro_dollars
    from brim.spend.periods import Allowance as Allowance
    from brim.spend.periods import Ceiling as Ceiling
    from brim.spend.periods import read_ceiling as read_ceiling
    from brim.spend.spending import Quote as Quote
    from brim.spend.spending import Spend as Spend
    from brim.spend.unsent import may_be_billed as may_be_billed
else:
    __getattr__, __dir__ = exports(
        __name__,
        ledger="Ledger Reservation ScopeStatus lineage",
        limits="CostBudget CostLimit CostNotice CostWarning InputRequested Limit Raise build_wrap_up_prompt",
        meter="SpendMeter",
        money="estimate_cost in_dollars micro_dollars",
        periods="Allowance Ceiling read_ceiling",
        spending="Quote Spend",
        unsent="may_be_billed",
    )
