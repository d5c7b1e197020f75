"""Oldest units first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brim.history.base import ChoosingPruner
from brim.history.select import select

if TYPE_CHECKING:
    from brim.history.draft import Draft
    from brim.history.types import Pruned


class FifoPruner(ChoosingPruner):
    """Drops the oldest units until the rest fits: what stays is the longest legal run of the newest.

    >>> history = [{"role": "user", "content": f"message {n}"} for n in range(10)]
    >>> pruned = FifoPruner().prune(history, 30, model="gpt-4o")
    >>> [message["content"] for message in pruned.messages], pruned.tokens
    (['message 7', 'message 8', 'message 9'], Count(24))
    """

    def choose(self, work: Draft, fill: bool) -> Pruned:
        """Return the longest legal run of the newest units that fits, and with *fill* older ones."""
        kept = select(work, work.target, fill=fill)
        return work.finish("fifo", kept, reason="it does not fit with what is newer")
