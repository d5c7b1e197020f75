"""What does this model hold, and what does it charge?

A model's name goes in, in whatever spelling an agent, a provider or a person writes it; out comes
its window, its maximum input and output, its tokenizer family and its dated prices. Nothing here
asks the network.

``names`` knows how a name may be spelled, ``overrides`` what the configuration says, which
``configured`` has checked, and ``reported`` the windows that agents and providers reported.
``thinking`` knows which models bind their thinking blocks. ``light`` has the
few facts that hooks need, ``usage`` reads a provider's response and its usage report, ``terms``
reads what a request asks for that changes its price, ``charges`` has the prices in whole numbers,
and ``catalog`` has the full record, the search and ``cost``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from brim._lazy import exports

if TYPE_CHECKING:
    from brim.models.catalog import Model as Model
    from brim.models.catalog import Price as Price
    from brim.models.catalog import PriceTier as PriceTier
    from brim.models.catalog import ServicePrice as ServicePrice
    from brim.models.catalog import cost as cost
    from brim.models.catalog import model as model
    from brim.models.catalog import models as models
    from brim.models.configured import use as use
    from brim.models.light import Light as Light
    from brim.models.light import lookup as lookup
    from brim.models.reported import MemoryWindowStore as MemoryWindowStore
    from brim.models.reported import WindowStore as WindowStore
    from brim.models.reported import remember_in as remember_in
    from brim.models.reported import report_window as report_window
    from brim.models.reported import window_from_error as window_from_error
    from brim.models.terms import Terms as Terms
    from brim.models.terms import read_terms as read_terms
    from brim.models.usage import Reported as Reported
    from brim.models.usage import Tokens as Tokens
    from brim.models.usage import read_response as read_response
    from brim.models.usage import read_usage as read_usage
else:
    __getattr__, __dir__ = exports(
        __name__,
        catalog="Model Price ServicePrice PriceTier cost model models",
        light="Light lookup",
        configured="use",
        reported="MemoryWindowStore WindowStore remember_in report_window window_from_error",
        terms="Terms read_terms",
        usage="Reported Tokens read_response read_usage",
    )
