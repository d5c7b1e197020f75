"""Oldest units first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from brim.history.draft import draft
from brim.history.select import select

if TYPE_CHECKING:
    from collections.abc import Sequence

    from brim.history.types import Pin, Provider, Pruned
    from brim.tokens.types import TokenCounter


class FifoPruner:
    """Drops the oldest units until the rest fits: what stays is the longest legal run of the newest.

    >>> history = [{"role": "user", "content": f"message {n}"} for n in range(10)]
    >>> pruned = FifoPruner().prune(history, 30, model="gpt-4o")
    >>> [message["content"] for message in pruned.messages], pruned.tokens
    (['message 7', 'message 8', 'message 9'], Count(24))
    """

    def prune(
        self,
        messages: Sequence[Any],
        target: int,
        *,
        model: str | None = None,
        tools: Sequence[Any] | None = None,
        provider: Provider | Literal["auto"] = "auto",
        counter: TokenCounter | None = None,
        fill: bool = False,
        pin: Pin | None = None,
    ) -> Pruned:
        """Return *messages* pruned to *target* tokens: see ``Pruner.prune``."""
        work = draft(messages, target, model=model, tools=tools, provider=provider, counter=counter, pin=pin)
        kept = select(work, target, fill=fill)
        return work.finish("fifo", kept, reason="it does not fit with what is newer")
