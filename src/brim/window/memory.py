"""How a working memory is divided between its sections."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from brim.errors import InputError
from brim.tokens.counters import counter_for

if TYPE_CHECKING:
    from brim.tokens.types import TokenCounter


@dataclass(frozen=True, slots=True)
class MemoryConfig:
    """The limits of a working memory, all in tokens of the agent's model."""

    max_working_memory_tokens: int = 100_000
    """All sections together, and the response."""
    output_reserve: int = 4_096
    """Kept for the response."""
    min_history_tokens: int = 4_000
    """History keeps at least this much."""
    max_knowledge_tokens: int = 3_000
    """Retrieved knowledge takes at most this much."""
    max_episode_tokens: int = 1_000
    """Episode snippets take at most this much."""

    def __post_init__(self) -> None:
        for field in fields(self):
            _whole(field.name, getattr(self, field.name))


class WorkingMemory:
    """Divides the working memory of an agent that runs on *model*.

    >>> memory = WorkingMemory(MemoryConfig(max_working_memory_tokens=150_000, output_reserve=8_192))
    >>> memory.history_budget(system_prompt=1_200, procedure=300, knowledge=1_500, episodes=400, current_message=100)
    138308
    """

    def __init__(
        self, config: MemoryConfig | None = None, *, model: str | None = None, counter: TokenCounter | None = None
    ) -> None:
        self.config = config or MemoryConfig()
        self.model = model
        self._counter = counter or counter_for(model)

    def history_budget(
        self,
        *,
        system_prompt: int | str = 0,
        procedure: int | str = 0,
        knowledge: int | str = 0,
        episodes: int | str = 0,
        current_message: int | str = 0,
    ) -> int:
        """Return the tokens left for message history; 0 if the sections leave none.

        Each section is given as its number of tokens, or as its text, which is then counted.
        """
        sections = {
            "system_prompt": system_prompt,
            "procedure": procedure,
            "knowledge": knowledge,
            "episodes": episodes,
            "current_message": current_message,
        }
        taken = sum(self._tokens(name, section) for name, section in sections.items())
        return max(0, self.config.max_working_memory_tokens - taken - self.config.output_reserve)

    def _tokens(self, name: str, section: int | str) -> int:
        if isinstance(section, str):
            return int(self._counter.count(section)) if section else 0
        return _whole(name, section)


def _whole(name: str, value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise InputError(f"{name} must be a whole number of tokens, 0 or more, not {value!r}")
    return int(value)
