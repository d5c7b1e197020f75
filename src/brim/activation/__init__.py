"""What matters now?

A context and a graph of behaviors in; each behavior that matters out, with a number and its
reasons.

Bottom up: ``parameters`` are the constants, ``context`` is the situation, ``source`` is what a
source of behaviors must answer and ``graph`` one in memory, ``engine`` computes seeds, spreading
and inhibition, ``relevance`` scores rules by their words, ``explanation`` says why one behavior has
its number, and ``weights`` is how edges learn from use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from brim._lazy import exports

if TYPE_CHECKING:
    from brim.activation.context import Context as Context
    from brim.activation.engine import Activation as Activation
    from brim.activation.engine import activate as activate
    from brim.activation.explanation import Explanation as Explanation
    from brim.activation.explanation import explain as explain
    from brim.activation.graph import Graph as Graph
    from brim.activation.parameters import Parameters as Parameters
    from brim.activation.source import Node as Node
    from brim.activation.source import Source as Source
    from brim.activation.weights import touched as touched
else:
    __getattr__, __dir__ = exports(
        __name__,
        context="Context",
        engine="Activation activate",
        explanation="Explanation explain",
        graph="Graph",
        parameters="Parameters",
        source="Node Source",
        weights="touched",
    )
