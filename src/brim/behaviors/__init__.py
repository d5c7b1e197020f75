"""What have we learned?

``behavior`` has the things themselves (``Rule``, ``Edge``) and ``when`` their conditions.
``words`` and ``tasks`` find what a text is about, ``inference`` what a rule is for, ``summary``
cuts one without changing its sense. ``blocks`` are what a rule refuses; ``shell`` reads the
commands that they are compared with, and ``programs`` knows which program one runs. ``sentences``
says in words when a rule is heard.

``corrections`` notices a correction in a prompt, and ``learning`` makes rules of corrections and
feedback. ``duplicates`` and ``contradictions`` compare rules. ``graph`` checks how they are
connected. ``jsonl``, ``yaml_form``, ``floop`` and ``markdown`` read and write files.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from brim._lazy import exports

if TYPE_CHECKING:
    from brim.behaviors.behavior import BehaviorKind as BehaviorKind
    from brim.behaviors.behavior import Edge as Edge
    from brim.behaviors.behavior import EdgeKind as EdgeKind
    from brim.behaviors.behavior import Provenance as Provenance
    from brim.behaviors.behavior import Rule as Rule
    from brim.behaviors.behavior import RuleUsage as RuleUsage
    from brim.behaviors.behavior import Status as Status
    from brim.behaviors.duplicates import Merged as Merged
    from brim.behaviors.duplicates import merge as merge
    from brim.behaviors.duplicates import near_duplicate as near_duplicate
    from brim.behaviors.graph import check as check
    from brim.behaviors.jsonl import dump as dump
    from brim.behaviors.jsonl import load as load
    from brim.behaviors.learning import Learned as Learned
    from brim.behaviors.learning import Proposal as Proposal
    from brim.behaviors.learning import confirmed as confirmed
    from brim.behaviors.learning import learn as learn
    from brim.behaviors.learning import propose as propose
    from brim.behaviors.learning import settle as settle
    from brim.behaviors.summary import summarize as summarize
    from brim.behaviors.when import When as When
else:
    __getattr__, __dir__ = exports(
        __name__,
        behavior="Rule BehaviorKind Edge EdgeKind Provenance Status RuleUsage",
        duplicates="Merged merge near_duplicate",
        graph="check",
        jsonl="dump load",
        learning="Learned Proposal confirmed learn propose settle",
        summary="summarize",
        when="When",
    )
