"""What brim answers an agent: each client says it in its own way, and leaves out what it has no place for."""

from __future__ import annotations

from brim._frozen import Frozen


class Answer(Frozen):
    """What to say to whom. An empty one is no answer at all."""

    __slots__ = ("context", "deny", "first", "instructions", "note", "stop_reason")

    context: str
    """For the model."""
    first: str
    """For the model too, before every ``context``: under the heading of a rule it would read as one."""
    instructions: str
    """For the summariser, before a compaction."""
    note: str
    """For the human; no model sees it."""
    deny: str
    """Why the pending call or prompt must not happen; empty lets it happen."""
    stop_reason: str
    """Why the turn must end here; empty lets it go on."""

    def __init__(
        self,
        *,
        context: str = "",
        first: str = "",
        instructions: str = "",
        note: str = "",
        deny: str = "",
        stop_reason: str = "",
    ) -> None:
        self._fill(
            context=context, first=first, instructions=instructions, note=note, deny=deny, stop_reason=stop_reason
        )

    @property
    def told(self) -> str:
        """Everything for the model, in order."""
        return self.first + self.context

    def __bool__(self) -> bool:
        return bool(self.context or self.first or self.instructions or self.note or self.deny or self.stop_reason)


NOTHING = Answer()
"""The answer that says nothing."""
