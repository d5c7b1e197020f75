"""The newest turns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from brim.errors import InputError
from brim.history.draft import draft
from brim.history.select import select

if TYPE_CHECKING:
    from collections.abc import Sequence

    from brim.history.types import Pin, Provider, Pruned
    from brim.tokens.types import TokenCounter


class SlidingWindowPruner:
    """Keeps the newest *turns*, and of these what fits. A turn begins when a person speaks.

    >>> history = [{"role": "user", "content": f"message {n}"} for n in range(10)]
    >>> pruned = SlidingWindowPruner(turns=2).prune(history, 1_000, model="gpt-4o")
    >>> [message["content"] for message in pruned.messages]
    ['message 8', 'message 9']
    """

    def __init__(self, turns: int = 10) -> None:
        if not isinstance(turns, int) or isinstance(turns, bool) or turns < 1:
            raise InputError(f"turns must be a whole number from 1 on, not {turns!r}")
        self.turns = turns

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
        """Return *messages* pruned to *target* tokens: see ``Pruner.prune``. *fill* stays within the newest turns."""
        work = draft(messages, target, model=model, tools=tools, provider=provider, counter=counter, pin=pin)
        oldest = work.prompts[-self.turns] if len(work.prompts) >= self.turns else 0
        kept = select(work, target, oldest=oldest, fill=fill)
        too_old = dict.fromkeys(range(oldest), f"older than the newest {self.turns} turns")
        return work.finish("sliding", kept, reason="it does not fit with what is newer", reasons=too_old)
