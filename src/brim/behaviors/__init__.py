"""What have we learned?

Bottom up: ``kinds`` and ``names`` are the vocabulary, ``globs`` and ``when`` say under which conditions something
matters, ``behavior`` and ``edges`` are the things themselves.
"""

from __future__ import annotations

from brim._lazy import exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brim.behaviors.behavior import Behavior, Provenance, Usage
    from brim.behaviors.edges import Edge
    from brim.behaviors.kinds import BehaviorKind, EdgeKind, Status
    from brim.behaviors.when import When

__all__ = ["Behavior", "BehaviorKind", "Edge", "EdgeKind", "Provenance", "Status", "Usage", "When"]

__getattr__, __dir__ = exports(
    __name__,
    {
        "Behavior": "behavior",
        "BehaviorKind": "kinds",
        "Edge": "edges",
        "EdgeKind": "kinds",
        "Provenance": "behavior",
        "Status": "kinds",
        "Usage": "behavior",
        "When": "when",
    },
)
