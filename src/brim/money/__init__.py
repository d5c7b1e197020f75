"""What was spent, and what may be spent?

Agents' limits are settings, compared with the index of requests:

- ``spending`` is the one question that hooks, runs and commands ask: ``Spending``. ``book`` shows
  limits to a person, ``changing`` changes them.
- ``limits`` is one limit as a person writes it, ``periods`` when it counts from, ``settings`` where
  limits are kept: in the user's ``config.yaml``, which ``writing`` changes.
- ``standing`` compares limits with the index, and says what the next request will cost,
  ``plans`` how much of a subscription is used. ``decision`` is the table of what happens at a
  limit, in one function without side effects; ``forecast`` says how far the rest reaches.
- ``amounts`` and ``words`` are how money is said; ``Money`` itself is in ``brim.usd``.
  Prices are in ``brim.models``, tables of what sessions spent in ``brim.sessions.report``.

Programs that call a model reserve money in a ledger before they spend it:

- ``budget`` has the rules of one limit, and ``CostBudget``, which watches one in memory;
  ``notices`` is what it tells, ``meter`` adds up a stream.
- ``ledger`` says what every ledger promises; ``scopes`` are its names, ``allowances`` its limits
  per period. ``quote`` is the most that a request can cost, ``spend`` its money from reservation to
  settlement, ``unsent`` which errors cost nothing, ``workers`` its threads.
- ``stored_ledger`` is a ledger in a database: ``orders`` is what is done about one request, in the
  ``books`` of one transaction, which are made of ``rows``; ``ledger_sums`` has every sum in SQL.
  ``waiting`` is the line of requests that wait until others settle. ``team_keys`` are the keys of
  a team's people, ``team_usage`` what they spent. ``opening`` opens it, in a file
  (``sqlite_ledger``) or in a server (``postgres_ledger``, ``postgres_database``).
  ``ledger_book`` shows and changes its limits for a person.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from brim._lazy import exports

if TYPE_CHECKING:
    from brim.money.allowances import Allowance as Allowance
    from brim.money.budget import CostBudget as CostBudget
    from brim.money.budget import Limit as Limit
    from brim.money.budget import Raise as Raise
    from brim.money.budget import build_wrap_up_prompt as build_wrap_up_prompt
    from brim.money.ledger import Ledger as Ledger
    from brim.money.ledger import Reservation as Reservation
    from brim.money.ledger import ScopeStatus as ScopeStatus
    from brim.money.limits import SpendingLimit as SpendingLimit
    from brim.money.limits import read_limit as read_limit
    from brim.money.meter import SpendMeter as SpendMeter
    from brim.money.notices import CostLimit as CostLimit
    from brim.money.notices import CostNotice as CostNotice
    from brim.money.notices import CostWarning as CostWarning
    from brim.money.notices import InputRequested as InputRequested
    from brim.money.opening import open_ledger as open_ledger
    from brim.money.quote import Quote as Quote
    from brim.money.quote import estimate_cost as estimate_cost
    from brim.money.scopes import lineage as lineage
    from brim.money.spend import Spend as Spend
    from brim.money.unsent import may_be_billed as may_be_billed
    from brim.usd import Money as Money
else:
    __getattr__, __dir__ = exports(
        __name__,
        allowances="Allowance",
        amounts="Money",
        budget="CostBudget Limit Raise build_wrap_up_prompt",
        ledger="Ledger Reservation ScopeStatus",
        limits="SpendingLimit read_limit",
        meter="SpendMeter",
        notices="CostLimit CostNotice CostWarning InputRequested",
        opening="open_ledger",
        quote="Quote estimate_cost",
        scopes="lineage",
        spend="Spend",
        unsent="may_be_billed",
    )
