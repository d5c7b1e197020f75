"""History and current message: the end of a request, which a pruner sees as one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from brim.history.types import Provider


@dataclass(frozen=True, slots=True)
class Tail:
    """History and current message.

    They are pruned together, because a current message may answer a call in the history, and because the last user
    message, which no pruner drops, is then the current one and not the one before it.
    """

    provider: Provider
    """Whose shape they have."""
    history: list[Any]
    current: Any = None
    """The message; None if there is none."""
    text: str | None = None
    """Its text; None if it holds something else."""

    @property
    def messages(self) -> list[Any]:
        """All of them, in order."""
        return self.history if self.current is None else [*self.history, self.current]

    @property
    def pins(self) -> frozenset[int]:
        """The place of the current message."""
        return frozenset() if self.current is None else frozenset((len(self.history),))

    def completed(self, kept: list[Any]) -> list[Any]:
        """Return *kept* with the current message, which stays as it is.

        A pruner drops it if it is broken, and may put a shortened copy in its place if it is the result of a tool.
        """
        if self.current is None or any(message is self.current for message in kept):
            return kept
        copied = kept and not any(kept[-1] is message for message in self.history)
        return [*kept[:-1], self.current] if copied else [*kept, self.current]
