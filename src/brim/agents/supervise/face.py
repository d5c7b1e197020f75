"""How a run shows itself to a person: what the supervisor asks of whoever stands at the terminal."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    from brim.agents.supervise.tracked import Tracked
else:
    Protocol = object


class Face(Protocol):
    """Everything that is shown. Nothing of it may raise."""

    @property
    def can_ask(self) -> bool:
        """Whether a person is there who can answer."""
        ...

    def tell(self, text: str) -> None:
        """Say *text*, which is brim's own."""
        ...

    def ask(self, text: str) -> None:
        """Put a question; the answer comes as a typed line."""
        ...

    def line(self, line: bytes) -> None:
        """Hand on a line of the agent, as it came."""
        ...

    def answer(self, text: str, line: bytes) -> None:
        """Show what the agent answered at the end of a turn, empty if it failed; *line* is the line that said so."""
        ...

    def show(self, tracked: Tracked, *, settled: bool) -> None:
        """Show how full the window is and what was spent; *settled* at the end of a turn."""
        ...
