"""What matters now?

A context and a graph of behaviors in; each behavior that matters out, with a number and its reasons.

Bottom up: ``parameters`` are the constants, ``lookup`` files conditions so that facts find them, ``source`` is what a
graph must answer and ``graph`` one in memory, ``context`` is the situation, ``seeds`` what it says of each behavior,
``spread`` how that runs along edges, ``engine`` the whole, ``why`` the account of one behavior, and ``learning`` what
edges learn from being used.
"""

from __future__ import annotations

from brim._lazy import exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brim.activation.context import Context
    from brim.activation.engine import Activation, activate
    from brim.activation.graph import Graph
    from brim.activation.learning import co_activated, joint_pairs, touched
    from brim.activation.parameters import Parameters
    from brim.activation.source import Node, Source, node_of
    from brim.activation.why import Explanation, explain

__all__ = [
    "Activation",
    "Context",
    "Explanation",
    "Graph",
    "Node",
    "Parameters",
    "Source",
    "activate",
    "co_activated",
    "explain",
    "joint_pairs",
    "node_of",
    "touched",
]

__getattr__, __dir__ = exports(
    __name__,
    {
        "Activation": "engine",
        "Context": "context",
        "Explanation": "why",
        "Graph": "graph",
        "Node": "source",
        "Parameters": "parameters",
        "Source": "source",
        "activate": "engine",
        "co_activated": "learning",
        "explain": "why",
        "joint_pairs": "learning",
        "node_of": "source",
        "touched": "learning",
    },
)
