"""How a working memory is divided between its sections."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Literal

from brim.errors import InputError
from brim.tokens.counters import counter_for

if TYPE_CHECKING:
    from collections.abc import Iterable

    from brim.history.types import Provider, Pruner
    from brim.tokens.counters import TokenCounter
    from brim.window.assembly import Assembly


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

    def assemble(
        self,
        *,
        system_prompt: str | None = "",
        procedure: str | None = "",
        knowledge: Iterable[Any] | str | None = (),
        episodes: Iterable[Any] | str | None = (),
        history: Iterable[Any] | None = (),
        current_message: Any = "",
        provider: Provider | Literal["auto"] = "auto",
        pruner: Pruner | None = None,
        tools: Iterable[Any] | None = None,
        context_window: int | None = None,
    ) -> Assembly:
        """Return the request to send: all that must be in it, and as much of *history* as fits.

        *knowledge* and *episodes* are lists of texts, or of dicts or objects with ``text`` or ``content`` and perhaps
        ``score``, ``title`` and ``source``. *history* is a list of messages of any *provider*; *current_message* is a
        text, or a message of the same provider. *pruner* decides which history leaves, ``FifoPruner`` by default.
        *tools* go with the request and are counted. *context_window* outranks the model's window.

        System prompt, knowledge and current message always stay. Of the history the newest ``min_history_tokens``
        stay while the window allows, and episodes and procedure make way for them.

        >>> memory = WorkingMemory(model="gpt-4o")
        >>> memory.assemble(system_prompt="Answer briefly.", knowledge=["Lines end in LF."], current_message="Why?")
        Assembly(3 messages, 37 of 95,904 tokens, fits)
        """
        from brim.window.assemble import Assembler
        from brim.window.given import parts_of, pruner_of, tail_of, tools_of
        from brim.window.limits import limits_of

        model = self.model or getattr(self._counter, "model", None)
        tail = tail_of(history, current_message, provider, model)
        given = {
            "system_prompt": system_prompt,
            "procedure": procedure,
            "knowledge": knowledge,
            "episodes": episodes,
        }
        return Assembler(
            counter=self._counter,
            model=model,
            limits=limits_of(self.config, model, context_window),
            min_history=self.config.min_history_tokens,
            pruner=pruner_of(pruner),
            tools=tools_of(tools),
        ).assemble(parts_of(self.config, self._counter, tail.provider, given), tail)

    def _tokens(self, name: str, section: int | str) -> int:
        if isinstance(section, str):
            return int(self._counter.count(section)) if section else 0
        return _whole(name, section)


def _whole(name: str, value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise InputError(f"{name} must be a whole number of tokens, 0 or more, not {value!r}")
    return int(value)
