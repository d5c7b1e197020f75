"""What matters now?

A context and a graph of behaviors in; each behavior that matters out, with a number and its reasons.

Bottom up: ``parameters`` are the constants, ``context`` is the situation, ``graph`` is what a source of behaviors must
answer and one in memory, ``engine`` computes seeds, spreading and inhibition, ``explanation`` says why one behavior has
its number, and ``weights`` is how edges learn from use.
"""

from __future__ import annotations

from brim._lazy import exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brim.activation.context import Context
    from brim.activation.engine import Activation, activate
    from brim.activation.explanation import Explanation, explain
    from brim.activation.graph import Graph, Node, Source, node_of
    from brim.activation.parameters import Parameters
    from brim.activation.weights import co_activated, joint_pairs, touched

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
        "Explanation": "explanation",
        "Graph": "graph",
        "Node": "graph",
        "Parameters": "parameters",
        "Source": "graph",
        "activate": "engine",
        "co_activated": "weights",
        "explain": "explanation",
        "joint_pairs": "weights",
        "node_of": "graph",
        "touched": "weights",
    },
)
