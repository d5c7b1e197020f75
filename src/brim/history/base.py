"""What pruners share: they put the history on the table, choose, and hand over what they chose."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Literal

from brim.history.draft import Draft, draft

if TYPE_CHECKING:
    from collections.abc import Sequence

    from brim.history.types import Pin, Provider, Pruned
    from brim.tokens.counters import TokenCounter


class ChoosingPruner(ABC):
    """A pruner whose whole judgement is ``choose``; it keeps the rules of ``Pruner``."""

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
        return self.choose(work, fill)

    @abstractmethod
    def choose(self, work: Draft, fill: bool) -> Pruned:
        """Return what stays of *work*; *fill* asks for older units where there is room."""
