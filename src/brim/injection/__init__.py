"""What goes in, in how much detail?

Bottom up: ``tiers`` is the vocabulary, ``text`` writes it, ``costs`` says what each line takes. An
``arrangement`` is every behavior at some tier, and demotes the lowest until it fits. ``mapper``
makes it from activations. The result is a ``plan``. ``session`` limits how much one window is told,
and how soon again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from brim._lazy import exports

if TYPE_CHECKING:
    from brim.injection.costs import Costs as Costs
    from brim.injection.costs import StoredCosts as StoredCosts
    from brim.injection.mapper import ActivationTierMapper as ActivationTierMapper
    from brim.injection.plan import InjectionPlan as InjectionPlan
    from brim.injection.plan import Item as Item
    from brim.injection.session import Session as Session
    from brim.injection.text import render as render
    from brim.injection.tiers import Section as Section
    from brim.injection.tiers import Tier as Tier
else:
    __getattr__, __dir__ = exports(
        __name__,
        costs="Costs StoredCosts",
        mapper="ActivationTierMapper",
        plan="InjectionPlan Item",
        session="Session",
        text="render",
        tiers="Section Tier",
    )
