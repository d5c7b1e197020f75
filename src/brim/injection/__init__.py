"""What goes in, in how much detail?

Bottom up: ``tiers`` is the vocabulary, ``text`` writes it, ``costs`` says what each line takes. An ``arrangement`` is
every behavior at some tier, with the two strategies that demote step by step; ``optimal`` is the third, with its proof.
``mapper`` runs them, starting from activations. The result is a ``plan``. ``session`` limits how much one window is
told, and how soon again.
"""

from __future__ import annotations

from brim._lazy import exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brim.injection.costs import Costs, CountedCosts, StoredCosts
    from brim.injection.mapper import ActivationTierMapper
    from brim.injection.plan import InjectionPlan, Item
    from brim.injection.session import Session
    from brim.injection.text import render
    from brim.injection.tiers import FIDELITY, FORMATS, Section, Tier

__all__ = [
    "FIDELITY",
    "FORMATS",
    "ActivationTierMapper",
    "Costs",
    "CountedCosts",
    "InjectionPlan",
    "Item",
    "Section",
    "Session",
    "StoredCosts",
    "Tier",
    "render",
]

__getattr__, __dir__ = exports(
    __name__,
    {
        "FIDELITY": "tiers",
        "FORMATS": "tiers",
        "ActivationTierMapper": "mapper",
        "Costs": "costs",
        "CountedCosts": "costs",
        "InjectionPlan": "plan",
        "Item": "plan",
        "Section": "tiers",
        "Session": "session",
        "StoredCosts": "costs",
        "Tier": "tiers",
        "render": "text",
    },
)
