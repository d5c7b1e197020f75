"""What goes in, in how much detail?

Bottom up: ``tiers`` and ``sections`` are the vocabulary, ``lines`` writes one behavior (``forging`` keeps its Markdown
in its place), ``costs`` and ``headings`` say what that takes. An ``arrangement`` is every behavior at some tier;
``demotion`` and ``optimal`` decide who gives way (``relaxation``, ``knapsack`` and ``openings`` are how the best is
found and proven). ``fitting`` runs them, ``mapper`` begins it all with activations. The result is a ``plan``, which
``rendering`` turns into text. ``session`` says how much of that one window may be told, and how soon again.
"""

from __future__ import annotations

from brim._lazy import exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brim.injection.costs import Costs, CountedCosts, StoredCosts
    from brim.injection.mapper import ActivationTierMapper
    from brim.injection.plan import InjectionPlan, Item
    from brim.injection.rendering import render
    from brim.injection.sections import FORMATS, Section
    from brim.injection.session import Session
    from brim.injection.tiers import FIDELITY, Tier

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
        "FORMATS": "sections",
        "ActivationTierMapper": "mapper",
        "Costs": "costs",
        "CountedCosts": "costs",
        "InjectionPlan": "plan",
        "Item": "plan",
        "Section": "sections",
        "Session": "session",
        "StoredCosts": "costs",
        "Tier": "tiers",
        "render": "rendering",
    },
)
