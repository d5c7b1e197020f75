"""How long may a text for the model be? The user sets budgets, and the agent takes so much."""

from __future__ import annotations

from dataclasses import dataclass

from brim.agents.call import HookCall
from brim.hooks.state import HookWorkspace
from brim.record import PlainData

AT_START = "token_budget.default"
DURING_WORK = "token_budget.dynamic_context"


@dataclass(frozen=True)
class Room(PlainData):
    """What a text for the model may take. None is no limit."""

    tokens: int | None
    chars: int

    @property
    def is_empty(self) -> bool:
        """Whether nothing fits."""
        return self.tokens == 0 or self.chars <= 0

    def holds(self, text: str) -> bool:
        """Whether *text* fits, charged by its bytes."""
        if len(text) > self.chars:
            return False
        return self.tokens is None or size(text) <= self.tokens

    def minus(self, text: str, tokens: int | None = None) -> Room:
        """Return what is left beside *text*, which is charged by its bytes unless *tokens* says by
        how much."""
        chars = self.chars - len(text)
        if self.tokens is None:
            return Room(None, chars)
        if tokens is None:
            tokens = size(text)
        return Room(max(0, self.tokens - tokens), chars)


def room_at(
    call: HookCall, workspace: HookWorkspace, budget: str, chars: int | None = None
) -> Room:
    """Return what the setting *budget* and the agent allow a text: *chars*, by default those of
    this event."""
    config = workspace.config.yours
    if chars is None:
        chars = call.agent.answers.chars_at(call.event)
    limit = config["injection.max_chars"]
    if limit is not None:
        chars = min(chars, limit)
    return Room(config[budget], chars)


def size(text: str) -> int:
    """Return the charge for a line made up at run time: its bytes, since a token is never shorter
    than one."""
    return len(text.encode("utf-8", "replace"))
