"""What have we learned?

Bottom up: ``kinds`` and ``names`` are the vocabulary, ``globs`` and ``when`` say under which conditions something
matters, ``behavior`` and ``edges`` are the things themselves, ``graph_checks`` (with ``cycles``) says what is wrong
with many of them.

How texts are understood: ``tables`` reads the lists in ``data/``, ``words``, ``languages`` and ``tasks`` find what a
text is about, ``sense`` and ``graphemes`` keep a ``summary`` true, ``meaning`` is what ``similarity`` compares.
``infer`` finds kind, tags and name of a correction; ``learning``, ``merging``, ``duplicates`` and ``feedback`` say what
becomes of what is known already.

How they travel: ``records`` and ``times`` as JSON, ``jsonl`` as a file for git, ``difference`` between two sets;
``rules`` (with ``markdown_lists``) and ``floop`` (with ``floop_nodes``) read what others wrote.
"""

from __future__ import annotations

from brim._lazy import exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brim.behaviors.behavior import Behavior, Provenance, Usage
    from brim.behaviors.duplicates import near_pairs
    from brim.behaviors.edges import Edge
    from brim.behaviors.feedback import confirmed, overridden
    from brim.behaviors.floop import read_floop
    from brim.behaviors.graph_checks import check, would_cycle
    from brim.behaviors.jsonl import dump, load
    from brim.behaviors.kinds import BehaviorKind, EdgeKind, Status
    from brim.behaviors.languages import language_of
    from brim.behaviors.learning import Learned, learn
    from brim.behaviors.merging import Merged, merge
    from brim.behaviors.rules import read_rules
    from brim.behaviors.similarity import most_similar, near_duplicate
    from brim.behaviors.summary import summarize
    from brim.behaviors.tasks import task_of
    from brim.behaviors.when import When
    from brim.behaviors.words import words_of

__all__ = [
    "Behavior",
    "BehaviorKind",
    "Edge",
    "EdgeKind",
    "Learned",
    "Merged",
    "Provenance",
    "Status",
    "Usage",
    "When",
    "check",
    "confirmed",
    "dump",
    "language_of",
    "learn",
    "load",
    "merge",
    "most_similar",
    "near_duplicate",
    "near_pairs",
    "overridden",
    "read_floop",
    "read_rules",
    "summarize",
    "task_of",
    "words_of",
    "would_cycle",
]

__getattr__, __dir__ = exports(
    __name__,
    {
        "Behavior": "behavior",
        "BehaviorKind": "kinds",
        "Edge": "edges",
        "EdgeKind": "kinds",
        "Learned": "learning",
        "Merged": "merging",
        "Provenance": "behavior",
        "Status": "kinds",
        "Usage": "behavior",
        "When": "when",
        "check": "graph_checks",
        "confirmed": "feedback",
        "dump": "jsonl",
        "language_of": "languages",
        "learn": "learning",
        "load": "jsonl",
        "merge": "merging",
        "most_similar": "similarity",
        "near_duplicate": "similarity",
        "near_pairs": "duplicates",
        "overridden": "feedback",
        "read_floop": "floop",
        "read_rules": "rules",
        "summarize": "summary",
        "task_of": "tasks",
        "words_of": "words",
        "would_cycle": "graph_checks",
    },
)
