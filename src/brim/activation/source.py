"""Where activation gets its graph from: a protocol, so that a store can answer from its indexes.

The engine asks for the seeds first, and then only for what their edges lead to. So the cost of an activation follows
the neighbourhood of what matters now, and not the number of behaviors that were ever learned.
"""

from __future__ import annotations

from brim._light import namedtuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from typing import NamedTuple, Protocol

    from brim.behaviors.behavior import Behavior, Edge
    from brim.behaviors.when import When

    class Node(NamedTuple):
        """What activation knows of a behavior."""

        id: str
        when: When
        words: frozenset[str]
        """The stems of its name and tags."""
        uses: int
        last_used: float | None
        """Seconds since 1970; None if it was never used."""
else:
    Protocol = object
    Node = namedtuple("Node", ("id", "when", "words", "uses", "last_used"))


class Source(Protocol):
    """A graph of behaviors that can be asked for parts of itself.

    The rules every source keeps: only live behaviors, each once; only edges with both ends live, each combination of
    source, target and kind once; in any order.
    """

    def seeds(self, facts: Mapping[str, tuple[str, ...]], words: frozenset[str]) -> Iterable[Node]:
        """Every behavior without conditions, with a condition that *facts* confirm, or with one of *words*.

        It may give others too, and never too few: each is compared with the context once more.
        """
        ...

    def nodes(self, ids: Collection[str]) -> Iterable[Node]:
        """Those of *ids* that are live."""
        ...

    def edges(self, ids: Collection[str]) -> Iterable[Edge]:
        """Every edge that touches one of *ids*, at either end."""
        ...


def node_of(behavior: Behavior) -> Node:
    """Return what activation knows of *behavior*."""
    from brim.behaviors.words import behavior_words

    usage = behavior.usage
    words = behavior_words(behavior.name, behavior.tags)
    return Node(behavior.id, behavior.when, words, usage.count, usage.last_used)
