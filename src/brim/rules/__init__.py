"""What must agents know, when are they told, and what do rules refuse?

Rules are text. ``paragraphs`` finds each rule in a file and changes it without touching the others,
``rule`` is the value, ``reading`` reads and checks one; ``file`` changes
whole files, and ``inbox`` has the notes that wait for a person. ``native`` reads files such as
CLAUDE.md where they stand. ``accepted`` decides what of a project's file applies.

``when`` has the conditions and ``situation`` what they are compared with; ``prose`` reads
conditions from the words of a rule. ``compiled`` keeps all of that in an index for hooks.
``delivery`` decides what is told now, ``plan`` is the answer, with a reason for every rule, and
``session`` what a window was told before. ``blocks`` are what a rule refuses; ``shell`` reads the
commands that they are compared with, and ``programs`` knows which program one runs.

The library takes rules as values: ``library_rule`` has ``Rule`` and ``Edge``, ``conditions`` what
they wait for and the situation, ``kinds`` guesses a kind and ``summary`` shortens a text.
``activation`` spreads over rules and edges, as ``spreading`` does for hooks too. ``mapper`` turns
activations into tiers, ``text`` renders them, and ``library`` brings the rules of files there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from brim._lazy import exports

if TYPE_CHECKING:
    from brim.rules.activation import Activation as Activation
    from brim.rules.activation import Graph as Graph
    from brim.rules.activation import Parameters as Parameters
    from brim.rules.activation import activate as activate
    from brim.rules.conditions import Context as Context
    from brim.rules.conditions import When as When
    from brim.rules.kinds import infer_kind as infer_kind
    from brim.rules.library_rule import BehaviorKind as BehaviorKind
    from brim.rules.library_rule import Edge as Edge
    from brim.rules.library_rule import EdgeKind as EdgeKind
    from brim.rules.library_rule import Rule as Rule
    from brim.rules.library_rule import RuleUsage as RuleUsage
    from brim.rules.library_rule import Status as Status
    from brim.rules.mapper import ActivationTierMapper as ActivationTierMapper
    from brim.rules.plan import InjectionPlan as InjectionPlan
    from brim.rules.plan import Item as Item
    from brim.rules.session import Session as Session
    from brim.rules.summary import summarize as summarize
    from brim.rules.text import Section as Section
    from brim.rules.text import render as render
    from brim.rules.tiers import Tier as Tier
else:
    __getattr__, __dir__ = exports(
        __name__,
        activation="Activation Graph Parameters activate",
        conditions="Context When",
        kinds="infer_kind",
        library_rule="BehaviorKind Edge EdgeKind Rule RuleUsage Status",
        mapper="ActivationTierMapper",
        plan="InjectionPlan Item",
        session="Session",
        summary="summarize",
        text="Section render",
        tiers="Tier",
    )
