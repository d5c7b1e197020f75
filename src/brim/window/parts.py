"""What stands before the history: the system text, and one block of knowledge and episodes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from brim.history.speaking import user_message
from brim.window.assembly import DroppedItem
from brim.window.items import Chosen, block

if TYPE_CHECKING:
    from brim.history.types import Provider
    from brim.tokens.counters import TokenCounter

SYSTEM_IN_MESSAGES = ("openai", "responses")
"""Whose system text is a message; the others take it beside the messages."""


NOTHING = Chosen()


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of a request beside history and current message. It does not change: each choice is a new one."""

    provider: Provider
    system_prompt: str = ""
    procedure: str = ""
    knowledge: Chosen = NOTHING
    episodes: Chosen = NOTHING
    left_out: tuple[DroppedItem, ...] = ()
    """The procedure, if it had to make way."""

    @property
    def system(self) -> str:
        """System prompt and procedure as one text."""
        return "\n\n".join(text for text in (self.system_prompt, self.procedure) if text)

    @property
    def counted(self) -> list[Any]:
        """What stands before the history, as it is counted: a system text is a message, wherever it is sent."""
        messages: list[Any] = [{"role": "system", "content": self.system}] if self.system else []
        text = block(self.knowledge, self.episodes)
        if text and self.provider in SYSTEM_IN_MESSAGES:
            messages.append({"role": "system", "content": text})
        elif text:
            messages.append(user_message(self.provider, text))
        return messages

    @property
    def sent(self) -> list[Any]:
        """What stands before the history in the list that is sent."""
        messages = self.counted
        return messages[1:] if self.system and self.provider not in SYSTEM_IN_MESSAGES else messages

    def with_less(self, counter: TokenCounter, reason: str) -> Parts | None:
        """Return these parts without the worst episode, or then without the procedure; None if neither is there."""
        if self.episodes.kept:
            return replace(self, episodes=self.episodes.without_worst(reason))
        if self.procedure:
            gone = DroppedItem(0, self.procedure, int(counter.count(self.procedure)), reason)
            return replace(self, procedure="", left_out=(gone,))
        return None
