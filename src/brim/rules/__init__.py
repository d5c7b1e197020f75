"""What must agents know, when are they told, and what do rules refuse?

Rules are text. ``paragraphs`` finds each rule in a file and changes it without touching the others,
``rule`` is the value, ``reading`` reads and checks one and ``writing`` words one; ``file`` changes
whole files, and ``inbox`` has the notes that wait for a person. ``native`` reads files such as
CLAUDE.md where they stand. ``accepted`` decides what of a project's file applies.

``when`` has the conditions and ``situation`` what they are compared with; ``prose`` reads
conditions from the words of a rule. ``compiled`` keeps all of that in an index for hooks.
``delivery`` decides what is told now, ``plan`` is the answer, with a reason for every rule, and
``session`` what a window was told before. ``blocks`` are what a rule refuses; ``shell`` reads the
commands that they are compared with, and ``programs`` knows which program one runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from brim._lazy import exports

if TYPE_CHECKING:
    from brim.rules.costs import Costs as Costs
    from brim.rules.costs import StoredCosts as StoredCosts
    from brim.rules.mapper import ActivationTierMapper as ActivationTierMapper
    from brim.rules.plan import InjectionPlan as InjectionPlan
    from brim.rules.plan import Item as Item
    from brim.rules.session import Session as Session
    from brim.rules.text import render as render
    from brim.rules.tiers import Section as Section
    from brim.rules.tiers import Tier as Tier
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
