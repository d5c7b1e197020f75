"""The newest turns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brim.history.arguments import whole_number
from brim.history.base import ChoosingPruner
from brim.history.select import select

if TYPE_CHECKING:
    from brim.history.draft import Draft
    from brim.history.types import Pruned


class SlidingWindowPruner(ChoosingPruner):
    """Keeps the newest *turns*, and of these what fits. A turn begins when a person speaks.

    >>> history = [{"role": "user", "content": f"message {n}"} for n in range(10)]
    >>> pruned = SlidingWindowPruner(turns=2).prune(history, 1_000, model="gpt-4o")
    >>> [message["content"] for message in pruned.messages]
    ['message 8', 'message 9']
    """

    def __init__(self, turns: int = 10) -> None:
        self.turns = whole_number("turns", turns, 1)

    def choose(self, work: Draft, fill: bool) -> Pruned:
        """Return what fits of the newest turns; *fill* stays within them too."""
        oldest = work.prompts[-self.turns] if len(work.prompts) >= self.turns else 0
        kept = select(work, work.target, oldest=oldest, fill=fill)
        too_old = dict.fromkeys(range(oldest), f"older than the newest {self.turns} turns")
        return work.finish("sliding", kept, reason="it does not fit with what is newer", reasons=too_old)
