"""How a working memory is divided between its sections."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any, Literal

from brim.errors import InputError
from brim.messages import FifoPruner, Provider, Pruner
from brim.messages.assembler import Assembler, Chosen, Parts, Tail, WindowLimits, listed, text_in
from brim.messages.assembly import Assembly
from brim.messages.draft import whole_number
from brim.record import PlainData
from brim.tokens.counters import counter_for
from brim.tokens.protocol import TokenCounter, require_counter

TOKENS = "a whole number of tokens"


@dataclass(frozen=True, slots=True)
class MemoryConfig(PlainData):
    """The limits of a working memory, in tokens of its model."""

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
            whole_number(field.name, getattr(self, field.name), 0, TOKENS)


class WorkingMemory:
    """Divides the working memory of an agent that runs on *model*.

    >>> memory = WorkingMemory(MemoryConfig(max_working_memory_tokens=150_000, output_reserve=8_192))
    >>> memory.history_budget(system_prompt=1_200, procedure=300, knowledge=1_500, episodes=400, current_message=100)
    138308
    """

    def __init__(
        self,
        config: MemoryConfig | None = None,
        *,
        model: str | None = None,
        counter: TokenCounter | None = None,
    ) -> None:
        self.config = config or MemoryConfig()
        self.model = model
        if counter is not None:
            require_counter(counter)
        self._counter = counter or counter_for(model)

    def history_budget(
        self,
        *,
        system_prompt: int | str | None = 0,
        procedure: int | str | None = 0,
        knowledge: int | str | None = 0,
        episodes: int | str | None = 0,
        current_message: int | str | None = 0,
    ) -> int:
        """Return the tokens left for message history.

        0 if the sections leave none.

        Each section is given as its number of tokens, or as its text, which is then counted. None
        is one that isn't there.
        """
        names = ("system_prompt", "procedure", "knowledge", "episodes", "current_message")
        sections = (system_prompt, procedure, knowledge, episodes, current_message)
        taken = sum(map(self._tokens, names, sections))
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
        """Return the request to send.

        It holds all that must be in it, and as much of *history* as fits.

        *knowledge* and *episodes* are lists of texts, or of dicts or objects with ``text`` or
        ``content`` and perhaps ``score``, ``title`` and ``source``. *history* is a list of messages
        of any *provider*; *current_message* is a text, or a message of the same provider. *pruner*
        decides which history leaves, ``FifoPruner`` by default. *tools* go with the request and are
        counted. *context_window* outranks the model's window.

        System prompt, knowledge and current message always stay. Of the history the newest
        ``min_history_tokens`` stay while the window allows, and episodes and procedure make way for
        them.

        >>> memory = WorkingMemory(model="gpt-4o")
        >>> memory.assemble(system_prompt="Answer briefly.", knowledge=["Lines end in LF."], current_message="Why?")
        Assembly(3 messages, 37 of 95,904 tokens, fits)
        """
        model = self.model or getattr(self._counter, "model", None)
        config, counter = self.config, self._counter
        tail = Tail.of(history, current_message, provider, model)
        budget = config.max_working_memory_tokens - config.output_reserve
        limits = WindowLimits.of(model, context_window, budget, config.output_reserve)
        if pruner is not None and (
            isinstance(pruner, type) or not callable(getattr(pruner, "prune", None))
        ):
            raise InputError(
                f"pruner must be a pruner such as FifoPruner(), not {str(pruner)[:60]}"
            )
        schemas = list(listed("tools", tools)) or None
        parts = Parts(
            tail.provider,
            text_in("system_prompt", system_prompt),
            text_in("procedure", procedure),
            Chosen.of("knowledge", knowledge, config.max_knowledge_tokens, counter),
            Chosen.of("episodes", episodes, config.max_episode_tokens, counter),
        )
        min_history, pruner = config.min_history_tokens, pruner or FifoPruner()
        return Assembler(counter, model, limits, min_history, pruner, schemas, tail).assemble(parts)

    def _tokens(self, name: str, section: int | str | None) -> int:
        if section is None or isinstance(section, str):
            return int(self._counter.count(section)) if section else 0
        return whole_number(name, section, 0, TOKENS)
