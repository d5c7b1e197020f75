"""What does this model hold, and what does it charge?

A model's name goes in, in whatever spelling an agent, a provider or a person writes it; out comes its window, its
maximum input and output, its tokenizer family and its dated prices. Nothing here asks the network.

Bottom-up: ``files`` reads the data; ``names`` knows how a name may be spelled; ``encodings`` which tokenizer a name
has; ``overrides`` what the configuration says; ``reported`` what agents and providers said, ``overflow`` how to read it
from an error; ``light`` puts these together for the hot path; ``usage`` reads a provider's usage report; ``charges``
has the prices and the rule that makes a cost of them, in whole numbers; ``record`` and ``catalog`` are the full story;
``pricing`` prices a request.
"""

from __future__ import annotations

from brim._lazy import exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brim.models.catalog import model as model
    from brim.models.catalog import models as models
    from brim.models.light import Light as Light
    from brim.models.light import lookup as lookup
    from brim.models.overflow import window_from_error as window_from_error
    from brim.models.overrides import use as use
    from brim.models.pricing import cost as cost
    from brim.models.record import Model as Model
    from brim.models.record import Price as Price
    from brim.models.record import Tier as Tier
    from brim.models.reported import MemoryWindowStore as MemoryWindowStore
    from brim.models.reported import WindowStore as WindowStore
    from brim.models.reported import remember_in as remember_in
    from brim.models.reported import report_window as report_window
    from brim.models.usage import Tokens as Tokens
    from brim.models.usage import read_usage as read_usage

__all__ = [
    "Light",
    "MemoryWindowStore",
    "Model",
    "Price",
    "Tier",
    "Tokens",
    "WindowStore",
    "cost",
    "lookup",
    "model",
    "models",
    "read_usage",
    "remember_in",
    "report_window",
    "use",
    "window_from_error",
]

__getattr__, __dir__ = exports(
    __name__,
    {
        "Light": "light",
        "MemoryWindowStore": "reported",
        "Model": "record",
        "Price": "record",
        "Tier": "record",
        "Tokens": "usage",
        "WindowStore": "reported",
        "cost": "pricing",
        "lookup": "light",
        "model": "catalog",
        "models": "catalog",
        "read_usage": "usage",
        "remember_in": "reported",
        "report_window": "reported",
        "use": "overrides",
        "window_from_error": "overflow",
    },
)
