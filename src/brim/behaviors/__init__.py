"""What have we learned?

``behavior`` has the things themselves (``Behavior``, ``Edge``) and ``when`` their conditions. ``words`` and ``tasks``
find what a text is about, ``summary`` cuts one without changing its sense. ``learning`` makes rules of corrections
and feedback, ``duplicates`` compares and merges them, ``graph`` checks how they are connected. ``jsonl``,
``yaml_form``, ``floop`` and ``markdown`` read and write files.
"""

from __future__ import annotations

from brim._lazy import exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brim.behaviors.behavior import Behavior, BehaviorKind, Edge, EdgeKind, Provenance, Status, Usage
    from brim.behaviors.duplicates import Merged, merge, most_similar, near_duplicate, near_pairs
    from brim.behaviors.floop import read_floop
    from brim.behaviors.graph import check, would_cycle
    from brim.behaviors.jsonl import dump, load
    from brim.behaviors.learning import Learned, confirmed, learn, overridden
    from brim.behaviors.markdown import read_rules
    from brim.behaviors.summary import summarize
    from brim.behaviors.tasks import language_of, task_of
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
        "BehaviorKind": "behavior",
        "Edge": "behavior",
        "EdgeKind": "behavior",
        "Learned": "learning",
        "Merged": "duplicates",
        "Provenance": "behavior",
        "Status": "behavior",
        "Usage": "behavior",
        "When": "when",
        "check": "graph",
        "confirmed": "learning",
        "dump": "jsonl",
        "language_of": "tasks",
        "learn": "learning",
        "load": "jsonl",
        "merge": "duplicates",
        "most_similar": "duplicates",
        "near_duplicate": "duplicates",
        "near_pairs": "duplicates",
        "overridden": "learning",
        "read_floop": "floop",
        "read_rules": "markdown",
        "summarize": "summary",
        "task_of": "tasks",
        "words_of": "words",
        "would_cycle": "graph",
    },
)
